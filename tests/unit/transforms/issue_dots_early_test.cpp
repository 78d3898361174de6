// Pass issue-dots-early by its conditions: which dots move up, which become asynchronous, where they are waited for,
// and what is read before them.
#include "transforms/run_pass.h"

namespace tessera::transforms {
namespace {

/// What the pass makes of a function's body: dots by their accumulators (`dot:acc`, `dot*:acc` if asynchronous),
/// `wait N`, `exp` and `abs` (work), `store` and `load` (of shared memory), `copy` and `commit`.
std::string outline(const std::string &body, const std::string &arguments = "") {
  std::string function = "  tt.func public @k(%a: !m, %b: !m, %x: !x, %y: !t, %z: !t, %h: tensor<64x64xf16, #mma>, "
                         "%p: tensor<64x64x!tt.ptr<f16>, #mma>, %n: i32, %c: i1" +
                         arguments + R"() -> (!t, !t) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
)" + body + "  }\n";
  std::string text = testing::textAfter("issue-dots-early", testing::wgmmaModule(testing::withDots(function)));
  return testing::outlineOf(text, {{"error: .*", "$&"},
                                   {"warp_group_dot %\\w+, %\\w+, %arg(\\d+) .*isAsync = true", "dot*:$1"},
                                   {"warp_group_dot %\\w+, %\\w+, %arg(\\d+)", "dot:$1"},
                                   {"warp_group_dot %.*isAsync = true", "dot*"},
                                   {"warp_group_dot %", "dot"},
                                   {"warp_group_dot_wait.*pendings = (\\d+)", "wait$1"},
                                   {"math.exp2", "exp"},
                                   {"math.absf", "abs"},
                                   {"async_copy", "copy"},
                                   {"async_commit", "commit"},
                                   {"local_(store|load|alloc|dealloc)", "$1"},
                                   {"memdesc_trans", "view"},
                                   {"gpu.barrier", "barrier"},
                                   {"atomic_rmw", "atomic"},
                                   {"arith.addi", "add"},
                                   {"scf\\.(for|if)", "$1"}});
}

/// Two dots with work between them, with `old` replaced. The accumulators are arguments 3 and 4.
std::string two(const std::string &old = "", const std::string &replacement = "", const std::string &arguments = "") {
  std::string body = R"(
    %d = DOT(%a, %b, %y)
    %u = math.exp2 %d : !t
    %e = DOT(%b, %a, %z)
    %v = math.absf %e : !t
    tt.return %u, %v : !t, !t
)";
  size_t at = body.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return outline(body.replace(at, old.size(), replacement), arguments);
}

TEST(IssueDotsEarly, SecondDotRunsUnderTheWork) { EXPECT_EQ(two(), "dot*:3 dot*:4 wait1 exp wait0 abs"); }

TEST(IssueDotsEarly, WhatDotsDoNotPass) {
  EXPECT_EQ(two("%e = ", "ttg.local_store %h, %b : tensor<64x64xf16, #mma> -> !m\n %e = "),
            "dot:3 exp store dot:4 abs");
  EXPECT_EQ(two("%e = ", "gpu.barrier\n %e = "), "dot:3 exp barrier dot:4 abs");
  EXPECT_EQ(two("%e = ", "%o = tt.atomic_rmw add, acq_rel, gpu, %g, %n, %c : (!tt.ptr<i32>, i32, i1) -> i32\n %e = ",
                ", %g: !tt.ptr<i32>"),
            "dot:3 exp atomic dot:4 abs")
      << "what others may wait for";
  EXPECT_EQ(two("%e = ", "%o = ttg.local_alloc : () -> !m\n %e = "), "dot:3 exp alloc dot:4 abs")
      << "a buffer begins, perhaps in the bytes of one that the first dot reads";
  EXPECT_EQ(two("%e = ", "ttg.local_dealloc %o : !m\n %e = ", ", %o: !m"), "dot:3 exp dealloc dot:4 abs");
  EXPECT_EQ(two("%e = ", "scf.for %i = %c0 to %n step %c1 : i32 {\n %w = math.absf %y : !t\n }\n %e = "),
            "dot:3 exp for abs dot:4 abs");
  EXPECT_EQ(two("%e = ", "scf.if %c {\n %w = math.absf %y : !t\n }\n %e = "),
            "dot*:3 dot*:4 wait1 exp if abs wait0 abs");
  EXPECT_EQ(two("%e = ", "scf.if %c {\n %w = DOT(%a, %b, %z)\n }\n %e = "), "dot:3 exp if dot:4 dot:4 abs")
      << "dots of branches are not counted";
}

