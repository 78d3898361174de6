// Stores of a loop by one of the lanes that hold copies, in each warp: a buffer access without a branch, into which
// LLVM would sink the load beside it. If whole warps hold copies, they skip it by a branch.
// RUN: tessera compile %s --target gfx942 --kernel lanes --emit llir | FileCheck %s
// RUN: tessera compile %s --target gfx942 --kernel warps --emit llir | FileCheck %s --check-prefix=WARPS
#tile = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.slice<{dim = 1, parent = #tile}>
#vector = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: define {{.*}}@lanes(
  // CHECK-NOT: {{^}}masked:
  // CHECK: raw.ptr.buffer.store
  // CHECK: ret void
  tt.func public @lanes(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #rows>
    scf.for %t = %zero to %n step %one : i32 {
      %o = tt.splat %t : i32 -> tensor<16xi32, #rows>
      %i = arith.addi %r, %o : tensor<16xi32, #rows>
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #rows>
      %q = tt.addptr %p, %i : tensor<16x!tt.ptr<f32>, #rows>, tensor<16xi32, #rows>
      %u = tt.load %q : tensor<16x!tt.ptr<f32>, #rows>
      %v = arith.mulf %u, %u : tensor<16xf32, #rows>
      %k = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #rows>
      %l = tt.addptr %k, %i : tensor<16x!tt.ptr<f32>, #rows>, tensor<16xi32, #rows>
      tt.store %l, %v : tensor<16x!tt.ptr<f32>, #rows>
    }
    tt.return
  }

  // WARPS-LABEL: define {{.*}}@warps(
  // WARPS: {{^}}masked:
  // WARPS: store
  // WARPS: ret void
  tt.func public @warps(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #vector>
    scf.for %t = %zero to %n step %one : i32 {
      %o = tt.splat %t : i32 -> tensor<16xi32, #vector>
      %i = arith.addi %r, %o : tensor<16xi32, #vector>
      %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #vector>
      %q = tt.addptr %p, %i : tensor<16x!tt.ptr<f32>, #vector>, tensor<16xi32, #vector>
      %u = tt.load %q : tensor<16x!tt.ptr<f32>, #vector>
      %v = arith.mulf %u, %u : tensor<16xf32, #vector>
      %k = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #vector>
      %l = tt.addptr %k, %i : tensor<16x!tt.ptr<f32>, #vector>, tensor<16xi32, #vector>
      tt.store %l, %v : tensor<16x!tt.ptr<f32>, #vector>
    }
    tt.return
  }
}
