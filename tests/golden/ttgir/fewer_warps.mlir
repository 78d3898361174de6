// Blocks of 8 elements by 8 warps have one: every thread of the others would repeat what the first ones do. As requested
// where an element has two threads, where something is printed or written for a number of warps, in dots, and where the
// number is exact.
// RUN: tessera compile %s --kernel few --target sm_90a --num-warps 8 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s -DWARPS=1
// RUN: tessera compile %s --kernel few --target gfx942 --num-warps 4 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s -DWARPS=1
// RUN: tessera compile %s --kernel few --target sm_90a --num-warps 8 --exact-num-warps --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=8
// RUN: tessera compile %s --kernel few --target sm_90a --num-warps 1 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=1
// RUN: tessera compile %s --kernel half --target sm_90a --num-warps 4 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=4
// RUN: tessera compile %s --kernel half --target sm_90a --num-warps 8 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: tessera compile %s --kernel printed --target sm_90a --num-warps 8 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=8
// RUN: tessera compile %s --kernel assembly --target sm_90a --num-warps 8 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=8
// RUN: tessera compile %s --kernel product --target sm_90a --num-warps 32 --emit ttgir -o /dev/null --metadata - --remarks=FewerWarps 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=32
// CHECK-DAG: remark: 'few' has 1 warp instead of {{[48]}}: no tensor of it has more than 8 elements [fewer-warps:FewerWarps]
// CHECK-DAG: "num_warps": [[WARPS]]
// HALF-DAG: remark: 'half' has 2 warps instead of 8: no tensor of it has more than 64 elements [fewer-warps:FewerWarps]
// HALF-DAG: "num_warps": 2
// SAME-NOT: remark
// SAME: "num_warps": [[WARPS]]
// SAME-NOT: remark
tt.func public @few(%p: !tt.ptr<i32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %s = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %at = tt.addptr %s, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %at, %i : tensor<8x!tt.ptr<i32>>
  tt.return
}
tt.func public @half(%p: !tt.ptr<i32>) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.splat %p : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %at = tt.addptr %s, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %at, %i : tensor<64x!tt.ptr<i32>>
  tt.return
}
tt.func public @printed(%n: i32) {
  tt.print "n" {hex = false, isSigned = array<i32: 1>} : %n : i32
  tt.return
}
tt.func public @assembly(%p: !tt.ptr<i32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %i : tensor<8xi32> -> tensor<8xi32>
  %s = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %at = tt.addptr %s, %j : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %at, %j : tensor<8x!tt.ptr<i32>>
  tt.return
}
tt.func public @product(%p: !tt.ptr<f32>, %x: f16) {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %a = tt.splat %x : f16 -> tensor<16x16xf16>
  %d = tt.dot %a, %a, %zero : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
  tt.store %s, %d : tensor<16x16x!tt.ptr<f32>>
  tt.return
}
