// choose-scan-layouts: a scan whose axis does not run through registers, lanes and warps in order gets a layout in
// which it does. If it does already, or if its result is converted anyway, no conversion is added.
// RUN: tessera opt %s -choose-scan-layouts --verify-each | FileCheck %s
// RUN: tessera opt %s -choose-scan-layouts -choose-scan-layouts --verify-each | FileCheck %s

// Rows of the dot's result: register 2 first (row 8), then the lanes that had rows 1, 2, 4, then the warps; columns stay.
// CHECK-DAG: #[[ROWS:[a-z0-9]+]] = #ttg.linear<{register = {{\[\[}}0, 1], [1, 0], [0, 8], [0, 16]], lane = {{\[\[}}0, 2], [0, 4], [2, 0], [4, 0], [8, 0]], warp = {{\[\[}}16, 0], [32, 0]], block = []}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @along_rows
  // CHECK: %[[X:.*]] = ttg.convert_layout %{{.*}} : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #[[ROWS]]>
  // CHECK-NEXT: %[[S:.*]] = "tt.scan"(%[[X]])
  // CHECK: %[[B:.*]] = ttg.convert_layout %[[S]] : tensor<64x32xf32, #[[ROWS]]> -> tensor<64x32xf32, #mma>
  // CHECK: math.exp %[[B]]
  tt.func public @along_rows(%x: tensor<64x32xf32, #mma>) {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.scan.return %t : f32
    }) : (tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma>
    %e = math.exp %s : tensor<64x32xf32, #mma>
    tt.return
  }
  // Columns: register 1, lanes, registers.
  // CHECK-LABEL: @along_columns
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @along_columns(%x: tensor<64x32xf32, #mma>) {
    %s = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.scan.return %t : f32
    }) : (tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma>
    %e = math.exp %s : tensor<64x32xf32, #mma>
    tt.return
  }
  // CHECK-LABEL: @converted
  // CHECK: %[[S:.*]] = "tt.scan"
  // CHECK-NOT: -> tensor<64x32xf32, #mma>
  // CHECK: ttg.convert_layout %[[S]] : tensor<64x32xf32, #[[ROWS]]> -> tensor<64x32xf32, #blocked>
  // CHECK: tt.return
  tt.func public @converted(%x: tensor<64x32xf32, #mma>) {
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      tt.scan.return %t : f32
    }) : (tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma>
    %b = ttg.convert_layout %s : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #blocked>
    %e = math.exp %b : tensor<64x32xf32, #blocked>
    tt.return
  }
}
