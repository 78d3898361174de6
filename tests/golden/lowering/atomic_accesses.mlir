// Atomic loads, stores and polls: one thread acts for a scalar and the others get what it loaded; a barrier stands before
// a store that releases, and after a load or poll that acquires.
// RUN: tessera compile %s --kernel scalars --exact-num-warps --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: tessera compile %s --kernel scalars --exact-num-warps --target gfx942 --emit amdgcn -o - | FileCheck %s --check-prefix=AMD
// RUN: tessera compile %s --kernel tensors --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=TENSORS
// RUN: tessera compile %s --kernel timeout --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=TIMEOUT
// RUN: tessera compile %s --kernel timeout --target gfx1201 --emit amdgcn -o - | FileCheck %s --check-prefix=RDNA

// PTX-LABEL: .entry scalars
// PTX: ld.acquire.gpu.global.b32
// PTX: bar.sync
// PTX: bar.sync
// PTX: st.release.sys.global.b32
// PTX: st.relaxed.cta.global.b32
// PTX: [[POLL:\$L__BB[0-9_]+]]:
// PTX: ld.acquire.gpu.global.b32
// PTX: bra{{.*}} [[POLL]]
// PTX: bar.sync
// PTX: ret

// AMD-LABEL: {{^}}scalars:
// AMD: global_load_dword {{.*}} sc1
// AMD: buffer_inv sc1
// AMD: s_barrier
// AMD: s_barrier
// AMD: buffer_wbl2 sc0 sc1
// AMD: global_store_dword {{.*}} sc0 sc1
// AMD: s_cbranch
// AMD: s_barrier
// AMD: s_endpgm
tt.func public @scalars(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %true = arith.constant true
  %c1 = arith.constant 1 : i32
  %0 = tt.atomic_load acquire, gpu, %p, %true : (!tt.ptr<i32>, i1) -> i32
  tt.atomic_store release, sys, %q, %0, %true : !tt.ptr<i32>
  tt.atomic_store relaxed, cta, %p, %c1, %true : !tt.ptr<i32>
  %1 = tt.atomic_poll acquire, gpu, %q, %c1 : !tt.ptr<i32>, i32 -> i1
  tt.return
}
// Each thread has elements of its own. What is relaxed needs no barrier.
// TENSORS-LABEL: .entry tensors
// TENSORS-NOT: bar.sync
// TENSORS-COUNT-2: ld.relaxed.gpu.global.b16
// TENSORS-NOT: bar.sync
// TENSORS-COUNT-2: st.relaxed.gpu.global.b16
// TENSORS: ret
tt.func public @tensors(%p: !tt.ptr<f16>, %q: !tt.ptr<f16>) {
  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %pi = tt.addptr %ps, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %0 = tt.atomic_load relaxed, gpu, %pi : (tensor<256x!tt.ptr<f16>>) -> tensor<256xf16>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %qi = tt.addptr %qs, %i : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  tt.atomic_store relaxed, gpu, %qi, %0 : tensor<256x!tt.ptr<f16>>
  tt.return
}
// TIMEOUT-LABEL: .entry timeout
// TIMEOUT: mov.{{u|b}}64 {{.*}}, %globaltimer
// TIMEOUT: ld.relaxed.gpu.global.b64
// TIMEOUT: mov.{{u|b}}64 {{.*}}, %globaltimer
// TIMEOUT: bar.sync
// TIMEOUT: ret
// RDNA-LABEL: {{^}}timeout:
// RDNA: s_sendmsg_rtn_b64 {{.*}}(MSG_RTN_GET_REALTIME)
// RDNA: s_endpgm
tt.func public @timeout(%p: !tt.ptr<i64>, %q: !tt.ptr<i1>, %x: i64, %ns: i64) {
  %0 = tt.atomic_poll relaxed, gpu, %p, %x timeout %ns : !tt.ptr<i64>, i64 -> i1
  tt.store %q, %0 : !tt.ptr<i1>
  tt.return
}
