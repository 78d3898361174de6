// The lowering's walk, by running what it gives: indices, which thread stores what, widths of accesses, control flow
// and integer operations, on the host (host_execution.h).
#include "codegen/lowering/lowering.h"
#include "host_execution.h"
#include "ir/op_table.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace tessera {
namespace {
using testing::runOnHost;

const std::string kModule =
    R"(module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
)";

TEST(Lowering, EveryOpcodeIsLoweredOrHasAReason) {
  for (auto &row : ir::allOps()) {
    bool lowered = codegen::loweringOf(row.opcode) != nullptr;
    EXPECT_NE(lowered, !codegen::whyNotLowered(row.opcode).empty()) << row.name.str();
  }
}

/// A row of the dispatch table that names lowerMath promises nothing yet: the operation needs a way to be computed that
/// both vendors have.
TEST(Lowering, EveryMathOperationHasAWay) {
  int n = 0;
  for (auto &row : ir::allOps()) {
    if (codegen::loweringOf(row.opcode) != codegen::lowerMath) continue;
    ++n;
    bool callsSymbol = row.opcode == ir::Opcode::tt_extern_elementwise;
    EXPECT_TRUE(callsSymbol || codegen::hasScalarMath(row.opcode)) << row.name.str();
  }
  EXPECT_GT(n, 35);
}

/// out[row * columns + column] = row * columns + column, each element stored exactly once whatever the layout.
struct LayoutCase {
  const char *encoding, *shape;
  int rows, columns;
};
class Indices : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(Indices, EveryElementIsStoredOnceAtItsPlace) {
  auto &c = GetParam();
  std::string t = std::string("tensor<") + c.shape + "xi32, #l>",
              p = std::string("tensor<") + c.shape + "x!tt.ptr<i32>, #l>";
  std::string rowShape = std::to_string(c.rows), columnShape = std::to_string(c.columns);
  std::string rows = "tensor<" + rowShape + "xi32, #ttg.slice<{dim = 1, parent = #l}>>",
              columns = "tensor<" + columnShape + "xi32, #ttg.slice<{dim = 0, parent = #l}>>";
  std::string rows2 = "tensor<" + rowShape + "x1xi32, #l>", columns2 = "tensor<1x" + columnShape + "xi32, #l>";
  std::string text =
      std::string("#l = ") + c.encoding + "\n" + kModule + "tt.func public @k(%out: !tt.ptr<i32>) {\n" +
      "%r = tt.make_range {end = " + rowShape + " : i32, start = 0 : i32} : " + rows + "\n" +
      "%c = tt.make_range {end = " + columnShape + " : i32, start = 0 : i32} : " + columns + "\n" +
      "%r2 = tt.expand_dims %r {axis = 1 : i32} : " + rows + " -> " + rows2 + "\n" +
      "%c2 = tt.expand_dims %c {axis = 0 : i32} : " + columns + " -> " + columns2 + "\n" +
      "%n = arith.constant dense<" + columnShape + "> : " + rows2 + "\n" + "%rn = arith.muli %r2, %n : " + rows2 +
      "\n" + "%rb = tt.broadcast %rn : " + rows2 + " -> " + t + "\n" + "%cb = tt.broadcast %c2 : " + columns2 + " -> " +
      t + "\n" + "%i = arith.addi %rb, %cb : " + t + "\n" + "%s = tt.splat %out : !tt.ptr<i32> -> " + p + "\n" +
      "%q = tt.addptr %s, %i : " + p + ", " + t + "\n" + "tt.store %q, %i : " + p + "\ntt.return\n}\n}\n";
  std::vector<int32_t> out(c.rows * c.columns, -1), want(out.size());
  std::iota(want.begin(), want.end(), 0);
  std::string errors;
  EXPECT_EQ(runOnHost(text, "k", {uint64_t(out.data())}, errors), int64_t(out.size())) << errors;
  EXPECT_EQ(out, want);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Indices,
    ::testing::Values(
        LayoutCase{
            "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
            "32x64", 32, 64},
        LayoutCase{
            "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>",
            "64x16", 64, 16},
        // Smaller than the tile: lanes, warps and registers hold copies.
        LayoutCase{
            "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [2, 2], order = [1, 0]}>",
            "4x8", 4, 8},
        LayoutCase{
            "#ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>",
            "2x2", 2, 2},
        LayoutCase{
            "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>",
            "1x128", 1, 128},
        // Bits of registers and threads in one place: constants must be xor-ed.
        LayoutCase{"#ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = "
                   "[[4, 0], [0, 16]], block = []}>",
                   "16x32", 16, 32}));

