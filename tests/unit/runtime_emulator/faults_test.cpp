// Planted faults, each of which the emulator must find and name: kernels with one mistake, in TTIR (compiled for a
// target) or in LLVM IR as the lowering writes it; and real kernels with one barrier taken out of the lowered code,
// for every barrier they have. A sound twin of a faulty kernel, where there is one, must pass: the finding is not a
// habit.
#include "emulation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Metadata.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using ::testing::AllOf;
using testing::counting;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::scalar;
using testing::zeros;

std::string messageOf(const absl::Status &s) { return std::string(s.message()); }

/// The run is aborted, and its message says all of this.
#define EXPECT_FOUND(result, ...)                                                                                      \
  do {                                                                                                                 \
    auto &&found = (result);                                                                                           \
    EXPECT_EQ(found.status().code(), absl::StatusCode::kAborted) << found.status();                                    \
    EXPECT_THAT(messageOf(found.status()), AllOf(__VA_ARGS__));                                                        \
  } while (false)
#define EXPECT_SOUND(result)                                                                                           \
  do {                                                                                                                 \
    auto &&found = (result);                                                                                           \
    EXPECT_TRUE(found.ok()) << found.status();                                                                         \
  } while (false)

/// y[i] = x[i] + 1 for the i that `index` and `mask` make of the thread's index; OFFSET and MASK are put into the text.
std::string addOne(llvm::StringRef index, llvm::StringRef mask) {
  std::string s = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c256 = arith.constant 256 : i32
    %c1 = arith.constant dense<1> : tensor<256xi32>
    %z = arith.constant dense<0> : tensor<256xi32>
    %pid = tt.get_program_id x : i32
    %base = arith.muli %pid, %c256 : i32
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %b = tt.splat %base : i32 -> tensor<256xi32>
    %i = arith.addi %b, %r : tensor<256xi32>
    %ns = tt.splat %n : i32 -> tensor<256xi32>
)";
  s += index.str() + "\n" + mask.str() + R"(
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %j : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %v = tt.load %xp, %m, %z : tensor<256x!tt.ptr<i32>> loc("kernel.py":7:3)
    %w = arith.addi %v, %c1 : tensor<256xi32>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %j : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %yp, %w, %m : tensor<256x!tt.ptr<i32>> loc("kernel.py":9:3)
    tt.return
  }
}
)";
  return s;
}
constexpr const char *kSame =
    "    %zero = arith.constant dense<0> : tensor<256xi32>\n    %j = arith.addi %i, %zero : tensor<256xi32>";
constexpr const char *kLess = "    %m = arith.cmpi slt, %i, %ns : tensor<256xi32>";

class Faults : public ::testing::TestWithParam<const char *> {
protected:
  Emulation make(int warps = 4) {
    Emulation e;
    e.target = GetParam();
    e.numWarps = warps;
    return e;
  }
  bool amd() const { return llvm::StringRef(GetParam()).starts_with("gfx"); }
};
INSTANTIATE_TEST_SUITE_P(Targets, Faults, ::testing::Values("sm_80", "sm_90a", "gfx942", "gfx1100", "gfx1201"),
                         [](auto &i) { return std::string(i.param); });

// ---- addresses ----

