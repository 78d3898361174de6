// Views of shared memory, buffers that follow each other in it, and loops whose pointers change places: the accesses
// are in order (the emulator reports those that are not) and reach what they should.
#include "emulation.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace tessera {
namespace {

using testing::Emulation;

/// Four warps; the value in #w is spread over them otherwise than in #b, so that each loads what all stored.
std::string kernel(const std::string &body) {
  return R"(#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#w = #ttg.linear<{register = [], lane = [[4], [8], [16], [32], [64]], warp = [[1], [2]], block = []}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#m = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
    %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
    %v = tt.load %xp : tensor<128x!tt.ptr<i32>, #b>
    %rw = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #w>
    %os = tt.splat %o : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #w>
    %op = tt.addptr %os, %rw : tensor<128x!tt.ptr<i32>, #w>, tensor<128xi32, #w>
)" + body +
         "    tt.return\n  }\n}\n";
}

void expectCopied(const std::string &body) {
  Emulation e;
  e.target = "sm_80";
  auto report = e.text(kernel(body), "k", {testing::counting(512), testing::zeros(512)});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(e.buffers[0], e.buffers[1]);
}

/// Buffer 1 of the first allocation and buffer 2 of the second are the same bytes.
TEST(Buffers, OfOtherSizesInTheSameMemoryAreOrdered) {
  expectCopied(R"(
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x128xi32, #s, #m, mutable>
    %a1 = ttg.memdesc_index %a[%c1] : !ttg.memdesc<2x128xi32, #s, #m, mutable> -> !ttg.memdesc<128xi32, #s, #m, mutable>
    ttg.local_store %v, %a1 : tensor<128xi32, #b> -> !ttg.memdesc<128xi32, #s, #m, mutable>
    %u = ttg.local_load %a1 : !ttg.memdesc<128xi32, #s, #m, mutable> -> tensor<128xi32, #w>
    ttg.local_dealloc %a : !ttg.memdesc<2x128xi32, #s, #m, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<4x64xi32, #s, #m, mutable>
    %h = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %b2 = ttg.memdesc_index %b[%c2] : !ttg.memdesc<4x64xi32, #s, #m, mutable> -> !ttg.memdesc<64xi32, #s, #m, mutable>
    ttg.local_store %h, %b2 : tensor<64xi32, #b> -> !ttg.memdesc<64xi32, #s, #m, mutable>
    tt.store %op, %u : tensor<128x!tt.ptr<i32>, #w>
    ttg.local_dealloc %b : !ttg.memdesc<4x64xi32, #s, #m, mutable>
)");
}

/// A buffer index into a part of an allocation counts from the beginning of the part.
TEST(Buffers, OfASubsliceAreOrdered) {
  expectCopied(R"(
    %a = ttg.local_alloc : () -> !ttg.memdesc<4x128xi32, #s, #m, mutable>
    %p = ttg.memdesc_subslice %a[2, 0] : !ttg.memdesc<4x128xi32, #s, #m, mutable> -> !ttg.memdesc<2x128xi32, #s, #m, mutable, 4x128>
    %a2 = ttg.memdesc_index %a[%c2] : !ttg.memdesc<4x128xi32, #s, #m, mutable> -> !ttg.memdesc<128xi32, #s, #m, mutable>
    ttg.local_store %v, %a2 : tensor<128xi32, #b> -> !ttg.memdesc<128xi32, #s, #m, mutable>
    %p0 = ttg.memdesc_index %p[%c0] : !ttg.memdesc<2x128xi32, #s, #m, mutable, 4x128> -> !ttg.memdesc<128xi32, #s, #m, mutable>
    %u = ttg.local_load %p0 : !ttg.memdesc<128xi32, #s, #m, mutable> -> tensor<128xi32, #w>
    tt.store %op, %u : tensor<128x!tt.ptr<i32>, #w>
)");
}

