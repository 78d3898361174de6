#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<16777216x16777216xf32, #s2, #smem, mutable>
    tt.return
  }
}