/// The widest access that a load and a store of a masked vector of 1024 elements make.
std::pair<unsigned, unsigned> widths(const std::string &element, int perThread, const std::string &pointerAttrs,
                                     const std::string &boundAttrs) {
  std::string l = "#ttg.blocked<{sizePerThread = [" + std::to_string(perThread) +
                  "], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
  std::string i = "tensor<1024xi32, #l>", p = "tensor<1024x!tt.ptr<" + element + ">, #l>", m = "tensor<1024xi1, #l>";
  std::string text = "#l = " + l + "\n" + kModule + "tt.func public @k(%in: !tt.ptr<" + element + "> " + pointerAttrs +
                     ", %out: !tt.ptr<" + element + "> " + pointerAttrs + ", %n: i32 " + boundAttrs + ") {\n" +
                     "%c = arith.constant 1024 : i32\n%pid = tt.get_program_id x : i32\n%b = arith.muli %pid, %c : "
                     "i32\n%r = tt.make_range {end = 1024 : i32, start = 0 : i32} : " +
                     i + "\n" + "%bs = tt.splat %b : i32 -> " + i + "\n%x = arith.addi %bs, %r : " + i +
                     "\n%ns = tt.splat %n : i32 -> " + i + "\n%m = arith.cmpi slt, %x, %ns : " + i + "\n" +
                     "%s = tt.splat %in : !tt.ptr<" + element + "> -> " + p + "\n%q = tt.addptr %s, %x : " + p + ", " +
                     i + "\n%v = tt.load %q, %m : " + p + "\n" + "%s2 = tt.splat %out : !tt.ptr<" + element + "> -> " +
                     p + "\n%q2 = tt.addptr %s2, %x : " + p + ", " + i + "\ntt.store %q2, %v, %m : " + p +
                     "\ntt.return\n}\n}\n";
  testing::HostTarget target;
  llvm::LLVMContext context;
  std::string errors;
  EXPECT_TRUE(lowerText(text, target, context, errors)) << errors;
  return {target.widestLoad, target.widestStore};
}

TEST(Lowering, AccessesAreAsWideAsAlignmentMaskAndLayoutAllow) {
  const std::string aligned = "{tt.divisibility = 16 : i32}";
  using P = std::pair<unsigned, unsigned>;
  EXPECT_EQ(widths("f32", 4, aligned, aligned), P(4, 4));
  EXPECT_EQ(widths("f32", 8, aligned, aligned), P(4, 4)); // 16 bytes are the most
  EXPECT_EQ(widths("f16", 8, aligned, aligned), P(8, 8));
  EXPECT_EQ(widths("i8", 16, aligned, aligned), P(16, 16));
  EXPECT_EQ(widths("f64", 4, aligned, aligned), P(2, 2));
  EXPECT_EQ(widths("f32", 2, aligned, aligned), P(2, 2));
  EXPECT_EQ(widths("f32", 4, "{tt.divisibility = 8 : i32}", aligned), P(2, 2));
  EXPECT_EQ(widths("f32", 4, "", aligned), P(1, 1));
  EXPECT_EQ(widths("f32", 4, aligned, ""), P(1, 1)); // the mask may change inside a vector
}

std::string repeated(const std::string &part, int times) {
  std::string out = part;
  for (int i = 1; i < times; ++i) out += ", " + part;
  return out;
}

/// How many loads have a uniform base and a small offset: loads of f64 from %in + %offset, 128 elements. They are in a
/// loop over %i.
unsigned loadsFromBase(const std::string &type, const std::string &offset) {
  std::string l = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>";
  std::string t = "tensor<128x" + type + ", #l>", p = "tensor<128x!tt.ptr<f64>, #l>";
  std::string text =
      "#l = " + l + "\n" + kModule + "tt.func public @k(%in: !tt.ptr<f64>, %out: !tt.ptr<f64>, %x: " + type + ") {\n" +
      "%r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #l>\n%xs = tt.splat %x : " + type +
      " -> " + t + "\n%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n%ten = arith.constant 10 : i32\n" +
      "scf.for %i = %zero to %ten step %one : i32 {\n" + offset + "\n%s = tt.splat %in : !tt.ptr<f64> -> " + p +
      "\n%q = tt.addptr %s, %offset : " + p + ", " + t + "\n%v = tt.load %q : " + p +
      "\n%s2 = tt.splat %out : !tt.ptr<f64> -> " + p + "\n%q2 = tt.addptr %s2, %r : " + p +
      ", tensor<128xi32, #l>\ntt.store %q2, %v : " + p + "\n}\ntt.return\n}\n}\n";
  testing::HostTarget target;
  target.info_.hasBufferOps = true;
  llvm::LLVMContext context;
  std::string errors;
  EXPECT_TRUE(lowerText(text, target, context, errors)) << errors;
  return target.loadsFromBase;
}

