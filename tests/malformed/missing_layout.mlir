module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f(%a: i32) {
    %0 = tt.splat %a : i32 -> tensor<64xi32>
    tt.return
  }
}
