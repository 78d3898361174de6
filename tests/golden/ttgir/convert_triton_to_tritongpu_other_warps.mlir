// A module with layouts that does not state its number of warps is converted only for the layouts' own number of warps
// and threads.
// RUN: tessera opt %s -convert-triton-to-tritongpu=num-warps=8 --verify-diagnostics
// RUN: not tessera compile %s --target sm_90a --emit ptx --num-warps 8 -o - 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not tessera compile %s --target gfx942 --emit amdgcn -o - 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: tessera compile %s --target sm_90a --emit ptx --num-warps 4 -o - | FileCheck %s --check-prefix=SAME
#l = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module {
  tt.func public @k(%p: !tt.ptr<i32>) {
// WARPS: convert_triton_to_tritongpu_other_warps.mlir:[[@LINE+3]]:{{[0-9]+}}: error: 'tt.make_range' has type tensor<128xi32, {{.*}}> with 4 warps of 32 threads, but the module is converted for 8 warps of 32
// THREADS: error: 'tt.make_range' has type tensor<128xi32, {{.*}}> with 4 warps of 32 threads, but the module is converted for 4 warps of 64
    // expected-error @below {{with 4 warps of 32 threads, but the module is converted for 8 warps of 32; compile it for the number of warps of its layouts}}
    %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32, #l>
    %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #l>
    %a = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>, #l>, tensor<128xi32, #l>
    tt.store %a, %i : tensor<128x!tt.ptr<i32>, #l>
    tt.return
  }
}
// SAME: .visible .entry k