/// %x goes to the base if the sum with the range does not wrap: assumed of 32 bits, not of 16, in which 32700 + 100 is
/// -32736.
TEST(Lowering, OffsetsAreSplitWhereSumsOfIndicesDoNotWrap) {
  EXPECT_EQ(loadsFromBase("i32", "%offset = arith.addi %xs, %r : tensor<128xi32, #l>"), 1u);
  EXPECT_EQ(loadsFromBase("i64", "%w = arith.extsi %r : tensor<128xi32, #l> to tensor<128xi64, #l>\n"
                                 "%offset = arith.addi %xs, %w : tensor<128xi64, #l>"),
            1u);
  EXPECT_EQ(loadsFromBase("i16", "%n = arith.constant dense<[" + repeated("0, 1", 64) + "]> : tensor<128xi16, #l>\n" +
                                     "%offset = arith.addi %xs, %n : tensor<128xi16, #l>"),
            0u);
}

/// Offsets of 32 bits hold 2^31 bytes; (2^61 - 1) * 8 bytes do not fit 64 bits either.
TEST(Lowering, LargeOffsetsAreNotSplit) {
  auto constant = [](const char *large) {
    return "%offset = arith.constant dense<[" + repeated(std::string("0, ") + large, 64) + "]> : tensor<128xi64, #l>";
  };
  EXPECT_EQ(loadsFromBase("i64", constant("268435447")), 1u);
  EXPECT_EQ(loadsFromBase("i64", constant("268435455")), 0u);
  EXPECT_EQ(loadsFromBase("i64", constant("2305843009213693951")), 0u);
}

/// Pointers that advance by a constant per iteration are left to LLVM; remainders do not advance so.
TEST(Lowering, OffsetsThatAdvanceWithACounterAreNotSplit) {
  std::string advances = "%is = tt.splat %i : i32 -> tensor<128xi32, #l>\n"
                         "%sum = arith.addi %is, %r : tensor<128xi32, #l>\n"
                         "%four = arith.constant dense<4> : tensor<128xi32, #l>\n";
  EXPECT_EQ(loadsFromBase("i32", advances + "%offset = arith.muli %sum, %four : tensor<128xi32, #l>"), 0u);
  EXPECT_EQ(loadsFromBase("i32", advances + "%offset = arith.remsi %sum, %xs : tensor<128xi32, #l>"), 1u);
}

TEST(Lowering, MaskedAccessesTouchNothingElse) {
  std::string text = R"(#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
)" + kModule + R"(tt.func public @k(%in: !tt.ptr<i32>, %out: !tt.ptr<i32>, %n: i32) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #l>
  %ns = tt.splat %n : i32 -> tensor<256xi32, #l>
  %m = arith.cmpi slt, %r, %ns : tensor<256xi32, #l>
  %other = arith.constant dense<-7> : tensor<256xi32, #l>
  %s = tt.splat %in : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #l>
  %q = tt.addptr %s, %r : tensor<256x!tt.ptr<i32>, #l>, tensor<256xi32, #l>
  %v = tt.load %q, %m, %other : tensor<256x!tt.ptr<i32>, #l>
  %s2 = tt.splat %out : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #l>
  %q2 = tt.addptr %s2, %r : tensor<256x!tt.ptr<i32>, #l>, tensor<256xi32, #l>
  tt.store %q2, %v : tensor<256x!tt.ptr<i32>, #l>
  %z = tt.load %q, %m : tensor<256x!tt.ptr<i32>, #l>
  %c256 = arith.constant 256 : i32
  %o3 = tt.addptr %out, %c256 : !tt.ptr<i32>, i32
  %s3 = tt.splat %o3 : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>, #l>
  %q3 = tt.addptr %s3, %r : tensor<256x!tt.ptr<i32>, #l>, tensor<256xi32, #l>
  tt.store %q3, %z, %m : tensor<256x!tt.ptr<i32>, #l>
  tt.return
}})";
  std::vector<int32_t> in(100), out(512, -1);
  std::iota(in.begin(), in.end(), 1000);
  std::string errors;
  EXPECT_EQ(runOnHost(text, "k", {uint64_t(in.data()), uint64_t(out.data()), 100}, errors), 256 + 100) << errors;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], i < 100 ? 1000 + i : -7);
    EXPECT_EQ(out[256 + i], i < 100 ? 1000 + i : -1);
  }
}

