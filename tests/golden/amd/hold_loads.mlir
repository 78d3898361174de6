// All loads are issued before the first is waited for, although instructions are paired for dual issue: without a
// SCHED_BARRIER, a use of the first load is paired with the address of the third.
// RUN: tessera compile %s --target gfx1100 --num-warps 8 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --target gfx1201 --num-warps 8 --emit amdgcn | FileCheck %s
// CHECK-LABEL: rms_norm:
// CHECK: buffer_load_b128
// CHECK-NOT: {{s_waitcnt vmcnt|s_wait_loadcnt}}
// CHECK: buffer_load_b128
// CHECK-NOT: {{s_waitcnt vmcnt|s_wait_loadcnt}}
// CHECK: buffer_load_b128
// CHECK-NOT: {{s_waitcnt vmcnt|s_wait_loadcnt}}
// CHECK: buffer_load_b128
// CHECK: {{s_waitcnt vmcnt|s_wait_loadcnt}}
// CHECK: v_dual_
// CHECK: ds_store_b32

module {
  tt.func public @rms_norm(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: i32 {tt.divisibility = 16 : i32}) {
    %cst = arith.constant dense<0.000000e+00> : tensor<8192xbf16>
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32>
    %2 = tt.splat %arg2 : i32 -> tensor<8192xi32>
    %3 = arith.cmpi slt, %1, %2 : tensor<8192xi32>
    %4 = arith.muli %0, %arg2 : i32
    %5 = tt.addptr %arg0, %4 : !tt.ptr<bf16>, i32
    %6 = tt.splat %5 : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>>
    %7 = tt.addptr %6, %1 : tensor<8192x!tt.ptr<bf16>>, tensor<8192xi32>
    %8 = tt.load %7, %3, %cst : tensor<8192x!tt.ptr<bf16>>
    %9 = arith.extf %8 : tensor<8192xbf16> to tensor<8192xf32>
    %10 = arith.mulf %9, %9 : tensor<8192xf32>
    %11 = "tt.reduce"(%10) <{axis = 0 : i32}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      %18 = arith.addf %arg3, %arg4 : f32
      tt.reduce.return %18 : f32
    }) : (tensor<8192xf32>) -> f32
    %12 = tt.splat %11 : f32 -> tensor<8192xf32>
    %13 = arith.divf %9, %12 : tensor<8192xf32>
    %14 = arith.truncf %13 : tensor<8192xf32> to tensor<8192xbf16>
    %15 = tt.addptr %arg1, %4 : !tt.ptr<bf16>, i32
    %16 = tt.splat %15 : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>>
    %17 = tt.addptr %16, %1 : tensor<8192x!tt.ptr<bf16>>, tensor<8192xi32>
    tt.store %17, %14, %3 : tensor<8192x!tt.ptr<bf16>>
    tt.return
  }
}
