// Bank conflicts, as the emulator counts them: layout conversions through shared memory, and the paths of a matrix
// dot's operands, take no more passes over the banks than the bytes need.
#include "emulation.h"
#include "runtime/compiler/targets.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::Emulation;
using testing::zeros;

struct Passes {
  uint64_t executed = 0, passes = 0, least = 0;
};
Passes sharedPasses(const emulator::Report &r, llvm::StringRef operation = "") {
  Passes p;
  for (auto &s : r.sites)
    if (s.kind == emulator::SiteCounters::Kind::Shared && llvm::StringRef(s.operation).starts_with(operation))
      p.executed += s.executed, p.passes += s.transactions, p.least += s.leastPossible;
  return p;
}

struct MatrixTarget : testing::GivenTarget {
  const char *matrix; // a matrix layout for four warps
  unsigned kWidth;    // of 16-bit operands
};
constexpr MatrixTarget kTargets[] = {
    {{"sm_80", "cuda:80", 32},
     "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
     2},
    {{"sm_90a", "cuda:90", 32},
     "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>",
     2},
    {{"gfx942", "hip:gfx942", 64},
     "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true}>",
     4},
    {{"gfx950", "hip:gfx950", 64},
     "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>",
     8},
    {{"gfx1100", "hip:gfx1100", 32}, "#ttg.amd_wmma<{version = 1, isTranspose = false, warpsPerCTA = [2, 2]}>", 16},
    {{"gfx1201", "hip:gfx1201", 32}, "#ttg.amd_wmma<{version = 2, isTranspose = false, warpsPerCTA = [2, 2]}>", 8},
};

struct Layouts {
  std::string name, text;
};
/// Rows: 16 bytes of a row to a lane. Columns: the same along columns. Single: one element to a lane.
std::vector<Layouts> layoutsOf(const MatrixTarget &t, unsigned bytes) {
  unsigned wide = 16 / bytes, half = t.lanes == 64 ? 8 : 4;
  auto blocked = [&](unsigned a, unsigned b, unsigned la, unsigned lb, const char *order) {
    return llvm::formatv("#ttg.blocked<{{sizePerThread = [{0}, {1}], threadsPerWarp = [{2}, {3}], warpsPerCTA = [{4}, "
                         "{5}], order = {6}}>",
                         a, b, la, lb, order[1] == '1' ? 4 : 1, order[1] == '1' ? 1 : 4, order)
        .str();
  };
  std::vector<Layouts> all{{"rows", blocked(1, wide, t.lanes / half, half, "[1, 0]")},
                           {"columns", blocked(wide, 1, half, t.lanes / half, "[0, 1]")},
                           {"single", blocked(1, 1, 1, t.lanes, "[1, 0]")},
                           {"tall", blocked(1, 1, t.lanes, 1, "[0, 1]")},
                           {"matrix", t.matrix}};
  if (bytes == 2) {
    all.push_back(
        {"operandA", llvm::formatv("#ttg.dot_op<{{opIdx = 0, parent = {0}, kWidth = {1}}>", t.matrix, t.kWidth).str()});
    all.push_back(
        {"operandB", llvm::formatv("#ttg.dot_op<{{opIdx = 1, parent = {0}, kWidth = {1}}>", t.matrix, t.kWidth).str()});
  }
  return all;
}

