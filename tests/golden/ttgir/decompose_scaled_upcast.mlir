// decompose-scaled-upcast: scales are multiplied in f32; the layout of one that differs is converted.
// RUN: tessera opt %s -decompose-scaled-upcast | FileCheck %s
#packed = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
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
}
