// run-loads-ahead: loads of sequential loops are issued iterations ahead: the loop is unrolled, and a second loop runs
// the remaining iterations.
// RUN: tessera opt %s -run-loads-ahead -canonicalize | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Four loads before the loop, each under the condition that there is its iteration; four bodies, each followed by the load
  // for the one four later; the loop as it was.
  // CHECK-LABEL: @recurrence
  // CHECK-COUNT-4: tt.load {{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>
  // CHECK: %[[MAIN:.*]]:{{[0-9]+}} = scf.for %{{.*}} = %{{.*}} to %[[MID:.*]] step %{{.*}} iter_args
  // CHECK: "tt.reduce"
  // CHECK: tt.store
  // CHECK: tt.load {{.*}}, %{{.*}} : tensor<128x!tt.ptr<f32>
  // CHECK: "tt.reduce"
  // CHECK: tt.load
  // CHECK: "tt.reduce"
  // CHECK: tt.load
  // CHECK: "tt.reduce"
  // CHECK: tt.load
  // CHECK: scf.yield
  // CHECK: scf.for %{{.*}} = %[[MID]] to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[MAIN]]#0, %{{.*}} = %[[MAIN]]#1
  // CHECK: tt.load %{{[^,]*}} : tensor<128x!tt.ptr<f32>
  // CHECK: "tt.reduce"
  // CHECK: tt.return
  tt.func public @recurrence(%p: tensor<128x!tt.ptr<f32>, #row>, %q: !tt.ptr<f32>, %n: i32, %s: i32) {
    %c0 = arith.constant 0 : i32
    %step = arith.constant dense<128> : tensor<128xi32, #row>
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32, #row>
    %r:2 = scf.for %i = %c0 to %n step %s iter_args(%at = %p, %h = %zero) -> (tensor<128x!tt.ptr<f32>, #row>, tensor<128xf32, #row>) : i32 {
      %x = tt.load %at : tensor<128x!tt.ptr<f32>, #row>
      %h1 = arith.addf %h, %x : tensor<128xf32, #row>
      %o = "tt.reduce"(%h1) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %m = arith.maxnumf %a, %b : f32
        tt.reduce.return %m : f32
      }) : (tensor<128xf32, #row>) -> f32
      %to = tt.addptr %q, %i : !tt.ptr<f32>, i32
      tt.store %to, %o : !tt.ptr<f32>
      %next = tt.addptr %at, %step : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
      scf.yield %next, %h1 : tensor<128x!tt.ptr<f32>, #row>, tensor<128xf32, #row>
    }
    tt.return
  }

  // An index that is loaded runs ahead; what is loaded with it does not.
  // CHECK-LABEL: @indirect
  // CHECK-COUNT-4: tt.load {{.*}} : !tt.ptr<i32>
  // CHECK: scf.for
  // CHECK: tt.load {{.*}} : tensor<128x!tt.ptr<f32>
  // CHECK: tt.return
  tt.func public @indirect(%index: !tt.ptr<i32>, %p: tensor<128x!tt.ptr<f32>, #row>, %q: tensor<128x!tt.ptr<f32>, #row>, %n: i64) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %zero) -> (tensor<128xf32, #row>) : i64 {
      %at = tt.addptr %index, %i : !tt.ptr<i32>, i64
      %k = tt.load %at : !tt.ptr<i32>
      %ks = tt.splat %k : i32 -> tensor<128xi32, #row>
      %from = tt.addptr %p, %ks : tensor<128x!tt.ptr<f32>, #row>, tensor<128xi32, #row>
      %x = tt.load %from : tensor<128x!tt.ptr<f32>, #row>
      %h1 = arith.addf %h, %x : tensor<128xf32, #row>
      tt.store %q, %h1 : tensor<128x!tt.ptr<f32>, #row>
      scf.yield %h1 : tensor<128xf32, #row>
    }
    tt.return
  }

  // A load of what the loop stores stays after the store; a loop in which no thread waits for another, and which stores
  // nothing, is the assembler's to unroll; where iterations hand nothing on, other warps hide the latency, and that of large loads.
  // CHECK-LABEL: @left_alone
  // CHECK-NOT: tt.load {{.*}}, %
  // CHECK-COUNT-4: scf.for
  // CHECK-NOT: scf.for
  // CHECK: tt.return
  tt.func public @left_alone(%p: tensor<128x!tt.ptr<f32>, #row>, %big: tensor<8192x!tt.ptr<f32>, #wide>, %q: tensor<8192x!tt.ptr<f32>, #wide>, %o: tensor<128x!tt.ptr<f32>, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32, #row>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>, #row>
      %y = arith.addf %x, %x : tensor<128xf32, #row>
      tt.store %p, %y : tensor<128x!tt.ptr<f32>, #row>
    }
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %zero) -> (tensor<128xf32, #row>) : i32 {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>, #row>
      %y = arith.addf %x, %h : tensor<128xf32, #row>
      scf.yield %y : tensor<128xf32, #row>
    }
    tt.store %p, %r : tensor<128x!tt.ptr<f32>, #row>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %p : tensor<128x!tt.ptr<f32>, #row>
      tt.store %o, %x : tensor<128x!tt.ptr<f32>, #row>
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = tt.load %big : tensor<8192x!tt.ptr<f32>, #wide>
      tt.store %q, %x : tensor<8192x!tt.ptr<f32>, #wide>
    }
    tt.return
  }

  // A volatile load may find that another block has written; loads after it stay after it.
  // CHECK-LABEL: @volatile
  // CHECK-NOT: tt.load
  // CHECK: scf.for
  // CHECK-NEXT: tt.load %{{.*}} {isVolatile = true}
  // CHECK-NEXT: tt.load
  // CHECK-NOT: scf.for
  // CHECK: tt.return
  tt.func public @volatile(%flag: !tt.ptr<i32>, %p: tensor<128x!tt.ptr<f32>, #row>, %q: tensor<128x!tt.ptr<i32>, #row>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128xf32, #row>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%h = %zero) -> (tensor<128xf32, #row>) : i32 {
      %f = tt.load %flag {isVolatile = true} : !tt.ptr<i32>
      %x = tt.load %p : tensor<128x!tt.ptr<f32>, #row>
      %fs = tt.splat %f : i32 -> tensor<128xi32, #row>
      tt.store %q, %fs : tensor<128x!tt.ptr<i32>, #row>
      %y = arith.addf %x, %h : tensor<128xf32, #row>
      scf.yield %y : tensor<128xf32, #row>
    }
    tt.store %p, %r : tensor<128x!tt.ptr<f32>, #row>
    tt.return
  }
}
