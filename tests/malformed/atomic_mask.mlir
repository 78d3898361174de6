module {
  tt.func public @f(%p: tensor<16x!tt.ptr<i32>>, %v: tensor<16xi32>, %c: tensor<32xi1>) {
    %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v, %c : (tensor<16x!tt.ptr<i32>>, tensor<16xi32>, tensor<32xi1>) -> tensor<16xi32>
    tt.return
  }
}
