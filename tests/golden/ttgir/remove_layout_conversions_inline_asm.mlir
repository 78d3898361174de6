// tritongpu-remove-layout-conversions: inline assembly without effects is done in any layout, as it says nothing about
// which elements of a thread share its registers; that with effects stays where it is.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Between two dots: no conversion is left.
  // CHECK-LABEL: @between_dots
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.elementwise_inline_asm {{.*}} -> tensor<64x64xf32, #mma>
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: tt.return
  tt.func @between_dots(%x: tensor<64x64xf32, #mma>) -> tensor<64x64xbf16, #mma> {
    %a = ttg.convert_layout %x : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %t = tt.elementwise_inline_asm "tanh.approx.f32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %a : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #blocked>
    %n = arith.truncf %t : tensor<64x64xf32, #blocked> to tensor<64x64xbf16, #blocked>
    %r = ttg.convert_layout %n : tensor<64x64xbf16, #blocked> -> tensor<64x64xbf16, #mma>
    tt.return %r : tensor<64x64xbf16, #mma>
  }

  // Several elements at a time, several results.
  // CHECK-LABEL: @packed
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @packed(%x: tensor<64x64xi8, #mma>) -> (tensor<64x64xf16, #mma>, tensor<64x64xf16, #mma>) {
    %a = ttg.convert_layout %x : tensor<64x64xi8, #mma> -> tensor<64x64xi8, #blocked>
    %low, %high = tt.elementwise_inline_asm "and.b32 $0, $2, 0x0f0f0f0f; shr.b32 $1, $2, 4;" {constraints = "=r,=r,r", packed_element = 2 : i32, pure = true} %a : tensor<64x64xi8, #blocked> -> tensor<64x64xf16, #blocked>, tensor<64x64xf16, #blocked>
    %l = ttg.convert_layout %low : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
    %h = ttg.convert_layout %high : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
    tt.return %l, %h : tensor<64x64xf16, #mma>, tensor<64x64xf16, #mma>
  }

  // CHECK-LABEL: @with_effects
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: tt.elementwise_inline_asm {{.*}} -> tensor<64x64xf32, #blocked>
  // CHECK-NEXT: ttg.convert_layout
  tt.func @with_effects(%x: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %a = ttg.convert_layout %x : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #blocked>
    %t = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %a : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #blocked>
    %r = ttg.convert_layout %t : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #mma>
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
