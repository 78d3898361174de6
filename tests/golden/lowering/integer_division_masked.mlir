// Integer division by a masked load: lanes whose mask is off must not divide by zero or poison, which is undefined
// behaviour and would let LLVM drop the mask and load out of bounds.
// RUN: tessera compile %s --target gfx942 --emit llir | FileCheck %s
// CHECK-LABEL: @divide
// CHECK-NOT: load i32
// CHECK: br i1 %{{[0-9]+}}, label %masked
// CHECK: load i32
// CHECK-NOT: load i32
// CHECK: br i1 %{{[0-9]+}}, label %masked
// CHECK: llvm.amdgcn.rcp
module {
  tt.func public @divide(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32, %stride: i64) {
    %c = arith.constant dense<1000> : tensor<1024xi32>
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %1 = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %wide = arith.extsi %0 : tensor<1024xi32> to tensor<1024xi64>
    %by = tt.splat %stride : i64 -> tensor<1024xi64>
    %offset = arith.muli %wide, %by : tensor<1024xi64>
    %2 = tt.addptr %1, %offset : tensor<1024x!tt.ptr<i32>>, tensor<1024xi64>
    %3 = tt.splat %n : i32 -> tensor<1024xi32>
    %m = arith.cmpi slt, %0, %3 : tensor<1024xi32>
    %4 = tt.load %2, %m : tensor<1024x!tt.ptr<i32>>
    %5 = arith.divsi %c, %4 : tensor<1024xi32>
    %6 = tt.splat %q : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %7 = tt.addptr %6, %0 : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    tt.store %7, %5 : tensor<1024x!tt.ptr<i32>>
    tt.return
  }
}
