// The remark says which argument it is about: in text of Triton all arguments are at the kernel's line.
// RUN: tessera opt %s -triton-nvidia-optimize-descriptor-encoding --target sm_90a --remarks=TensorMapArgument 2>&1 >/dev/null | FileCheck %s
// CHECK: k.py:1:0: remark: argument 0 ('a') of 'copy': the descriptor is a tensor map
// CHECK: k.py:1:0: remark: argument 1 ('b') of 'copy': the descriptor becomes pointers and masks
#kernel = loc("k.py":1:0)
tt.func public @copy(%a: !tt.tensordesc<tensor<16x128xbf16>> loc("a"(#kernel)), %b: !tt.tensordesc<tensor<1x128xbf16>> loc("b"(#kernel)), %p: tensor<16xi32>, %i: i32 {tt.divisibility = 16 : i32}) {
  %x = tt.descriptor_load %a[%i, %i] : !tt.tensordesc<tensor<16x128xbf16>> -> tensor<16x128xbf16>
  tt.descriptor_scatter %b[%p, %i], %x : !tt.tensordesc<tensor<1x128xbf16>>, tensor<16xi32>, i32, tensor<16x128xbf16>
  tt.return
} loc(#kernel)