TEST_P(Faults, SoundTwin) {
  auto e = make();
  e.grid = {4, 1, 1};
  EXPECT_SOUND(e.text(addOne(kSame, kLess), "k", {counting(4000), zeros(4000), scalar(1000)}));
}
TEST_P(Faults, MaskOffByOne) {
  auto e = make();
  e.grid = {4, 1, 1};
  EXPECT_FOUND(e.text(addOne(kSame, "    %m = arith.cmpi sle, %i, %ns : tensor<256xi32>"), "k",
                      {counting(4000), zeros(4000), scalar(1000)}),
               HasSubstr("out of bounds"), HasSubstr("block (3, 0, 0)"),
               HasSubstr("at byte 4000 of 'a', which has 4000"), HasSubstr("tt.load at kernel.py:7:3"),
               HasSubstr("thread "));
}
TEST_P(Faults, StoreOutOfBounds) {
  auto e = make();
  EXPECT_FOUND(e.text(addOne(kSame, kLess), "k", {counting(1024), zeros(1020), scalar(256)}),
               HasSubstr("out of bounds"), HasSubstr("of 'b', which has 1020"), HasSubstr("tt.store at kernel.py:9:3"));
}
TEST_P(Faults, NegativeIndex) {
  auto e = make();
  EXPECT_FOUND(
      e.text(addOne("    %k = arith.constant dense<-1> : tensor<256xi32>\n    %j = arith.addi %i, %k : tensor<256xi32>",
                    kLess),
             "k", {counting(1024), zeros(1024), scalar(256)}),
      HasSubstr("out of bounds"), HasSubstr("of 'a'"), HasSubstr("byte -"));
}
TEST_P(Faults, IndexWraps) {
  // 2^20 + i times 2^12 needs 33 bits; it comes out as i * 2^12, which lies in the buffer.
  auto e = make();
  EXPECT_FOUND(e.text(addOne("    %big = arith.constant dense<1048576> : tensor<256xi32>\n    %ss = arith.addi %i, "
                             "%big : tensor<256xi32>\n    %stride = tt.splat %n : i32 -> tensor<256xi32>\n"
                             "    %j = arith.muli %ss, %stride : tensor<256xi32>",
                             "    %m = arith.cmpi slt, %i, %c1 : tensor<256xi32>"),
                      "k", {counting(4096), zeros(4096), scalar(4096)}),
               HasSubstr("overflowed 32 bits"));
}
TEST_P(Faults, WrapThatIsTakenBackIsSound) {
  auto e = make();
  EXPECT_SOUND(e.text(addOne("    %big = arith.constant dense<2147483647> : tensor<256xi32>\n    %nn = tt.splat %n : "
                             "i32 -> tensor<256xi32>\n    %up = arith.addi %i, %big : tensor<256xi32>\n"
                             "    %s = arith.subi %up, %nn : tensor<256xi32>\n    %q = arith.addi %s, %nn : "
                             "tensor<256xi32>\n    %j = arith.subi %q, %big : tensor<256xi32>",
                             kLess),
                      "k", {counting(1024), zeros(1024), scalar(256)}));
}
TEST_P(Faults, MuliWithDroppedBitsIsSound) {
  // (n - 1) * n * 64, which LLVM writes as (n + 0x3ffffff) * (n * 64).
  auto e = make();
  EXPECT_SOUND(
      e.text(addOne("    %one = arith.constant 1 : i32\n    %c64 = arith.constant 64 : i32\n    %t = arith.subi %n, "
                    "%one : i32\n    %u = arith.muli %t, %n : i32\n    %far = arith.muli %u, %c64 : i32\n"
                    "    %vs = tt.splat %far : i32 -> tensor<256xi32>\n    %j = arith.addi %i, %vs : tensor<256xi32>",
                    kLess),
             "k", {counting(4096), zeros(4096), scalar(2)}));
}
TEST_P(Faults, OffsetsIntoSmallBuffersMayWrap) {
  // The same where the caller promises buffers of less than 2 GiB: on AMD addresses are then computed modulo 2^32.
  if (!amd()) GTEST_SKIP() << "NVIDIA's addresses have 64 bits";
  auto e = make();
  auto text = addOne("    %big = arith.constant dense<1048576> : tensor<256xi32>\n    %ss = arith.addi %i, %big : "
                     "tensor<256xi32>\n    %stride = tt.splat %n : i32 -> tensor<256xi32>\n"
                     "    %j = arith.muli %ss, %stride : tensor<256xi32>",
                     "    %m = arith.cmpi slt, %i, %c1 : tensor<256xi32>");
  for (size_t at = 0; (at = text.find("16 : i32}", at)) != std::string::npos; at += 9)
    text.insert(at + 8, ", tt.pointer_range = 32 : i32");
  EXPECT_SOUND(e.text(text, "k", {counting(4096), zeros(4096), scalar(4096)}));
}
TEST_P(Faults, HashesMayWrap) {
  auto e = make();
  EXPECT_SOUND(e.text(
      addOne("    %h = arith.constant dense<-1640531527> : tensor<256xi32>\n    %nn = tt.splat %n : i32 -> "
             "tensor<256xi32>\n    %p = arith.muli %i, %nn : tensor<256xi32>\n    %q = arith.muli %p, %h : "
             "tensor<256xi32>\n"
             "    %mask = arith.constant dense<255> : tensor<256xi32>\n    %j = arith.andi %q, %mask : tensor<256xi32>",
             "    %m = arith.cmpi slt, %i, %c1 : tensor<256xi32>"),
      "k", {counting(1024), zeros(1024), scalar(77777)}));
}
TEST_P(Faults, PointerIsLessAlignedThanPromised) {
  // The offset claims to be a multiple of 16 and is 1.
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %ns = tt.splat %n : i32 -> tensor<1024xi32>
    %i = arith.addi %r, %ns : tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %v = tt.load %xp : tensor<1024x!tt.ptr<i32>>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    tt.store %yp, %v : tensor<1024x!tt.ptr<i32>>
    tt.return
  }
})";
  auto e = make();
  EXPECT_SOUND(e.text(ir, "k", {counting(8192), zeros(4096), scalar(16)}));
  EXPECT_FOUND(e.text(ir, "k", {counting(8192), zeros(4096), scalar(1)}), HasSubstr("misaligned access"),
               HasSubstr("byte 4 of 'a', which is not a multiple of 16"));
}
TEST_P(Faults, NullPointer) {
  const char *ir = R"(
module {
  tt.func public @k(%y: !tt.ptr<i32>, %a: i64) {
    %p = tt.int_to_ptr %a : i64 -> !tt.ptr<i32>
    %v = tt.load %p : !tt.ptr<i32> loc("null.py":3:1)
    tt.store %y, %v : !tt.ptr<i32>
    tt.return
  }
})";
  auto e = make();
  EXPECT_FOUND(e.text(ir, "k", {zeros(4), scalar(0)}), HasSubstr("null pointer"), HasSubstr("null.py:3:1"));
}
/// y[x[i]] = i: the index comes from data.
const char *kScatter = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    %v = tt.load %xp : tensor<128x!tt.ptr<i32>>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
    %yp = tt.addptr %ys, %v : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
    tt.store %yp, %r : tensor<128x!tt.ptr<i32>>
    tt.return
  }
})";
TEST_P(Faults, IndexFromDataOutOfBounds) {
  auto e = make();
  EXPECT_SOUND(e.text(kScatter, "k", {counting(512), zeros(512)}));
  EXPECT_FOUND(e.text(kScatter, "k", {counting(512), zeros(500)}), HasSubstr("out of bounds"),
               HasSubstr("at byte 500 of 'b'"));
}
TEST_P(Faults, ScatterCollides) {
  auto e = make();
  EXPECT_FOUND(e.text(kScatter, "k", {zeros(512), zeros(512)}), HasSubstr("race"), HasSubstr("byte 0 of 'b'"));
}
TEST_P(Faults, AtomicOutOfBounds) {
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %i: i32) {
    %c1 = arith.constant 1 : i32
    %t = arith.constant true
    %p = tt.addptr %x, %i : !tt.ptr<i32>, i32
    %v = tt.atomic_rmw add, acq_rel, gpu, %p, %c1, %t : (!tt.ptr<i32>, i32, i1) -> i32 loc("atomic.py":5:1)
    tt.return
  }
})";
  auto e = make();
  EXPECT_SOUND(e.text(ir, "k", {zeros(64), scalar(15)}));
  EXPECT_FOUND(e.text(ir, "k", {zeros(64), scalar(16)}),
               HasSubstr("out of bounds: it updates 4 bytes at byte 64 of 'a'"),
               HasSubstr("tt.atomic_rmw at atomic.py:5:1"));
}

