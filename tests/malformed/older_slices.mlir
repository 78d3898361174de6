#blocked = #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #triton_gpu.shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"triton_gpu.num-warps" = 4 : i32} {
  tt.func public @f(%i: i32, %p: tensor<16x16x!tt.ptr<f16>, #blocked>, %x: tensor<16x16xf16, #blocked>) {
    %0 = triton_gpu.alloc_tensor : tensor<3x16x16xf16, #shared>
    %1 = triton_gpu.alloc_tensor : tensor<16x16xf16, #blocked>
    %2 = tensor.extract_slice %0[0, 1, 0] [1, 16, 16] [1, 1, 1] : tensor<3x16x16xf16, #shared> to tensor<16x16xf16, #shared>
    %3 = tensor.extract_slice %0[0, 0] [16, 16] [1, 1] : tensor<3x16x16xf16, #shared> to tensor<16x16xf16, #shared>
    %4 = tensor.extract_slice %0[0, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<3x16x16xf16, #shared> to tensor<8x16xf16, #shared>
    %5 = tensor.extract_slice %0[0, 0, 0] [1, 16, 16] [1, 2, 1] : tensor<3x16x16xf16, #shared> to tensor<16x16xf16, #shared>
    %6 = tensor.extract_slice %0[%i, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<3x16x16xf16, #shared> to tensor<1x16x16xf16, #shared>
    %8 = tensor.extract_slice %x[0, 0] [16, 16] [1, 1] : tensor<16x16xf16, #blocked> to tensor<16x16xf16, #blocked>
    %9 = triton_gpu.insert_slice_async %p, %0, %i {axis = 1 : i32, cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<16x16x!tt.ptr<f16>, #blocked> -> tensor<3x16x16xf16, #shared>
    %10 = triton_gpu.insert_slice_async %x, %0, %i {axis = 0 : i32, cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<16x16xf16, #blocked> -> tensor<3x16x16xf16, #shared>
    %11 = triton_gpu.insert_slice_async %p, %0 {axis = 0 : i32, cache = 1 : i32, evict = 1 : i32, isVolatile = false} : tensor<16x16x!tt.ptr<f16>, #blocked> -> tensor<3x16x16xf16, #shared>
    tt.return
  }
}
