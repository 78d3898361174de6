// Operations of TTGIR on shared memory, asynchronous copies, mbarriers, and the AMD buffer operations.
#include "evaluation.h"
#include <numeric>

namespace tessera {
namespace {
using test::Evaluation;

const char *kHead =
    R"(#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#rows = #ttg.linear<{register = [[2, 0]], lane = [[0, 1], [0, 2], [0, 0], [0, 4], [1, 0]], warp = [], block = []}>
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#st = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#s1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<i32>, %r: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %false = arith.constant false
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #b1>
    %i2 = tt.reshape %i : tensor<32xi32, #b1> -> tensor<4x8xi32, #b>
    %ps = tt.splat %p : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>, #b>
    %pq = tt.addptr %ps, %i2 : tensor<4x8x!tt.ptr<i32>, #b>, tensor<4x8xi32, #b>
    %rs = tt.splat %r : !tt.ptr<i32> -> tensor<4x8x!tt.ptr<i32>, #b>
    %rq = tt.addptr %rs, %i2 : tensor<4x8x!tt.ptr<i32>, #b>, tensor<4x8xi32, #b>
)";
std::string kernel(const std::string &body) { return kHead + body + "\n    tt.return\n  }\n}\n"; }

struct Shared : testing::Test {
  Shared() : x(32), r(32) { std::iota(x.begin(), x.end(), 0); }
  std::vector<int32_t> x, r;
};

TEST_F(Shared, StoreLoadIndexAndTranspose) {
  std::string body = R"(
    %x = tt.load %pq : tensor<4x8x!tt.ptr<i32>, #b>
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x4x8xi32, #s, #smem, mutable>
    %m = ttg.memdesc_index %a[%n] : !ttg.memdesc<2x4x8xi32, #s, #smem, mutable> -> !ttg.memdesc<4x8xi32, #s, #smem, mutable>
    ttg.local_store %x, %m : tensor<4x8xi32, #b> -> !ttg.memdesc<4x8xi32, #s, #smem, mutable>
    %t = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<4x8xi32, #s, #smem, mutable> -> !ttg.memdesc<8x4xi32, #st, #smem, mutable>
    %y = ttg.local_load %t : !ttg.memdesc<8x4xi32, #st, #smem, mutable> -> tensor<8x4xi32, #b>
    %rows = tt.reshape %y : tensor<8x4xi32, #b> -> tensor<4x8xi32, #rows>
    %z = ttg.convert_layout %rows : tensor<4x8xi32, #rows> -> tensor<4x8xi32, #b>
    ttg.local_dealloc %a : !ttg.memdesc<2x4x8xi32, #s, #smem, mutable>
    tt.store %rq, %z : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(1).ok();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) EXPECT_EQ(r[i * 4 + j], j * 8 + i);
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(2).fails("index 2 is outside of a buffer of 2");
  body.insert(body.find("%y = "), "ttg.local_dealloc %a : !ttg.memdesc<2x4x8xi32, #s, #smem, mutable>\n    ");
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(1).fails("the buffer is used after its local_dealloc");
}

