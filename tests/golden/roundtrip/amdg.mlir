// Every amdg and rocdl operation.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @buffers(%arg0: !tt.ptr<f32>, %arg1: tensor<16x64xi32, #blocked>, %arg2: i32, %arg3: tensor<16x64xi1, #blocked>, %arg4: tensor<16x64xf32, #blocked>, %arg5: !ttg.memdesc<16x64xf32, #shared, #smem, mutable>, %arg6: tensor<16x64x!tt.ptr<f32>, #blocked>) {
    %0 = amdg.buffer_load %arg0[%arg1] : tensor<16x64xf32, #blocked>
    %1 = amdg.buffer_load %arg0[%arg1], %arg3, %arg4 cacheModifier = cg stride = %arg2 {contiguity = 4 : i32} : tensor<16x64xf32, #blocked>
    amdg.buffer_store %0, %arg0[%arg1] : tensor<16x64xf32, #blocked>
    amdg.buffer_store %1, %arg0[%arg1], %arg3 cacheModifier = wt stride = %arg2 : tensor<16x64xf32, #blocked>
    %2 = amdg.buffer_load_to_local %arg0[%arg1] into %arg5 : <f32>[tensor<16x64xi32, #blocked>]  -> <16x64xf32, #shared, #smem, mutable>
    %3 = amdg.buffer_load_to_local %arg0[%arg1] mask = %arg3 other = %arg4 stride = %arg2 cacheModifier = ca into %arg5 {contiguity = 4 : i32} : <f32>[tensor<16x64xi32, #blocked>] tensor<16x64xf32, #blocked> -> <16x64xf32, #shared, #smem, mutable>
    %4 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %0, %arg0[%arg1], %arg3 : tensor<16x64xf32, #blocked>
    %5 = amdg.buffer_atomic_cas acq_rel, gpu, %0, %1, %arg0[%arg1] stride = %arg2 : tensor<16x64xf32, #blocked>
    %6 = amdg.async_wait %2, %3 {num_inst = 2 : i32}
    %7 = amdg.async_copy_local_to_global %arg5, %arg6 mask %arg3 : !ttg.memdesc<16x64xf32, #shared, #smem, mutable> -> tensor<16x64x!tt.ptr<f32>, #blocked>
    tt.return
  }
  tt.func public @registers(%arg0: tensor<16x64xf32, #blocked>, %arg1: i1, %arg2: !ttg.memdesc<16x64xi8, #shared, #smem>, %arg3: tensor<16x64xf8E4M3FN, #blocked>, %arg4: tensor<16x64xbf16, #blocked>, %arg5: tensor<16x64xi8, #blocked>, %arg6: !tt.ptr<i32>, %arg7: i32, %arg8: tensor<32x64xbf16, #blocked>) {
    %0 = amdg.extract_slice %arg0 [0, 32] : tensor<16x64xf32, #blocked> to tensor<16x32xf32, #blocked>
    %1 = amdg.concat %arg0, %arg0 : tensor<16x64xf32, #blocked>, tensor<16x64xf32, #blocked> -> tensor<32x64xf32, #blocked>
    amdg.cond_barrier %arg1
    %2 = amdg.in_thread_transpose %arg0 : tensor<16x64xf32, #blocked> -> tensor<16x64xf32, #blocked>
    %3 = amdg.local_load_packed_tranposed %arg2 : !ttg.memdesc<16x64xi8, #shared, #smem> -> tensor<16x64xi8, #blocked>
    %4 = amdg.scaled_upcast_fp8 %arg3 scale %arg4 : tensor<16x64xf8E4M3FN, #blocked>, tensor<16x64xbf16, #blocked> -> tensor<16x64xbf16, #blocked>
    %5 = amdg.upcast_mxfp %arg5, %arg4 fp_type = e2m1 {fastMath = false} : tensor<16x64xi8, #blocked>, tensor<16x64xbf16, #blocked> -> tensor<16x128xbf16, #blocked>
    %6 = amdg.scaled_upcast_fp4 %arg5 scale %arg8 {axis = 0 : i32} : tensor<16x64xi8, #blocked>, tensor<32x64xbf16, #blocked> -> tensor<32x64xbf16, #blocked>
    %7 = amdg.masked_load %arg6, %arg1, %arg7 cacheModifier = cv : (!tt.ptr<i32>, i1, i32) -> i32
    amdg.masked_store %arg6, %7, %arg1 : !tt.ptr<i32>, i32, i1
    rocdl.sched.barrier 0
    rocdl.s.setprio 1
    rocdl.barrier
    rocdl.s.barrier
    %8 = rocdl.workitem.id.x : i32
    tt.return
  }
  tt.func public @barriers(%arg0: !ttg.memdesc<1xi64, #shared1, #smem, mutable>, %arg1: i32) {
    amdg.init_barrier %arg0, 4 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %0 = amdg.arrive_barrier %arg0, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> i32
    amdg.async_copy_mbarrier_arrive %arg0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    amdg.wait_barrier %arg0, %0 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    amdg.cluster_barrier_arrive
    amdg.cluster_barrier_wait
    tt.return
  }
}