/// A loop fills one of three buffers and reads one; their indices are loop-carried: modulo three from the same place
/// or from different ones, in the other's place, one of the two standing still.
TEST(Buffers, WithLoopCarriedIndicesAreOrdered) {
  const std::string buffers = "!ttg.memdesc<3x128xi32, #s, #m, mutable>",
                    buffer = "!ttg.memdesc<128xi32, #s, #m, mutable>";
  struct Next {
    const char *s, *q;
  };
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (bool loadFirst : {false, true})
        for (auto [s, q] :
             {Next{"%sn", "%qn"}, Next{"%qn", "%sn"}, Next{"%q", "%s"}, Next{"%sn", "%q"}, Next{"%sn", "%sn"}}) {
          std::string fill,
              load = "      %l = ttg.memdesc_index %a[%q] : " + buffers + " -> " + buffer +
                     "\n      %u = ttg.local_load %l : " + buffer + " -> tensor<128xi32, #w>\n",
              store = "      %t = ttg.memdesc_index %a[%s] : " + buffers + " -> " + buffer +
                      "\n      ttg.local_store %vi, %t : tensor<128xi32, #b> -> " + buffer + "\n";
          for (int k = 0; k < 3; ++k) {
            std::string n = std::to_string(k);
            fill += "    %f" + n + " = ttg.memdesc_index %a[%c" + n + "] : " + buffers + " -> " + buffer +
                    "\n    ttg.local_store %v, %f" + n + " : tensor<128xi32, #b> -> " + buffer + "\n";
          }
          auto next = [](std::string x) {
            return "      %" + x + "p = arith.addi %" + x + ", %c1 : i32\n      %" + x + "g = arith.cmpi sge, %" + x +
                   "p, %c3 : i32\n      %" + x + "n = arith.select %" + x + "g, %c0, %" + x + "p : i32\n";
          };
          Emulation e;
          e.target = "sm_80";
          auto report = e.text(
              kernel(
                  "    %c3 = arith.constant 3 : i32\n    %c5 = arith.constant 5 : i32\n    %zero = arith.constant "
                  "dense<0> : tensor<128xi32, #w>\n    %a = ttg.local_alloc : () -> " +
                  buffers + "\n" + fill +
                  "    %z:3 = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero, %s = %c" + std::to_string(a) +
                  ", %q = %c" + std::to_string(b) + ") -> (tensor<128xi32, #w>, i32, i32) : i32 {\n" + next("s") +
                  next("q") +
                  "      %is = tt.splat %i : i32 -> tensor<128xi32, #b>\n      %vi = arith.addi %v, %is : "
                  "tensor<128xi32, #b>\n" +
                  (loadFirst ? load + store : store + load) +
                  "      %sum = arith.addi %acc, %u : tensor<128xi32, #w>\n      scf.yield %sum, " + s + ", " + q +
                  " : tensor<128xi32, #w>, i32, i32\n    }\n    tt.store %op, %z#0 : tensor<128x!tt.ptr<i32>, #w>\n"),
              "k", {testing::counting(512), testing::zeros(512)});
          std::string what = "from " + std::to_string(a) + " and " + std::to_string(b) + ", " + s + " and " + q +
                             (loadFirst ? ", load first" : "");
          ASSERT_TRUE(report.ok()) << what << ": " << report.status();
          // The same with numbers.
          int added[3] = {}, sum = 0, at = a, from = b;
          for (int i = 0; i < 5; ++i) {
            if (loadFirst) sum += added[from];
            added[at] = i;
            if (!loadFirst) sum += added[from];
            auto value = [s = at, q = from](const std::string &x) { // x: %s, %q, %sn or %qn
              int v = x[1] == 's' ? s : q;
              return x.size() > 2 ? (v + 1) % 3 : v;
            };
            at = value(s), from = value(q);
          }
          for (int i = 0; i < 128; ++i) {
            int got;
            memcpy(&got, &e.buffers[1][i * 4], 4);
            ASSERT_EQ(got, 5 * i + sum) << what << ", element " << i;
          }
        }
}

/// What one iteration stores through the one pointer the next loads through the other: 1, 2, 4, 8 times a matrix of
/// ones.
TEST(Buffers, LoadsDoNotRunAheadOfStoresThroughPointersThatChangePlaces) {
  const char *text =
      R"(tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %width = arith.constant dense<32> : tensor<32x1xi32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ro = arith.muli %r1, %width : tensor<32x1xi32>
  %rb = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %r0 : tensor<1x32xi32> -> tensor<32x32xi32>
  %i = arith.addi %rb, %cb : tensor<32x32xi32>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %pw = tt.addptr %ws, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %x, %q = %y) -> (tensor<32x32xf32>, !tt.ptr<f16>, !tt.ptr<f16>) : i32 {
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %pp = tt.addptr %ps, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %u = tt.load %pp : tensor<32x32x!tt.ptr<f16>>
    %v = tt.load %pw : tensor<32x32x!tt.ptr<f16>>
    %d = tt.dot %u, %v, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %h = arith.addf %u, %u : tensor<32x32xf16>
    %qs = tt.splat %q : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
    %qp = tt.addptr %qs, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    tt.store %qp, %h : tensor<32x32x!tt.ptr<f16>>
    scf.yield %d, %q, %p : tensor<32x32xf32>, !tt.ptr<f16>, !tt.ptr<f16>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %pc, %s#0 : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
)";
  std::vector<uint8_t> ones(2048);
  for (size_t i = 1; i < ones.size(); i += 2) ones[i] = 0x3c; // 1.0 as f16
  for (const char *target : {"sm_80", "gfx942"}) {
    Emulation e;
    e.target = target;
    e.numWarps = 1;
    auto report = e.text(text, "k",
                         {testing::bytesOf(ones), testing::zeros(2048), testing::bytesOf(ones), testing::zeros(4096),
                          testing::scalar(4)});
    ASSERT_TRUE(report.ok()) << target << ": " << report.status();
    for (size_t i = 0; i < 1024; ++i) {
      float c;
      memcpy(&c, &e.buffers[3][i * 4], 4);
      ASSERT_EQ(c, 32 * (1 + 2 + 4 + 8)) << target << ", element " << i;
    }
  }
}

} // namespace
} // namespace tessera
