module {
  tt.func public @f(%x: i64) {
    %0 = tt.int_to_ptr %x : i64 -> !tt.ptr<tensor<2147483648x2147483648xf32>>
    tt.return
  }
}
