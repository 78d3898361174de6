// load-scalars-ahead: indices of rows that the iteration loads for a dot are loaded for the next iteration, so that no
// copy waits for them; also where threads reduce what they mask.
// RUN: tessera opt %s -load-scalars-ahead --target sm_90a | FileCheck %s
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @gathered
  // CHECK: %[[RUNS:.*]] = arith.cmpi slt
  // CHECK: %[[MASK:.*]] = tt.splat %[[RUNS]]
  // CHECK: %[[FIRST:.*]] = tt.load %{{.*}}, %[[MASK]] : tensor<32x!tt.ptr<i32>
  // CHECK: scf.for {{.*}} iter_args({{.*}}, %[[INDEX:.*]] = %[[FIRST]])
  // CHECK: %[[NEXT:.*]] = tt.load %{{.*}} : tensor<32x!tt.ptr<i32>
  // CHECK: ttg.convert_layout %[[INDEX]]
  // CHECK: tt.load %{{.*}} : tensor<32x64x!tt.ptr<f16>
  // CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]
  tt.func public @gathered(%x: tensor<64x32xf16, #a>, %values: tensor<32x64x!tt.ptr<f16>, #rows>, %indices: tensor<32x!tt.ptr<i32>, #line>, %n: i32) -> (tensor<64x64xf32, #mma>, i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %highest = %c0) -> (tensor<64x64xf32, #mma>, i32) : i32 {
      %k = tt.splat %i : i32 -> tensor<32xi32, #line>
      %p = tt.addptr %indices, %k : tensor<32x!tt.ptr<i32>, #line>, tensor<32xi32, #line>
      %index = tt.load %p : tensor<32x!tt.ptr<i32>, #line>
      %max = "tt.reduce"(%index) <{axis = 0 : i32}> ({
      ^bb0(%u: i32, %v: i32):
        %w = arith.maxsi %u, %v : i32
        tt.reduce.return %w : i32
      }) : (tensor<32xi32, #line>) -> i32
      %moved = ttg.convert_layout %index : tensor<32xi32, #line> -> tensor<32xi32, #ttg.slice<{dim = 1, parent = #rows}>>
      %column = tt.expand_dims %moved {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<32x1xi32, #rows>
      %offsets = tt.broadcast %column : tensor<32x1xi32, #rows> -> tensor<32x64xi32, #rows>
      %q = tt.addptr %values, %offsets : tensor<32x64x!tt.ptr<f16>, #rows>, tensor<32x64xi32, #rows>
      %v = tt.load %q : tensor<32x64x!tt.ptr<f16>, #rows>
      %y = ttg.convert_layout %v : tensor<32x64xf16, #rows> -> tensor<32x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d, %max : tensor<64x64xf32, #mma>, i32
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, i32
  }
  // The step to the next rows is loaded an iteration before they are.
  // CHECK-LABEL: @steps
  // CHECK-NOT: tt.load
  // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %arg1) ->
  tt.func public @steps(%x: tensor<64x32xf16, #a>, %values: tensor<32x64x!tt.ptr<f16>, #rows>, %steps: !tt.ptr<i32>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero, %q = %values) -> (tensor<64x64xf32, #mma>, tensor<32x64x!tt.ptr<f16>, #rows>) : i32 {
      %v = tt.load %q : tensor<32x64x!tt.ptr<f16>, #rows>
      %y = ttg.convert_layout %v : tensor<32x64xf16, #rows> -> tensor<32x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      %p = tt.addptr %steps, %i : !tt.ptr<i32>, i32
      %step = tt.load %p : !tt.ptr<i32>
      %all = tt.splat %step : i32 -> tensor<32x64xi32, #rows>
      %next = tt.addptr %q, %all : tensor<32x64x!tt.ptr<f16>, #rows>, tensor<32x64xi32, #rows>
      scf.yield %d, %next : tensor<64x64xf32, #mma>, tensor<32x64x!tt.ptr<f16>, #rows>
    }
    tt.return %r#0 : tensor<64x64xf32, #mma>
  }
  // A thread would hold eight indices.
  // CHECK-LABEL: @many
  // CHECK-NOT: tt.load
  // CHECK: scf.for %{{.*}} iter_args(%{{[a-z]*}} = %{{[a-z0-9_]*}}) ->
  tt.func public @many(%x: tensor<64x32xf16, #a>, %values: tensor<32x64x!tt.ptr<f16>, #rows>, %indices: tensor<32x64x!tt.ptr<i32>, #rows>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %k = tt.splat %i : i32 -> tensor<32x64xi32, #rows>
      %p = tt.addptr %indices, %k : tensor<32x64x!tt.ptr<i32>, #rows>, tensor<32x64xi32, #rows>
      %index = tt.load %p : tensor<32x64x!tt.ptr<i32>, #rows>
      %q = tt.addptr %values, %index : tensor<32x64x!tt.ptr<f16>, #rows>, tensor<32x64xi32, #rows>
      %v = tt.load %q : tensor<32x64x!tt.ptr<f16>, #rows>
      %y = ttg.convert_layout %v : tensor<32x64xf16, #rows> -> tensor<32x64xf16, #b>
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16, #a> * tensor<32x64xf16, #b> -> tensor<64x64xf32, #mma>
      scf.yield %d : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
