// Values that are equal for neighbouring elements are computed once per thread: bounds that are multiples of the
// vector width, quotients, and loads from one address.
// RUN: tessera compile %s --kernel bound --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=BOUND
// RUN: tessera compile %s --kernel quotients --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=QUOTIENTS
#b = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  // BOUND-LABEL: {{^}}bound:
  // BOUND: v_cmp_gt_i32
  // BOUND-NOT: v_cmp
  // BOUND: s_endpgm
  tt.func public @bound(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %x: f32, %n: i32 {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
    %end = tt.splat %n : i32 -> tensor<512xi32, #b>
    %m = arith.cmpi slt, %i, %end : tensor<512xi32, #b>
    %v = tt.splat %x : f32 -> tensor<512xf32, #b>
    %o = tt.splat %a : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %p = tt.addptr %o, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %w = tt.load %p : tensor<512x!tt.ptr<f32>, #b>
    %s = arith.select %m, %v, %w : tensor<512xi1, #b>, tensor<512xf32, #b>
    tt.store %p, %s : tensor<512x!tt.ptr<f32>, #b>
    tt.return
  }

  // QUOTIENTS-LABEL: {{^}}quotients:
  // QUOTIENTS: global_load_dword
  // QUOTIENTS-NOT: global_load_dword
  // QUOTIENTS: s_endpgm
  tt.func public @quotients(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %eight = arith.constant dense<8> : tensor<512xi32, #b>
    %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
    %d = arith.divsi %i, %eight : tensor<512xi32, #b>
    %p = tt.splat %a : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %r = tt.addptr %p, %d : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %w = tt.load %r : tensor<512x!tt.ptr<f32>, #b>
    %o = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %s = tt.addptr %o, %i : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    tt.store %s, %w : tensor<512x!tt.ptr<f32>, #b>
    tt.return
  }
}
