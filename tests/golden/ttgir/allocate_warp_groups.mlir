// ttg.warp_specialize: warps and registers of partitions (larger ones first; registers are set for four warps at a
// time), disjoint shared memory for regions that run at the same time, barriers for a partition's warps only, and the
// block's thread count.
// RUN: tessera opt %s -tritongpu-allocate-warp-groups --target sm_90a | FileCheck %s --check-prefix=GROUPS
// RUN: tessera opt %s -tritongpu-allocate-warp-groups --target sm_80 | FileCheck %s --check-prefix=SM80
// RUN: tessera opt %s -allocate-shared-memory --target sm_90a | FileCheck %s --check-prefix=MEMORY
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_90a | FileCheck %s --check-prefix=BARRIERS
// RUN: tessera compile %s --target sm_90a --emit ptx | FileCheck %s --check-prefix=PTX
// RUN: tessera compile %s --target sm_90a --emit ptx -o /dev/null --metadata - | FileCheck %s --check-prefix=METADATA

// GROUPS: module attributes {ttg.maxnreg = 168 : i32, {{.*}}"ttg.total-num-warps" = 12
// GROUPS: ttg.warp_specialize({{.*}}) attributes {actualRegisters = array<i32: 248, 40, 80, 40>, requestedRegisters = array<i32: 24, 80, 40>, warpGroupStartIds = array<i32: 10, 4, 8>}
// SM80: module attributes {{.*}}"ttg.total-num-warps" = 11
// SM80: ttg.warp_specialize
// SM80-NOT: actualRegisters
// SM80-SAME: warpGroupStartIds = array<i32: 10, 4, 8>

// What is handed over lies apart from all; the sums of the regions from each other, and within the partition of four warps one
// takes the place of the buffer before it. (In a loop: tests/golden/nvidia/warp_specialize_in_loop.mlir.)
// MEMORY: ttg.shared = 560
// MEMORY-NOT: tt.func {{.*}}allocation.offset
// MEMORY: ttg.warp_specialize{{.*}}allocation.offset = 512
// MEMORY: default
// MEMORY: }) {allocation.offset = 528 : i32}
// MEMORY: partition1
// MEMORY: ttg.local_alloc {allocation.offset = 0 : i32}
// MEMORY: }) {allocation.offset = 0 : i32}
// MEMORY: partition2
// MEMORY: }) {allocation.offset = 544 : i32}

// A barrier between what a partition stores and what it loads, and none because of the other's buffer.
// BARRIERS: default
// BARRIERS-NOT: gpu.barrier
// BARRIERS: partition1
// BARRIERS: ttg.local_store
// BARRIERS-NEXT: gpu.barrier
// BARRIERS-NEXT: ttg.local_load
// BARRIERS: partition2

// PTX: .reqntid 384
// PTX: .maxnreg 168
// PTX: barrier.sync 1, 384
// PTX: setmaxnreg
// PTX-DAG: bar.sync 0, 128
// PTX-DAG: bar.sync 3, 128
// PTX-DAG: bar.sync 4, 64

// METADATA: "num_warps": 4
// METADATA: "threads_per_block": 384
#d = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#two = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%o: !tt.ptr<i32>, %n: i32) {
    %pid = tt.get_program_id x : i32
    %v = arith.addi %n, %pid : i32
    ttg.warp_specialize(%o, %v) attributes {requestedRegisters = array<i32: 24, 80, 40>}
    default {
      %x = tt.splat %v : i32 -> tensor<128xi32, #d>
      %s = "tt.reduce"(%x) ({
      ^bb0(%a: i32, %b: i32):
        %c = arith.addi %a, %b : i32
        tt.reduce.return %c : i32
      }) {axis = 0 : i32} : (tensor<128xi32, #d>) -> i32
      tt.store %o, %s : !tt.ptr<i32>
      ttg.warp_yield
    }
    partition0(%p0: !tt.ptr<i32>, %p1: i32) num_warps(1) {
      %one = arith.constant 1 : i32
      %at = tt.addptr %p0, %one : !tt.ptr<i32>, i32
      tt.store %at, %p1 : !tt.ptr<i32>
      ttg.warp_return
    }
    partition1(%p0: !tt.ptr<i32>, %p1: i32) num_warps(4) {
      %two = arith.constant 2 : i32
      %at = tt.addptr %p0, %two : !tt.ptr<i32>, i32
      %x = tt.splat %p1 : i32 -> tensor<128xi32, #d>
      %b = ttg.local_alloc : () -> !ttg.memdesc<128xi32, #plain, #smem, mutable>
      ttg.local_store %x, %b : tensor<128xi32, #d> -> !ttg.memdesc<128xi32, #plain, #smem, mutable>
      %y = ttg.local_load %b : !ttg.memdesc<128xi32, #plain, #smem, mutable> -> tensor<128xi32, #d>
      %s = "tt.reduce"(%y) ({
      ^bb0(%l: i32, %r: i32):
        %c = arith.addi %l, %r : i32
        tt.reduce.return %c : i32
      }) {axis = 0 : i32} : (tensor<128xi32, #d>) -> i32
      tt.store %at, %s : !tt.ptr<i32>
      ttg.warp_return
    }
    partition2(%p0: !tt.ptr<i32>, %p1: i32) num_warps(2) {
      %three = arith.constant 3 : i32
      %at = tt.addptr %p0, %three : !tt.ptr<i32>, i32
      %x = tt.splat %p1 : i32 -> tensor<64xi32, #two>
      %s = "tt.reduce"(%x) ({
      ^bb0(%l: i32, %r: i32):
        %c = arith.addi %l, %r : i32
        tt.reduce.return %c : i32
      }) {axis = 0 : i32} : (tensor<64xi32, #two>) -> i32
      tt.store %at, %s : !tt.ptr<i32>
      ttg.warp_return
    } : (!tt.ptr<i32>, i32) -> ()
    tt.return
  }
}
