// Loops that load and write nothing are unrolled: whole if their count is a constant, else by four, with the iterations
// that are left over behind branches. A loop that stores stays as it is.
// RUN: tessera compile %s --kernel whole --target gfx1100 --num-warps 1 --emit llir | FileCheck %s --check-prefix=WHOLE
// RUN: tessera compile %s --kernel counted --target gfx942 --num-warps 1 --emit llir | FileCheck %s --check-prefix=COUNTED
// RUN: tessera compile %s --kernel stores --target gfx942 --num-warps 1 --emit llir | FileCheck %s --check-prefix=STORES
// WHOLE-LABEL: @whole(
// WHOLE-COUNT-18: call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16
// WHOLE-NOT: @llvm.amdgcn.raw.ptr.buffer.load
// WHOLE: ret void
tt.func public @whole(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %rows: !tt.ptr<i32>,
                      %weights: !tt.ptr<f32>, %o: !tt.ptr<f32>, %from: i32, %n: i32) {
  %c1 = arith.constant 1 : i32
  %c18 = arith.constant 18 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<32xf32>
  %none = arith.constant dense<0.000000e+00> : tensor<32xf16>
  %to = arith.addi %from, %c18 : i32
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %ns = tt.splat %n : i32 -> tensor<32xi32>
  %mask = arith.cmpi slt, %i, %ns : tensor<32xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<32x!tt.ptr<f16>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %sum = scf.for %k = %from to %to step %c1 iter_args(%acc = %zero) -> (tensor<32xf32>) : i32 {
    %r = tt.addptr %rows, %k : !tt.ptr<i32>, i32
    %row = tt.load %r : !tt.ptr<i32>
    %w = tt.addptr %weights, %k : !tt.ptr<f32>, i32
    %weight = tt.load %w : !tt.ptr<f32>
    %begin = arith.muli %row, %n : i32
    %begins = tt.splat %begin : i32 -> tensor<32xi32>
    %at = arith.addi %begins, %i : tensor<32xi32>
    %q = tt.addptr %ps, %at : tensor<32x!tt.ptr<f16>>, tensor<32xi32>
    %h = tt.load %q, %mask, %none : tensor<32x!tt.ptr<f16>>
    %v = arith.extf %h : tensor<32xf16> to tensor<32xf32>
    %ws = tt.splat %weight : f32 -> tensor<32xf32>
    %m = arith.mulf %v, %ws : tensor<32xf32>
    %next = arith.addf %acc, %m : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  %d = tt.addptr %os, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %d, %sum : tensor<32x!tt.ptr<f32>>
  tt.return
}
// Four in the loop, three left over.
// COUNTED-LABEL: @counted(
// COUNTED-COUNT-7: load float, ptr addrspace(1)
// COUNTED-NOT: load float
// COUNTED: ret void
tt.func public @counted(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64xf32>
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64xf32>) : i32 {
    %wide = arith.extsi %k : i32 to i64
    %at = arith.muli %wide, %stride : i64
    %row = tt.addptr %p, %at : !tt.ptr<f32>, i64
    %ps = tt.splat %row : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    %next = arith.addf %acc, %v : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %d = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  tt.store %d, %sum : tensor<64x!tt.ptr<f32>>
  tt.return
}
// STORES-LABEL: @stores(
// STORES: load float, ptr addrspace(1)
// STORES-NOT: load float
// STORES: ret void
tt.func public @stores(%p: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32, %stride: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %wide = arith.extsi %k : i32 to i64
    %at = arith.muli %wide, %stride : i64
    %row = tt.addptr %p, %at : !tt.ptr<f32>, i64
    %to = tt.addptr %o, %at : !tt.ptr<f32>, i64
    %ps = tt.splat %row : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %ps, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %os = tt.splat %to : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %d = tt.addptr %os, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %q : tensor<64x!tt.ptr<f32>>
    tt.store %d, %v : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}
