// tritongpu-coalesce: a block of 16-bit elements that is transposed between two descriptors is loaded in the layout of 8 by
// 8 matrices, where the target reads them transposed and writes them; other blocks by rows.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:90 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s --check-prefixes=CHECK,MATRICES
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce --split-input-file | FileCheck %s --check-prefixes=CHECK,ROWS

// MATRICES: #[[L:.*]] = #ttg.linear<{register = {{\[\[}}1, 0], [8, 0], [16, 0], [0, 8]], lane = {{\[\[}}2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = {{\[\[}}0, 16], [0, 32]], block = []}>
// ROWS-NOT: #ttg.linear
// CHECK-LABEL: @halves
// MATRICES: tt.descriptor_load {{.*}} -> tensor<32x64xf16, #[[L]]>
tt.func public @halves(%x: !tt.tensordesc<tensor<32x64xf16>>, %y: !tt.tensordesc<tensor<64x32xbf16>>, %i: i32) {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
  %e = arith.extf %v : tensor<32x64xf16> to tensor<32x64xf32>
  %t = tt.trans %e {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xf32>
  %w = arith.truncf %t : tensor<64x32xf32> to tensor<64x32xbf16>
  tt.descriptor_store %y[%i, %i], %w : !tt.tensordesc<tensor<64x32xbf16>>, tensor<64x32xbf16>
  tt.return
}

// -----
// CHECK-NOT: #ttg.linear
// CHECK-LABEL: @words
tt.func public @words(%x: !tt.tensordesc<tensor<32x64xf32>>, %y: !tt.tensordesc<tensor<64x32xf32>>, %i: i32) {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<32x64xf32>> -> tensor<32x64xf32>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xf32>
  tt.descriptor_store %y[%i, %i], %t : !tt.tensordesc<tensor<64x32xf32>>, tensor<64x32xf32>
  tt.return
}

// -----
// CHECK-NOT: #ttg.linear
// CHECK-LABEL: @used_twice
tt.func public @used_twice(%x: !tt.tensordesc<tensor<32x64xf16>>, %y: !tt.tensordesc<tensor<64x32xf16>>, %i: i32) {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<32x64xf16>> -> tensor<32x64xf16>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<32x64xf16> -> tensor<64x32xf16>
  tt.descriptor_store %y[%i, %i], %t : !tt.tensordesc<tensor<64x32xf16>>, tensor<64x32xf16>
  tt.descriptor_store %x[%i, %i], %v : !tt.tensordesc<tensor<32x64xf16>>, tensor<32x64xf16>
  tt.return
}

// -----
// CHECK-NOT: #ttg.linear
// CHECK-LABEL: @small
tt.func public @small(%x: !tt.tensordesc<tensor<4x64xf16>>, %y: !tt.tensordesc<tensor<64x4xf16>>, %i: i32) {
  %v = tt.descriptor_load %x[%i, %i] : !tt.tensordesc<tensor<4x64xf16>> -> tensor<4x64xf16>
  %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<4x64xf16> -> tensor<64x4xf16>
  tt.descriptor_store %y[%i, %i], %t : !tt.tensordesc<tensor<64x4xf16>>, tensor<64x4xf16>
  tt.return
}