// ---- order ----

TEST_P(Faults, BlocksWriteTheSamePlace) {
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    tt.store %x, %pid : !tt.ptr<i32> loc("race.py":4:1)
    tt.return
  }
})";
  auto e = make();
  EXPECT_SOUND(e.text(ir, "k", {zeros(4)}));
  e.grid = {3, 1, 1};
  EXPECT_FOUND(e.text(ir, "k", {zeros(4)}), HasSubstr("race"), HasSubstr("block (2, 0, 0)"),
               HasSubstr("of block (1, 0, 0)"), HasSubstr("no release and acquire"),
               HasSubstr("tt.store at race.py:4:1"));
}
TEST_P(Faults, BlockReadsWhatAnotherWrites) {
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %pid = tt.get_program_id x : i32
    %next = arith.addi %pid, %c1 : i32
    %p = tt.addptr %x, %pid : !tt.ptr<i32>, i32
    %q = tt.addptr %x, %next : !tt.ptr<i32>, i32
    %v = tt.load %p : !tt.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    tt.store %q, %w : !tt.ptr<i32>
    tt.return
  }
})";
  auto e = make();
  e.grid = {4, 1, 1};
  EXPECT_FOUND(e.text(ir, "k", {zeros(64), zeros(4)}), HasSubstr("race"), HasSubstr("reads byte 4 of 'a'"),
               HasSubstr("wrote"));
}
TEST_P(Faults, NeighboursInABlockWithoutBarrier) {
  // x[255 - i] = x[i] + i in one block.
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %c = arith.constant dense<255> : tensor<256xi32>
    %back = arith.subi %c, %r : tensor<256xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %p = tt.addptr %xs, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %q = tt.addptr %xs, %back : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %v = tt.load %p : tensor<256x!tt.ptr<i32>>
    %w = arith.addi %v, %c : tensor<256xi32>
    tt.store %q, %w : tensor<256x!tt.ptr<i32>>
    tt.return
  }
})";
  auto e = make();
  EXPECT_FOUND(e.text(ir, "k", {counting(1024)}), HasSubstr("race"), HasSubstr("no barrier orders the two"));
}
/// A lock around x[0] += 1; RELEASE stands for what frees it.
std::string locked(llvm::StringRef release) {
  return R"(
module {
  tt.func public @k(%lock: !tt.ptr<i32>, %x: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = arith.constant true
    scf.while : () -> () {
      %old = tt.atomic_cas acq_rel, gpu, %lock, %c0, %c1 : (!tt.ptr<i32>, i32, i32) -> i32
      %taken = arith.cmpi eq, %old, %c1 : i32
      scf.condition(%taken)
    } do {
      scf.yield
    }
    %v = tt.load %x : !tt.ptr<i32>
    %w = arith.addi %v, %c1 : i32
    tt.store %x, %w : !tt.ptr<i32>
    gpu.barrier
)" + release.str() +
         R"(
    tt.return
  }
})";
}
TEST_P(Faults, LockThatIsNeverFreed) {
  auto e = make(1);
  e.grid = {3, 1, 1};
  EXPECT_FOUND(e.text(locked(""), "k", {zeros(4), zeros(4)}), HasSubstr("deadlock"), HasSubstr("block (1, 0, 0)"));
}
TEST_P(Faults, LockIsSound) {
  auto e = make(1);
  e.grid = {3, 1, 1};
  auto r = e.text(locked("    %f = tt.atomic_rmw exch, acq_rel, gpu, %lock, %c0, %t : (!tt.ptr<i32>, i32, i1) -> i32"),
                  "k", {zeros(4), zeros(4)});
  EXPECT_SOUND(r);
  EXPECT_EQ(e.buffers[1][0], 3);
}
TEST_P(Faults, LockFreedWithoutRelease) {
  auto e = make(1);
  e.grid = {3, 1, 1};
  EXPECT_FOUND(
      e.text(locked("    %f = tt.atomic_rmw exch, relaxed, gpu, %lock, %c0, %t : (!tt.ptr<i32>, i32, i1) -> i32"), "k",
             {zeros(4), zeros(4)}),
      HasSubstr("race"), HasSubstr("no release and acquire"));
}
TEST_P(Faults, WaitsForAFlagNobodySets) {
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %t = arith.constant true
    scf.while : () -> () {
      %v = tt.atomic_rmw or, acquire, gpu, %x, %c0, %t : (!tt.ptr<i32>, i32, i1) -> i32
      %unset = arith.cmpi eq, %v, %c0 : i32
      scf.condition(%unset)
    } do {
      scf.yield
    }
    tt.return
  }
})";
  auto e = make();
  EXPECT_FOUND(e.text(ir, "k", {zeros(4)}), HasSubstr("deadlock"), HasSubstr("block (0, 0, 0)"));
}
TEST_P(Faults, LoopThatRunsAway) {
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %n = scf.while (%i = %c0) : (i32) -> i32 {
      %odd = arith.constant 1 : i32
      %more = arith.cmpi ne, %i, %odd : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      tt.store %x, %i : !tt.ptr<i32> loc("loop.py":6:1)
      %next = arith.addi %i, %c2 : i32
      scf.yield %next : i32
    }
    tt.return
  }
})";
  auto e = make(1);
  e.options.maxInstructions = 1000000;
  EXPECT_FOUND(e.text(ir, "k", {zeros(4)}), HasSubstr("instructions and does not end"));
}
TEST_P(Faults, Assertion) {
  const char *ir = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %c = arith.constant dense<100> : tensor<128xi32>
    %ok = arith.cmpi slt, %r, %c : tensor<128xi32>
    tt.assert %ok, "index is small" : tensor<128xi1> loc("assert.py":4:1)
    tt.return
  }
})";
  auto e = make();
  std::string printed;
  e.options.print = [&](const std::string &s) { printed += s; };
  if (amd())
    EXPECT_FOUND(e.text(ir, "k", {zeros(4)}), HasSubstr("traps"), HasSubstr("assert.py:4:1"));
  else
    EXPECT_FOUND(e.text(ir, "k", {zeros(4)}), HasSubstr("assertion failed: index is small"));
  if (amd()) EXPECT_THAT(printed, HasSubstr("index is small"));
}

