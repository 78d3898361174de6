// Special functions first, then one stored word after the other: 16-bit elements stay packed until they are used, and
// the kernel requests no occupancy. Where nothing but arithmetic lies between loads and stores, nothing changes.
// RUN: tessera compile %s --kernel add --target sm_90a --emit ptx -o - | FileCheck %s

// CHECK-LABEL: .entry normalize(
// CHECK-NOT: .minnctapersm
// CHECK: ld.global.v4.b32 {%[[A0:r[0-9]+]], %[[A1:r[0-9]+]], %{{r[0-9]+}}, %[[A3:r[0-9]+]]}
// CHECK: ld.global.v4.b32
// CHECK-NOT: %[[A0]]
// CHECK-COUNT-8: sqrt.rn.f32
// CHECK: mov.b32 {{.*}}, %[[A0]];
// CHECK-COUNT-2: mul.f32
// CHECK-NEXT: cvt.rn.bf16x2.f32
// CHECK-NEXT: mov.b32 {{.*}}, %[[A1]];
// CHECK: mov.b32 {{.*}}, %[[A3]];
// CHECK: cvt.rn.bf16x2.f32
// CHECK-NEXT: st.global.v4.b32

// The accesses keep their order, each tile's functions stay together.
// CHECK-LABEL: .entry normalize_in_turn(
// CHECK: ld.global.v4.b32
// CHECK-NOT: cvt.rn.bf16x2.f32
// CHECK-COUNT-8: sqrt.rn.f32
// CHECK: st.global.v4.b32
// CHECK: ld.global.v4.b32
// CHECK-NOT: cvt.rn.bf16x2.f32
// CHECK-COUNT-8: sqrt.rn.f32
// CHECK: st.global.v4.b32

// CHECK-LABEL: .entry add(
// CHECK: .minnctapersm
// CHECK: ld.global.v4.b32 {%[[B0:r[0-9]+]],
// CHECK-NEXT: mov.b32 {{.*}}, %[[B0]];
module {
  tt.func public @normalize(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %px = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %py = tt.splat %y : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %ax = tt.addptr %px, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %ay = tt.addptr %py, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %a = tt.load %ax : tensor<1024x!tt.ptr<bf16>>
    %b = tt.load %ay : tensor<1024x!tt.ptr<bf16>>
    %af = arith.extf %a : tensor<1024xbf16> to tensor<1024xf32>
    %bf = arith.extf %b : tensor<1024xbf16> to tensor<1024xf32>
    %s = tt.precise_sqrt %bf : tensor<1024xf32>
    %r = arith.mulf %af, %s : tensor<1024xf32>
    %rb = arith.truncf %r : tensor<1024xf32> to tensor<1024xbf16>
    tt.store %ax, %rb : tensor<1024x!tt.ptr<bf16>>
    tt.return
  }
  tt.func public @normalize_in_turn(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %px = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %py = tt.splat %y : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %ax = tt.addptr %px, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %ay = tt.addptr %py, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %a = tt.load %ax : tensor<1024x!tt.ptr<bf16>>
    %af = arith.extf %a : tensor<1024xbf16> to tensor<1024xf32>
    %as = tt.precise_sqrt %af : tensor<1024xf32>
    %ab = arith.truncf %as : tensor<1024xf32> to tensor<1024xbf16>
    tt.store %ay, %ab : tensor<1024x!tt.ptr<bf16>>
    %b = tt.load %ax : tensor<1024x!tt.ptr<bf16>>
    %bf = arith.extf %b : tensor<1024xbf16> to tensor<1024xf32>
    %r = tt.precise_sqrt %bf : tensor<1024xf32>
    %rb = arith.truncf %r : tensor<1024xf32> to tensor<1024xbf16>
    tt.store %ax, %rb : tensor<1024x!tt.ptr<bf16>>
    tt.return
  }
  tt.func public @add(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %px = tt.splat %x : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %py = tt.splat %y : !tt.ptr<bf16> -> tensor<1024x!tt.ptr<bf16>>
    %ax = tt.addptr %px, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %ay = tt.addptr %py, %i : tensor<1024x!tt.ptr<bf16>>, tensor<1024xi32>
    %a = tt.load %ax : tensor<1024x!tt.ptr<bf16>>
    %b = tt.load %ay : tensor<1024x!tt.ptr<bf16>>
    %af = arith.extf %a : tensor<1024xbf16> to tensor<1024xf32>
    %bf = arith.extf %b : tensor<1024xbf16> to tensor<1024xf32>
    %square = arith.mulf %af, %af : tensor<1024xf32>
    %r = arith.addf %square, %bf : tensor<1024xf32>
    %rb = arith.truncf %r : tensor<1024xf32> to tensor<1024xbf16>
    tt.store %ax, %rb : tensor<1024x!tt.ptr<bf16>>
    tt.return
  }
}
