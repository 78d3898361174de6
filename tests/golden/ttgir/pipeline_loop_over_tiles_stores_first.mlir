// In a loop over tiles the next tile's first copies stay after the stores of this one wherever they might read what is
// stored, or what another block has not written yet.
// RUN: tessera compile %s --kernel in_place --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=STAYS
// RUN: tessera compile %s --kernel counted --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=STAYS
// RUN: tessera compile %s --kernel indirect --target sm_90a --num-warps 4 --num-stages 3 --emit ttgir | FileCheck %s --check-prefix=STAYS

// The next tile may read what this one stores: the first copies stay after the stores.
// STAYS-LABEL: @{{in_place|counted|indirect}}
// STAYS-NOT: ttg.async_commit_group
// STAYS: scf.for
// STAYS-COUNT-2: ttg.async_commit_group
// STAYS: scf.for
// STAYS: scf.yield
// STAYS-NOT: ttg.async_commit_group
// STAYS: tt.return
tt.func public @in_place(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %count: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %programs = arith.constant 132 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %start = tt.get_program_id x : i32
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  scf.for %tile = %start to %count step %programs : i32 {
    %m = arith.muli %tile, %c64 : i32
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
      %at = arith.addi %m, %i : i32
      %ats = tt.splat %at : i32 -> tensor<64x64xi32>
      %offset = arith.addi %offsets, %ats : tensor<64x64xi32>
      %p = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
      %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %v = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
    %ms = tt.splat %m : i32 -> tensor<64x64xi32>
    %offset = arith.addi %offsets, %ms : tensor<64x64xi32>
    %ptrs = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %ptrs, %v : tensor<64x64x!tt.ptr<f16>>
  }
  tt.return
}

// An atomic orders a tile's accesses with those of other blocks.
tt.func public @counted(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %count: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %true = arith.constant true
  %programs = arith.constant 132 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %start = tt.get_program_id x : i32
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %out = tt.splat %c : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  scf.for %tile = %start to %count step %programs : i32 {
    %m = arith.muli %tile, %c64 : i32
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
      %at = arith.addi %m, %i : i32
      %ats = tt.splat %at : i32 -> tensor<64x64xi32>
      %offset = arith.addi %offsets, %ats : tensor<64x64xi32>
      %p = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
      %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %v = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
    %ms = tt.splat %m : i32 -> tensor<64x64xi32>
    %offset = arith.addi %offsets, %ms : tensor<64x64xi32>
    %ptrs = tt.addptr %out, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %ptrs, %v : tensor<64x64x!tt.ptr<f16>>
    %old = tt.atomic_rmw add, acq_rel, gpu, %n, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
  }
  tt.return
}

// The next tile's position is read from memory.
tt.func public @indirect(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %count: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %programs = arith.constant 132 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %start = tt.get_program_id x : i32
  %range = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %row = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %range {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %stride = arith.constant dense<4096> : tensor<64x1xi32>
  %down = arith.muli %row, %stride : tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x64xi32>
  %rights = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %offsets = arith.addi %downs, %rights : tensor<64x64xi32>
  %base = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %out = tt.splat %c : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  scf.for %tile = %start to %count step %programs : i32 {
    %where = tt.addptr %n, %tile : !tt.ptr<i32>, i32
    %index = tt.load %where : !tt.ptr<i32>
    %m = arith.muli %index, %c64 : i32
    %acc = scf.for %i = %c0 to %k step %c64 iter_args(%s = %zero) -> (tensor<64x64xf32>)  : i32 {
      %at = arith.addi %m, %i : i32
      %ats = tt.splat %at : i32 -> tensor<64x64xi32>
      %offset = arith.addi %offsets, %ats : tensor<64x64xi32>
      %p = tt.addptr %base, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>>
      %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
      %d = tt.dot %x, %t, %s : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %v = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
    %ms = tt.splat %m : i32 -> tensor<64x64xi32>
    %offset = arith.addi %offsets, %ms : tensor<64x64xi32>
    %ptrs = tt.addptr %out, %offset : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    tt.store %ptrs, %v : tensor<64x64x!tt.ptr<f16>>
  }
  tt.return
}
