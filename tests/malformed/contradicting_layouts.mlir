#a = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#t = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [0, 1]}>
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#pairs = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#both = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [4, 4, 2], warpsPerCTA = [1, 1, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func @shapes(%x: tensor<4x8xf32, #a>, %y: tensor<64xf32, #row>, %z: tensor<4x8x2xf32, #both>) {
    %good = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32, #a> -> tensor<8x4xf32, #t>
    %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32, #a> -> tensor<8x4xf32, #b>
    %alike = tt.reshape %x : tensor<4x8xf32, #a> -> tensor<8x4xf32, #b>
    %1 = tt.reshape %x : tensor<4x8xf32, #a> -> tensor<8x4xf32, #t>
    %any = tt.reshape %x allow_reorder : tensor<4x8xf32, #a> -> tensor<8x4xf32, #t>
    %2 = tt.reshape %y : tensor<64xf32, #row> -> tensor<64xf32, #pairs>
    %3 = tt.join %x, %x : tensor<4x8xf32, #a> -> tensor<4x8x2xf32, #both>
    %4, %5 = tt.split %z : tensor<4x8x2xf32, #both> -> tensor<4x8xf32, #a>
    tt.return
  }
  tt.func @dots(%x: tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #a}>>, %y: tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #a}>>, %z: tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>>, %w: tensor<16x16xf16, #a>, %c: tensor<16x16xf32, #a>) {
    %0 = tt.dot %x, %y, %c : tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #a}>> * tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #a}>> -> tensor<16x16xf32, #a>
    %1 = tt.dot %y, %y, %c : tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #a}>> * tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #a}>> -> tensor<16x16xf32, #a>
    %2 = tt.dot %x, %z, %c : tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #a}>> * tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #b}>> -> tensor<16x16xf32, #a>
    %3 = tt.dot %w, %y, %c : tensor<16x16xf16, #a> * tensor<16x16xf16, #ttg.dot_op<{opIdx = 1, parent = #a}>> -> tensor<16x16xf32, #a>
    tt.return
  }
}
