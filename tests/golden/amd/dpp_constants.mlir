// The sign of a byte of another lane: GFX11 takes no constant beside a DPP operand of a VOP3 instruction; GFX12 does
// and keeps it.
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit amdgcn | FileCheck %s
// RUN: tessera compile %s --target gfx1100 --num-warps 1 -O1 --emit amdgcn | FileCheck %s --check-prefix=LEVEL1
// RUN: tessera compile %s --target gfx1201 --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=GFX12
// RUN: tessera compile %s --target gfx1100 --num-warps 1 --emit hsaco -o %t
// CHECK-LABEL: {{^}}lowest:
// CHECK-NOT: _e64_dpp v{{[0-9]+}}, v{{[0-9]+}}, {{[0-9-]}}
// CHECK: v_bfe_i32_e64_dpp v{{[0-9]+}}, v{{[0-9]+}}, v{{[0-9]+}}, 8 quad_perm
// CHECK-NOT: _e64_dpp v{{[0-9]+}}, v{{[0-9]+}}, {{[0-9-]}}
// CHECK: s_endpgm
// LEVEL1-LABEL: {{^}}lowest:
// LEVEL1-NOT: _e64_dpp v{{[0-9]+}}, v{{[0-9]+}}, {{[0-9-]}}
// LEVEL1: s_endpgm
// GFX12-LABEL: {{^}}lowest:
// GFX12: v_bfe_i32_e64_dpp v{{[0-9]+}}, v{{[0-9]+}}, 0, 8 quad_perm
tt.func public @lowest(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %x0 = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %x1 = tt.addptr %x0, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  %words = tt.load %x1 : tensor<64x!tt.ptr<i32>>
  %bytes = arith.trunci %words : tensor<64xi32> to tensor<64xi8>
  %all:2 = "tt.reduce"(%words, %bytes) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i8, %c: i32, %d: i8):
    %bits = arith.xori %a, %c : i32
    %least = arith.minsi %b, %d : i8
    tt.reduce.return %bits, %least : i32, i8
  }) : (tensor<64xi32>, tensor<64xi8>) -> (i32, i8)
  %wide = arith.extsi %all#1 : i8 to i32
  %sum = arith.addi %all#0, %wide : i32
  tt.store %o, %sum : !tt.ptr<i32>
  tt.return
}
