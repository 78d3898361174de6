module {
  tt.func public @f() {
    %0 = arith.constant dense<"0x123"> : tensor<2xi8>
    tt.return
  }
  tt.func public @g() {
    %0 = arith.constant dense<> : tensor<2xi32>
    tt.return
  }
  tt.func public @h() {
    %0 = arith.constant dense<1> : tensor<2x!tt.ptr<f32>>
    tt.return
  }
  tt.func public @i() {
    %0 = arith.constant "text" : i32
    tt.return
  }
}