// ---- barriers taken out of real kernels ----

bool isBarrier(const llvm::Instruction &i) {
  auto *c = llvm::dyn_cast<llvm::IntrinsicInst>(&i);
  return c && (c->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all ||
               c->getIntrinsicID() == llvm::Intrinsic::amdgcn_s_barrier ||
               c->getIntrinsicID() == llvm::Intrinsic::nvvm_bar_warp_sync);
}

// A barrier between accesses that one wave makes is not needed where a wave's accesses are in order (AMD), so a few may
// be missed there; then the results must be right all the same.
TEST_P(Faults, BarriersTakenOutOfRealKernels) {
  unsigned all = 0, found = 0, harmless = 0;
  std::string missed;
  for (const char *kernel : {"softmax_row", "layernorm", "reduce2d", "transpose"}) {
    for (unsigned k = 0;; ++k) {
      auto e = make();
      bool there = false;
      auto r = e.launch(std::string(TESSERA_SOURCE_DIR "/tests/kernels/") + kernel, [&](llvm::Module &m) {
        unsigned n = 0;
        for (auto &f : m)
          for (auto &i : llvm::make_early_inc_range(llvm::instructions(f)))
            if (isBarrier(i) && n++ == k) {
              i.eraseFromParent();
              there = true;
            }
      });
      if (!there) break;
      ++all;
      bool named = r.status().code() == absl::StatusCode::kAborted &&
                   (messageOf(r.status()).find("race") != std::string::npos ||
                    messageOf(r.status()).find("never wrote") != std::string::npos);
      found += named;
      harmless += r.ok();
      if (!named && !r.ok())
        missed += std::string(kernel) + ", barrier " + std::to_string(k) + ": " + r.status().ToString() + "\n";
    }
  }
  EXPECT_GT(all, 6u);
  EXPECT_EQ(found + harmless, all) << missed;
  EXPECT_LE(harmless, amd() ? all / 4 : 0);
}

// ---- LLVM IR as the lowering writes it ----

struct Module {
  bool amd;
  /// BODY with $TID (i32) and $BARRIER as the target writes them; the shared memory is @global_smem, the argument %x.
  std::string operator()(llvm::StringRef body) const {
    std::string s = amd ? R"(
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
)"
                        : R"(
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
)";
    s += "@global_smem = external addrspace(3) global [0 x i8], align 16\n@table = internal addrspace(1) constant [2 x "
         "i32] [i32 5, i32 6]\n";
    s += "define void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %scratch, ptr addrspace(1) %profile) {\nentry:\n  "
         "%tid = call i32 ";
    s += amd ? "@llvm.amdgcn.workitem.id.x()\n" : "@llvm.nvvm.read.ptx.sreg.tid.x()\n";
    std::string barrier = amd ? "fence syncscope(\"workgroup\") release, !mmra !0\n  call void "
                                "@llvm.amdgcn.s.barrier()\n  fence syncscope(\"workgroup\") acquire, !mmra !0\n"
                              : "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";
    std::string b = body.str();
    for (size_t at; (at = b.find("$BARRIER")) != std::string::npos;) b.replace(at, 8, barrier);
    return s + b + "}\n!0 = !{!\"amdgpu-synchronize-as\", !\"local\"}\n";
  }
};

#define MINE "  %mine = getelementptr i32, ptr addrspace(3) @global_smem, i32 %tid\n"
#define OTHER "  %o = xor i32 %tid, 64\n  %other = getelementptr i32, ptr addrspace(3) @global_smem, i32 %o\n"
#define OUT "  %out = getelementptr i32, ptr addrspace(1) %x, i32 %tid\n"

