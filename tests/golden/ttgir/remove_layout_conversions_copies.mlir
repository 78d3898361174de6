// What is computed of a row in a layout that gives each thread several rows is computed once: copies of an element in a
// thread's registers take no work. So the pointers are computed in the layout of the load, not converted to it.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: scf.for
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<128x32
// CHECK: tt.load {{.*}} : tensor<128x32x!tt.ptr<f16>
// CHECK-NOT: ttg.convert_layout {{.*}} tensor<128x32
// CHECK: tt.store
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#now = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: tensor<128x32x!tt.ptr<f16>, #wide>, %table: tensor<32x!tt.ptr<i32>, #line>, %n: i32, %stride: i64, %head: i64) {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %heads = tt.splat %head : i64 -> tensor<1x32xi64, #now>
    %strides = tt.splat %stride : i64 -> tensor<1x32xi64, #now>
    %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #now}>>
    %column = tt.expand_dims %range {axis = 1 : i32} : tensor<128xi32, #ttg.slice<{dim = 1, parent = #now}>> -> tensor<128x1xi32, #now>
    %column64 = arith.extsi %column : tensor<128x1xi32, #now> to tensor<128x1xi64, #now>
    %columns = tt.broadcast %column64 : tensor<128x1xi64, #now> -> tensor<128x32xi64, #now>
    %ks = tt.splat %k : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>, #now>
    scf.for %i = %c0 to %n step %c32 : i32 {
      %pos = tt.splat %i : i32 -> tensor<32xi32, #line>
      %at = tt.addptr %table, %pos : tensor<32x!tt.ptr<i32>, #line>, tensor<32xi32, #line>
      %page = tt.load %at {isVolatile = true} : tensor<32x!tt.ptr<i32>, #line>
      %sliced = ttg.convert_layout %page : tensor<32xi32, #line> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #now}>>
      %row = tt.expand_dims %sliced {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #now}>> -> tensor<1x32xi32, #now>
      %row64 = arith.extsi %row : tensor<1x32xi32, #now> to tensor<1x32xi64, #now>
      %a = arith.muli %row64, %strides : tensor<1x32xi64, #now>
      %b = arith.addi %a, %heads : tensor<1x32xi64, #now>
      %off1 = tt.broadcast %b : tensor<1x32xi64, #now> -> tensor<128x32xi64, #now>
      %off2 = arith.addi %off1, %columns : tensor<128x32xi64, #now>
      %inside = tt.load %at {isVolatile = true} : tensor<32x!tt.ptr<i32>, #line>
      %sliced2 = ttg.convert_layout %inside : tensor<32xi32, #line> -> tensor<32xi32, #ttg.slice<{dim = 0, parent = #now}>>
      %row2 = tt.expand_dims %sliced2 {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #now}>> -> tensor<1x32xi32, #now>
      %c = arith.extsi %row2 : tensor<1x32xi32, #now> to tensor<1x32xi64, #now>
      %d = arith.muli %c, %heads : tensor<1x32xi64, #now>
      %off3 = tt.broadcast %d : tensor<1x32xi64, #now> -> tensor<128x32xi64, #now>
      %off = arith.addi %off2, %off3 : tensor<128x32xi64, #now>
      %p = tt.addptr %ks, %off : tensor<128x32x!tt.ptr<f16>, #now>, tensor<128x32xi64, #now>
      %q = ttg.convert_layout %p : tensor<128x32x!tt.ptr<f16>, #now> -> tensor<128x32x!tt.ptr<f16>, #wide>
      %l = tt.load %q : tensor<128x32x!tt.ptr<f16>, #wide>
      tt.store %o, %l : tensor<128x32x!tt.ptr<f16>, #wide>
    }
    tt.return
  }
}
