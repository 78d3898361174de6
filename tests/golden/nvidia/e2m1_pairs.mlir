// e2m1 on NVIDIA: two at once by shifts and masks and a mul by 2^126 (bf16) or 2^14 (f16), without comparisons.
// sm_80 multiplies bf16 by an fma. 256 bytes are eight a thread of one warp: eight pairs.
// RUN: tessera compile %s --kernel to_bf16 --target sm_90a --num-warps 1 --emit ptx -o - | FileCheck %s
// RUN: tessera compile %s --kernel to_bf16 --target sm_80 --num-warps 1 --emit ptx -o - | FileCheck %s --check-prefix=FMA
// RUN: tessera compile %s --kernel to_f16 --target sm_90a --num-warps 1 --emit ptx -o - | FileCheck %s --check-prefix=F16
// CHECK-LABEL: .entry to_bf16(
// CHECK-NOT: setp
// CHECK-COUNT-8: mul.bf16x2
// CHECK-NOT: mul.bf16
// CHECK-NOT: setp
// CHECK: ret;
// FMA-LABEL: .entry to_bf16(
// FMA-NOT: setp
// FMA-COUNT-8: fma.rn.bf16x2
// FMA-NOT: {{fma.rn|setp}}
// FMA: ret;
// F16-LABEL: .entry to_f16(
// F16-NOT: setp
// F16-COUNT-8: mul.{{(rn\.)?}}f16x2
// F16-NOT: {{mul.(rn\.)?f16|setp}}
// F16: ret;
tt.func public @to_bf16(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %pp = tt.addptr %ps, %r : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  %x = tt.load %pp : tensor<256x!tt.ptr<i8>>
  %l = tt.e2m1_to_fp %x {high = false} : tensor<256xi8> -> tensor<256xbf16>
  %h = tt.e2m1_to_fp %x {high = true} : tensor<256xi8> -> tensor<256xbf16>
  %j = tt.join %l, %h : tensor<256xbf16> -> tensor<256x2xbf16>
  %y = tt.reshape %j : tensor<256x2xbf16> -> tensor<512xbf16>
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<512x!tt.ptr<bf16>>
  %qp = tt.addptr %qs, %i : tensor<512x!tt.ptr<bf16>>, tensor<512xi32>
  tt.store %qp, %y : tensor<512x!tt.ptr<bf16>>
  tt.return
}
tt.func public @to_f16(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<256x!tt.ptr<i8>>
  %pp = tt.addptr %ps, %r : tensor<256x!tt.ptr<i8>>, tensor<256xi32>
  %x = tt.load %pp : tensor<256x!tt.ptr<i8>>
  %l = tt.e2m1_to_fp %x {high = false} : tensor<256xi8> -> tensor<256xf16>
  %h = tt.e2m1_to_fp %x {high = true} : tensor<256xi8> -> tensor<256xf16>
  %j = tt.join %l, %h : tensor<256xf16> -> tensor<256x2xf16>
  %y = tt.reshape %j : tensor<256x2xf16> -> tensor<512xf16>
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %i : tensor<512x!tt.ptr<f16>>, tensor<512xi32>
  tt.store %qp, %y : tensor<512x!tt.ptr<f16>>
  tt.return
}
