// mma.sync of 8-bit floats where the matrix unit has it (sm_89, sm_120), and of halves where ptxas would convert the
// operands and accumulate outside of the matrix unit (sm_90, sm_100). Of a lane's four elements along K, two go
// into either half of the narrower instruction's K.
// RUN: tessera compile %s --target sm_89 --num-warps 4 --emit ptx -o - | FileCheck %s --check-prefix=BYTES
// RUN: tessera compile %s --target sm_120a --num-warps 4 --emit ptx -o - | FileCheck %s --check-prefix=BYTES
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit ptx -o - | FileCheck %s --check-prefix=HALVES
// RUN: tessera compile %s --target sm_100a --num-warps 4 --emit ptx -o - | FileCheck %s --check-prefix=HALVES
// BYTES-NOT: cvt.rn.f16x2
// BYTES: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// HALVES-DAG: cvt.rn.f16x2.e4m3x2
// HALVES-DAG: cvt.rn.f16x2.e5m2x2
// HALVES-NOT: .e4m3.e5m2.
// HALVES: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {[[A:%r[0-9]+]], [[B:%r[0-9]+]], [[C:%r[0-9]+]], [[D:%r[0-9]+]]},
// HALVES: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// HALVES-NOT: add.rn.f32
// HALVES-NOT: add.f32
// HALVES: ret
module {
  tt.func public @dot(%a: !tt.ptr<f8E4M3FN> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %zero = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %m = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %k = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
    %c32 = arith.constant dense<32> : tensor<16x1xi32>
    %row = tt.expand_dims %m {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %start = arith.muli %row, %c32 : tensor<16x1xi32>
    %column = tt.expand_dims %k {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %starts = tt.broadcast %start : tensor<16x1xi32> -> tensor<16x32xi32>
    %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<16x32xi32>
    %at = arith.addi %starts, %columns : tensor<16x32xi32>
    %p = tt.splat %a : !tt.ptr<f8E4M3FN> -> tensor<16x32x!tt.ptr<f8E4M3FN>>
    %pa = tt.addptr %p, %at : tensor<16x32x!tt.ptr<f8E4M3FN>>, tensor<16x32xi32>
    %x = tt.load %pa : tensor<16x32x!tt.ptr<f8E4M3FN>>
    %krow = tt.expand_dims %k {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
    %n32 = arith.constant dense<32> : tensor<1x32xi32>
    %nstart = arith.muli %column, %n32 : tensor<1x32xi32>
    %nstarts = tt.broadcast %nstart : tensor<1x32xi32> -> tensor<32x32xi32>
    %krows = tt.broadcast %krow : tensor<32x1xi32> -> tensor<32x32xi32>
    %bt = arith.addi %nstarts, %krows : tensor<32x32xi32>
    %q = tt.splat %b : !tt.ptr<f8E5M2> -> tensor<32x32x!tt.ptr<f8E5M2>>
    %pb = tt.addptr %q, %bt : tensor<32x32x!tt.ptr<f8E5M2>>, tensor<32x32xi32>
    %y = tt.load %pb : tensor<32x32x!tt.ptr<f8E5M2>>
    %d = tt.dot %x, %y, %zero {maxNumImpreciseAcc = 1073741824 : i32} : tensor<16x32xf8E4M3FN> * tensor<32x32xf8E5M2> -> tensor<16x32xf32>
    %o = tt.splat %c : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
    %po = tt.addptr %o, %at : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
    tt.store %po, %d : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}
