// Every math operation.
module {
  tt.func public @functions(%arg0: tensor<16xf32>, %arg1: tensor<16xi32>) {
    %0 = math.absf %arg0 : tensor<16xf32>
    %1 = math.ceil %arg0 : tensor<16xf32>
    %2 = math.floor %arg0 : tensor<16xf32>
    %3 = math.trunc %arg0 : tensor<16xf32>
    %4 = math.round %arg0 : tensor<16xf32>
    %5 = math.roundeven %arg0 : tensor<16xf32>
    %6 = math.exp %arg0 : tensor<16xf32>
    %7 = math.exp2 %arg0 : tensor<16xf32>
    %8 = math.expm1 %arg0 : tensor<16xf32>
    %9 = math.log %arg0 : tensor<16xf32>
    %10 = math.log1p %arg0 : tensor<16xf32>
    %11 = math.log2 %arg0 : tensor<16xf32>
    %12 = math.log10 %arg0 : tensor<16xf32>
    %13 = math.sqrt %arg0 : tensor<16xf32>
    %14 = math.rsqrt %arg0 : tensor<16xf32>
    %15 = math.sin %arg0 : tensor<16xf32>
    %16 = math.cos %arg0 : tensor<16xf32>
    %17 = math.tan %arg0 : tensor<16xf32>
    %18 = math.asin %arg0 : tensor<16xf32>
    %19 = math.acos %arg0 : tensor<16xf32>
    %20 = math.atan %arg0 : tensor<16xf32>
    %21 = math.sinh %arg0 : tensor<16xf32>
    %22 = math.cosh %arg0 : tensor<16xf32>
    %23 = math.tanh %arg0 : tensor<16xf32>
    %24 = math.asinh %arg0 : tensor<16xf32>
    %25 = math.acosh %arg0 : tensor<16xf32>
    %26 = math.atanh %arg0 : tensor<16xf32>
    %27 = math.cbrt %arg0 : tensor<16xf32>
    %28 = math.erf %arg0 : tensor<16xf32>
    %29 = math.erfc %arg0 : tensor<16xf32>
    %30 = math.atan2 %arg0, %arg0 fastmath<afn> : tensor<16xf32>
    %31 = math.copysign %arg0, %arg0 fastmath<afn> : tensor<16xf32>
    %32 = math.powf %arg0, %arg0 fastmath<afn> : tensor<16xf32>
    %33 = math.absi %arg1 : tensor<16xi32>
    %34 = math.ctlz %arg1 : tensor<16xi32>
    %35 = math.cttz %arg1 : tensor<16xi32>
    %36 = math.ctpop %arg1 : tensor<16xi32>
    %37 = math.fma %arg0, %arg0, %arg0 : tensor<16xf32>
    %38 = math.fpowi %arg0, %arg1 : tensor<16xf32>, tensor<16xi32>
    tt.return
  }
}
