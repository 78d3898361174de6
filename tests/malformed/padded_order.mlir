#l = #ttg.padded_shared<[32:+4] {order = [1, 1], shape = [32, 64]}>
module {
  tt.func public @f(%a: !ttg.memdesc<32x64xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
