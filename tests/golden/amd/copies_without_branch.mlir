// What all warps hold copies of is written to shared memory by all of them, if that is one store of a thread: behind a
// branch of one warp LLVM would also load it there, and wait.
// RUN: tessera compile %s --target gfx942 --emit amdgcn -o - | FileCheck %s
#row = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#tile = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: scales:
  // CHECK: global_load_dword
  // CHECK-NOT: branch
  // CHECK: ds_write_b32
  // CHECK: s_endpgm
  tt.func public @scales(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #row>
    %at = tt.addptr %s, %r : tensor<64x!tt.ptr<f32>, #row>, tensor<64xi32, #row>
    %x = tt.load %at : tensor<64x!tt.ptr<f32>, #row>
    %y = ttg.convert_layout %x : tensor<64xf32, #row> -> tensor<64xf32, #ttg.slice<{dim = 1, parent = #tile}>>
    %c = tt.expand_dims %y {axis = 1 : i32} : tensor<64xf32, #ttg.slice<{dim = 1, parent = #tile}>> -> tensor<64x1xf32, #tile>
    %v = tt.broadcast %c : tensor<64x1xf32, #tile> -> tensor<64x16xf32, #tile>
    %n = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #tile}>>
    %m = tt.expand_dims %n {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #tile}>> -> tensor<1x16xi32, #tile>
    %i = tt.broadcast %m : tensor<1x16xi32, #tile> -> tensor<64x16xi32, #tile>
    %o = tt.splat %q : !tt.ptr<f32> -> tensor<64x16x!tt.ptr<f32>, #tile>
    %to = tt.addptr %o, %i : tensor<64x16x!tt.ptr<f32>, #tile>, tensor<64x16xi32, #tile>
    tt.store %to, %v : tensor<64x16x!tt.ptr<f32>, #tile>
    tt.return
  }
}
