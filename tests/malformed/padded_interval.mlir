#l = #ttg.padded_shared<[30:+4] {order = [1, 0], shape = [32, 64]}>
module {
  tt.func public @f(%a: !ttg.memdesc<32x64xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
