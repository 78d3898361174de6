module {
  tt.func public @f(%a: tensor<16x16xf16>, %b: tensor<16xf16>, %c: tensor<16x16xf32>) {
    %0 = "tt.dot"(%a, %b, %c) : (tensor<16x16xf16>, tensor<16xf16>, tensor<16x16xf32>) -> tensor<16x16xf32>
    tt.return
  }
  tt.func public @g(%a: tensor<16x16xf16>, %c: tensor<16x32xf32>) {
    %0 = "tt.dot"(%a, %a, %c) : (tensor<16x16xf16>, tensor<16x16xf16>, tensor<16x32xf32>) -> tensor<16x32xf32>
    tt.return
  }
  tt.func public @h(%a: i32, %b: i64) {
    %0 = "arith.cmpi"(%a, %b) {predicate = 0 : i64} : (i32, i64) -> i1
    tt.return
  }
  tt.func public @i(%m: i1, %a: i32, %b: i64) {
    %0 = "arith.select"(%m, %a, %b) : (i1, i32, i64) -> i32
    tt.return
  }
  tt.func public @j() {
    %0 = "arith.constant"() {value = 1 : i64} : () -> i32
    tt.return
  }
  tt.func public @k(%a: i32, %b: i64) {
    %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32
    tt.return
  }
}
