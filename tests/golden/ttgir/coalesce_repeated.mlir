// tritongpu-coalesce: what a dot's operand is computed from. A load that has one address for a whole run (the scale of a
// group of weights) takes the layout of the weights, so that no conversion is between the two; each thread loads it once.
// RUN: tessera opt %s -tritongpu-coalesce --target sm_90a | FileCheck %s

// CHECK-DAG: #[[RUNS:.*]] = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [2, 16], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-LABEL: @groups
// CHECK: tt.load {{.*}} : tensor<32x64x!tt.ptr<i8>, #[[RUNS]]>
// CHECK: tt.load {{.*}} : tensor<32x64x!tt.ptr<bf16>, #[[RUNS]]>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @groups(%w: tensor<32x64x!tt.ptr<i8>, #acc> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[32, 1]> : tensor<2xi32>}, %s: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %stride: i32, %x: tensor<64x32xbf16, #a>, %c: tensor<64x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %bytes = tt.load %w : tensor<32x64x!tt.ptr<i8>, #acc>
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #acc}>>
    %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #acc}>> -> tensor<1x64xi32, #acc>
    %strides = tt.splat %stride : i32 -> tensor<1x64xi32, #acc>
    %offsets = arith.muli %columns, %strides : tensor<1x64xi32, #acc>
    %start = tt.splat %s : !tt.ptr<bf16> -> tensor<1x64x!tt.ptr<bf16>, #acc>
    %row = tt.addptr %start, %offsets : tensor<1x64x!tt.ptr<bf16>, #acc>, tensor<1x64xi32, #acc>
    %rows = tt.broadcast %row : tensor<1x64x!tt.ptr<bf16>, #acc> -> tensor<32x64x!tt.ptr<bf16>, #acc>
    %scale = tt.load %rows : tensor<32x64x!tt.ptr<bf16>, #acc>
    %f = arith.sitofp %bytes : tensor<32x64xi8, #acc> to tensor<32x64xbf16, #acc>
    %h = arith.mulf %f, %scale : tensor<32x64xbf16, #acc>
    %hb = ttg.convert_layout %h : tensor<32x64xbf16, #acc> -> tensor<32x64xbf16, #b>
    %d = tt.dot %x, %hb, %c : tensor<64x32xbf16, #a> * tensor<32x64xbf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }
}
