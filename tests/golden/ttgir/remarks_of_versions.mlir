// Remarks of a kernel that has its body twice: those about an operation say of which version it is, those about the
// kernel do not.
// RUN: tessera compile %s --target sm_90a --emit ptx -o %t.ptx --remarks='DotInstruction|LoopPipelined|SharedMemory' 2>&1 | FileCheck %s
// RUN: tessera compile %s --target sm_90a --emit ttgir -o %t.ttgir --remarks='LoopPipelined' --remarks-json=%t.json 2>/dev/null && FileCheck %s --check-prefix=JSON < %t.json
// CHECK: is computed by wgmma {{.*}} [tritongpu-accelerate-matmul:DotInstruction] (aligned version)
// CHECK: is computed by wgmma {{.*}} [tritongpu-accelerate-matmul:DotInstruction] (general version)
// CHECK: by asynchronous copies to shared memory{{.*}} [tritongpu-pipeline:LoopPipelined] (aligned version)
// CHECK: through registers{{.*}} [tritongpu-pipeline:LoopPipelined] (general version)
// CHECK: at offset {{.*}} [allocate-shared-memory:SharedMemoryBuffer] (aligned version)
// CHECK: at offset {{.*}} [allocate-shared-memory:SharedMemoryBuffer] (general version)
// CHECK: bytes of shared memory that a block of sm_90a can have [allocate-shared-memory:SharedMemory]{{$}}
// JSON: "asynchronous": true
// JSON: "name": "LoopPipelined"
// JSON-NEXT: "pass": "tritongpu-pipeline"
// JSON-NEXT: "version": "aligned"
// JSON: "asynchronous": false
// JSON: "version": "general"
tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %stride: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
  %b = arith.constant dense<1.000000e+00> : tensor<64x64xf16>
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %s = tt.splat %stride : i32 -> tensor<64x1xi32>
  %start = arith.muli %row, %s : tensor<64x1xi32>
  %starts = tt.broadcast %start : tensor<64x1xi32> -> tensor<64x64xi32>
  %columns = tt.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
  %p = tt.splat %a : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
  %d = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %from = arith.muli %k, %c64 : i32
    %froms = tt.splat %from : i32 -> tensor<64x64xi32>
    %inTile = arith.addi %starts, %columns : tensor<64x64xi32>
    %at = arith.addi %inTile, %froms : tensor<64x64xi32>
    %q = tt.addptr %p, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
    %v = tt.load %q : tensor<64x64x!tt.ptr<f16>>
    %sum = tt.dot %v, %b, %acc : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %o = tt.splat %c : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
  tt.store %o, %d : tensor<64x64x!tt.ptr<f32>>
  tt.return
}
