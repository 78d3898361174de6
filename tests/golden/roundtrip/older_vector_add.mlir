// The spelling of 2022: bare func and return, types in parentheses or left out.
func public @add_0d1d2d3d(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg2: i32) {
  %c256_i32 = arith.constant 256 : i32
  %0 = tt.get_program_id {axis = 0 : i32} : i32
  %1 = arith.muli %0, %c256_i32 : i32
  %2 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %3 = tt.splat %1 : (i32) -> tensor<256xi32>
  %4 = arith.addi %3, %2 : tensor<256xi32>
  %5 = tt.splat %arg0 : (!tt.ptr<f32>) -> tensor<256x!tt.ptr<f32>>
  %6 = tt.addptr %5, %4 : tensor<256x!tt.ptr<f32>>
  %7 = tt.splat %arg2 : (i32) -> tensor<256xi32>
  %8 = arith.cmpi slt, %4, %7 : tensor<256xi32>
  %9 = tt.load %6, %8
  %10 = tt.load %6, %8 {cache = 1 : i32, evict = 2 : i32, isVolatile = false} : tensor<256xf32>
  %11 = arith.addf %9, %10 : tensor<256xf32>
  %12 = tt.splat %arg1 : (!tt.ptr<f32>) -> tensor<256x!tt.ptr<f32>>
  %13 = tt.addptr %12, %4 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %13, %11, %8 : tensor<256xf32>
  %14 = tt.get_num_programs {axis = 1 : i32} : i32
  %15 = tt.reduce %11 {axis = 0 : i32, redOp = 2 : i32} : tensor<256xf32> -> f32
  %16 = tt.atomic_rmw fadd, %arg1, %15 : (!tt.ptr<f32>, f32) -> f32
  %17 = tt.view %11 : (tensor<256xf32>) -> tensor<16x16xf32>
  %18 = tt.trans %17 : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %19 = tt.pure_extern_elementwise %11 {libname = "libdevice", libpath = "", symbol = "__nv_expf"} : (tensor<256xf32>) -> tensor<256xf32>
  %20 = arith.maxf %11, %19 : tensor<256xf32>
  %21 = tt.cat %11, %20 : (tensor<256xf32>, tensor<256xf32>) -> tensor<512xf32>
  tt.print "x" : %21 : tensor<512xf32>
  tt.assert %8, "bound", "file.py", "f", 12 : tensor<256xi1>
  return
}
