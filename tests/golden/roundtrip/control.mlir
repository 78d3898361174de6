// Structured and plain control flow, calls, nested and named modules, declarations.
module {
  tt.func private @callee(i32, !tt.ptr<f32>) -> (i32, f32)
  tt.func @identity(%arg0: i32) -> i32 attributes {noinline = true} {
    tt.return %arg0 : i32
  }
  tt.func public @loops(%arg0: i32, %arg1: index, %arg2: i1, %arg3: f32) -> (f32 {tt.note = 1 : i32}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %i = %c0 to %arg1 step %c1 iter_args(%acc = %arg3) -> (f32) {
      %9 = arith.addf %acc, %arg3 : f32
      scf.yield %9 : f32
    } {tt.flatten, tt.num_stages = 3 : i32}
    scf.for unsigned %i = %arg0 to %arg0 step %arg0  : i32 {
      scf.if %arg2 {
        %9 = tt.call @identity(%i) : (i32) -> i32
      } else {
        gpu.barrier
      }
    }
    %1:2 = scf.if %arg2 -> (f32, i32) {
      scf.yield %arg3, %arg0 : f32, i32
    } else {
      scf.yield %0, %arg0 : f32, i32
    } {tt.likely}
    %2:2 = scf.while (%a = %1#1, %b = %arg3) : (i32, f32) -> (i32, f32) {
      %9 = arith.cmpi slt, %a, %arg0 : i32
      scf.condition(%9) %a, %b : i32, f32
    } do {
    ^bb0(%arg4: i32, %arg5: f32):
      %9 = arith.addi %arg4, %arg0 : i32
      scf.yield %9, %arg5 : i32, f32
    } attributes {tt.loop}
    scf.while : () -> () {
      scf.condition(%arg2)
    } do {
      scf.yield
    }
    %3 = scf.execute_region -> i32 {
      cf.cond_br %arg2, ^bb1(%arg0 : i32), ^bb2
    ^bb1(%9: i32):  // pred: ^bb0
      cf.br ^bb3(%9 : i32)
    ^bb2:  // pred: ^bb0
      cf.br ^bb3(%2#0 : i32)
    ^bb3(%10: i32):  // 2 preds: ^bb1, ^bb2
      scf.yield %10 : i32
    }
    %4 = ub.poison : !tt.ptr<f32>
    %5:2 = tt.call @callee(%3, %4) : (i32, !tt.ptr<f32>) -> (i32, f32)
    cf.assert %arg2, "a \22quoted\22 message\0A"
    llvm.intr.assume %arg2 : i1
    %6 = gpu.thread_id x
    %7 = gpu.block_id y
    %8 = builtin.unrealized_conversion_cast %6 : index to i64
    tt.return %2#1 : f32
  }
  module @inner attributes {ttg.shared = 0 : i32} {
    tt.func @nested() {
      tt.return
    }
  }
}
