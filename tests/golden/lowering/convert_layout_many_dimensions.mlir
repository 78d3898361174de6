// Tensors with many dimensions, as sorting makes them (log2(1024) = 10): an exchange along one dimension is an
// exchange of registers, lanes or warps, without a layout conversion.
// RUN: tessera compile %s --target sm_90a --emit ttgir | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s --check-prefix=PTX
// RUN: tessera compile %s --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=AMD
// CHECK-LABEL: @exchange
// CHECK: tt.reshape {{.*}} -> tensor<2x2x2x2x2x2x2x2x2x2xi32,
// CHECK: "tt.reduce"
// CHECK: tt.store
// PTX: .entry exchange
// PTX: shfl.sync.bfly
// AMD: exchange:
module {
  tt.func public @exchange(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %1 = tt.splat %p : !tt.ptr<i32> -> tensor<1024x!tt.ptr<i32>>
    %2 = tt.addptr %1, %0 : tensor<1024x!tt.ptr<i32>>, tensor<1024xi32>
    %3 = tt.load %2 : tensor<1024x!tt.ptr<i32>>
    %4 = tt.reshape %3 : tensor<1024xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
    %5 = "tt.reduce"(%4) <{axis = 5 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %9 = arith.xori %a, %b : i32
      tt.reduce.return %9 : i32
    }) : (tensor<2x2x2x2x2x2x2x2x2x2xi32>) -> tensor<2x2x2x2x2x2x2x2x2xi32>
    %6 = tt.expand_dims %5 {axis = 5 : i32} : tensor<2x2x2x2x2x2x2x2x2xi32> -> tensor<2x2x2x2x2x1x2x2x2x2xi32>
    %7 = tt.broadcast %6 : tensor<2x2x2x2x2x1x2x2x2x2xi32> -> tensor<2x2x2x2x2x2x2x2x2x2xi32>
    %8 = arith.xori %4, %7 : tensor<2x2x2x2x2x2x2x2x2x2xi32>
    %10 = tt.reshape %8 : tensor<2x2x2x2x2x2x2x2x2x2xi32> -> tensor<1024xi32>
    tt.store %2, %10 : tensor<1024x!tt.ptr<i32>>
    tt.return
  }
}