std::string conversion(const MatrixTarget &t, const char *element, const std::string &from, const std::string &to) {
  auto index = [&](const char *n, const std::string &l) {
    return llvm::formatv(
               R"(    %r{0} = tt.make_range {{end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = {1}}>>
    %q{0} = tt.expand_dims %r{0} {{axis = 1 : i32} : tensor<64xi32, #ttg.slice<{{dim = 1, parent = {1}}>> -> tensor<64x1xi32, {1}>
    %s{0} = arith.constant dense<64> : tensor<64x1xi32, {1}>
    %m{0} = arith.muli %q{0}, %s{0} : tensor<64x1xi32, {1}>
    %b{0} = tt.broadcast %m{0} : tensor<64x1xi32, {1}> -> tensor<64x64xi32, {1}>
    %c{0} = tt.make_range {{end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = {1}}>>
    %d{0} = tt.expand_dims %c{0} {{axis = 0 : i32} : tensor<64xi32, #ttg.slice<{{dim = 0, parent = {1}}>> -> tensor<1x64xi32, {1}>
    %e{0} = tt.broadcast %d{0} : tensor<1x64xi32, {1}> -> tensor<64x64xi32, {1}>
    %i{0} = arith.addi %b{0}, %e{0} : tensor<64x64xi32, {1}>
)",
               n, l)
        .str();
  };
  std::string s =
      llvm::formatv("module attributes {{\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = "
                    "\"{0}\", \"ttg.threads-per-warp\" = {1} : i32} {{\n  tt.func public @k(%x: !tt.ptr<{2}> "
                    "{{tt.divisibility = 16 : i32}, %y: !tt.ptr<{2}> {{tt.divisibility = 16 : i32}) {{\n",
                    t.triton, t.lanes, element)
          .str();
  s += index("1", from) + index("2", to);
  s += llvm::formatv(R"(    %xs = tt.splat %x : !tt.ptr<{0}> -> tensor<64x64x!tt.ptr<{0}>, {1}>
    %xp = tt.addptr %xs, %i1 : tensor<64x64x!tt.ptr<{0}>, {1}>, tensor<64x64xi32, {1}>
    %v = tt.load %xp : tensor<64x64x!tt.ptr<{0}>, {1}>
    %w = ttg.convert_layout %v : tensor<64x64x{0}, {1}> -> tensor<64x64x{0}, {2}>
    %ys = tt.splat %y : !tt.ptr<{0}> -> tensor<64x64x!tt.ptr<{0}>, {2}>
    %yp = tt.addptr %ys, %i2 : tensor<64x64x!tt.ptr<{0}>, {2}>, tensor<64x64xi32, {2}>
    tt.store %yp, %w : tensor<64x64x!tt.ptr<{0}>, {2}>
    tt.return
  }
}
)",
                     element, from, to)
           .str();
  return s;
}

class Conflicts : public ::testing::TestWithParam<MatrixTarget> {};

TEST_P(Conflicts, ConversionsHaveNone) {
  const MatrixTarget &t = GetParam();
  for (auto [element, bytes] : {std::pair{"i8", 1u}, {"f16", 2u}, {"f32", 4u}})
    for (auto &from : layoutsOf(t, bytes))
      for (auto &to : layoutsOf(t, bytes)) {
        if (from.name == to.name) continue;
        std::string name = llvm::formatv("{0} {1} {2} -> {3}", t.name, element, from.name, to.name).str();
        Emulation e;
        e.target = t.name;
        e.options.counters = true;
        std::vector<uint8_t> data(64 * 64 * bytes);
        for (size_t k = 0; k < data.size(); ++k) data[k] = uint8_t(k * 7 + k / 251);
        auto r = e.text(conversion(t, element, from.text, to.text), "k", {testing::bytesOf(data), zeros(data.size())});
        ASSERT_TRUE(r.ok()) << name << ": " << r.status();
        EXPECT_EQ(e.buffers[1], data) << name;
        Passes p = sharedPasses(*r);
        EXPECT_EQ(p.passes, p.least) << name << ": " << p.passes << " passes of " << p.executed
                                     << " accesses, least possible " << p.least;
      }
}
INSTANTIATE_TEST_SUITE_P(Targets, Conflicts, ::testing::ValuesIn(kTargets),
                         [](auto &i) { return std::string(i.param.name); });

/// Accumulators as 16-bit elements leave by stmatrix, 512 bytes in an instruction, towards rows as towards columns,
/// in as many passes as their bytes need; and nothing else does.
TEST(MatrixStores, OfAccumulators) {
  struct Case {
    const char *target, *matrix, *element, *to;
    unsigned bytes;
    bool matrices;
  };
  const char
      *v2 = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
      *v3 = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>";
  for (auto c : {Case{"sm_90a", v2, "f16", "rows", 2, true},
                 {"sm_90a", v2, "f16", "columns", 2, true},
                 {"sm_90a", v3, "bf16", "rows", 2, true},
                 {"sm_90a", v3, "i16", "columns", 2, true},
                 {"sm_120a", v2, "f16", "rows", 2, true},
                 {"sm_90a", v3, "f32", "rows", 4, false},
                 {"sm_90a", v2, "i8", "rows", 1, false},
                 {"sm_80", v2, "f16", "rows", 2, false}}) {
    const char *triton = llvm::StringRef(c.target) == "sm_80"     ? "cuda:80"
                         : llvm::StringRef(c.target) == "sm_120a" ? "cuda:120"
                                                                  : "cuda:90";
    MatrixTarget t{{c.target, triton, 32}, c.matrix, 2};
    std::string to;
    for (auto &l : layoutsOf(t, c.bytes))
      if (l.name == c.to) to = l.text;
    Emulation e;
    e.target = c.target;
    e.options.counters = true;
    std::vector<uint8_t> data(64 * 64 * c.bytes);
    for (size_t k = 0; k < data.size(); ++k) data[k] = uint8_t(k * 7 + k / 251);
    bool matrices = false;
    auto r = e.text(conversion(t, c.element, c.matrix, to), "k", {testing::bytesOf(data), zeros(data.size())},
                    [&](llvm::Module &m) {
                      for (llvm::Instruction &i : llvm::instructions(*m.getFunction("k")))
                        if (auto *call = llvm::dyn_cast<llvm::CallInst>(&i); call && call->isInlineAsm())
                          matrices |=
                              llvm::StringRef(llvm::cast<llvm::InlineAsm>(call->getCalledOperand())->getAsmString())
                                  .contains("stmatrix");
                    });
    std::string name = std::string(c.target) + " " + c.element + " to " + c.to;
    ASSERT_TRUE(r.ok()) << name << ": " << r.status();
    EXPECT_EQ(e.buffers[1], data) << name;
    Passes stores = sharedPasses(*r, "store"), all = sharedPasses(*r);
    EXPECT_EQ(all.passes, all.least) << name;
    EXPECT_EQ(matrices, c.matrices) << name;
    if (c.matrices) EXPECT_EQ(stores.executed, data.size() / 512) << name;
  }
}

