// The machine code of a loop with MFMA: order-matrices puts reads of LDS ahead of the MFMA that use them, and stores,
// loads and the barrier between MFMA; tritongpu-prefetch reads the first operands after the barrier; the loads are two
// iterations ahead; masked-off lanes read zeros rather than that there are branches.
// RUN: tessera compile %s --target gfx950 --num-warps 4 --num-stages 3 --emit amdgcn -o - --remarks='LoopPipelined|Prefetched' 2>%t | FileCheck %s --implicit-check-not=ds_read_u16
// RUN: FileCheck --check-prefix=REMARK %s < %t
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 3 --emit amdgcn -o - | FileCheck %s --check-prefix=GFX942

// REMARK: 2 of the loop's loads are issued 2 iterations ahead of their dots, through registers; 2 stages
// REMARK: the first step of the operands of its dots is loaded from shared memory an iteration ahead

// All of the loop is one block: stores, loads, the barrier and the next iteration's first reads are between MFMA. Rows
// across K are transposed on read, parts of a buffer too.
// CHECK-LABEL: matmul:
// CHECK: v_mfma_f32
// CHECK-NOT: {{s_cbranch|s_barrier}}
// CHECK: ds_write
// CHECK-NOT: {{s_cbranch|s_barrier}}
// CHECK: global_load_dwordx4
// CHECK-NOT: {{s_cbranch|s_barrier}}
// CHECK: v_mfma_f32
// CHECK-NOT: s_cbranch
// CHECK: s_barrier
// CHECK-NOT: s_cbranch
// CHECK: ds_read
// CHECK-NOT: {{s_cbranch|s_barrier}}
// CHECK: v_mfma_f32
// CHECK-NOT: {{s_barrier|ds_write}}
// CHECK: s_cbranch_scc1

// 64 KiB of LDS have room for one buffer: a barrier before the stores, and one after them. Nothing is read ahead.
// GFX942-LABEL: matmul:
// GFX942: v_mfma_f32
// GFX942-NOT: s_cbranch
// GFX942: s_barrier
// GFX942-NOT: s_cbranch
// GFX942: ds_write
// GFX942-NOT: {{s_cbranch|s_barrier}}
// GFX942: v_mfma_f32
// GFX942-NOT: {{s_barrier|ds_read}}
// GFX942: s_cbranch_scc1
// GFX942: s_barrier
module {
  tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %K: i32 {tt.divisibility = 16 : i32}, %sa: i32 {tt.divisibility = 16 : i32}, %sb: i32 {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
    %za = arith.constant dense<0.000000e+00> : tensor<128x64xf16>
    %zb = arith.constant dense<0.000000e+00> : tensor<64x128xf16>
    %c64a = arith.constant dense<64> : tensor<128x64xi32>
    %m = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %me = tt.expand_dims %m {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %ke = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %kc = tt.expand_dims %k {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ne = tt.expand_dims %m {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %sas = tt.splat %sa : i32 -> tensor<128x1xi32>
    %sbs = tt.splat %sb : i32 -> tensor<64x1xi32>
    %ra = arith.muli %me, %sas : tensor<128x1xi32>
    %rb = arith.muli %kc, %sbs : tensor<64x1xi32>
    %pa0 = tt.splat %a : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %pa1 = tt.addptr %pa0, %ra : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi32>
    %pa2 = tt.broadcast %pa1 : tensor<128x1x!tt.ptr<f16>> -> tensor<128x64x!tt.ptr<f16>>
    %kb = tt.broadcast %ke : tensor<1x64xi32> -> tensor<128x64xi32>
    %pa = tt.addptr %pa2, %kb : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
    %pb0 = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
    %pb1 = tt.addptr %pb0, %rb : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
    %pb2 = tt.broadcast %pb1 : tensor<64x1x!tt.ptr<f16>> -> tensor<64x128x!tt.ptr<f16>>
    %nb = tt.broadcast %ne : tensor<1x128xi32> -> tensor<64x128xi32>
    %pb = tt.addptr %pb2, %nb : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %step = arith.muli %sb, %c64 : i32
    %steps = tt.splat %step : i32 -> tensor<64x128xi32>
    %r:3 = scf.for %i = %c0 to %K step %c64 iter_args(%acc = %zero, %p = %pa, %q = %pb) -> (tensor<128x128xf32>, tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>) : i32 {
      %left = arith.subi %K, %i : i32
      %lefts = tt.splat %left : i32 -> tensor<1x64xi32>
      %in = arith.cmpi slt, %ke, %lefts : tensor<1x64xi32>
      %ma = tt.broadcast %in : tensor<1x64xi1> -> tensor<128x64xi1>
      %leftc = tt.splat %left : i32 -> tensor<64x1xi32>
      %inc = arith.cmpi slt, %kc, %leftc : tensor<64x1xi32>
      %mb = tt.broadcast %inc : tensor<64x1xi1> -> tensor<64x128xi1>
      %x = tt.load %p, %ma, %za : tensor<128x64x!tt.ptr<f16>>
      %y = tt.load %q, %mb, %zb : tensor<64x128x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      %pn = tt.addptr %p, %c64a : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      %qn = tt.addptr %q, %steps : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      scf.yield %d, %pn, %qn : tensor<128x128xf32>, tensor<128x64x!tt.ptr<f16>>, tensor<64x128x!tt.ptr<f16>>
    }
    %row = arith.constant dense<128> : tensor<128x1xi32>
    %mr = arith.muli %me, %row : tensor<128x1xi32>
    %mrb = tt.broadcast %mr : tensor<128x1xi32> -> tensor<128x128xi32>
    %ncb = tt.broadcast %ne : tensor<1x128xi32> -> tensor<128x128xi32>
    %at = arith.addi %mrb, %ncb : tensor<128x128xi32>
    %pc = tt.splat %c : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
    %pcs = tt.addptr %pc, %at : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
    tt.store %pcs, %r#0 : tensor<128x128x!tt.ptr<f32>>
    tt.return
  }
}
