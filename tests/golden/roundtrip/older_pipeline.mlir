// Pipelined code of 2022: shared tensors as values, insert_slice_async, extract_slice, conversions from shared memory.
#blocked0 = #triton_gpu.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
#mma = #triton_gpu.mma<{version = 2, warpsPerCTA = [1, 1]}>
#shared0 = #triton_gpu.shared<{vec = 8, perPhase = 4, maxPhase = 2, order = [1, 0]}>
module attributes {"triton_gpu.num-warps" = 1 : i32} {
  func public @pipeline(%arg0: tensor<16x16x!tt.ptr<f16>, #blocked0>, %arg1: i32, %arg2: tensor<16x8xf16, #triton_gpu.dot_op<{opIdx = 1, parent = #mma}>>) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c0_i32 = arith.constant 0 : i32
    %cst = arith.constant dense<0.000000e+00> : tensor<16x8xf32, #mma>
    %0 = arith.cmpi slt, %c0, %c64 : index
    %1 = triton_gpu.alloc_tensor : tensor<3x16x16xf16, #shared0>
    %2 = tt.splat %0 : (i1) -> tensor<16x16xi1, #blocked0>
    %3 = triton_gpu.insert_slice_async %arg0, %1, %c0_i32, %2 {axis = 0 : i32, cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<16x16x!tt.ptr<f16>, #blocked0> -> tensor<3x16x16xf16, #shared0>
    triton_gpu.async_wait {num = 0 : i32}
    %4 = tensor.extract_slice %3[0, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<3x16x16xf16, #shared0> to tensor<16x16xf16, #shared0>
    %5:3 = scf.for %i = %c0 to %c64 step %c16 iter_args(%acc = %cst, %buffer = %3, %tile = %4) -> (tensor<16x8xf32, #mma>, tensor<3x16x16xf16, #shared0>, tensor<16x16xf16, #shared0>) {
      %6 = tensor.extract_slice %tile[0, 0] [16, 16] [1, 1] : tensor<16x16xf16, #shared0> to tensor<16x16xf16, #shared0>
      %7 = triton_gpu.convert_layout %6 : (tensor<16x16xf16, #shared0>) -> tensor<16x16xf16, #triton_gpu.dot_op<{opIdx = 0, parent = #mma}>>
      %8 = tt.dot %7, %arg2, %acc {allowTF32 = true, transA = false, transB = false} : tensor<16x16xf16, #triton_gpu.dot_op<{opIdx = 0, parent = #mma}>> * tensor<16x8xf16, #triton_gpu.dot_op<{opIdx = 1, parent = #mma}>> -> tensor<16x8xf32, #mma>
      %9 = triton_gpu.insert_slice_async %arg0, %buffer, %arg1, %2 {axis = 0 : i32, cache = 3 : i32, evict = 1 : i32, isVolatile = false} : tensor<16x16x!tt.ptr<f16>, #blocked0> -> tensor<3x16x16xf16, #shared0>
      triton_gpu.async_wait {num = 0 : i32}
      %10 = arith.index_cast %arg1 : i32 to index
      %11 = tensor.extract_slice %9[%10, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<3x16x16xf16, #shared0> to tensor<16x16xf16, #shared0>
      scf.yield %8, %9, %11 : tensor<16x8xf32, #mma>, tensor<3x16x16xf16, #shared0>, tensor<16x16xf16, #shared0>
    }
    return
  }
}
