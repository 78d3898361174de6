// Whole kernels on the emulator, with every check on, against the outputs that Triton's compiled code gave on a GPU:
// every folder of tests/kernels for every target with two of 1, 2, 4 and 8 warps, so that a kernel runs with each
// number on targets of both vendors (with TESSERA_EMULATOR_WARPS=all with all four), and every folder of
// $TESSERA_SHARED/kernels with 1 and 4 (or all). A kernel that this compiler cannot lower yet, or whose device library
// is not installed, is skipped with its reason.
#include "emulation.h"
#include "runtime/compiler/targets.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>
#include <gtest/gtest.h>

namespace tessera {
namespace {

struct Case {
  std::string name, folder, target;
  std::vector<int> warps;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  const char *wanted = getenv("TESSERA_EMULATOR_WARPS");
  bool all = wanted && llvm::StringRef(wanted) == "all";
  auto add = [&](const std::string &root, const char *prefix) {
    std::error_code ec;
    for (llvm::sys::fs::directory_iterator it(root, ec), end; it != end && !ec; it.increment(ec)) {
      if (!llvm::sys::fs::exists(it->path() + "/launch.json")) continue;
      std::string name = prefix + llvm::sys::path::filename(it->path()).str();
      // The targets of a vendor take 1 and 4, or 2 and 8 warps in turn; which come first differs from kernel to kernel.
      unsigned turns[2] = {unsigned(name.size()), unsigned(name.size())};
      for (auto *t : runtime::allTargets()) {
        bool odd = turns[t->info.vendor == ir::Vendor::Amd]++ % 2;
        std::vector<int> warps = *prefix || !odd ? std::vector<int>{1, 4} : std::vector<int>{2, 8};
        out.push_back({name + "_" + t->info.name.str(), it->path(), t->info.name.str(),
                       all ? std::vector<int>{1, 2, 4, 8} : warps});
      }
    }
  };
  add(TESSERA_SOURCE_DIR "/tests/kernels", "");
  if (const char *shared = getenv("TESSERA_SHARED")) add(std::string(shared) + "/kernels", "shared_");
  llvm::sort(out, [](auto &a, auto &b) { return a.name < b.name; });
  return out;
}

class Kernels : public ::testing::TestWithParam<Case> {};

TEST_P(Kernels, ComputeWhatTheGpuComputed) {
  for (int n : GetParam().warps) {
    testing::Emulation e;
    e.target = GetParam().target;
    e.numWarps = n;
    auto r = e.launch(GetParam().folder);
    if (absl::IsNotFound(r.status()) ||
        (!r.ok() && llvm::StringRef(std::string(r.status().message())).contains("has no lowering")))
      GTEST_SKIP() << r.status();
    EXPECT_TRUE(r.ok()) << n << " warps: " << r.status();
  }
}

INSTANTIATE_TEST_SUITE_P(All, Kernels, ::testing::ValuesIn(cases()), [](auto &i) { return i.param.name; });

/// The number of warps is a wish: two accumulators that take 256 registers in 4 warps are computed by 8.
TEST(MoreWarps, ThanRequested) {
  for (const char *target : {"sm_80", "sm_90a", "sm_120a"}) {
    testing::Emulation e;
    e.target = target;
    e.exactNumWarps = false;
    auto r = e.launch(TESSERA_SOURCE_DIR "/tests/kernels/attn_key_grads");
    EXPECT_TRUE(r.ok()) << target << ": " << r.status();
    EXPECT_EQ(e.options.numWarps, 8) << target;
  }
}

/// A block of 16 elements has work for one warp.
TEST(FewerWarps, ThanRequested) {
  for (const char *target : {"sm_80", "sm_90a", "gfx942", "gfx1100"}) {
    testing::Emulation e;
    e.target = target;
    e.numWarps = 8;
    e.exactNumWarps = false;
    auto r = e.launch(TESSERA_SOURCE_DIR "/tests/kernels/few_elements");
    EXPECT_TRUE(r.ok()) << target << ": " << r.status();
    EXPECT_EQ(e.options.numWarps, 1) << target;
  }
}

/// A kernel whose loops request a warp for their copies.
testing::Emulation withProducer(int warps, int stages) {
  testing::Emulation e;
  e.target = "sm_90a";
  e.numWarps = warps;
  e.numStages = stages;
  e.exactNumWarps = false;
  e.specializesWarps = true;
  return e;
}

/// A producer warp for a loop over tiles, beside two warp groups and beside four: the block has one warp group more.
TEST(ProducerOfTiles, ComputesTheSame) {
  auto run = [](const char *kernel, int warps, int stages) {
    testing::Emulation e = withProducer(warps, stages);
    auto r = e.launch(std::string(TESSERA_SOURCE_DIR "/tests/kernels/") + kernel);
    EXPECT_TRUE(r.ok()) << kernel << ", " << stages << " stages: " << r.status();
    EXPECT_EQ(e.options.numWarps, warps + 4) << kernel;
  };
  run("desc_arguments_mm_tall", 8, 3);
  run("desc_arguments_mm_lengths", 8, 4);
  run("desc_arguments_mm_halves", 16, 4);
}

/// The mbarriers that the producer waits for count the arrivals of all 8 warps: with one less, buffers are filled while
/// a warp group may read them; one more never comes.
TEST(ProducerOfTiles, WaitsForAllWarps) {
  auto messageWith = [](const std::string &count) {
    testing::Emulation e = withProducer(8, 3);
    unsigned changed = 0;
    auto r = e.launch(TESSERA_SOURCE_DIR "/tests/kernels/desc_arguments_mm_tall", [&](llvm::Module &m) {
      for (auto &f : m)
        for (auto &i : llvm::instructions(f)) {
          auto *call = llvm::dyn_cast<llvm::CallInst>(&i);
          auto *code = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
          std::string text = code ? code->getAsmString().str() : "";
          size_t at = text.find(", 8;");
          if (text.find("mbarrier.init") == std::string::npos || at == std::string::npos) continue;
          text.replace(at, 4, ", " + count + ";");
          call->setCalledOperand(
              llvm::InlineAsm::get(code->getFunctionType(), text, code->getConstraintString(), code->hasSideEffects()));
          ++changed;
        }
    });
    EXPECT_EQ(changed, 3u);
    EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
    return std::string(r.status().message());
  };
  std::string less = messageWith("7"), more = messageWith("9");
  EXPECT_NE(less.find("race"), std::string::npos) << less;
  EXPECT_NE(more.find("deadlock"), std::string::npos) << more;
}

/// Without the barriers of warp groups, a group's copy reads what its warps have not written yet.
TEST(ProducerOfTiles, StoresOfWarpGroupsNeedTheirBarriers) {
  testing::Emulation e = withProducer(8, 3);
  unsigned erased = 0;
  auto r = e.launch(TESSERA_SOURCE_DIR "/tests/kernels/desc_arguments_mm_tall", [&](llvm::Module &m) {
    for (auto &f : m)
      for (auto &i : llvm::make_early_inc_range(llvm::instructions(f))) {
        auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
        bool isOfGroup = call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_count &&
                         !llvm::isa<llvm::Constant>(call->getArgOperand(0));
        if (!isOfGroup) continue;
        call->eraseFromParent();
        ++erased;
      }
  });
  EXPECT_EQ(erased, 4u);
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted) << r.status();
  EXPECT_NE(r.status().message().find("race"), std::string::npos) << r.status();
}

/// Elements wider than a register, through shuffles and shared memory: sums beyond 64 bits of a permuted tensor.
TEST(WideElements, OfAHundredAndTwentyEightBits) {
  constexpr llvm::StringRef text = R"(
tt.func public @k(%p: !tt.ptr<i64>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %wide = arith.extsi %r : tensor<1024xi32> to tensor<1024xi128>
  %sixty = arith.constant dense<60> : tensor<1024xi128>
  %high = arith.shli %wide, %sixty : tensor<1024xi128>
  %square = tt.reshape %high : tensor<1024xi128> -> tensor<32x32xi128>
  %columns = tt.trans %square {order = array<i32: 1, 0>} : tensor<32x32xi128> -> tensor<32x32xi128>
  %flat = tt.reshape %columns : tensor<32x32xi128> -> tensor<1024xi128>
  %sum = "tt.reduce"(%flat) <{axis = 0 : i32}> ({
  ^bb0(%x: i128, %y: i128):
    %s = arith.addi %x, %y : i128
    tt.reduce.return %s : i128
  }) : (tensor<1024xi128>) -> i128
  %sums = "tt.scan"(%flat) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%x: i128, %y: i128):
    %s = arith.addi %x, %y : i128
    tt.scan.return %s : i128
  }) : (tensor<1024xi128>) -> tensor<1024xi128>
  %all = tt.splat %sum : i128 -> tensor<1024xi128>
  %total = arith.addi %sums, %all : tensor<1024xi128>
  %low = arith.shrsi %total, %sixty : tensor<1024xi128>
  %v = arith.trunci %low : tensor<1024xi128> to tensor<1024xi64>
  %ps = tt.splat %p : !tt.ptr<i64> -> tensor<1024x!tt.ptr<i64>>
  %a = tt.addptr %ps, %r : tensor<1024x!tt.ptr<i64>>, tensor<1024xi32>
  tt.store %a, %v : tensor<1024x!tt.ptr<i64>>
  tt.return
})";
  for (const char *target : {"sm_80", "sm_90a", "gfx90a", "gfx942", "gfx1100", "gfx1201"})
    for (int warps : {1, 4}) {
      SCOPED_TRACE(std::string(target) + ", " + std::to_string(warps) + " warps");
      testing::Emulation e;
      e.target = target;
      e.numWarps = warps;
      auto r = e.text(text, "k", {testing::zeros(1024 * 8)});
      ASSERT_TRUE(r.ok()) << r.status();
      int64_t sum = 0;
      for (int i = 0; i < 1024; ++i) {
        sum += i % 32 * 32 + i / 32;
        int64_t got;
        memcpy(&got, e.buffers[0].data() + i * 8, 8);
        ASSERT_EQ(got, sum + 1023 * 1024 / 2) << i;
      }
    }
}

