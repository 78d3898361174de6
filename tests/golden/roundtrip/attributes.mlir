// Attributes and numbers of every kind.
module attributes {a.array = [1 : i32, "two", [3.000000e+00 : f32], unit, @symbol, {k = 1 : i64, u}], "a.b-c" = 1 : i32, a.bools = array<i1: true, false>, a.dense = array<i64: 1, -2>, a.empty = array<i32>, a.fdense = array<f32: 1.500000e+00, 0x7FC00000>, a.fntype = (i32, f32) -> (i1, index), a.map = affine_map<(d0, d1) -> (d1, d0)>, a.opaque = #llvm.loop_annotation<licm = <disable = true, list = ["a>", 2]>>, a.string = "tab\09, newline\0A, quote\22, backslash\\, byte\FF", a.type = tensor<4x!tt.ptr<f32>>} {
  tt.func public @constants() {
    %c7_i32 = arith.constant 7 : i32
    %c-1_i64 = arith.constant -1 : i64
    %true = arith.constant true
    %c12 = arith.constant 12 : index
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant -0.000000e+00 : f32
    %cst_1 = arith.constant 1.000000e-01 : f64
    %cst_2 = arith.constant 0x7F800000 : f32
    %cst_3 = arith.constant 0xFF800000 : f32
    %cst_4 = arith.constant 0x7FC00001 : f32
    %cst_5 = arith.constant 1.99975586 : f32
    %cst_6 = arith.constant 6.550400e+04 : f16
    %cst_7 = arith.constant 3.389530e+38 : bf16
    %cst_8 = arith.constant 0x7C00 : f16
    %cst_9 = arith.constant 1.000000e+30 : f32
    %c170141183460469231731687303715884105727_i128 = arith.constant 170141183460469231731687303715884105727 : i128
    %cst_10 = arith.constant dense<1> : tensor<16xi32>
    %cst_11 = arith.constant dense<[0, 1, -2, 3]> : tensor<4xi32>
    %cst_12 = arith.constant dense<[[1.000000e+00, 2.500000e+00], [0x7F800000, -1.000000e+00]]> : tensor<2x2xf32>
    %cst_13 = arith.constant dense<true> : tensor<8xi1>
    %cst_14 = arith.constant dense<[true, false]> : tensor<2xi1>
    %c4_i8 = arith.constant {tt.note = "x"} 4 : i8
    %cst_15 = arith.constant dense<0x7F800000> : tensor<8xf32>
    %cst_16 = arith.constant dense<"0x000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F000102030405060708090A0B0C0D0E0F"> : tensor<128xi8>
    tt.return
  }
}
