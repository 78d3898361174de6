// Loops that add up sums of rows with what they load for each row: loads and loop-carried values take the layout of the
// sums, and nothing is converted in the loop. With dots in the loop, or if the loaded value has another user, all stays.
// Random numbers, or any other long computation, are computed where the elements are that they select.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target gfx942 --verify-each | FileCheck %s
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #wide}>
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @scaled
  // CHECK: scf.for {{.*}} -> (tensor<16xf32, #[[ROWS:ttg.slice.*parent = #[a-z0-9]+}>]]>)
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.load {{.*}} : tensor<16x!tt.ptr<f16>, #[[ROWS]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.yield
  tt.func @scaled(%p: tensor<16x64x!tt.ptr<f32>, #wide>, %s: !tt.ptr<f16>, %o: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.000000e+00> : tensor<16xf32, #blocked>
    %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #blocked>
    %ss = tt.splat %s : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>, #blocked>
    %acc = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zeros) -> (tensor<16xf32, #blocked>) : i32 {
      %x = tt.load %p : tensor<16x64x!tt.ptr<f32>, #wide>
      %sum = "tt.reduce"(%x) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        tt.reduce.return %t : f32
      }) : (tensor<16x64xf32, #wide>) -> tensor<16xf32, #rows>
      %d = ttg.convert_layout %sum : tensor<16xf32, #rows> -> tensor<16xf32, #blocked>
      %ks = tt.splat %k : i32 -> tensor<16xi32, #blocked>
      %at = arith.addi %i, %ks : tensor<16xi32, #blocked>
      %sp = tt.addptr %ss, %at : tensor<16x!tt.ptr<f16>, #blocked>, tensor<16xi32, #blocked>
      %h = tt.load %sp : tensor<16x!tt.ptr<f16>, #blocked>
      %scale = arith.extf %h : tensor<16xf16, #blocked> to tensor<16xf32, #blocked>
      %gate = math.exp %scale : tensor<16xf32, #blocked>
      %old = arith.mulf %a, %gate : tensor<16xf32, #blocked>
      %new = arith.addf %d, %old : tensor<16xf32, #blocked>
      scf.yield %new : tensor<16xf32, #blocked>
    }
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #blocked>
    %op = tt.addptr %os, %i : tensor<16x!tt.ptr<f32>, #blocked>, tensor<16xi32, #blocked>
    tt.store %op, %acc : tensor<16x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @masked
  // CHECK: %[[X:.*]] = tt.load {{.*}} #[[FOUR:[a-z0-9]+]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: arith.select {{.*}}, %[[X]], {{.*}} #[[FOUR]]>
  // CHECK: tt.return
  tt.func @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %seed: i32) {
    %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #blocked>
    %j = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #four>
    %zeros = arith.constant dense<0.000000e+00> : tensor<1024xf32, #blocked>
    %half = arith.constant dense<1073741824> : tensor<1024xi32, #blocked>
    %s = tt.splat %seed : i32 -> tensor<1024xi32, #blocked>
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #four>
    %pp = tt.addptr %ps, %j : tensor<1024x!tt.ptr<f32>, #four>, tensor<1024xi32, #four>
    %x = tt.load %pp : tensor<1024x!tt.ptr<f32>, #four>
    %c = ttg.convert_layout %x : tensor<1024xf32, #four> -> tensor<1024xf32, #blocked>
    %r0 = tt.mulhiui %i, %s : tensor<1024xi32, #blocked>
    %r1 = arith.divui %r0, %s : tensor<1024xi32, #blocked>
    %r2 = arith.divui %i, %r1 : tensor<1024xi32, #blocked>
    %r3 = arith.divui %r2, %s : tensor<1024xi32, #blocked>
    %r4 = arith.xori %r3, %r1 : tensor<1024xi32, #blocked>
    %keep = arith.cmpi ult, %r4, %half : tensor<1024xi32, #blocked>
    %y = arith.select %keep, %c, %zeros : tensor<1024xi1, #blocked>, tensor<1024xf32, #blocked>
    %sum = "tt.reduce"(%y) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      tt.reduce.return %t : f32
    }) : (tensor<1024xf32, #blocked>) -> f32
    %total = tt.splat %sum : f32 -> tensor<1024xf32, #blocked>
    %z = arith.divf %y, %total : tensor<1024xf32, #blocked>
    %zc = ttg.convert_layout %z : tensor<1024xf32, #blocked> -> tensor<1024xf32, #four>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #four>
    %op = tt.addptr %os, %j : tensor<1024x!tt.ptr<f32>, #four>, tensor<1024xi32, #four>
    tt.store %op, %zc : tensor<1024x!tt.ptr<f32>, #four>
    tt.return
  }
}
