#l = #ttng.tensor_memory_encoding<blockM = 96, blockN = 64, colStride = 1>
module {
  tt.func public @f(%a: !ttg.memdesc<128x64xf32, #l, #ttng.tensor_memory>) {
    tt.return
  }
}
