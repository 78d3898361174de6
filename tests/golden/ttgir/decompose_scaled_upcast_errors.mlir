// decompose-scaled-upcast: scales that do not fit the elements.
// RUN: tessera opt %s -decompose-scaled-upcast --verify-diagnostics
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @groups(%x: tensor<64x64xi8, #a>, %s: tensor<64x4xi8, #b>) {
    // expected-error @+1 {{'amdg.upcast_mxfp' needs e2m1, e4m3 or e5m2 in the layout of a dot operand, and a scale of i8 for each 32 of them along K}}
    %y = amdg.upcast_mxfp %x, %s fp_type = e5m2 {fastMath = false} : tensor<64x64xi8, #a>, tensor<64x4xi8, #b> -> tensor<64x64xbf16, #a>
    tt.return
  }
}
