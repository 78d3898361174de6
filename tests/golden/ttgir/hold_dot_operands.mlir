// hold-dot-operands: A operands that a loop does not change are loaded into registers before it, for dots that would
// take longer to read both operands from shared memory than to multiply them.
// RUN: tessera opt %s --target sm_90a -hold-dot-operands | FileCheck %s
// RUN: tessera opt %s --target sm_100a -hold-dot-operands | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: ttg.local_load
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#wide = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!held = !ttg.memdesc<64x64xf16, #shared, #smem>
!turned = !ttg.memdesc<64x64xf16, #sharedT, #smem>
!written = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!large = !ttg.memdesc<1024x64xf16, #shared, #smem, mutable>
!narrow = !ttg.memdesc<64x32xf16, #sharedT, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @narrow
  // CHECK: %[[BUFFER:.*]] = ttg.local_alloc %arg0
  // CHECK: %[[HELD:.*]] = ttg.local_load %[[BUFFER]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0
  // CHECK-NEXT: scf.for
  // CHECK: ttng.warp_group_dot %[[HELD]], %arg1
  tt.func public @narrow(%k: tensor<64x64xf16, #b>, %q: !narrow, %n: i32, %s: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %large = ttg.local_alloc : () -> !large
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !held
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %q, %x {inputPrecision = 0 : i32} : !held * !narrow -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    ttg.local_dealloc %large : !large
    tt.return %r : tensor<64x32xf32, #mma>
  }

  // A view of the buffer, which two loops do not change: loaded before the outer one.
  // CHECK-LABEL: @view
  // CHECK: %[[BUFFER:.*]] = ttg.local_alloc %arg0
  // CHECK: %[[VIEW:.*]] = ttg.memdesc_trans %[[BUFFER]]
  // CHECK: %[[HELD:.*]] = ttg.local_load %[[VIEW]]
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: scf.for
  // CHECK: ttng.warp_group_dot %[[HELD]], %arg1
  tt.func public @view(%k: tensor<64x64xf16, #b>, %q: !narrow, %n: i32, %s: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %large = ttg.local_alloc : () -> !large
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !held
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%y = %s) -> (tensor<64x32xf32, #mma>) : i32 {
      %p = scf.for %i = %c0 to %n step %c1 iter_args(%x = %y) -> (tensor<64x32xf32, #mma>) : i32 {
        %t = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !held -> !turned
        %d = ttng.warp_group_dot %t, %q, %x {inputPrecision = 0 : i32} : !turned * !narrow -> tensor<64x32xf32, #mma>
        scf.yield %d : tensor<64x32xf32, #mma>
      }
      scf.yield %p : tensor<64x32xf32, #mma>
    }
    ttg.local_dealloc %large : !large
    tt.return %r : tensor<64x32xf32, #mma>
  }

  // With 64 columns reading takes no longer than multiplying.
  // CHECK-LABEL: @wide
  // CHECK-NOT: ttg.local_load
  tt.func public @wide(%k: tensor<64x64xf16, #b>, %q: !turned, %n: i32, %s: tensor<64x64xf32, #wide>) -> tensor<64x64xf32, #wide> {
    %large = ttg.local_alloc : () -> !large
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !held
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s) -> (tensor<64x64xf32, #wide>) : i32 {
      %d = ttng.warp_group_dot %a, %q, %x {inputPrecision = 0 : i32} : !held * !turned -> tensor<64x64xf32, #wide>
      scf.yield %d : tensor<64x64xf32, #wide>
    }
    ttg.local_dealloc %large : !large
    tt.return %r : tensor<64x64xf32, #wide>
  }

  // The buffer is written after its allocation; a buffer of the loop's own iteration.
  // CHECK-LABEL: @changes
  // CHECK-NOT: ttg.local_load
  tt.func public @changes(%k: tensor<64x64xf16, #b>, %q: !narrow, %n: i32, %s: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %large = ttg.local_alloc : () -> !large
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !written
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %q, %x {inputPrecision = 0 : i32} : !written * !narrow -> tensor<64x32xf32, #mma>
      %e = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !held
      %f = ttng.warp_group_dot %e, %q, %d {inputPrecision = 0 : i32} : !held * !narrow -> tensor<64x32xf32, #mma>
      scf.yield %f : tensor<64x32xf32, #mma>
    }
    ttg.local_dealloc %large : !large
    tt.return %r : tensor<64x32xf32, #mma>
  }

  // No registers are left: four accumulators of 64 x 256 take 512 of each thread.
  // CHECK-LABEL: @full
  // CHECK-NOT: ttg.local_load
  tt.func public @full(%k: tensor<64x64xf16, #b>, %q: !narrow, %n: i32, %s: tensor<64x32xf32, #mma>, %w: tensor<256x256xf32, #wide>) -> (tensor<64x32xf32, #mma>, tensor<256x256xf32, #wide>) {
    %large = ttg.local_alloc : () -> !large
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !held
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s, %y = %w) -> (tensor<64x32xf32, #mma>, tensor<256x256xf32, #wide>) : i32 {
      %d = ttng.warp_group_dot %a, %q, %x {inputPrecision = 0 : i32} : !held * !narrow -> tensor<64x32xf32, #mma>
      %z = arith.addf %y, %y : tensor<256x256xf32, #wide>
      scf.yield %d, %z : tensor<64x32xf32, #mma>, tensor<256x256xf32, #wide>
    }
    ttg.local_dealloc %large : !large
    tt.return %r#0, %r#1 : tensor<64x32xf32, #mma>, tensor<256x256xf32, #wide>
  }

  // Without the large buffer sixteen blocks run on a multiprocessor, by 32 registers a thread.
  // CHECK-LABEL: @blocks
  // CHECK-NOT: ttg.local_load
  tt.func public @blocks(%k: tensor<64x64xf16, #b>, %q: !narrow, %n: i32, %s: tensor<64x32xf32, #mma>) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #b>) -> !held
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s) -> (tensor<64x32xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %q, %x {inputPrecision = 0 : i32} : !held * !narrow -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}