/// Runs a function body on two integers; `%r` is stored.
int64_t evaluate(const std::string &body, int64_t x, int64_t y, const std::string &type = "i32") {
  std::string text = kModule + "tt.func public @k(%x: " + type + ", %y: " + type + ", %out: !tt.ptr<" + type +
                     ">) {\n" + body + "\ntt.store %out, %r : !tt.ptr<" + type + ">\ntt.return\n}\n}\n";
  int64_t out = 0;
  std::string errors;
  EXPECT_EQ(runOnHost(text, "k", {uint64_t(x), uint64_t(y), uint64_t(&out)}, errors), 1)
      << errors; // one thread stores a scalar
  return type == "i32" ? int32_t(out) : out;
}

TEST(Lowering, RoundedDivisions) {
  for (int x : {-7, -6, -1, 0, 1, 5, 6, 7, INT32_MAX, INT32_MIN})
    for (int y : {-3, -1, 1, 2, 3, INT32_MAX}) {
      if (x == INT32_MIN && y == -1) continue;
      double q = double(x) / y;
      EXPECT_EQ(evaluate("%r = arith.floordivsi %x, %y : i32", x, y), int64_t(std::floor(q))) << x << " " << y;
      EXPECT_EQ(evaluate("%r = arith.ceildivsi %x, %y : i32", x, y), int64_t(std::ceil(q))) << x << " " << y;
    }
  EXPECT_EQ(uint32_t(evaluate("%r = arith.ceildivui %x, %y : i32", -1, 2)), 0x80000000u);
  EXPECT_EQ(uint32_t(evaluate("%r = tt.mulhiui %x, %y : i32", -1, -1)), 0xfffffffeu);
  EXPECT_EQ(evaluate("%r = tt.mulhiui %x, %y : i64", -1, -1, "i64"), -2);
  EXPECT_EQ(evaluate("%l, %r = arith.mulsi_extended %x, %y : i32", -5, 7), -1);
  EXPECT_EQ(evaluate("%s, %c = arith.addui_extended %x, %y : i32, i1\n%r = arith.extui %c : i1 to i32", -1, 1), 1);
}

TEST(Lowering, Loops) {
  auto sum = [](const std::string &op, const std::string &type, int64_t lo, int64_t hi, int64_t step) {
    return evaluate("%z = arith.constant 0 : " + type + "\n%st = arith.constant " + std::to_string(step) + " : " +
                        type + "\n%r = scf.for " + op + "%i = %x to %y step %st iter_args(%a = %z) -> (" + type +
                        ") : " + type + " {\n%n = arith.addi %a, %i : " + type + "\nscf.yield %n : " + type + "\n}",
                    lo, hi, type);
  };
  EXPECT_EQ(sum("", "i32", 0, 10, 1), 45);
  EXPECT_EQ(sum("", "i32", 3, 3, 1), 0);
  EXPECT_EQ(sum("", "i32", 5, 3, 1), 0);
  EXPECT_EQ(sum("", "i32", -4, 5, 3), -4 - 1 + 2);
  EXPECT_EQ(sum("", "i64", int64_t(1) << 40, (int64_t(1) << 40) + 3, 2), (int64_t(1) << 41) + 2);
  EXPECT_EQ(uint32_t(sum("unsigned ", "i32", 0x7ffffffe, int32_t(0x80000001), 1)),
            0x7ffffffeu + 0x7fffffffu + 0x80000000u);
  EXPECT_EQ(sum("", "i32", 0x7ffffffe, int32_t(0x80000001), 1), 0); // signed: never runs
}

