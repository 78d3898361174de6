// Reductions across warps of layouts in which registers, lanes and warps change the same bits of a result's index: its
// place in shared memory is their sum modulo 2, bit by bit. (Taken as disjoint bits, results would lie in each other's
// places, or outside.) Two, four and eight warps along the axis; the last layout has no such bits.
// RUN: mkdir -p %t && \
// RUN:   sed 's|LAYOUT|register = [[0, 3]], lane = [[16, 0], [0, 1], [8, 0], [2, 0], [32, 0]], warp = [[1, 0], [4, 0]]|; s/WARPS/4/' %s > %t/four.ttgir && \
// RUN:   sed 's|LAYOUT|register = [[0, 3], [4, 0]], lane = [[16, 0], [0, 1], [8, 0], [2, 0], [32, 0]], warp = [[1, 0]]|; s/WARPS/2/' %s > %t/two.ttgir && \
// RUN:   sed 's|LAYOUT|register = [[0, 3]], lane = [[16, 0], [32, 0], [8, 0], [0, 0], [0, 1]], warp = [[1, 0], [4, 0], [2, 0]]|; s/WARPS/8/' %s > %t/eight.ttgir && \
// RUN:   sed 's|LAYOUT|register = [[0, 2]], lane = [[16, 0], [0, 1], [8, 0], [2, 0], [32, 0]], warp = [[1, 0], [4, 0]]|; s/WARPS/4/' %s > %t/apart.ttgir && \
// RUN:   for n in two four eight apart; do echo '{"kernel": "sums", "ttir": "'$n'.ttgir", "grid": [1], "args": []}' > %t/$n.json; done
// RUN: tessera run %t/two.json --device emulator:sm_90a | sort -u | FileCheck %s
// RUN: tessera run %t/four.json --device emulator:sm_90a | sort -u | FileCheck %s
// RUN: tessera run %t/eight.json --device emulator:sm_90a | sort -u | FileCheck %s
// RUN: tessera run %t/apart.json --device emulator:sm_90a | sort -u | FileCheck %s
// RUN: tessera run %t/four.json --device interpreter | sort -u | FileCheck %s

// CHECK: idx (0) sum: 2016
// CHECK-NEXT: idx (1) sum: 8416
// CHECK-NEXT: idx (2) sum: 14816
// CHECK-NEXT: idx (3) sum: 21216
// CHECK-NOT: idx
#l = #ttg.linear<{LAYOUT, block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = WARPS : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @sums() {
    %hundred = arith.constant dense<100> : tensor<1x4xi32, #l>
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #l}>>
    %c = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #l}>>
    %re = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #l}>> -> tensor<64x1xi32, #l>
    %ce = tt.expand_dims %c {axis = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 0, parent = #l}>> -> tensor<1x4xi32, #l>
    %cm = arith.muli %ce, %hundred : tensor<1x4xi32, #l>
    %rb = tt.broadcast %re : tensor<64x1xi32, #l> -> tensor<64x4xi32, #l>
    %cb = tt.broadcast %cm : tensor<1x4xi32, #l> -> tensor<64x4xi32, #l>
    %x = arith.addi %rb, %cb : tensor<64x4xi32, #l>
    %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %v = arith.addi %a, %b : i32
      tt.reduce.return %v : i32
    }) : (tensor<64x4xi32, #l>) -> tensor<4xi32, #ttg.slice<{dim = 0, parent = #l}>>
    tt.print " sum: " {hex = false, isSigned = array<i32: 1>} : %sum : tensor<4xi32, #ttg.slice<{dim = 0, parent = #l}>>
    tt.return
  }
}
