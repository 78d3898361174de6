#l = #ttg.shared_linear<{offset = [[0, 1], [0, 1]]}, alignment = 16>
module {
  tt.func public @f(%a: !ttg.memdesc<1x2xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
