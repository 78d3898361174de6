// Maxima of what is loaded or comes from another lane: on gfx12, whose maxima prefer numbers to NaNs of both kinds,
// nothing makes NaNs quiet before them, and a reduction takes the other lane's value by DPP. A negated value is made
// quiet still.
// RUN: tessera compile %s --kernel largest --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s
// RUN: tessera compile %s --kernel packed --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=PACKED
// RUN: tessera compile %s --kernel negated --target gfx1201 --num-warps 1 --emit amdgcn -o - | FileCheck %s --check-prefix=NEGATED
// CHECK-LABEL: {{^}}largest:
// CHECK-NOT: v_max_num_f32{{(_e32)?}} {{v[0-9]+}}, [[V:v[0-9]+]], [[V]]{{$}}
// CHECK: v_max_num_f32_dpp
// CHECK-NOT: v_max_num_f32{{(_e32)?}} {{v[0-9]+}}, [[V:v[0-9]+]], [[V]]{{$}}
// CHECK: s_endpgm
// PACKED-LABEL: {{^}}packed:
// PACKED-NOT: v_{{(pk_)?}}max_num_f16{{(_e32)?}} {{v[0-9]+}}, [[V:v[0-9]+]], [[V]]{{$}}
// PACKED: v_{{(pk_)?}}max_num_f16
// PACKED-NOT: v_{{(pk_)?}}max_num_f16{{(_e32)?}} {{v[0-9]+}}, [[V:v[0-9]+]], [[V]]{{$}}
// PACKED: s_endpgm
// NEGATED-LABEL: {{^}}negated:
// NEGATED: v_max_num_f32_e64 {{v[0-9]+}}, -[[V:v[0-9]+]], -[[V]]
// NEGATED: s_endpgm
tt.func public @largest(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32>) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %v = tt.load %xp : tensor<128x!tt.ptr<f32>>
  %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.maxnumf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<128xf32>) -> f32
  tt.store %y, %m : !tt.ptr<f32>
  tt.return
}
tt.func public @packed(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %half = arith.constant dense<0.5> : tensor<256xf16>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<256x!tt.ptr<f16>>
  %xp = tt.addptr %xs, %r : tensor<256x!tt.ptr<f16>>, tensor<256xi32>
  %v = tt.load %xp : tensor<256x!tt.ptr<f16>>
  %m = arith.maxnumf %v, %half : tensor<256xf16>
  tt.store %xp, %m : tensor<256x!tt.ptr<f16>>
  tt.return
}
tt.func public @negated(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %half = arith.constant dense<0.75> : tensor<32xf32>
  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %r : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %v = tt.load %xp : tensor<32x!tt.ptr<f32>>
  %n = arith.negf %v : tensor<32xf32>
  %m = arith.maxnumf %n, %half : tensor<32xf32>
  tt.store %xp, %m : tensor<32x!tt.ptr<f32>>
  tt.return
}
