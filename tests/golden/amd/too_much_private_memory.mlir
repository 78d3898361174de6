// Tensors that take more memory than a thread has beside its registers: the error names the largest one.
// RUN: ulimit -t 60; not tessera compile %S/../../../benchmarks/kernels/mm_tf32_4096/mm_tf32_4096.ttir --target gfx1100 --num-warps 1 --exact-num-warps -o %t.hsaco 2>&1 | FileCheck %s
// CHECK: {{.*}}.py:{{[0-9:]+}} error: the tensors of the kernel take more memory than a thread has: this one takes {{[0-9]+}} registers in each thread, of 256 that exist; use more warps or smaller blocks
