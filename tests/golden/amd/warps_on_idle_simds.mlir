// A kernel whose two warps spill on a compute unit that shared memory leaves to one block: an object has four warps,
// which spill nothing. As requested where the number of warps is exact, where nothing spills (four), and in assembly.
// RUN: tessera compile %s --target gfx942 --num-warps 2 --num-stages 1 --emit hsaco -o /dev/null --metadata - --remarks=WarpsDoubled 2>&1 | FileCheck %s
// RUN: tessera compile %s --target gfx942 --num-warps 2 --num-stages 1 --exact-num-warps --emit hsaco -o /dev/null --metadata - --remarks=WarpsDoubled 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=2
// RUN: tessera compile %s --target gfx942 --num-warps 4 --num-stages 1 --emit hsaco -o /dev/null --metadata - --remarks=WarpsDoubled 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=4
// RUN: tessera compile %s --target gfx942 --num-warps 2 --num-stages 1 --emit amdgcn -o /dev/null --metadata - --remarks=WarpsDoubled 2>&1 | FileCheck %s --check-prefix=SAME -DWARPS=2
// CHECK-DAG: remark: 'wide' has 4 warps: with 2, a thread spills {{[1-9][0-9]*}} bytes of its registers, and 0 with these
// CHECK-DAG: "num_warps": 4
// SAME-NOT: remark
// SAME: "num_warps": [[WARPS]]
// SAME-NOT: remark
tt.func public @wide(%q: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<bf16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %zero = arith.constant dense<0.0> : tensor<64x512xf32>
  %step = arith.constant dense<32768> : tensor<64x512xi32>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %c = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %columns = tt.expand_dims %c {axis = 0 : i32} : tensor<512xi32> -> tensor<1x512xi32>
  %width = arith.constant dense<512> : tensor<64x1xi32>
  %starts = arith.muli %rows, %width : tensor<64x1xi32>
  %i = tt.broadcast %starts : tensor<64x1xi32> -> tensor<64x512xi32>
  %j = tt.broadcast %columns : tensor<1x512xi32> -> tensor<64x512xi32>
  %at = arith.addi %i, %j : tensor<64x512xi32>
  %qs = tt.splat %q : !tt.ptr<bf16> -> tensor<64x512x!tt.ptr<bf16>>
  %qp = tt.addptr %qs, %at : tensor<64x512x!tt.ptr<bf16>>, tensor<64x512xi32>
  %queries = tt.load %qp : tensor<64x512x!tt.ptr<bf16>>
  %ks = tt.splat %k : !tt.ptr<bf16> -> tensor<64x512x!tt.ptr<bf16>>
  %kp = tt.addptr %ks, %at : tensor<64x512x!tt.ptr<bf16>>, tensor<64x512xi32>
  %sum, %end = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero, %p = %kp) -> (tensor<64x512xf32>, tensor<64x512x!tt.ptr<bf16>>) : i32 {
    %keys = tt.load %p : tensor<64x512x!tt.ptr<bf16>>
    %across = tt.trans %keys {order = array<i32: 1, 0>} : tensor<64x512xbf16> -> tensor<512x64xbf16>
    %s = tt.dot %queries, %across, %none : tensor<64x512xbf16> * tensor<512x64xbf16> -> tensor<64x64xf32>
    %w = math.exp2 %s : tensor<64x64xf32>
    %b = arith.truncf %w : tensor<64x64xf32> to tensor<64x64xbf16>
    %d = tt.dot %b, %keys, %acc : tensor<64x64xbf16> * tensor<64x512xbf16> -> tensor<64x512xf32>
    %next = tt.addptr %p, %step : tensor<64x512x!tt.ptr<bf16>>, tensor<64x512xi32>
    scf.yield %d, %next : tensor<64x512xf32>, tensor<64x512x!tt.ptr<bf16>>
  }
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x512x!tt.ptr<f32>>
  %op = tt.addptr %os, %at : tensor<64x512x!tt.ptr<f32>>, tensor<64x512xi32>
  tt.store %op, %sum : tensor<64x512x!tt.ptr<f32>>
  tt.return
}
