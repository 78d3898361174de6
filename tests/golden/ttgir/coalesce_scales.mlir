// Scales of blocks along K whose rows are not aligned: the 4 bytes of a row are loaded one by one, by neighbouring lanes.
// A thread that had several would access as many times the sectors for each.
// RUN: sed 's/\(%[0-9]*\) = tt.splat %arg\(1[12]\)/%odd\2 = arith.addi %arg\2, %c1_i32 : i32\n    \1 = tt.splat %odd\2/' %S/../../kernels/mm_mxfp8/mm_mxfp8.ttir | tessera compile - --target gfx950 --num-warps 1 --emit ttgir | FileCheck %s
// CHECK: #[[SCALES:.*]] = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 4], {{.*}}, order = [1, 0]}>
// CHECK: tt.load %{{.*}} : tensor<64x4x!tt.ptr<i8>, #[[SCALES]]>
