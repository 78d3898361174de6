// Block pointers become plain pointers and masks; their parts are passed through all control flow.
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-pointer --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -triton-rewrite-tensor-pointer -canonicalize --verify-each | FileCheck %s --check-prefix=CANON

// Only the checked dimension has a mask, and only with a padding another value.
// CHECK-LABEL: @load_store
// CHECK-NOT: make_tensor_ptr
// CHECK: %[[O0:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[O1:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.muli %[[O0]], %{{.*}} : i64
// CHECK: arith.cmpi sge, %{{.*}} : tensor<4xi64>
// CHECK: arith.cmpi slt, %{{.*}} : tensor<4xi64>
// CHECK: arith.andi %{{.*}} : tensor<4xi1>
// CHECK: tt.broadcast %{{.*}} : tensor<4x1xi1> -> tensor<4x8xi1>
// CHECK-NOT: arith.cmpi {{.*}} : tensor<8xi64>
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} evictionPolicy = evict_first : tensor<4x8x!tt.ptr<f32>>
// CHECK: tt.store %{{.*}}, %{{.*}} : tensor<4x8x!tt.ptr<f32>>
tt.func public @load_store(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %i: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c6 = arith.constant 6 : i64
  %a = tt.make_tensor_ptr %p, [%c6, %c8], [%c8, %c1], [%i, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %b = tt.make_tensor_ptr %q, [%c6, %c8], [%c8, %c1], [%c0, %c0] {order = array<i32: 1, 0>} : <tensor<4x8xf32>>
  %v = tt.load %a evictionPolicy = evict_first {boundaryCheck = array<i32: 0>, padding = 2 : i32} : !tt.ptr<tensor<4x8xf32>>
  tt.store %b, %v : !tt.ptr<tensor<4x8xf32>>
  tt.return
}

// -----

// An advanced pointer in a loop: base, shape, strides and offset are carried; canonicalize keeps the offset alone.
// CHECK-LABEL: @loop
// CHECK: scf.for {{.*}} -> (!tt.ptr<i32>, i64, i64, i32, tensor<16xi32>)
// CANON-LABEL: @loop
// CANON: scf.for {{.*}} iter_args(%[[OFFSET:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, tensor<16xi32>)
// CANON: %[[NEXT:.*]] = arith.addi %[[OFFSET]], %{{.*}} : i32
// CANON: scf.yield %[[NEXT]], %{{.*}} : i32, tensor<16xi32>
tt.func public @loop(%p: !tt.ptr<i32>, %n: i64) -> tensor<16xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c16 = arith.constant 16 : i32
  %s = arith.constant 1 : i64
  %zero = arith.constant dense<0> : tensor<16xi32>
  %a = tt.make_tensor_ptr %p, [%n], [%s], [%c0] {order = array<i32: 0>} : <tensor<16xi32>>
  %r:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%x = %a, %sum = %zero) -> (!tt.ptr<tensor<16xi32>>, tensor<16xi32>) : i32 {
    %v = tt.load %x {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<16xi32>>
    %t = arith.addi %sum, %v : tensor<16xi32>
    %y = tt.advance %x, [%c16] : <tensor<16xi32>>
    scf.yield %y, %t : !tt.ptr<tensor<16xi32>>, tensor<16xi32>
  }
  tt.return %r#1 : tensor<16xi32>
}

// -----

