// issue-loads-early: a load moves up to the previous load, with the computation of its address; not across a store,
// and not if its address depends on that load.
// RUN: tessera opt %s -issue-loads-early | FileCheck %s
// RUN: tessera opt %s -issue-loads-early --target gfx942 | FileCheck %s --check-prefix=AMD
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @two_loads
  // CHECK: tt.load
  // CHECK-NEXT: tt.addptr
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: arith.addf
  tt.func public @two_loads(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: tensor<128x!tt.ptr<f32>, #blocked>, %i: tensor<128xi32, #blocked>) {
    %a = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked>
    %x = arith.mulf %a, %a : tensor<128xf32, #blocked>
    %r = tt.addptr %q, %i : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %b = tt.load %r : tensor<128x!tt.ptr<f32>, #blocked>
    %y = arith.addf %x, %b : tensor<128xf32, #blocked>
    tt.store %p, %y : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @store_between
  // CHECK: tt.load
  // CHECK-NEXT: arith.mulf
  // CHECK-NEXT: tt.store
  // CHECK-NEXT: tt.load
  tt.func public @store_between(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: tensor<128x!tt.ptr<f32>, #blocked>) {
    %a = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked>
    %x = arith.mulf %a, %a : tensor<128xf32, #blocked>
    tt.store %q, %x : tensor<128x!tt.ptr<f32>, #blocked>
    %b = tt.load %q : tensor<128x!tt.ptr<f32>, #blocked>
    tt.store %p, %b : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
  // CHECK-LABEL: @address_from_load
  // CHECK: tt.load
  // CHECK-NEXT: arith.addi
  // CHECK-NEXT: tt.addptr
  // CHECK-NEXT: tt.load
  tt.func public @address_from_load(%p: tensor<128x!tt.ptr<i32>, #blocked>, %q: tensor<128x!tt.ptr<f32>, #blocked>) {
    %a = tt.load %p : tensor<128x!tt.ptr<i32>, #blocked>
    %i = arith.addi %a, %a : tensor<128xi32, #blocked>
    %r = tt.addptr %q, %i : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    %b = tt.load %r : tensor<128x!tt.ptr<f32>, #blocked>
    tt.store %q, %b : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // Over a buffer in shared memory, if both fit into three quarters of a thread's registers: 64 and 64 of 255, but not
  // 128 and 128.
  // CHECK-LABEL: @buffer_between
  // CHECK: tt.load
  // CHECK-NEXT: tt.load
  // CHECK-NEXT: ttg.local_alloc
  tt.func public @buffer_between(%p: tensor<8192x!tt.ptr<f32>, #blocked>, %q: tensor<8192x!tt.ptr<f32>, #blocked>) {
    %a = tt.load %p : tensor<8192x!tt.ptr<f32>, #blocked>
    %m = ttg.local_alloc %a : (tensor<8192xf32, #blocked>) -> !ttg.memdesc<8192xf32, #shared, #smem>
    %b = tt.load %q : tensor<8192x!tt.ptr<f32>, #blocked>
    %n = ttg.local_alloc %b : (tensor<8192xf32, #blocked>) -> !ttg.memdesc<8192xf32, #shared, #smem>
    tt.return
  }
  // CHECK-LABEL: @too_many_registers
  // CHECK: tt.load
  // CHECK-NEXT: ttg.local_alloc
  // CHECK-NEXT: tt.load
  tt.func public @too_many_registers(%p: tensor<16384x!tt.ptr<f32>, #blocked>, %q: tensor<16384x!tt.ptr<f32>, #blocked>) {
    %a = tt.load %p : tensor<16384x!tt.ptr<f32>, #blocked>
    %m = ttg.local_alloc %a : (tensor<16384xf32, #blocked>) -> !ttg.memdesc<16384xf32, #shared, #smem>
    %b = tt.load %q : tensor<16384x!tt.ptr<f32>, #blocked>
    %n = ttg.local_alloc %b : (tensor<16384xf32, #blocked>) -> !ttg.memdesc<16384xf32, #shared, #smem>
    tt.return
  }

  // A narrow masked load moves past a reduction on AMD only, and never past a store; a wide one stays.
  // CHECK-LABEL: @reduction_between
  // CHECK: tt.load
  // CHECK-NEXT: "tt.reduce"
  // CHECK: tt.load
  // AMD-LABEL: @reduction_between
  // AMD: tt.load
  // AMD-NEXT: tt.load
  // AMD-NEXT: "tt.reduce"
  // AMD: tt.store
  // AMD-NEXT: tt.load
  // AMD-LABEL: @wide_after_reduction
  // AMD: tt.load
  // AMD-NEXT: "tt.reduce"
  tt.func public @reduction_between(%p: tensor<128x!tt.ptr<f32>, #blocked>, %q: tensor<128x!tt.ptr<f32>, #blocked>, %o: !tt.ptr<f32>, %m: tensor<128xi1, #blocked>) {
    %a = tt.load %p : tensor<128x!tt.ptr<f32>, #blocked>
    %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<128xf32, #blocked>) -> f32
    %b = tt.load %q, %m : tensor<128x!tt.ptr<f32>, #blocked>
    tt.store %o, %s : !tt.ptr<f32>
    %c = tt.load %q : tensor<128x!tt.ptr<f32>, #blocked>
    %d = arith.addf %b, %c : tensor<128xf32, #blocked>
    tt.store %p, %d : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }
  tt.func public @wide_after_reduction(%p: tensor<512x!tt.ptr<f32>, #blocked>, %q: tensor<512x!tt.ptr<f32>, #blocked>, %o: !tt.ptr<f32>, %m: tensor<512xi1, #blocked>) {
    %a = tt.load %p : tensor<512x!tt.ptr<f32>, #blocked>
    %s = "tt.reduce"(%a) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<512xf32, #blocked>) -> f32
    %b = tt.load %q, %m : tensor<512x!tt.ptr<f32>, #blocked>
    tt.store %o, %s : !tt.ptr<f32>
    tt.store %p, %b : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }
}
