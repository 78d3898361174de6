// A persistent matmul whose accumulator is stored and reset in a branch: copies overlap with the wgmma, which stays in
// flight into the next iteration; the branch waits for it, and a flag (scale-d) says whether the next one accumulates.
// RUN: tessera compile %S/../../kernels/mm_tiles/mm_tiles.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_tiles/mm_tiles.ttir --target sm_90a --num-warps 4 --num-stages 3 --print-ir-after insert-wgmma-waits -o /dev/null 2>&1 | FileCheck %s --check-prefix=WAITS
// CHECK: %[[LOOP:.*]]:11 = scf.for
// CHECK: %[[D:.*]] = ttng.warp_group_dot {{.*}}isAsync = true
// CHECK-NEXT: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
// CHECK-COUNT-2: ttg.async_copy_global_to_local
// CHECK: ttg.async_commit_group
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: tt.store
// CHECK: scf.yield
// CHECK: ttng.warp_group_dot_wait %[[LOOP]]
// WAITS: scf.for
// WAITS: ttng.warp_group_dot %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{.*}} {inputPrecision = 0 : i32, isAsync = true}
// WAITS-NOT: arith.select {{.*}}tensor<64x64xf32
// WAITS: ttng.warp_group_dot_wait {{.*}} {pendings = 1 : i32}
// WAITS: scf.if
// WAITS: ttng.warp_group_dot_wait {{.*}} {pendings = 0 : i32}
// WAITS-NEXT: arith.truncf
