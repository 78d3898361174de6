// share-pointers: rows of a block with a constant stride are at constant distances from each other. The loop carries one
// pointer for them; rows whose stride is an argument have one each.
// RUN: tessera compile %s --kernel constant --target sm_90a --num-warps 4 --num-stages 1 --emit llir -o - | FileCheck %s --check-prefix=CONSTANT
// RUN: tessera compile %s --kernel argument --target sm_90a --num-warps 4 --num-stages 1 --emit llir -o - | FileCheck %s --check-prefix=ARGUMENT
// CONSTANT-COUNT-1: phi ptr addrspace(1)
// CONSTANT-NOT: phi ptr addrspace(1)
// CONSTANT: getelementptr i8, ptr addrspace(1) %{{.*}}, i64 2048
// ARGUMENT-COUNT-4: phi ptr addrspace(1)
tt.func public @constant(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %head: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<128x32xf16>
  %advance = arith.constant dense<4096> : tensor<128x32xi32>
  %dense = arith.constant dense<32> : tensor<128x1xi32>
  %stride = arith.constant dense<32> : tensor<128x1xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %s {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %starts = arith.muli %row, %stride : tensor<128x1xi32>
  %rows = tt.broadcast %starts : tensor<128x1xi32> -> tensor<128x32xi32>
  %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<128x32xi32>
  %at = arith.addi %rows, %columns : tensor<128x32xi32>
  %base = tt.addptr %a, %head : !tt.ptr<f16>, i64
  %ps = tt.splat %base : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %p = tt.addptr %ps, %at : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p, %acc = %zero) -> (tensor<128x32x!tt.ptr<f16>>, tensor<128x32xf16>) : i32 {
    %x = tt.load %q : tensor<128x32x!tt.ptr<f16>>
    %added = arith.addf %acc, %x : tensor<128x32xf16>
    %next = tt.addptr %q, %advance : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
    scf.yield %next, %added : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xf16>
  }
  %outs = arith.muli %row, %dense : tensor<128x1xi32>
  %out = tt.broadcast %outs : tensor<128x1xi32> -> tensor<128x32xi32>
  %to = arith.addi %out, %columns : tensor<128x32xi32>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %po = tt.addptr %os, %to : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  tt.store %po, %sum#1 : tensor<128x32x!tt.ptr<f16>>
  tt.return
}
tt.func public @argument(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32, %head: i64, %stride_row: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.000000e+00> : tensor<128x32xf16>
  %advance = arith.constant dense<4096> : tensor<128x32xi32>
  %dense = arith.constant dense<32> : tensor<128x1xi32>
  %stride = tt.splat %stride_row : i32 -> tensor<128x1xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %s = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %s {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %starts = arith.muli %row, %stride : tensor<128x1xi32>
  %rows = tt.broadcast %starts : tensor<128x1xi32> -> tensor<128x32xi32>
  %columns = tt.broadcast %column : tensor<1x32xi32> -> tensor<128x32xi32>
  %at = arith.addi %rows, %columns : tensor<128x32xi32>
  %base = tt.addptr %a, %head : !tt.ptr<f16>, i64
  %ps = tt.splat %base : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %p = tt.addptr %ps, %at : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %p, %acc = %zero) -> (tensor<128x32x!tt.ptr<f16>>, tensor<128x32xf16>) : i32 {
    %x = tt.load %q : tensor<128x32x!tt.ptr<f16>>
    %added = arith.addf %acc, %x : tensor<128x32xf16>
    %next = tt.addptr %q, %advance : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
    scf.yield %next, %added : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xf16>
  }
  %outs = arith.muli %row, %dense : tensor<128x1xi32>
  %out = tt.broadcast %outs : tensor<128x1xi32> -> tensor<128x32xi32>
  %to = arith.addi %out, %columns : tensor<128x32xi32>
  %os = tt.splat %o : !tt.ptr<f16> -> tensor<128x32x!tt.ptr<f16>>
  %po = tt.addptr %os, %to : tensor<128x32x!tt.ptr<f16>>, tensor<128x32xi32>
  tt.store %po, %sum#1 : tensor<128x32x!tt.ptr<f16>>
  tt.return
}
