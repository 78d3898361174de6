#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%p: !tt.ptr<i24>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64xi4, #s, #smem, mutable>
    tt.return
  }
}