TEST_P(Faults, MissingBarrier) {
  auto e = make();
  e.sharedBytes = 4096;
  unsigned threads = amd() ? 256 : 128;
  std::string store = MINE OTHER OUT "  store i32 %tid, ptr addrspace(3) %mine, align 4\n",
              load = "  %v = load i32, ptr addrspace(3) %other, align 4\n  store i32 %v, ptr addrspace(1) %out, align "
                     "4\n  ret void\n";
  EXPECT_SOUND(e.llvmModule(Module{amd()}(store + "  $BARRIER" + load), {zeros(threads * 4)}));
  auto r = e.llvmModule(Module{amd()}(store + load), {zeros(threads * 4)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kAborted);
  // The first warp finds nothing there yet, or the second what the first wrote.
  EXPECT_THAT(messageOf(r.status()), ::testing::AnyOf(HasSubstr("never wrote"), HasSubstr("race")));
}
TEST_P(Faults, MissingBarrierBeforeOverwriting) {
  auto e = make();
  e.sharedBytes = 4096;
  std::string body = MINE OTHER OUT R"(  store i32 %tid, ptr addrspace(3) %mine, align 4
  $BARRIER
  %v = load i32, ptr addrspace(3) %other, align 4
  SECOND
  store i32 %v, ptr addrspace(3) %mine, align 4
  ret void
)";
  auto with = [&](const char *s) {
    std::string b = body;
    return b.replace(b.find("SECOND"), 6, s);
  };
  EXPECT_SOUND(e.llvmModule(Module{amd()}(with("$BARRIER")), {zeros(2048)}));
  EXPECT_FOUND(e.llvmModule(Module{amd()}(with("")), {zeros(2048)}), HasSubstr("race: it "),
               HasSubstr("of shared memory, which thread"), HasSubstr("no barrier orders the two"));
}
TEST(Faults, BarriersOfInlinePtx) {
  // Through global memory: what the other half of the threads wrote.
  auto with = [](const std::string &barrier) {
    return Module{false}(R"(  %p = getelementptr i32, ptr addrspace(1) %x, i32 %tid
  %o = xor i32 %tid, 64
  %q = getelementptr i32, ptr addrspace(1) %x, i32 %o
  store i32 %tid, ptr addrspace(1) %p, align 4
  call void asm sideeffect ")" +
                         barrier + R"(", ""()
  %v = load i32, ptr addrspace(1) %q, align 4
  %r = getelementptr i32, ptr addrspace(1) %q, i32 128
  store i32 %v, ptr addrspace(1) %r, align 4
  ret void
)");
  };
  for (const char *barrier : {"bar.sync 0;", "barrier.sync 0;", "barrier.cta.sync.aligned 0;"}) {
    Emulation e;
    EXPECT_SOUND(e.llvmModule(with(barrier), {zeros(2048)}));
  }
  Emulation e;
  EXPECT_FOUND(e.llvmModule(with(""), {zeros(2048)}), HasSubstr("race: it "));
  EXPECT_SOUND(e.llvmModule(with("griddepcontrol.wait; bar.sync 0; griddepcontrol.launch_dependents;"), {zeros(2048)}));
  EXPECT_FOUND(e.llvmModule(with("griddepcontrol.wait;"), {zeros(2048)}), HasSubstr("race: it "));
  for (const char *unknown : {"bar.sync 1;", "bar.sync 0, 64;", "bar.arrive 0, 128;", "griddepcontrol.other;"})
    EXPECT_EQ(e.llvmModule(with(unknown), {zeros(2048)}).status().code(), absl::StatusCode::kUnimplemented) << unknown;
}
/// 64 elements of x are loaded by all threads, a copy for each 64 of them, and changed by those for which `owner` is
/// true. REST follows: %q is a place of the thread's own.
std::string inPlace(llvm::StringRef owner, llvm::StringRef rest) {
  return R"(  %e = and i32 %tid, 63
  %p = getelementptr i32, ptr addrspace(1) %x, i32 %e
  %o = add i32 %tid, 64
  %q = getelementptr i32, ptr addrspace(1) %x, i32 %o
  %v = load i32, ptr addrspace(1) %p, align 4
  %w = add i32 %v, 1
  %owns = icmp )" +
         owner.str() + R"(
  br i1 %owns, label %change, label %rest
change:
  store i32 %w, ptr addrspace(1) %p, align 4
  br label %rest