TEST_F(Shared, SubslicesAliasTheirBuffer) {
  std::string body = R"(
    %x = tt.load %pq : tensor<4x8x!tt.ptr<i32>, #b>
    %a = ttg.local_alloc %x : (tensor<4x8xi32, #b>) -> !ttg.memdesc<4x8xi32, #s, #smem, mutable>
    %q = ttg.memdesc_subslice %a[2, 4] : !ttg.memdesc<4x8xi32, #s, #smem, mutable> -> !ttg.memdesc<2x4xi32, #s, #smem, mutable, 4x8>
    %v = ttg.local_load %q : !ttg.memdesc<2x4xi32, #s, #smem, mutable, 4x8> -> tensor<2x4xi32, #b>
    %w = arith.addi %v, %v : tensor<2x4xi32, #b>
    ttg.local_store %w, %q : tensor<2x4xi32, #b> -> !ttg.memdesc<2x4xi32, #s, #smem, mutable, 4x8>
    %y = ttg.local_load %a : !ttg.memdesc<4x8xi32, #s, #smem, mutable> -> tensor<4x8xi32, #b>
    tt.store %rq, %y : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(r[i], i / 8 >= 2 && i % 8 >= 4 ? 2 * i : i);
}

TEST_F(Shared, AsynchronousCopiesFillWithZerosAndFreshMemoryIsUndefined) {
  std::string body = R"(
    %c16 = arith.constant dense<16> : tensor<4x8xi32, #b>
    %m = arith.cmpi slt, %i2, %c16 : tensor<4x8xi32, #b>
    %a = ttg.local_alloc : () -> !ttg.memdesc<4x8xi32, #s, #smem, mutable>
    %u = ttg.local_load %a : !ttg.memdesc<4x8xi32, #s, #smem, mutable> -> tensor<4x8xi32, #b>
    %t = ttg.async_copy_global_to_local %pq, %a mask %m : tensor<4x8x!tt.ptr<i32>, #b> -> <4x8xi32, #s, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %y = ttg.local_load %a token %w : !ttg.memdesc<4x8xi32, #s, #smem, mutable> -> tensor<4x8xi32, #b>
    %z = arith.addi %y, %u : tensor<4x8xi32, #b>
    tt.store %rq, %z : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(r[i], (i < 16 ? i : 0) - 1);
}

TEST_F(Shared, MbarriersCountArrivals) {
  auto body = [](const std::string &lines) {
    return kernel(R"(
    %a = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %a, 2 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.arrive_barrier %a, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
)" + lines + "\n    tt.store %r, %n : !tt.ptr<i32>");
  };
  std::string arrive = "ttng.arrive_barrier %a, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>\n",
              wait0 = "ttng.wait_barrier %a, %c0 : !ttg.memdesc<1xi64, #s1, #smem, mutable>\n",
              wait1 = "ttng.wait_barrier %a, %c1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>\n",
              expect = "ttng.barrier_expect %a, 64, %true : !ttg.memdesc<1xi64, #s1, #smem, mutable>\n";
  Evaluation(body(arrive + wait0)).buffer(x).buffer(r).scalar(5).ok();
  EXPECT_EQ(r[0], 5);
  Evaluation(body(wait1 + arrive + wait0 + arrive + arrive + wait1))
      .buffer(x)
      .buffer(r)
      .scalar(5)
      .ok(); // "the phase before the first" is complete
  Evaluation(body(wait0))
      .buffer(x)
      .buffer(r)
      .scalar(5)
      .fails("nothing completes this phase of the mbarrier (1 arrivals and 0 bytes are missing)");
  Evaluation(body(expect + wait0)).buffer(x).buffer(r).scalar(5).fails("(0 arrivals and 64 bytes are missing)");
  Evaluation(body("ttng.wait_barrier %a, %c0, %false : !ttg.memdesc<1xi64, #s1, #smem, mutable>"))
      .buffer(x)
      .buffer(r)
      .scalar(5)
      .ok();
}

TEST_F(Shared, BufferOperations) {
  std::string body = R"(
    %c16 = arith.constant dense<16> : tensor<4x8xi32, #b>
    %m = arith.cmpi slt, %i2, %c16 : tensor<4x8xi32, #b>
    %v = amdg.buffer_load %p[%i2], %m : tensor<4x8xi32, #b>
    amdg.buffer_store %v, %r[%i2] : tensor<4x8xi32, #b>
    %o = amdg.buffer_atomic_rmw add, acq_rel, gpu, %c16, %r[%i2], %m : tensor<4x8xi32, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(r[i], i < 16 ? i + 16 : 0);
  x.resize(12);
  Evaluation(kernel(body))
      .buffer(x)
      .buffer(r)
      .scalar(0)
      .fails("load of 4 bytes at byte 48 of buffer 'arg0', which has 48 bytes: out of bounds (element 12 of 32)");
}

TEST_F(Shared, BufferCompareAndSwap) {
  // What is 5 at one of eight places becomes 100.
  std::string body = R"(
    %c7 = arith.constant dense<7> : tensor<4x8xi32, #b>
    %c5 = arith.constant dense<5> : tensor<4x8xi32, #b>
    %c100 = arith.constant dense<100> : tensor<4x8xi32, #b>
    %at = arith.andi %i2, %c7 : tensor<4x8xi32, #b>
    %o = amdg.buffer_atomic_cas acq_rel, gpu, %c5, %c100, %p[%at] : tensor<4x8xi32, #b>
    tt.store %rq, %o : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(x[i], i == 5 ? 100 : i);
    EXPECT_EQ(r[i], i % 8 == 5 && i > 8 ? 100 : i % 8);
  }
}

