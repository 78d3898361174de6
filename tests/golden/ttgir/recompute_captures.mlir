// Partitions compute captured scalars again where that takes a few operations (part of tritongpu-allocate-warp-groups).
// RUN: tessera opt %s --target sm_90a -tritongpu-allocate-warp-groups | FileCheck %s

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Operations that two values share are repeated once; buffers, constants and arguments remain captured.
  // CHECK-LABEL: @few_operations
  // CHECK: ttg.warp_specialize(%[[M:.*]], %arg0)
  // CHECK: partition0(%[[B:.*]]: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %[[N:.*]]: i32) num_warps(1)
  // CHECK-NEXT: %[[P:.*]] = tt.get_program_id x
  // CHECK-NEXT: %[[Q:.*]] = arith.muli %[[P]], %[[N]]
  // CHECK-NEXT: %[[R:.*]] = arith.addi %[[Q]], %[[P]]
  // CHECK-NEXT: %[[C:.*]] = arith.cmpi slt, %[[R]], %[[N]]
  // CHECK-NEXT: ttng.wait_barrier %[[B]], %[[Q]], %[[C]]
  tt.func public @few_operations(%n: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s, #smem, mutable>
    %p = tt.get_program_id x : i32
    %q = arith.muli %p, %n : i32
    %r = arith.addi %q, %p : i32
    ttg.warp_specialize(%m, %q, %n, %r) attributes {partitionNumWarps = array<i32: 1>}
    default {
      ttg.warp_yield
    }
    partition0(%b: !ttg.memdesc<1xi64, #s, #smem, mutable>, %x: i32, %y: i32, %z: i32) num_warps(1) {
      %c = arith.cmpi slt, %z, %y : i32
      ttng.wait_barrier %b, %x, %c : !ttg.memdesc<1xi64, #s, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #s, #smem, mutable>, i32, i32, i32) -> ()
    tt.return
  }

  // An argument that nothing captured before.
  // CHECK-LABEL: @argument
  // CHECK: ttg.warp_specialize(%{{.*}}, %arg0)
  // CHECK: partition0(%{{.*}}: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %[[N:.*]]: i32) num_warps(1)
  // CHECK-NEXT: %[[C:.*]] = arith.constant 3
  // CHECK-NEXT: %[[Q:.*]] = arith.muli %[[N]], %[[C]]
  // CHECK-NEXT: ttng.wait_barrier %{{.*}}, %[[Q]]
  tt.func public @argument(%n: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s, #smem, mutable>
    %c3 = arith.constant 3 : i32
    %q = arith.muli %n, %c3 : i32
    ttg.warp_specialize(%m, %q) attributes {partitionNumWarps = array<i32: 1>}
    default {
      ttg.warp_yield
    }
    partition0(%b: !ttg.memdesc<1xi64, #s, #smem, mutable>, %x: i32) num_warps(1) {
      ttng.wait_barrier %b, %x : !ttg.memdesc<1xi64, #s, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #s, #smem, mutable>, i32) -> ()
    tt.return
  }

  // What is loaded, or what a loop gives, is handed over.
  // CHECK-LABEL: @handed_over
  // CHECK: %[[LOADED:.*]] = tt.load
  // CHECK: %[[LOOP:.*]] = scf.for
  // CHECK: ttg.warp_specialize(%{{.*}}, %[[LOADED]], %[[LOOP]])
  tt.func public @handed_over(%n: i32, %a: !tt.ptr<i32>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #s, #smem, mutable>
    %p = tt.load %a : !tt.ptr<i32>
    %r = scf.for %i = %n to %p step %n iter_args(%x = %n) -> (i32) : i32 {
      %y = arith.muli %x, %i : i32
      scf.yield %y : i32
    }
    ttg.warp_specialize(%m, %p, %r) attributes {partitionNumWarps = array<i32: 1>}
    default {
      ttg.warp_yield
    }
    partition0(%b: !ttg.memdesc<1xi64, #s, #smem, mutable>, %x: i32, %y: i32) num_warps(1) {
      %c = arith.cmpi slt, %x, %y : i32
      ttng.wait_barrier %b, %x, %c : !ttg.memdesc<1xi64, #s, #smem, mutable>
      ttg.warp_return
    } : (!ttg.memdesc<1xi64, #s, #smem, mutable>, i32, i32) -> ()
    tt.return
  }
}
