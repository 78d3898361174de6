// tritongpu-optimize-dot-operands: words across K that a loop loads for mma.sync go through a buffer of rows as they
// were loaded, so that threads copy 16 bytes at once, in which eight lanes read eight words of a row and the four rows
// of other lanes lie in other banks. Loaded outside of a loop they are not copied: the buffer is the one that the
// conversion would use, from which a lane reads two words at once.
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target sm_90a --verify-each | FileCheck %s

// CHECK-DAG: #[[WORDS:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [0, 1]}>
// CHECK-DAG: #[[NARROW:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 2, order = [0, 1]}>
// CHECK-DAG: #[[PLAN:.*]] = #ttg.shared_linear<

#columns = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#narrow = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @in_loop
  // CHECK: %[[X:.*]] = tt.load
  // CHECK: %[[M:.*]] = ttg.local_alloc %[[X]] {{.*}} -> !ttg.memdesc<32x64xf32, #[[WORDS]],
  // CHECK: ttg.local_load %[[M]]
  tt.func @in_loop(%x: tensor<32x64x!tt.ptr<f32>, #columns>, %q: tensor<64x64xf32, #b>, %n: i32) -> tensor<32x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x64xf32, #mma>) : i32 {
      %v = tt.load %x : tensor<32x64x!tt.ptr<f32>, #columns>
      %p = ttg.convert_layout %v : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #a>
      %d = tt.dot %p, %q, %acc, inputPrecision = tf32 : tensor<32x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<32x64xf32, #mma>
      scf.yield %d : tensor<32x64xf32, #mma>
    }
    tt.return %r : tensor<32x64xf32, #mma>
  }

  // Two rows of 16 words fill the banks once.
  // CHECK-LABEL: @narrow_rows
  // CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<16x64xf32, #[[NARROW]],
  tt.func @narrow_rows(%x: tensor<16x64x!tt.ptr<f32>, #narrow>, %q: tensor<64x64xf32, #b>, %n: i32) -> tensor<16x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32, #mma>) : i32 {
      %v = tt.load %x : tensor<16x64x!tt.ptr<f32>, #narrow>
      %p = ttg.convert_layout %v : tensor<16x64xf32, #narrow> -> tensor<16x64xf32, #a>
      %d = tt.dot %p, %q, %acc, inputPrecision = tf32 : tensor<16x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<16x64xf32, #mma>
      scf.yield %d : tensor<16x64xf32, #mma>
    }
    tt.return %r : tensor<16x64xf32, #mma>
  }

  // CHECK-LABEL: @once
  // CHECK: ttg.local_alloc {{.*}} -> !ttg.memdesc<32x64xf32, #[[PLAN]],
  tt.func @once(%x: tensor<32x64x!tt.ptr<f32>, #columns>, %q: tensor<64x64xf32, #b>) -> tensor<32x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<32x64xf32, #mma>
    %v = tt.load %x : tensor<32x64x!tt.ptr<f32>, #columns>
    %p = ttg.convert_layout %v : tensor<32x64xf32, #columns> -> tensor<32x64xf32, #a>
    %d = tt.dot %p, %q, %zero, inputPrecision = tf32 : tensor<32x64xf32, #a> * tensor<64x64xf32, #b> -> tensor<32x64xf32, #mma>
    tt.return %d : tensor<32x64xf32, #mma>
  }
}
