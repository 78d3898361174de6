// tritongpu-optimize-dot-operands: bytes across K that a loop loads for a dot alone go through a buffer whose rows are
// swizzled in words that can be copied asynchronously, also where they are transposed first. Loaded outside of a loop
// they are not copied: the buffer is the one that the conversion would use.
// RUN: tessera opt %s -tritongpu-optimize-dot-operands --target sm_80 --verify-each | FileCheck %s

// CHECK-DAG: #[[ROWS:.*]] = #ttg.swizzled_shared<{{.*}}order = [1, 0]}>
// CHECK-DAG: #[[COLUMNS:.*]] = #ttg.swizzled_shared<{{.*}}order = [0, 1]}>
// CHECK-DAG: #[[PLAN:.*]] = #ttg.shared_linear<

#blocked = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [8, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 8], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @in_loop
  // CHECK: %[[X:.*]] = tt.load
  // CHECK: %[[Y:.*]] = tt.load
  // CHECK-DAG: %[[M:.*]] = ttg.local_alloc %[[X]] {{.*}} -> !ttg.memdesc<64x64xi8, #[[ROWS]],
  // CHECK-DAG: %[[T:.*]] = ttg.memdesc_trans %[[M]] {{.*}} -> !ttg.memdesc<64x64xi8, #[[COLUMNS]],
  // CHECK-DAG: ttg.local_load %[[T]]
  // CHECK-DAG: ttg.local_alloc %[[Y]] {{.*}} -> !ttg.memdesc<64x64xi8, #[[ROWS]],
  // CHECK: tt.dot
  tt.func @in_loop(%x: tensor<64x64x!tt.ptr<i8>, #blocked>, %y: tensor<64x64x!tt.ptr<i8>, #blocked>, %n: i32) -> tensor<64x64xi32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0> : tensor<64x64xi32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xi32, #mma>) : i32 {
      %v = tt.load %x : tensor<64x64x!tt.ptr<i8>, #blocked>
      %w = tt.load %y : tensor<64x64x!tt.ptr<i8>, #blocked>
      %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #columns>
      %p = ttg.convert_layout %t : tensor<64x64xi8, #columns> -> tensor<64x64xi8, #a>
      %q = ttg.convert_layout %w : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #b>
      %d = tt.dot %p, %q, %acc : tensor<64x64xi8, #a> * tensor<64x64xi8, #b> -> tensor<64x64xi32, #mma>
      scf.yield %d : tensor<64x64xi32, #mma>
    }
    tt.return %r : tensor<64x64xi32, #mma>
  }
  // CHECK-LABEL: @once
  // CHECK: ttg.local_alloc {{.*}}#[[PLAN]],
  tt.func @once(%x: tensor<64x64x!tt.ptr<i8>, #blocked>, %q: tensor<64x64xi8, #b>) -> tensor<64x64xi32, #mma> {
    %zero = arith.constant dense<0> : tensor<64x64xi32, #mma>
    %v = tt.load %x : tensor<64x64x!tt.ptr<i8>, #blocked>
    %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<64x64xi8, #blocked> -> tensor<64x64xi8, #columns>
    %p = ttg.convert_layout %t : tensor<64x64xi8, #columns> -> tensor<64x64xi8, #a>
    %d = tt.dot %p, %q, %zero : tensor<64x64xi8, #a> * tensor<64x64xi8, #b> -> tensor<64x64xi32, #mma>
    tt.return %d : tensor<64x64xi32, #mma>
  }
}
