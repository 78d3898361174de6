#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#s2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%x: !ttg.memdesc<64x64xf16, #s2, #smem, mutable>) {
    %0 = ttg.memdesc_subslice %x[48, 0] : !ttg.memdesc<64x64xf16, #s2, #smem, mutable> -> !ttg.memdesc<32x64xf16, #s2, #smem, mutable, 64x64>
    tt.return
  }
}