TEST(IssueDotsEarly, AsynchronousDotsAndTheirWaitsStay) {
  EXPECT_EQ(two("%e = DOT", "%e = ADOT"), "dot:3 exp dot*:4 abs");
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", "%e = ADOT(%b, %a, %z)\n %w = math.exp2 %y : !t"), "dot:3 exp dot*:4 exp abs")
      << "no further wait for it";
  EXPECT_EQ(outline(R"(
    %e = ADOT(%b, %a, %z)
    %d = DOT(%a, %b, %y)
    %w = ttng.warp_group_dot_wait %e {pendings = 1 : i32} : !t
    %u = math.exp2 %w : !t
    %v = math.absf %d : !t
    tt.return %u, %v : !t, !t
)"),
            "dot*:4 dot*:3 wait1 exp wait0 abs")
      << "a dot is in flight across the wait for one before it";
  std::string waited = "%f = ADOT(%a, %a, %y)\n %g = ttng.warp_group_dot_wait %f {pendings = 0 : i32} : !t\n"
                       " %s = math.exp2 %g : !t\n %e = DOT(%b, %a, %z)";
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", waited), "dot:3 exp dot*:3 wait0 exp dot:4 abs");
}

TEST(IssueDotsEarly, ADotMovesWithLittle) {
  std::string turned = "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, "
                       "elementBitWidth = 16}>, #smem, mutable>";
  std::string dotOfView = "%e = ttng.warp_group_dot %b, %w, %z {inputPrecision = 0 : i32} : !m * " + turned + " -> !t";
  std::string view = "%w = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !m -> " + turned;
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", view + "\n " + dotOfView), "dot*:3 view dot*:4 wait1 exp wait0 abs");
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", "%w = math.absf %z : !t\n %e = DOT(%b, %a, %w)"), "dot:3 exp abs dot abs")
      << "work stays where it is";
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", "%w = ttg.convert_layout %z : !t -> !t\n %e = DOT(%b, %a, %w)"),
            "dot*:3 dot* wait1 exp wait0 abs")
      << "another name of the same registers";
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", "%e = DOT(%b, %a, %d)"), "dot:3 exp dot abs") << "it needs the first dot";
  std::string index = "%q = ttg.memdesc_index %bs[%j] : !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !m\n"
                      " %e = DOT(%b, %q, %z)";
  std::string buffers = ", %bs: !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>, %g: !tt.ptr<i32>";
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", "%j = arith.addi %n, %c1 : i32\n " + index, buffers),
            "dot*:3 add dot*:4 wait1 exp wait0 abs");
  EXPECT_EQ(two("%e = DOT(%b, %a, %z)", "%j = tt.load %g : !tt.ptr<i32>\n " + index, buffers), "dot:3 exp dot:4 abs")
      << "an index in memory";
}

TEST(IssueDotsEarly, ADotNeedsWorkToRunUnder) {
  EXPECT_EQ(two("%u = math.exp2 %d : !t\n", "").substr(0, 6), "error:") << "%u is returned";
  EXPECT_EQ(outline(R"(
    %d = DOT(%a, %b, %y)
    %i = arith.addi %n, %c1 : i32
    %e = DOT(%b, %a, %z)
    tt.return %d, %e : !t, !t
)"),
            "dot*:3 add dot:4 wait1")
      << "the second dot has nothing to run under, and does not move over a scalar";
}

