// tritongpu-remove-layout-conversions: what is computed from ranges alone follows what is loaded, also through reshapes
// and reductions: sorting numbers together with their positions takes no conversion of a mask in every step.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#loaded = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>
#default = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#spread = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: #[[LOADED:.*]] = #ttg.blocked<{sizePerThread = [2, 2]
  // CHECK-LABEL: @three_steps
  // CHECK-NOT: ttg.convert_layout {{.*}}xi1
  // CHECK: arith.select {{.*}} : tensor<64x2xi1, #[[LOADED]]>, tensor<64x2xi32, #[[LOADED]]>
  // CHECK-NOT: ttg.convert_layout {{.*}}xi1
  // CHECK: tt.return
  tt.func @three_steps(%p: tensor<128x!tt.ptr<f32>, #loaded>, %q: tensor<64x2x!tt.ptr<i32>, #spread>) {
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #default>
    %ids = tt.reshape %range : tensor<128xi32, #default> -> tensor<64x2xi32, #spread>
    %v = tt.load %p : tensor<128x!tt.ptr<f32>, #loaded>
    %x = tt.reshape %v : tensor<128xf32, #loaded> -> tensor<64x2xf32, #pairs>
    %bits = tt.bitcast %x : tensor<64x2xf32, #pairs> -> tensor<64x2xi32, #pairs>
    %both = "tt.reduce"(%bits) <{axis = 1 : i32}> ({
    ^bb0(%l: i32, %r: i32):
      %c = arith.xori %l, %r : i32
      tt.reduce.return %c : i32
    }) : (tensor<64x2xi32, #pairs>) -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #pairs}>>
    %column = tt.expand_dims %both {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #pairs}>> -> tensor<64x1xi32, #pairs>
    %wide = tt.broadcast %column : tensor<64x1xi32, #pairs> -> tensor<64x2xi32, #pairs>
    %other = arith.xori %bits, %wide : tensor<64x2xi32, #pairs>
    %less = arith.cmpi slt, %bits, %other : tensor<64x2xi32, #pairs>
    %bothIds = "tt.reduce"(%ids) <{axis = 1 : i32}> ({
    ^bb0(%l: i32, %r: i32):
      %c = arith.xori %l, %r : i32
      tt.reduce.return %c : i32
    }) : (tensor<64x2xi32, #spread>) -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #spread}>>
    %columnIds = tt.expand_dims %bothIds {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #spread}>> -> tensor<64x1xi32, #spread>
    %wideIds = tt.broadcast %columnIds : tensor<64x1xi32, #spread> -> tensor<64x2xi32, #spread>
    %otherIds = arith.xori %ids, %wideIds : tensor<64x2xi32, #spread>
    %mask = ttg.convert_layout %less : tensor<64x2xi1, #pairs> -> tensor<64x2xi1, #spread>
    %bits1 = arith.select %less, %bits, %other : tensor<64x2xi1, #pairs>, tensor<64x2xi32, #pairs>
    %ids1 = arith.select %mask, %ids, %otherIds : tensor<64x2xi1, #spread>, tensor<64x2xi32, #spread>
    %less1 = arith.cmpi slt, %bits1, %bits : tensor<64x2xi32, #pairs>
    %mask1 = ttg.convert_layout %less1 : tensor<64x2xi1, #pairs> -> tensor<64x2xi1, #spread>
    %bits2 = arith.select %less1, %bits1, %bits : tensor<64x2xi1, #pairs>, tensor<64x2xi32, #pairs>
    %ids2 = arith.select %mask1, %ids1, %ids : tensor<64x2xi1, #spread>, tensor<64x2xi32, #spread>
    %less2 = arith.cmpi slt, %bits2, %other : tensor<64x2xi32, #pairs>
    %mask2 = ttg.convert_layout %less2 : tensor<64x2xi1, #pairs> -> tensor<64x2xi1, #spread>
    %ids3 = arith.select %mask2, %ids2, %ids1 : tensor<64x2xi1, #spread>, tensor<64x2xi32, #spread>
    tt.store %q, %ids3 : tensor<64x2x!tt.ptr<i32>, #spread>
    tt.return
  }
}
