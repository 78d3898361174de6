// RDNA 3's WMMA spread rows of the accumulator over both halves of a wave alternately. The lanes of the operand that
// gives these rows are ordered so that a lane has eight of them side by side: results are stored as they are, by 16
// bytes a lane, without a way through LDS.
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit ttgir | FileCheck %s --check-prefix=IR
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn | FileCheck %s
// IR: #mma = #ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [1, 1], consecutiveRows = true}>
// IR: tt.store {{.*}} : tensor<16x16x!tt.ptr<f16>, #mma>
// CHECK: v_wmma_f32_16x16x16_f16
// CHECK-NOT: ds_
// CHECK: {{(global|buffer)}}_store_b128
tt.func public @dot(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %zeros = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
  %stride = arith.constant dense<16> : tensor<16x1xi32>
  %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %r0 = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %rows = arith.muli %r0, %stride : tensor<16x1xi32>
  %rb = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x16xi32>
  %cb = tt.broadcast %r1 : tensor<1x16xi32> -> tensor<16x16xi32>
  %at = arith.addi %rb, %cb : tensor<16x16xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %ap = tt.addptr %as, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %cs = tt.splat %c : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %cp = tt.addptr %cs, %at : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %x = tt.load %ap : tensor<16x16x!tt.ptr<f16>>
  %y = tt.load %bp : tensor<16x16x!tt.ptr<f16>>
  %d = tt.dot %x, %y, %zeros : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %h = arith.truncf %d : tensor<16x16xf32> to tensor<16x16xf16>
  tt.store %cp, %h : tensor<16x16x!tt.ptr<f16>>
  tt.return
}
