// inline and symbol-dce: calls are replaced by the callee's body; private functions without uses are removed.
// RUN: tessera opt %s --split-input-file -inline -symbol-dce --verify-each | FileCheck %s
// RUN: tessera opt %s --split-input-file -inline --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Through two levels; locations record the call sites.
// CHECK-NOT: tt.func private
// CHECK-LABEL: tt.func public @kernel
// CHECK-NEXT: %[[A:.*]] = arith.addi %[[X:.*]], %[[X]]
// CHECK-NEXT: %[[B:.*]] = arith.muli %[[A]], %[[X]]
// CHECK-NEXT: tt.return %[[B]]
// LOC: #[[IN:.*]] = loc("k.py":1:2)
// LOC: #[[MID:.*]] = loc("k.py":3:4)
// LOC: loc(callsite(#[[IN]] at #[[MID]]))
tt.func private @inner(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32 loc("k.py":1:2)
  tt.return %0 : i32
}
tt.func private @outer(%x: i32) -> i32 {
  %0 = tt.call @inner(%x) : (i32) -> i32 loc("k.py":3:4)
  %1 = arith.muli %0, %x : i32
  tt.return %1 : i32
}
tt.func public @kernel(%x: i32) -> i32 {
  %0 = tt.call @outer(%x) : (i32) -> i32 loc("k.py":5:6)
  tt.return %0 : i32
}

// -----

// Several blocks become a region of their own.
// CHECK-LABEL: tt.func public @blocks
// CHECK: %[[R:.*]] = scf.execute_region -> i32 {
// CHECK: cf.cond_br
// CHECK: scf.yield
// CHECK: scf.yield
// CHECK: tt.return %[[R]]
tt.func private @choose(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  tt.return %x : i32
^bb2:
  tt.return %y : i32
}
tt.func public @blocks(%c: i1, %x: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %0 = tt.call @choose(%c, %x, %c7) : (i1, i32, i32) -> i32
  tt.return %0 : i32
}

// -----

// noinline functions stay while something calls them, public functions always.
// CHECK: tt.func private @stays
// CHECK-NOT: @unused
// CHECK: tt.func public @also
// CHECK: tt.func public @caller
// CHECK-NEXT: tt.call @stays
tt.func private @stays(%x: i32) -> i32 attributes {noinline = true} {
  tt.return %x : i32
}
tt.func private @unused(%x: i32) -> i32 attributes {noinline = true} {
  %0 = tt.call @unused2(%x) : (i32) -> i32
  tt.return %0 : i32
}
tt.func private @unused2(%x: i32) -> i32 attributes {noinline = true} {
  tt.return %x : i32
}
tt.func public @also() {
  tt.return
}
tt.func public @caller(%x: i32) -> i32 {
  %0 = tt.call @stays(%x) : (i32) -> i32
  tt.return %0 : i32
}
