// Where several threads hold copies of an index, one of them acts on the buffer and gives the others the old value:
// sixteen additions to four counters see 0, 1, 2 and 3 each, and every thread knows the sum.
// RUN: mkdir -p %t && sed 's/TARGET/hip:gfx942/; s/LANES/64/' %s > %t/amd.ttgir && sed 's/TARGET/cuda:90/; s/LANES/32/' %s > %t/nvidia.ttgir && \
// RUN:   echo '{"kernel": "count", "ttir": "amd.ttgir", "grid": [1], "args": []}' > %t/amd.json && \
// RUN:   echo '{"kernel": "count", "ttir": "nvidia.ttgir", "grid": [1], "args": []}' > %t/nvidia.json
// RUN: tessera run %t/amd.json --device emulator:gfx942 | sort | uniq -c | FileCheck %s --check-prefix=AMD
// RUN: tessera run %t/nvidia.json --device emulator:sm_90a | sort | uniq -c | FileCheck %s --check-prefix=NVIDIA
// RUN: tessera run %t/nvidia.json --device interpreter | FileCheck %s

// AMD: 128 pid (0, 0, 0) idx () sum: 24
// NVIDIA: 64 pid (0, 0, 0) idx () sum: 24
// CHECK: pid (0, 0, 0) idx () sum: 24
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [LANES], warpsPerCTA = [2], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "TARGET", "ttg.threads-per-warp" = LANES : i32} {
  tt.func public @count() {
    %zeros = arith.constant dense<0> : tensor<4xi32, #line>
    %ones = arith.constant dense<1> : tensor<16xi32, #line>
    %four = arith.constant dense<4> : tensor<16xi32, #line>
    %counters = ttg.local_alloc %zeros : (tensor<4xi32, #line>) -> !ttg.memdesc<4xi32, #shared, #smem, mutable>
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #line>
    %k = arith.remsi %i, %four : tensor<16xi32, #line>
    %old = ttg.local_atomic_scatter_rmw add, %counters[%k], %ones {axis = 0 : i32} : (!ttg.memdesc<4xi32, #shared, #smem, mutable>, tensor<16xi32, #line>, tensor<16xi32, #line>) -> tensor<16xi32, #line>
    %sum = "tt.reduce"(%old) <{axis = 0 : i32}> ({
    ^bb0(%x: i32, %y: i32):
      %s = arith.addi %x, %y : i32
      tt.reduce.return %s : i32
    }) : (tensor<16xi32, #line>) -> i32
    tt.print " sum: " {hex = false, isSigned = array<i32: 1>} : %sum : i32
    tt.return
  }
}
