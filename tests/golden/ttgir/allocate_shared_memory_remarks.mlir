// allocate-shared-memory --remarks: every buffer and scratch with its bytes, offset, lifetime and purpose. The scratch
// of the conversion lives to the end of the reduction, which saves a barrier; the reduction's takes the bytes of the
// buffer, whose last use is before it.
// RUN: tessera opt %s -allocate-shared-memory --target sm_90a --remarks=SharedMemory 2>&1 >/dev/null | FileCheck %s
// RUN: tessera opt %s -allocate-shared-memory --target sm_90a --remarks-json=%t >/dev/null && FileCheck %s --check-prefix=JSON < %t
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK: :[[#@LINE+5]]:{{.*}}: remark: 'ttg.local_alloc' takes 1024 bytes of shared memory at offset 2048, aligned to 1024, live until 'ttg.local_load' ({{.*}}:[[#@LINE+7]]:{{.*}}): buffer of type !ttg.memdesc<256xf32, {{.*}}> [allocate-shared-memory:SharedMemoryBuffer]
  // CHECK: remark: 'ttg.convert_layout' takes 2048 bytes of shared memory at offset 0, aligned to {{[0-9]+}}, live until 'tt.reduce' ({{.*}}): layout conversion
  // CHECK: remark: 'tt.reduce' takes 16 bytes of shared memory at offset 2048, aligned to 16, live during the operation: partial results of warps
  // CHECK: remark: 'buffers' takes 3072 of the {{.*}} [allocate-shared-memory:SharedMemory]
  tt.func public @buffers(%x: tensor<256xf32, #a>, %y: tensor<512xf32, #a>, %p: !tt.ptr<f32>) {
    %0 = ttg.local_alloc %x : (tensor<256xf32, #a>) -> !ttg.memdesc<256xf32, #s, #smem>
    %1 = ttg.convert_layout %y : tensor<512xf32, #a> -> tensor<512xf32, #b>
    %2 = ttg.local_load %0 : !ttg.memdesc<256xf32, #s, #smem> -> tensor<256xf32, #a>
    %3 = "tt.reduce"(%2) <{axis = 0 : i32}> ({
    ^bb0(%l: f32, %r: f32):
      %sum = arith.addf %l, %r : f32
      tt.reduce.return %sum : f32
    }) : (tensor<256xf32, #a>) -> f32
    tt.store %p, %3 : !tt.ptr<f32>
    tt.return
  }
}
// JSON: "alignment": 1024
// JSON: "bytes": 1024
// JSON: "first": "{{.*}}:{{[0-9]+}}:{{[0-9]+}}"
// JSON: "firstNumber": [[#FIRST:]]
// JSON: "function": "buffers"
// JSON: "lastNumber": [[#LAST:]]
// JSON: "lastOperation": "ttg.local_load"
// JSON: "purpose": "buffer of type
// JSON: "name": "SharedMemoryBuffer"
