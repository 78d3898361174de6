// share-divisions: neighbouring elements divided by a multiple of their group's size share one division per thread.
// RUN: tessera compile %s --kernel neighbours --target sm_90a --num-warps 2 --emit llir | FileCheck %s
// RUN: tessera compile %s --kernel neighbours --target gfx942 --num-warps 1 --emit llir | FileCheck %s
// RUN: tessera compile %s --kernel strangers --target sm_90a --num-warps 2 --emit llir | FileCheck %s --check-prefix=OTHER
// CHECK: urem {{i[0-9]+}} %{{.*}}, 12
// CHECK-NOT: urem
// CHECK: ret void
// OTHER-COUNT-4: urem {{i[0-9]+}} %{{.*}}, 13
tt.func public @neighbours(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %by = arith.constant dense<12> : tensor<256xi32>
  %x = arith.remui %r, %by : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %pr = tt.addptr %ps, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %pr, %x : tensor<256x!tt.ptr<i32>>
  tt.return
}
tt.func public @strangers(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %by = arith.constant dense<13> : tensor<256xi32>
  %x = arith.remui %r, %by : tensor<256xi32>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %pr = tt.addptr %ps, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %pr, %x : tensor<256x!tt.ptr<i32>>
  tt.return
}
