// Arithmetic on a masked load is moved after the load's branch also where the other lanes have no zero but a number from
// which the arithmetic gives what they have: `tl.load(p, m, other=1) != 0`, and an infinity that is converted. Where none
// is found, it stays.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --kernel compared --emit llir -o - | FileCheck %s

// CHECK-LABEL: @compared(
// CHECK: load i8
// CHECK-NEXT: br label
// CHECK: load i8
// CHECK-NEXT: br label
// CHECK: %[[X:.*]] = phi i8 [ %{{.*}}, %masked{{.*}} ], [ 1, %{{.*}} ]
// CHECK-NEXT: icmp eq i8 %[[X]], 0
tt.func public @compared(%p: !tt.ptr<i8>, %q: !tt.ptr<i32>, %n: i32, %stride: i64) {
  %zero = arith.constant dense<0> : tensor<512xi8>
  %one = arith.constant dense<1> : tensor<512xi8>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %w = arith.extsi %r : tensor<512xi32> to tensor<512xi64>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<512xi32>
  %ss = tt.splat %stride : i64 -> tensor<512xi64>
  %o = arith.muli %w, %ss : tensor<512xi64>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<512x!tt.ptr<i8>>
  %pp = tt.addptr %ps, %o : tensor<512x!tt.ptr<i8>>, tensor<512xi64>
  %x = tt.load %pp, %m, %one : tensor<512x!tt.ptr<i8>>
  %c = arith.cmpi ne, %x, %zero : tensor<512xi8>
  %y = arith.select %c, %r, %ns : tensor<512xi1>, tensor<512xi32>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  tt.store %qp, %y : tensor<512x!tt.ptr<i32>>
  tt.return
}

// CHECK-LABEL: @infinite(
// CHECK: load half
// CHECK-NEXT: br label
// CHECK: load half
// CHECK-NEXT: br label
// CHECK: %[[X:.*]] = phi half [ %{{.*}}, %masked{{.*}} ], [ 0xHFC00, %{{.*}} ]
// CHECK-NEXT: fpext {{.*}}half %[[X]] to float
tt.func public @infinite(%p: !tt.ptr<f16>, %q: !tt.ptr<f32>, %n: i32, %stride: i64) {
  %low = arith.constant dense<0xFC00> : tensor<512xf16>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %w = arith.extsi %r : tensor<512xi32> to tensor<512xi64>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<512xi32>
  %ss = tt.splat %stride : i64 -> tensor<512xi64>
  %o = arith.muli %w, %ss : tensor<512xi64>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<512x!tt.ptr<f16>>
  %pp = tt.addptr %ps, %o : tensor<512x!tt.ptr<f16>>, tensor<512xi64>
  %x = tt.load %pp, %m, %low : tensor<512x!tt.ptr<f16>>
  %y = arith.extf %x : tensor<512xf16> to tensor<512xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %qp, %y : tensor<512x!tt.ptr<f32>>
  tt.return
}

// The other lanes have 21 - 3 * 5, of which 5 is not tried.
// CHECK-LABEL: @stays(
// CHECK: %[[X:.*]] = load i32
// CHECK-NEXT: mul i32 %[[X]], -3
tt.func public @stays(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32, %stride: i64) {
  %five = arith.constant dense<5> : tensor<512xi32>
  %three = arith.constant dense<3> : tensor<512xi32>
  %most = arith.constant dense<21> : tensor<512xi32>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %w = arith.extsi %r : tensor<512xi32> to tensor<512xi64>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<512xi32>
  %ss = tt.splat %stride : i64 -> tensor<512xi64>
  %o = arith.muli %w, %ss : tensor<512xi64>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %o : tensor<512x!tt.ptr<i32>>, tensor<512xi64>
  %x = tt.load %pp, %m, %five : tensor<512x!tt.ptr<i32>>
  %t = arith.muli %x, %three : tensor<512xi32>
  %y = arith.subi %most, %t : tensor<512xi32>
  %qs = tt.splat %q : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  tt.store %qp, %y : tensor<512x!tt.ptr<i32>>
  tt.return
}