rest:
)" + rest.str() +
         "  ret void\n";
}
TEST_P(Faults, CopiesOfWhatIsChangedInPlace) {
  auto e = make();
  bool wide = llvm::StringRef(GetParam()).starts_with("gfx9"); // four warps of 64 lanes, else of 32
  std::string last = "uge i32 %tid, " + std::to_string(wide ? 192 : 64);
  for (std::string owner : {std::string("ult i32 %tid, 64"), last}) {
    auto run = [&](llvm::StringRef rest) { return e.llvmModule(Module{amd()}(inPlace(owner, rest)), {zeros(2048)}); };
    EXPECT_SOUND(run(""));
    EXPECT_SOUND(run("  store i32 %tid, ptr addrspace(1) %q, align 4\n"));
    EXPECT_SOUND(run("  %c = icmp sgt i32 %v, 7\n  %d = select i1 %c, i32 1, i32 2\n"));
    // What a copy holds is stored, directly or as an address, or decides what is stored.
    EXPECT_FOUND(run("  store i32 %v, ptr addrspace(1) %q, align 4\n"), HasSubstr("race: it "), HasSubstr("of 'a'"),
                 HasSubstr("no barrier orders the two"));
    EXPECT_FOUND(run("  %d = mul i32 %v, 4\n  %r = getelementptr i32, ptr addrspace(1) %q, i32 %d\n"
                     "  store i32 %tid, ptr addrspace(1) %r, align 4\n"),
                 HasSubstr("race: it "));
    EXPECT_FOUND(run("  %c = icmp slt i32 %v, 7\n  br i1 %c, label %less, label %end\nless:\n"
                     "  store i32 %tid, ptr addrspace(1) %q, align 4\n  br label %end\nend:\n"),
                 HasSubstr("race: it "));
    EXPECT_FOUND(run("  %c = icmp slt i32 %v, 7\n  br i1 %c, label %less, label %end\nless:\n  br label %end\nend:\n"
                     "  %f = phi i32 [ 1, %rest ], [ 2, %less ]\n  store i32 %f, ptr addrspace(1) %q, align 4\n"),
                 HasSubstr("race: it "));
    EXPECT_FOUND(run("  %c = icmp slt i32 %v, 7\n  br i1 %c, label %less, label %end\nless:\n"
                     "  $BARRIER  br label %end\nend:\n"),
                 HasSubstr("race: it "));
  }
}
TEST_P(Faults, UninitialisedSharedMemory) {
  auto e = make();
  e.sharedBytes = 4096;
  EXPECT_FOUND(e.llvmModule(Module{amd()}(MINE OUT "  %v = load i32, ptr addrspace(3) %mine, align 4\n  store i32 %v, "
                                                   "ptr addrspace(1) %out, align 4\n  ret void\n"),
                            {zeros(2048)}),
               HasSubstr("reads byte 0 of shared memory, which the block never wrote"),
               HasSubstr("thread 0 (warp 0, lane 0)"));
}
TEST_P(Faults, WrongSwizzle) {
  // Written with a row of 33 words, read with 32: what was not written shows.
  auto e = make(1);
  e.sharedBytes = 64 * 33 * 4;
  std::string body = R"(  %at = mul i32 %tid, 33
  %p = getelementptr i32, ptr addrspace(3) @global_smem, i32 %at
  store i32 %tid, ptr addrspace(3) %p, align 4
  $BARRIER
  %bt = mul i32 %tid, STRIDE
  %q = getelementptr i32, ptr addrspace(3) @global_smem, i32 %bt
  %v = load i32, ptr addrspace(3) %q, align 4
)" OUT R"(  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
)";
  auto with = [&](const char *s) {
    std::string b = body;
    return b.replace(b.find("STRIDE"), 6, s);
  };
  EXPECT_SOUND(e.llvmModule(Module{amd()}(with("33")), {zeros(256)}));
  EXPECT_FOUND(e.llvmModule(Module{amd()}(with("32")), {zeros(256)}),
               HasSubstr("reads byte 128 of shared memory, which the block never wrote"));
}
TEST_P(Faults, SharedMemoryOutOfBounds) {
  auto e = make();
  e.sharedBytes = 256;
  EXPECT_FOUND(
      e.llvmModule(Module{amd()}(MINE "  store i32 %tid, ptr addrspace(3) %mine, align 4\n  ret void\n"), {zeros(4)}),
      HasSubstr("out of bounds: it writes 4 bytes at byte 256 of shared memory, which has 256"),
      HasSubstr("thread 64"));
}
TEST_P(Faults, SharedMemoryMisaligned) {
  auto e = make();
  e.sharedBytes = 8192;
  EXPECT_FOUND(
      e.llvmModule(
          Module{amd()}(MINE "  store <4 x i32> zeroinitializer, ptr addrspace(3) %mine, align 16\n  ret void\n"),
          {zeros(4)}),
      HasSubstr("misaligned access: it writes 16 bytes at byte 4 of shared memory"));
}
TEST_P(Faults, BarrierInDivergentCode) {
  auto e = make();
  EXPECT_FOUND(e.llvmModule(Module{amd()}("  %c = icmp ult i32 %tid, 5\n  br i1 %c, label %a, label %b\na:\n  $BARRIER "
                                          " br label %b\nb:\n  ret void\n"),
                            {zeros(4)}),
               HasSubstr("the barrier is reached by 5 of the warp's"), HasSubstr("is in another branch"));
}
TEST_P(Faults, TheSignBitMadeOfOneBitIsNoWrap) {
  auto e = make(1);
  EXPECT_SOUND(e.llvmModule(
      Module{amd()}(
          "  %odd = and i32 %tid, 1\n  %c = icmp eq i32 %odd, 0\n  br i1 %c, label %even, label %end\neven:\n  %s = "
          "shl i32 %tid, 31\n  %o = or disjoint i32 %s, 1\n  %p = getelementptr i32, ptr addrspace(1) %x, i32 %o\n"
          "  %v = load i32, ptr addrspace(1) %p, align 4\n  br label %end\nend:\n  ret void\n"),
      {zeros(8)}));
}
TEST_P(Faults, OneLaneWorksWhileTheOthersWait) {
  auto e = make();
  e.sharedBytes = 4096;
  EXPECT_SOUND(e.llvmModule(
      Module{amd()}(MINE "  %c = icmp eq i32 %tid, 0\n  br i1 %c, label %a, label %b\na:\n  %i = phi i32 [ 0, %entry "
                         "], [ %n, %a ]\n  store i32 %i, ptr addrspace(3) %mine, align 4\n  %n = add i32 %i, 1\n"
                         "  %m = icmp ult i32 %n, 20000\n  br i1 %m, label %a, label %b\nb:\n  $BARRIER  ret void\n"),
      {zeros(4)}));
}
TEST_P(Faults, LockAmongTheLanesOfAWarp) {
  // Lanes of NVIDIA's warps run independently; those of a wave wait for each other.
  auto e = make(1);
  auto r = e.llvmModule(
      Module{amd()}("  br label %spin\nspin:\n  %old = cmpxchg ptr addrspace(1) %x, i32 0, i32 1 acq_rel monotonic\n  "
                    "%got = extractvalue { i32, i1 } %old, 1\n  br i1 %got, label %mine, label %spin\nmine:\n"
                    "  %q = getelementptr i32, ptr addrspace(1) %x, i32 1\n  %o = atomicrmw add ptr addrspace(1) %q, "
                    "i32 1 monotonic\n  %f = atomicrmw xchg ptr addrspace(1) %x, i32 0 release\n  ret void\n"),
      {zeros(8)});
  if (amd()) {
    EXPECT_FOUND(r, HasSubstr("deadlock"));
  } else {
    EXPECT_SOUND(r);
    EXPECT_EQ(e.buffers[0][4], 32);
  }
}
TEST_P(Faults, WarpsAtDifferentBarriers) {
  auto e = make();
  unsigned warp = amd() && llvm::StringRef(GetParam()).starts_with("gfx9") ? 64 : 32;
  EXPECT_FOUND(e.llvmModule(Module{amd()}("  %c = icmp ult i32 %tid, " + std::to_string(warp) +
                                          "\n  br i1 %c, label %a, label %b\na:\n  $BARRIER  br label %d\nb:\n  "
                                          "$BARRIER  br label %d\nd:\n  ret void\n"),
                            {zeros(4)}),
               HasSubstr("waits at this barrier while warp 1 waits at another"));
}
TEST_P(Faults, WarpEndsBeforeTheBarrier) {
  auto e = make();
  unsigned warp = llvm::StringRef(GetParam()).starts_with("gfx9") ? 64 : 32;
  EXPECT_FOUND(
      e.llvmModule(Module{amd()}("  %c = icmp ult i32 %tid, " + std::to_string(warp) +
                                 "\n  br i1 %c, label %a, label %b\na:\n  $BARRIER  br label %b\nb:\n  ret void\n"),
                   {zeros(4)}),
      HasSubstr("waits at this barrier, but warp 1 has ended without it"));
}
TEST_P(Faults, WriteToAConstant) {
  auto e = make();
  EXPECT_FOUND(e.llvmModule(Module{amd()}("  store i32 1, ptr addrspace(1) @table, align 4\n  ret void\n"), {zeros(4)}),
               HasSubstr("writes the constant 'table'"));
}
TEST_P(Faults, Unreachable) {
  auto e = make();
  EXPECT_FOUND(
      e.llvmModule(
          Module{amd()}(
              "  %c = icmp eq i32 %tid, 7\n  br i1 %c, label %a, label %b\na:\n  unreachable\nb:\n  ret void\n"),
          {zeros(4)}),
      HasSubstr("declared unreachable"), HasSubstr("thread 7"));
}
TEST_P(Faults, OwnMemoryOutOfBounds) {
  auto e = make();
  std::string space = amd() ? " addrspace(5)" : "";
  EXPECT_FOUND(
      e.llvmModule(Module{amd()}("  %p = alloca [4 x i32], align 4" + std::string(amd() ? ", addrspace(5)" : "") +
                                 "\n  %q = getelementptr i32, ptr" + space + " %p, i32 %tid\n  store i32 1, ptr" +
                                 space + " %q, align 4\n  ret void\n"),
                   {zeros(4)}),
      HasSubstr("out of bounds"), HasSubstr("the thread's own memory"), HasSubstr("thread 4 "));
}
TEST_P(Faults, ShuffleWithoutAllLanes) {
  if (amd()) GTEST_SKIP() << "a wave goes through divergent code with lanes off, so this is well defined there";
  auto e = make();
  EXPECT_FOUND(
      e.llvmModule(
          Module{false}(
              "  %c = icmp ult i32 %tid, 16\n  br i1 %c, label %a, label %b\na:\n  %v = call i32 "
              "@llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 1, i32 31)\n  br label %b\nb:\n  ret void\n"),
          {zeros(4)}),
      HasSubstr("the shuffle waits for lane 16, which is in another branch"));
}
TEST_P(Faults, MissingWarpBarrier) {
  // Lanes of one warp through shared memory: in order on AMD, only after bar.warp.sync on NVIDIA.
  auto e = make(1);
  e.sharedBytes = 4096;
  std::string body = MINE OUT R"(  %o = xor i32 %tid, 1
  %other = getelementptr i32, ptr addrspace(3) @global_smem, i32 %o
  store i32 %tid, ptr addrspace(3) %mine, align 4
  SYNC
  %v = load i32, ptr addrspace(3) %other, align 4
  store i32 %v, ptr addrspace(1) %out, align 4
  ret void
)";
  auto with = [&](const char *s) {
    std::string b = body;
    return b.replace(b.find("SYNC"), 4, s);
  };
  if (amd()) {
    EXPECT_SOUND(e.llvmModule(Module{true}(with("")), {zeros(1024)}));
    return;
  }
  EXPECT_SOUND(e.llvmModule(Module{false}(with("call void @llvm.nvvm.bar.warp.sync(i32 -1)")), {zeros(1024)}));
  EXPECT_FOUND(e.llvmModule(Module{false}(with("")), {zeros(1024)}), HasSubstr("race: it reads byte"),
               HasSubstr("thread 1 (warp 0, lane 1)"));
}
TEST_P(Faults, BarrierThatOrdersSharedMemoryAlone) {
  // Global data handed from thread to thread: bar.sync orders it, AMD's barrier only if its fences do.
  auto e = make();
  std::string body = OUT R"(  %o = xor i32 %tid, 64
  %from = getelementptr i32, ptr addrspace(1) %x, i32 %o
  store i32 %tid, ptr addrspace(1) %out, align 4
  $BARRIER
  %v = load i32, ptr addrspace(1) %from, align 4
  %w = getelementptr i32, ptr addrspace(1) %out, i32 512
  store i32 %v, ptr addrspace(1) %w, align 4
  ret void
)";
  auto module = Module{amd()}(body);
  if (!amd()) {
    EXPECT_SOUND(e.llvmModule(module, {zeros(8192)}));
    return;
  }
  EXPECT_FOUND(e.llvmModule(module, {zeros(8192)}), HasSubstr("race: it reads byte"), HasSubstr("of 'a'"));
  for (size_t at; (at = module.find(", !mmra !0")) != std::string::npos;) module.erase(at, 10);
  EXPECT_SOUND(e.llvmModule(module, {zeros(8192)}));
}
TEST_P(Faults, BarrierWithoutFences) {
  if (!amd()) GTEST_SKIP() << "bar.sync orders memory by itself";
  auto e = make();
  e.sharedBytes = 4096;
  EXPECT_FOUND(
      e.llvmModule(
          Module{true}(
              MINE OTHER OUT
              "  store i32 %tid, ptr addrspace(3) %mine, align 4\n  call void @llvm.amdgcn.s.barrier()\n  %v = load "
              "i32, ptr addrspace(3) %other, align 4\n  store i32 %v, ptr addrspace(1) %out, align 4\n  ret void\n"),
          {zeros(2048)}),
      HasSubstr("race"));
}

