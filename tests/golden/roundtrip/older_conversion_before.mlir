// Fragments of TTIR from a description of the conversion to TTGIR (2024), each in a function: broadcast, cat, join, split,
// expand_dims, trans, dot and a loop, before the conversion.
module {
  tt.func public @fragment(%b: tensor<128x1xi32>) {
    %a = tt.broadcast %b : tensor<128x1xi32> -> tensor<128x32xi32>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %cst = arith.constant dense<1.000000e+00> : tensor<16x1x1xf16>
    %0 = tt.cat %cst, %cst : tensor<16x1x1xf16> -> tensor<32x1x1xf16>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %cst = arith.constant dense<1.000000e+00> : tensor<16x32xf16>
    %cst1 = arith.constant dense<1.000000e+00> : tensor<16x32x2xf16>
    %0 = tt.join %cst, %cst : tensor<16x32xf16> -> tensor<16x32x2xf16>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %cst = arith.constant dense<1.000000e+00> : tensor<16x32x2xf16>
    %0, %1 = tt.split %cst : tensor<16x32x2xf16> -> tensor<16x32xf16>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %1 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %2 = tt.expand_dims %1 {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %3 = tt.expand_dims %2 {axis = 0 : i32} : tensor<128x1xi32> -> tensor<1x128x1xi32>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %cst = arith.constant dense<1.000000e+00> : tensor<64x2x16xf16>
    %0 = tt.trans %cst {order=array<i32: 1, 2, 0>} : tensor<64x2x16xf16> -> tensor<2x16x64xf16>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %a = arith.constant dense<1.00e+00> : tensor<128x32xf16>
    %b = arith.constant dense<2.00e+00> : tensor<32x128xf16>
    %c = arith.constant dense<3.00e+00> : tensor<128x128xf32>
    %0 = tt.dot %a, %b, %c : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
    tt.return
  }
}
// -----
module {
  tt.func public @fragment() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %a = arith.constant dense<1.00e+00> : tensor<128x32xf16>
    %b = arith.constant dense<2.00e+00> : tensor<32x128xf16>
    %c = arith.constant dense<3.00e+00> : tensor<128x128xf32>
    %1 = scf.for %arg = %c0 to %c32 step %c1 iter_args(%arg1 = %c) -> (tensor<128x128xf32>) {
      %dot = tt.dot %a, %b, %arg1 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>
      scf.yield %dot : tensor<128x128xf32>
    } {tt.num_stages = 3 : i32}
    tt.return
  }
}
