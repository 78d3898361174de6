// A dot's result that is stored in two halves (an epilogue in parts).
// RUN: tessera compile %s --kernel halves --target sm_90a --num-warps 4 --emit ttgir | FileCheck %s --check-prefix=HALVES

// The two halves of a dot's result are narrowed before they leave the dot's layout.
// HALVES-LABEL: @halves
// HALVES: ttng.warp_group_dot
// HALVES-NOT: ttg.convert_layout {{.*}}f32
// HALVES: %[[L:.*]], %[[R:.*]] = tt.split
// HALVES-DAG: arith.truncf %[[L]]
// HALVES-DAG: arith.truncf %[[R]]
// HALVES-COUNT-2: ttg.convert_layout {{.*}}f16
// HALVES-NOT: ttg.convert_layout

tt.func public @halves(%a: !tt.tensordesc<tensor<64x64xf16>>, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %x = tt.descriptor_load %a[%c0, %i] : !tt.tensordesc<tensor<64x64xf16>> -> tensor<64x64xf16>
    %d = tt.dot %x, %x, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = tt.reshape %acc : tensor<64x64xf32> -> tensor<64x2x32xf32>
  %t = tt.trans %r {order = array<i32: 0, 2, 1>} : tensor<64x2x32xf32> -> tensor<64x32x2xf32>
  %left, %right = tt.split %t : tensor<64x32x2xf32> -> tensor<64x32xf32>
  %l = arith.truncf %left : tensor<64x32xf32> to tensor<64x32xf16>
  %h = arith.truncf %right : tensor<64x32xf32> to tensor<64x32xf16>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %narrow = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %narrow {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = arith.constant dense<64> : tensor<64x1xi32>
  %down = arith.muli %rows, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x32xi32>
  %rights = tt.broadcast %columns : tensor<1x32xi32> -> tensor<64x32xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x32xi32>
  %base = tt.splat %c : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %p = tt.addptr %base, %offsets : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  tt.store %p, %l : tensor<64x32x!tt.ptr<f16>>
  %shift = arith.constant dense<32> : tensor<64x32xi32>
  %q = tt.addptr %p, %shift : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  tt.store %q, %h : tensor<64x32x!tt.ptr<f16>>
  tt.return
}
