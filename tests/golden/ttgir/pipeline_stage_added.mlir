// tritongpu-pipeline: one stage relies on other blocks to compute while one waits. Where the registers leave room for two
// warps of a scheduler, a loop gets a second stage; where more fit, or the loop itself requests one, it does not.
// RUN: tessera compile %s --kernel few --target sm_90a --num-warps 8 --num-stages 1 --emit ttgir -o - --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: tessera compile %s --kernel several --target sm_90a --num-warps 8 --num-stages 1 --emit ttgir -o - --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: tessera compile %s --kernel requested --target sm_90a --num-warps 8 --num-stages 1 --emit ttgir -o - --remarks=LoopPipelined 2>&1 | FileCheck %s --check-prefix=REQUESTED
// FEW: 2 stages take 98304 bytes of shared memory{{.*}}; 1 stage was requested: registers leave too few warps to compute meanwhile
// FEW: ttg.async_copy_global_to_local
// SEVERAL: the loop is not pipelined: num-stages is 1
// SEVERAL-LABEL: @several
// SEVERAL-NOT: ttg.async_copy_global_to_local
// SEVERAL: tt.return
// REQUESTED: the loop is not pipelined: its tt.num_stages is 1
// REQUESTED-LABEL: @requested
// REQUESTED-NOT: ttg.async_copy_global_to_local
// REQUESTED: tt.return
tt.func public @few(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<256x128xf32>
  %stride = arith.constant dense<1024> : tensor<256x1xi32>
  %wide = arith.constant dense<128> : tensor<64x1xi32>
  %far = arith.constant dense<128> : tensor<256x1xi32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %s = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %t = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %k0 = tt.expand_dims %s {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k1 = tt.expand_dims %s {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %t {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %rows = arith.muli %row, %stride : tensor<256x1xi32>
  %rowsK = tt.broadcast %rows : tensor<256x1xi32> -> tensor<256x64xi32>
  %columns = tt.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<256x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %d = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<256x128xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<1x64xi32>
    %at = arith.addi %ks, %k0 : tensor<1x64xi32>
    %ats = tt.broadcast %at : tensor<1x64xi32> -> tensor<256x64xi32>
    %i = arith.addi %rowsK, %ats : tensor<256x64xi32>
    %p = tt.addptr %as, %i : tensor<256x64x!tt.ptr<f16>>, tensor<256x64xi32>
    %x = tt.load %p : tensor<256x64x!tt.ptr<f16>>
    %kt = tt.splat %k : i32 -> tensor<64x1xi32>
    %bt = arith.addi %kt, %k1 : tensor<64x1xi32>
    %bw = arith.muli %bt, %wide : tensor<64x1xi32>
    %bws = tt.broadcast %bw : tensor<64x1xi32> -> tensor<64x128xi32>
    %j = arith.addi %bws, %columns : tensor<64x128xi32>
    %q = tt.addptr %bs, %j : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %y = tt.load %q : tensor<64x128x!tt.ptr<f16>>
    %sum = tt.dot %x, %y, %acc : tensor<256x64xf16> * tensor<64x128xf16> -> tensor<256x128xf32>
    scf.yield %sum : tensor<256x128xf32>
  }
  %o = arith.muli %row, %far : tensor<256x1xi32>
  %os = tt.broadcast %o : tensor<256x1xi32> -> tensor<256x128xi32>
  %columnsM = tt.broadcast %column : tensor<1x128xi32> -> tensor<256x128xi32>
  %w = arith.addi %os, %columnsM : tensor<256x128xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<256x128x!tt.ptr<f32>>
  %z = tt.addptr %cs, %w : tensor<256x128x!tt.ptr<f32>>, tensor<256x128xi32>
  tt.store %z, %d : tensor<256x128x!tt.ptr<f32>>
  tt.return
}
tt.func public @several(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x128xf32>
  %stride = arith.constant dense<1024> : tensor<64x1xi32>
  %wide = arith.constant dense<128> : tensor<64x1xi32>
  %far = arith.constant dense<128> : tensor<64x1xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %s = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %t = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %k0 = tt.expand_dims %s {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k1 = tt.expand_dims %s {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %t {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %rows = arith.muli %row, %stride : tensor<64x1xi32>
  %rowsK = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %d = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<64x128xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<1x64xi32>
    %at = arith.addi %ks, %k0 : tensor<1x64xi32>
    %ats = tt.broadcast %at : tensor<1x64xi32> -> tensor<64x64xi32>
    %i = arith.addi %rowsK, %ats : tensor<64x64xi32>
    %p = tt.addptr %as, %i : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
    %kt = tt.splat %k : i32 -> tensor<64x1xi32>
    %bt = arith.addi %kt, %k1 : tensor<64x1xi32>
    %bw = arith.muli %bt, %wide : tensor<64x1xi32>
    %bws = tt.broadcast %bw : tensor<64x1xi32> -> tensor<64x128xi32>
    %j = arith.addi %bws, %columns : tensor<64x128xi32>
    %q = tt.addptr %bs, %j : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %y = tt.load %q : tensor<64x128x!tt.ptr<f16>>
    %sum = tt.dot %x, %y, %acc : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    scf.yield %sum : tensor<64x128xf32>
  }
  %o = arith.muli %row, %far : tensor<64x1xi32>
  %os = tt.broadcast %o : tensor<64x1xi32> -> tensor<64x128xi32>
  %columnsM = tt.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %w = arith.addi %os, %columnsM : tensor<64x128xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<64x128x!tt.ptr<f32>>
  %z = tt.addptr %cs, %w : tensor<64x128x!tt.ptr<f32>>, tensor<64x128xi32>
  tt.store %z, %d : tensor<64x128x!tt.ptr<f32>>
  tt.return
}
tt.func public @requested(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<256x128xf32>
  %stride = arith.constant dense<1024> : tensor<256x1xi32>
  %wide = arith.constant dense<128> : tensor<64x1xi32>
  %far = arith.constant dense<128> : tensor<256x1xi32>
  %r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %s = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %t = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<256xi32> -> tensor<256x1xi32>
  %k0 = tt.expand_dims %s {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k1 = tt.expand_dims %s {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %t {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %rows = arith.muli %row, %stride : tensor<256x1xi32>
  %rowsK = tt.broadcast %rows : tensor<256x1xi32> -> tensor<256x64xi32>
  %columns = tt.broadcast %column : tensor<1x128xi32> -> tensor<64x128xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<256x64x!tt.ptr<f16>>
  %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>>
  %d = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %zero) -> (tensor<256x128xf32>) : i32 {
    %ks = tt.splat %k : i32 -> tensor<1x64xi32>
    %at = arith.addi %ks, %k0 : tensor<1x64xi32>
    %ats = tt.broadcast %at : tensor<1x64xi32> -> tensor<256x64xi32>
    %i = arith.addi %rowsK, %ats : tensor<256x64xi32>
    %p = tt.addptr %as, %i : tensor<256x64x!tt.ptr<f16>>, tensor<256x64xi32>
    %x = tt.load %p : tensor<256x64x!tt.ptr<f16>>
    %kt = tt.splat %k : i32 -> tensor<64x1xi32>
    %bt = arith.addi %kt, %k1 : tensor<64x1xi32>
    %bw = arith.muli %bt, %wide : tensor<64x1xi32>
    %bws = tt.broadcast %bw : tensor<64x1xi32> -> tensor<64x128xi32>
    %j = arith.addi %bws, %columns : tensor<64x128xi32>
    %q = tt.addptr %bs, %j : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
    %y = tt.load %q : tensor<64x128x!tt.ptr<f16>>
    %sum = tt.dot %x, %y, %acc : tensor<256x64xf16> * tensor<64x128xf16> -> tensor<256x128xf32>
    scf.yield %sum : tensor<256x128xf32>
  } {tt.num_stages = 1 : i32}
  %o = arith.muli %row, %far : tensor<256x1xi32>
  %os = tt.broadcast %o : tensor<256x1xi32> -> tensor<256x128xi32>
  %columnsM = tt.broadcast %column : tensor<1x128xi32> -> tensor<256x128xi32>
  %w = arith.addi %os, %columnsM : tensor<256x128xi32>
  %cs = tt.splat %c : !tt.ptr<f32> -> tensor<256x128x!tt.ptr<f32>>
  %z = tt.addptr %cs, %w : tensor<256x128x!tt.ptr<f32>>, tensor<256x128xi32>
  tt.store %z, %d : tensor<256x128x!tt.ptr<f32>>
  tt.return
}
