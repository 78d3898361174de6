// A loop that takes more registers than a thread of RDNA has: sixteen blocks of one wave fit beside one buffer each, half
// of them beside two, so it has one. The 160 KiB of gfx950 hold blocks enough beside two.
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx1100 --num-warps 1 --num-stages 2 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_f16/mm_f16.ttir --target gfx950 --num-warps 1 --num-stages 2 --emit ttgir -o %t --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=TWO
// CHECK: 1 stage takes 8192 bytes of shared memory; two do not fit beside those of another block
// TWO: 2 stages take 16384 bytes of shared memory
