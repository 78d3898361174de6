// Bytes that are stored one by one and read as words on gfx950, which serves 32 lanes with words at once: no two of them
// read from the same of 32 banks, although there are 64.
// RUN: sed 's/\(%[0-9]*\) = tt.splat %arg\(1[12]\)/%odd\2 = arith.addi %arg\2, %c1_i32 : i32\n    \1 = tt.splat %odd\2/' %S/../../kernels/mm_mxfp8/mm_mxfp8.ttir | tessera compile - --target gfx950 --num-warps 1 --emit ttgir | FileCheck %s
// CHECK: #[[SCALES:.*]] = #ttg.shared_linear<{offset = {{\[}}[16, 0], [32, 0], [0, 1], [0, 2], [1, 0], [2, 0], [4, 0], [8, 2]]}, {{.*}}
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<1x64x4xi8, #[[SCALES]], #smem, mutable>
