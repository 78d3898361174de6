#a = #b
#b = #a
tt.func @f(%x: tensor<64xi32, #a>) {
  tt.return
}