TEST(Lowering, WhileIfAndBranches) {
  // Collatz steps of x.
  const char *collatz = R"(%c1 = arith.constant 1 : i32
%c2 = arith.constant 2 : i32
%c3 = arith.constant 3 : i32
%z = arith.constant 0 : i32
%w:2 = scf.while (%v = %x, %s = %z) : (i32, i32) -> (i32, i32) {
  %go = arith.cmpi ne, %v, %c1 : i32
  scf.condition(%go) %v, %s : i32, i32
} do {
^bb0(%v: i32, %s: i32):
  %m = arith.remsi %v, %c2 : i32
  %even = arith.cmpi eq, %m, %z : i32
  %next = scf.if %even -> (i32) {
    %h = arith.divsi %v, %c2 : i32
    scf.yield %h : i32
  } else {
    %t = arith.muli %v, %c3 : i32
    %u = arith.addi %t, %c1 : i32
    scf.yield %u : i32
  }
  %s1 = arith.addi %s, %c1 : i32
  scf.yield %next, %s1 : i32, i32
}
%r = arith.addi %w#1, %z : i32)";
  EXPECT_EQ(evaluate(collatz, 27, 0), 111);
  EXPECT_EQ(evaluate(collatz, 1, 0), 0);
  const char *region = R"(%r = scf.execute_region -> i32 {
  %c = arith.cmpi slt, %x, %y : i32
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%a: i32):
  %b = arith.addi %a, %a : i32
  cf.br ^bb3(%b : i32)
^bb2:
  cf.br ^bb3(%y : i32)
^bb3(%d: i32):
  scf.yield %d : i32
})";
  EXPECT_EQ(evaluate(region, 3, 4), 6);
  EXPECT_EQ(evaluate(region, 4, 3), 3);
}

TEST(Lowering, FunctionsWithSeveralBlocksAndCalls) {
  std::string text = kModule + R"(
tt.func private @twice(%a: i32, %b: i32) -> (i32, i32) attributes {noinline = true} {
  %s = arith.addi %a, %b : i32
  tt.return %s, %b : i32, i32
}
tt.func public @k(%n: i32, %out: !tt.ptr<i32>) {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%z, %z : i32, i32)
^head(%i: i32, %sum: i32):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^exit
^body:
  %s:2 = tt.call @twice(%sum, %i) : (i32, i32) -> (i32, i32)
  %i1 = arith.addi %s#1, %one : i32
  cf.br ^head(%i1, %s#0 : i32, i32)
^exit:
  tt.store %out, %sum : !tt.ptr<i32>
  tt.return
}})";
  int32_t out = 0;
  std::string errors;
  EXPECT_EQ(runOnHost(text, "k", {10, uint64_t(&out)}, errors), 1) << errors;
  EXPECT_EQ(out, 45);
}

TEST(Lowering, AtomicsActOncePerElement) {
  // 8 elements on 128 threads: 16 threads hold each.
  std::string text = R"(#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
)" + kModule + R"(tt.func public @k(%out: !tt.ptr<i32>) {
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #l>
  %one = arith.constant dense<1> : tensor<8xi32, #l>
  %true = arith.constant dense<true> : tensor<8xi1, #l>
  %s = tt.splat %out : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #l>
  %q = tt.addptr %s, %r : tensor<8x!tt.ptr<i32>, #l>, tensor<8xi32, #l>
  %o = tt.atomic_rmw add, relaxed, gpu, %q, %one, %true : (tensor<8x!tt.ptr<i32>, #l>, tensor<8xi32, #l>, tensor<8xi1, #l>) -> tensor<8xi32, #l>
  %c8 = arith.constant 8 : i32
  %c2 = arith.constant 2 : i32
  %t = arith.constant true
  %p = tt.addptr %out, %c8 : !tt.ptr<i32>, i32
  %o2 = tt.atomic_rmw add, relaxed, gpu, %p, %c2, %t : (!tt.ptr<i32>, i32, i1) -> i32
  tt.return
}})";
  std::vector<int32_t> out(9, 0);
  std::string errors;
  EXPECT_EQ(runOnHost(text, "k", {uint64_t(out.data())}, errors), 0) << errors;
  EXPECT_THAT(out, ::testing::ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 2));
}

TEST(Lowering, TablesOfConstants) {
  std::string text = R"(#l = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
)" + kModule + R"(tt.func public @k(%out: !tt.ptr<i32>) {
  %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #l>
  %v = arith.constant dense<[5, -1, 7, 9]> : tensor<4xi32, #l>
  %b = arith.constant dense<[true, false, true, true]> : tensor<4xi1, #l>
  %z = arith.constant dense<0> : tensor<4xi32, #l>
  %w = arith.select %b, %v, %z : tensor<4xi1, #l>, tensor<4xi32, #l>
  %s = tt.splat %out : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>, #l>
  %q = tt.addptr %s, %r : tensor<4x!tt.ptr<i32>, #l>, tensor<4xi32, #l>
  tt.store %q, %w : tensor<4x!tt.ptr<i32>, #l>
  tt.return
}})";
  std::vector<int32_t> out(4, 3);
  std::string errors;
  EXPECT_EQ(runOnHost(text, "k", {uint64_t(out.data())}, errors), 4) << errors;
  EXPECT_THAT(out, ::testing::ElementsAre(5, 0, 7, 9));
}

