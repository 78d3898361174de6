// Offsets of buffer loads that advance by the same constant: the instruction's scalar offset advances for all of them.
// The rows of @rows are taken modulo an extent, so that none is a known distance from another; some lanes are masked
// off. A step that is an argument may be negative, which a scalar offset cannot be.
// RUN: tessera compile %s --target gfx942 --kernel rows --num-warps 1 --emit llir | FileCheck %s --check-prefix=ROWS
// RUN: tessera compile %s --target gfx1201 --kernel rows --num-warps 1 --emit llir | FileCheck %s --check-prefix=ROWS
// RUN: tessera compile %s --target gfx1201 --kernel rows --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=ISA
// RUN: tessera compile %s --target gfx942 --kernel stepped --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=OWN
// ROWS-LABEL: @rows(
// ROWS: {{^}}for:
// ROWS: %[[S:scalar.offset.*]] = phi i32 [ 0,
// ROWS: select i1 %{{.*}}, i32 %{{.*}}, i32 -16
// ROWS: @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %{{.*}}, i32 %[[S]],
// ROWS: @llvm.amdgcn.raw.ptr.buffer.load{{.*}} i32 %{{.*}}, i32 %[[S]],
// ROWS: add i32 %[[S]], 256
// ISA: buffer_load_b32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}], s{{[0-9]+}} offen
// OWN-LABEL: {{^}}stepped:
// OWN: buffer_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}], 0 offen
// OWN: s_endpgm
tt.func public @rows(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<8x64xf32>
  %step = arith.constant dense<64> : tensor<8x64xi32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %row = arith.remsi %r, %ms : tensor<8xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %s = tt.splat %stride : i32 -> tensor<8x1xi32>
  %rs = arith.muli %r1, %s : tensor<8x1xi32>
  %ra = tt.broadcast %rs : tensor<8x1xi32> -> tensor<8x64xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %cc = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ca = tt.broadcast %cc : tensor<1x64xi32> -> tensor<8x64xi32>
  %at = arith.addi %ra, %ca : tensor<8x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %at : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
  %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zeros, %p = %p0) -> (tensor<8x64xf32>, tensor<8x64x!tt.ptr<f32>>) : i32 {
    gpu.barrier // so that the loop is not unrolled (unroll_loads)
    %left = arith.subi %n, %i : i32
    %ls = tt.splat %left : i32 -> tensor<8x64xi32>
    %in = arith.cmpi slt, %ca, %ls : tensor<8x64xi32>
    %v = tt.load %p, %in, %zeros : tensor<8x64x!tt.ptr<f32>>
    %a = arith.addf %acc, %v : tensor<8x64xf32>
    %next = tt.addptr %p, %step : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
    scf.yield %a, %next : tensor<8x64xf32>, tensor<8x64x!tt.ptr<f32>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
  tt.store %op, %sum#0 : tensor<8x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @stepped(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32, %m: i32, %stride: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.000000e+00> : tensor<8x64xf32>
  %step = tt.splat %stride : i32 -> tensor<8x64xi32>
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %row = arith.remsi %r, %ms : tensor<8xi32>
  %r1 = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %s = tt.splat %stride : i32 -> tensor<8x1xi32>
  %rs = arith.muli %r1, %s : tensor<8x1xi32>
  %ra = tt.broadcast %rs : tensor<8x1xi32> -> tensor<8x64xi32>
  %c = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %cc = tt.expand_dims %c {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ca = tt.broadcast %cc : tensor<1x64xi32> -> tensor<8x64xi32>
  %at = arith.addi %ra, %ca : tensor<8x64xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %at : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
  %sum:2 = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zeros, %p = %p0) -> (tensor<8x64xf32>, tensor<8x64x!tt.ptr<f32>>) : i32 {
    %left = arith.subi %n, %i : i32
    %ls = tt.splat %left : i32 -> tensor<8x64xi32>
    %in = arith.cmpi slt, %ca, %ls : tensor<8x64xi32>
    %v = tt.load %p, %in, %zeros : tensor<8x64x!tt.ptr<f32>>
    %a = arith.addf %acc, %v : tensor<8x64xf32>
    %next = tt.addptr %p, %step : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
    scf.yield %a, %next : tensor<8x64xf32>, tensor<8x64x!tt.ptr<f32>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x64x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<8x64x!tt.ptr<f32>>, tensor<8x64xi32>
  tt.store %op, %sum#0 : tensor<8x64x!tt.ptr<f32>>
  tt.return
}
