// wgmma: the buffer of a 16-bit operand that is computed from loads, also in branches and by unpacking, has the rows of
// the loads, whose layouts are chosen before those of the arithmetic on them.
// RUN: tessera opt %s -tritongpu-accelerate-matmul --target sm_90a | FileCheck %s

#row = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#column = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#packed = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#joined = #ttg.blocked<{sizePerThread = [4, 1, 2], threadsPerWarp = [8, 4, 1], warpsPerCTA = [1, 4, 1], order = [2, 0, 1]}>
#swapped = #ttg.blocked<{sizePerThread = [4, 2, 1], threadsPerWarp = [8, 1, 4], warpsPerCTA = [1, 1, 4], order = [1, 0, 2]}>
#unpacked = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#acc = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #acc}>
#b = #ttg.dot_op<{opIdx = 1, parent = #acc}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-DAG: #[[ROWS:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
  // CHECK-DAG: #[[COLUMNS:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>

  // Broadcast rows and constants do not count.
  // CHECK-LABEL: @of_columns
  // CHECK: ttg.local_alloc %{{.*}} : {{.*}} -> !ttg.memdesc<64x64xf16, #[[ROWS]], #smem>
  // CHECK: %[[CAST:.*]] = arith.truncf
  // CHECK: ttg.local_alloc %[[CAST]] : {{.*}} -> !ttg.memdesc<64x64xf16, #[[COLUMNS]], #smem>
  // CHECK: ttng.warp_group_dot
  tt.func @of_columns(%p: tensor<64x64x!tt.ptr<f16>, #row>, %q: tensor<64x64x!tt.ptr<f32>, #column>, %s: tensor<1x64xf32, #acc>) -> tensor<64x64xf32, #acc> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #row>
    %xa = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #a>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f32>, #column>
    %yc = ttg.convert_layout %y : tensor<64x64xf32, #column> -> tensor<64x64xf32, #acc>
    %scale = tt.broadcast %s : tensor<1x64xf32, #acc> -> tensor<64x64xf32, #acc>
    %scaled = arith.mulf %yc, %scale : tensor<64x64xf32, #acc>
    %cast = arith.truncf %scaled : tensor<64x64xf32, #acc> to tensor<64x64xf16, #acc>
    %yb = ttg.convert_layout %cast : tensor<64x64xf16, #acc> -> tensor<64x64xf16, #b>
    %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }

  // A load in one of two branches, zeros in the other one.
  // CHECK-LABEL: @of_branches
  // CHECK: %[[IF:.*]] = scf.if
  // CHECK: ttg.local_alloc %[[IF]] : {{.*}} -> !ttg.memdesc<64x64xf16, #[[COLUMNS]], #smem>
  // CHECK: ttng.warp_group_dot
  tt.func @of_branches(%p: tensor<64x64x!tt.ptr<f16>, #row>, %q: tensor<64x64x!tt.ptr<f16>, #column>, %some: i1) -> tensor<64x64xf32, #acc> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #row>
    %xa = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #a>
    %y = scf.if %some -> (tensor<64x64xf16, #acc>) {
      %l = tt.load %q : tensor<64x64x!tt.ptr<f16>, #column>
      %c = ttg.convert_layout %l : tensor<64x64xf16, #column> -> tensor<64x64xf16, #acc>
      scf.yield %c : tensor<64x64xf16, #acc>
    } else {
      %none = arith.constant dense<0.0> : tensor<64x64xf16, #acc>
      scf.yield %none : tensor<64x64xf16, #acc>
    }
    %yb = ttg.convert_layout %y : tensor<64x64xf16, #acc> -> tensor<64x64xf16, #b>
    %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }

  // Loads that disagree: the value's own layout.
  // CHECK-LABEL: @of_both
  // CHECK: %[[SUM:.*]] = arith.addf
  // CHECK: ttg.local_alloc %[[SUM]] : {{.*}} -> !ttg.memdesc<64x64xf16, #[[ROWS]], #smem>
  // CHECK: ttng.warp_group_dot
  tt.func @of_both(%p: tensor<64x64x!tt.ptr<f16>, #row>, %q: tensor<64x64x!tt.ptr<f16>, #column>) -> tensor<64x64xf32, #acc> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #row>
    %xa = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #a>
    %xc = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #acc>
    %y = tt.load %q : tensor<64x64x!tt.ptr<f16>, #column>
    %yc = ttg.convert_layout %y : tensor<64x64xf16, #column> -> tensor<64x64xf16, #acc>
    %sum = arith.addf %xc, %yc : tensor<64x64xf16, #acc>
    %yb = ttg.convert_layout %sum : tensor<64x64xf16, #acc> -> tensor<64x64xf16, #b>
    %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }

  // Weights of four bits, two in a byte along K, with a value of their own where a bit is set.
  // CHECK-LABEL: @of_unpacked
  // CHECK: %[[CHOSEN:.*]] = arith.select
  // CHECK: ttg.local_alloc %[[CHOSEN]] : {{.*}} -> !ttg.memdesc<64x64xf16, #[[COLUMNS]], #smem>
  // CHECK: ttng.warp_group_dot
  tt.func @of_unpacked(%p: tensor<64x64x!tt.ptr<f16>, #row>, %q: tensor<32x64x!tt.ptr<i8>, #packed>) -> tensor<64x64xf32, #acc> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #acc>
    %four = arith.constant dense<4> : tensor<32x64xi8, #packed>
    %eight = arith.constant dense<8> : tensor<64x64xi8, #acc>
    %one = arith.constant dense<1.0> : tensor<64x64xf16, #acc>
    %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #row>
    %xa = ttg.convert_layout %x : tensor<64x64xf16, #row> -> tensor<64x64xf16, #a>
    %y = tt.load %q : tensor<32x64x!tt.ptr<i8>, #packed>
    %high = arith.shrui %y, %four : tensor<32x64xi8, #packed>
    %j = tt.join %y, %high : tensor<32x64xi8, #packed> -> tensor<32x64x2xi8, #joined>
    %t = tt.trans %j {order = array<i32: 0, 2, 1>} : tensor<32x64x2xi8, #joined> -> tensor<32x2x64xi8, #swapped>
    %u = tt.reshape %t : tensor<32x2x64xi8, #swapped> -> tensor<64x64xi8, #unpacked>
    %ua = ttg.convert_layout %u : tensor<64x64xi8, #unpacked> -> tensor<64x64xi8, #acc>
    %value = arith.sitofp %ua : tensor<64x64xi8, #acc> to tensor<64x64xf16, #acc>
    %is_set = arith.cmpi sge, %ua, %eight : tensor<64x64xi8, #acc>
    %chosen = arith.select %is_set, %one, %value : tensor<64x64xi1, #acc>, tensor<64x64xf16, #acc>
    %yb = ttg.convert_layout %chosen : tensor<64x64xf16, #acc> -> tensor<64x64xf16, #b>
    %d = tt.dot %xa, %yb, %zero : tensor<64x64xf16, #a> * tensor<64x64xf16, #b> -> tensor<64x64xf32, #acc>
    tt.return %d : tensor<64x64xf32, #acc>
  }
}
