// Every ttg operation: layouts, shared memory, asynchronous copies, pipelining, warp specialisation.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @memory(%arg0: tensor<32x64x!tt.ptr<f16>, #blocked>, %arg1: tensor<32x64xi1, #blocked>, %arg2: i32, %arg3: tensor<32x64xf16, #blocked>, %arg4: tensor<32x64xi32, #blocked>, %arg5: tensor<32x64xi8, #blocked>) {
    %0 = ttg.convert_layout %arg3 : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #blocked1>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable>
    %2 = ttg.local_alloc %arg3 : (tensor<32x64xf16, #blocked>) -> !ttg.memdesc<32x64xf16, #shared, #smem>
    %3 = ttg.local_alloc {alignment = 16 : i32} : () -> !ttg.memdesc<32x64xi32, #shared, #smem, mutable>
    %4 = ttg.memdesc_index %1[%arg2] : !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    %5 = ttg.memdesc_subslice %4[0, 32] : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<32x32xf16, #shared, #smem, mutable, 32x64>
    %6 = ttg.memdesc_trans %4 {order = array<i32: 1, 0>} : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x32xf16, #shared1, #smem, mutable>
    %7 = ttg.memdesc_reshape %2 : !ttg.memdesc<32x64xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #shared, #smem>
    %8 = ttg.memdesc_reinterpret %3 : !ttg.memdesc<32x64xi32, #shared, #smem, mutable> -> !ttg.memdesc<32x64xf32, #shared, #smem, mutable>
    %9 = ttg.async_copy_global_to_local %arg0, %4 : tensor<32x64x!tt.ptr<f16>, #blocked> -> <32x64xf16, #shared, #smem, mutable>
    %10 = ttg.async_copy_global_to_local %arg0, %4 mask %arg1 other %arg3 cacheModifier = cg evictionPolicy = evict_first {contiguity = 8 : i32, isVolatile = true} : tensor<32x64x!tt.ptr<f16>, #blocked> -> <32x64xf16, #shared, #smem, mutable>
    %11 = ttg.async_commit_group tokens %9, %10
    %12 = ttg.async_commit_group
    %13 = ttg.async_wait %11, %12 {num = 1 : i32}
    %14 = ttg.async_wait {num = 0 : i32}
    %15 = ttg.local_load %4 token %13 : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #blocked>
    %16 = ttg.local_load %5 : !ttg.memdesc<32x32xf16, #shared, #smem, mutable, 32x64> -> tensor<32x32xf16, #blocked>
    ttg.local_store %arg3, %4 : tensor<32x64xf16, #blocked> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    %17 = ttg.local_gather %4[%arg4] token %13 {axis = 0 : i32} : !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, tensor<32x64xi32, #blocked> -> tensor<32x64xf16, #blocked>
    ttg.local_scatter %4[%arg4], %17 {axis = 0 : i32} : !ttg.memdesc<32x64xf16, #shared, #smem, mutable>, tensor<32x64xi32, #blocked>, tensor<32x64xf16, #blocked>
    %18 = ttg.local_atomic_scatter_rmw add, %3[%arg4], %arg4, %arg1 {axis = 0 : i32} : (!ttg.memdesc<32x64xi32, #shared, #smem, mutable>, tensor<32x64xi32, #blocked>, tensor<32x64xi32, #blocked>, tensor<32x64xi1, #blocked>) -> tensor<32x64xi32, #blocked>
    %19 = ttg.fp4_to_fp %arg5 {axis = 1 : i32} : tensor<32x64xi8, #blocked> -> tensor<32x128xf16, #blocked>
    ttg.barrier none
    ttg.barrier local
    ttg.barrier local|global_read|global_write
    ttg.barrier all
    ttg.local_barrier
    ttg.local_dealloc %1 : !ttg.memdesc<3x32x64xf16, #shared, #smem, mutable>
    %20 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %21 = ttg.warp_id
    %22 = ttg.warp_id {omitUniformHint}
    %23 = ttg.predicate_stage %arg2, %arg2, %arg2 maxStage 2 stage 1 : i32 -> i1
    %24 = "ttg.mask"(%23) ({
      %25 = arith.addi %arg2, %arg2 : i32
      ttg.mask.return %25 : i32
    }) : (i1) -> i32
    tt.return
  }
  tt.func public @specialised(%arg0: i32, %arg1: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>) {
    ttg.warp_specialize(%arg0, %arg1) attributes {requestedRegisters = array<i32: 24, 152>}
    default {
      gpu.barrier
      ttg.warp_yield
    }
    partition0(%arg2: i32, %arg3: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>) num_warps(1) {
      %1 = arith.addi %arg2, %arg2 : i32
      ttg.warp_return
    }
    partition1(%arg2: i32, %arg3: !ttg.memdesc<32x64xf16, #shared, #smem, mutable>) num_warps(4) {
      %1 = ttg.local_load %arg3 : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #blocked>
      ttg.warp_return
    } : (i32, !ttg.memdesc<32x64xf16, #shared, #smem, mutable>) -> ()
    %0 = ttg.warp_specialize()
    default {
      %c1_i32 = arith.constant 1 : i32
      ttg.warp_yield %c1_i32 : i32
    } : () -> i32
    tt.return
  }
}
