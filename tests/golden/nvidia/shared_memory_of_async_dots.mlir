// allocate-shared-memory: an asynchronous dot reads its operands until the wait for it. The scratch of a conversion
// between the two does not lie on them.
// RUN: tessera opt %s -allocate-shared-memory --target sm_90a | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#turned = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @one
  // CHECK: ttg.local_alloc {{.*}}allocation.offset = [[#A:]] : i32
  // CHECK: ttg.local_alloc {{.*}}allocation.offset = [[#B:]] : i32
  // CHECK: isAsync
  // CHECK: ttg.convert_layout {{.*}}allocation.offset = 16384 : i32
  // CHECK: ttng.warp_group_dot_wait
  // CHECK: ttg.convert_layout {{.*}}allocation.offset = 0 : i32
  tt.func public @one(%x: tensor<64x64xf16, #blocked>, %y: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>, %p: !tt.ptr<f32>) {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %d = ttng.warp_group_dot %a, %b, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %t = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
    %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    %u = ttg.convert_layout %y : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
    %z = arith.addf %t, %u : tensor<64x64xf16, #turned>
    tt.return
  }
  // The first wait leaves the second dot in flight, but not the first one.
  // CHECK-LABEL: @two
  // CHECK: ttg.local_alloc {{.*}}allocation.offset = [[#FIRST:]] : i32
  // CHECK: ttg.local_alloc {{.*}}allocation.offset = [[#SECOND:]] : i32
  // CHECK: pendings = 1
  // CHECK: ttg.convert_layout {{.*}}allocation.offset = [[#FIRST]] : i32
  // CHECK: pendings = 0
  tt.func public @two(%x: tensor<64x64xf16, #blocked>, %y: tensor<64x64xf16, #blocked>, %c: tensor<64x64xf32, #mma>, %p: !tt.ptr<f32>) {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %b = ttg.local_alloc %y : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %d = ttng.warp_group_dot %a, %a, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %e = ttng.warp_group_dot %b, %b, %c {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
    %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
    %t = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #turned>
    %v = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    %z = arith.addf %w, %v : tensor<64x64xf32, #mma>
    tt.return
  }
}
