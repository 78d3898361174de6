module {
  tt.func public @f(%d: !tt.tensordesc<tensor<16x16xf16>>, %i: i32) {
    %0 = tt.descriptor_load %d[%i] : !tt.tensordesc<tensor<16x16xf16>> -> tensor<16x16xf16>
    tt.return
  }
}
