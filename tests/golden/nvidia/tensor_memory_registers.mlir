// An access to tensor memory takes at most half of the registers that its threads have: a thread of the default region
// begins with 168, those of the partitions have 64 and 40. With wider accesses ptxas refuses the kernel.
// RUN: tessera compile %s --target sm_100a --emit ptx -o - | FileCheck %s
// RUN: sed "s/array<i32: 64, 40>/array<i32: 232, 232>/" %s | tessera compile - --target sm_100a --emit ptx -o - | FileCheck %s --check-prefix=FEW
// Where partitions leave the kernel's own warps 40, these have no more after the operation.
// FEW: setmaxnreg.dec.sync.aligned.u32 40;
// FEW-COUNT-8: tcgen05.st.sync.aligned.32x32b.x16.b32
// FEW-COUNT-8: tcgen05.ld.sync.aligned.32x32b.x16.b32
// FEW: setmaxnreg.inc.sync.aligned.u32 232;
// FEW: tcgen05.ld.sync.aligned.32x32b.x64.b32
// CHECK: .maxnreg 168
// CHECK-NOT: tcgen05.st.sync.aligned.32x32b.x128
// CHECK: tcgen05.st.sync.aligned.32x32b.x64.b32
// CHECK: tcgen05.ld.sync.aligned.32x32b.x64.b32
// CHECK: setmaxnreg.dec.sync.aligned.u32 64;
// CHECK-NOT: tcgen05.ld.sync.aligned.32x32b.x64
// CHECK-COUNT-4: tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK: setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-NOT: tcgen05.ld.sync.aligned.32x32b.x32
// CHECK-COUNT-8: tcgen05.ld.sync.aligned.32x32b.x16.b32
#sum = #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0], [64, 0]], block = []}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!sum = tensor<128x128xf32, #sum>
!pointers = tensor<128x128x!tt.ptr<f32>, #sum>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.maxnreg = 168 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @widths(%out: !tt.ptr<f32>, %x: f32) {
    %acc = ttng.tmem_alloc : () -> !acc
    ttg.warp_specialize(%acc, %out) attributes {requestedRegisters = array<i32: 64, 40>}
    default {
      %true = arith.constant true
      %v = tt.splat %x : f32 -> !sum
      ttng.tmem_store %v, %acc, %true : !sum -> !acc
      ttg.warp_yield
    }
    partition0(%a: !acc, %o: !tt.ptr<f32>) num_warps(4) {
      %v = ttng.tmem_load %a : !acc -> !sum
      %p = tt.splat %o : !tt.ptr<f32> -> !pointers
      tt.store %p, %v : !pointers
      ttg.warp_return
    }
    partition1(%a: !acc, %o: !tt.ptr<f32>) num_warps(4) {
      %v = ttng.tmem_load %a : !acc -> !sum
      %p = tt.splat %o : !tt.ptr<f32> -> !pointers
      tt.store %p, %v : !pointers
      ttg.warp_return
    } : (!acc, !tt.ptr<f32>) -> ()
    %v = ttng.tmem_load %acc : !acc -> !sum
    %p = tt.splat %out : !tt.ptr<f32> -> !pointers
    tt.store %p, %v : !pointers
    tt.return
  }
}
