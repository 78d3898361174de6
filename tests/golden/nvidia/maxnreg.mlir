// The option maxnreg bounds the registers of a thread, as the attribute of a module does, which has precedence; nothing is
// requested from ptxas beside it. Targets of AMD have no such bound.
// RUN: tessera compile %s --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=NONE
// RUN: tessera compile %s --target sm_90a --maxnreg 64 --emit ttgir -o - | FileCheck %s --check-prefix=TTGIR
// RUN: tessera compile %s --target sm_90a --maxnreg 64 --emit ptx -o - | FileCheck %s --check-prefix=BOUND
// RUN: sed 's/^module /module attributes {ttg.maxnreg = 40 : i32} /' %s > %t.mlir
// RUN: tessera compile %t.mlir --target sm_90a --maxnreg 64 --emit ptx -o - | FileCheck %s --check-prefix=MODULE
// RUN: tessera compile %s --target gfx942 --maxnreg 64 --emit ttgir -o - | FileCheck %s --check-prefix=AMD
// RUN: tessera compile %S/../../kernels/desc_arguments_attn_turns/desc_arguments_attn_turns.ttir --num-warps 8 --target sm_90a --maxnreg 255 --emit ptx -o - | FileCheck %s --check-prefix=PRODUCER
// Twelve warps, which share the block's registers, have 168 each: 255 is no more than a bound.
// PRODUCER: .reqntid 384
// PRODUCER-NEXT: .maxnreg 168
// NONE-NOT: .maxnreg
// NONE: .minnctapersm
// TTGIR: module attributes {{{.*}}ttg.maxnreg = 64 : i32
// BOUND-NOT: .minnctapersm
// BOUND: .maxnreg 64
// MODULE: .maxnreg 40
// AMD-NOT: maxnreg
// AMD: tt.func

module {
  tt.func public @sums(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %pid = tt.get_program_id x : i32
    %c2048 = arith.constant 2048 : i32
    %start = arith.muli %pid, %c2048 : i32
    %starts = tt.splat %start : i32 -> tensor<2048xi32>
    %range = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
    %at = arith.addi %starts, %range : tensor<2048xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
    %px = tt.addptr %xs, %at : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
    %py = tt.addptr %ys, %at : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
    %a = tt.load %px : tensor<2048x!tt.ptr<f32>>
    %b = tt.load %py : tensor<2048x!tt.ptr<f32>>
    %sum = arith.addf %a, %b : tensor<2048xf32>
    tt.store %py, %sum : tensor<2048x!tt.ptr<f32>>
    tt.return
  }
}
