// A persistent matmul whose rows and columns wrap (`rows % M`): the tile after the last one, which does not exist,
// divides by a power of two instead of M, so that the indices keep their contiguity and copies their 16 bytes.
// RUN: tessera compile %S/../../kernels/mm_persistent_wrapped/mm_persistent_wrapped.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir -o - | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_persistent_wrapped/mm_persistent_wrapped.ttir --target sm_90a --num-warps 4 --num-stages 3 --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
// CHECK: %[[POWER:.*]] = arith.constant dense<1073741824> : tensor<64xi32
// CHECK: %[[M:.*]] = arith.select %{{.*}}, %{{.*}}, %[[POWER]]
// CHECK: arith.remsi %{{.*}}, %[[M]]
//
// PTX-NOT: ld.global.b16
// PTX: cp.async.cg.shared.global {{.*}}, 16,
// PTX-NOT: ld.global.b16
