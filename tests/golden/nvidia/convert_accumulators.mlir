// Floats become halves in pairs, whatever is done with them. LLVM alone pairs those whose results share a register; of
// the others, ptxas moves one up over the wait for wgmma, and then makes every wgmma wait (C7514).
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: .entry rounded(
  // CHECK-NOT: cvt.rn.f16.f32
  // CHECK-COUNT-4: cvt.rn.f16x2.f32
  // CHECK-NOT: cvt.rn.f16
  tt.func public @rounded(%p: !tt.ptr<f32>) {
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>>
    %c = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x16xi32, #mma>
    %b = tt.broadcast %c : tensor<1x16xi32, #mma> -> tensor<64x16xi32, #mma>
    %q = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %d = tt.expand_dims %q {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
    %k = arith.constant dense<16> : tensor<64x1xi32, #mma>
    %m = arith.muli %d, %k : tensor<64x1xi32, #mma>
    %w = tt.broadcast %m : tensor<64x1xi32, #mma> -> tensor<64x16xi32, #mma>
    %o = arith.addi %w, %b : tensor<64x16xi32, #mma>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #mma>
    %a = tt.addptr %s, %o : tensor<64x16x!tt.ptr<f32>, #mma>, tensor<64x16xi32, #mma>
    %x = tt.load %a : tensor<64x16x!tt.ptr<f32>, #mma>
    %h = arith.truncf %x : tensor<64x16xf32, #mma> to tensor<64x16xf16, #mma>
    %e = arith.extf %h : tensor<64x16xf16, #mma> to tensor<64x16xf32, #mma>
    tt.store %a, %e : tensor<64x16x!tt.ptr<f32>, #mma>
    tt.return
  }
}
