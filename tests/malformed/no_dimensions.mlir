module {
  tt.func @f(%x: tensor<i32>) {
    %0 = tt.cat %x, %x : tensor<i32> -> tensor<i32>
    tt.return
  }
  tt.func @g(%x: tensor<i32>) {
    %0, %1 = tt.split %x : tensor<i32> -> tensor<i32>
    tt.return
  }
  tt.func @h(%x: tensor<i32>) {
    %0 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<i32>
    tt.return
  }
}
