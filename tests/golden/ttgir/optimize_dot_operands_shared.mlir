// What a loop loads for dots of different widths goes through one buffer on AMD, that the pipeliner fills ahead: also
// where the threads of one dot loaded its operand as it is. Not if it is used otherwise, too, or would not fit.
// RUN: tessera opt %s -split-input-file -tritongpu-optimize-dot-operands --target gfx942 --verify-each | FileCheck %s
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 4], instrShape = [32, 32, 8], isTransposed = true}>
#narrow = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#aw = #ttg.dot_op<{opIdx = 0, parent = #wide, kWidth = 8}>
#bw = #ttg.dot_op<{opIdx = 1, parent = #wide, kWidth = 8}>
#an = #ttg.dot_op<{opIdx = 0, parent = #narrow, kWidth = 8}>
#bn = #ttg.dot_op<{opIdx = 1, parent = #narrow, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @two_widths
  // CHECK: %[[X:.*]] = tt.load
  // CHECK-NEXT: %[[M:.*]] = ttg.local_alloc %[[X]]
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.local_load %[[M]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 8}>>
  // CHECK-NOT: ttg.local_alloc
  // CHECK: ttg.local_load %[[M]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 8}>>
  // CHECK-NOT: ttg.local_alloc
  // CHECK: tt.return
  tt.func @two_widths(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %w: tensor<64x128xf16, #bw>, %v: tensor<64x16xf16, #bn>, %c: tensor<64x128xf32, #wide>, %d: tensor<64x16xf32, #narrow>) -> (tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%e = %c, %f = %d) -> (tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #aw>
      %g = tt.dot %a, %w, %e : tensor<64x64xf16, #aw> * tensor<64x128xf16, #bw> -> tensor<64x128xf32, #wide>
      %b = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #an>
      %h = tt.dot %b, %v, %f : tensor<64x64xf16, #an> * tensor<64x16xf16, #bn> -> tensor<64x16xf32, #narrow>
      scf.yield %g, %h : tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>
    }
    tt.return %r#0, %r#1 : tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>
  }

  // The loaded value is used as it is, too: the loop cannot fill the buffer ahead, and each dot has its own.
  // CHECK-LABEL: @used_as_loaded
  // CHECK-COUNT-2: ttg.local_alloc
  // CHECK: tt.return
  tt.func @used_as_loaded(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %q: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %w: tensor<64x128xf16, #bw>, %v: tensor<64x16xf16, #bn>, %c: tensor<64x128xf32, #wide>, %d: tensor<64x16xf32, #narrow>) -> (tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%e = %c, %f = %d) -> (tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      tt.store %q, %x : tensor<64x64x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #aw>
      %g = tt.dot %a, %w, %e : tensor<64x64xf16, #aw> * tensor<64x128xf16, #bw> -> tensor<64x128xf32, #wide>
      %b = ttg.convert_layout %x : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #an>
      %h = tt.dot %b, %v, %f : tensor<64x64xf16, #an> * tensor<64x16xf16, #bn> -> tensor<64x16xf32, #narrow>
      scf.yield %g, %h : tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>
    }
    tt.return %r#0, %r#1 : tensor<64x128xf32, #wide>, tensor<64x16xf32, #narrow>
  }

  // Of 65,536 bytes, each buffer takes all.
  // CHECK-LABEL: @no_room
  // CHECK-COUNT-2: ttg.local_alloc
  // CHECK: tt.return
  tt.func @no_room(%p: tensor<256x128x!tt.ptr<f16>, #blocked>, %n: i32, %w: tensor<128x128xf16, #bw>, %v: tensor<128x16xf16, #bn>, %c: tensor<256x128xf32, #wide>, %d: tensor<256x16xf32, #narrow>) -> (tensor<256x128xf32, #wide>, tensor<256x16xf32, #narrow>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%e = %c, %f = %d) -> (tensor<256x128xf32, #wide>, tensor<256x16xf32, #narrow>) : i32 {
      %x = tt.load %p : tensor<256x128x!tt.ptr<f16>, #blocked>
      %a = ttg.convert_layout %x : tensor<256x128xf16, #blocked> -> tensor<256x128xf16, #aw>
      %g = tt.dot %a, %w, %e : tensor<256x128xf16, #aw> * tensor<128x128xf16, #bw> -> tensor<256x128xf32, #wide>
      %b = ttg.convert_layout %x : tensor<256x128xf16, #blocked> -> tensor<256x128xf16, #an>
      %h = tt.dot %b, %v, %f : tensor<256x128xf16, #an> * tensor<128x16xf16, #bn> -> tensor<256x16xf32, #narrow>
      scf.yield %g, %h : tensor<256x128xf32, #wide>, tensor<256x16xf32, #narrow>
    }
    tt.return %r#0, %r#1 : tensor<256x128xf32, #wide>, tensor<256x16xf32, #narrow>
  }
}

// -----

// Lanes load 16 rows of 32 elements, as the narrow dot's instruction takes them.
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#wide = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>
#narrow = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [16, 16, 16], isTransposed = true}>
#aw = #ttg.dot_op<{opIdx = 0, parent = #wide, kWidth = 8}>
#bw = #ttg.dot_op<{opIdx = 1, parent = #wide, kWidth = 8}>
#an = #ttg.dot_op<{opIdx = 0, parent = #narrow, kWidth = 8}>
#bn = #ttg.dot_op<{opIdx = 1, parent = #narrow, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @loaded_as_it_is
  // CHECK: %[[M:.*]] = ttg.local_alloc
  // CHECK-COUNT-2: ttg.local_load %[[M]]
  // CHECK-NOT: ttg.convert_layout
  // CHECK: tt.return
  tt.func @loaded_as_it_is(%p: tensor<64x32x!tt.ptr<f16>, #rows>, %n: i32, %w: tensor<32x64xf16, #bw>, %v: tensor<32x16xf16, #bn>, %c: tensor<64x64xf32, #wide>, %d: tensor<64x16xf32, #narrow>) -> (tensor<64x64xf32, #wide>, tensor<64x16xf32, #narrow>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r:2 = scf.for %i = %zero to %n step %one iter_args(%e = %c, %f = %d) -> (tensor<64x64xf32, #wide>, tensor<64x16xf32, #narrow>) : i32 {
      %x = tt.load %p : tensor<64x32x!tt.ptr<f16>, #rows>
      %a = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #aw>
      %g = tt.dot %a, %w, %e : tensor<64x32xf16, #aw> * tensor<32x64xf16, #bw> -> tensor<64x64xf32, #wide>
      %b = ttg.convert_layout %x : tensor<64x32xf16, #rows> -> tensor<64x32xf16, #an>
      %h = tt.dot %b, %v, %f : tensor<64x32xf16, #an> * tensor<32x16xf16, #bn> -> tensor<64x16xf32, #narrow>
      scf.yield %g, %h : tensor<64x64xf32, #wide>, tensor<64x16xf32, #narrow>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #wide>, tensor<64x16xf32, #narrow>
  }
}
