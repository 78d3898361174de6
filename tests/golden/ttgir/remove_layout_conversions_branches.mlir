// Both branches load through pointers that the loop computes, with and without a mask. Neither branch alone is worth
// computing them in the layout of its load, since the other one would keep them where they are; both together are.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions | FileCheck %s

// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [8, 1]
// CHECK-LABEL: @pages
// CHECK: scf.for
// CHECK: tt.load {{.*}} : tensor<32x!tt.ptr<i32>
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<64x32
// CHECK: scf.if {{.*}} -> (tensor<64x32xf16, #[[WIDE]]>)
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<64x32
// CHECK: scf.yield
// CHECK: else
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<64x32
// CHECK: scf.yield
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#now = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @pages(%k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %table: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: tensor<64x32x!tt.ptr<f16>, #wide>, %rows: tensor<64x32xi64, #now>, %columns: tensor<64x32xi64, #now>, %mask: tensor<64x32xi1, #wide>, %n: i32, %stride: i64) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x32xf16, #wide>
    %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #line>
    %base = tt.splat %table : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #line>
    %entries = tt.addptr %base, %range : tensor<32x!tt.ptr<i32>, #line>, tensor<32xi32, #line>
    scf.for %i = %c0 to %n step %c32 : i32 {
      %pos = tt.splat %i : i32 -> tensor<32xi32, #line>
      %at = tt.addptr %entries, %pos : tensor<32x!tt.ptr<i32>, #line>, tensor<32xi32, #line>
      %page = tt.load %at : tensor<32x!tt.ptr<i32>, #line>
      %page64 = arith.extsi %page : tensor<32xi32, #line> to tensor<32xi64, #line>
      %sliced = ttg.convert_layout %page64 : tensor<32xi64, #line> -> tensor<32xi64, #ttg.slice<{dim = 0, parent = #now}>>
      %row = tt.expand_dims %sliced {axis = 0 : i32} : tensor<32xi64, #ttg.slice<{dim = 0, parent = #now}>> -> tensor<1x32xi64, #now>
      %strides = tt.splat %stride : i64 -> tensor<1x32xi64, #now>
      %off1 = arith.muli %row, %strides : tensor<1x32xi64, #now>
      %off = tt.broadcast %off1 : tensor<1x32xi64, #now> -> tensor<64x32xi64, #now>
      %offr = arith.addi %off, %rows : tensor<64x32xi64, #now>
      %offc = arith.addi %offr, %columns : tensor<64x32xi64, #now>
      %left = arith.subi %n, %i : i32
      %isLast = arith.cmpi slt, %left, %c32 : i32
      %x = scf.if %isLast -> (tensor<64x32xf16, #wide>) {
        %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #now>
        %p = tt.addptr %ks, %offc : tensor<64x32x!tt.ptr<f16>, #now>, tensor<64x32xi64, #now>
        %q = ttg.convert_layout %p : tensor<64x32x!tt.ptr<f16>, #now> -> tensor<64x32x!tt.ptr<f16>, #wide>
        %l = tt.load %q, %mask, %zeros : tensor<64x32x!tt.ptr<f16>, #wide>
        scf.yield %l : tensor<64x32xf16, #wide>
      } else {
        %ks = tt.splat %k : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>, #now>
        %p = tt.addptr %ks, %offc : tensor<64x32x!tt.ptr<f16>, #now>, tensor<64x32xi64, #now>
        %q = ttg.convert_layout %p : tensor<64x32x!tt.ptr<f16>, #now> -> tensor<64x32x!tt.ptr<f16>, #wide>
        %l = tt.load %q : tensor<64x32x!tt.ptr<f16>, #wide>
        scf.yield %l : tensor<64x32xf16, #wide>
      }
      tt.store %o, %x : tensor<64x32x!tt.ptr<f16>, #wide>
    }
    tt.return
  }
}
