module {
  tt.func public @f(%x: tensor<16xi32>) {
    %0 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 0 : i32, pure = true} %x : tensor<16xi32> -> tensor<16xi32>
    tt.return
  }
}