/// Conversions between layouts that need more shared memory than a block has are made in several passes over the
/// buffer: transposes of 128 and 256 KiB, where registers alone, or threads of either side, decide in which pass an
/// element is.
TEST(Conversions, BeyondSharedMemoryTakeSeveralPasses) {
  struct Type {
    const char *name, *cast;
    int bytes, rows;
  };
  for (auto [name, cast, bytes, rows] :
       {Type{"i32", "arith.addi %g, %g", 4, 256}, Type{"i64", "arith.extsi %g", 8, 256},
        Type{"i16", "arith.trunci %g", 2, 512}, Type{"i8", "arith.trunci %g", 1, 1024}})
    for (const char *target : {"sm_86", "gfx90a", "gfx942", "gfx1100"})
      for (int warps : {2, 4, 8}) {
        int n = rows * 128;
        std::string t = name, of = "x" + t + ">", flat = "tensor<" + std::to_string(n) + "xi32>",
                    a = "tensor<" + std::to_string(rows) + "x128", b = "tensor<128x" + std::to_string(rows);
        SCOPED_TRACE(a + of + " for " + target + ", " + std::to_string(warps) + " warps");
        testing::Emulation e;
        e.target = target;
        e.numWarps = warps;
        auto r = e.text("tt.func public @k(%p: !tt.ptr<" + t +
                            "> {tt.divisibility = 16 : i32}) {\n"
                            "%f = tt.make_range {end = " +
                            std::to_string(n) + " : i32, start = 0 : i32} : " + flat +
                            "\n"
                            "%g = tt.reshape %f : " +
                            flat + " -> " + a +
                            "xi32>\n"
                            "%v = " +
                            cast + " : " + a + "xi32>" + (t == "i32" ? "" : " to " + a + of) +
                            "\n"
                            "%w = tt.trans %v {order = array<i32: 1, 0>} : " +
                            a + of + " -> " + b + of +
                            "\n"
                            "%i = tt.reshape %f : " +
                            flat + " -> " + b +
                            "xi32>\n"
                            "%s = tt.splat %p : !tt.ptr<" +
                            t + "> -> " + b + "x!tt.ptr<" + t +
                            ">>\n"
                            "%q = tt.addptr %s, %i : " +
                            b + "x!tt.ptr<" + t + ">>, " + b +
                            "xi32>\n"
                            "tt.store %q, %w : " +
                            b + "x!tt.ptr<" + t +
                            ">>\n"
                            "tt.return\n}",
                        "k", {testing::zeros(n * bytes)});
        ASSERT_TRUE(r.ok()) << r.status();
        for (int at = 0; at < n; ++at) {
          int64_t value = at % rows * 128 + at / rows, got = 0;
          if (t == "i32") value *= 2;
          memcpy(&got, e.buffers[0].data() + int64_t(at) * bytes, bytes);
          ASSERT_EQ(got, bytes < 8 ? value & ((int64_t(1) << 8 * bytes) - 1) : value) << at;
        }
      }
}

