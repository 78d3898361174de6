// tritongpu-remove-layout-conversions: a tensor that is reshaped in any order keeps its layout where another one is
// reduced together with it, since the order is that of registers.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions | FileCheck %s
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#wide = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#vector = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // Reduced with places that stay where they are: the order is that of the layouts that are given.
  // CHECK-LABEL: @any_order_of_two
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @any_order_of_two(%m: tensor<256x64x!tt.ptr<i32>, #vector>, %i: tensor<256x64xi32, #wide>, %p: !tt.ptr<i32>) {
    %0 = tt.load %m : tensor<256x64x!tt.ptr<i32>, #vector>
    %1 = ttg.convert_layout %0 : tensor<256x64xi32, #vector> -> tensor<256x64xi32, #wide>
    %2 = tt.reshape %1 allow_reorder : tensor<256x64xi32, #wide> -> tensor<16384xi32, #line>
    %3 = tt.reshape %i allow_reorder : tensor<256x64xi32, #wide> -> tensor<16384xi32, #line>
    %4:2 = "tt.reduce"(%2, %3) <{axis = 0 : i32}> ({
    ^bb0(%x: i32, %k: i32, %y: i32, %l: i32):
      %less = arith.cmpi slt, %x, %y : i32
      %v = arith.select %less, %x, %y : i32
      %n = arith.select %less, %k, %l : i32
      tt.reduce.return %v, %n : i32, i32
    }) : (tensor<16384xi32, #line>, tensor<16384xi32, #line>) -> (i32, i32)
    tt.store %p, %4#1 : !tt.ptr<i32>
    tt.return
  }
}
