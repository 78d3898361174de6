// Columns that are a constant apart are compared with a label by their distance from it: constants with one difference,
// of 64 bits as well.
// RUN: tessera compile %s --num-warps 1 --kernel labels64 --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=WIDE
// RUN: tessera compile %s --num-warps 1 --kernel labels32 --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=NARROW
// RUN: tessera compile %s --num-warps 1 --kernel labels_of_columns --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=EACH

// WIDE-LABEL: .entry labels64(
// WIDE: sub.s64 %[[DIFFERENCE:rd[0-9]+]]
// WIDE: setp.lt.u64 %[[SMALL:p[0-9]+]], %[[DIFFERENCE]], 2147483648
// WIDE: selp.b32 %[[D:r[0-9]+]], %{{r[0-9]+}}, -1, %[[SMALL]]
// WIDE-NOT: setp.eq.b64
// WIDE-DAG: setp.eq.b32 %{{p[0-9]+}}, %[[D]], 0
// WIDE-DAG: setp.eq.b32 %{{p[0-9]+}}, %[[D]], 1
// WIDE-DAG: setp.eq.b32 %{{p[0-9]+}}, %[[D]], 2
// WIDE-DAG: setp.eq.b32 %{{p[0-9]+}}, %[[D]], 3
// WIDE-NOT: setp.eq.b64
// WIDE: st.global

// NARROW-LABEL: .entry labels32(
// NARROW: sub.s32 %[[D:r[0-9]+]]
// NARROW-DAG: setp.ne.b32 %{{p[0-9]+}}, %[[D]], 0
// NARROW-DAG: setp.ne.b32 %{{p[0-9]+}}, %[[D]], 1
// NARROW-DAG: setp.ne.b32 %{{p[0-9]+}}, %[[D]], 2
// NARROW-DAG: setp.ne.b32 %{{p[0-9]+}}, %[[D]], 3
// NARROW: st.global

// Each column has a label of its own.
// EACH-LABEL: .entry labels_of_columns(
// EACH-NOT: sub.s32
// EACH-COUNT-4: setp.eq.b32
// EACH-NOT: sub.s32
// EACH: st.global
tt.func public @labels64(%label: i64, %start: i64, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %w = arith.extsi %r : tensor<128xi32> to tensor<128xi64>
  %s = tt.splat %start : i64 -> tensor<128xi64>
  %c = arith.addi %s, %w : tensor<128xi64>
  %l = tt.splat %label : i64 -> tensor<128xi64>
  %m = arith.cmpi eq, %c, %l : tensor<128xi64>
  %v = arith.uitofp %m : tensor<128xi1> to tensor<128xf32>
  %q = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.addptr %q, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %p, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}
tt.func public @labels32(%label: i32, %start: i32, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.splat %start : i32 -> tensor<128xi32>
  %c = arith.addi %s, %r : tensor<128xi32>
  %l = tt.splat %label : i32 -> tensor<128xi32>
  %m = arith.cmpi ne, %c, %l : tensor<128xi32>
  %v = arith.uitofp %m : tensor<128xi1> to tensor<128xf32>
  %q = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.addptr %q, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %p, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}
tt.func public @labels_of_columns(%labels: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %start: i32, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.splat %start : i32 -> tensor<128xi32>
  %c = arith.addi %s, %r : tensor<128xi32>
  %x = tt.splat %labels : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>>
  %o = tt.addptr %x, %r : tensor<128x!tt.ptr<i32>>, tensor<128xi32>
  %l = tt.load %o : tensor<128x!tt.ptr<i32>>
  %m = arith.cmpi eq, %c, %l : tensor<128xi32>
  %v = arith.uitofp %m : tensor<128xi1> to tensor<128xf32>
  %q = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p = tt.addptr %q, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %p, %v : tensor<128x!tt.ptr<f32>>
  tt.return
}
