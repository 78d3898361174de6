// tritongpu-coalesce: rows of 32 bytes that run across K, in a loop that copies them to shared memory. For mma.sync a
// thread has 8 bytes of a row, a unit of its swizzle; for warp groups 16.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:90 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,WGMMA
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:80 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,SYNC
// CHECK-DAG: #[[UNITS:.*]] = #ttg.blocked<{sizePerThread = [1, 8], {{.*}}, order = [1, 0]}>
// WGMMA-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 16], {{.*}}, order = [1, 0]}>
tt.func public @rows(%p: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %a: tensor<32x64xi8>, %b: tensor<64x64xi8>, %n: i32) -> (tensor<32x32xi32>, tensor<64x32xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %small = arith.constant dense<0> : tensor<32x32xi32>
  %large = arith.constant dense<0> : tensor<64x32xi32>
  %step = arith.constant dense<4096> : tensor<64x32xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r0 = tt.expand_dims %c {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ro = arith.muli %r1, %width : tensor<64x1xi32>
  %rb = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x32xi32>
  %cb = tt.broadcast %r0 : tensor<1x32xi32> -> tensor<64x32xi32>
  %i = arith.addi %rb, %cb : tensor<64x32xi32>
  %ps = tt.splat %p : !tt.ptr<i8> -> tensor<64x32x!tt.ptr<i8>>
  %pi = tt.addptr %ps, %i : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
  // CHECK-LABEL: @rows
  // CHECK: scf.for
  // CHECK: tt.load %{{.*}} : tensor<64x32x!tt.ptr<i8>, #[[UNITS]]>
  %x:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %pi, %acc = %small) -> (tensor<64x32x!tt.ptr<i8>>, tensor<32x32xi32>) : i32 {
    %v = tt.load %q : tensor<64x32x!tt.ptr<i8>>
    %d = tt.dot %a, %v, %acc : tensor<32x64xi8> * tensor<64x32xi8> -> tensor<32x32xi32>
    %next = tt.addptr %q, %step : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    scf.yield %next, %d : tensor<64x32x!tt.ptr<i8>>, tensor<32x32xi32>
  }
  // CHECK: scf.for
  // WGMMA: tt.load %{{.*}} : tensor<64x32x!tt.ptr<i8>, #[[WIDE]]>
  // SYNC: tt.load %{{.*}} : tensor<64x32x!tt.ptr<i8>, #[[UNITS]]>
  %y:2 = scf.for %k = %c0 to %n step %c1 iter_args(%q = %pi, %acc = %large) -> (tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>) : i32 {
    %v = tt.load %q : tensor<64x32x!tt.ptr<i8>>
    %d = tt.dot %b, %v, %acc : tensor<64x64xi8> * tensor<64x32xi8> -> tensor<64x32xi32>
    %next = tt.addptr %q, %step : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
    scf.yield %next, %d : tensor<64x32x!tt.ptr<i8>>, tensor<64x32xi32>
  }
  tt.return %x#1, %y#1 : tensor<32x32xi32>, tensor<64x32xi32>
}
