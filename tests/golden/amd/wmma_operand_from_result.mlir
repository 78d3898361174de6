// RDNA 3: a dot's operand that is another dot's result. A lane has eight of the 16 elements along K, the other half of
// the wave the others, and both need all: words are exchanged between the halves, not through LDS.
// RUN: tessera compile %s --target gfx1100 --num-warps 4 --emit amdgcn | FileCheck %s
// CHECK: v_wmma_f32_16x16x16_f16
// CHECK-NOT: ds_store
// CHECK-COUNT-4: v_permlanex16_b32
// CHECK-NOT: ds_store
// CHECK: v_wmma_f32_16x16x16_f16
tt.func public @chained(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %stride = arith.constant dense<64> : tensor<64x1xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %r0 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r1 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rows = arith.muli %r0, %stride : tensor<64x1xi32>
  %rb = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %r1 : tensor<1x64xi32> -> tensor<64x64xi32>
  %at = arith.addi %rb, %cb : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %ap = tt.addptr %as, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bp = tt.addptr %bs, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %cp = tt.addptr %cs, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  %x = tt.load %ap : tensor<64x64x!tt.ptr<f16>>
  %y = tt.load %bp : tensor<64x64x!tt.ptr<f16>>
  %d = tt.dot %x, %y, %zeros : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %h = arith.truncf %d : tensor<64x64xf32> to tensor<64x64xf16>
  %e = tt.dot %h, %y, %zeros : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.store %cp, %e : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
