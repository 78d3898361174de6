// tritongpu-pipeline with few warps: operands that fit into registers are read from shared memory before the next
// copies are issued. With more warps, others have dots to run while the copies are issued.
// RUN: tessera compile %s --target sm_80 --num-warps 2 --num-stages 3 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=FEW %s
// RUN: tessera compile %s --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=MORE %s
// RUN: tessera compile %s --target sm_80 --num-warps 2 --num-stages 2 --emit ttgir -o - --skip-pass tritongpu-prefetch | FileCheck --check-prefix=MORE %s

// FEW: scf.for
// FEW-NOT: ttg.async_copy_global_to_local
// FEW: ttg.local_load
// FEW: ttg.local_load
// FEW: ttg.async_copy_global_to_local
// FEW: tt.dot
// FEW: scf.yield

// MORE: scf.for
// MORE-NOT: ttg.local_load
// MORE: ttg.async_copy_global_to_local
// MORE: ttg.local_load
// MORE: tt.dot
// MORE: scf.yield

tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %width = arith.constant dense<32> : tensor<32x1xi32>
  %step = arith.constant dense<4096> : tensor<32x32xi32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ro = arith.muli %r1, %width : tensor<32x1xi32>
  %rb = tt.broadcast %ro : tensor<32x1xi32> -> tensor<32x32xi32>
  %cb = tt.broadcast %r0 : tensor<1x32xi32> -> tensor<32x32xi32>
  %i = arith.addi %rb, %cb : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %pa = tt.addptr %as, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>
  %pb = tt.addptr %bs, %i : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %x = %pa, %y = %pb) -> (tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
    %u = tt.load %x : tensor<32x32x!tt.ptr<f16>>
    %v = tt.load %y : tensor<32x32x!tt.ptr<f16>>
    %d = tt.dot %u, %v, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %x1 = tt.addptr %x, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %y1 = tt.addptr %y, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %d, %x1, %y1 : tensor<32x32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
  }
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %i : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %pc, %s#0 : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
