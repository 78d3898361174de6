// The generic form of everything in tt.mlir.
module {
  tt.func public @memory(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i64, %arg2: i32, %arg3: !tt.ptr<i32>, %arg4: i1) attributes {noinline = false} {
    %x = tt.get_program_id x : i32
    %y = tt.get_num_programs z : i32
    %range = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %base = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %ptrs = tt.addptr %base, %range {tt.contiguity = dense<16> : tensor<1xi32>} : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %bound = tt.splat %arg2 : i32 -> tensor<16xi32>
    %mask = arith.cmpi slt, %range, %bound : tensor<16xi32>
    %zero = arith.constant dense<0.000000e+00> : tensor<16xf32>
    %a = tt.load %ptrs : tensor<16x!tt.ptr<f32>>
    %b = tt.load %ptrs, %mask : tensor<16x!tt.ptr<f32>>
    %c = tt.load %ptrs, %mask, %zero cacheModifier = ca evictionPolicy = evict_first {isVolatile = true} : tensor<16x!tt.ptr<f32>>
    %d = tt.load %arg0 : !tt.ptr<f32>
    tt.store %ptrs, %a : tensor<16x!tt.ptr<f32>>
    tt.store %ptrs, %b, %mask cacheModifier = wt evictionPolicy = evict_last : tensor<16x!tt.ptr<f32>>
    %e = tt.atomic_rmw fadd, acq_rel, gpu, %ptrs, %a, %mask : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> tensor<16xf32>
    %f = tt.atomic_rmw exch, relaxed, sys, %arg3, %arg2 : (!tt.ptr<i32>, i32) -> i32
    %g = tt.atomic_cas release, cta, %arg3, %arg2, %f : (!tt.ptr<i32>, i32, i32) -> i32
    %h = tt.int_to_ptr %arg1 : i64 -> !tt.ptr<f16>
    %i = tt.ptr_to_int %arg0 : !tt.ptr<f32> -> i64
    %j = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i8>
    %k = tt.make_tensor_ptr %arg0, [%arg1, %arg1], [%arg1, %arg1], [%arg2, %arg2] {order = array<i32: 1, 0>} : <tensor<16x16xf32>>
    %l = tt.advance %k, [%arg2, %arg2] : <tensor<16x16xf32>>
    %m = tt.load %l {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<16x16xf32>>
    tt.store %l, %m {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<16x16xf32>>
    tt.print "values: " {hex = false, isSigned = array<i32: 0, 1>} : %a, %range : tensor<16xf32>, tensor<16xi32>
    tt.print "none" {hex = true, isSigned = array<i32>}
    tt.assert %mask, "in bounds" : tensor<16xi1>
    tt.return
  }
  tt.func public @descriptors(%arg0: !tt.ptr<f16>, %arg1: i32, %arg2: i64, %arg3: tensor<32xi32>) {
    %desc = tt.make_tensor_descriptor %arg0, [%arg1, %arg1], [%arg2, %arg2] : <f16>, <tensor<32x64xf16>>
    %nan = tt.make_tensor_descriptor %arg0, [%arg1, %arg1], [%arg2, %arg2] {padding = 2 : i32} : <f16>, <tensor<1x64xf16>>
    %a = tt.descriptor_load %desc[%arg1, %arg1] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
    %b = tt.descriptor_load %desc[%arg1, %arg1] cacheModifier = cg evictionPolicy = evict_last : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
    tt.descriptor_store %desc[%arg1, %arg1], %a : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
    tt.descriptor_reduce add, %desc[%arg1, %arg1], %a : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
    %c = tt.descriptor_gather %nan[%arg3, %arg1] : (!tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32) -> tensor<32x64xf16>
    tt.descriptor_scatter %nan[%arg3, %arg1], %c : !tt.tensordesc<tensor<1x64xf16>>, tensor<32xi32>, i32, tensor<32x64xf16>
    tt.return
  }
  tt.func public @values(%arg0: tensor<16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<16xi32>, %arg3: tensor<32x16xf32>, %arg4: f32) {
    %a = tt.fp_to_fp %arg0, rounding = rtne : tensor<16xf32> -> tensor<16xf8E5M2>
    %b = tt.fp_to_fp %a : tensor<16xf8E5M2> -> tensor<16xf32>
    %c = tt.clampf %arg0, %arg0, %b, propagateNan = all : tensor<16xf32>
    %d = tt.precise_sqrt %c : tensor<16xf32>
    %e = tt.precise_divf %d, %c : tensor<16xf32>
    %f = tt.mulhiui %arg2, %arg2 : tensor<16xi32>
    %g = tt.expand_dims %e {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %h = tt.broadcast %g : tensor<16x1xf32> -> tensor<16x32xf32>
    %i = tt.reshape %h : tensor<16x32xf32> -> tensor<512xf32>
    %j = tt.reshape %h allow_reorder efficient_layout : tensor<16x32xf32> -> tensor<512xf32>
    %k = tt.cat %arg0, %arg0 : tensor<16xf32> -> tensor<32xf32>
    %l = tt.join %arg0, %arg0 : tensor<16xf32> -> tensor<16x2xf32>
    %m, %n = tt.split %l : tensor<16x2xf32> -> tensor<16xf32>
    %o = tt.trans %arg1 {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32>
    %zero = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %p = tt.dot %arg1, %arg3, %zero : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
    %q = tt.dot %arg1, %arg3, %p, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>
    %r = "tt.reduce"(%arg1) <{axis = 1 : i32}> ({
    ^bb0(%lhs: f32, %rhs: f32):
      %20 = arith.addf %lhs, %rhs : f32
      tt.reduce.return %20 : f32
    }) : (tensor<16x32xf32>) -> tensor<16xf32>
    %s:2 = "tt.reduce"(%arg0, %arg2) <{axis = 0 : i32}> ({
    ^bb0(%v0: f32, %i0: i32, %v1: f32, %i1: i32):
      %21 = arith.cmpf ogt, %v0, %v1 : f32
      %22 = arith.select %21, %v0, %v1 : f32
      %23 = arith.select %21, %i0, %i1 : i32
      tt.reduce.return %22, %23 : f32, i32
    }) : (tensor<16xf32>, tensor<16xi32>) -> (f32, i32)
    %t = "tt.scan"(%arg0) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%lhs: f32, %rhs: f32):
      %24 = arith.mulf %lhs, %rhs : f32
      tt.scan.return %24 : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %u = "tt.map_elementwise"(%arg0) <{pack = 1 : i32}> ({
    ^bb0(%v: f32):
      tt.map_elementwise.return %v : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    %v = tt.extern_elementwise %arg0, %arg0 {libname = "", libpath = "", pure = true, symbol = "__nv_powf"} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %w = tt.elementwise_inline_asm "mov.b32 $0, $1;" {constraints = "=r,r", packed_element = 1 : i32, pure = true} %arg2 : tensor<16xi32> -> tensor<16xi32>
    %x = tt.histogram %arg2 : tensor<16xi32> -> tensor<32xi32>
    %mask = arith.cmpi eq, %arg2, %w : tensor<16xi32>
    %y = tt.histogram %arg2, %mask : tensor<16xi32> -> tensor<32xi32>
    %z = tt.gather %arg0[%arg2] {axis = 0 : i32} : (tensor<16xf32>, tensor<16xi32>) -> tensor<16xf32>
    %one = tt.splat %arg4 : f32 -> tensor<1xf32>
    %scalar = tt.unsplat %one : tensor<1xf32>
    tt.return
  }
  tt.func public @scaled(%arg0: tensor<32x64xi8>, %arg1: tensor<32x4xi8>, %arg2: tensor<64x32xi8>, %arg3: tensor<32x4xi8>, %arg4: tensor<32x32xf32>) {
    %0 = tt.dot_scaled %arg0 scale %arg1, %arg2 scale %arg3, %arg4 lhs = e2m1 rhs = e2m1 {fastMath = true} : tensor<32x64xi8>, tensor<32x4xi8> * tensor<64x32xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
    tt.return
  }
}
