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
}
