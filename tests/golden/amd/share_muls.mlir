// Numbers at known distances are multiplied by a constant of 32 bits once; by a narrow one, each of them.
// RUN: tessera compile %s --kernel wide --target gfx1201 --emit llir -o - | FileCheck %s
// CHECK-LABEL: @wide
// CHECK: %[[M:.*]] = mul i32 %{{.*}}, -766435501
// CHECK-NOT: mul i32
// CHECK: add i32 %[[M]], -766435501
// CHECK: add i32 %[[M]], -1532871002
// CHECK-NOT: mul i32
// CHECK-LABEL: @narrow
// CHECK-COUNT-4: mul i32 %{{.*}}, 12345
module {
  tt.func public @wide(%o: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
    %k = arith.constant dense<-766435501> : tensor<512xi32>
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %pid = tt.get_program_id x : i32
    %c512 = arith.constant 512 : i32
    %base = arith.muli %pid, %c512 : i32
    %bases = tt.splat %base : i32 -> tensor<512xi32>
    %i = arith.addi %bases, %r : tensor<512xi32>
    %m = arith.muli %i, %k : tensor<512xi32>
    %x = arith.xori %m, %i : tensor<512xi32>
    %so = tt.splat %o : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %q = tt.addptr %so, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    tt.store %q, %x : tensor<512x!tt.ptr<i32>>
    tt.return
  }
  tt.func public @narrow(%o: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
    %k = arith.constant dense<12345> : tensor<512xi32>
    %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
    %pid = tt.get_program_id x : i32
    %c512 = arith.constant 512 : i32
    %base = arith.muli %pid, %c512 : i32
    %bases = tt.splat %base : i32 -> tensor<512xi32>
    %i = arith.addi %bases, %r : tensor<512xi32>
    %m = arith.muli %i, %k : tensor<512xi32>
    %x = arith.xori %m, %i : tensor<512xi32>
    %so = tt.splat %o : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
    %q = tt.addptr %so, %i : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    tt.store %q, %x : tensor<512x!tt.ptr<i32>>
    tt.return
  }
}
