// Line numbers are directives from which ptxas makes its tables. DWARF of LLVM's would make the target `debug`, and ptxas
// would not optimise.
// RUN: tessera compile %s --target sm_90a --lineinfo --emit ptx -o - | FileCheck %s --implicit-check-not=.debug_info
// RUN: tessera compile %s --target sm_90a --emit ptx -o - | FileCheck %s --check-prefix=NONE --implicit-check-not=.loc
// CHECK: .target sm_90a{{$}}
// CHECK: .loc [[FILE:[0-9]+]] 7 3
// CHECK: .loc [[FILE]] 20 2
// CHECK: .file [[FILE]] "/k.py"
// NONE: .target sm_90a{{$}}
tt.func public @f(%p: !tt.ptr<i32>, %v: i32) {
  tt.store %p, %v : !tt.ptr<i32> loc("/k.py":7:3)
  %w = arith.muli %v, %v : i32 loc("/k.py":7:9)
  tt.store %p, %w : !tt.ptr<i32> loc(callsite("/k.py":20:2 at "/k.py":8:5))
  tt.return
} loc("/k.py":6:1)
