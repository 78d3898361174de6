// narrow-offsets: rows of odd length are loaded element by element. Addresses at a constant distance share one 64-bit
// address; if many remain, what they do not share stays a 32-bit offset throughout the loop.
// RUN: tessera compile %s --kernel few --target sm_80 --num-warps 4 --num-stages 1 --emit ptx -o - | FileCheck %s --check-prefix=FEW
// RUN: tessera compile %s --kernel many --target sm_90a --num-warps 1 --exact-num-warps --num-stages 1 --emit ptx -o - | FileCheck %s --check-prefix=MANY
// FEW: .entry few
// FEW-NOT: cvt.s64.s32 wide
// FEW: ret;
// MANY: .entry many
// MANY: {{^\$L__BB}}
// MANY-COUNT-80: cvt.s64.s32 wide
// MANY: bra
tt.func public @few(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c128 = arith.constant 128 : i32
  %bound = arith.constant dense<64> : tensor<128xi32>
  %odd = arith.constant dense<777> : tensor<128x1xi32>
  %wide = arith.constant dense<64> : tensor<128x1xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %one = arith.andi %pid, %c4 : i32
  %from = tt.splat %one : i32 -> tensor<128xi32>
  %at = arith.addi %r, %from : tensor<128xi32>
  %row = arith.remui %at, %bound : tensor<128xi32>
  %row1 = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowo = arith.muli %row1, %odd : tensor<128x1xi32>
  %rowb = tt.broadcast %rowo : tensor<128x1xi32> -> tensor<128x128xi32>
  %k0 = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %k1 = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %kw = arith.muli %k1, %wide : tensor<128x1xi32>
  %kb = tt.broadcast %kw : tensor<128x1xi32> -> tensor<128x64xi32>
  %n0 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %nb = tt.broadcast %n0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %i = arith.addi %kb, %nb : tensor<128x64xi32>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pw = tt.addptr %ws, %i : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %y = tt.load %pw : tensor<128x64x!tt.ptr<f16>>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %s = scf.for %t = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %step = arith.muli %t, %c128 : i32
    %steps = tt.splat %step : i32 -> tensor<1x128xi32>
    %k = arith.addi %k0, %steps : tensor<1x128xi32>
    %ks = tt.broadcast %k : tensor<1x128xi32> -> tensor<128x128xi32>
    %j = arith.addi %ks, %rowb : tensor<128x128xi32>
    %pj = tt.addptr %ps, %j : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %x = tt.load %pj : tensor<128x128x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<128x128xf16> * tensor<128x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %po = tt.addptr %os, %i : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %po, %s : tensor<128x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @many(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %w: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c128 = arith.constant 128 : i32
  %bound = arith.constant dense<33> : tensor<128xi32>
  %odd = arith.constant dense<777> : tensor<128x1xi32>
  %wide = arith.constant dense<64> : tensor<128x1xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %n = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %pid = tt.get_program_id x : i32
  %one = arith.andi %pid, %c4 : i32
  %from = tt.splat %one : i32 -> tensor<128xi32>
  %at = arith.addi %r, %from : tensor<128xi32>
  %row = arith.remui %at, %bound : tensor<128xi32>
  %row1 = tt.expand_dims %row {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rowo = arith.muli %row1, %odd : tensor<128x1xi32>
  %rowb = tt.broadcast %rowo : tensor<128x1xi32> -> tensor<128x128xi32>
  %k0 = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %k1 = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %kw = arith.muli %k1, %wide : tensor<128x1xi32>
  %kb = tt.broadcast %kw : tensor<128x1xi32> -> tensor<128x64xi32>
  %n0 = tt.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %nb = tt.broadcast %n0 : tensor<1x64xi32> -> tensor<128x64xi32>
  %i = arith.addi %kb, %nb : tensor<128x64xi32>
  %ws = tt.splat %w : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>>
  %pw = tt.addptr %ws, %i : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
  %y = tt.load %pw : tensor<128x64x!tt.ptr<f16>>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
  %s = scf.for %t = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (tensor<128x64xf32>) : i32 {
    %step = arith.muli %t, %c128 : i32
    %steps = tt.splat %step : i32 -> tensor<1x128xi32>
    %k = arith.addi %k0, %steps : tensor<1x128xi32>
    %ks = tt.broadcast %k : tensor<1x128xi32> -> tensor<128x128xi32>
    %j = arith.addi %ks, %rowb : tensor<128x128xi32>
    %pj = tt.addptr %ps, %j : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %x = tt.load %pj : tensor<128x128x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %acc : tensor<128x128xf16> * tensor<128x64xf16> -> tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<128x64x!tt.ptr<f32>>
  %po = tt.addptr %os, %i : tensor<128x64x!tt.ptr<f32>>, tensor<128x64xi32>
  tt.store %po, %s : tensor<128x64x!tt.ptr<f32>>
  tt.return
}
