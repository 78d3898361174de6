// Replicated elements that are loaded only to be stored again: the thread that stores an element loads it, under the
// store's predicate and without a barrier in between. A load with other uses, or from memory that the kernel does not
// store to, is done by all threads that hold the element.
// RUN: tessera compile %s --kernel in_place --target sm_90a --emit ptx | FileCheck %s
// RUN: tessera compile %s --kernel in_place --target sm_80 --num-warps 2 --emit ptx | FileCheck %s --check-prefix=TWO
// CHECK-LABEL: .entry in_place(
// CHECK-NOT: ld.global
// CHECK: @[[P:%p[0-9]+]] ld.global
// CHECK-NOT: bar.sync
// CHECK: @[[P]] st.global
// CHECK-LABEL: .entry masked(
// CHECK-NOT: ld.global
// CHECK: @[[P:%p[0-9]+]] ld.global
// CHECK-NOT: bar.sync
// CHECK: @[[P]] st.global
// CHECK-LABEL: .entry scalar(
// CHECK-NOT: ld.global
// CHECK: @[[P:%p[0-9]+]] ld.global
// CHECK-NOT: bar.sync
// CHECK: @[[P]] st.global
// CHECK-LABEL: .entry summed(
// CHECK-NOT: @{{.*}} ld.global
// CHECK: ld.global
// CHECK: bar.sync
// CHECK: st.global
// CHECK-LABEL: .entry copied(
// CHECK-NOT: @{{.*}} ld.global
// CHECK: ld.global
// CHECK-NOT: bar.sync
// CHECK: st.global
// With an element for each thread:
// TWO-LABEL: .entry in_place(
// TWO-NOT: @{{.*}} ld.global
// TWO: ld.global
module {
  // 64 elements: of four warps two load.
  tt.func public @in_place(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %a : tensor<64x!tt.ptr<f32>>
    %y = arith.addf %x, %x : tensor<64xf32>
    tt.store %a, %y : tensor<64x!tt.ptr<f32>>
    tt.return
  }
  tt.func public @masked(%p: !tt.ptr<f32>, %n: i32) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %ns = tt.splat %n : i32 -> tensor<64xi32>
    %m = arith.cmpi slt, %r, %ns : tensor<64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %a, %m : tensor<64x!tt.ptr<f32>>
    %t = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %b = tt.addptr %t, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %b, %x, %m : tensor<64x!tt.ptr<f32>>
    tt.return
  }
  tt.func public @scalar(%p: !tt.ptr<i32>, %n: i32) {
    %x = tt.load %p : !tt.ptr<i32>
    %y = arith.addi %x, %n : i32
    tt.store %p, %y : !tt.ptr<i32>
    tt.return
  }
  tt.func public @summed(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %a : tensor<64x!tt.ptr<f32>>
    tt.store %a, %x : tensor<64x!tt.ptr<f32>>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tt.reduce.return %w : f32
    }) : (tensor<64xf32>) -> f32
    tt.store %q, %sum : !tt.ptr<f32>
    tt.return
  }
  tt.func public @copied(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %x = tt.load %a : tensor<64x!tt.ptr<f32>>
    %t = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %b = tt.addptr %t, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %b, %x : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
