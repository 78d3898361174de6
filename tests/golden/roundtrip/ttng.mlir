// Every ttng operation.
#blocked = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem_scales = #ttng.tensor_memory_scales_encoding<>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @hopper(%arg0: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg1: tensor<64x64xf32, #mma>, %arg2: i1, %arg3: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) {
    ttng.fence_async_shared {bCluster = false}
    ttng.fence_mbarrier_init_release_cluster
    %0 = ttng.warp_group_dot %arg0, %arg0, %arg1 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %1 = ttng.warp_group_dot %arg3, %arg0, %0, %arg2 {inputPrecision = 0 : i32, isAsync = true} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %2:2 = ttng.warp_group_dot_wait %1, %arg0 {pendings = 0 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }
  tt.func public @barriers(%arg0: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg1: i32, %arg2: i1, %arg3: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg4: tensor<64x64xf16, #blocked>) {
    ttng.init_barrier %arg0, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.barrier_expect %arg0, 8192, %arg2 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %arg0, %arg1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.wait_barrier %arg0, %arg1, %arg2 deps %arg3 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.arrive_barrier %arg0, 2 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.arrive_barrier %arg0, 1, %arg2 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %arg0 {noIncrement} : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_shared_store %arg4, %arg3, %arg0 : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.inval_barrier %arg0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.cluster_arrive {relaxed = true}
    ttng.cluster_wait
    ttng.cluster_barrier
    ttng.clc_try_cancel %arg0, %arg0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %0 = ttng.clc_load_result %arg0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> i128
    %1 = ttng.clc_is_canceled %0 : i128 -> i1
    %2 = ttng.clc_get_program_id %0, x : i128 -> i32
    tt.return
  }
  tt.func public @tma(%arg0: !tt.tensordesc<tensor<64x64xf16, #shared>>, %arg1: i32, %arg2: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg3: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %arg4: i1, %arg5: !tt.ptr<i8>, %arg6: i64, %arg7: tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>) {
    ttng.async_tma_copy_global_to_local %arg0[%arg1, %arg1] %arg3, %arg2, %arg4 : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %arg0[%arg1, %arg1] %arg3 : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_reduce add, %arg0[%arg1, %arg1] %arg3 : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_gather %arg0[%arg7, %arg1] %arg3, %arg2, %arg4 : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>, i32, !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, i1
    ttng.async_tma_scatter %arg0[%arg7, %arg1] %arg3 : !tt.tensordesc<tensor<64x64xf16, #shared>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>, i32, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttng.tensormap_create %arg5, %arg5, [%arg1, %arg1], [%arg1, %arg1], [%arg6], [%arg1, %arg1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %arg5 : !tt.ptr<i8>
    %0 = ttng.reinterpret_tensor_descriptor %arg5 : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #shared>>
    tt.return
  }
  tt.func public @blackwell(%arg0: !ttg.memdesc<128x64xf16, #shared, #smem>, %arg1: !ttg.memdesc<64x64xf16, #shared, #smem>, %arg2: tensor<128x64xf32, #blocked>, %arg3: i1, %arg4: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg5: !ttg.memdesc<128x64xf8E4M3FN, #shared2, #smem>, %arg6: !ttg.memdesc<128x2xi8, #tmem_scales, #ttng.tensor_memory>) {
    %result = ttng.tmem_alloc %arg2 : (tensor<128x64xf32, #blocked>) -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %result_0, %token = ttng.tmem_alloc : () -> (!ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
    ttng.tc_gen5_mma %arg0, %arg1, %result, %arg3, %arg3 : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %0 = ttng.tc_gen5_mma %arg0, %arg1, %result_0[%token], %arg3, %arg3, %arg4[%arg3] {is_async} : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<64x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %1 = ttng.tc_gen5_mma_scaled %arg5, %arg5, %result_0[], %arg6, %arg6, %arg3, %arg3 lhs = e4m3 rhs = e2m1 : !ttg.memdesc<128x64xf8E4M3FN, #shared2, #smem>, !ttg.memdesc<128x64xf8E4M3FN, #shared2, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<128x2xi8, #tmem_scales, #ttng.tensor_memory>, !ttg.memdesc<128x2xi8, #tmem_scales, #ttng.tensor_memory>
    ttng.tc_gen5_commit %arg4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.tc_gen5_commit %arg4, %arg3 descs %arg0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>, !ttg.memdesc<128x64xf16, #shared, #smem>
    %result_1 = ttng.tmem_load %result : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #blocked>
    %result_2, %token_3 = ttng.tmem_load %result_0[%0] : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x64xf32, #blocked>
    ttng.tmem_store %arg2, %result, %arg3 : tensor<128x64xf32, #blocked> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %2 = ttng.tmem_store %arg2, %result_0[%token_3], %arg3 : tensor<128x64xf32, #blocked> -> !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    %3 = ttng.tmem_subslice %result {N = 32 : i32} : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable, 128x64>
    ttng.tmem_copy %arg0, %result : !ttg.memdesc<128x64xf16, #shared, #smem>, !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
    tt.return
  }
}
