// Indices that depend on the wave only are scalar: which rows a wave stores is a scalar branch, and the bound of the
// columns, shared by all of its stores, is one vector comparison with one branch.
// RUN: tessera compile %s --target gfx942 --emit amdgcn | FileCheck %s

#rows = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: {{^}}rows:
  // CHECK: v_readfirstlane_b32
  // CHECK-COUNT-1: v_cmp_
  // CHECK: s_and_saveexec_b64
  // CHECK-NOT: v_cmp_
  // CHECK-NOT: saveexec
  // CHECK: s_cbranch_scc
  // CHECK: global_store_dword
  // CHECK-NOT: v_cmp_
  // CHECK-NOT: saveexec
  // CHECK: s_cbranch_scc
  // CHECK: global_store_dword
  // CHECK: s_endpgm
  tt.func public @rows(%p: !tt.ptr<i32>, %stride: i32, %m: i32, %n: i32) {
    %row = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>>
    %column = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<8x1xi32, #rows>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xi32, #rows>
    %m1 = tt.splat %m : i32 -> tensor<8x1xi32, #rows>
    %n1 = tt.splat %n : i32 -> tensor<1x64xi32, #rows>
    %row_ok = arith.cmpi slt, %rows, %m1 : tensor<8x1xi32, #rows>
    %column_ok = arith.cmpi slt, %columns, %n1 : tensor<1x64xi32, #rows>
    %row_mask = tt.broadcast %row_ok : tensor<8x1xi1, #rows> -> tensor<8x64xi1, #rows>
    %column_mask = tt.broadcast %column_ok : tensor<1x64xi1, #rows> -> tensor<8x64xi1, #rows>
    %mask = arith.andi %row_mask, %column_mask : tensor<8x64xi1, #rows>
    %stride1 = tt.splat %stride : i32 -> tensor<8x1xi32, #rows>
    %offset = arith.muli %rows, %stride1 : tensor<8x1xi32, #rows>
    %row_offsets = tt.broadcast %offset : tensor<8x1xi32, #rows> -> tensor<8x64xi32, #rows>
    %column_offsets = tt.broadcast %columns : tensor<1x64xi32, #rows> -> tensor<8x64xi32, #rows>
    %p1 = tt.splat %p : !tt.ptr<i32> -> tensor<8x64x!tt.ptr<i32>, #rows>
    %p2 = tt.addptr %p1, %row_offsets : tensor<8x64x!tt.ptr<i32>, #rows>, tensor<8x64xi32, #rows>
    %p3 = tt.addptr %p2, %column_offsets : tensor<8x64x!tt.ptr<i32>, #rows>, tensor<8x64xi32, #rows>
    tt.store %p3, %column_offsets, %mask : tensor<8x64x!tt.ptr<i32>, #rows>
    tt.return
  }
}
