tt.func @f(%p: !tt.ptr<f32>) {
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 2, 0, 0>}> : (!tt.ptr<f32>) -> f32
  tt.return
}
