// Functions of triton.language.extra.libdevice that have names of Triton's own on AMD, which no library has.
// RUN: tessera compile %s --target gfx942 --emit llir --num-warps 1 -o - | FileCheck %s --implicit-check-not=__triton_hip
// RUN: tessera compile %s --target gfx1100 --emit hsaco --num-warps 1 -o %t
// RUN: tessera compile %s --target sm_80 --emit llir --num-warps 1 -o - | FileCheck %s --check-prefix=NVIDIA --implicit-check-not=__triton_hip

// CHECK-LABEL: @names(
// CHECK-DAG: @llvm.fabs.f32
// CHECK-DAG: @llvm.fabs.f64
// CHECK-DAG: @llvm.abs.i64
// CHECK-DAG: @llvm.amdgcn.rcp.f32
// NVIDIA-LABEL: @names(
tt.func public @names(%a: !tt.ptr<f32>, %d: !tt.ptr<f64>, %i: !tt.ptr<i32>, %l: !tt.ptr<i64>) {
  %x = tt.load %a : !tt.ptr<f32>
  %exp = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__triton_hip_fast_expf"} : (f32) -> f32
  %tanh = tt.extern_elementwise %exp {libname = "", libpath = "", pure = true, symbol = "__triton_hip_fast_tanhf"} : (f32) -> f32
  %div = tt.extern_elementwise %tanh, %x {libname = "", libpath = "", pure = true, symbol = "__triton_hip_fast_fdividef"} : (f32, f32) -> f32
  %abs = tt.extern_elementwise %div {libname = "", libpath = "", pure = true, symbol = "__triton_hip_fabs"} : (f32) -> f32
  tt.store %a, %abs : !tt.ptr<f32>
  %y = tt.load %d : !tt.ptr<f64>
  %absd = tt.extern_elementwise %y {libname = "", libpath = "", pure = true, symbol = "__triton_hip_fabs"} : (f64) -> f64
  tt.store %d, %absd : !tt.ptr<f64>
  %j = tt.load %i : !tt.ptr<i32>
  %absj = tt.extern_elementwise %j {libname = "", libpath = "", pure = true, symbol = "__triton_hip_iabs"} : (i32) -> i32
  tt.store %i, %absj : !tt.ptr<i32>
  %k = tt.load %l : !tt.ptr<i64>
  %absk = tt.extern_elementwise %k {libname = "", libpath = "", pure = true, symbol = "__triton_hip_iabs"} : (i64) -> i64
  %r = tt.extern_elementwise %y {libname = "", libpath = "", pure = true, symbol = "__triton_hip_llrint"} : (f64) -> i64
  %sum = arith.addi %absk, %r : i64
  tt.store %l, %sum : !tt.ptr<i64>
  tt.return
}
