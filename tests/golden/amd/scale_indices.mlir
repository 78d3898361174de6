// What an index is made of is shifted by more instead of the index: of addresses in LDS, of which one differs from another
// by an exclusive or. An index that is stored as well stays, and is shifted.
// RUN: tessera compile %s --target gfx942 --num-warps 4 --emit llir -o - | FileCheck %s --check-prefix=STORED
// RUN: tessera compile %S/../../kernels/transpose/transpose.ttir --target gfx942 --num-warps 4 --emit llir -o - | FileCheck %s --check-prefix=LDS
// STORED-LABEL: @stored(
// STORED: %[[I:.*]] = or disjoint i32
// STORED: %[[O:.*]] = shl i32 %[[I]], 2
// STORED: zext i32 %[[O]] to i64
// STORED: store i32 %[[I]],
// LDS: getelementptr i8, ptr addrspace(3) @global_smem, i32 %[[X:.*]]
// LDS: xor i32 %[[X]], 64
// LDS-NOT: getelementptr half, ptr addrspace(3) @global_smem, i32 %
module {
  tt.func public @stored(%o: !tt.ptr<i32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
    %r = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
    %pid = tt.get_program_id x : i32
    %size = arith.constant 256 : i32
    %base = arith.muli %pid, %size : i32
    %bases = tt.splat %base : i32 -> tensor<256xi32>
    %i = arith.addi %bases, %r : tensor<256xi32>
    %so = tt.splat %o : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
    %q = tt.addptr %so, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
    tt.store %q, %i : tensor<256x!tt.ptr<i32>>
    tt.return
  }
}
