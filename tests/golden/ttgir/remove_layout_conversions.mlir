// tritongpu-remove-layout-conversions: conversions that vanish, move to cheaper places, or stay.
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
  // Index arithmetic is made in the layout of its use, a division too where nothing else uses it.
  // CHECK-LABEL: @moves
  // CHECK-NOT: ttg.convert_layout
  // CHECK: arith.remsi
  // CHECK-NOT: arith.remsi
  // CHECK: tt.return
  tt.func public @moves(%p: !tt.ptr<f32>, %n: i32) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %1 = tt.splat %n : i32 -> tensor<1024xi32, #a>
    %2 = arith.remsi %0, %1 : tensor<1024xi32, #a>
    %3 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
    %4 = tt.addptr %3, %2 : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    %5 = ttg.convert_layout %4 : tensor<1024x!tt.ptr<f32>, #a> -> tensor<1024x!tt.ptr<f32>, #b>
    %6 = tt.load %5 : tensor<1024x!tt.ptr<f32>, #b>
    tt.store %5, %6 : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }

  // A pointer that a loop carries is carried in the layout of the load.
  // CHECK-LABEL: @carried
  // CHECK-NOT: ttg.convert_layout
  // CHECK: scf.for {{.*}} -> (tensor<1024x!tt.ptr<f32>, #[[B:.*]]>)
  // CHECK: tt.load %{{.*}} : tensor<1024x!tt.ptr<f32>, #[[B]]>
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @carried(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant dense<1024> : tensor<1024xi32, #a>
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %1 = tt.splat %n : i32 -> tensor<1024xi32, #a>
    %2 = arith.remsi %0, %1 : tensor<1024xi32, #a>
    %3 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
    %4 = tt.addptr %3, %2 : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    %5 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %4) -> (tensor<1024x!tt.ptr<f32>, #a>) : i32 {
      %6 = ttg.convert_layout %q : tensor<1024x!tt.ptr<f32>, #a> -> tensor<1024x!tt.ptr<f32>, #b>
      %7 = tt.load %6 : tensor<1024x!tt.ptr<f32>, #b>
      tt.store %6, %7 : tensor<1024x!tt.ptr<f32>, #b>
      %8 = tt.addptr %q, %step : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
      scf.yield %8 : tensor<1024x!tt.ptr<f32>, #a>
    }
    tt.return
  }

  // The narrow side of a cast is converted.
  // CHECK-LABEL: @narrow
  // CHECK: %[[C:.*]] = ttg.convert_layout %{{.*}} : tensor<1024xf16, {{.*}}> -> tensor<1024xf16,
  // CHECK: arith.extf %[[C]]
  tt.func public @narrow(%p: tensor<1024x!tt.ptr<f16>, #b>, %q: tensor<1024x!tt.ptr<f32>, #a>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f16>, #b>
    %1 = arith.extf %0 : tensor<1024xf16, #b> to tensor<1024xf32, #b>
    %2 = ttg.convert_layout %1 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    tt.store %q, %2 : tensor<1024x!tt.ptr<f32>, #a>
    tt.return
  }

  // A scan is done where its operand is.
  // CHECK-LABEL: @scanned
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @scanned(%p: tensor<1024x!tt.ptr<f32>, #b>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #b>
    %1 = ttg.convert_layout %0 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    %2 = "tt.scan"(%1) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%x: f32, %y: f32):
      %4 = arith.addf %x, %y : f32
      tt.scan.return %4 : f32
    }) : (tensor<1024xf32, #a>) -> tensor<1024xf32, #a>
    %3 = ttg.convert_layout %2 : tensor<1024xf32, #a> -> tensor<1024xf32, #b>
    tt.store %p, %3 : tensor<1024x!tt.ptr<f32>, #b>
    tt.return
  }

  // Barriers and assumptions reach no memory: the store is done in the layout of its value beside them, too.
  // CHECK-LABEL: @barrier
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @barrier(%p: tensor<1024x!tt.ptr<f32>, #b>, %q: !tt.ptr<f32>, %n: i32, %c: i1) {
    llvm.intr.assume %c : i1
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #b>
    %1 = math.exp %0 : tensor<1024xf32, #b>
    gpu.barrier
    %2 = ttg.convert_layout %1 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    %3 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %4 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #a>
    %5 = tt.addptr %4, %3 : tensor<1024x!tt.ptr<f32>, #a>, tensor<1024xi32, #a>
    tt.store %5, %2 : tensor<1024x!tt.ptr<f32>, #a>
    tt.return
  }

  // What is used in both layouts and dear to make is made once.
  // CHECK-LABEL: @both
  // CHECK: math.exp
  // CHECK-NOT: math.exp
  // CHECK: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @both(%p: tensor<1024x!tt.ptr<f32>, #b>, %q: tensor<1024x!tt.ptr<f32>, #a>) {
    %0 = tt.load %p : tensor<1024x!tt.ptr<f32>, #b>
    %1 = math.exp %0 : tensor<1024xf32, #b>
    tt.store %p, %1 : tensor<1024x!tt.ptr<f32>, #b>
    %2 = ttg.convert_layout %1 : tensor<1024xf32, #b> -> tensor<1024xf32, #a>
    tt.store %q, %2 : tensor<1024x!tt.ptr<f32>, #a>
    tt.return
  }

  // A row that was made a matrix, times a matrix: the matrix stays where it was loaded, and the row is converted before it is broadcast.
  // CHECK-LABEL: @row_times_matrix
  // CHECK: ttg.convert_layout {{.*}} : tensor<1x64xf32
  // CHECK-NOT: ttg.convert_layout {{.*}} : tensor<256x64xf32
  // CHECK: tt.return
  tt.func public @row_times_matrix(%r: tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tall}>>, %p: tensor<256x64x!tt.ptr<f32>, #wide>, %q: tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %0 = tt.load %r : tensor<64x!tt.ptr<f32>, #ttg.slice<{dim = 0, parent = #tall}>>
    %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<64xf32, #ttg.slice<{dim = 0, parent = #tall}>> -> tensor<1x64xf32, #tall>
    %2 = tt.broadcast %1 : tensor<1x64xf32, #tall> -> tensor<256x64xf32, #tall>
    %3 = ttg.convert_layout %2 : tensor<256x64xf32, #tall> -> tensor<256x64xf32, #rows>
    %4 = tt.load %p : tensor<256x64x!tt.ptr<f32>, #wide>
    %5 = ttg.convert_layout %4 : tensor<256x64xf32, #wide> -> tensor<256x64xf32, #rows>
    %6 = arith.mulf %3, %5 : tensor<256x64xf32, #rows>
    %7 = "tt.reduce"(%6) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %8 = arith.addf %x, %y : f32
      tt.reduce.return %8 : f32
    }) : (tensor<256x64xf32, #rows>) -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %q, %7 : tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }

  // A buffer is filled from the layout that its value has.
  // CHECK-LABEL: @into_buffer
  // CHECK-NOT: ttg.convert_layout
  // CHECK: ttg.local_alloc
  tt.func public @into_buffer(%p: tensor<256x64x!tt.ptr<f16>, #wide>) -> !ttg.memdesc<256x64xf16, #shared, #smem> {
    %0 = tt.load %p : tensor<256x64x!tt.ptr<f16>, #wide>
    %1 = ttg.convert_layout %0 : tensor<256x64xf16, #wide> -> tensor<256x64xf16, #rows>
    %2 = ttg.local_alloc %1 : (tensor<256x64xf16, #rows>) -> !ttg.memdesc<256x64xf16, #shared, #smem>
    tt.return %2 : !ttg.memdesc<256x64xf16, #shared, #smem>
  }

  // Of what a select takes, the condition is converted; the result is stored from where it is.
  // CHECK-LABEL: @select
  // CHECK: ttg.convert_layout {{.*}}xi1,
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func public @select(%c: tensor<256x64x!tt.ptr<i8>, #rows>, %p: tensor<256x64x!tt.ptr<f32>, #wide>, %zero: tensor<256x64xi8, #rows>, %out: !tt.ptr<f32>) {
    %z = arith.constant dense<0.0> : tensor<256x64xf32, #tall>
    %0 = tt.load %c : tensor<256x64x!tt.ptr<i8>, #rows>
    %1 = arith.cmpi ne, %0, %zero : tensor<256x64xi8, #rows>
    %2 = ttg.convert_layout %1 : tensor<256x64xi1, #rows> -> tensor<256x64xi1, #tall>
    %3 = tt.load %p : tensor<256x64x!tt.ptr<f32>, #wide>
    %4 = ttg.convert_layout %3 : tensor<256x64xf32, #wide> -> tensor<256x64xf32, #tall>
    %5 = arith.select %2, %4, %z : tensor<256x64xi1, #tall>, tensor<256x64xf32, #tall>
    %6 = ttg.convert_layout %5 : tensor<256x64xf32, #tall> -> tensor<256x64xf32, #rows>
    %7 = tt.splat %out : !tt.ptr<f32> -> tensor<256x64x!tt.ptr<f32>, #rows>
    tt.store %7, %6 : tensor<256x64x!tt.ptr<f32>, #rows>
    tt.return
  }

  // A row that is in the operation's layout does not hold a matrix that is not.
  // CHECK-LABEL: @matrix_by_row
  // CHECK-NOT: ttg.convert_layout {{.*}} : tensor<256x64xf32
  // CHECK: tt.return
  tt.func public @matrix_by_row(%r: tensor<1x64x!tt.ptr<f32>, #rows>, %p: tensor<256x64x!tt.ptr<f32>, #wide>, %n: i32, %q: tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %z = arith.constant dense<0.0> : tensor<256x64xf32, #rows>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (tensor<256x64xf32, #rows>) : i32 {
      %2 = tt.load %p : tensor<256x64x!tt.ptr<f32>, #wide>
      %0 = tt.load %r : tensor<1x64x!tt.ptr<f32>, #rows>
      %3 = ttg.convert_layout %2 : tensor<256x64xf32, #wide> -> tensor<256x64xf32, #rows>
      %1 = tt.broadcast %0 : tensor<1x64xf32, #rows> -> tensor<256x64xf32, #rows>
      %4 = arith.mulf %3, %1 : tensor<256x64xf32, #rows>
      %5 = arith.addf %s, %4 : tensor<256x64xf32, #rows>
      scf.yield %5 : tensor<256x64xf32, #rows>
    }
    %6 = "tt.reduce"(%sum) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %7 = arith.addf %x, %y : f32
      tt.reduce.return %7 : f32
    }) : (tensor<256x64xf32, #rows>) -> tensor<256xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %q, %6 : tensor<256x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }

  // The layout of a column stays with the column: in it a thread would hold whole rows of the matrix.
  // CHECK-LABEL: @column
  // CHECK: %[[C:.*]] = ttg.convert_layout %{{.*}} : tensor<16x{{(1x)?}}f32,
  // CHECK: tt.broadcast %{{.*}} -> tensor<16x64xf32, #[[ROWS:.*]]>
  // CHECK: "tt.reduce"{{.*}}
  // CHECK: (tensor<16x64xf32, #[[ROWS]]>)
  tt.func public @column(%c: tensor<16x1xf32, #down>, %s: tensor<16x64xf32, #rows>, %q: tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>) {
    %e = math.exp %c : tensor<16x1xf32, #down>
    %0 = ttg.convert_layout %e : tensor<16x1xf32, #down> -> tensor<16x1xf32, #rows>
    %1 = tt.broadcast %0 : tensor<16x1xf32, #rows> -> tensor<16x64xf32, #rows>
    %2 = arith.mulf %1, %1 : tensor<16x64xf32, #rows>
    %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %4 = arith.addf %x, %y : f32
      tt.reduce.return %4 : f32
    }) : (tensor<16x64xf32, #rows>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.store %q, %3 : tensor<16x!tt.ptr<f32>, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return
  }

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

  // Divisions that give a pointer and its mask move for both; for one alone they would be done twice.
  // CHECK-LABEL: @together
  // CHECK-NOT: ttg.convert_layout
  // CHECK: arith.divsi
  // CHECK-NOT: arith.divsi
  // CHECK: tt.return
  tt.func public @together(%p: !tt.ptr<f32>, %n: i32, %m: i32, %q: tensor<1024x!tt.ptr<f32>, #b>) {
    %0 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #a>
    %1 = tt.splat %n : i32 -> tensor<1024xi32, #a>
    %2 = tt.splat %m : i32 -> tensor<1024xi32, #a>
    %3 = arith.divsi %0, %1 : tensor<1024xi32, #a>
    %4 = arith.remsi %3, %2 : tensor<1024xi32, #a>
    %5 = arith.cmpi slt, %4, %1 : tensor<1024xi32, #a>
    %6 = arith.muli %4, %1 : tensor<1024xi32, #a>
    %7 = ttg.convert_layout %6 : tensor<1024xi32, #a> -> tensor<1024xi32, #b>
    %8 = ttg.convert_layout %5 : tensor<1024xi1, #a> -> tensor<1024xi1, #b>
    %9 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #b>
    %10 = tt.addptr %9, %7 : tensor<1024x!tt.ptr<f32>, #b>, tensor<1024xi32, #b>
    %11 = tt.load %10, %8 : tensor<1024x!tt.ptr<f32>, #b>
    tt.store %q, %11 : tensor<1024x!tt.ptr<f32>, #b>
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
}
