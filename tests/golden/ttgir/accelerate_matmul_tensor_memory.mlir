// sm_100a: a dot that a tcgen05.mma takes reads its operands from shared memory, and its result has the layout in which
// one access loads it from tensor memory. Others, and all with tensor-memory=0, are computed by mma.sync.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_100a --remarks 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: tessera opt %s -tritongpu-accelerate-matmul="tensor-memory=0" --target sm_100a | FileCheck %s --check-prefix=OFF
// OFF-NOT: warp_group_dot
// CHECK-DAG: #[[ROWS:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = {{\[\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = {{\[\[}}32, 0], [64, 0]]
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#l = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#r = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @halves
  // CHECK-DAG: %[[A:.*]] = ttg.local_alloc %arg0
  // CHECK-DAG: %[[B:.*]] = ttg.local_alloc %arg1
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %[[A]], %[[B]], %{{.*}} -> tensor<128x64xf32, #[[ROWS]]>
  // CHECK: ttg.convert_layout %[[D]]
  // REMARK: is computed by tcgen05.mma m128n64k16 [
  tt.func public @halves(%a: tensor<128x64xf16, #blocked>, %b: tensor<64x64xf16, #blocked>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #l>
    %y = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #r>
    %d = tt.dot %x, %y, %c : tensor<128x64xf16, #l> * tensor<64x64xf16, #r> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }
  // Bytes are read across K as they lie; words are stored along K.
  // REMARK: f8E4M3FN by f8E4M3FN into f32 is computed by tcgen05.mma m128n64k32 [
  tt.func public @bytes(%a: tensor<128x64xf8E4M3FN, #blocked>, %b: tensor<64x64xf8E4M3FN, #blocked>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf8E4M3FN, #blocked> -> tensor<128x64xf8E4M3FN, #l>
    %y = ttg.convert_layout %b : tensor<64x64xf8E4M3FN, #blocked> -> tensor<64x64xf8E4M3FN, #r>
    %d = tt.dot %x, %y, %c : tensor<128x64xf8E4M3FN, #l> * tensor<64x64xf8E4M3FN, #r> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }
  // REMARK: f32 by f32 into f32 is computed by tcgen05.mma m128n64k8, the B operand stored along K [
  tt.func public @words(%a: tensor<128x64xf32, #blocked>, %b: tensor<64x64xf32, #blocked>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x64xf32, #blocked> -> tensor<128x64xf32, #l>
    %y = ttg.convert_layout %b : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #r>
    %d = tt.dot %x, %y, %c, inputPrecision = tf32 : tensor<128x64xf32, #l> * tensor<64x64xf32, #r> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }
  // CHECK-LABEL: @low
  // CHECK: tt.dot
  // CHECK-NOT: warp_group_dot
  // REMARK: is computed by mma.sync {{.*}}; not by tcgen05: a tile has 64 rows and 16 columns at least
  tt.func public @low(%a: tensor<32x64xf16, #blocked>, %b: tensor<64x64xf16, #blocked>, %c: tensor<32x64xf32, #blocked>) -> tensor<32x64xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #l>
    %y = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #r>
    %d = tt.dot %x, %y, %c : tensor<32x64xf16, #l> * tensor<64x64xf16, #r> -> tensor<32x64xf32, #blocked>
    tt.return %d : tensor<32x64xf32, #blocked>
  }
  // The kernel allocates tensor memory, and not a function that it calls.
  // CHECK-LABEL: @called
  // CHECK: tt.dot
  // CHECK-NOT: warp_group_dot
  // REMARK: is computed by mma.sync {{.*}}; not by tcgen05: it is in a function that kernels call
  tt.func private @called(%a: tensor<128x64xf16, #blocked>, %b: tensor<64x64xf16, #blocked>, %c: tensor<128x64xf32, #blocked>) -> tensor<128x64xf32, #blocked> attributes {noinline = true} {
    %x = ttg.convert_layout %a : tensor<128x64xf16, #blocked> -> tensor<128x64xf16, #l>
    %y = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #r>
    %d = tt.dot %x, %y, %c : tensor<128x64xf16, #l> * tensor<64x64xf16, #r> -> tensor<128x64xf32, #blocked>
    tt.return %d : tensor<128x64xf32, #blocked>
  }
}
