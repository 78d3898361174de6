#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%x: !ttg.memdesc<4xf32, #s, #smem, mutable, 2147483648x2147483648>) {
    tt.return
  }
}