TEST(IssueDotsEarly, BufferOfTheBlockEndsWithItsDot) {
  std::string alloc = "%o = ttg.local_alloc %h : (tensor<64x64xf16, #mma>) -> !m\n %d = DOT(%o, %b, %y)";
  EXPECT_EQ(two("%d = DOT(%a, %b, %y)", alloc), "alloc dot:3 dot*:4 exp wait0 abs");
  EXPECT_EQ(
      two("%d = DOT(%a, %b, %y)\n    %u = math.exp2 %d : !t\n    %e = DOT(%b, %a, %z)\n    %v = math.absf %e : !t",
          alloc +
              "\n %u = math.exp2 %d : !t\n %e = DOT(%b, %a, %z)\n %v = math.absf %e : !t\n ttg.local_dealloc %o : !m"),
      "alloc dot*:3 dot*:4 wait1 exp wait0 abs dealloc")
      << "it lives to its dealloc anyway";
}

TEST(IssueDotsEarly, DotsThatAddOutsideOfTheInstructionStay) {
  std::string buffer = "!ttg.memdesc<64x64xf8E4M3FN, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, "
                       "elementBitWidth = 8}>, #smem, mutable>";
  auto first = [&](const std::string &imprecise) {
    return two("%d = DOT(%a, %b, %y)",
               "%d = ttng.warp_group_dot %f, %f, %y {inputPrecision = 0 : i32, maxNumImpreciseAcc = " + imprecise +
                   " : i32} : " + buffer + " * " + buffer + " -> !t",
               ", %f: " + buffer);
  };
  EXPECT_EQ(first("128"), "dot*:3 dot*:4 wait1 exp wait0 abs");
  EXPECT_EQ(first("64"), "dot:3 dot*:4 exp wait0 abs");
}

TEST(IssueDotsEarly, UsesInBranchesAreWaitedFor) {
  EXPECT_EQ(two("%u = math.exp2 %d : !t\n",
                "%q = math.exp2 %y : !t\n %u = scf.if %c -> (!t) {\n %w = math.absf %d : !t\n"
                " scf.yield %w : !t\n } else {\n scf.yield %y : !t\n }\n"),
            "dot*:3 dot*:4 exp wait1 if abs wait0 abs");
}

/// A dot behind copies of the next tile, with `old` replaced.
std::string behindCopies(const std::string &old = "", const std::string &replacement = "") {
  std::string body = R"(
    gpu.barrier
    %from = tt.addptr %p, %offsets : tensor<64x64x!tt.ptr<f16>, #mma>, tensor<64x64xi32, #mma>
    %copy = ttg.async_copy_global_to_local %from, %to : tensor<64x64x!tt.ptr<f16>, #mma> -> !m
    %group = ttg.async_commit_group tokens %copy
    %d = DOT(%a, %b, %y)
    %u = math.exp2 %d : !t
    tt.return %u, %u : !t, !t
)";
  size_t at = body.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return outline(body.replace(at, old.size(), replacement), ", %offsets: tensor<64x64xi32, #mma>, %to: !m");
}

TEST(IssueDotsEarly, OneDotIsIssuedBeforeCopies) {
  EXPECT_EQ(behindCopies(), "barrier dot*:3 copy commit wait0 exp");
  EXPECT_EQ(behindCopies("DOT", "ADOT"), "barrier copy commit dot*:3 exp");
  EXPECT_EQ(behindCopies("%u = math.exp2 %d : !t", "%u = ttg.convert_layout %d : !t -> !t"),
            "barrier copy commit dot:3")
      << "nothing computes with the result";
  EXPECT_EQ(behindCopies("%from =", "scf.if %c {\n %w = math.absf %y : !t\n }\n %from ="),
            "barrier if abs dot*:3 copy commit wait0 exp");
  EXPECT_EQ(outline(R"(
    gpu.barrier
    %w = math.absf %y : !t
    %d = DOT(%a, %b, %y)
    %u = math.exp2 %d : !t
    tt.return %u, %w : !t, !t
)"),
            "barrier abs dot:3 exp")
      << "without copies";
}

/// Tensors that are arguments and used at the end of a body: of so many registers of a thread, a multiple of 16.
struct Held {
  std::string arguments, uses;
};
Held held(int registers) {
  Held h;
  for (int of = 128; of >= 16; of /= 2) {
    if (registers < of) continue;
    registers -= of;
    std::string name = "%held" + std::to_string(of);
    std::string type = of == 16 ? "tensor<64xf32, #columns>" : "tensor<64x" + std::to_string(2 * of) + "xf32, #mma>";
    h.arguments += ", " + name + ": " + type;
    h.uses += "    %u" + name.substr(1) + " = math.sqrt " + name + " : " + type + "\n";
  }
  return h;
}

