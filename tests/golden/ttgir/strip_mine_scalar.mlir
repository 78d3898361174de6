// strip-mine: a reduction to a scalar is carried as a strip, and reduced after the loop. What the scalar is used for
// comes after that. A row that is read again with its own sum stays whole.
// RUN: tessera opt %s -strip-mine --target sm_90a --remarks=StripMined 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t

// REMARK: a block of 16384 elements along one dimension is processed in 4 strips of 4096: 32 registers of a thread instead of 96 [strip-mine:StripMined]
// REMARK-NOT: StripMined

#many = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [16], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 16 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @loss_of_row
  // CHECK: [[NONE:%.*]] = arith.constant dense<-0.000000e+00> : tensor<4096xf32
  // CHECK: [[SUMS:%.*]] = scf.for {{.*}} iter_args([[SUM:%.*]] = [[NONE]]) -> (tensor<4096xf32
  // CHECK-COUNT-2: tt.load {{.*}} : tensor<4096x!tt.ptr<f32>
  // CHECK: [[PART:%.*]] = arith.mulf {{.*}} : tensor<4096xf32
  // CHECK: [[NEXT:%.*]] = arith.addf [[SUM]], [[PART]] : tensor<4096xf32
  // CHECK-NEXT: scf.yield [[NEXT]]
  // CHECK: [[ALL:%.*]] = "tt.reduce"([[SUMS]])
  // CHECK: [[MEAN:%.*]] = arith.mulf [[ALL]],
  // CHECK: tt.store {{.*}}, [[MEAN]]
  tt.func public @loss_of_row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>, %scale: f32) {
    %i = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #many>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %xp = tt.addptr %xs, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    %a = tt.load %xp : tensor<16384x!tt.ptr<f32>, #many>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %yp = tt.addptr %ys, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    %b = tt.load %yp : tensor<16384x!tt.ptr<f32>, #many>
    %l = math.log %b : tensor<16384xf32, #many>
    %d = arith.subf %l, %a : tensor<16384xf32, #many>
    %e = arith.mulf %d, %b : tensor<16384xf32, #many>
    %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tt.reduce.return %sum : f32
    }) : (tensor<16384xf32, #many>) -> f32
    %mean = arith.mulf %s, %scale : f32
    tt.store %o, %mean : !tt.ptr<f32>
    tt.return
  }
  // CHECK-LABEL: @normalised_row
  // CHECK-NOT: scf.for
  // CHECK: tt.store {{.*}} : tensor<16384x!tt.ptr<f32>
  tt.func public @normalised_row(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
    %i = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32, #many>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %xp = tt.addptr %xs, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    %a = tt.load %xp : tensor<16384x!tt.ptr<f32>, #many>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %yp = tt.addptr %ys, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    %b = tt.load %yp : tensor<16384x!tt.ptr<f32>, #many>
    %e = arith.mulf %a, %b : tensor<16384xf32, #many>
    %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
    ^bb0(%p: f32, %q: f32):
      %sum = arith.addf %p, %q : f32
      tt.reduce.return %sum : f32
    }) : (tensor<16384xf32, #many>) -> f32
    %ss = tt.splat %s : f32 -> tensor<16384xf32, #many>
    %n = arith.divf %e, %ss : tensor<16384xf32, #many>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>, #many>
    %op = tt.addptr %os, %i : tensor<16384x!tt.ptr<f32>, #many>, tensor<16384xi32, #many>
    tt.store %op, %n : tensor<16384x!tt.ptr<f32>, #many>
    tt.return
  }
}