// Through scf.if, scf.while and arith.select.
// CHECK-LABEL: @structured
// CHECK: scf.if %{{.*}} -> (!tt.ptr<i32>, i64, i64, i32)
// CHECK: scf.while ({{.*}}) : (!tt.ptr<i32>, i64, i64, i32, i32) -> (!tt.ptr<i32>, i64, i64, i32)
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<i32>, i64, i64, i32
// CHECK: ^bb0(%{{.*}}: !tt.ptr<i32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32):
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : i32
// CHECK: tt.load %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<i32>>
tt.func public @structured(%p: !tt.ptr<i32>, %cond: i1, %m: i32) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c40 = arith.constant 40 : i32
  %n = arith.constant 30 : i64
  %s = arith.constant 1 : i64
  %zero = arith.constant dense<0> : tensor<8xi32>
  %a = tt.make_tensor_ptr %p, [%n], [%s], [%c0] {order = array<i32: 0>} : <tensor<8xi32>>
  %b = scf.if %cond -> (!tt.ptr<tensor<8xi32>>) {
    %x = tt.advance %a, [%c2] : <tensor<8xi32>>
    scf.yield %x : !tt.ptr<tensor<8xi32>>
  } else {
    scf.yield %a : !tt.ptr<tensor<8xi32>>
  }
  %w = scf.while (%x = %b, %i = %c0) : (!tt.ptr<tensor<8xi32>>, i32) -> !tt.ptr<tensor<8xi32>> {
    %more = arith.cmpi slt, %i, %m : i32
    scf.condition(%more) %x : !tt.ptr<tensor<8xi32>>
  } do {
  ^bb0(%x: !tt.ptr<tensor<8xi32>>):
    %y = tt.advance %x, [%c8] : <tensor<8xi32>>
    scf.yield %y, %c40 : !tt.ptr<tensor<8xi32>>, i32
  }
  %z = arith.select %cond, %w, %a : !tt.ptr<tensor<8xi32>>
  %v = tt.load %z {boundaryCheck = array<i32: 0>, padding = 1 : i32} : !tt.ptr<tensor<8xi32>>
  tt.return %v : tensor<8xi32>
}

// -----

// Through branches and a call; the argument's attributes stay with the arguments that stay.
// CHECK-LABEL: tt.func private @callee(%{{.*}}: !tt.ptr<i32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: i32 {tt.divisibility = 8 : i32}) -> (!tt.ptr<i32>, i64, i64, i32)
// CHECK-LABEL: @branches
// CHECK: cf.cond_br %{{.*}}, ^bb1({{.*}} : !tt.ptr<i32>, i64, i64, i32), ^bb1({{.*}} : !tt.ptr<i32>, i64, i64, i32)
// CHECK: ^bb1(%{{.*}}: !tt.ptr<i32>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32):
// CHECK: tt.call @callee({{.*}}) : (!tt.ptr<i32>, i64, i64, i32, i32) -> (!tt.ptr<i32>, i64, i64, i32)
tt.func private @callee(%a: !tt.ptr<tensor<8xi32>>, %o: i32 {tt.divisibility = 8 : i32}) -> !tt.ptr<tensor<8xi32>> attributes {noinline = true} {
  %x = tt.advance %a, [%o] : <tensor<8xi32>>
  tt.return %x : !tt.ptr<tensor<8xi32>>
}
tt.func public @branches(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %cond: i1) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %n = arith.constant 30 : i64
  %s = arith.constant 2 : i64
  %a = tt.make_tensor_ptr %p, [%n], [%s], [%c0] {order = array<i32: 0>} : <tensor<8xi32>>
  %b = tt.make_tensor_ptr %q, [%n], [%s], [%c3] {order = array<i32: 0>} : <tensor<8xi32>>
  cf.cond_br %cond, ^bb1(%a : !tt.ptr<tensor<8xi32>>), ^bb1(%b : !tt.ptr<tensor<8xi32>>)
^bb1(%x: !tt.ptr<tensor<8xi32>>):
  %y = tt.call @callee(%x, %c3) : (!tt.ptr<tensor<8xi32>>, i32) -> !tt.ptr<tensor<8xi32>>
  %v = tt.load %y : !tt.ptr<tensor<8xi32>>
  tt.return %v : tensor<8xi32>
}

// -----

// Nothing to do: pointers to elements, and tensors of them.
// CHECK-LABEL: @plain
// CHECK-NEXT: tt.splat
// CHECK-NEXT: tt.load
// CHECK-NEXT: tt.return
tt.func public @plain(%p: !tt.ptr<f32>) -> tensor<8xf32> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %1 = tt.load %0 : tensor<8x!tt.ptr<f32>>
  tt.return %1 : tensor<8xf32>
}
