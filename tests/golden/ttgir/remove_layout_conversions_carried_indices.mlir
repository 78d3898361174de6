// tritongpu-remove-layout-conversions: indices that a loop carries, and that two users want in different layouts, are
// carried in both. A tile of them is not, which would take too many registers, nor what is loaded.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#a = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#c = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1201", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[A:.*]] = #ttg.blocked<{sizePerThread = [1, 8]
  // CHECK-DAG: #[[B:.*]] = #ttg.blocked<{sizePerThread = [8, 1]
  // CHECK-LABEL: @indices
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.for {{.*}} -> (tensor<64xi32, #ttg.slice<{dim = 0, parent = #[[A]]}>>, tensor<64xi32, #ttg.slice<{dim = 1, parent = #[[B]]}>>)
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @indices(%pa: tensor<64x64x!tt.ptr<f16>, #a>, %pb: tensor<64x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<512> : tensor<64xi32, #c>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #c>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%k = %range) -> (tensor<64xi32, #c>) : i32 {
      %ka = ttg.convert_layout %k : tensor<64xi32, #c> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #a}>>
      %kb = ttg.convert_layout %k : tensor<64xi32, #c> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>>
      %ra = tt.expand_dims %ka {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x64xi32, #a>
      %rb = tt.expand_dims %kb {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<64x1xi32, #b>
      %ia = tt.broadcast %ra : tensor<1x64xi32, #a> -> tensor<64x64xi32, #a>
      %ib = tt.broadcast %rb : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
      %qa = tt.addptr %pa, %ia : tensor<64x64x!tt.ptr<f16>, #a>, tensor<64x64xi32, #a>
      %qb = tt.addptr %pb, %ib : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
      %x = tt.load %qa : tensor<64x64x!tt.ptr<f16>, #a>
      %y = tt.load %qb : tensor<64x64x!tt.ptr<f16>, #b>
      tt.store %qa, %x : tensor<64x64x!tt.ptr<f16>, #a>
      tt.store %qb, %y : tensor<64x64x!tt.ptr<f16>, #b>
      %next = arith.addi %k, %step : tensor<64xi32, #c>
      scf.yield %next : tensor<64xi32, #c>
    }
    tt.return
  }

  // CHECK-LABEL: @loaded
  // CHECK: scf.for
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func @loaded(%p: tensor<64x!tt.ptr<i32>, #c>, %pa: tensor<64x64x!tt.ptr<f16>, #a>, %pb: tensor<64x64x!tt.ptr<f16>, #b>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #c>
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%k = %range) -> (tensor<64xi32, #c>) : i32 {
      %ka = ttg.convert_layout %k : tensor<64xi32, #c> -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #a}>>
      %kb = ttg.convert_layout %k : tensor<64xi32, #c> -> tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>>
      %ra = tt.expand_dims %ka {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x64xi32, #a>
      %rb = tt.expand_dims %kb {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<64x1xi32, #b>
      %ia = tt.broadcast %ra : tensor<1x64xi32, #a> -> tensor<64x64xi32, #a>
      %ib = tt.broadcast %rb : tensor<64x1xi32, #b> -> tensor<64x64xi32, #b>
      %qa = tt.addptr %pa, %ia : tensor<64x64x!tt.ptr<f16>, #a>, tensor<64x64xi32, #a>
      %qb = tt.addptr %pb, %ib : tensor<64x64x!tt.ptr<f16>, #b>, tensor<64x64xi32, #b>
      %x = tt.load %qa : tensor<64x64x!tt.ptr<f16>, #a>
      %y = tt.load %qb : tensor<64x64x!tt.ptr<f16>, #b>
      tt.store %qa, %x : tensor<64x64x!tt.ptr<f16>, #a>
      tt.store %qb, %y : tensor<64x64x!tt.ptr<f16>, #b>
      %step = tt.load %p {isVolatile = true} : tensor<64x!tt.ptr<i32>, #c>
      %next = arith.addi %k, %step : tensor<64xi32, #c>
      scf.yield %next : tensor<64xi32, #c>
    }
    tt.return
  }
}
