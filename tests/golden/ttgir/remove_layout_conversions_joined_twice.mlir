// Words that are repeated by joining them with themselves, as the bits of packed weights are shifted out: the words are
// converted, half as many, rather than what they are joined to. Not if two tensors are joined: converting both costs as
// much as converting the result.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target gfx1201 --verify-each | FileCheck %s
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target sm_90a --verify-each | FileCheck %s
#in = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#pairs = #ttg.blocked<{sizePerThread = [1, 4, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#joined = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#out = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @repeated
  // CHECK: %[[X:.*]] = tt.load
  // CHECK-NEXT: %[[C:.*]] = ttg.convert_layout %[[X]] : tensor<32x32xi32, {{.*}} -> tensor<32x32xi32,
  // CHECK-NEXT: tt.join %[[C]], %[[C]]
  // CHECK-NOT: ttg.convert_layout
  tt.func @repeated(%p: tensor<32x32x!tt.ptr<i32>, #in>, %q: tensor<32x64x!tt.ptr<i32>, #out>) {
    %x = tt.load %p : tensor<32x32x!tt.ptr<i32>, #in>
    %j = tt.join %x, %x : tensor<32x32xi32, #in> -> tensor<32x32x2xi32, #pairs>
    %r = tt.reshape %j : tensor<32x32x2xi32, #pairs> -> tensor<32x64xi32, #joined>
    %c = ttg.convert_layout %r : tensor<32x64xi32, #joined> -> tensor<32x64xi32, #out>
    tt.store %q, %c : tensor<32x64x!tt.ptr<i32>, #out>
    tt.return
  }
  // CHECK-LABEL: @two
  // CHECK: tt.join
  // CHECK-NEXT: tt.reshape
  // CHECK-NEXT: ttg.convert_layout {{.*}} -> tensor<32x64xi32,
  tt.func @two(%p: tensor<32x32x!tt.ptr<i32>, #in>, %s: tensor<32x32x!tt.ptr<i32>, #in>, %q: tensor<32x64x!tt.ptr<i32>, #out>) {
    %x = tt.load %p : tensor<32x32x!tt.ptr<i32>, #in>
    %y = tt.load %s : tensor<32x32x!tt.ptr<i32>, #in>
    %j = tt.join %x, %y : tensor<32x32xi32, #in> -> tensor<32x32x2xi32, #pairs>
    %r = tt.reshape %j : tensor<32x32x2xi32, #pairs> -> tensor<32x64xi32, #joined>
    %c = ttg.convert_layout %r : tensor<32x64xi32, #joined> -> tensor<32x64xi32, #out>
    tt.store %q, %c : tensor<32x64x!tt.ptr<i32>, #out>
    tt.return
  }
}
