module {
  tt.func public @f(%p: !tt.ptr<tensor<16x16xf16>>) {
    %0 = tt.load %p {boundaryCheck = array<i32: 2>} : !tt.ptr<tensor<16x16xf16>>
    tt.return
  }
}
