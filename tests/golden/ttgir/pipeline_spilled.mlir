// tritongpu-pipeline: a loop as in attention, one dot of which needs another one's result, is not pipelined by copies of
// threads if its tensors take more registers than a thread has (here two accumulators of 128): addresses of copies ahead
// would be spilled, too. With one accumulator it is.
// RUN: tessera compile %s --kernel two --target sm_90a --num-warps 8 --num-stages 2 --exact-num-warps --emit ttgir -o - --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: tessera compile %s --kernel one --target sm_90a --num-warps 8 --num-stages 2 --exact-num-warps --emit ttgir -o - | FileCheck %s --check-prefix=ONE
// TWO: remark: the loop is not pipelined: its tensors take more registers than a thread has, and copies ahead would take more
// TWO-LABEL: @two
// TWO-NOT: ttg.async_copy_global_to_local
// TWO: tt.return
// ONE-LABEL: @one
// ONE: ttg.async_copy_global_to_local
tt.func public @two(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %none = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %row = tt.expand_dims %r128 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %w64 = arith.constant dense<64> : tensor<128x1xi32>
  %w256 = arith.constant dense<256> : tensor<128x1xi32>
  %q0 = arith.muli %row, %w64 : tensor<128x1xi32>
  %q1 = tt.broadcast %q0 : tensor<128x1xi32> -> tensor<128x64xi32>
  %q2 = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %q3 = tt.broadcast %q2 : tensor<1x64xi32> -> tensor<128x64xi32>
  %q4 = arith.addi %q1, %q3 : tensor<128x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %q4 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %ap : tensor<128x64x!tt.ptr<f16>>
  %v0 = arith.muli %row, %w256 : tensor<128x1xi32>
  %v1 = tt.broadcast %v0 : tensor<128x1xi32> -> tensor<128x256xi32>
  %v2 = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %v3 = tt.broadcast %v2 : tensor<1x256xi32> -> tensor<128x256xi32>
  %v4 = arith.addi %v1, %v3 : tensor<128x256xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %bw = tt.splat %b : !tt.ptr<f16> -> tensor<128x256x!tt.ptr<f16>>
  %d:2 = scf.for %k = %c0 to %n step %c128 iter_args(%s = %zero, %t = %zero) -> (tensor<128x256xf32>, tensor<128x256xf32>) : i32 {
    %k64 = tt.splat %k : i32 -> tensor<128x64xi32>
    %yi = arith.addi %k64, %q4 : tensor<128x64xi32>
    %yp = tt.addptr %bs, %yi : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %y = tt.load %yp : tensor<128x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    %p = tt.dot %x, %yt, %none : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %h = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xf16>
    %k256 = tt.splat %k : i32 -> tensor<128x256xi32>
    %zi = arith.addi %k256, %v4 : tensor<128x256xi32>
    %zp = tt.addptr %bw, %zi : tensor<128x256x!tt.ptr<f16>>, tensor<128x256xi32>
    %z = tt.load %zp : tensor<128x256x!tt.ptr<f16>>
    %u = tt.dot %h, %z, %s : tensor<128x128xf16> * tensor<128x256xf16> -> tensor<128x256xf32>
    %g = arith.addf %h, %h : tensor<128x128xf16>
    %v = tt.dot %g, %z, %t : tensor<128x128xf16> * tensor<128x256xf16> -> tensor<128x256xf32>
    scf.yield %u, %v : tensor<128x256xf32>, tensor<128x256xf32>
  }
  %e = arith.addf %d#0, %d#1 : tensor<128x256xf32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %v4 : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
  tt.store %cp, %e : tensor<128x256x!tt.ptr<f32>>
  tt.return
}
tt.func public @one(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c128 = arith.constant 128 : i32
  %none = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
  %zero = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
  %r64 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r128 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r256 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %row = tt.expand_dims %r128 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %w64 = arith.constant dense<64> : tensor<128x1xi32>
  %w256 = arith.constant dense<256> : tensor<128x1xi32>
  %q0 = arith.muli %row, %w64 : tensor<128x1xi32>
  %q1 = tt.broadcast %q0 : tensor<128x1xi32> -> tensor<128x64xi32>
  %q2 = tt.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %q3 = tt.broadcast %q2 : tensor<1x64xi32> -> tensor<128x64xi32>
  %q4 = arith.addi %q1, %q3 : tensor<128x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %q4 : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %x = tt.load %ap : tensor<128x64x!tt.ptr<f16>>
  %v0 = arith.muli %row, %w256 : tensor<128x1xi32>
  %v1 = tt.broadcast %v0 : tensor<128x1xi32> -> tensor<128x256xi32>
  %v2 = tt.expand_dims %r256 {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
  %v3 = tt.broadcast %v2 : tensor<1x256xi32> -> tensor<128x256xi32>
  %v4 = arith.addi %v1, %v3 : tensor<128x256xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %bw = tt.splat %b : !tt.ptr<f16> -> tensor<128x256x!tt.ptr<f16>>
  %d = scf.for %k = %c0 to %n step %c128 iter_args(%s = %zero) -> (tensor<128x256xf32>) : i32 {
    %k64 = tt.splat %k : i32 -> tensor<128x64xi32>
    %yi = arith.addi %k64, %q4 : tensor<128x64xi32>
    %yp = tt.addptr %bs, %yi : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %y = tt.load %yp : tensor<128x64x!tt.ptr<f16>>
    %yt = tt.trans %y {order = array<i32: 1, 0>} : tensor<128x64xf16> -> tensor<64x128xf16>
    %p = tt.dot %x, %yt, %none : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
    %h = arith.truncf %p : tensor<128x128xf32> to tensor<128x128xf16>
    %k256 = tt.splat %k : i32 -> tensor<128x256xi32>
    %zi = arith.addi %k256, %v4 : tensor<128x256xi32>
    %zp = tt.addptr %bw, %zi : tensor<128x256x!tt.ptr<f16>>, tensor<128x256xi32>
    %z = tt.load %zp : tensor<128x256x!tt.ptr<f16>>
    %u = tt.dot %h, %z, %s : tensor<128x128xf16> * tensor<128x256xf16> -> tensor<128x256xf32>
    scf.yield %u : tensor<128x256xf32>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<128x256x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %v4 : tensor<128x256x!tt.ptr<f32>>, tensor<128x256xi32>
  tt.store %cp, %d : tensor<128x256x!tt.ptr<f32>>
  tt.return
}
