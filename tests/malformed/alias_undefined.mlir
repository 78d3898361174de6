module {
  tt.func @f(%a: tensor<64xi32, #b>) {
    tt.return
  }
}
