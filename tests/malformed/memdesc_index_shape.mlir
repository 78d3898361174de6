#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @f(%m: !ttg.memdesc<3x128xf32, #s, #ttg.shared_memory, mutable>, %i: i32) {
    %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<3x128xf32, #s, #ttg.shared_memory, mutable> -> !ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>
    tt.return
  }
}
