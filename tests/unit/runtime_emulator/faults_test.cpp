// Planted faults, each of which the emulator must find and name: kernels in TTIR with one mistake, compiled for a
// target; and real kernels with one barrier taken out of the lowered code, for every barrier they have. A sound twin of
// a faulty kernel, where there is one, must pass: the finding is not a habit. Faults in lowered code:
// lowered_faults_test.cpp.
#include "faults.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tessera {
namespace {

using testing::counting;
using testing::Emulation;
using ::testing::HasSubstr;
using testing::messageOf;
using testing::scalar;
using testing::zeros;

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

using Faults = testing::OnTarget;
INSTANTIATE_TEST_SUITE_P(Targets, Faults, testing::kFaultTargets, [](auto &i) { return std::string(i.param); });

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
TEST_P(Faults, SumWithDroppedBitsIsSound) {
  // (i + 4 - n) * 2, as LLVM writes it: n times -1, without the bit that the shift drops.
  auto e = make();
  EXPECT_SOUND(
      e.text(addOne("    %most = arith.constant 2147483647 : i32\n    %c4 = arith.constant 4 : i32\n"
                    "    %two = arith.constant dense<2> : tensor<256xi32>\n    %u = arith.muli %n, %most : i32\n"
                    "    %far = arith.addi %u, %c4 : i32\n    %vs = tt.splat %far : i32 -> tensor<256xi32>\n"
                    "    %s = arith.addi %i, %vs : tensor<256xi32>\n    %j = arith.muli %s, %two : tensor<256xi32>",
                    kLess),
             "k", {counting(1024), zeros(1024), scalar(2)}));
}
TEST_P(Faults, DisjointSumWithDroppedBitsIsSound) {
  // (4 n - 24 + (i & 3)) * 4 + 96, as LLVM writes it: without the bits of -24 that the shift drops, and an or.
  auto e = make();
  auto multiplied = [](int by) {
    return addOne("    %least = arith.constant 1073741800 : i32\n    %c4 = arith.constant 4 : i32\n    %three = "
                  "arith.constant dense<3> : tensor<256xi32>\n    %by = arith.constant dense<" +
                      std::to_string(by) + "> : tensor<256xi32>\n    %more = arith.constant dense<" +
                      std::to_string(24 * by) +
                      "> : tensor<256xi32>\n    %u = arith.muli %n, %c4 : i32\n    %far = arith.addi %u, %least : "
                      "i32\n    %vs = tt.splat %far : i32 -> tensor<256xi32>\n    %low = arith.andi %i, %three : "
                      "tensor<256xi32>\n    %s = arith.addi %vs, %low : tensor<256xi32>\n    %t = arith.muli %s, %by : "
                      "tensor<256xi32>\n    %j = arith.addi %t, %more : tensor<256xi32>",
                  kLess);
  };
  EXPECT_SOUND(e.text(multiplied(4), "k", {counting(1024), zeros(1024), scalar(2)}));
  EXPECT_SOUND(e.text(multiplied(12), "k", {counting(1024), zeros(1024), scalar(2)}));
}
TEST_P(Faults, ChoiceWithDroppedBitsIsSound) {
  // (i > 0 ? i - 1 : n - i) * 4, where LLVM drops the upper bits of -1.
  auto e = make();
  EXPECT_SOUND(
      e.text(addOne("    %least = arith.constant dense<-1> : tensor<256xi32>\n    %zero = arith.constant dense<0> : "
                    "tensor<256xi32>\n    %four = arith.constant dense<4> : tensor<256xi32>\n"
                    "    %nn = tt.splat %n : i32 -> tensor<256xi32>\n"
                    "    %before = arith.addi %i, %least : tensor<256xi32>\n"
                    "    %rest = arith.subi %nn, %i : tensor<256xi32>\n"
                    "    %later = arith.cmpi sgt, %i, %zero : tensor<256xi32>\n"
                    "    %s = arith.select %later, %before, %rest : tensor<256xi1>, tensor<256xi32>\n"
                    "    %j = arith.muli %s, %four : tensor<256xi32>",
                    kLess),
             "k", {counting(1024), zeros(1024), scalar(2)}));
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
/// x[0] += 1 by compare and swap, from a first guess that is loaded; ATTRIBUTES stands for the load's.
std::string swapped(llvm::StringRef attributes) {
  return R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>) {
    %c1 = arith.constant 1 : i32
    %guess = tt.load %x )" +
         attributes.str() + R"(: !tt.ptr<i32>
    %last = scf.while (%old = %guess) : (i32) -> i32 {
      %new = arith.addi %old, %c1 : i32
      %found = tt.atomic_cas acq_rel, gpu, %x, %old, %new : (!tt.ptr<i32>, i32, i32) -> i32
      %failed = arith.cmpi ne, %found, %old : i32
      scf.condition(%failed) %found : i32
    } do {
    ^bb0(%found: i32):
      scf.yield %found : i32
    }
    tt.return
  }
})";
}
/// A plain load may be made twice, and the swap be compared with one value while the new one is made of the other.
TEST_P(Faults, GuessOfASwapIsAPlainLoad) {
  auto e = make(1);
  e.grid = {3, 1, 1};
  EXPECT_FOUND(e.text(swapped(""), "k", {zeros(4)}), HasSubstr("race"), HasSubstr("updated"),
               HasSubstr("no release and acquire"));
}
TEST_P(Faults, VolatileGuessOfASwapIsSound) {
  auto e = make(1);
  e.grid = {3, 1, 1};
  EXPECT_SOUND(e.text(swapped("{isVolatile = true} "), "k", {zeros(4)}));
  EXPECT_EQ(e.buffers[0][0], 3);
}
/// The first block writes and sets flags, several by each thread; the second one waits for all of them and reads.
/// RELEASE and ACQUIRE stand for the orders of the atomics.
std::string handedOver(const std::string &release, const std::string &acquire) {
  return R"(
module {
  tt.func public @k(%flags: !tt.ptr<i32>, %x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %n = arith.constant 1024 : i32
    %zeros = arith.constant dense<0> : tensor<1024xi32>
    %ones = arith.constant dense<1> : tensor<1024xi32>
    %pid = tt.get_program_id x : i32
    %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %fs = tt.splat %flags : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %f = tt.addptr %fs, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %p = tt.addptr %xs, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %first = arith.cmpi eq, %pid, %c0 : i32
    scf.if %first {
      tt.store %p, %r : tensor<1024x!tt.ptr<i32>>
      %set = tt.atomic_rmw exch, )" +
         release + R"(, gpu, %f, %ones : (tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>) -> tensor<1024xi32>
    } else {
      scf.while : () -> () {
        %v = tt.atomic_rmw or, )" +
         acquire + R"(, gpu, %f, %zeros : (tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>) -> tensor<1024xi32>
        %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
        ^bb0(%a: i32, %b: i32):
          %s = arith.addi %a, %b : i32
          tt.reduce.return %s : i32
        }) : (tensor<1024xi32>) -> i32
        %unset = arith.cmpi slt, %sum, %n : i32
        scf.condition(%unset)
      } do {
        scf.yield
      }
      %w = tt.load %p : tensor<1024x!tt.ptr<i32>>
      %ys = tt.splat %y : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
      %q = tt.addptr %ys, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
      tt.store %q, %w : tensor<1024x!tt.ptr<i32>>
    }
    tt.return
  }
})";
}
TEST_P(Faults, AtomicsOfATensorHandOver) {
  auto e = make();
  e.grid = {2, 1, 1};
  EXPECT_SOUND(e.text(handedOver("release", "acquire"), "k", {zeros(4096), zeros(4096), zeros(4096)}));
  EXPECT_EQ(e.buffers[2][4 * 200], 200);
}
TEST_P(Faults, AtomicsOfATensorWithoutOrder) {
  auto e = make();
  e.grid = {2, 1, 1};
  for (auto [release, acquire] : {std::pair{"relaxed", "acquire"}, {"release", "relaxed"}})
    EXPECT_FOUND(e.text(handedOver(release, acquire), "k", {zeros(4096), zeros(4096), zeros(4096)}), HasSubstr("race"),
                 HasSubstr("no release and acquire"));
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
} // namespace
} // namespace tessera