/// The most registers (to 16) beside which a body becomes `wanted`; -1: none.
int mostRegisters(const std::string &body, const std::string &arguments, const std::string &wanted) {
  int most = -1;
  for (int registers = 0; registers < 256; registers += 16) {
    Held h = held(registers);
    std::string text = body;
    text.insert(text.find("    tt.return"), h.uses);
    if (outline(text, arguments + h.arguments) == wanted) most = registers;
  }
  return most;
}

// A thread has 229 registers for tensors (heldRegistersPercent), and a tile takes 32.
TEST(IssueDotsEarly, RegistersOfResults) {
  std::string one = R"(
    %d = DOT(%a, %b, %y)
    %u = math.exp2 %d : !t
    %e = DOT(%b, %a, %z)
    %v = math.absf %e : !t
    tt.return %u, %v : !t, !t
)";
  EXPECT_EQ(mostRegisters(one, "", "dot*:3 dot*:4 wait1 exp wait0 abs"), 128)
      << "two results, an accumulator and what is held";
  std::string three = R"(
    %d = DOT(%a, %b, %y)
    %u = math.exp2 %d : !t
    %e = DOT(%b, %a, %z)
    %v = math.absf %e : !t
    %f = DOT(%b, %b, %y)
    %w = math.absf %f : !t
    tt.return %u, %v : !t, !t
)";
  EXPECT_EQ(mostRegisters(three, "", "dot*:3 dot*:4 dot*:3 wait2 exp wait1 abs wait0 abs"), 64)
      << "results that moved up are counted for the next one";
  std::string copies = R"(
    gpu.barrier
    %from = tt.addptr %p, %offsets : tensor<64x64x!tt.ptr<f16>, #mma>, tensor<64x64xi32, #mma>
    %copy = ttg.async_copy_global_to_local %from, %to : tensor<64x64x!tt.ptr<f16>, #mma> -> !m
    %group = ttg.async_commit_group tokens %copy
    %d = DOT(%a, %b, %y)
    %u = math.exp2 %d : !t
    tt.return %u, %u : !t, !t
)";
  EXPECT_EQ(
      mostRegisters(copies, ", %offsets: tensor<64x64xi32, #mma>, %to: !m", "barrier dot*:3 copy commit wait0 exp"),
      160);
}

TEST(IssueDotsEarly, SmallTensorsAreReadBeforeTheFirstDot) {
  std::string reads = R"(
    gpu.barrier
    %d = DOT(%a, %b, %y)
    %r = ttg.local_load %row : !ttg.memdesc<64xf32, #plain, #smem, mutable> -> tensor<64xf32, #columns>
    %s = ttg.local_load %row : !ttg.memdesc<64xf32, #plain, #smem, mutable> -> tensor<64xf32, #columns>
    %big = ttg.local_load %tile : !ttg.memdesc<64x64xf32, #flat, #smem, mutable> -> !t
    %u = math.exp2 %d : !t
    %e = DOT(%b, %a, %z)
    %v = math.absf %e : !t
    tt.return %u, %v : !t, !t
)";
  std::string rows =
      ", %row: !ttg.memdesc<64xf32, #plain, #smem, mutable>, %tile: !ttg.memdesc<64x64xf32, #flat, #smem, mutable>";
  EXPECT_EQ(outline(reads, rows), "barrier load load dot*:3 dot*:4 load wait1 exp wait0 abs") << "a tile is not small";
  EXPECT_EQ(mostRegisters(reads, rows, "barrier load load dot*:3 dot*:4 load wait1 exp wait0 abs"), 112);
  EXPECT_EQ(mostRegisters(reads, rows, "barrier load dot*:3 dot*:4 load load wait1 exp wait0 abs"), 128)
      << "registers are left for one of the two";
}

} // namespace
} // namespace tessera::transforms
