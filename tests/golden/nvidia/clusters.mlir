// num-ctas: thread block clusters are not generated. A kernel that requests them is compiled for one block, with a
// warning, and its metadata says one.
// RUN: tessera compile %s --target sm_90a --num-ctas 2 --emit ptx --metadata %t -o - 2>&1 | FileCheck %s
// RUN: FileCheck --check-prefix=METADATA --input-file %t %s
// CHECK: kernels.py:3:7: warning: num-ctas = 2: programs are not spread over clusters of blocks
// CHECK-NOT: clusterid
// METADATA: "num_ctas": 1
// METADATA: "cluster_dims": [
// METADATA-NEXT: 1,
// RUN: not tessera compile %s --target gfx942 --num-ctas 2 --emit amdgcn -o - 2>&1 | FileCheck --check-prefix=AMD %s
// AMD: num-ctas = 2: gfx942 has no clusters of blocks
// RUN: not tessera compile %s --target sm_90a --num-ctas 16 --emit ptx -o - 2>&1 | FileCheck --check-prefix=MANY %s
// MANY: num-ctas must be a power of two up to 8 on sm_90a, not 16

module {
  tt.func public @kernel(%p: !tt.ptr<i32>) {
    %i = tt.get_program_id x : i32
    %q = tt.addptr %p, %i : !tt.ptr<i32>, i32
    tt.store %q, %i : !tt.ptr<i32>
    tt.return
  } loc("kernels.py":3:7)
}
