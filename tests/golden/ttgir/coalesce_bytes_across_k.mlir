// tritongpu-coalesce: rows of bytes that run across K. In a loop, which copies them to shared memory asynchronously, they
// are loaded 16 bytes at a time; elsewhere they are transposed byte by byte on their way, a word at a time.
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=cuda:90 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,COPIED
// RUN: tessera opt %s -convert-triton-to-tritongpu="target=hip:gfx942 num-warps=4" -tritongpu-coalesce | FileCheck %s --check-prefixes=CHECK,NOT-COPIED
// CHECK-DAG: #[[WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 16], {{.*}}, order = [1, 0]}>
// CHECK-DAG: #[[WORDS:.*]] = #ttg.blocked<{sizePerThread = [1, 4], {{.*}}, order = [1, 0]}>
// CHECK-LABEL: @bytes
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i8>, #[[WIDE]]>
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i8>, #[[WORDS]]>
// CHECK: scf.for
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i8>, #[[WIDE]]>
// COPIED: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i8>, #[[WIDE]]>
// NOT-COPIED: tt.load %{{.*}} : tensor<64x64x!tt.ptr<i8>, #[[WORDS]]>
tt.func public @bytes(%a: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %b: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %c: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %step = arith.constant dense<4096> : tensor<64x64xi32>
  %width = arith.constant dense<64> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %r0 = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %ro = arith.muli %r1, %width : tensor<64x1xi32>
  %rb = tt.broadcast %ro : tensor<64x1xi32> -> tensor<64x64xi32>
  %cb = tt.broadcast %r0 : tensor<1x64xi32> -> tensor<64x64xi32>
  %i = arith.addi %rb, %cb : tensor<64x64xi32>
  %as = tt.splat %a : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %pa = tt.addptr %as, %i : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %bs = tt.splat %b : !tt.ptr<i8> -> tensor<64x64x!tt.ptr<i8>>
  %pb = tt.addptr %bs, %i : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  %cs = tt.splat %c : !tt.ptr<i32> -> tensor<64x64x!tt.ptr<i32>>
  %pc = tt.addptr %cs, %i : tensor<64x64x!tt.ptr<i32>>, tensor<64x64xi32>
  %x = tt.load %pa : tensor<64x64x!tt.ptr<i8>>
  %y = tt.load %pb : tensor<64x64x!tt.ptr<i8>>
  %d = tt.dot %x, %y, %zero : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
  %sum:3 = scf.for %k = %c0 to %n step %c1 iter_args(%ka = %pa, %kb = %pb, %acc = %d) -> (tensor<64x64x!tt.ptr<i8>>, tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>) : i32 {
    %kx = tt.load %ka : tensor<64x64x!tt.ptr<i8>>
    %ky = tt.load %kb : tensor<64x64x!tt.ptr<i8>>
    %kd = tt.dot %kx, %ky, %acc : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
    %na = tt.addptr %ka, %step : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
    %nb = tt.addptr %kb, %step : tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
    scf.yield %na, %nb, %kd : tensor<64x64x!tt.ptr<i8>>, tensor<64x64x!tt.ptr<i8>>, tensor<64x64xi32>
  }
  tt.store %pc, %sum#2 : tensor<64x64x!tt.ptr<i32>>
  tt.return
}
