// A while loop carries a dot's accumulator in the layout of the dot, as a for loop does; also where its condition is
// computed from the carried value, and two accumulators that branches update and swap.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_80 | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[MMA:.*]] = #ttg.nvidia_mma
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @accumulates
  // CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (tensor<32x32xf32, #[[MMA]]>, i32) -> (tensor<32x32xf32, #[[MMA]]>, i32)
  // CHECK: ^bb0(%[[ACC:.*]]: tensor<32x32xf32, #[[MMA]]>
  // CHECK-NEXT: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[ACC]]
  // CHECK-NOT: convert_layout
  // CHECK: scf.yield %[[D]]
  tt.func public @accumulates(%x: tensor<32x32xf16, #a>, %y: tensor<32x32xf16, #b>, %p: tensor<32x32x!tt.ptr<f32>, #blocked>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:2 = scf.while (%s = %zero, %i = %c0) : (tensor<32x32xf32, #blocked>, i32) -> (tensor<32x32xf32, #blocked>, i32) {
      %c = arith.cmpi slt, %i, %n : i32
      scf.condition(%c) %s, %i : tensor<32x32xf32, #blocked>, i32
    } do {
    ^bb0(%s: tensor<32x32xf32, #blocked>, %i: i32):
      %m = ttg.convert_layout %s : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #mma>
      %d = tt.dot %x, %y, %m : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %t = ttg.convert_layout %d : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
      %j = arith.addi %i, %c1 : i32
      scf.yield %t, %j : tensor<32x32xf32, #blocked>, i32
    }
    tt.store %p, %r#0 : tensor<32x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @compares
  // CHECK: scf.while (%[[S:.*]] = {{.*}}) : (tensor<32x32xf32, #[[MMA]]>) -> tensor<32x32xf32, #[[MMA]]>
  // CHECK-NOT: convert_layout
  // CHECK: "tt.reduce"(%[[S]])
  // CHECK: scf.condition({{.*}}) %[[S]]
  // CHECK: ^bb0(%[[ACC:.*]]: tensor
  // CHECK-NEXT: %[[D:.*]] = tt.dot %{{.*}}, %{{.*}}, %[[ACC]]
  // CHECK-NEXT: scf.yield %[[D]]
  tt.func public @compares(%x: tensor<32x32xf16, #a>, %y: tensor<32x32xf16, #b>, %p: tensor<32x32x!tt.ptr<f32>, #blocked>, %n: f32) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %r = scf.while (%s = %zero) : (tensor<32x32xf32, #blocked>) -> tensor<32x32xf32, #blocked> {
      %rows = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %q = arith.maxnumf %a, %b : f32
        tt.reduce.return %q : f32
      }) : (tensor<32x32xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>
      %most = "tt.reduce"(%rows) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %q = arith.maxnumf %a, %b : f32
        tt.reduce.return %q : f32
      }) : (tensor<32xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) -> f32
      %c = arith.cmpf olt, %most, %n : f32
      scf.condition(%c) %s : tensor<32x32xf32, #blocked>
    } do {
    ^bb0(%s: tensor<32x32xf32, #blocked>):
      %m = ttg.convert_layout %s : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #mma>
      %d = tt.dot %x, %y, %m : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
      %t = ttg.convert_layout %d : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
      scf.yield %t : tensor<32x32xf32, #blocked>
    }
    tt.store %p, %r : tensor<32x32x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @in_turn
  // CHECK: scf.while {{.*}} : (tensor<32x32xf32, #[[MMA]]>, tensor<32x32xf32, #[[MMA]]>, i32) -> (tensor<32x32xf32, #[[MMA]]>, tensor<32x32xf32, #[[MMA]]>, i32)
  // CHECK: scf.if {{.*}} -> (tensor<32x32xf32, #[[MMA]]>, tensor<32x32xf32, #[[MMA]]>)
  // CHECK-NOT: convert_layout
  // CHECK: tt.return
  tt.func public @in_turn(%x: tensor<32x32xf16, #a>, %y: tensor<32x32xf16, #b>, %p: tensor<32x32x!tt.ptr<f32>, #mma>, %flags: !tt.ptr<i1>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r:3 = scf.while (%s = %zero, %u = %zero, %i = %c0) : (tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>, i32) -> (tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>, i32) {
      %c = arith.cmpi slt, %i, %n : i32
      scf.condition(%c) %s, %u, %i : tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>, i32
    } do {
    ^bb0(%s: tensor<32x32xf32, #blocked>, %u: tensor<32x32xf32, #blocked>, %i: i32):
      %f = tt.load %flags {isVolatile = true} : !tt.ptr<i1>
      %v:2 = scf.if %f -> (tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>) {
        %m = ttg.convert_layout %s : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #mma>
        %d = tt.dot %x, %y, %m : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #mma>
        %t = ttg.convert_layout %d : tensor<32x32xf32, #mma> -> tensor<32x32xf32, #blocked>
        scf.yield %t, %u : tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>
      } else {
        scf.yield %u, %s : tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>
      }
      %j = arith.addi %i, %c1 : i32
      scf.yield %v#0, %v#1, %j : tensor<32x32xf32, #blocked>, tensor<32x32xf32, #blocked>, i32
    }
    %sum = arith.addf %r#0, %r#1 : tensor<32x32xf32, #blocked>
    %out = ttg.convert_layout %sum : tensor<32x32xf32, #blocked> -> tensor<32x32xf32, #mma>
    tt.store %p, %out : tensor<32x32x!tt.ptr<f32>, #mma>
    tt.return
  }
}
