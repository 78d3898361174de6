// A signed remainder by a power of two that only says by how many bits numbers are shifted is its low bits: of a negative
// dividend it is zero, or the shift is undefined. Constants where the dividend is a multiple of the divisor plus a
// constant: in @packed the counter is a multiple of 8, and no remainder is left.
// RUN: tessera compile %s --kernel packed --target sm_90a --num-warps 1 --emit llir -o - | FileCheck %s --check-prefix=PACKED
// RUN: tessera compile %s --kernel packed --target gfx942 --num-warps 1 --emit llir -o - | FileCheck %s --check-prefix=PACKED
// RUN: tessera compile %s --kernel scalar --target sm_90a --num-warps 1 --emit llir -o - | FileCheck %s --check-prefix=SCALAR
// RUN: tessera compile %s --kernel others --target sm_90a --num-warps 1 --emit llir -o - | FileCheck %s --check-prefix=OTHERS

// PACKED-LABEL: @packed(
// PACKED-NOT: srem
// PACKED: ret
tt.func public @packed(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %eight = arith.constant dense<8> : tensor<8xi32>
  %four = arith.constant dense<4> : tensor<8xi32>
  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  scf.for %i = %c0 to %k step %c8 : i32 {
    %s = tt.splat %i : i32 -> tensor<8xi32>
    %o = arith.addi %s, %r : tensor<8xi32>
    %pp = tt.addptr %ps, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %x = tt.load %pp : tensor<8x!tt.ptr<i32>>
    %m = arith.remsi %o, %eight : tensor<8xi32>
    %a = arith.muli %m, %four : tensor<8xi32>
    %y = arith.shrsi %x, %a : tensor<8xi32>
    %qp = tt.addptr %qs, %o : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %qp, %y : tensor<8x!tt.ptr<i32>>
  }
  tt.return
}

// SCALAR-LABEL: @scalar(
// SCALAR-NOT: srem
// SCALAR: and i32 %{{.*}}, 28
// SCALAR: ret
tt.func public @scalar(%q: !tt.ptr<i64>, %x: i64, %k: i32) {
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %m = arith.remsi %k, %c8 : i32
  %a = arith.muli %m, %c4 : i32
  %w = arith.extsi %a : i32 to i64
  %y = arith.shli %x, %w : i64
  tt.store %q, %y : !tt.ptr<i64>
  tt.return
}

// Nothing is changed: a remainder that is shifted, one that is stored, too, one times -4, and one by 6.
// OTHERS-LABEL: @others(
// OTHERS-COUNT-4: srem i32
// OTHERS: ret
tt.func public @others(%q: !tt.ptr<i32>, %x: i32, %k: i32, %j: i32, %l: i32, %n: i32) {
  %c8 = arith.constant 8 : i32
  %c6 = arith.constant 6 : i32
  %c1 = arith.constant 1 : i32
  %minus = arith.constant -4 : i32
  %m0 = arith.remsi %k, %c8 : i32
  %y0 = arith.shli %m0, %c1 : i32
  %m1 = arith.remsi %j, %c8 : i32
  %y1 = arith.shrsi %x, %m1 : i32
  %m2 = arith.remsi %l, %c8 : i32
  %a2 = arith.muli %m2, %minus : i32
  %y2 = arith.shrsi %x, %a2 : i32
  %m3 = arith.remsi %n, %c6 : i32
  %y3 = arith.shrsi %x, %m3 : i32
  %s0 = arith.addi %y0, %y1 : i32
  %s1 = arith.addi %s0, %m1 : i32
  %s2 = arith.addi %s1, %y2 : i32
  %s3 = arith.addi %s2, %y3 : i32
  tt.store %q, %s3 : !tt.ptr<i32>
  tt.return
}
