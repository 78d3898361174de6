// tritongpu-coalesce beside dots: operands and results have widths of their own.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s

// Stores of a dot's result: 16 bytes a thread of the result's type, though the operands' elements are half as wide.
// CHECK-DAG: #[[A:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK-DAG: #[[C:.*]] = #ttg.blocked<{sizePerThread = [1, 4], {{.*}}, order = [1, 0]}>
// CHECK: @product
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[A]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[C]]>
tt.func public @product(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %3 = arith.muli %1, %c64 : tensor<64x1xi32>
  %4 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x64xi32>
  %5 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %6 = arith.addi %4, %5 : tensor<64x64xi32>
  %7 = tt.splat %p : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %8 = tt.addptr %7, %6 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %9 = tt.load %8 : tensor<64x64x!tt.ptr<f16>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %10 = tt.dot %9, %9, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %11 = tt.splat %q : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %12 = tt.addptr %11, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %12, %10 : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// An operand B whose rows cannot be proved to run is loaded one by one, beside an A that is loaded eight at a time: its
// lanes have pairs beside each other.
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[PAIRS:.*]] = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK: @operands
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<bf16>, #[[WIDE]]>
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<bf16>, #[[PAIRS]]>
tt.func public @operands(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16>, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ro = arith.muli %r1, %width : tensor<64x1xi32>
  %rb = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %rb, %cb : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  %pa = tt.addptr %as, %i : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>>
  %pb = tt.addptr %bs, %i : tensor<64x64x!tt.ptr<bf16>>, tensor<64x64xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %pc = tt.addptr %cs, %i : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %pa : tensor<64x64x!tt.ptr<bf16>>
  %y = tt.load %pb : tensor<64x64x!tt.ptr<bf16>>
  %d = tt.dot %x, %y, %zero : tensor<64x64xbf16> * tensor<64x64xbf16> -> tensor<64x64xf32>
  tt.store %pc, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// -----

// Operands of f32 are loaded 16 bytes at a time, though eight elements of the result of that shape are stored at once.
// CHECK-DAG: #[[F32:.*]] = #ttg.blocked<{sizePerThread = [1, 4], {{.*}}, order = [1, 0]}>
// CHECK-DAG: #[[F16:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK: @narrow_result
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f32>, #[[F32]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[F16]]>
tt.func public @narrow_result(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %c64 = arith.constant dense<64> : tensor<64x1xi32>
  %3 = arith.muli %1, %c64 : tensor<64x1xi32>
  %4 = tt.broadcast %3 : tensor<64x1xi32> -> tensor<64x64xi32>
  %5 = tt.broadcast %2 : tensor<1x64xi32> -> tensor<64x64xi32>
  %6 = arith.addi %4, %5 : tensor<64x64xi32>
  %7 = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %8 = tt.addptr %7, %6 : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %9 = tt.load %8 : tensor<64x64x!tt.ptr<f32>>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %10 = tt.dot %9, %9, %zero, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %11 = arith.truncf %10 : tensor<64x64xf32> to tensor<64x64xf16>
  %12 = tt.splat %q : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %13 = tt.addptr %12, %6 : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  tt.store %13, %11 : tensor<64x64x!tt.ptr<f16>>
  tt.return
}
