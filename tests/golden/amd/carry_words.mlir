// Bytes that a loop carries, eight a thread, are carried as two words; two bytes stay bytes.
// RUN: tessera compile %s --kernel eight --target gfx1201 --emit llir -o - | FileCheck %s
// RUN: tessera compile %s --kernel eight --target gfx1100 --emit llir -o - | FileCheck %s
// CHECK-LABEL: @eight
// CHECK: %[[A:.*]] = bitcast <4 x i8> %{{.*}} to i32
// CHECK-NOT: phi {{.*}}i8
// CHECK: phi i32 [ %[[A]], %{{.*}} ], [ %[[B:.*]], %{{.*}} ]
// CHECK-NOT: phi {{.*}}i8
// CHECK: %[[B]] = bitcast <4 x i8> %{{.*}} to i32
// CHECK-NOT: phi {{.*}}i8
// CHECK-LABEL: @two
// CHECK: phi i8
module {
  tt.func public @eight(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
    %zero = arith.constant dense<0> : tensor<1024xi32>
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<1024x!tt.ptr<i8>>
    %a = tt.addptr %s, %r : tensor<1024x!tt.ptr<i8>>, tensor<1024xi32>
    %first = tt.load %a : tensor<1024x!tt.ptr<i8>>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %now = %first) -> (tensor<1024xi32>, tensor<1024xi8>) : i32 {
      %next = arith.addi %i, %c1 : i32
      %d = arith.muli %next, %c1024 : i32
      %ds = tt.splat %d : i32 -> tensor<1024xi32>
      %b = tt.addptr %a, %ds : tensor<1024x!tt.ptr<i8>>, tensor<1024xi32>
      %v = tt.load %b : tensor<1024x!tt.ptr<i8>>
      %w = arith.extsi %now : tensor<1024xi8> to tensor<1024xi32>
      %new = arith.addi %acc, %w : tensor<1024xi32>
      scf.yield %new, %v : tensor<1024xi32>, tensor<1024xi8>
    }
    %so = tt.splat %o : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %q = tt.addptr %so, %r : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    tt.store %q, %sum#0 : tensor<1024x!tt.ptr<i32>>
    tt.return
  }
  tt.func public @two(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
    %zero = arith.constant dense<0> : tensor<256xi32>
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c256 = arith.constant 256 : i32
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %s = tt.splat %p : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
    %a = tt.addptr %s, %r : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
    %first = tt.load %a : tensor<256x!tt.ptr<i8>>
    %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %now = %first) -> (tensor<256xi32>, tensor<256xi8>) : i32 {
      %next = arith.addi %i, %c1 : i32
      %d = arith.muli %next, %c256 : i32
      %ds = tt.splat %d : i32 -> tensor<256xi32>
      %b = tt.addptr %a, %ds : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
      %v = tt.load %b : tensor<256x!tt.ptr<i8>>
      %w = arith.extsi %now : tensor<256xi8> to tensor<256xi32>
      %new = arith.addi %acc, %w : tensor<256xi32>
      scf.yield %new, %v : tensor<256xi32>, tensor<256xi8>
    }
    %so = tt.splat %o : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %q = tt.addptr %so, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %q, %sum#0 : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
