// gfx950: loads of a pipelined loop go straight into LDS, two iterations ahead. Each iteration waits for the copies of
// the one before the last, which leaves those of the last (four here) in flight, and for nothing else before the
// barrier. Targets without 16-byte loads into LDS go through registers.
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit llir -o - | FileCheck %s --check-prefix=LLVM
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx950 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck %s --check-prefix=ASM
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx950 --num-warps 4 --num-stages 2 -o /dev/null --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %S/../../kernels/mm_more_programs/mm_more_programs.ttir --target gfx950 --emit ttgir -o - | FileCheck %s --check-prefix=TILES
// RUN: tessera compile %S/../../kernels/mm_i8/mm_i8.ttir --target gfx942 --num-warps 4 --num-stages 2 --emit amdgcn -o - | FileCheck %s --check-prefix=REGISTERS

// CHECK: #[[A:.*]] = #ttg.generic_linear<{register = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]], lane = {{\[\[}}0, 16], [0, 32], [1, 0], [2, 0], [4, 16], [8, 32]]
// CHECK: ttg.async_copy_global_to_local {{.*}}, #[[A]]> -> <64x64xi8
// CHECK: ttg.async_commit_group
// CHECK: ttg.async_commit_group
// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK: scf.for
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttg.async_commit_group
// CHECK: ttg.async_wait {num = 1 : i32}
// CHECK: ttg.async_wait {num = 0 : i32}
// CHECK-NEXT: gpu.barrier

// Two copies an iteration: vmcnt(2), then lgkmcnt(0).
// LLVM: call void @llvm.amdgcn.{{.*}}load.lds({{.*}}!alias.scope ![[COPIES:[0-9]+]]
// LLVM: call void @llvm.amdgcn.s.waitcnt(i32 3954)
// LLVM-NEXT: call void @llvm.amdgcn.s.waitcnt(i32 49279)
// LLVM-NEXT: fence syncscope("wavefront") release
// LLVM-NEXT: call void @llvm.amdgcn.s.barrier()
// LLVM-NEXT: fence syncscope("wavefront") acquire
// LLVM: load <16 x i8>, ptr addrspace(3) {{.*}}!noalias ![[COPIES]]
// LLVM: call void @llvm.amdgcn.s.waitcnt(i32 3952)

// ASM: _load_{{(lds_)?}}dwordx4 {{.*}}
// ASM: s_waitcnt vmcnt(2) lgkmcnt(0)
// ASM-NEXT: s_barrier
// ASM: v_mfma_i32_32x32x32_i8
// ASM-NOT: ds_write
// ASM: s_waitcnt vmcnt(0) lgkmcnt(0)
// ASM-NEXT: s_barrier

// REMARK: 2 of the loop's loads are issued 2 iterations ahead of their dots, by asynchronous copies to shared memory; 3 stages take 24576 bytes

// REGISTERS-NOT: lds
// REGISTERS: ds_write_b128

// Before a loop over tiles the copies are masked by whether the program has a tile: the first tile's rows may be
// anywhere. Later copies need the masks of the kernel only, which are false after the last iteration; where there is no
// next tile, they have this tile's rows.
// TILES: %[[EXISTS:.*]] = arith.cmpi slt, %[[PROGRAM:[^,]*]], %[[COUNT:.*]] : i32
// TILES: %[[SPLAT:.*]] = tt.splat %[[EXISTS]] : i1
// TILES-NEXT: %[[MASK:.*]] = arith.andi {{.*}}%[[SPLAT]]
// TILES: ttg.async_copy_global_to_local {{.*}} mask %[[MASK]]
// TILES: scf.for {{.*}} = %[[PROGRAM]] to %[[COUNT]]
// TILES: scf.for
// TILES-NOT: arith.andi {{.*}}xi1
// TILES-COUNT-6: ttg.async_copy_global_to_local
