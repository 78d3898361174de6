module {
  tt.func public @f(%a: tensor<16x32xi8>, %b: tensor<32x16xbf16>, %c: tensor<16x16xf32>) {
    %d = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} : tensor<16x32xi8> * tensor<32x16xbf16> -> tensor<16x16xf32>
    tt.return
  }
}
