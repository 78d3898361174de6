#l = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module {
  tt.func public @f(%a: !ttg.memdesc<64x64xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