TEST_P(Faults, MissingWaitForAsynchronousCopies) {
  if (amd()) GTEST_SKIP() << "cp.async is NVIDIA's";
  auto e = make();
  e.sharedBytes = 4096;
  std::string body = MINE OTHER OUT R"(  %s = ptrtoint ptr addrspace(3) %mine to i32
  call void asm sideeffect "cp.async.ca.shared.global [$0], [$1], 4;", "r,l,~{memory}"(i32 %s, ptr addrspace(1) %out)
  call void asm sideeffect "cp.async.commit_group;", "~{memory}"()
  WAIT
  BARRIER
  %v = load i32, ptr addrspace(3) %other, align 4
  %w = getelementptr i32, ptr addrspace(1) %out, i32 256
  store i32 %v, ptr addrspace(1) %w, align 4
  ret void
)";
  auto with = [&](const char *wait, const char *barrier) {
    std::string b = body;
    b.replace(b.find("WAIT"), 4, wait);
    return b.replace(b.find("BARRIER"), 7, barrier);
  };
  const char *wait = "call void asm sideeffect \"cp.async.wait_group 0;\", \"~{memory}\"()";
  EXPECT_SOUND(e.llvmModule(Module{false}(with(wait, "$BARRIER")), {counting(2048)}));
  EXPECT_EQ(e.buffers[0][1024], 64);
  EXPECT_FOUND(e.llvmModule(Module{false}(with("", "$BARRIER")), {counting(2048)}),
               HasSubstr("an asynchronous copy is in flight"));
  EXPECT_FOUND(e.llvmModule(Module{false}(with("call void asm sideeffect \"cp.async.wait_group 1;\", \"~{memory}\"()",
                                               "$BARRIER")),
                            {counting(2048)}),
               HasSubstr("an asynchronous copy is in flight"));
  auto r = e.llvmModule(Module{false}(with(wait, "")), {counting(2048)});
  EXPECT_THAT(messageOf(r.status()), ::testing::AnyOf(HasSubstr("never wrote"), HasSubstr("race")));
}