/// A call in a text without locations, compiled with line information: LLVM wants a location of every call.
TEST(Calls, NeedNoLocation) {
  constexpr llvm::StringRef text = R"(
tt.func private @f(%v: i32) -> i32 attributes {noinline = true} {
  %c = arith.constant 3 : i32
  %w = arith.muli %v, %c : i32
  tt.return %w : i32
}
tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %v = tt.load %p : !tt.ptr<i32>
  %w = tt.call @f(%v) : (i32) -> i32
  tt.store %q, %w : !tt.ptr<i32>
  tt.return
})";
  for (const char *target : {"sm_90a", "gfx942", "gfx1100"}) {
    testing::Emulation e;
    e.target = target;
    auto r = e.text(text, "k", {testing::bytesOf({5, 0, 0, 0}), testing::zeros(4)});
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ(e.buffers[1][0], 15);
  }
}

/// tt.cat promises both operands' elements in some order, also where tensors are so small or so shaped that threads
/// hold copies.
TEST(Concatenation, HoldsBothOperands) {
  for (auto [a, b] : {std::pair{4, 8}, {16, 1}, {2, 2}, {1, 4}, {64, 2}, {32, 32}, {1, 256}})
    for (const char *target : {"sm_90a", "gfx942", "gfx1100"})
      for (int warps : {1, 4, 8}) {
        auto n = std::to_string(a * b), n2 = std::to_string(2 * a * b),
             part = "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "xi32>",
             whole = std::to_string(2 * a) + "x" + std::to_string(b);
        SCOPED_TRACE(part + " for " + target + ", " + std::to_string(warps) + " warps");
        testing::Emulation e;
        e.target = target;
        e.numWarps = warps;
        auto r = e.text("tt.func public @k(%p: !tt.ptr<i32>) {\n"
                        "%f = tt.make_range {end = " +
                            n + " : i32, start = 0 : i32} : tensor<" + n +
                            "xi32>\n"
                            "%a = tt.reshape %f : tensor<" +
                            n + "xi32> -> " + part +
                            "\n"
                            "%c = arith.constant dense<" +
                            n + "> : " + part +
                            "\n"
                            "%b = arith.addi %a, %c : " +
                            part +
                            "\n"
                            "%both = tt.cat %a, %b : " +
                            part + " -> tensor<" + whole +
                            "xi32>\n"
                            "%g = tt.make_range {end = " +
                            n2 + " : i32, start = 0 : i32} : tensor<" + n2 +
                            "xi32>\n"
                            "%i = tt.reshape %g : tensor<" +
                            n2 + "xi32> -> tensor<" + whole +
                            "xi32>\n"
                            "%s = tt.splat %p : !tt.ptr<i32> -> tensor<" +
                            whole +
                            "x!tt.ptr<i32>>\n"
                            "%q = tt.addptr %s, %i : tensor<" +
                            whole + "x!tt.ptr<i32>>, tensor<" + whole +
                            "xi32>\n"
                            "tt.store %q, %both : tensor<" +
                            whole +
                            "x!tt.ptr<i32>>\n"
                            "tt.return\n}",
                        "k", {testing::zeros(2 * a * b * 4)});
        ASSERT_TRUE(r.ok()) << r.status();
        std::vector<int32_t> got(2 * a * b), want(2 * a * b);
        memcpy(got.data(), e.buffers[0].data(), got.size() * 4);
        llvm::sort(got);
        for (int i = 0; i < 2 * a * b; ++i) want[i] = i;
        EXPECT_EQ(got, want);
      }
}

