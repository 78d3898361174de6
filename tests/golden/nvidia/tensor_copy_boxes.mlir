// A block of several boxes: each warp starts one of four. A kernel's only bulk store is distributed alike; of two stores
// one thread starts all boxes, since it alone waits for them where order matters.
// RUN: tessera compile %s --kernel one --target sm_90a --num-warps 4 --emit ptx | FileCheck %s --check-prefix=FOUR
// RUN: tessera compile %s --kernel one --target sm_90a --num-warps 1 --emit ptx | FileCheck %s --check-prefix=SINGLE
// RUN: tessera compile %s --kernel one --target sm_90a --num-warps 8 --emit ptx | FileCheck %s --check-prefix=EIGHT
// RUN: tessera compile %s --kernel two --target sm_90a --num-warps 4 --emit ptx | FileCheck %s --check-prefix=TWO
// FOUR-COUNT-1: cp.async.bulk.tensor.2d.shared::cluster.global
// FOUR-NOT: cp.async.bulk.tensor.2d.shared::cluster.global
// FOUR-COUNT-1: cp.async.bulk.tensor.2d.global.shared::cta
// FOUR-NOT: cp.async.bulk.tensor.2d.global.shared::cta
// FOUR: cp.async.bulk.commit_group
// SINGLE-COUNT-4: cp.async.bulk.tensor.2d.shared::cluster.global
// SINGLE-COUNT-4: cp.async.bulk.tensor.2d.global.shared::cta
// The other four warps start none.
// EIGHT: setp.lt.u32 %[[SOME:p[0-9]+]], %{{.*}}, 128
// EIGHT-COUNT-1: cp.async.bulk.tensor.2d.shared::cluster.global
// EIGHT-NOT: cp.async.bulk.tensor.2d.shared::cluster.global
// EIGHT: .visible .entry two(
// TWO: .visible .entry two(
// TWO-COUNT-1: cp.async.bulk.tensor.2d.shared::cluster.global
// TWO-NOT: cp.async.bulk.tensor.2d.shared::cluster.global
// TWO-COUNT-8: cp.async.bulk.tensor.2d.global.shared::cta
tt.func public @one(%a: !tt.tensordesc<tensor<16x256xf16>>, %o: !tt.tensordesc<tensor<16x256xf16>>, %i: i32) {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %a[%i, %c0] : !tt.tensordesc<tensor<16x256xf16>> -> tensor<16x256xf16>
  tt.descriptor_store %o[%i, %c0], %x : !tt.tensordesc<tensor<16x256xf16>>, tensor<16x256xf16>
  tt.return
}
tt.func public @two(%a: !tt.tensordesc<tensor<16x256xf16>>, %o: !tt.tensordesc<tensor<16x256xf16>>, %i: i32, %j: i32) {
  %c0 = arith.constant 0 : i32
  %x = tt.descriptor_load %a[%i, %c0] : !tt.tensordesc<tensor<16x256xf16>> -> tensor<16x256xf16>
  tt.descriptor_store %o[%i, %c0], %x : !tt.tensordesc<tensor<16x256xf16>>, tensor<16x256xf16>
  tt.descriptor_store %o[%j, %c0], %x : !tt.tensordesc<tensor<16x256xf16>>, tensor<16x256xf16>
  tt.return
}
