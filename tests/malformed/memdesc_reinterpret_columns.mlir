#a = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#b = #ttng.tensor_memory_encoding<blockM = 128, blockN = 256, colStride = 2>
!a = !ttg.memdesc<128x128xf32, #a, #ttng.tensor_memory, mutable>
module {
  tt.func public @f(%m: !a) {
    %0 = ttg.memdesc_reinterpret %m : !a -> !ttg.memdesc<128x256xf16, #b, #ttng.tensor_memory, mutable>
    %1 = ttng.tmem_subslice %m {N = 64 : i32} : !a -> !ttg.memdesc<128x64xf32, #a, #ttng.tensor_memory, mutable, 128x128>
    %2 = ttg.memdesc_reinterpret %1 : !ttg.memdesc<128x64xf32, #a, #ttng.tensor_memory, mutable, 128x128> -> !ttg.memdesc<128x128xf16, #a, #ttng.tensor_memory, mutable>
    %3 = ttg.memdesc_reinterpret %1 : !ttg.memdesc<128x64xf32, #a, #ttng.tensor_memory, mutable, 128x128> -> !ttg.memdesc<2x128x128xf16, #a, #ttng.tensor_memory, mutable>
    tt.return
  }
}
