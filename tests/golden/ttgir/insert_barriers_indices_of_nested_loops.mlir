// Two indices into a multi-buffer that nested loops carry, two steps apart: what an iteration fills, the next one does not
// read. The distance is known from the outer loop's constants, through the indices that the inner loop ends with.
// RUN: tessera opt %s -allocate-shared-memory -insert-barriers --target sm_80 --verify-each | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // The program's own barrier at an iteration's end orders its write and the next read.
  // CHECK-LABEL: @apart
  // CHECK: scf.for
  // CHECK:   scf.for
  // CHECK:     ttg.local_load
  // CHECK-NOT: gpu.barrier
  // CHECK:     ttg.local_store
  // CHECK-NEXT: ttg.barrier local
  // CHECK-NOT: gpu.barrier
  // CHECK:     scf.yield
  tt.func public @apart(%p: tensor<128x!tt.ptr<f32>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32, #blocked>
    %b = ttg.local_alloc : () -> !ttg.memdesc<3x128xf32, #shared, #smem, mutable>
    %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%r = %c0, %f = %c2) -> (i32, i32) : i32 {
      %u:3 = scf.for %j = %c0 to %n step %c1 iter_args(%r1 = %r, %f1 = %f, %sum = %zero) -> (i32, i32, tensor<128xf32, #blocked>) : i32 {
        %from = ttg.memdesc_index %b[%r1] : !ttg.memdesc<3x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
        %v = ttg.local_load %from : !ttg.memdesc<128xf32, #shared, #smem, mutable> -> tensor<128xf32, #blocked>
        %to = ttg.memdesc_index %b[%f1] : !ttg.memdesc<3x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
        %s = arith.addf %sum, %v : tensor<128xf32, #blocked>
        ttg.local_store %s, %to : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
        ttg.barrier local
        %r2 = arith.addi %r1, %c1 : i32
        %rw = arith.cmpi sge, %r2, %c3 : i32
        %r3 = arith.select %rw, %c0, %r2 : i32
        %f2 = arith.addi %f1, %c1 : i32
        %fw = arith.cmpi sge, %f2, %c3 : i32
        %f3 = arith.select %fw, %c0, %f2 : i32
        scf.yield %r3, %f3, %s : i32, i32, tensor<128xf32, #blocked>
      }
      tt.store %p, %u#2 : tensor<128x!tt.ptr<f32>, #blocked>
      %g2 = arith.addi %u#0, %c1 : i32
      %gw = arith.cmpi sge, %g2, %c3 : i32
      %g3 = arith.select %gw, %c0, %g2 : i32
      %h2 = arith.addi %g3, %c1 : i32
      %hw = arith.cmpi sge, %h2, %c3 : i32
      %h3 = arith.select %hw, %c0, %h2 : i32
      scf.yield %u#0, %h3 : i32, i32
    }
    tt.return
  }
  // From the second tile on the two are the same index.
  // CHECK-LABEL: @same
  // CHECK: scf.for
  // CHECK:   scf.for
  // CHECK:     ttg.local_load
  // CHECK:     gpu.barrier
  // CHECK:     ttg.local_store
  tt.func public @same(%p: tensor<128x!tt.ptr<f32>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant dense<0.0> : tensor<128xf32, #blocked>
    %b = ttg.local_alloc : () -> !ttg.memdesc<3x128xf32, #shared, #smem, mutable>
    %t:2 = scf.for %i = %c0 to %n step %c1 iter_args(%r = %c0, %f = %c2) -> (i32, i32) : i32 {
      %u:3 = scf.for %j = %c0 to %n step %c1 iter_args(%r1 = %r, %f1 = %f, %sum = %zero) -> (i32, i32, tensor<128xf32, #blocked>) : i32 {
        %from = ttg.memdesc_index %b[%r1] : !ttg.memdesc<3x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
        %v = ttg.local_load %from : !ttg.memdesc<128xf32, #shared, #smem, mutable> -> tensor<128xf32, #blocked>
        %to = ttg.memdesc_index %b[%f1] : !ttg.memdesc<3x128xf32, #shared, #smem, mutable> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
        %s = arith.addf %sum, %v : tensor<128xf32, #blocked>
        ttg.local_store %s, %to : tensor<128xf32, #blocked> -> !ttg.memdesc<128xf32, #shared, #smem, mutable>
        ttg.barrier local
        %r2 = arith.addi %r1, %c1 : i32
        %rw = arith.cmpi sge, %r2, %c3 : i32
        %r3 = arith.select %rw, %c0, %r2 : i32
        %f2 = arith.addi %f1, %c1 : i32
        %fw = arith.cmpi sge, %f2, %c3 : i32
        %f3 = arith.select %fw, %c0, %f2 : i32
        scf.yield %r3, %f3, %s : i32, i32, tensor<128xf32, #blocked>
      }
      tt.store %p, %u#2 : tensor<128x!tt.ptr<f32>, #blocked>
      scf.yield %u#0, %u#0 : i32, i32
    }
    tt.return
  }
}
