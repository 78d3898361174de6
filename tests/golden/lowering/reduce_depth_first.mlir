// What a thread reduces by itself is a balanced tree of neighbours, each subtree before the next one begins: of eight
// wide numbers, four at most are needed at a time.
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s
#row = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: ld.global.v4.b32 {%[[A:r[0-9]+]], %[[B:r[0-9]+]], %[[C:r[0-9]+]], %[[D:r[0-9]+]]}
  // CHECK: ld.global.v4.b32 {%[[E:r[0-9]+]], %[[F:r[0-9]+]], %[[G:r[0-9]+]], %[[H:r[0-9]+]]}
  // CHECK: add.f32 %[[AB:r[0-9]+]], %[[A]], %[[B]]
  // CHECK-NEXT: add.f32 %[[CD:r[0-9]+]], %[[C]], %[[D]]
  // CHECK-NEXT: add.f32 %[[AD:r[0-9]+]], %[[AB]], %[[CD]]
  // CHECK-NEXT: add.f32 %[[EF:r[0-9]+]], %[[E]], %[[F]]
  // CHECK-NEXT: add.f32 %[[GH:r[0-9]+]], %[[G]], %[[H]]
  // CHECK-NEXT: add.f32 %[[EH:r[0-9]+]], %[[EF]], %[[GH]]
  // CHECK-NEXT: add.f32 %{{r[0-9]+}}, %[[AD]], %[[EH]]
  tt.func public @sum(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>) {
    %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32, #row>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>, #row>
    %a = tt.addptr %s, %r : tensor<256x!tt.ptr<f32>, #row>, tensor<256xi32, #row>
    %x = tt.load %a : tensor<256x!tt.ptr<f32>, #row>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %c = arith.addf %l, %q : f32
      tt.reduce.return %c : f32
    }) : (tensor<256xf32, #row>) -> f32
    tt.store %o, %sum : !tt.ptr<f32>
    tt.return
  }
}
