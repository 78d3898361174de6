// Addresses that loops compute anew become pointers that advance, beside warp group dots.
// RUN: tessera compile %s --kernel rows --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=ROWS
// RUN: tessera compile %s --kernel rows --target sm_80 --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=SM80
// RUN: tessera compile %s --kernel strided --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=STRIDED
// RUN: tessera compile %s --kernel squares --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=STAYS
// RUN: tessera compile %s --kernel wrapped --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=STAYS
// The first pointers are those of the first iteration; each one adds 64 elements.
// ROWS-LABEL: @rows
// ROWS-DAG: %[[STEP:.*]] = arith.constant dense<64> : tensor<64x64xi32
// ROWS: scf.for {{.*}} -> (tensor<64x64xf32, #mma>, tensor<64x64x!tt.ptr<f16>
// ROWS-NOT: arith.muli
// ROWS: tt.addptr %{{.*}}, %[[STEP]]
// ROWS: ttg.async_copy_global_to_local
// ROWS: scf.yield
// ROWS: tt.store
// SM80-LABEL: @rows
// SM80: scf.for
// SM80: arith.muli
// SM80: tt.addptr
tt.func public @rows(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %acc = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %at = arith.muli %i, %c64 : i32
    %ats = tt.splat %at : i32 -> tensor<64xi32>
    %along = arith.addi %ats, %range : tensor<64xi32>
    %column = tt.expand_dims %along {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
    %p = tt.addptr %base, %offsets : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %out, %downs : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %acc : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// Rows that a stride of 64 bits takes to the next ones: 64 · stride elements, from the bound on.
// STRIDED-LABEL: @strided
// STRIDED: %[[CHANGE:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// STRIDED: %[[STEP:.*]] = tt.splat %[[CHANGE]] : i64 -> tensor<64x64xi64
// STRIDED: scf.for
// STRIDED: tt.addptr %{{.*}}, %[[STEP]]
// STRIDED: tt.store
tt.func public @strided(%b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %from: i32, %k: i32, %ld: i64 {tt.divisibility = 16 : i32}) {
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %lds = tt.splat %ld : i64 -> tensor<64x1xi64>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %base = tt.splat %b : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %first = tt.addptr %base, %rights : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  %acc = scf.for %i = %from to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %is = tt.splat %i : i32 -> tensor<64xi32>
    %down = arith.addi %is, %range : tensor<64xi32>
    %row = tt.expand_dims %down {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %wide = arith.extsi %row : tensor<64x1xi32> to tensor<64x1xi64>
    %scaled = arith.muli %lds, %wide : tensor<64x1xi64>
    %downs = tt.broadcast %scaled : tensor<64x1xi64> -> tensor<64x64xi64>
    %p = tt.addptr %first, %downs : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi64>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %t, %x, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %out, %rights : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %acc : tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// The change differs from iteration to iteration, or a remainder does not change evenly: addresses stay.
// STAYS-LABEL: @{{squares|wrapped}}
// STAYS: scf.for %{{.*}} iter_args(%{{[^,]*}}, %{{[^,]*}} = %c0_i32, %{{[^,]*}} = %c2_i32) ->
// STAYS: tt.splat
// STAYS: tt.addptr
// STAYS: ttg.async_copy_global_to_local
tt.func public @squares(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %acc = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %square = arith.muli %i, %i : i32
    %at = arith.muli %square, %c64 : i32
    %ats = tt.splat %at : i32 -> tensor<64x64xi32>
    %offset = arith.addi %offsets, %ats : tensor<64x64xi32>
    %p = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %out, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %acc : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
tt.func public @wrapped(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %turns: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %acc = scf.for %i = %c0 to %k step %c1 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
    %turn = arith.remsi %i, %turns : i32
    %at = arith.muli %turn, %c64 : i32
    %ats = tt.splat %at : i32 -> tensor<64x64xi32>
    %offset = arith.addi %offsets, %ats : tensor<64x64xi32>
    %p = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
    %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %out = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  %to = tt.addptr %out, %offsets : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
  tt.store %to, %acc : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
