// A loop of 8 waves on RDNA 3 whose accumulators take half of a thread's registers: with the next iteration's operands in
// registers it spills in every iteration, without them it does not. What decides is the code, so that the TTGIR alone is
// that of the requested stages. RDNA 4's operands take half as many registers.
// RUN: tessera compile %S/more_warps.mlir --target gfx1100 --num-warps 8 --exact-num-warps --num-stages 2 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %S/more_warps.mlir --target gfx1100 --num-warps 8 --exact-num-warps --num-stages 2 --emit amdgcn -o %t --remarks="FewerStages|LoopPipelined" 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tessera compile %S/more_warps.mlir --target gfx1100 --num-warps 8 --exact-num-warps --num-stages 2 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=PIPELINED
// RUN: tessera compile %S/more_warps.mlir --target gfx1201 --num-warps 8 --exact-num-warps --num-stages 2 --emit amdgcn -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=PIPELINED
// CHECK-LABEL: gemm:
// CHECK-NOT: scratch_
// CHECK: .vgpr_spill_count: 0
// REMARK: remark: 'gemm' loads nothing ahead of an iteration: with 2 stages, an iteration of its loops spills {{[0-9]+}} bytes of a thread's registers, and 0 without [fewer-stages:FewerStages]
// REMARK: the loop is not pipelined: num-stages is 1 [tritongpu-pipeline:LoopPipelined]
// PIPELINED: issued 1 iteration ahead of their dots, through registers
