// Dots by mma.sync beside a chain of dots, two warps. A dot of 32 rows and more columns would have its warps along the
// columns by itself.
// RUN: tessera opt %s -split-input-file -tritongpu-accelerate-matmul --target sm_90a --remarks 2>&1 >/dev/null | FileCheck %s

// A state is read and updated beside the chain: the dot with the state computes the accumulator of the chain's last dot,
// and the update has its B operand in common with that one. All have their warps along the rows.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @state(%q: tensor<32x32xf16, #a>, %k: tensor<32x32xf16, #b>, %kt: tensor<32x32xf16, #a>, %v: tensor<32x64xf16, #b>, %h: tensor<32x64xf16, #b>, %old: tensor<32x64xf32, #blocked>) -> (tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %zeros = arith.constant dense<0.0> : tensor<32x64xf32, #blocked>
    %half = arith.constant dense<0.5> : tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %s = tt.dot %q, %k, %zero : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
    %p = arith.truncf %s : tensor<32x32xf32, #blocked> to tensor<32x32xf16, #blocked>
    %pa = ttg.convert_layout %p : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %r = tt.dot %q, %h, %zeros : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %c = arith.mulf %r, %half : tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %o = tt.dot %pa, %v, %c : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %n = tt.dot %kt, %v, %old : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %o, %n : tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>
  }
}

// -----

// A dot that has no operand in common with the chain and whose result meets none of it stays as it is.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @alone(%q: tensor<32x32xf16, #a>, %k: tensor<32x32xf16, #b>, %kt: tensor<32x32xf16, #a>, %v: tensor<32x64xf16, #b>, %h: tensor<32x64xf16, #b>) -> (tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>) {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %zeros = arith.constant dense<0.0> : tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %s = tt.dot %q, %k, %zero : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
    %p = arith.truncf %s : tensor<32x32xf32, #blocked> to tensor<32x32xf16, #blocked>
    %pa = ttg.convert_layout %p : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %o = tt.dot %pa, %v, %zeros : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 1 warps along the rows and 2 along the columns
    %n = tt.dot %kt, %h, %zeros : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    tt.return %o, %n : tensor<32x64xf32, #blocked>, tensor<32x64xf32, #blocked>
  }
}

// -----

// The results meet, but K is long: two rows of warps would read 64 KiB of the B operand twice, to convert 16 KiB less.
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [2, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @long(%q: tensor<32x32xf16, #a>, %k: tensor<32x32xf16, #b>, %w: tensor<32x512xf16, #a>, %v: tensor<32x64xf16, #b>, %h: tensor<512x64xf16, #b>) -> tensor<32x64xf32, #blocked> {
    %zero = arith.constant dense<0.0> : tensor<32x32xf32, #blocked>
    %zeros = arith.constant dense<0.0> : tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %s = tt.dot %q, %k, %zero : tensor<32x32xf16, #a> * tensor<32x32xf16, #b> -> tensor<32x32xf32, #blocked>
    %p = arith.truncf %s : tensor<32x32xf32, #blocked> to tensor<32x32xf16, #blocked>
    %pa = ttg.convert_layout %p : tensor<32x32xf16, #blocked> -> tensor<32x32xf16, #a>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 1 warps along the rows and 2 along the columns
    %r = tt.dot %w, %h, %zeros : tensor<32x512xf16, #a> * tensor<512x64xf16, #b> -> tensor<32x64xf32, #blocked>
    // CHECK: :[[#@LINE+1]]:10: {{.*}} mma.sync {{.*}}, 2 warps along the rows and 1 along the columns
    %o = tt.dot %pa, %v, %zeros : tensor<32x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<32x64xf32, #blocked>
    %n = arith.addf %o, %r : tensor<32x64xf32, #blocked>
    tt.return %n : tensor<32x64xf32, #blocked>
  }
}
