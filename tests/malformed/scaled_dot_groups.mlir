module {
  tt.func public @f(%a: tensor<16x64xf8E4M3FN>, %s: tensor<16x128xi8>, %b: tensor<64x16xbf16>, %c: tensor<16x16xf32>) {
    %d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false} : tensor<16x64xf8E4M3FN>, tensor<16x128xi8> * tensor<64x16xbf16> -> tensor<16x16xf32>
    tt.return
  }
}
