// A row of a softmax with as many elements per thread as registers: LLVM's register allocator would search for
// evictions: over 45 s of CPU time without the bound, 7 s with it (dev build). The code is optimised, its values are
// spilled sooner. A kernel that is not optimised, with the remark: slow_register_allocation.mlir.
// RUN: ulimit -t 30; tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn -o - --remarks=NotOptimized 2>%t | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK --allow-empty %s < %t
// CHECK: v_exp_f32
// CHECK: .vgpr_count: 256
// REMARK-NOT: remark
tt.func public @softmax_row(%x: !tt.ptr<f16>, %o: !tt.ptr<f16>, %sr: i32, %cols: i32) {
  %v = arith.constant dense<0xFC00> : tensor<8192xf16>
  %r = tt.get_program_id x : i32
  %c = tt.make_range {end = 8192 : i32, start = 0 : i32} : tensor<8192xi32>
  %v_0 = tt.splat %cols : i32 -> tensor<8192xi32>
  %v_1 = arith.cmpi slt, %c, %v_0 : tensor<8192xi32>
  %v_2 = arith.muli %r, %sr : i32
  %v_3 = tt.addptr %x, %v_2 : !tt.ptr<f16>, i32
  %v_4 = tt.splat %v_3 : !tt.ptr<f16> -> tensor<8192x!tt.ptr<f16>>
  %v_5 = tt.addptr %v_4, %c : tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>
  %v_6 = tt.load %v_5, %v_1, %v : tensor<8192x!tt.ptr<f16>>
  %v_7 = arith.extf %v_6 : tensor<8192xf16> to tensor<8192xf32>
  %v_8 = "tt.reduce"(%v_7) <{axis = 0 : i32}> ({
  ^bb0(%v_11: f32, %v_12: f32):
    %v_13 = arith.maxnumf %v_11, %v_12 : f32
    tt.reduce.return %v_13 : f32
  }) : (tensor<8192xf32>) -> f32
  %v_9 = tt.splat %v_8 : f32 -> tensor<8192xf32>
  %v_10 = arith.subf %v_7, %v_9 : tensor<8192xf32>
  %e = math.exp %v_10 : tensor<8192xf32>
  %0 = tt.addptr %o, %v_2 : !tt.ptr<f16>, i32
  %1 = tt.splat %0 : !tt.ptr<f16> -> tensor<8192x!tt.ptr<f16>>
  %2 = tt.addptr %1, %c : tensor<8192x!tt.ptr<f16>>, tensor<8192xi32>
  %3 = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%arg4: f32, %arg5: f32):
    %7 = arith.addf %arg4, %arg5 : f32
    tt.reduce.return %7 : f32
  }) : (tensor<8192xf32>) -> f32
  %4 = tt.splat %3 : f32 -> tensor<8192xf32>
  %5 = arith.divf %e, %4 : tensor<8192xf32>
  %6 = arith.truncf %5 : tensor<8192xf32> to tensor<8192xf16>
  tt.store %2, %6, %v_1 : tensor<8192x!tt.ptr<f16>>
  tt.return
}
