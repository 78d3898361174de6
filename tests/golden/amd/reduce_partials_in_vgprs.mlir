// The warps' partial results of a reduction are combined in VGPRs although they are uniform: on the scalar unit each
// would take a v_readfirstlane, and a comparison several instructions. Where a branch depends on the result it stays
// uniform.
// RUN: tessera compile %s --kernel argmax --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=VECTOR
// RUN: tessera compile %s --kernel argmax --target gfx1100 --emit amdgcn | FileCheck %s --check-prefix=VECTOR
// RUN: tessera compile %s --kernel argmax --target gfx1201 --emit amdgcn | FileCheck %s --check-prefix=VECTOR
// RUN: tessera compile %s --kernel bound --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=SCALAR
// RUN: tessera compile %s --kernel bound --target gfx1201 --emit amdgcn | FileCheck %s --check-prefix=SCALAR

// VECTOR-LABEL: {{^}}argmax:
// VECTOR: s_barrier
// VECTOR: ds_{{read|load}}_b128
// VECTOR-NOT: v_readfirstlane
// VECTOR: s_endpgm
tt.func public @argmax(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %i: !tt.ptr<i32>) {
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %pp : tensor<1024x!tt.ptr<f32>>
  %m:2 = "tt.reduce"(%x, %r) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %eq = arith.cmpf oeq, %a, %b : f32
    %lt = arith.cmpi slt, %ai, %bi : i32
    %tie = arith.andi %eq, %lt : i1
    %gt = arith.cmpf ogt, %a, %b : f32
    %first = arith.ori %gt, %tie : i1
    %v = arith.select %first, %a, %b : f32
    %vi = arith.select %first, %ai, %bi : i32
    tt.reduce.return %v, %vi : f32, i32
  }) : (tensor<1024xf32>, tensor<1024xi32>) -> (f32, i32)
  tt.store %q, %m#0 : !tt.ptr<f32>
  tt.store %i, %m#1 : !tt.ptr<i32>
  tt.return
}

// SCALAR-LABEL: {{^}}bound:
// SCALAR: s_barrier
// SCALAR: ds_{{read|load}}_b128
// SCALAR-NOT: exec
// SCALAR: s_cbranch_
// SCALAR-NOT: exec
// SCALAR: s_endpgm
tt.func public @bound(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  %x = tt.load %pp : tensor<1024x!tt.ptr<i32>>
  %n = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %m = arith.maxsi %a, %b : i32
    tt.reduce.return %m : i32
  }) : (tensor<1024xi32>) -> i32
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
  %qp = tt.addptr %qs, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %s = tt.splat %k : i32 -> tensor<1024xi32>
    %y = tt.load %qp : tensor<1024x!tt.ptr<i32>>
    %z = arith.muli %y, %y : tensor<1024xi32>
    %w = arith.xori %z, %s : tensor<1024xi32>
    tt.store %qp, %w : tensor<1024x!tt.ptr<i32>>
  }
  tt.return
}
