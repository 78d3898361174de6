// A producer warp for the loops of all tiles with two buffers: keys and values have mbarriers of their own, full and
// empty, also where a second loop follows the first.
// RUN: cp -r %S/../../kernels/desc_arguments_attn_persistent %t && cd %t && tessera compile desc_arguments_attn_persistent.ttir --target sm_90a --num-warps 8 --num-stages 2 --emit ttgir -o - | FileCheck %s
// RUN: cd %t && tessera run launch.json --num-stages 2 --device emulator:sm_90a --check
// RUN: cp -r %S/../../kernels/desc_arguments_attn_two_loops %t.two && cd %t.two && tessera run launch.json --num-stages 2 --device emulator:sm_90a --check

// A load that must not be repeated stays with the consumers, and so do the copies.
// RUN: cd %t && sed -e 's/= tt.load \(%[^ ]*\) :/= tt.load \1 {isVolatile = true} :/' desc_arguments_attn_persistent.ttir > volatile.ttir && \
// RUN:   tessera compile volatile.ttir --target sm_90a --num-warps 8 --emit ttgir -o %t/v --remarks=WarpsSpecialized 2>&1 | FileCheck %s --check-prefix=VOLATILE

// CHECK-COUNT-4: ttg.local_alloc : () -> !ttg.memdesc<2x1xi64
// CHECK: ttg.warp_specialize
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-2: ttng.wait_barrier
// CHECK: partition0
// VOLATILE: no producer warp issues the loop's copies: addresses of copies depend on 'tt.load'
