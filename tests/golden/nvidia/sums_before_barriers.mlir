// Sums that LLVM makes one chain of come before the barriers that they do not need: what several reductions leave is one
// register, not the partial sums of all warps.
// RUN: tessera compile %s --num-warps 4 --kernel sums --target sm_90a --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --num-warps 4 --kernel later --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=LATER
// RUN: tessera compile %s --num-warps 4 --kernel returned --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=RETURNED

// CHECK-LABEL: .entry sums(
// CHECK: bar.sync
// CHECK: ld.shared.v4.b32 {%[[A0:r[0-9]+]], %[[A1:r[0-9]+]], %[[A2:r[0-9]+]], %[[A3:r[0-9]+]]}
// CHECK-COUNT-3: add.s32
// CHECK: bar.sync
// CHECK-NOT: %[[A0]]
// CHECK-NOT: %[[A3]]
// CHECK: ld.shared.v4.b32
// CHECK-COUNT-4: add.s32
// CHECK: st.global

// What is summed is needed behind the barrier itself: nothing is freed, and the sum stays there.
// LATER-LABEL: .entry later(
// LATER: ld.global.b32 %[[X:r[0-9]+]]
// LATER: ld.global.b32 %[[Y:r[0-9]+]]
// LATER: bar.sync
// LATER: add.s32 %{{r[0-9]+}}, {{.*%}}[[X]]

// What an operation with effects returns comes after it, and so does a sum of it.
// RETURNED-LABEL: .entry returned(
// RETURNED: add.u32 %[[A:r[0-9]+]], %{{r[0-9]+}}, 1
// RETURNED: add.u32 %[[B:r[0-9]+]], %{{r[0-9]+}}, 2
// RETURNED: add.s32 %{{r[0-9]+}}, %[[B]], %[[A]]
tt.func public @sums(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %p = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %v = tt.load %q : tensor<128x!tt.ptr<i32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tt.reduce.return %t : i32
  }) : (tensor<128xi32>) -> i32
  %c = arith.constant dense<128> : tensor<128xi32>
  %o = arith.addi %r, %c : tensor<128xi32>
  %z = tt.addptr %p, %o : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %w = tt.load %z : tensor<128x!tt.ptr<i32>>
  %u = "tt.reduce"(%w) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    tt.reduce.return %t : i32
  }) : (tensor<128xi32>) -> i32
  %all = arith.addi %s, %u : i32
  tt.store %y, %all : !tt.ptr<i32>
  tt.return
}

tt.func public @later(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %p = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %v = tt.load %q : tensor<128x!tt.ptr<i32>>
  %o = tt.splat %y : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %z = tt.addptr %o, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %w = tt.load %z : tensor<128x!tt.ptr<i32>>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %t = arith.maxsi %a, %b : i32
    tt.reduce.return %t : i32
  }) : (tensor<128xi32>) -> i32
  %all = tt.splat %s : i32 -> tensor<128xi32>
  %vw = arith.addi %v, %w : tensor<128xi32>
  %sum = arith.subi %vw, %all : tensor<128xi32>
  tt.store %z, %sum : tensor<128x!tt.ptr<i32>>
  tt.store %q, %v : tensor<128x!tt.ptr<i32>>
  tt.return
}

tt.func public @returned(%x: !tt.ptr<i32>) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %p = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %q = tt.addptr %p, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %v = tt.load %q : tensor<128x!tt.ptr<i32>>
  %a = tt.elementwise_inline_asm "add.u32 $0, $1, 1;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %v : tensor<128xi32> -> tensor<128xi32>
  %b = tt.elementwise_inline_asm "add.u32 $0, $1, 2;" {constraints = "=r,r", packed_element = 1 : i32, pure = false} %v : tensor<128xi32> -> tensor<128xi32>
  %s = arith.addi %a, %b : tensor<128xi32>
  tt.store %q, %s : tensor<128x!tt.ptr<i32>>
  tt.return
}
