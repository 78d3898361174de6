// load-scalars-ahead: a block of which a thread loads a single element, as it is the same for all of a thread's rows
// (the scale of a group of weights), is loaded for the next iteration, like a scalar; so is a narrow row. Not a block of many different
// elements, and none on targets without asynchronous copies, where tritongpu-pipeline holds blocks in registers anyway.
// RUN: tessera opt %s -load-scalars-ahead --target sm_90a | FileCheck %s
// RUN: tessera opt %s -load-scalars-ahead --target gfx942 | FileCheck %s --check-prefix=NONE

// CHECK-LABEL: @scales
// CHECK: %[[FIRST:.*]] = tt.load %{{.*}}, %{{.*}} : tensor<32x64x!tt.ptr<bf16>
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[SCALE:.*]] = %[[FIRST]])
// CHECK: %[[MANY:.*]] = tt.load %{{[a-z0-9]*}} : tensor<32x64x!tt.ptr<bf16>
// CHECK: %[[MORE:.*]] = arith.cmpi ugt
// CHECK: %[[MASK:.*]] = tt.splat %[[MORE]] : i1 -> tensor<32x64xi1
// CHECK: %[[NEXT:.*]] = tt.load %{{.*}}, %[[MASK]] : tensor<32x64x!tt.ptr<bf16>
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: scf.yield {{.*}}, %[[NEXT]]

// A row of which a thread has one element of 2 bytes.
// CHECK-LABEL: @row
// CHECK: %[[FIRST:.*]] = tt.load
// CHECK: scf.for {{.*}} iter_args({{.*}}, %[[ROW:.*]] = %[[FIRST]])
// CHECK: ttg.convert_layout %[[ROW]]
// NONE-LABEL: @scales
// NONE: scf.for {{.*}} iter_args(%{{[a-z0-9]*}} = %{{[a-z0-9]*}}) ->
#rows = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 4], order = [0, 1]}>
#lanes = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @scales(%a: !ttg.memdesc<64x32xbf16, #shared, #smem>, %w: tensor<32x64xbf16, #rows>, %s: tensor<1x64x!tt.ptr<bf16>, #rows>, %z: tensor<32x64x!tt.ptr<bf16>, #rows>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %many = tt.load %z : tensor<32x64x!tt.ptr<bf16>, #rows>
      %group = tt.splat %i : i32 -> tensor<1x64xi32, #rows>
      %p = tt.addptr %s, %group : tensor<1x64x!tt.ptr<bf16>, #rows>, tensor<1x64xi32, #rows>
      %ps = tt.broadcast %p : tensor<1x64x!tt.ptr<bf16>, #rows> -> tensor<32x64x!tt.ptr<bf16>, #rows>
      %scale = tt.load %ps : tensor<32x64x!tt.ptr<bf16>, #rows>
      %x = arith.subf %w, %many : tensor<32x64xbf16, #rows>
      %y = arith.mulf %x, %scale : tensor<32x64xbf16, #rows>
      %b = ttg.local_alloc %y : (tensor<32x64xbf16, #rows>) -> !ttg.memdesc<32x64xbf16, #shared1, #smem>
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xbf16, #shared, #smem> * !ttg.memdesc<32x64xbf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
  tt.func public @row(%a: !ttg.memdesc<64x32xbf16, #shared, #smem>, %w: tensor<32x64xbf16, #rows>, %s: tensor<64x!tt.ptr<bf16>, #ttg.slice<{dim = 0, parent = #lanes}>>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %group = tt.splat %i : i32 -> tensor<64xi32, #ttg.slice<{dim = 0, parent = #lanes}>>
      %p = tt.addptr %s, %group : tensor<64x!tt.ptr<bf16>, #ttg.slice<{dim = 0, parent = #lanes}>>, tensor<64xi32, #ttg.slice<{dim = 0, parent = #lanes}>>
      %row = tt.load %p : tensor<64x!tt.ptr<bf16>, #ttg.slice<{dim = 0, parent = #lanes}>>
      %moved = ttg.convert_layout %row : tensor<64xbf16, #ttg.slice<{dim = 0, parent = #lanes}>> -> tensor<64xbf16, #ttg.slice<{dim = 0, parent = #rows}>>
      %wide = tt.expand_dims %moved {axis = 0 : i32} : tensor<64xbf16, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x64xbf16, #rows>
      %scale = tt.broadcast %wide : tensor<1x64xbf16, #rows> -> tensor<32x64xbf16, #rows>
      %y = arith.mulf %w, %scale : tensor<32x64xbf16, #rows>
      %b = ttg.local_alloc %y : (tensor<32x64xbf16, #rows>) -> !ttg.memdesc<32x64xbf16, #shared1, #smem>
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : !ttg.memdesc<64x32xbf16, #shared, #smem> * !ttg.memdesc<32x64xbf16, #shared1, #smem> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