/// Repeatedly through a part of the memory, as if the block had too little of it: registers decide the repetition of an
/// instruction. Where that needs lanes too (a quarter, here), stores are plain.
TEST(MatrixStores, InSeveralPasses) {
  for (int bytes : {8192, 4096, 2048}) {
    MatrixTarget t{
        {"sm_90a", "cuda:90", 32},
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
        2};
    std::string text = conversion(t, "f16", t.matrix, layoutsOf(t, 2)[0].text);
    size_t at = text.find("convert_layout %v");
    text.insert(at + 17, llvm::formatv(" {{allocation.scratch = {0} : i32}", bytes).str());
    Emulation e;
    e.options.counters = true;
    std::vector<uint8_t> data(64 * 64 * 2);
    for (size_t k = 0; k < data.size(); ++k) data[k] = uint8_t(k * 7 + k / 251);
    auto r = e.text(text, "k", {testing::bytesOf(data), zeros(data.size())});
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ(e.buffers[1], data);
    uint64_t barriers = 0;
    for (auto &s : r->sites) barriers += s.kind == emulator::SiteCounters::Kind::Barrier ? s.executed : 0;
    EXPECT_EQ(barriers, uint64_t(4 * (2 * 8192 / bytes - 1))); // of four warps
    if (bytes > 2048) EXPECT_EQ(sharedPasses(*r, "store").executed, 16u) << bytes;
    EXPECT_EQ(sharedPasses(*r, "store").passes, sharedPasses(*r, "store").least) << bytes;
  }
}

