module {
  tt.func public @f(%d: !tt.tensordesc<tensor<8xf32>>, %e: !tt.tensordesc<tensor<1x8xf32>>, %x: tensor<4xi32>, %i: i32) {
    %0 = tt.descriptor_gather %d[%x, %i] : (!tt.tensordesc<tensor<8xf32>>, tensor<4xi32>, i32) -> tensor<4x8xf32>
    %1 = tt.descriptor_gather %e[%x, %i] : (!tt.tensordesc<tensor<1x8xf32>>, tensor<4xi32>, i32) -> tensor<8x8xf32>
    tt.return
  }
}
