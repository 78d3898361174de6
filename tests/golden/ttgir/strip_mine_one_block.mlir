// Of 32 warps, two blocks leave a thread 32 registers. Strips whose tensors alone take them gain no block, and have fewer
// loads in flight: the block stays whole if what it loads and stores fits, and is cut if it does not.
// RUN: tessera opt %s -strip-mine --target sm_90a | FileCheck %s
#line = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [32], warpsPerCTA = [32], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 32 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: @probabilities
  // CHECK-NOT: scf.for
  // CHECK: tt.store {{.*}} : tensor<32768x!tt.ptr<bf16>
  tt.func public @probabilities(%x: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %label: i32) {
    %zero = arith.constant dense<0.0> : tensor<32768xf32, #line>
    %one = arith.constant dense<1.0> : tensor<32768xf32, #line>
    %r = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #line>
    %px = tt.splat %x : !tt.ptr<bf16> -> tensor<32768x!tt.ptr<bf16>, #line>
    %ax = tt.addptr %px, %r : tensor<32768x!tt.ptr<bf16>, #line>, tensor<32768xi32, #line>
    %v = tt.load %ax : tensor<32768x!tt.ptr<bf16>, #line>
    %w = arith.extf %v : tensor<32768xbf16, #line> to tensor<32768xf32, #line>
    %p = math.exp %w : tensor<32768xf32, #line>
    %l = tt.splat %label : i32 -> tensor<32768xi32, #line>
    %is = arith.cmpi eq, %r, %l : tensor<32768xi32, #line>
    %a = arith.subf %one, %p : tensor<32768xf32, #line>
    %b = arith.subf %zero, %p : tensor<32768xf32, #line>
    %s = arith.select %is, %a, %b : tensor<32768xi1, #line>, tensor<32768xf32, #line>
    %t = arith.truncf %s : tensor<32768xf32, #line> to tensor<32768xbf16, #line>
    %py = tt.splat %y : !tt.ptr<bf16> -> tensor<32768x!tt.ptr<bf16>, #line>
    %ay = tt.addptr %py, %r : tensor<32768x!tt.ptr<bf16>, #line>, tensor<32768xi32, #line>
    tt.store %ay, %t : tensor<32768x!tt.ptr<bf16>, #line>
    tt.return
  }
  // CHECK-LABEL: @sums
  // CHECK: scf.for
  // CHECK: tt.store {{.*}} : tensor<16384x!tt.ptr<f32>
  tt.func public @sums(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %z: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 32768 : i32, start = 0 : i32} : tensor<32768xi32, #line>
    %px = tt.splat %x : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #line>
    %ax = tt.addptr %px, %r : tensor<32768x!tt.ptr<f32>, #line>, tensor<32768xi32, #line>
    %v = tt.load %ax : tensor<32768x!tt.ptr<f32>, #line>
    %pz = tt.splat %z : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #line>
    %az = tt.addptr %pz, %r : tensor<32768x!tt.ptr<f32>, #line>, tensor<32768xi32, #line>
    %w = tt.load %az : tensor<32768x!tt.ptr<f32>, #line>
    %s = arith.addf %v, %w : tensor<32768xf32, #line>
    %py = tt.splat %y : !tt.ptr<f32> -> tensor<32768x!tt.ptr<f32>, #line>
    %ay = tt.addptr %py, %r : tensor<32768x!tt.ptr<f32>, #line>, tensor<32768xi32, #line>
    tt.store %ay, %s : tensor<32768x!tt.ptr<f32>, #line>
    tt.return
  }
}