/// out[i] = i, through a matrix of 16 by 32 whose elements go from #l to a layout of these registers and lanes.
std::string inThreadTranspose(const std::string &registers, const std::string &lanes) {
  std::string a = "tensor<16x32xi32, #l>", c = "tensor<16x32xi32, #t>", p = "tensor<16x32x!tt.ptr<i32>, #t>";
  std::string rows = "tensor<16xi32, #ttg.slice<{dim = 1, parent = #L}>>",
              columns = "tensor<32xi32, #ttg.slice<{dim = 0, parent = #L}>>";
  auto index = [&](std::string layout, std::string n, std::string type) {
    std::string text = "%r" + n + " = tt.make_range {end = 16 : i32, start = 0 : i32} : " + rows + "\n%c" + n +
                       " = tt.make_range {end = 32 : i32, start = 0 : i32} : " + columns + "\n%re" + n +
                       " = tt.expand_dims %r" + n + " {axis = 1 : i32} : " + rows + " -> tensor<16x1xi32, #L>\n%ce" +
                       n + " = tt.expand_dims %c" + n + " {axis = 0 : i32} : " + columns +
                       " -> tensor<1x32xi32, #L>\n%w" + n + " = arith.constant dense<32> : tensor<16x1xi32, #L>\n%rw" +
                       n + " = arith.muli %re" + n + ", %w" + n + " : tensor<16x1xi32, #L>\n%rb" + n +
                       " = tt.broadcast %rw" + n + " : tensor<16x1xi32, #L> -> " + type + "\n%cb" + n +
                       " = tt.broadcast %ce" + n + " : tensor<1x32xi32, #L> -> " + type + "\n%i" + n +
                       " = arith.addi %rb" + n + ", %cb" + n + " : " + type + "\n";
    for (size_t at; (at = text.find("#L")) != std::string::npos;) text.replace(at, 2, layout);
    return text;
  };
  return "#l = #ttg.linear<{register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, "
         "0], [0, 16]], block = []}>\n"
         "#t = #ttg.linear<{register = " +
         registers + ", lane = " + lanes + ", warp = [[4, 0], [0, 16]], block = []}>\n" + kModule +
         "tt.func public @k(%out: !tt.ptr<i32>) {\n" + index("#l", "a", a) +
         "%x = amdg.in_thread_transpose %ia : " + a + " -> " + c + "\n" + index("#t", "b", c) +
         "%s = tt.splat %out : !tt.ptr<i32> -> " + p + "\n%q = tt.addptr %s, %ib : " + p + ", " + c +
         "\ntt.store %q, %x : " + p + "\ntt.return\n}\n}\n";
}

TEST(Lowering, InThreadTransposeOrdersRegistersAnew) {
  std::vector<int32_t> out(512, -1);
  std::string errors, text = inThreadTranspose("[[8, 0], [0, 1]]", "[[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]");
  EXPECT_EQ(runOnHost(text, "k", {uint64_t(out.data())}, errors), 512) << errors << text;
  for (int i = 0; i < 512; ++i) EXPECT_EQ(out[i], i);
  // Values of another lane are not to be had that way.
  errors.clear();
  testing::HostTarget target;
  llvm::LLVMContext context;
  EXPECT_FALSE(lowerText(inThreadTranspose("[[8, 0], [0, 2]]", "[[0, 1], [0, 4], [0, 8], [1, 0], [2, 0]]"), target,
                         context, errors));
  EXPECT_THAT(errors, ::testing::HasSubstr("would move values between threads"));
}

TEST(Lowering, WhatCannotBeLoweredIsADiagnostic) {
  std::string text = kModule + R"(tt.func public @k(%a: !tt.ptr<f16>, %s: i64, %o: i32) {
  %p = tt.make_tensor_ptr %a, [%s], [%s], [%o] {order = array<i32: 0>} : <tensor<64xf16>>
  tt.return
}})";
  testing::HostTarget target;
  llvm::LLVMContext context;
  std::string errors;
  EXPECT_FALSE(lowerText(text, target, context, errors));
  EXPECT_THAT(errors, ::testing::HasSubstr("'tt.make_tensor_ptr' cannot be lowered here: it is a block pointer"));
}

} // namespace
} // namespace tessera