// ---- switches ----

TEST_P(Faults, ChecksCanBeTurnedOff) {
  auto e = make();
  e.options.checks = emulator::Checks::none();
  e.sharedBytes = 4096;
  EXPECT_SOUND(e.llvmModule(Module{amd()}(MINE OUT "  %v = load i32, ptr addrspace(3) %mine, align 4\n  store i32 %v, "
                                                   "ptr addrspace(1) %out, align 4\n  ret void\n"),
                            {zeros(4)}));
}

// ---- what is not known ----

TEST(Unknown, IsNamed) {
  Emulation e;
  auto r = e.llvmModule(Module{false}("  %v = call i32 @llvm.nvvm.read.ptx.sreg.envreg3()\n  ret void\n}\ndeclare i32 "
                                      "@llvm.nvvm.read.ptx.sreg.envreg3()\ndefine void @rest() {\n  ret void\n"),
                        {zeros(4)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(messageOf(r.status()), HasSubstr("the intrinsic 'llvm.nvvm.read.ptx.sreg.envreg3'"));
  r = e.llvmModule(
      Module{false}("  %v = call i32 asm \"vabsdiff.s32.s32.s32 $0, $1, $1, $1;\", \"=r,r\"(i32 %tid)\n  ret void\n"),
      {zeros(4)});
  EXPECT_EQ(r.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(messageOf(r.status()), HasSubstr("the inline PTX 'vabsdiff.s32.s32.s32"));
  r = e.llvmModule(
      Module{false}(
          "  %v = call i32 asm \"ld.global.mystery.b32 $0, [$1];\", \"=r,l\"(ptr addrspace(1) %x)\n  ret void\n"),
      {zeros(4)});
  EXPECT_THAT(messageOf(r.status()), HasSubstr("modifier .mystery"));
  e.target = "gfx942";
  r = e.llvmModule(Module{true}("  call void asm sideeffect \"s_frobnicate\", \"\"()\n  ret void\n"), {zeros(4)});
  EXPECT_THAT(messageOf(r.status()), HasSubstr("the inline assembly 's_frobnicate'"));
}

} // namespace
} // namespace tessera
