// Loops over a group of rows whose end is bounded (a group of heads). The bound is a multiple of the group's size, so that
// a program either has a whole group or none: the loop has four iterations, and is unrolled. With another bound the last
// group may be shorter, and the loop stays.
// RUN: tessera compile %s --kernel whole --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=WHOLE
// RUN: tessera compile %s --kernel rest --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=REST

// WHOLE: .entry whole
// WHOLE: setp.gt.u32 %[[NONE:p[0-9]+]], %r{{[0-9]+}}, 7;
// WHOLE: @%[[NONE]] bra
// WHOLE-COUNT-4: ld.global
// WHOLE-NOT: bra
// WHOLE: ret;
// REST: .entry rest
// REST-COUNT-1: ld.global
// REST-NOT: ld.global
// REST: bra
// REST: ret;
tt.func public @whole(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %c128 = arith.constant 128 : i32
  %half = arith.constant dense<0.5> : tensor<128xf32>
  %pid = tt.get_program_id y : i32
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %start = arith.muli %pid, %c4 : i32
  %stop = arith.addi %start, %c4 : i32
  %end = arith.minsi %stop, %c32 : i32
  scf.for %i = %start to %end step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %at = arith.addi %rows, %range : tensor<128xi32>
    %px = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %a = tt.load %px : tensor<128x!tt.ptr<f32>>
    %b = arith.mulf %a, %half : tensor<128xf32>
    tt.store %px, %b : tensor<128x!tt.ptr<f32>>
  }
  tt.return
}
tt.func public @rest(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c30 = arith.constant 30 : i32
  %c128 = arith.constant 128 : i32
  %half = arith.constant dense<0.5> : tensor<128xf32>
  %pid = tt.get_program_id y : i32
  %range = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %start = arith.muli %pid, %c4 : i32
  %stop = arith.addi %start, %c4 : i32
  %end = arith.minsi %stop, %c30 : i32
  scf.for %i = %start to %end step %c1 : i32 {
    %row = arith.muli %i, %c128 : i32
    %rows = tt.splat %row : i32 -> tensor<128xi32>
    %at = arith.addi %rows, %range : tensor<128xi32>
    %px = tt.addptr %xs, %at : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    %a = tt.load %px : tensor<128x!tt.ptr<f32>>
    %b = arith.mulf %a, %half : tensor<128xf32>
    tt.store %px, %b : tensor<128x!tt.ptr<f32>>
  }
  tt.return
}
