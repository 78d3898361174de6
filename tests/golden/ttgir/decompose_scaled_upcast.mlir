// decompose-scaled-upcast: scales are multiplied in f32; the layout of one that differs is converted.
// RUN: tessera opt %s -decompose-scaled-upcast | FileCheck %s
#packed = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#other = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @bf16_scales
  // CHECK: %[[F:.*]] = tt.fp_to_fp %{{.*}} : tensor<32x64xf8E4M3FN, #[[B:.*]]> -> tensor<32x64xf32, #[[B]]>
  // CHECK: tt.bitcast %{{.*}} : tensor<32x64xbf16, #[[B]]> -> tensor<32x64xi16, #[[B]]>
  // CHECK: arith.shrui
  // CHECK: arith.trunci %{{.*}} : tensor<32x64xi16, #[[B]]> to tensor<32x64xi8, #[[B]]>
  // CHECK: arith.extui %{{.*}} : tensor<32x64xi8, #[[B]]> to tensor<32x64xi32, #[[B]]>
  // CHECK: %[[P:.*]] = tt.bitcast %{{.*}} : tensor<32x64xi32, #[[B]]> -> tensor<32x64xf32, #[[B]]>
  // CHECK: %[[M:.*]] = arith.mulf %[[F]], %[[P]]
  // CHECK: arith.truncf %[[M]] : tensor<32x64xf32, #[[B]]> to tensor<32x64xf16, #[[B]]>
  tt.func public @bf16_scales(%x: tensor<32x64xf8E4M3FN, #b>, %s: tensor<32x64xbf16, #b>) -> tensor<32x64xf16, #b> {
    %y = amdg.scaled_upcast_fp8 %x scale %s : tensor<32x64xf8E4M3FN, #b>, tensor<32x64xbf16, #b> -> tensor<32x64xf16, #b>
    tt.return %y : tensor<32x64xf16, #b>
  }
  // CHECK-LABEL: @bytes
  // CHECK: %[[F:.*]] = ttg.fp4_to_fp %{{.*}} {axis = 1 : i32} : tensor<32x32xi8, #{{.*}}> -> tensor<32x64xf32, #[[B]]>
  // CHECK: ttg.convert_layout %{{.*}} -> tensor<32x64xi8, #[[B]]>
  // CHECK-NOT: trunci
  // CHECK: arith.truncf %{{.*}} : tensor<32x64xf32, #[[B]]> to tensor<32x64xbf16, #[[B]]>
  tt.func public @bytes(%x: tensor<32x32xi8, #packed>, %s: tensor<32x64xi8, #other>) -> tensor<32x64xbf16, #b> {
    %y = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<32x32xi8, #packed>, tensor<32x64xi8, #other> -> tensor<32x64xbf16, #b>
    tt.return %y : tensor<32x64xbf16, #b>
  }
  // A scale of K is repeated for its 32 elements; those of a B operand are transposed.
  // CHECK-LABEL: @groups
  // CHECK: tt.reshape %{{.*}} : tensor<64x2xi8, #{{.*}}> -> tensor<64x2x1xi8, #{{.*}}>
  // CHECK: tt.broadcast %{{.*}} -> tensor<64x2x32xi8, #{{.*}}>
  // CHECK: tt.reshape %{{.*}} -> tensor<64x64xi8, #{{.*}}>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<64x64xi8, #{{.*}}> -> tensor<64x64xi8, #{{.*}}>
  // CHECK: tt.bitcast %{{.*}} : tensor<64x64xi8, #ttg.dot_op<{{.*}}>> -> tensor<64x64xf8E5M2, #ttg.dot_op<{{.*}}>>
  // CHECK: arith.truncf %{{.*}} to tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
  tt.func public @groups(%x: tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, %s: tensor<64x2xi8, #other>) -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>> {
    %y = amdg.upcast_mxfp %x, %s fp_type = e5m2 {fastMath = false} : tensor<64x64xi8, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>, tensor<64x2xi8, #other> -> tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
    tt.return %y : tensor<64x64xbf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
  }
  // Elements that were widened before are only scaled.
  // CHECK-LABEL: @widened
  // CHECK-NOT: tt.trans
  // CHECK: %[[F:.*]] = arith.extf %{{.*}} : tensor<64x64xf16, #ttg.dot_op<{{.*}}>> to tensor<64x64xf32, #ttg.dot_op<{{.*}}>>
  // CHECK: arith.mulf %[[F]],
  tt.func public @widened(%x: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, %s: tensor<64x2xi8, #other>) -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> {
    %y = amdg.upcast_mxfp %x, %s fp_type = e5m2 {fastMath = false} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>, tensor<64x2xi8, #other> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
    tt.return %y : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
  }
}