TEST_F(Shared, BulkGatherAndScatterOfRows) {
  // Rows 3, 0, 5 and 2 of 4 x 8 (there is no row 5) from column 2 on; scattered the same way to another matrix.
  std::string body = R"(
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %l8 = arith.constant 8 : i64
    %l1 = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%c4, %c8], [%l8, %l1] : !tt.ptr<i32>, !tt.tensordesc<1x4xi32, #s>
    %e = tt.make_tensor_descriptor %r, [%c4, %c8], [%l8, %l1] : !tt.ptr<i32>, !tt.tensordesc<1x4xi32, #s>
    %k = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #b1>
    %k7 = arith.constant dense<7> : tensor<4xi32, #b1>
    %k3 = arith.constant dense<3> : tensor<4xi32, #b1>
    %k5 = arith.constant dense<5> : tensor<4xi32, #b1>
    %m = arith.muli %k, %k5 : tensor<4xi32, #b1>
    %m3 = arith.addi %m, %k3 : tensor<4xi32, #b1>
    %m7 = arith.andi %m3, %k7 : tensor<4xi32, #b1>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    %t = ttg.local_alloc : () -> !ttg.memdesc<4x4xi32, #s, #smem, mutable>
    ttng.barrier_expect %bar, BYTES, %true : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.async_tma_gather %d[%m7, %c2] %t, %bar, %true : !tt.tensordesc<1x4xi32, #s>, tensor<4xi32, #b1>, i32, !ttg.memdesc<1xi64, #s1, #smem, mutable>, !ttg.memdesc<4x4xi32, #s, #smem, mutable>, i1
    ttng.async_tma_gather %d[%m7, %c0] %t, %bar, %false : !tt.tensordesc<1x4xi32, #s>, tensor<4xi32, #b1>, i32, !ttg.memdesc<1xi64, #s1, #smem, mutable>, !ttg.memdesc<4x4xi32, #s, #smem, mutable>, i1
    ttng.wait_barrier %bar, %c0 : !ttg.memdesc<1xi64, #s1, #smem, mutable>
    ttng.async_tma_scatter %e[%m7, %c2] %t : !tt.tensordesc<1x4xi32, #s>, tensor<4xi32, #b1>, i32, !ttg.memdesc<4x4xi32, #s, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32})";
  auto withBytes = [&](const char *bytes) {
    std::string b = body;
    return kernel(b.replace(b.find("BYTES"), 5, bytes));
  };
  std::fill(r.begin(), r.end(), -1);
  Evaluation(withBytes("64")).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) {
    int row = i / 8, column = i % 8;
    bool moved = row != 1 && column >= 2 && column < 6;
    EXPECT_EQ(r[i], moved ? i : -1) << i;
  }
  Evaluation(withBytes("128")).buffer(x).buffer(r).scalar(0).fails("(0 arrivals and 64 bytes are missing)");
}

TEST_F(Shared, ScaledUpcasts) {
  // 0x21 holds 0.5 and 1.0; 0x30 is 0.5 of e4m3. The scales are 2^2 as a byte, 2^3 as a bf16.
  std::string body = R"(
    %f = arith.constant dense<33> : tensor<4x8xi8, #b>
    %byte = arith.constant dense<129> : tensor<8x8xi8, #b>
    %h = amdg.scaled_upcast_fp4 %f scale %byte {axis = 0 : i32} : tensor<4x8xi8, #b>, tensor<8x8xi8, #b> -> tensor<8x8xf16, #b>
    %n8 = arith.fptosi %h : tensor<8x8xf16, #b> to tensor<8x8xi32, #b>
    %part = amdg.extract_slice %n8 [2, 0] : tensor<8x8xi32, #b> to tensor<4x8xi32, #b>
    %e = arith.constant dense<48> : tensor<4x8xi8, #b>
    %e8 = tt.bitcast %e : tensor<4x8xi8, #b> -> tensor<4x8xf8E4M3FN, #b>
    %half = arith.constant dense<8.0> : tensor<4x8xbf16, #b>
    %g = amdg.scaled_upcast_fp8 %e8 scale %half : tensor<4x8xf8E4M3FN, #b>, tensor<4x8xbf16, #b> -> tensor<4x8xbf16, #b>
    %m = arith.fptosi %g : tensor<4x8xbf16, #b> to tensor<4x8xi32, #b>
    %c10 = arith.constant dense<10> : tensor<4x8xi32, #b>
    %m10 = arith.muli %m, %c10 : tensor<4x8xi32, #b>
    %s = arith.addi %m10, %part : tensor<4x8xi32, #b>
    tt.store %rq, %s : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(r[i], 40 + (i / 8 % 2 ? 4 : 2));
}

