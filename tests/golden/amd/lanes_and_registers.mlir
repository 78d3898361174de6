// A bit of the lane and one of the register change places without shared memory: lanes choose which register they send
// and where they put what they get; gfx950 exchanges halves of 16 and 32 lanes in one instruction for two registers.
// RUN: tessera compile %s --target gfx950 --emit amdgcn -o - | FileCheck %s --check-prefixes=CHECK,SWAP
// RUN: tessera compile %s --target gfx942 --emit amdgcn -o - | FileCheck %s --check-prefix=CHECK
#a = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[1, 0], [2, 0]], block = []}>
#near = #ttg.linear<{register = [[0, 4], [0, 2]], lane = [[0, 1], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]], warp = [[1, 0], [2, 0]], block = []}>
#far = #ttg.linear<{register = [[0, 4], [0, 128]], lane = [[0, 1], [0, 8], [0, 16], [0, 32], [0, 64], [0, 2]], warp = [[1, 0], [2, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: exchange:
  // CHECK-NOT: ds_
  // CHECK: quad_perm:[1,0,3,2]
  // SWAP-NOT: ds_
  // SWAP: v_permlane32_swap_b32
  // SWAP: v_permlane32_swap_b32
  // SWAP-NOT: v_permlane32_swap_b32
  // CHECK: s_endpgm
  tt.func public @exchange(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #a}>>
    %c = tt.expand_dims %r {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #a}>> -> tensor<1x256xi32, #a>
    %i = tt.broadcast %c : tensor<1x256xi32, #a> -> tensor<4x256xi32, #a>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x256x!tt.ptr<f32>, #a>
    %at = tt.addptr %s, %i : tensor<4x256x!tt.ptr<f32>, #a>, tensor<4x256xi32, #a>
    %x = tt.load %at : tensor<4x256x!tt.ptr<f32>, #a>
    %y = ttg.convert_layout %x : tensor<4x256xf32, #a> -> tensor<4x256xf32, #near>
    %y2 = arith.mulf %y, %y : tensor<4x256xf32, #near>
    %z = ttg.convert_layout %y2 : tensor<4x256xf32, #near> -> tensor<4x256xf32, #far>
    %r2 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #far}>>
    %c2 = tt.expand_dims %r2 {axis = 0 : i32} : tensor<256xi32, #ttg.slice<{dim = 0, parent = #far}>> -> tensor<1x256xi32, #far>
    %i2 = tt.broadcast %c2 : tensor<1x256xi32, #far> -> tensor<4x256xi32, #far>
    %s2 = tt.splat %q : !tt.ptr<f32> -> tensor<4x256x!tt.ptr<f32>, #far>
    %at2 = tt.addptr %s2, %i2 : tensor<4x256x!tt.ptr<f32>, #far>, tensor<4x256xi32, #far>
    tt.store %at2, %z : tensor<4x256x!tt.ptr<f32>, #far>
    tt.return
  }
}
