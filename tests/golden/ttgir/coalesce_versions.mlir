// tritongpu-coalesce: accesses of a kernel's two versions have widths of their own. Rows that may be misaligned are loaded
// by neighbouring lanes, two elements each, although the other version's threads have eight.
// RUN: tessera opt %S/../../kernels/mm_misaligned_rows/mm_misaligned_rows.ttir -alignment-versions -convert-triton-to-tritongpu="target=hip:gfx950 num-warps=2" -tritongpu-coalesce | FileCheck %s
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// CHECK-DAG: #[[NARROW:.*]] = #ttg.blocked<{sizePerThread = [1, 2], {{.*}}, order = [1, 0]}>
// CHECK: scf.if
// CHECK: tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>, #[[WIDE]]>
// CHECK: tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>, #[[WIDE]]>
// CHECK: } else {
// CHECK: tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>, #[[NARROW]]>
// CHECK: tt.load %{{.*}} : tensor<32x32x!tt.ptr<f16>, #[[NARROW]]>
