// Accesses to buffers of less than 2 GiB: buffer instructions with 32-bit offsets from the argument. Where masks
// differ between elements, and in loops, masked-off lanes get an offset out of range; the distance between elements is
// the instruction's immediate.
// RUN: tessera compile %s --kernel strided --target gfx942 --emit amdgcn | FileCheck %s --check-prefixes=S,S-CDNA
// RUN: tessera compile %s --kernel strided --target gfx1100 --emit amdgcn | FileCheck %s --check-prefixes=S,S-RDNA
// RUN: tessera compile %s --kernel strided --target gfx1201 --emit amdgcn | FileCheck %s --check-prefixes=S,S-RDNA
// RUN: tessera compile %s --kernel elements --target gfx942 --emit amdgcn | FileCheck %s --check-prefixes=E,E-CDNA
// RUN: tessera compile %s --kernel elements --target gfx1100 --emit amdgcn | FileCheck %s --check-prefixes=E,E-RDNA
// RUN: tessera compile %s --kernel elements --target gfx1201 --emit amdgcn | FileCheck %s --check-prefixes=E,E-RDNA
// RUN: tessera compile %s --kernel never --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=N
// RUN: tessera compile %s --kernel loop --target gfx942 --emit amdgcn | FileCheck %s --check-prefixes=L,L-CDNA
// RUN: tessera compile %s --kernel loop --target gfx1100 --emit amdgcn | FileCheck %s --check-prefixes=L,L-RDNA
// RUN: tessera compile %s --kernel loop --target gfx1201 --emit amdgcn | FileCheck %s --check-prefixes=L,L-RDNA

// Without masks and outside of loops an address needs no buffer. No 64-bit sums for rows whose distance is only known when the kernel runs, and may be negative.
// S-LABEL: {{^}}strided:
// S-NOT: v_lshl_add_u64
// S-NOT: v_add_co
// S-CDNA: global_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[
// S-RDNA: global_load_b32 v{{[0-9]+}}, v{{[0-9]+}}, s[
// S-NOT: v_lshl_add_u64
// S-NOT: v_add_co
// S: s_endpgm
tt.func public @strided(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %stride: i32) {
  %row = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %column = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %rows = tt.expand_dims %row {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %columns = tt.expand_dims %column {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = tt.splat %stride : i32 -> tensor<8x1xi32>
  %r = arith.muli %rows, %s : tensor<8x1xi32>
  %rr = tt.broadcast %r : tensor<8x1xi32> -> tensor<8x32xi32>
  %cc = tt.broadcast %columns : tensor<1x32xi32> -> tensor<8x32xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %rr : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  %p2 = tt.addptr %p1, %cc : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  %x = tt.load %p2 : tensor<8x32x!tt.ptr<f32>>
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<8x32x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %rr : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  %q2 = tt.addptr %q1, %cc : tensor<8x32x!tt.ptr<f32>>, tensor<8x32xi32>
  tt.store %q2, %x : tensor<8x32x!tt.ptr<f32>>
  tt.return
}

// Elements of which any may be beyond the end, in neighbouring lanes. Full blocks have a version without masks.
// E-LABEL: {{^}}elements:
// E-CDNA: buffer_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}], 0 offen{{$}}
// E-CDNA: buffer_load_dword {{.*}} offen offset:1024
// E-CDNA: buffer_load_dword {{.*}} offen offset:2048
// E-CDNA: buffer_load_dword {{.*}} offen offset:3072
// E-RDNA: buffer_load_b32 {{.*}} offen{{$}}
// E-RDNA: buffer_load_b32 {{.*}} offen offset:512
// E: s_endpgm
tt.func public @elements(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
  %c1024 = arith.constant 1024 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %c1024 : i32
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %first = tt.splat %start : i32 -> tensor<1024xi32>
  %i = arith.addi %first, %range : tensor<1024xi32>
  %end = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %i, %end : tensor<1024xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %p1, %m : tensor<1024x!tt.ptr<f32>>
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %q1, %x, %m : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// A masked load in a loop: no branch round it.
// L-LABEL: {{^}}loop:
// L: {{^}}.LBB
// L-NOT: saveexec
// L-CDNA: buffer_load_dword
// L-RDNA: buffer_load_b32
// L-NOT: saveexec
// L: s_cbranch_scc1
tt.func public @loop(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %columns: i32, %rows: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128xf32>
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %end = tt.splat %columns : i32 -> tensor<128xi32>
  %m = arith.cmpi slt, %i, %end : tensor<128xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %r:2 = scf.for %k = %c0 to %rows step %c1 iter_args(%a = %p1, %s = %zero) -> (tensor<128x!tt.ptr<f32>>, tensor<128xf32>) : i32 {
    %x = tt.load %a, %m, %zero : tensor<128x!tt.ptr<f32>>
    %t = arith.addf %s, %x : tensor<128xf32>
    %b = tt.addptr %a, %end : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
    scf.yield %b, %t : tensor<128x!tt.ptr<f32>>, tensor<128xf32>
  }
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %q1, %r#1, %m : tensor<128x!tt.ptr<f32>>
  tt.return
}

// A mask that turns out false: nothing is loaded.
// N-LABEL: {{^}}never:
// N-NOT: buffer_load
// N: s_endpgm
tt.func public @never(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}) {
  %end = arith.constant dense<0> : tensor<1024xi32>
  %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %m = arith.cmpi slt, %i, %end : tensor<1024xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %p1, %m : tensor<1024x!tt.ptr<f32>>
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %q1, %x : tensor<1024x!tt.ptr<f32>>
  tt.return
}
