// Every tt operation on tensors without layouts.
module {
  tt.func public @memory(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i64, %arg2: i32, %arg3: !tt.ptr<i32>, %arg4: i1) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32
    %1 = tt.get_num_programs z : i32
    %2 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %3 = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %4 = tt.addptr %3, %2 {tt.contiguity = dense<16> : tensor<1xi32>} : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %5 = tt.splat %arg2 : i32 -> tensor<16xi32>
    %6 = arith.cmpi slt, %2, %5 : tensor<16xi32>
    %cst = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %7 = tt.load %4 : tensor<16x!tt.ptr<f32>>
    %8 = tt.load %4, %6 : tensor<16x!tt.ptr<f32>>
    %9 = tt.load %4, %6, %cst cacheModifier = ca evictionPolicy = evict_first {isVolatile = true} : tensor<16x!tt.ptr<f32>>
    %10 = tt.load %arg0 : !tt.ptr<f32>
    tt.store %4, %7 : tensor<16x!tt.ptr<f32>>
    tt.store %4, %8, %6 cacheModifier = wt evictionPolicy = evict_last : tensor<16x!tt.ptr<f32>>
    %11 = tt.atomic_rmw fadd, acq_rel, gpu, %4, %7, %6 : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %12 = tt.atomic_rmw exch, relaxed, sys, %arg3, %arg2 : (!tt.ptr<i32>, i32) -> i32
    %13 = tt.atomic_cas release, cta, %arg3, %arg2, %12 : (!tt.ptr<i32>, i32, i32) -> i32
    %14 = tt.int_to_ptr %arg1 : i64 -> !tt.ptr<f16>
    %15 = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
    %16 = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i8>
    %17 = tt.make_tensor_ptr %arg0, [%arg1, %arg1], [%arg1, %arg1], [%arg2, %arg2] {order = array<i32: 1, 0>} : <tensor<16x16xf32>>
    %18 = tt.advance %17, [%arg2, %arg2] : <tensor<16x16xf32>>
    %19 = tt.load %18 {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x16xf32>>
    tt.store %18, %19 {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16x16xf32>>
    tt.print "values: " {hex = false, isSigned = array<i32: 0, 1>} : %7, %2 : tensor<16xf32>, tensor<16xi32>
    tt.print "none" {hex = true, isSigned = array<i32>}
    tt.assert %6, "in bounds" : tensor<16xi1>
    %20 = tt.atomic_load acquire, gpu, %4, %6 : (tensor<16x!tt.ptr<f32>>, tensor<16xi1>) -> tensor<16xf32>
    %21 = tt.atomic_load relaxed, sys, %arg3 : (!tt.ptr<i32>) -> i32
    tt.atomic_store release, sys, %4, %20, %6 : tensor<16x!tt.ptr<f32>>
    tt.atomic_store relaxed, cta, %arg3, %21 : !tt.ptr<i32>
    %22 = tt.atomic_poll acquire, gpu, %arg3, %21 : !tt.ptr<i32>, i32 -> i1
    %23 = tt.atomic_poll relaxed, sys, %arg3, %21 timeout %arg1 : !tt.ptr<i32>, i32 -> i1
    tt.return
  }
  tt.func public @descriptors(%arg0: !tt.ptr<f16>, %arg1: i32, %arg2: i64, %arg3: tensor<32xi32>) {
    %0 = tt.make_tensor_descriptor %arg0, [%arg1, %arg1], [%arg2, %arg2] : <f16>, <tensor<32x64xf16>>
    %1 = tt.make_tensor_descriptor %arg0, [%arg1, %arg1], [%arg2, %arg2] {padding = 2 : i32} : <f16>, <tensor<1x64xf16>>
    %2 = tt.descriptor_load %0[%arg1, %arg1] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
    %3 = tt.descriptor_load %0[%arg1, %arg1] cacheModifier = cg evictionPolicy = evict_last : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
    tt.descriptor_store %0[%arg1, %arg1], %2 : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
    tt.descriptor_reduce add, %0[%arg1, %arg1], %2 : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
    %4 = tt.descriptor_gather %1[%arg3, %arg1] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
    tt.descriptor_scatter %1[%arg3, %arg1], %4 : !tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32, tensor<32x64xf16>
    tt.return
  }
  tt.func public @halves_of_bytes(%arg0: tensor<16xi8>) {
    %0 = tt.e2m1_to_fp %arg0 {high = false} : tensor<16xi8> -> tensor<16xbf16>
    tt.return
  }
  tt.func public @values(%arg0: tensor<16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<16xi32>, %arg3: tensor<32x16xf32>, %arg4: f32) {
    %0 = tt.fp_to_fp %arg0, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
    %1 = tt.fp_to_fp %0 : tensor<16xf8E5M2> -> tensor<16xf32>
    %2 = tt.clampf %arg0, %arg0, %1, propagateNan = all : tensor<16xf32>
    %3 = tt.precise_sqrt %2 : tensor<16xf32>
    %4 = tt.precise_divf %3, %2 : tensor<16xf32>
    %5 = tt.mulhiui %arg2, %arg2 : tensor<16xi32>
    %6 = tt.expand_dims %4 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %7 = tt.broadcast %6 : tensor<16x1xf32> -> tensor<16x32xf32>
    %8 = tt.reshape %7 : tensor<16x32xf32> -> tensor<512xf32>
    %9 = tt.reshape %7 allow_reorder efficient_layout : tensor<16x32xf32> -> tensor<512xf32>
    %10 = tt.cat %arg0, %arg0 : tensor<16xf32> -> tensor<32xf32>
    %11 = tt.join %arg0, %arg0 : tensor<16xf32> -> tensor<16x2xf32>
    %outLHS, %outRHS = tt.split %11 : tensor<16x2xf32> -> tensor<16xf32>
    %12 = tt.trans %arg1 {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %13 = tt.dot %arg1, %arg3, %cst : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
    %14 = tt.dot %arg1, %arg3, %13, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
    %15 = "tt.reduce"(%arg1) <{axis = 1 : i32}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %27 = arith.addf %arg5, %arg6 : f32
      tt.reduce.return %27 : f32
    }) : (tensor<16x32xf32>) -> tensor<16xf32>
    %16:2 = "tt.reduce"(%arg0, %arg2) <{axis = 0 : i32}> ({
    ^bb0(%arg5: f32, %arg6: i32, %arg7: f32, %arg8: i32):
      %27 = arith.cmpf ogt, %arg5, %arg7 : f32
      %28 = arith.select %27, %arg5, %arg7 : f32
      %29 = arith.select %27, %arg6, %arg8 : i32
      tt.reduce.return %28, %29 : f32, i32
    }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
    %17 = "tt.scan"(%arg0) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%arg5: f32, %arg6: f32):
      %27 = arith.mulf %arg5, %arg6 : f32
      tt.scan.return %27 : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %18 = "tt.map_elementwise"(%arg0) <{pack = 1 : i32}> ({
    ^bb0(%arg5: f32):
      tt.map_elementwise.return %arg5 : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %19 = tt.extern_elementwise %arg0, %arg0 {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %20 = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %arg2 : tensor<16xi32> -> tensor<16xi32>
    %21 = tt.histogram %arg2 : tensor<16xi32> -> tensor<32xi32>
    %22 = arith.cmpi eq, %arg2, %20 : tensor<16xi32>
    %23 = tt.histogram %arg2, %22 : tensor<16xi32> -> tensor<32xi32>
    %24 = tt.gather %arg0[%arg2] {axis = 0 : i32} : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
    %25 = tt.splat %arg4 : f32 -> tensor<1xf32>
    %26 = tt.unsplat %25 : tensor<1xf32>
    tt.return
  }
  tt.func public @scaled(%arg0: tensor<32x64xi8>, %arg1: tensor<32x4xi8>, %arg2: tensor<64x32xi8>, %arg3: tensor<32x4xi8>, %arg4: tensor<32x32xf32>) {
    %0 = tt.dot_scaled %arg0 scale %arg1, %arg2 scale %arg3, %arg4 lhs = e2m1 rhs = e2m1 {fastMath = true} : tensor<32x64xi8>, tensor<32x4xi8> * tensor<64x32xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
    tt.return
  }
}
