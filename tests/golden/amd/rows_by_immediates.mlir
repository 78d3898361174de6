// Rows that lie constants apart, outside of loops and without a mask: one offset, and immediates as far as they reach
// (below 4 KiB; on RDNA 4 below 8 MiB). Rows whose distance is an argument have offsets of their own.
// RUN: tessera compile %s --target gfx942 --kernel rows --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=NEAR
// RUN: tessera compile %s --target gfx1201 --kernel rows --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=FAR
// RUN: tessera compile %s --target gfx1201 --kernel strided --num-warps 1 --emit amdgcn | FileCheck %s --check-prefix=OWN
// NEAR-LABEL: {{^}}rows:
// NEAR: global_load_dwordx4 v[{{.*}}], [[AT:v[0-9]+]], s[{{[0-9:]+}}]{{$}}
// NEAR: global_load_dwordx4 v[{{.*}}], [[AT]], s[{{[0-9:]+}}] offset:2048
// NEAR: global_load_dwordx4 v[{{.*}}], [[NEXT:v[0-9]+]], s[{{[0-9:]+}}]{{$}}
// NEAR: global_load_dwordx4 v[{{.*}}], [[NEXT]], s[{{[0-9:]+}}] offset:2048
// NEAR: global_store_dwordx4 [[AT]], v[{{.*}}], s[{{[0-9:]+}}] offset:2048
// FAR-LABEL: {{^}}rows:
// FAR: global_load_b128 v[{{.*}}], [[AT:v[0-9]+]], s[{{[0-9:]+}}]{{$}}
// FAR: global_load_b128 v[{{.*}}], [[AT]], s[{{[0-9:]+}}] offset:1024
// FAR: global_load_b128 v[{{.*}}], [[AT]], s[{{[0-9:]+}}] offset:7168
// FAR: global_store_b128 [[AT]], v[{{.*}}], s[{{[0-9:]+}}] offset:7168
// OWN-LABEL: {{^}}strided:
// OWN: global_load_b128
// OWN-NOT: global_load_b128 {{.*}} offset:
// OWN: s_endpgm
tt.func public @rows(%in: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32},
                     %out: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %c32 = arith.constant 32 : i32
  %program = tt.get_program_id x : i32
  %first = arith.muli %program, %c32 : i32
  %from = tt.splat %first : i32 -> tensor<32xi32>
  %row = arith.addi %from, %range : tensor<32xi32>
  %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %length = arith.constant dense<64> : tensor<32x1xi32>
  %begin = arith.muli %rows, %length : tensor<32x1xi32>
  %begins = tt.broadcast %begin : tensor<32x1xi32> -> tensor<32x32xi32>
  %all = tt.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %offset = arith.addi %begins, %all : tensor<32x32xi32>
  %base = tt.splat %in : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %p = tt.addptr %base, %offset : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %v = tt.load %p : tensor<32x32x!tt.ptr<f32>>
  %to = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %q = tt.addptr %to, %offset : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %q, %v : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
tt.func public @strided(%in: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32},
                        %out: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32},
                        %stride: i32 {tt.divisibility = 16 : i32}) {
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %columns = tt.expand_dims %range {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %length = tt.splat %stride : i32 -> tensor<32x1xi32>
  %begin = arith.muli %rows, %length : tensor<32x1xi32>
  %begins = tt.broadcast %begin : tensor<32x1xi32> -> tensor<32x32xi32>
  %all = tt.broadcast %columns : tensor<1x32xi32> -> tensor<32x32xi32>
  %offset = arith.addi %begins, %all : tensor<32x32xi32>
  %base = tt.splat %in : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %p = tt.addptr %base, %offset : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  %v = tt.load %p : tensor<32x32x!tt.ptr<f32>>
  %to = tt.splat %out : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %q = tt.addptr %to, %offset : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %q, %v : tensor<32x32x!tt.ptr<f32>>
  tt.return
}
