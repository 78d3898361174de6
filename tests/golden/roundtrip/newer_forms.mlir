// What Triton 3.9 prints otherwise: cache modifiers and eviction policies in one attribute, accesses of buffers with the
// pointer's type, a broadcast to another layout that is the same one for the operand's shape, but for copies, and
// operations that were inline PTX.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [1, 4], order = [1, 0]}>
#blocked3 = #ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [1, 64], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx950", "ttg.threads-per-warp" = 64 : i32} {
  tt.func @buffers(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %i: tensor<256xi32, #blocked>, %m: tensor<256xi1, #blocked>, %v: tensor<256xf32, #blocked>, %s: i32) {
    %0 = amdg.buffer_load %p[%i], %m, %v stride = %s {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_first>, contiguity = 4 : i32} : !tt.ptr<f32> -> tensor<256xf32, #blocked>
    %1 = amdg.buffer_load %q[%i] : !tt.ptr<i32> -> tensor<256xi32, #blocked>
    %2 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %0, %p[%i], %m stride = %s : !tt.ptr<f32> -> tensor<256xf32, #blocked>
    %3 = amdg.buffer_atomic_cas relaxed, gpu, %1, %1, %q[%i] stride = %s : !tt.ptr<i32> -> tensor<256xi32, #blocked>
    amdg.buffer_store %2, %p[%i], %m stride = %s : !tt.ptr<f32> -> tensor<256xf32, #blocked>
    amdg.buffer_store %3, %q[%i] {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : !tt.ptr<i32> -> tensor<256xi32, #blocked>
    tt.return
  }
  tt.func @broadcasts(%a: tensor<1x64xi32, #blocked1>, %b: tensor<1x64xi32, #blocked2>) {
    %0 = tt.broadcast %a : tensor<1x64xi32, #blocked1> -> tensor<4x64xi32, #blocked1>
    %1 = tt.broadcast %b : tensor<1x64xi32, #blocked2> -> tensor<4x64xi32, #blocked1>
    %2 = tt.broadcast %a : tensor<1x64xi32, #blocked1> -> tensor<4x64xi32, #blocked2>
    %3 = tt.broadcast %a : tensor<1x64xi32, #blocked1> -> tensor<4x64xi32, #blocked3>
    tt.return
  }
  tt.func @cache_policies(%p: tensor<256x!tt.ptr<f32>, #blocked>, %q: !tt.ptr<f32>) {
    %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_normal>, isVolatile = true} : tensor<256x!tt.ptr<f32>, #blocked>
    %1 = tt.load %q {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>} : !tt.ptr<f32>
    %2 = "tt.load"(%q) <{cachePolicy = #ttng.cache_policy<cache_modifier = ca>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32
    tt.store %p, %0 {cachePolicy = #tt.cache_policy<cache_modifier = wt, eviction_policy = evict_first>} : tensor<256x!tt.ptr<f32>, #blocked>
    tt.return
  }
  tt.func @grid_dependencies() {
    tt.grid_dependency_wait
    tt.grid_dependency_launch_dependents
    tt.return
  }
  tt.func @divisions(%x: tensor<256xf32, #blocked>, %y: f32) {
    %0 = tt.approx_divf %x, %x : tensor<256xf32, #blocked>
    %1 = tt.approx_divf %y, %y : f32
    tt.return
  }
}
