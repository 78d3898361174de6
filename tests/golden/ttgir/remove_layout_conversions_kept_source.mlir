// remove-layout-conversions: masks of two stores are computed from one row of flags. For each of them, the cheapest slice that takes
// everything along would load the row again; the one that converts the row of 64 flags, and computes the mask from it in
// the layout of the store, costs less than converting the mask of 64 x 64.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_90a | FileCheck %s

// CHECK-LABEL: @rows
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<64x64xi1
// CHECK: tt.store {{.*}} : tensor<64x64x!tt.ptr<bf16>
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<64x64xi1
// CHECK: tt.store {{.*}} : tensor<64x64x!tt.ptr<bf16>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#old = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#store = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%ids: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %valid: i64, %first: i32, %v: tensor<64x64xbf16, #store>, %p: tensor<64x64x!tt.ptr<bf16>, #store>, %p2: tensor<64x64x!tt.ptr<bf16>, #store>, %some: i1) {
    %limit = arith.constant dense<7168> : tensor<1x64xi32, #old>
    %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #line>
    %base = tt.splat %ids : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #line>
    %at = tt.addptr %base, %range : tensor<64x!tt.ptr<i32>, #line>, tensor<64xi32, #line>
    %id = tt.load %at : tensor<64x!tt.ptr<i32>, #line>
    %wide = arith.extsi %id : tensor<64xi32, #line> to tensor<64xi64, #line>
    %valids = tt.splat %valid : i64 -> tensor<64xi64, #line>
    %is_valid = arith.cmpi slt, %wide, %valids : tensor<64xi64, #line>
    %sliced = ttg.convert_layout %is_valid : tensor<64xi1, #line> -> tensor<64xi1, #ttg.slice<{dim = 1, parent = #old}>>
    cf.cond_br %some, ^bb1, ^bb2
  ^bb1:
    %column = tt.expand_dims %sliced {axis = 1 : i32} : tensor<64xi1, #ttg.slice<{dim = 1, parent = #old}>> -> tensor<64x1xi1, #old>
    %rows = tt.broadcast %column : tensor<64x1xi1, #old> -> tensor<64x64xi1, #old>
    %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>>
    %firsts = tt.splat %first : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>>
    %cs = arith.addi %c, %firsts : tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>>
    %row = tt.expand_dims %cs {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>> -> tensor<1x64xi32, #old>
    %in = arith.cmpi slt, %row, %limit : tensor<1x64xi32, #old>
    %ins = tt.broadcast %in : tensor<1x64xi1, #old> -> tensor<64x64xi1, #old>
    %mask = arith.andi %rows, %ins : tensor<64x64xi1, #old>
    %mask_of_store = ttg.convert_layout %mask : tensor<64x64xi1, #old> -> tensor<64x64xi1, #store>
    tt.store %p, %v, %mask_of_store : tensor<64x64x!tt.ptr<bf16>, #store>
    tt.return
  ^bb2:
    %column2 = tt.expand_dims %sliced {axis = 1 : i32} : tensor<64xi1, #ttg.slice<{dim = 1, parent = #old}>> -> tensor<64x1xi1, #old>
    %rows2 = tt.broadcast %column2 : tensor<64x1xi1, #old> -> tensor<64x64xi1, #old>
    %c2 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>>
    %firsts2 = tt.splat %first : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>>
    %cs2 = arith.addi %c2, %firsts2 : tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>>
    %row2 = tt.expand_dims %cs2 {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #old}>> -> tensor<1x64xi32, #old>
    %in2 = arith.cmpi slt, %row2, %limit : tensor<1x64xi32, #old>
    %ins2 = tt.broadcast %in2 : tensor<1x64xi1, #old> -> tensor<64x64xi1, #old>
    %mask2 = arith.andi %rows2, %ins2 : tensor<64x64xi1, #old>
    %mask2_of_store = ttg.convert_layout %mask2 : tensor<64x64xi1, #old> -> tensor<64x64xi1, #store>
    tt.store %p2, %v, %mask2_of_store : tensor<64x64x!tt.ptr<bf16>, #store>
    tt.return
  }
}
