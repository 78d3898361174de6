// A function of the device library that is called with other types than its own, here one with an output parameter in
// private memory, is an error that shows both types.
// RUN: not tessera compile %s --target gfx942 --num-warps 1 --emit llir -o - 2>&1 | FileCheck %s
// CHECK: device_function_type.mlir:[[#@LINE+8]]:10: error: function '__ocml_frexp_f32' has type float (float, ptr addrspace(5)) in the device library, not float (float, ptr addrspace(1))
module {
  tt.func public @f(%x: !tt.ptr<f32>, %o: !tt.ptr<i32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %s = tt.splat %o : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
    %t = tt.addptr %s, %r : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
    %v = tt.load %x : !tt.ptr<f32>
    %w = tt.splat %v : f32 -> tensor<64xf32>
    %e = tt.extern_elementwise %w, %t {libname = "", libpath = "", pure = true, symbol = "__ocml_frexp_f32"} : (tensor<64xf32>, tensor<64x!tt.ptr<i32>>) -> tensor<64xf32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %p, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    tt.store %q, %e : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
