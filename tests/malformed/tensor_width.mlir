module {
  tt.func public @f(%x: i24) {
    %0 = tt.splat %x : i24 -> tensor<64xi24>
    tt.return
  }
}
