module {
  tt.func public @f(%p: !tt.ptr<tensor<16xf16>>, %v: tensor<16xf16>, %c: tensor<16xi1>) {
    tt.store %p, %v, %c : !tt.ptr<tensor<16xf16>>
    tt.return
  }
}
