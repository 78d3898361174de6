tt.func @f(%a: tensor<128xi32, #ttg.blokced<{}>>) {
  tt.return
}
