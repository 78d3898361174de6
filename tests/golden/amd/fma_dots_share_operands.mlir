// Two FMA dots with the same A operand: each reads it from LDS in parts, where it uses them. Read once, its 256
// registers in each thread would be held from the first dot through the second.
// RUN: tessera opt %s --target gfx1100 -tritongpu-reorder-instructions | FileCheck %s --check-prefix=OPT
// RUN: tessera opt %s --target gfx1100 -tritongpu-reorder-instructions | tessera compile - --target gfx1100 --emit amdgcn | FileCheck %s
// OPT: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32
// OPT-DAG: ttg.local_load %[[A]]
// OPT: tt.dot
// OPT-DAG: ttg.local_load %[[A]]
// OPT: tt.dot
// CHECK-LABEL: {{^}}dots:
// CHECK: .vgpr_spill_count: 0

#c = #ttg.blocked<{sizePerThread = [2, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @dots(%out: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #c>
    %stride = arith.constant dense<32> : tensor<32x1xi32, #c>
    %a = ttg.local_alloc : () -> !ttg.memdesc<32x128xf32, #s, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<128x32xf32, #s, #smem, mutable>
    %d = ttg.local_alloc : () -> !ttg.memdesc<128x32xf32, #s, #smem, mutable>
    %x = ttg.local_load %a : !ttg.memdesc<32x128xf32, #s, #smem, mutable> -> tensor<32x128xf32, #ttg.dot_op<{opIdx = 0, parent = #c}>>
    %y = ttg.local_load %b : !ttg.memdesc<128x32xf32, #s, #smem, mutable> -> tensor<128x32xf32, #ttg.dot_op<{opIdx = 1, parent = #c}>>
    %xy = tt.dot %x, %y, %zero : tensor<32x128xf32, #ttg.dot_op<{opIdx = 0, parent = #c}>> * tensor<128x32xf32, #ttg.dot_op<{opIdx = 1, parent = #c}>> -> tensor<32x32xf32, #c>
    %z = ttg.local_load %d : !ttg.memdesc<128x32xf32, #s, #smem, mutable> -> tensor<128x32xf32, #ttg.dot_op<{opIdx = 1, parent = #c}>>
    %xz = tt.dot %x, %z, %zero : tensor<32x128xf32, #ttg.dot_op<{opIdx = 0, parent = #c}>> * tensor<128x32xf32, #ttg.dot_op<{opIdx = 1, parent = #c}>> -> tensor<32x32xf32, #c>
    %sum = arith.mulf %xy, %xz : tensor<32x32xf32, #c>
    %row = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #c}>>
    %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #c}>>
    %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #c}>> -> tensor<32x1xi32, #c>
    %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 0, parent = #c}>> -> tensor<1x32xi32, #c>
    %offset = arith.muli %rows, %stride : tensor<32x1xi32, #c>
    %ro = tt.broadcast %offset : tensor<32x1xi32, #c> -> tensor<32x32xi32, #c>
    %co = tt.broadcast %columns : tensor<1x32xi32, #c> -> tensor<32x32xi32, #c>
    %p = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>, #c>
    %q = tt.addptr %p, %ro : tensor<32x32x!tt.ptr<f32>, #c>, tensor<32x32xi32, #c>
    %r = tt.addptr %q, %co : tensor<32x32x!tt.ptr<f32>, #c>, tensor<32x32xi32, #c>
    tt.store %r, %sum : tensor<32x32x!tt.ptr<f32>, #c>
    tt.return
  }
}
