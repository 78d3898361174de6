// tritongpu-coalesce: rows of a dot's operand whose alignment is not known are loaded element by element. A thread has a
// word of a row all the same, which it stores for the dot at once. Elements of other loads stay apart.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:90 num-warps=4" -tritongpu-coalesce --target sm_90a | FileCheck %s
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=hip:gfx942 num-warps=4" -tritongpu-coalesce --target gfx942 | FileCheck %s --check-prefix=AMD

// CHECK-DAG: #[[HALVES:.*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[BYTES:.*]] = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[APART:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// AMD-DAG: #[[HALVES:.*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: @halves
// AMD-LABEL: @halves
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[HALVES]]>
// AMD: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[HALVES]]>
tt.func public @halves(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32>, %stride: i32) {
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %b = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %start = arith.muli %row, %s : tensor<64x1xi32>
  %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %starts, %columns : tensor<64x64xi32>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %p, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f16>>
  %d = tt.dot %v, %b, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %o = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @bytes
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i8>, #[[BYTES]]>
tt.func public @bytes(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %c: !tt.ptr<i32>, %stride: i32) {
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %b = arith.constant dense<1> : tensor<64x64xi8>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %start = arith.muli %row, %s : tensor<64x1xi32>
  %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %starts, %columns : tensor<64x64xi32>
  %p = tt.splat %a : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %q = tt.addptr %p, %at : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %v = tt.load %q : tensor<64x64x!tt.ptr<i8>>
  %d = tt.dot %v, %b, %zero : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  %o = tt.splat %c : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  tt.store %o, %d : tensor<64x64x!tt.ptr<i32>>
  tt.return
}

// No dot: a lane has an element, and lanes beside each other have neighbours.
// CHECK-LABEL: @copied
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[APART]]>
tt.func public @copied(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16>, %stride: i32) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %start = arith.muli %row, %s : tensor<64x1xi32>
  %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %starts, %columns : tensor<64x64xi32>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %q = tt.addptr %p, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %v = tt.load %q : tensor<64x64x!tt.ptr<f16>>
  %o = tt.splat %c : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %t = tt.addptr %o, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  tt.store %t, %v : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