/// Loads that run iterations ahead stay inside their buffer (of two tiles) whatever the bound, also where the bound
/// less what they run ahead is no number of its type.
TEST(Pipelining, LoadsNothingBeyondTheLastIteration) {
  constexpr llvm::StringRef text = R"(
tt.func public @k(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
  %width = arith.constant dense<32> : tensor<32x1xi32>
  %tile = arith.constant dense<1024> : tensor<32x32xi32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %col = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %rows = arith.muli %row, %width : tensor<32x1xi32>
  %rb = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %col : tensor<1x32xi32> -> tensor<32x32xi32>
  %at = arith.addi %rb, %cb : tensor<32x32xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %pa = tt.addptr %ps, %at : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %sum:2 = scf.for %i = %c0 to %n step %step iter_args(%acc = %zero, %q = %pa) -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>)  : i32 {
    %a = tt.load %q : tensor<32x32x!tt.ptr<f16>>
    %d = tt.dot %a, %a, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %next = tt.addptr %q, %tile : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %d, %next : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %oa = tt.addptr %os, %at : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %oa, %sum#0 : tensor<32x32x!tt.ptr<f32>>
  tt.return
})";
  for (const char *target : {"sm_80", "sm_90a", "gfx942", "gfx1100"})
    for (int32_t n : {INT32_MIN, INT32_MIN + 5, INT32_MIN + 63, -1, 0, 1, 32, 64}) {
      testing::Emulation e;
      e.target = target;
      auto r = e.text(text, "k", {testing::zeros(2048 * 2), testing::zeros(1024 * 4), testing::scalar(uint32_t(n))});
      EXPECT_TRUE(r.ok()) << target << ", bound " << n << ": " << r.status();
    }
}

/// Two runs give the same bits, atomics included.
TEST(Determinism, AtomicsToo) {
  for (const char *target : {"sm_90a", "gfx942"}) {
    testing::Emulation a, b;
    a.target = b.target = target;
    std::string folder = TESSERA_SOURCE_DIR "/tests/kernels/atomics";
    ASSERT_TRUE(a.launch(folder).ok());
    ASSERT_TRUE(b.launch(folder).ok());
    EXPECT_EQ(a.buffers, b.buffers);
  }
}

} // namespace
} // namespace tessera
