#l = #ttg.nvmma_shared<{swizzlingByteWidth = 48, transposed = false, elementBitWidth = 16}>
module {
  tt.func public @f(%a: !ttg.memdesc<64x64xf16, #l, #ttg.shared_memory>) {
    tt.return
  }
}
