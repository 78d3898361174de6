tt.func @f(%a: i32) {
  %0 = arith.index_castui %a : i32 to i64
  tt.return
}
