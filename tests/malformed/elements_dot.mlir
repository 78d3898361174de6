module {
  tt.func public @f(%a: tensor<65536x16xf16>, %b: tensor<16x65536xf16>, %c: tensor<65536x65536xf32>) {
    %0 = tt.dot %a, %b, %c : tensor<65536x16xf16> * tensor<16x65536xf16> -> tensor<65536x65536xf32>
    tt.return
  }
}
