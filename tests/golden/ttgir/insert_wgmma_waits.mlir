// insert-wgmma-waits: an asynchronous wgmma's accumulator is waited for before any other use. An accumulator that a
// select resets to zero in the loop becomes a loop-carried flag, used as scale-d.
// RUN: tessera opt %s -insert-wgmma-waits --target sm_90a --verify-each | FileCheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @restarts
  // CHECK: %[[FALSE:.*]] = arith.constant false
  // CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[GOES:.*]] = %[[FALSE]])
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[ACC]], %[[GOES]] {{.*}}isAsync = true
  // CHECK: %[[W:.*]]:3 = ttng.warp_group_dot_wait %[[D]]
  // CHECK: %[[NOT:.*]] = arith.xori %{{.*}}, %
  // CHECK: scf.yield %[[W]]#0, %[[NOT]]
  tt.func @restarts(%a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32, %per: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zeros) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %w:3 = ttng.warp_group_dot_wait %d, %a, %b {pendings = 1 : i32} : tensor<64x64xf32, #mma>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      %rem = arith.remsi %i, %per : i32
      %last = arith.cmpi eq, %rem, %c0 : i32
      %next = arith.select %last, %zeros, %w#0 : tensor<64x64xf32, #mma>
      scf.yield %next : tensor<64x64xf32, #mma>
    }
    %done = ttng.warp_group_dot_wait %r {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return
  }

  // The accumulator is used while the dot is in flight. A wait that is followed by another dot waits for the one before it.
  // CHECK-LABEL: @used
  // CHECK: %[[D:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[E:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]]:2 = ttng.warp_group_dot_wait %[[D]], %[[E]] {pendings = 1 : i32}
  // CHECK-NEXT: arith.addf %[[W]]#0, %[[W]]#0
  // CHECK-NEXT: %[[S:.*]] = ttng.warp_group_dot_wait %[[W]]#1 {pendings = 0 : i32}
  // CHECK-NEXT: arith.addf %[[S]], %[[S]]
  // CHECK-NEXT: tt.return %{{.*}}, %{{.*}}
  tt.func @used(%a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = ttng.warp_group_dot %a, %b, %zeros {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %e = ttng.warp_group_dot %a, %b, %zeros {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    %w:2 = ttng.warp_group_dot_wait %d, %e {pendings = 1 : i32} : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    %x = arith.addf %w#0, %w#0 : tensor<64x64xf32, #mma>
    %y = arith.addf %w#1, %w#1 : tensor<64x64xf32, #mma>
    tt.return %x, %y : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // A dot reads its left operand from registers until it is over, which must be before the iteration ends. The dot
  // after it reads shared memory, and stays in flight.
  // CHECK-LABEL: @registers
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot %{{.*}} : tensor<64x64xf16
  // CHECK-NEXT: ttng.warp_group_dot
  // CHECK-NEXT: ttng.warp_group_dot_wait {pendings = 1 : i32}
  // CHECK-NEXT: scf.yield
  // CHECK-LABEL: @waited
  // CHECK: ttng.warp_group_dot %{{.*}} : tensor<64x64xf16
  // CHECK-NEXT: ttng.warp_group_dot_wait %
  // CHECK-NEXT: scf.yield
  tt.func @registers(%x: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %a: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zeros, %v = %zeros) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %x, %b, %u {inputPrecision = 0 : i32, isAsync = true} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %e = ttng.warp_group_dot %a, %b, %v {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      scf.yield %d, %e : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
    }
    tt.return %r#0, %r#1 : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }
  tt.func @waited(%x: tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %n: i32) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zeros) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %x, %b, %u {inputPrecision = 0 : i32, isAsync = true} : tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      scf.yield %w : tensor<64x64xf32, #mma>
    }
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
