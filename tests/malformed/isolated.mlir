tt.func @f(%a: i32) {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    %0 = arith.addi %a, %a : i32
    ttg.warp_return
  } : () -> ()
  tt.return
}
