// tritongpu-pipeline: loops that follow each other share the memory of their buffers, so each gets as many stages as
// if it were alone.
// RUN: tessera compile %s --target sm_90a --num-warps 8 --num-stages 5 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s

// CHECK: remark: 2 of the loop's loads are issued 4 iterations ahead {{.*}}; 5 stages take 163840 bytes of shared memory
// CHECK: remark: 2 of the loop's loads are issued 4 iterations ahead {{.*}}; 5 stages take 163840 bytes of shared memory
tt.func public @two_products(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %rows = arith.constant 128 : i64
  %k = arith.constant 4096 : i64
  %one = arith.constant 1 : i64
  %pa = tt.make_tensor_ptr %a, [%rows, %k], [%k, %one], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<128x64xf16>>
  %pb = tt.make_tensor_ptr %b, [%k, %rows], [%rows, %one], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<64x128xf16>>
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %pa, %y = %pb) -> (tensor<128x128xf32>, !tt.ptr<tensor<128x64xf16>>, !tt.ptr<tensor<64x128xf16>>) : i32 {
    %u = tt.load %x : !tt.ptr<tensor<128x64xf16>>
    %v = tt.load %y : !tt.ptr<tensor<64x128xf16>>
    %d = tt.dot %u, %v, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %x1 = tt.advance %x, [%c0, %c64] : <tensor<128x64xf16>>
    %y1 = tt.advance %y, [%c64, %c0] : <tensor<64x128xf16>>
    scf.yield %d, %x1, %y1 : tensor<128x128xf32>, !tt.ptr<tensor<128x64xf16>>, !tt.ptr<tensor<64x128xf16>>
  }
  %s:3 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %r#0, %x = %pa, %y = %pb) -> (tensor<128x128xf32>, !tt.ptr<tensor<128x64xf16>>, !tt.ptr<tensor<64x128xf16>>) : i32 {
    %u = tt.load %x : !tt.ptr<tensor<128x64xf16>>
    %v = tt.load %y : !tt.ptr<tensor<64x128xf16>>
    %d = tt.dot %u, %v, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %x1 = tt.advance %x, [%c0, %c64] : <tensor<128x64xf16>>
    %y1 = tt.advance %y, [%c64, %c0] : <tensor<64x128xf16>>
    scf.yield %d, %x1, %y1 : tensor<128x128xf32>, !tt.ptr<tensor<128x64xf16>>, !tt.ptr<tensor<64x128xf16>>
  }
  %pc = tt.make_tensor_ptr %c, [%rows, %rows], [%rows, %one], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<128x128xf32>>
  tt.store %pc, %s#0 : !tt.ptr<tensor<128x128xf32>>
  tt.return
}
