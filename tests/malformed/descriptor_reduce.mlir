module {
  tt.func public @f(%d: !tt.tensordesc<tensor<16x16xf16>>, %x: tensor<16x16xf16>, %i: i32) {
    tt.descriptor_reduce or, %d[%i, %i], %x : !tt.tensordesc<tensor<16x16xf16>>, tensor<16x16xf16>
    tt.return
  }
}
