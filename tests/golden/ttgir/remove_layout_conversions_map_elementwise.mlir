// tritongpu-remove-layout-conversions: a scalar region is done in the layout in which its operands were loaded, if a
// thread's consecutive registers hold the neighbours that it packs there.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each | FileCheck %s

#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#two = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#four = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @single
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store
  tt.func @single(%p: tensor<512x!tt.ptr<f32>, #four>) {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #four>
    %a = ttg.convert_layout %v : tensor<512xf32, #four> -> tensor<512xf32, #one>
    %m = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
    ^bb0(%x: f32):
      %s = arith.addf %x, %x : f32
      tt.map_elementwise.return %s : f32
    }) : (tensor<512xf32, #one>) -> tensor<512xf32, #one>
    %r = ttg.convert_layout %m : tensor<512xf32, #one> -> tensor<512xf32, #four>
    tt.store %p, %r : tensor<512x!tt.ptr<f32>, #four>
    tt.return
  }

  // CHECK-LABEL: @pairs
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.store
  tt.func @pairs(%p: tensor<512x!tt.ptr<f32>, #four>) {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #four>
    %a = ttg.convert_layout %v : tensor<512xf32, #four> -> tensor<512xf32, #two>
    %m = "tt.map_elementwise"(%a) <{pack = 2 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      tt.map_elementwise.return %y, %x : f32, f32
    }) : (tensor<512xf32, #two>) -> tensor<512xf32, #two>
    %r = ttg.convert_layout %m : tensor<512xf32, #two> -> tensor<512xf32, #four>
    tt.store %p, %r : tensor<512x!tt.ptr<f32>, #four>
    tt.return
  }

  // A thread has no two neighbours in the load's layout.
  // CHECK-LABEL: @strided
  // CHECK: ttg.convert_layout
  // CHECK-NEXT: "tt.map_elementwise"
  // CHECK: ttg.convert_layout
  tt.func @strided(%p: tensor<512x!tt.ptr<f32>, #one>) {
    %v = tt.load %p : tensor<512x!tt.ptr<f32>, #one>
    %a = ttg.convert_layout %v : tensor<512xf32, #one> -> tensor<512xf32, #two>
    %m = "tt.map_elementwise"(%a) <{pack = 2 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      tt.map_elementwise.return %y, %x : f32, f32
    }) : (tensor<512xf32, #two>) -> tensor<512xf32, #two>
    %r = ttg.convert_layout %m : tensor<512xf32, #two> -> tensor<512xf32, #one>
    tt.store %p, %r : tensor<512x!tt.ptr<f32>, #one>
    tt.return
  }
}
