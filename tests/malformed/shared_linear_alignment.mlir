#l = #ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 0>
module {
  tt.func public @f(%a: !ttg.memdesc<2x2xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