TEST_F(Shared, UpcastsOfDotOperands) {
  // A right operand: K is the first dimension, and each of its eight columns has a scale, 2^1 to 2^8.
  std::string body = R"(
    %f = arith.constant dense<33> : tensor<16x8xi8, #ttg.dot_op<{opIdx = 1, parent = #b}>>
    %k = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %c128 = arith.constant dense<128> : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %e = arith.addi %k, %c128 : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %e8 = arith.trunci %e : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>> to tensor<8xi8, #ttg.slice<{dim = 1, parent = #b}>>
    %s = tt.expand_dims %e8 {axis = 1 : i32} : tensor<8xi8, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<8x1xi8, #b>
    %u = amdg.upcast_mxfp %f, %s fp_type = e2m1 {fastMath = false} : tensor<16x8xi8, #ttg.dot_op<{opIdx = 1, parent = #b}>>, tensor<8x1xi8, #b> -> tensor<32x8xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>>
    %v = ttg.convert_layout %u : tensor<32x8xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<32x8xf16, #b>
    %n32 = arith.fptosi %v : tensor<32x8xf16, #b> to tensor<32x8xi32, #b>
    %part = amdg.extract_slice %n32 [4, 0] : tensor<32x8xi32, #b> to tensor<4x8xi32, #b>
    tt.store %rq, %part : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(r[i], (i / 8 % 2 ? 2 : 1) << i % 8);
}

TEST_F(Shared, Fp4AndSlices) {
  // 0x21 holds 0.5 and 1.0, the low half first.
  std::string body = R"(
    %f = arith.constant dense<33> : tensor<4x8xi8, #b>
    %h = ttg.fp4_to_fp %f {axis = 0 : i32} : tensor<4x8xi8, #b> -> tensor<8x8xf16, #b>
    %w = arith.extf %h : tensor<8x8xf16, #b> to tensor<8x8xf32, #b>
    %four = arith.constant dense<4.0> : tensor<8x8xf32, #b>
    %x4 = arith.mulf %w, %four : tensor<8x8xf32, #b>
    %n8 = arith.fptosi %x4 : tensor<8x8xf32, #b> to tensor<8x8xi32, #b>
    %s = amdg.extract_slice %n8 [2, 0] : tensor<8x8xi32, #b> to tensor<4x8xi32, #b>
    tt.store %rq, %s : tensor<4x8x!tt.ptr<i32>, #b>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(0).ok();
  for (int i = 0; i < 32; ++i) EXPECT_EQ(r[i], i / 8 % 2 ? 4 : 2);
}

TEST_F(Shared, PredicatedStagesAndMasks) {
  std::string body = R"(
    %c8 = arith.constant 8 : i32
    %go = ttg.predicate_stage %n, %c8, %c1 maxStage 2 stage 0 : i32 -> i1
    %v = "ttg.mask"(%go) ({
      %t = arith.addi %n, %c8 : i32
      ttg.mask.return %t : i32
    }) : (i1) -> i32
    tt.store %r, %v : !tt.ptr<i32>)";
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(5).ok();
  EXPECT_EQ(r[0], 13);
  Evaluation(kernel(body)).buffer(x).buffer(r).scalar(6).ok();
  EXPECT_EQ(r[0], -1);
}

} // namespace
} // namespace tessera
