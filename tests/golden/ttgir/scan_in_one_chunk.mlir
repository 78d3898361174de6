// Scans of what a thread computes: its rows follow each other, so that warps exchange one total of a column rather than
// one for each row. A scan of what was loaded stays in the layout of the load: a conversion would cost more than the
// totals. Columns that only lanes share are in one chunk already.
// RUN: tessera compile %s --kernel places --target gfx1201 --num-warps 4 --emit ttgir -o - | FileCheck %s --check-prefix=PLACES
// RUN: tessera compile %s --kernel loaded --target gfx1201 --num-warps 4 --emit ttgir -o - | FileCheck %s --check-prefix=LOADED
// RUN: tessera opt %s '-convert-triton-to-tritongpu=target=hip:gfx1201 num-warps=4 threads-per-warp=32' | FileCheck %s --check-prefix=DEFAULT

// PLACES-DAG: #[[ONE:[a-z0-9]+]] = #ttg.blocked<{sizePerThread = [128, 1], threadsPerWarp = [1, 32], warpsPerCTA = [2, 2], order = [1, 0]}>
// PLACES-LABEL: @places
// PLACES: "tt.scan"
// PLACES: }) : (tensor<256x64xi32, #[[ONE]]>) -> tensor<256x64xi32, #[[ONE]]>
// PLACES-NOT: ttg.convert_layout {{.*}}tensor<256x64x
// PLACES: tt.store

// LOADED-LABEL: @loaded
// LOADED: tt.load %{{.*}} : tensor<64x32x!tt.ptr<f32>, #[[L:[a-z0-9]+]]>
// LOADED-NOT: ttg.convert_layout
// LOADED: }) : (tensor<64x32xf32, #[[L]]>) -> tensor<64x32xf32, #[[L]]>
// LOADED-NOT: ttg.convert_layout
// LOADED: tt.store

// DEFAULT-LABEL: @columns
// DEFAULT-NOT: ttg.convert_layout
// DEFAULT: tt.return
module {
  tt.func public @places(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %e = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %s = tt.splat %x : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %p = tt.addptr %s, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    %v = tt.load %p : tensor<256x!tt.ptr<i32>>
    %v1 = tt.expand_dims %v {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
    %e1 = tt.expand_dims %e {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %v2 = tt.broadcast %v1 : tensor<256x1xi32> -> tensor<256x64xi32>
    %e2 = tt.broadcast %e1 : tensor<1x64xi32> -> tensor<256x64xi32>
    %is = arith.cmpi eq, %v2, %e2 : tensor<256x64xi32>
    %n = arith.extui %is : tensor<256x64xi1> to tensor<256x64xi32>
    %c = "tt.scan"(%n) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b : i32
      tt.scan.return %t : i32
    }) : (tensor<256x64xi32>) -> tensor<256x64xi32>
    %own = arith.muli %c, %n : tensor<256x64xi32>
    %place = "tt.reduce"(%own) <{axis = 1 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %t = arith.addi %a, %b : i32
      tt.reduce.return %t : i32
    }) : (tensor<256x64xi32>) -> tensor<256xi32>
    %so = tt.splat %o : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %q = tt.addptr %so, %r : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %q, %place : tensor<256x!tt.ptr<i32>>
    tt.return
  }
  tt.func public @loaded(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %e = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
    %k = arith.constant dense<32> : tensor<64x1xi32>
    %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %e1 = tt.expand_dims %e {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
    %rk = arith.muli %r1, %k : tensor<64x1xi32>
    %r2 = tt.broadcast %rk : tensor<64x1xi32> -> tensor<64x32xi32>
    %e2 = tt.broadcast %e1 : tensor<1x32xi32> -> tensor<64x32xi32>
    %i = arith.addi %r2, %e2 : tensor<64x32xi32>
    %s = tt.splat %x : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %p = tt.addptr %s, %i : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    %v = tt.load %p : tensor<64x32x!tt.ptr<f32>>
    %c = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.scan.return %t : f32
    }) : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %so = tt.splat %o : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %q = tt.addptr %so, %i : tensor<64x32x!tt.ptr<f32>>, tensor<64x32xi32>
    tt.store %q, %c : tensor<64x32x!tt.ptr<f32>>
    tt.return
  }
  tt.func public @columns(%x: tensor<4x32xf32>) {
    %c = "tt.scan"(%x) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      tt.scan.return %t : f32
    }) : (tensor<4x32xf32>) -> tensor<4x32xf32>
    tt.return
  }
}
