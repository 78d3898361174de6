// Parts of an address that are uniform and have 64 bits may wrap around, where the rest of the sum brings them back:
// nothing says that they do not. Parts of 32 bits cannot.
// RUN: tessera compile %s --kernel wide --target gfx942 --emit llir -O0 | FileCheck %s --check-prefix=WIDE
// RUN: tessera compile %s --kernel wide --target gfx942 --emit llir | FileCheck %s --check-prefix=OPTIMISED
// RUN: tessera compile %s --kernel narrow --target gfx942 --emit llir -O0 | FileCheck %s --check-prefix=NARROW

// WIDE-LABEL: @wide(
// WIDE: mul i64 %{{[0-9]+}}, 4
// WIDE: raw.ptr.buffer.store

// NARROW-LABEL: @narrow(
// NARROW: mul nsw i64 %{{[0-9]+}}, 4

// OPTIMISED-LABEL: @wide(
// OPTIMISED-NOT: poison
// OPTIMISED: raw.ptr.buffer.store
tt.func public @wide(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %v = arith.constant dense<1.0> : tensor<512xf32>
  %c512 = arith.constant 512 : i64
  %first = arith.constant -9223372036854775428 : i64
  %back = arith.constant dense<9223372036854775428> : tensor<512xi64>
  %pid = tt.get_program_id x : i32
  %pid64 = arith.extsi %pid : i32 to i64
  %block = arith.muli %pid64, %c512 : i64
  %start = arith.addi %block, %first : i64
  %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %range64 = arith.extsi %range : tensor<512xi32> to tensor<512xi64>
  %starts = tt.splat %start : i64 -> tensor<512xi64>
  %far = arith.addi %starts, %range64 : tensor<512xi64>
  %i = arith.addi %far, %back : tensor<512xi64>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %pi = tt.addptr %ps, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi64>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %range, %ns : tensor<512xi32>
  tt.store %pi, %v, %m : tensor<512x!tt.ptr<f32>>
  tt.return
}

tt.func public @narrow(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %start: i32, %n: i32) {
  %v = arith.constant dense<1.0> : tensor<512xf32>
  %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %starts = tt.splat %start : i32 -> tensor<512xi32>
  %i = arith.addi %starts, %range : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %pi = tt.addptr %ps, %i : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %range, %ns : tensor<512xi32>
  tt.store %pi, %v, %m : tensor<512x!tt.ptr<f32>>
  tt.return
}
