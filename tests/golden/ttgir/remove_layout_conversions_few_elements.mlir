// tritongpu-remove-layout-conversions of tensors with fewer elements than a block has threads.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --verify-each --split-input-file | FileCheck %s
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#tall = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#wide = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows16 = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [1, 0]}>
#down = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A load of fewer elements than there are threads is done in the layout in which they are used; one that fills them is not.
  // CHECK-LABEL: @small_load
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @small_load(%p: !tt.ptr<f32>, %q: tensor<64x64x!tt.ptr<f32>, #wide>) {
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #a>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>, #a>
    %2 = tt.addptr %1, %0 : tensor<64x!tt.ptr<f32>, #a>, tensor<64xi32, #a>
    %3 = tt.load %2 : tensor<64x!tt.ptr<f32>, #a>
    %4 = ttg.convert_layout %3 : tensor<64xf32, #a> -> tensor<64xf32, #ttg.slice<{dim = 0, parent = #wide}>>
    %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #wide}>> -> tensor<1x64xf32, #wide>
    %6 = tt.broadcast %5 : tensor<1x64xf32, #wide> -> tensor<64x64xf32, #wide>
    tt.store %q, %6 : tensor<64x64x!tt.ptr<f32>, #wide>
    tt.return
  }

  // CHECK-LABEL: @whole_load
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @whole_load(%p: !tt.ptr<f32>, %q: tensor<64x512x!tt.ptr<f32>, #wide>) {
    %0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #b>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #b>
    %2 = tt.addptr %1, %0 : tensor<512x!tt.ptr<f32>, #b>, tensor<512xi32, #b>
    %3 = tt.load %2 : tensor<512x!tt.ptr<f32>, #b>
    %4 = ttg.convert_layout %3 : tensor<512xf32, #b> -> tensor<512xf32, #ttg.slice<{dim = 0, parent = #wide}>>
    %5 = tt.expand_dims %4 {axis = 0 : i32} : tensor<512xf32, #ttg.slice<{dim = 0, parent = #wide}>> -> tensor<1x512xf32, #wide>
    %6 = tt.broadcast %5 : tensor<1x512xf32, #wide> -> tensor<64x512xf32, #wide>
    tt.store %q, %6 : tensor<64x512x!tt.ptr<f32>, #wide>
    tt.return
  }

  // A layout that would store element by element from one lane is converted from.
  // CHECK-LABEL: @one_lane
  // CHECK: %[[C:.*]] = ttg.convert_layout
  // CHECK: tt.store %{{.*}}, %[[C]]
  tt.func public @one_lane(%p: !tt.ptr<f32>, %v: tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows16}>>) {
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #a>
    %1 = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #a>
    %2 = tt.addptr %1, %0 : tensor<16x!tt.ptr<f32>, #a>, tensor<16xi32, #a>
    %3 = ttg.convert_layout %v : tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows16}>> -> tensor<16xf32, #a>
    tt.store %2, %3 : tensor<16x!tt.ptr<f32>, #a>
    tt.return
  }

  // What has one element is where every layout wants it.
  // CHECK-LABEL: @chain
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @chain(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %f: f32) {
    %0 = tt.splat %p : !tt.ptr<f32> -> tensor<1x!tt.ptr<f32>, #a>
    %1 = tt.load %0 : tensor<1x!tt.ptr<f32>, #a>
    %2 = tt.splat %f : f32 -> tensor<1xf32, #a>
    %3 = arith.mulf %1, %2 : tensor<1xf32, #a>
    %4 = math.floor %3 : tensor<1xf32, #a>
    %5 = arith.fptosi %4 : tensor<1xf32, #a> to tensor<1xi32, #a>
    %6 = math.ceil %3 : tensor<1xf32, #a>
    %7 = arith.fptosi %6 : tensor<1xf32, #a> to tensor<1xi32, #a>
    %8 = tt.splat %q : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>, #rows>
    %9 = ttg.convert_layout %5 : tensor<1xi32, #a> -> tensor<1xi32, #ttg.slice<{dim = 0, parent = #tall}>>
    %10 = tt.expand_dims %9 {axis = 0 : i32} : tensor<1xi32, #ttg.slice<{dim = 0, parent = #tall}>> -> tensor<1x1xi32, #tall>
    %11 = ttg.convert_layout %10 : tensor<1x1xi32, #tall> -> tensor<1x1xi32, #rows>
    %12 = tt.addptr %8, %11 : tensor<1x1x!tt.ptr<f32>, #rows>, tensor<1x1xi32, #rows>
    %13 = tt.load %12 : tensor<1x1x!tt.ptr<f32>, #rows>
    %14 = ttg.convert_layout %7 : tensor<1xi32, #a> -> tensor<1xi32, #ttg.slice<{dim = 0, parent = #tall}>>
    %15 = tt.expand_dims %14 {axis = 0 : i32} : tensor<1xi32, #ttg.slice<{dim = 0, parent = #tall}>> -> tensor<1x1xi32, #tall>
    %16 = ttg.convert_layout %15 : tensor<1x1xi32, #tall> -> tensor<1x1xi32, #rows>
    %17 = tt.addptr %8, %16 : tensor<1x1x!tt.ptr<f32>, #rows>, tensor<1x1xi32, #rows>
    %18 = tt.load %17 : tensor<1x1x!tt.ptr<f32>, #rows>
    %19 = arith.sitofp %5 : tensor<1xi32, #a> to tensor<1xf32, #a>
    %20 = arith.subf %3, %19 : tensor<1xf32, #a>
    %21 = arith.subf %18, %13 : tensor<1x1xf32, #rows>
    %22 = ttg.convert_layout %20 : tensor<1xf32, #a> -> tensor<1xf32, #ttg.slice<{dim = 0, parent = #tall}>>
    %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<1xf32, #ttg.slice<{dim = 0, parent = #tall}>> -> tensor<1x1xf32, #tall>
    %24 = ttg.convert_layout %23 : tensor<1x1xf32, #tall> -> tensor<1x1xf32, #rows>
    %25 = arith.mulf %21, %24 : tensor<1x1xf32, #rows>
    %26 = arith.addf %13, %25 : tensor<1x1xf32, #rows>
    tt.store %8, %26 : tensor<1x1x!tt.ptr<f32>, #rows>
    tt.return
  }

  // A load from memory that the kernel writes is done by the threads that do it in the text.
  // CHECK-LABEL: @written_load
  // CHECK: scf.for
  // CHECK: ttg.convert_layout {{.*}} -> tensor<16xi32, #[[A:.*]]>
  // CHECK: tt.load {{.*}} : tensor<16x!tt.ptr<f32>, #[[A]]>
  tt.func public @written_load(%table: !tt.ptr<f32>, %x: tensor<16x128x!tt.ptr<i32>, #wide>, %n: i32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #a>
    %ts = tt.splat %table : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>, #a>
    %tp = tt.addptr %ts, %r : tensor<16x!tt.ptr<f32>, #a>, tensor<16xi32, #a>
    scf.for %k = %zero to %n step %one : i32 {
      %v = tt.load %x : tensor<16x128x!tt.ptr<i32>, #wide>
      %m = "tt.reduce"(%v) <{axis = 1 : i32}> ({
      ^bb0(%p: i32, %q: i32):
        %t = arith.maxsi %p, %q : i32
        tt.reduce.return %t : i32
      }) : (tensor<16x128xi32, #wide>) -> tensor<16xi32, #ttg.slice<{dim = 1, parent = #wide}>>
      %c = ttg.convert_layout %m : tensor<16xi32, #ttg.slice<{dim = 1, parent = #wide}>> -> tensor<16xi32, #a>
      %at = tt.addptr %tp, %c : tensor<16x!tt.ptr<f32>, #a>, tensor<16xi32, #a>
      %y = tt.load %at : tensor<16x!tt.ptr<f32>, #a>
      tt.store %tp, %y : tensor<16x!tt.ptr<f32>, #a>
    }
    tt.return
  }
}
