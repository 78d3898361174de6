// wgmma and tcgen05.mma read operands from shared memory, which must have room for them together. mma.sync takes larger
// ones in repetitions.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a --remarks 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_100a --remarks 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#l = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#r = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // 64 and 128 KiB.
  // CHECK-LABEL: @fit
  // CHECK: ttng.warp_group_dot
  // REMARK: is computed by {{wgmma|tcgen05}}
  tt.func public @fit(%a: tensor<64x512xf16, #blocked>, %b: tensor<512x128xf16, #blocked>, %c: tensor<64x128xf32, #blocked>) -> tensor<64x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<64x512xf16, #blocked> -> tensor<64x512xf16, #l>
    %y = ttg.convert_layout %b : tensor<512x128xf16, #blocked> -> tensor<512x128xf16, #r>
    %d = tt.dot %x, %y, %c : tensor<64x512xf16, #l> * tensor<512x128xf16, #r> -> tensor<64x128xf32, #blocked>
    tt.return %d : tensor<64x128xf32, #blocked>
  }
  // 128 KiB each, of 227.
  // CHECK-LABEL: @too_large
  // CHECK-NOT: warp_group_dot
  // CHECK: tt.dot
  // REMARK: is computed by mma.sync {{.*}}; not by {{wgmma|tcgen05}}: its operands do not fit into shared memory together
  tt.func public @too_large(%a: tensor<128x512xf16, #blocked>, %b: tensor<512x128xf16, #blocked>, %c: tensor<128x128xf32, #blocked>) -> tensor<128x128xf32, #blocked> {
    %x = ttg.convert_layout %a : tensor<128x512xf16, #blocked> -> tensor<128x512xf16, #l>
    %y = ttg.convert_layout %b : tensor<512x128xf16, #blocked> -> tensor<512x128xf16, #r>
    %d = tt.dot %x, %y, %c : tensor<128x512xf16, #l> * tensor<512x128xf16, #r> -> tensor<128x128xf32, #blocked>
    tt.return %d : tensor<128x128xf32, #blocked>
  }
}