/// C = A * B over several steps of K, well aligned: what goes through shared memory on the way to the operands.
std::string dotKernel(unsigned m, unsigned n, unsigned k) {
  return llvm::formatv(R"(
module {{
  tt.func public @k(%a: !tt.ptr<f16> {{tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {{tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {{tt.divisibility = 16 : i32}) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %z = arith.constant dense<0.0> : tensor<{0}x{1}xf32>
    %rm = tt.make_range {{end = {0} : i32, start = 0 : i32} : tensor<{0}xi32>
    %rn = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
    %rk = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32>
    %m1 = tt.expand_dims %rm {{axis = 1 : i32} : tensor<{0}xi32> -> tensor<{0}x1xi32>
    %ka = arith.constant dense<{3}> : tensor<{0}x1xi32>
    %m2 = arith.muli %m1, %ka : tensor<{0}x1xi32>
    %m3 = tt.broadcast %m2 : tensor<{0}x1xi32> -> tensor<{0}x{2}xi32>
    %k1 = tt.expand_dims %rk {{axis = 0 : i32} : tensor<{2}xi32> -> tensor<1x{2}xi32>
    %k2 = tt.broadcast %k1 : tensor<1x{2}xi32> -> tensor<{0}x{2}xi32>
    %ia = arith.addi %m3, %k2 : tensor<{0}x{2}xi32>
    %as = tt.splat %a : !tt.ptr<f16> -> tensor<{0}x{2}x!tt.ptr<f16>>
    %ap = tt.addptr %as, %ia : tensor<{0}x{2}x!tt.ptr<f16>>, tensor<{0}x{2}xi32>
    %k3 = tt.expand_dims %rk {{axis = 1 : i32} : tensor<{2}xi32> -> tensor<{2}x1xi32>
    %nb = arith.constant dense<{1}> : tensor<{2}x1xi32>
    %k4 = arith.muli %k3, %nb : tensor<{2}x1xi32>
    %k5 = tt.broadcast %k4 : tensor<{2}x1xi32> -> tensor<{2}x{1}xi32>
    %n1 = tt.expand_dims %rn {{axis = 0 : i32} : tensor<{1}xi32> -> tensor<1x{1}xi32>
    %n2 = tt.broadcast %n1 : tensor<1x{1}xi32> -> tensor<{2}x{1}xi32>
    %ib = arith.addi %k5, %n2 : tensor<{2}x{1}xi32>
    %bs = tt.splat %b : !tt.ptr<f16> -> tensor<{2}x{1}x!tt.ptr<f16>>
    %bp = tt.addptr %bs, %ib : tensor<{2}x{1}x!tt.ptr<f16>>, tensor<{2}x{1}xi32>
    %sa = arith.constant dense<{2}> : tensor<{0}x{2}xi32>
    %sb = arith.constant dense<{4}> : tensor<{2}x{1}xi32>
    %r:3 = scf.for %i = %c0 to %c8 step %c1 iter_args(%pa = %ap, %pb = %bp, %acc = %z) -> (tensor<{0}x{2}x!tt.ptr<f16>>, tensor<{2}x{1}x!tt.ptr<f16>>, tensor<{0}x{1}xf32>) : i32 {{
      %x = tt.load %pa : tensor<{0}x{2}x!tt.ptr<f16>>
      %y = tt.load %pb : tensor<{2}x{1}x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc, inputPrecision = tf32 : tensor<{0}x{2}xf16> * tensor<{2}x{1}xf16> -> tensor<{0}x{1}xf32>
      %na = tt.addptr %pa, %sa : tensor<{0}x{2}x!tt.ptr<f16>>, tensor<{0}x{2}xi32>
      %nbp = tt.addptr %pb, %sb : tensor<{2}x{1}x!tt.ptr<f16>>, tensor<{2}x{1}xi32>
      scf.yield %na, %nbp, %d : tensor<{0}x{2}x!tt.ptr<f16>>, tensor<{2}x{1}x!tt.ptr<f16>>, tensor<{0}x{1}xf32>
    }
    %h = arith.truncf %r#2 : tensor<{0}x{1}xf32> to tensor<{0}x{1}xf16>
    %cm = arith.constant dense<{1}> : tensor<{0}x1xi32>
    %o1 = arith.muli %m1, %cm : tensor<{0}x1xi32>
    %o2 = tt.broadcast %o1 : tensor<{0}x1xi32> -> tensor<{0}x{1}xi32>
    %o3 = tt.broadcast %n1 : tensor<1x{1}xi32> -> tensor<{0}x{1}xi32>
    %io = arith.addi %o2, %o3 : tensor<{0}x{1}xi32>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<{0}x{1}x!tt.ptr<f16>>
    %cp = tt.addptr %cs, %io : tensor<{0}x{1}x!tt.ptr<f16>>, tensor<{0}x{1}xi32>
    tt.store %cp, %h : tensor<{0}x{1}x!tt.ptr<f16>>
    tt.return
  }
}
)",
                       m, n, k, 8 * k, k * n)
      .str();
}

class DotConflicts : public ::testing::TestWithParam<MatrixTarget> {};
TEST_P(DotConflicts, OperandsHaveNone) {
  for (auto [m, n, k] : {std::array{64u, 64u, 32u}, {128u, 64u, 32u}, {128u, 128u, 32u}, {64u, 128u, 64u}}) {
    Emulation e;
    e.target = GetParam().name;
    e.options.counters = true;
    auto r = e.text(dotKernel(m, n, k), "k", {zeros(m * 8 * k * 2), zeros(8 * k * n * 2), zeros(m * n * 2)});
    ASSERT_TRUE(r.ok()) << r.status();
    std::string name = llvm::formatv("{0} {1}x{2}x{3}", GetParam().name, m, n, k).str();
    for (const char *what : {"load", "store"}) {
      Passes p = sharedPasses(*r, what);
      if (*what == 'l' || m * n < 128 * 128) {
        EXPECT_GT(p.executed, 0u) << name << " " << what; // the operands do go that way
      }
      EXPECT_EQ(p.passes, p.least) << name << ", " << what << "s: " << p.executed << " accesses";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Targets, DotConflicts, ::testing::ValuesIn(kTargets),
                         [](auto &i) { return std::string(i.param.name); });

} // namespace
} // namespace tessera
