// An FMA dot whose operands do not fit in registers: they are read from LDS where they are used, and nothing spills.
// RUN: tessera compile %s --target gfx1100 --emit amdgcn | FileCheck %s
// CHECK-LABEL: {{^}}product:
// CHECK: ds_load_b128
// CHECK: v_{{(dual_)?}}fmac_f32
// CHECK: ds_load_b128
// CHECK: v_{{(dual_)?}}fmac_f32
// CHECK: .vgpr_spill_count: 0

#c = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 2], order = [1, 0]}>
#ka = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @product(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<64x128xf32, #c>
    %stride = arith.constant dense<128> : tensor<64x1xi32, #c>
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x32xf32, #ka, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #ka, #smem, mutable>
    %x = ttg.local_load %a : !ttg.memdesc<64x32xf32, #ka, #smem, mutable> -> tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #c}>>
    %y = ttg.local_load %b : !ttg.memdesc<32x128xf32, #ka, #smem, mutable> -> tensor<32x128xf32, #ttg.dot_op<{opIdx = 1, parent = #c}>>
    %d = tt.dot %x, %y, %zero : tensor<64x32xf32, #ttg.dot_op<{opIdx = 0, parent = #c}>> * tensor<32x128xf32, #ttg.dot_op<{opIdx = 1, parent = #c}>> -> tensor<64x128xf32, #c>
    %row = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #c}>>
    %column = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #c}>>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #c}>> -> tensor<64x1xi32, #c>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<128xi32, #ttg.slice<{dim = 0, parent = #c}>> -> tensor<1x128xi32, #c>
    %offset = arith.muli %rows, %stride : tensor<64x1xi32, #c>
    %ro = tt.broadcast %offset : tensor<64x1xi32, #c> -> tensor<64x128xi32, #c>
    %co = tt.broadcast %columns : tensor<1x128xi32, #c> -> tensor<64x128xi32, #c>
    %p = tt.splat %out : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>, #c>
    %q = tt.addptr %p, %ro : tensor<64x128x!tt.ptr<f32>, #c>, tensor<64x128xi32, #c>
    %r = tt.addptr %q, %co : tensor<64x128x!tt.ptr<f32>, #c>, tensor<64x128xi32, #c>
    tt.store %r, %d : tensor<64x128x!tt.ptr<f32>, #c>
    tt.return
  }
}
