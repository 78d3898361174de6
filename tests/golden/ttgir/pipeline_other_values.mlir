// tritongpu-pipeline on sm_80: loads with another value for masked-off elements than zero.
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_80 | FileCheck %s
// RUN: tessera opt %s -tritongpu-pipeline=num-stages=3 --target sm_80 --remarks=LoopPipelined 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Copies write zeros for masked-off elements, and nothing else. These loads are wide, so their number does not matter.
// The dot reads the buffer itself.
// CHECK-LABEL: @other_than_zero
// CHECK-NOT: async
// CHECK: scf.for
// CHECK: tt.load
// CHECK: ttg.local_store
// CHECK-NOT: async
// REMARK: remark: 2 of the loop's loads {{.*}}, through registers; {{.*}} has another value than 0 for masked-off elements

// Threads compute with the value: they select the other one, by the iteration's own mask, not by the one of the copy.
// CHECK-LABEL: @other_for_threads
// CHECK: scf.for [[I:%[^ ]+]] =
// CHECK: ttg.async_commit_group
// CHECK: [[LEFT:%.*]] = arith.subi %{{.*}}, [[I]] : i32
// CHECK: [[LIMIT:%.*]] = tt.splat [[LEFT]]
// CHECK: [[NOW:%.*]] = arith.cmpi slt, {{.*}}, [[LIMIT]] : tensor<64x32xi32
// CHECK: [[READ:%.*]] = ttg.local_load {{.*}} -> tensor<64x32xf16, #{{.*}}>
// CHECK: [[Y:%.*]] = arith.select [[NOW]], [[READ]], %{{.*}} : tensor<64x32xi1
// CHECK: arith.mulf [[Y]], [[Y]]
// REMARK: remark: 2 of the loop's loads {{.*}}, by asynchronous copies to shared memory

// A few elements that are converted (scales of rows): read as they were loaded, selected, and converted.
// CHECK-LABEL: @other_for_few
// CHECK: ttg.async_copy_global_to_local {{.*}} -> <32xf32
// CHECK: scf.for
// CHECK: [[READ:%.*]] = ttg.local_load {{.*}} -> tensor<32xf32, #[[LINE:[a-z0-9]+]]>
// CHECK: [[Y:%.*]] = arith.select %{{.*}}, [[READ]], %{{.*}} : tensor<32xi1, #[[LINE]]>
// CHECK: ttg.convert_layout [[Y]] : tensor<32xf32, #[[LINE]]>
// REMARK: remark: 2 of the loop's loads {{.*}}, by asynchronous copies to shared memory
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows16 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
#rows32 = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @other_than_zero(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x32x!tt.ptr<f16>, #rows32> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n: i32, %mask: tensor<64x32xi1, #rows32> {tt.constancy = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<64x32xf16, #rows32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (tensor<64x32xf32, #mma>) : i32 {
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.load %q, %mask, %one : tensor<64x32x!tt.ptr<f16>, #rows32>
      %ym = ttg.local_alloc %y : (tensor<64x32xf16, #rows32>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
  tt.func public @other_for_threads(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<64x32x!tt.ptr<f16>, #rows32> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 32]> : tensor<2xi32>}, %n: i32, %rows: tensor<64x32xi32, #rows32> {tt.constancy = dense<[1, 32]> : tensor<2xi32>}) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<64x32xf16, #rows32>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zeros) -> (tensor<64x32xf32, #mma>) : i32 {
      %left = arith.subi %n, %i : i32
      %limit = tt.splat %left : i32 -> tensor<64x32xi32, #rows32>
      %mask = arith.cmpi slt, %rows, %limit : tensor<64x32xi32, #rows32>
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %y = tt.load %q, %mask, %one : tensor<64x32x!tt.ptr<f16>, #rows32>
      %yy = arith.mulf %y, %y : tensor<64x32xf16, #rows32>
      %ym = ttg.local_alloc %yy : (tensor<64x32xf16, #rows32>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
  tt.func public @other_for_few(%p: tensor<64x64x!tt.ptr<f16>, #blocked> {tt.divisibility = dense<16> : tensor<2xi32>, tt.contiguity = dense<[1, 64]> : tensor<2xi32>}, %q: tensor<32x!tt.ptr<f32>, #line>, %in: tensor<32xi32, #line>, %w: tensor<64x32xf32, #rows32>, %n: i32) -> tensor<64x32xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %zeros = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %one = arith.constant dense<1.0> : tensor<32xf32, #line>
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zeros) -> (tensor<64x32xf32, #mma>) : i32 {
      %left = arith.subi %n, %i : i32
      %limit = tt.splat %left : i32 -> tensor<32xi32, #line>
      %mask = arith.cmpi slt, %in, %limit : tensor<32xi32, #line>
      %x = tt.load %p : tensor<64x64x!tt.ptr<f16>, #blocked>
      %xm = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %xa = ttg.local_load %xm : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #a>
      %y = tt.load %q, %mask, %one : tensor<32x!tt.ptr<f32>, #line>
      %ys = ttg.convert_layout %y : tensor<32xf32, #line> -> tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows32}>>
      %row = tt.expand_dims %ys {axis = 0 : i32} : tensor<32xf32, #ttg.slice<{dim = 0, parent = #rows32}>> -> tensor<1x32xf32, #rows32>
      %scale = tt.broadcast %row : tensor<1x32xf32, #rows32> -> tensor<64x32xf32, #rows32>
      %scaled = arith.mulf %w, %scale : tensor<64x32xf32, #rows32>
      %half = arith.truncf %scaled : tensor<64x32xf32, #rows32> to tensor<64x32xf16, #rows32>
      %ym = ttg.local_alloc %half : (tensor<64x32xf16, #rows32>) -> !ttg.memdesc<64x32xf16, #shared, #smem>
      %yb = ttg.local_load %ym : !ttg.memdesc<64x32xf16, #shared, #smem> -> tensor<64x32xf16, #b>
      %d = tt.dot %xa, %yb, %s : tensor<64x64xf16, #a> * tensor<64x32xf16, #b> -> tensor<64x32xf32, #mma>
      scf.yield %d : tensor<64x32xf32, #mma>
    }
    tt.return %r : tensor<64x32xf32, #mma>
  }
}
