// Loads of a loop with dots get the layout by which a wave copies them to consecutive places of LDS: the swizzle of the
// buffer is in the columns that lanes load from (lanes 16 and 32 of the first operand change them too). A buffer that
// is read by transposing, with 8 bytes of a row here and the next 8 there, gets another layout.
// RUN: tessera opt %s -warp-copy-layouts --target gfx950 | FileCheck %s
// RUN: tessera opt %s -warp-copy-layouts --target gfx950 --remarks=WarpCopies -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera opt %s -warp-copy-layouts --target gfx942 | FileCheck %s --check-prefix=NONE
// RUN: tessera opt %s -warp-copy-layouts --target sm_90a | FileCheck %s --check-prefix=NONE

// CHECK-DAG: #[[A:.*]] = #ttg.generic_linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [32, 0]], lane = {{\[\[}}0, 8], [0, 16], [0, 32], [1, 0], [2, 8], [4, 32]], warp = {{\[\[}}8, 16], [16, 0]], block = []}>
// CHECK-DAG: #[[B:.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 4, order = [1, 0]}>
// CHECK-LABEL: @transposed_read
// CHECK-NOT: convert_layout
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<bf16>, #[[A]]>
// CHECK: ttg.local_alloc {{.*}} : (tensor<64x64xbf16, #[[A]]>)
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<bf16>, #generic_linear{{[0-9]*}}>
// CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<64x64xbf16, #[[B]], #smem>
// CHECK: ttg.local_load {{.*}} : !ttg.memdesc<64x64xbf16, #[[B]], #smem> -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1
// CHECK-NOT: convert_layout
// CHECK-LABEL: @unaligned
// CHECK: tt.load {{.*}} : tensor<64x64x!tt.ptr<bf16>, #blocked>
// REMARK-NOT: remark
// REMARK: warp_copy_layouts.mlir:[[#]]:[[#]]: remark: loads of the loop do not go straight into LDS: the load at {{.*}} has no 16 bytes that are consecutive in memory and in the buffer, with one mask [warp-copy-layouts:WarpCopies]
// REMARK-NOT: remark
// NONE-NOT: generic_linear
// NONE-NOT: swizzled_shared

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>
#shared = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 8], [4, 32], [8, 16], [16, 0], [32, 0]]}, alignment = 16>
#shared1 = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [0, 36], [4, 0], [16, 0], [8, 0], [32, 0]]}, alignment = 16>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @transposed_read(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32 {tt.divisibility = 16 : i32}) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %s = tt.splat %stride : i32 -> tensor<64x1xi32, #blocked>
    %rs = arith.muli %r, %s : tensor<64x1xi32, #blocked>
    %c = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %cs = tt.broadcast %c : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %rb = tt.broadcast %rs : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %at = arith.addi %rb, %cs : tensor<64x64xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>, #blocked>
    %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>, #blocked>
    %bp = tt.addptr %bs, %at : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
    %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %ap, %q = %bp, %acc = %zero) -> (tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x64xbf16, #blocked>) -> !ttg.memdesc<64x64xbf16, #shared, #smem>
      %xd = ttg.local_load %xs : !ttg.memdesc<64x64xbf16, #shared, #smem> -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
      %y = tt.load %q : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %ys = ttg.local_alloc %y : (tensor<64x64xbf16, #blocked>) -> !ttg.memdesc<64x64xbf16, #shared1, #smem>
      %yd = ttg.local_load %ys : !ttg.memdesc<64x64xbf16, #shared1, #smem> -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
      %d = tt.dot %xd, %yd, %acc : tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> -> tensor<64x64xf32, #mma>
      %p1 = tt.addptr %p, %k : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
      %q1 = tt.addptr %q, %k : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %p1, %q1, %d : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %l#2 : tensor<64x64xf32, #mma>
  }
  // Rows that are not known to begin at 16 bytes.
  tt.func public @unaligned(%a: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %k = arith.constant dense<64> : tensor<64x64xi32, #blocked>
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %r = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %s = tt.splat %stride : i32 -> tensor<64x1xi32, #blocked>
    %rs = arith.muli %r, %s : tensor<64x1xi32, #blocked>
    %c = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %cs = tt.broadcast %c : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %rb = tt.broadcast %rs : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %at = arith.addi %rb, %cs : tensor<64x64xi32, #blocked>
    %as = tt.splat %a : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>, #blocked>
    %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
    %bs = tt.splat %b : !tt.ptr<bf16> -> tensor<64x64x!tt.ptr<bf16>, #blocked>
    %bp = tt.addptr %bs, %at : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
    %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %ap, %q = %bp, %acc = %zero) -> (tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %xs = ttg.local_alloc %x : (tensor<64x64xbf16, #blocked>) -> !ttg.memdesc<64x64xbf16, #shared, #smem>
      %xd = ttg.local_load %xs : !ttg.memdesc<64x64xbf16, #shared, #smem> -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
      %y = tt.load %q : tensor<64x64x!tt.ptr<bf16>, #blocked>
      %ys = ttg.local_alloc %y : (tensor<64x64xbf16, #blocked>) -> !ttg.memdesc<64x64xbf16, #shared1, #smem>
      %yd = ttg.local_load %ys : !ttg.memdesc<64x64xbf16, #shared1, #smem> -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>>
      %d = tt.dot %xd, %yd, %acc : tensor<64x64xbf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>> * tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 8}>> -> tensor<64x64xf32, #mma>
      %p1 = tt.addptr %p, %k : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
      %q1 = tt.addptr %q, %k : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xi32, #blocked>
      scf.yield %p1, %q1, %d : tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64x!tt.ptr<bf16>, #blocked>, tensor<64x64xf32, #mma>
    }
    tt.return %l#2 : tensor<64x64xf32, #mma>
  }
}
