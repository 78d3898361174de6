// A vector that lies in the threads as the rows do that it meets (eight columns a thread, all threads along the row)
// needs no conversion but in name. So the rows stay in the layout in which they are loaded, and their sum, one number,
// is converted.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions | FileCheck %s
// CHECK-DAG: #[[ROW:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], {{.*}}}>
// CHECK-LABEL: @weighted_sum
// CHECK: scf.for
// CHECK: %[[X:.*]] = tt.load {{.*}} : tensor<1x1024x!tt.ptr<f32>, #[[ROW]]>
// CHECK: %[[W:.*]] = tt.load {{.*}} : tensor<1024x!tt.ptr<f32>,
// CHECK: ttg.convert_layout %[[W]] : {{.*}} -> tensor<1024xf32, #ttg.slice<{dim = 0, parent = #[[ROW]]}>>
// CHECK-NOT: ttg.convert_layout {{.*}}1024
// CHECK: arith.mulf {{.*}} : tensor<1x1024xf32, #[[ROW]]>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#vector = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#columns = #ttg.slice<{dim = 0, parent = #default}>
#sum = #ttg.slice<{dim = 1, parent = #default}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @weighted_sum(%x: tensor<1x1024x!tt.ptr<f32>, #row>, %w: tensor<1024x!tt.ptr<f32>, #vector>, %o: tensor<1x!tt.ptr<f32>, #sum>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<1xf32, #sum>
    %total = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<1xf32, #sum>) : i32 {
      %rows = tt.load %x : tensor<1x1024x!tt.ptr<f32>, #row>
      %weights = tt.load %w : tensor<1024x!tt.ptr<f32>, #vector>
      %a = ttg.convert_layout %rows : tensor<1x1024xf32, #row> -> tensor<1x1024xf32, #default>
      %b = ttg.convert_layout %weights : tensor<1024xf32, #vector> -> tensor<1024xf32, #columns>
      %c = tt.expand_dims %b {axis = 0 : i32} : tensor<1024xf32, #columns> -> tensor<1x1024xf32, #default>
      %products = arith.mulf %a, %c : tensor<1x1024xf32, #default>
      %part = "tt.reduce"(%products) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %v: f32):
        %add = arith.addf %u, %v : f32
        tt.reduce.return %add : f32
      }) : (tensor<1x1024xf32, #default>) -> tensor<1xf32, #sum>
      %next = arith.addf %s, %part : tensor<1xf32, #sum>
      scf.yield %next : tensor<1xf32, #sum>
    }
    tt.store %o, %total : tensor<1x!tt.ptr<f32>, #sum>
    tt.return
  }
}
