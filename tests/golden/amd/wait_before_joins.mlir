// Persistent kernels, which load the next row before the work on this one. Behind a branch around a store, the block that
// takes over the next row would wait for the store, too: its load is waited for ahead of the branch (branch). A loop that
// begins with the row loaded before it would wait for the last iteration's stores: the row is waited for ahead of the
// loop (loop). Not at level 1, and not where stores have a counter of their own.
// RUN: tessera compile %s --kernel branch --target gfx942 --num-warps 8 --num-stages 2 --emit amdgcn -o - | FileCheck %s --check-prefix=BRANCH
// RUN: tessera compile %s --kernel branch --target gfx942 --num-warps 8 --num-stages 2 -O1 --emit amdgcn -o - | FileCheck %s --check-prefix=SAME
// RUN: tessera compile %s --kernel branch --target gfx1100 --num-warps 8 --num-stages 2 --emit amdgcn -o - | FileCheck %s --check-prefix=SAME
// RUN: tessera compile %s --kernel loop --target gfx942 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck %s --check-prefix=LOOP
// BRANCH-LABEL: {{^}}branch:
// BRANCH: buffer_load_dwordx4
// BRANCH: s_barrier
// BRANCH: s_barrier
// BRANCH: s_waitcnt vmcnt(0)
// BRANCH-NEXT: s_cbranch_execz
// BRANCH-NOT: vmcnt
// BRANCH: buffer_store_dwordx4
// BRANCH-NOT: vmcnt
// BRANCH: s_endpgm
// SAME-LABEL: {{^}}branch:
// SAME-NOT: s_waitcnt vmcnt({{[0-9]+}}){{[[:space:]]+}}s_cbranch_execz
// SAME: _store_
// SAME: s_endpgm
// LOOP-LABEL: {{^}}loop:
// LOOP-COUNT-4: buffer_load_dwordx4
// LOOP: s_waitcnt vmcnt(0)
// LOOP: s_cbranch_scc
// LOOP-NOT: vmcnt
// LOOP: buffer_load_dwordx4
tt.func public @branch(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: i32 {tt.divisibility = 16 : i32}, %arg3: i32 {tt.divisibility = 16 : i32}) {
  %cst = arith.constant dense<0xFF80> : tensor<4096xbf16>
  %c304_i32 = arith.constant 304 : i32
  %0 = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
  %1 = tt.get_program_id x : i32
  %2 = tt.splat %arg3 : i32 -> tensor<4096xi32>
  %3 = arith.cmpi slt, %0, %2 : tensor<4096xi32>
  scf.for %arg4 = %1 to %arg2 step %c304_i32  : i32 {
    %4 = arith.muli %arg4, %arg3 : i32
    %5 = tt.addptr %arg0, %4 : !tt.ptr<bf16>, i32
    %6 = tt.splat %5 : !tt.ptr<bf16> -> tensor<4096x!tt.ptr<bf16>>
    %7 = tt.addptr %6, %0 : tensor<4096x!tt.ptr<bf16>>, tensor<4096xi32>
    %8 = tt.load %7, %3, %cst : tensor<4096x!tt.ptr<bf16>>
    %9 = arith.extf %8 : tensor<4096xbf16> to tensor<4096xf32>
    %10 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %21 = arith.maxnumf %arg5, %arg6 : f32
      tt.reduce.return %21 : f32
    }) : (tensor<4096xf32>) -> f32
    %11 = tt.splat %10 : f32 -> tensor<4096xf32>
    %12 = arith.subf %9, %11 : tensor<4096xf32>
    %13 = math.exp %12 : tensor<4096xf32>
    %14 = tt.addptr %arg1, %4 : !tt.ptr<bf16>, i32
    %15 = tt.splat %14 : !tt.ptr<bf16> -> tensor<4096x!tt.ptr<bf16>>
    %16 = tt.addptr %15, %0 : tensor<4096x!tt.ptr<bf16>>, tensor<4096xi32>
    %17 = "tt.reduce"(%13) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %21 = arith.addf %arg5, %arg6 : f32
      tt.reduce.return %21 : f32
    }) : (tensor<4096xf32>) -> f32
    %18 = tt.splat %17 : f32 -> tensor<4096xf32>
    %19 = arith.divf %13, %18 : tensor<4096xf32>
    %20 = arith.truncf %19 : tensor<4096xf32> to tensor<4096xbf16>
    tt.store %16, %20, %3 : tensor<4096x!tt.ptr<bf16>>
  } {tt.num_stages = 2 : i32}
  tt.return
}
tt.func public @loop(%arg0: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg1: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg2: !tt.ptr<bf16> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg3: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %arg4: i32 {tt.divisibility = 16 : i32}, %arg5: i32 {tt.divisibility = 16 : i32}, %arg6: i32 {tt.divisibility = 16 : i32}, %arg7: i32 {tt.divisibility = 16 : i32}, %arg8: f32) {
  %cst = arith.constant dense<0.000000e+00> : tensor<8192xbf16>
  %c304_i32 = arith.constant 304 : i32
  %0 = tt.get_program_id x : i32
  %1 = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32>
  %2 = tt.splat %arg7 : i32 -> tensor<8192xi32>
  %3 = arith.cmpi slt, %1, %2 : tensor<8192xi32>
  %4 = tt.splat %arg2 : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>>
  %5 = tt.addptr %4, %1 : tensor<8192x!tt.ptr<bf16>>, tensor<8192xi32>
  %6 = arith.sitofp %arg7 : i32 to f32
  scf.for %arg9 = %0 to %arg6 step %c304_i32  : i32 {
    %7 = arith.muli %arg9, %arg4 : i32
    %8 = tt.addptr %arg0, %7 : !tt.ptr<bf16>, i32
    %9 = tt.splat %8 : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>>
    %10 = tt.addptr %9, %1 {tt.divisibility = dense<16> : tensor<1xi32>} : tensor<8192x!tt.ptr<bf16>>, tensor<8192xi32>
    %11 = tt.load %10, %3, %cst cacheModifier = cg : tensor<8192x!tt.ptr<bf16>>
    %12 = arith.extf %11 : tensor<8192xbf16> to tensor<8192xf32>
    %13 = tt.load %5, %3, %cst : tensor<8192x!tt.ptr<bf16>>
    %14 = arith.extf %13 : tensor<8192xbf16> to tensor<8192xf32>
    %15 = arith.mulf %12, %12 : tensor<8192xf32>
    %16 = "tt.reduce"(%15) <{axis = 0 : i32}> ({
    ^bb0(%arg10: f32, %arg11: f32):
      %29 = arith.addf %arg10, %arg11 : f32
      tt.reduce.return %29 : f32
    }) : (tensor<8192xf32>) -> f32
    %17 = arith.divf %16, %6 : f32
    %18 = arith.addf %17, %arg8 : f32
    %19 = math.rsqrt %18 : f32
    %20 = tt.addptr %arg3, %arg9 : !tt.ptr<f32>, i32
    tt.store %20, %19 : !tt.ptr<f32>
    %21 = tt.splat %19 : f32 -> tensor<8192xf32>
    %22 = arith.mulf %12, %21 : tensor<8192xf32>
    %23 = arith.mulf %22, %14 : tensor<8192xf32>
    %24 = arith.muli %arg9, %arg5 : i32
    %25 = tt.addptr %arg1, %24 : !tt.ptr<bf16>, i32
    %26 = tt.splat %25 : !tt.ptr<bf16> -> tensor<8192x!tt.ptr<bf16>>
    %27 = tt.addptr %26, %1 {tt.divisibility = dense<16> : tensor<1xi32>} : tensor<8192x!tt.ptr<bf16>>, tensor<8192xi32>
    %28 = arith.truncf %23 : tensor<8192xf32> to tensor<8192xbf16>
    tt.store %27, %28, %3 : tensor<8192x!tt.ptr<bf16>>
  } {tt.num_stages = 2 : i32}
  tt.return
}
