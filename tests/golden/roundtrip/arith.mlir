// Every arith operation on scalars and tensors, with flags.
module {
  tt.func public @integers(%arg0: i32, %arg1: i32, %arg2: tensor<16xi32>) {
    %0 = arith.addi %arg0, %arg1 : i32
    %1 = arith.addi %arg2, %arg2 : tensor<16xi32>
    %2 = arith.subi %arg0, %arg1 : i32
    %3 = arith.subi %arg2, %arg2 : tensor<16xi32>
    %4 = arith.muli %arg0, %arg1 : i32
    %5 = arith.muli %arg2, %arg2 : tensor<16xi32>
    %6 = arith.shli %arg0, %arg1 : i32
    %7 = arith.shli %arg2, %arg2 : tensor<16xi32>
    %8 = arith.divsi %arg0, %arg1 : i32
    %9 = arith.divsi %arg2, %arg2 : tensor<16xi32>
    %10 = arith.divui %arg0, %arg1 : i32
    %11 = arith.divui %arg2, %arg2 : tensor<16xi32>
    %12 = arith.remsi %arg0, %arg1 : i32
    %13 = arith.remsi %arg2, %arg2 : tensor<16xi32>
    %14 = arith.remui %arg0, %arg1 : i32
    %15 = arith.remui %arg2, %arg2 : tensor<16xi32>
    %16 = arith.shrsi %arg0, %arg1 : i32
    %17 = arith.shrsi %arg2, %arg2 : tensor<16xi32>
    %18 = arith.shrui %arg0, %arg1 : i32
    %19 = arith.shrui %arg2, %arg2 : tensor<16xi32>
    %20 = arith.ceildivsi %arg0, %arg1 : i32
    %21 = arith.ceildivsi %arg2, %arg2 : tensor<16xi32>
    %22 = arith.ceildivui %arg0, %arg1 : i32
    %23 = arith.ceildivui %arg2, %arg2 : tensor<16xi32>
    %24 = arith.floordivsi %arg0, %arg1 : i32
    %25 = arith.floordivsi %arg2, %arg2 : tensor<16xi32>
    %26 = arith.andi %arg0, %arg1 : i32
    %27 = arith.andi %arg2, %arg2 : tensor<16xi32>
    %28 = arith.ori %arg0, %arg1 : i32
    %29 = arith.ori %arg2, %arg2 : tensor<16xi32>
    %30 = arith.xori %arg0, %arg1 : i32
    %31 = arith.xori %arg2, %arg2 : tensor<16xi32>
    %32 = arith.maxsi %arg0, %arg1 : i32
    %33 = arith.maxsi %arg2, %arg2 : tensor<16xi32>
    %34 = arith.maxui %arg0, %arg1 : i32
    %35 = arith.maxui %arg2, %arg2 : tensor<16xi32>
    %36 = arith.minsi %arg0, %arg1 : i32
    %37 = arith.minsi %arg2, %arg2 : tensor<16xi32>
    %38 = arith.minui %arg0, %arg1 : i32
    %39 = arith.minui %arg2, %arg2 : tensor<16xi32>
    %40 = arith.addi %arg0, %arg1 overflow<nsw, nuw> : i32
    %41 = arith.shli %arg0, %arg1 overflow<nuw> {tt.note} : i32
    tt.return
  }
  tt.func public @floats(%arg0: f32, %arg1: tensor<16xf32>) {
    %0 = arith.subf %arg0, %arg0 : f32
    %1 = arith.subf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %2 = arith.divf %arg0, %arg0 : f32
    %3 = arith.divf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %4 = arith.remf %arg0, %arg0 : f32
    %5 = arith.remf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %6 = arith.addf %arg0, %arg0 : f32
    %7 = arith.addf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %8 = arith.mulf %arg0, %arg0 : f32
    %9 = arith.mulf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %10 = arith.maximumf %arg0, %arg0 : f32
    %11 = arith.maximumf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %12 = arith.minimumf %arg0, %arg0 : f32
    %13 = arith.minimumf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %14 = arith.maxnumf %arg0, %arg0 : f32
    %15 = arith.maxnumf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %16 = arith.minnumf %arg0, %arg0 : f32
    %17 = arith.minnumf %arg1, %arg1 fastmath<contract> : tensor<16xf32>
    %18 = arith.addf %arg0, %arg0 fastmath<nnan,ninf> : f32
    %19 = arith.mulf %arg0, %arg0 fastmath<fast> : f32
    %20 = arith.negf %arg1 : tensor<16xf32>
    tt.return
  }
  tt.func public @comparisons(%arg0: tensor<16xi32>, %arg1: tensor<16xf32>, %arg2: i1) {
    %0 = arith.cmpi eq, %arg0, %arg0 : tensor<16xi32>
    %1 = arith.cmpi ne, %arg0, %arg0 : tensor<16xi32>
    %2 = arith.cmpi slt, %arg0, %arg0 : tensor<16xi32>
    %3 = arith.cmpi sle, %arg0, %arg0 : tensor<16xi32>
    %4 = arith.cmpi sgt, %arg0, %arg0 : tensor<16xi32>
    %5 = arith.cmpi sge, %arg0, %arg0 : tensor<16xi32>
    %6 = arith.cmpi ult, %arg0, %arg0 : tensor<16xi32>
    %7 = arith.cmpi ule, %arg0, %arg0 : tensor<16xi32>
    %8 = arith.cmpi ugt, %arg0, %arg0 : tensor<16xi32>
    %9 = arith.cmpi uge, %arg0, %arg0 : tensor<16xi32>
    %10 = arith.cmpf false, %arg1, %arg1 : tensor<16xf32>
    %11 = arith.cmpf oeq, %arg1, %arg1 : tensor<16xf32>
    %12 = arith.cmpf ogt, %arg1, %arg1 : tensor<16xf32>
    %13 = arith.cmpf oge, %arg1, %arg1 : tensor<16xf32>
    %14 = arith.cmpf olt, %arg1, %arg1 : tensor<16xf32>
    %15 = arith.cmpf ole, %arg1, %arg1 : tensor<16xf32>
    %16 = arith.cmpf one, %arg1, %arg1 : tensor<16xf32>
    %17 = arith.cmpf ord, %arg1, %arg1 : tensor<16xf32>
    %18 = arith.cmpf ueq, %arg1, %arg1 : tensor<16xf32>
    %19 = arith.cmpf ugt, %arg1, %arg1 : tensor<16xf32>
    %20 = arith.cmpf uge, %arg1, %arg1 : tensor<16xf32>
    %21 = arith.cmpf ult, %arg1, %arg1 : tensor<16xf32>
    %22 = arith.cmpf ule, %arg1, %arg1 : tensor<16xf32>
    %23 = arith.cmpf une, %arg1, %arg1 : tensor<16xf32>
    %24 = arith.cmpf uno, %arg1, %arg1 : tensor<16xf32>
    %25 = arith.cmpf true, %arg1, %arg1 : tensor<16xf32>
    %26 = arith.select %arg2, %arg0, %arg0 : tensor<16xi32>
    %27 = arith.select %0, %arg0, %arg0 : tensor<16xi1>, tensor<16xi32>
    %low, %high = arith.mulsi_extended %arg0, %arg0 : tensor<16xi32>
    %low_0, %high_1 = arith.mului_extended %arg0, %arg0 : tensor<16xi32>
    %sum, %overflow = arith.addui_extended %arg0, %arg0 : tensor<16xi32>, tensor<16xi1>
    tt.return
  }
  tt.func public @conversions(%arg0: tensor<16xi32>, %arg1: tensor<16xf32>, %arg2: i32) {
    %0 = arith.extsi %arg0 : tensor<16xi32> to tensor<16xi64>
    %1 = arith.extui %arg0 : tensor<16xi32> to tensor<16xi64>
    %2 = arith.trunci %arg0 : tensor<16xi32> to tensor<16xi8>
    %3 = arith.extf %arg1 : tensor<16xf32> to tensor<16xf64>
    %4 = arith.truncf %arg1 : tensor<16xf32> to tensor<16xbf16>
    %5 = arith.sitofp %arg0 : tensor<16xi32> to tensor<16xf32>
    %6 = arith.uitofp %arg0 : tensor<16xi32> to tensor<16xf32>
    %7 = arith.fptosi %arg1 : tensor<16xf32> to tensor<16xi32>
    %8 = arith.fptoui %arg1 : tensor<16xf32> to tensor<16xi32>
    %9 = arith.bitcast %arg0 : tensor<16xi32> to tensor<16xf32>
    %10 = arith.index_cast %arg2 : i32 to index
    %11 = arith.index_castui %arg2 : i32 to index
    tt.return
  }
}
