// tritongpu-remove-layout-conversions: a gather takes its source as it is, since that goes through shared memory, and
// gives its result in the layout of its indices.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[SOURCE:.*]] = #ttg.blocked<{sizePerThread = [4]
  // CHECK-DAG: #[[INDICES:.*]] = #ttg.blocked<{sizePerThread = [2]
  // CHECK-LABEL: @gather
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.gather {{.*}} : (tensor<1024xf32, #[[SOURCE]]>, tensor<1024xi32, #[[INDICES]]>) -> tensor<1024xf32, #[[INDICES]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @gather(%p: tensor<1024x!tt.ptr<f32>, #b>, %q: tensor<1024x!tt.ptr<i32>, #c>, %r: tensor<1024x!tt.ptr<f32>, #c>) {
    %x = tt.load %p : tensor<1024x!tt.ptr<f32>, #b>
    %i = tt.load %q : tensor<1024x!tt.ptr<i32>, #c>
    %y = ttg.convert_layout %x : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    %j = ttg.convert_layout %i : tensor<1024xi32, #c> -> tensor<1024xi32, #a>
    %g = tt.gather %y[%j] {axis = 0 : i32} : (tensor<1024xf32, #a>, tensor<1024xi32, #a>) -> tensor<1024xf32, #a>
    %z = ttg.convert_layout %g : tensor<1024xf32, #a> -> tensor<1024xf32, #c>
    tt.store %r, %z : tensor<1024x!tt.ptr<f32>, #c>
    tt.return
  }

  // The value that is gathered from gives the indices, too: as a source it stays, and the result has the layout that
  // the indices get.
  // CHECK-LABEL: @of_itself
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.gather {{.*}} : (tensor<1024xi32, #[[SOURCE]]>, tensor<1024xi32, #[[SOURCE]]>) -> tensor<1024xi32, #[[SOURCE]]>
  // CHECK: tt.return
  tt.func public @of_itself(%p: tensor<1024x!tt.ptr<i32>, #b>) {
    %x = tt.load %p : tensor<1024x!tt.ptr<i32>, #b>
    %y = ttg.convert_layout %x : tensor<1024xi32, #b> -> tensor<1024xi32, #a>
    %g = tt.gather %y[%y] {axis = 0 : i32} : (tensor<1024xi32, #a>, tensor<1024xi32, #a>) -> tensor<1024xi32, #a>
    %z = ttg.convert_layout %g : tensor<1024xi32, #a> -> tensor<1024xi32, #b>
    tt.store %p, %z : tensor<1024x!tt.ptr<i32>, #b>
    tt.return
  }
}
