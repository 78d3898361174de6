module {
  tt.func public @f(%x: i128) {
    %0 = tt.splat %x : i128 -> tensor<64xi128>
    tt.return
  }
}
