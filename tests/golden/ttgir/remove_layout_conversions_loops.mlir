// tritongpu-remove-layout-conversions: what a loop computes keeps its layout; what comes from outside is converted once,
// before the loop.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#wide = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#narrow = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#weights = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8]
  // CHECK-LABEL: @loop
  // CHECK: ttg.convert_layout
  // CHECK: scf.for
  // CHECK-NOT: ttg.convert_layout {{.*}}2048
  // CHECK: arith.mulf %{{.*}} : tensor<1x2048xf32, #[[WIDE]]>
  // CHECK-NOT: ttg.convert_layout {{.*}}2048
  // CHECK: tt.return
  tt.func @loop(%w: tensor<2048x!tt.ptr<f32>, #weights>, %p: tensor<1x2048x!tt.ptr<bf16>, #wide>, %out: tensor<1x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #narrow}>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %weights = tt.load %w : tensor<2048x!tt.ptr<f32>, #weights>
    %sliced = ttg.convert_layout %weights : tensor<2048xf32, #weights> -> tensor<2048xf32, #ttg.slice<{dim = 0, parent = #narrow}>>
    %row = tt.expand_dims %sliced {axis = 0 : i32} : tensor<2048xf32, #ttg.slice<{dim = 0, parent = #narrow}>> -> tensor<1x2048xf32, #narrow>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = tt.load %p : tensor<1x2048x!tt.ptr<bf16>, #wide>
      %vn = ttg.convert_layout %v : tensor<1x2048xbf16, #wide> -> tensor<1x2048xbf16, #narrow>
      %f = arith.extf %vn : tensor<1x2048xbf16, #narrow> to tensor<1x2048xf32, #narrow>
      %m = arith.mulf %f, %row : tensor<1x2048xf32, #narrow>
      %s = "tt.reduce"(%m) <{axis = 1 : i32}> ({
      ^bb0(%l: f32, %r: f32):
        %a = arith.addf %l, %r : f32
        tt.reduce.return %a : f32
      }) : (tensor<1x2048xf32, #narrow>) -> tensor<1xf32, #ttg.slice<{dim = 1, parent = #narrow}>>
      tt.store %out, %s : tensor<1x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #narrow}>>
    }
    tt.return
  }
}
