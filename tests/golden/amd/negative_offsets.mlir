// Pointers into buffers of less than 2 GiB whose offsets may be negative: both kinds of instructions take offsets as
// unsigned, so the base is moved back by 2 GiB and the offset forward, once for all lanes and by 32 bits in each. Masked
// accesses are buffer accesses where pointer and buffer are known to begin at multiples of 16 bytes: a move by 16 bytes
// less leaves offsets for the lanes that are off. Immediates of the instructions must not make up for a sum that has
// wrapped around.
// RUN: tessera compile %s --kernel shifted --target gfx942 --emit amdgcn | FileCheck %s --check-prefixes=S,S-GFX9
// RUN: tessera compile %s --kernel shifted --target gfx1100 --emit amdgcn | FileCheck %s --check-prefixes=S,S-RDNA
// RUN: tessera compile %s --kernel shifted --target gfx1201 --emit amdgcn | FileCheck %s --check-prefixes=S,S-RDNA
// RUN: tessera compile %s --kernel masked --target gfx942 --emit amdgcn | FileCheck %s --check-prefixes=M,M-GFX9
// RUN: tessera compile %s --kernel masked --target gfx1201 --emit amdgcn | FileCheck %s --check-prefixes=M,M-RDNA
// RUN: tessera compile %s --kernel unaligned --target gfx942 --emit amdgcn | FileCheck %s --check-prefix=U

// S-LABEL: {{^}}shifted:
// S: 0x80000000
// S-GFX9: global_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}]{{$}}
// S-RDNA: global_load_b32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{[0-9:]+}}]{{$}}
// S: global_store
// S: s_endpgm
tt.func public @shifted(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32) {
  %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
  %s = tt.splat %n : i32 -> tensor<256xi32>
  %i = arith.subi %range, %s : tensor<256xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  %x = tt.load %p1 : tensor<256x!tt.ptr<f32>>
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %range : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
  tt.store %q1, %x : tensor<256x!tt.ptr<f32>>
  tt.return
}

// The buffer's length and the offset of lanes that are off are 2^32 - 16, which is -16. The constant between the
// elements of a thread is added before one of the two is selected.
// M-LABEL: {{^}}masked:
// M: v_cndmask_b32{{.*}} -16
// M-GFX9: buffer_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}], 0 offen{{$}}
// M-GFX9: buffer_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}], 0 offen{{$}}
// M-RDNA: buffer_load_b32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}], null offen{{$}}
// M-RDNA: buffer_load_b32 v{{[0-9]+}}, v{{[0-9]+}}, s[{{.*}}], null offen{{$}}
// M: s_endpgm

// U-LABEL: {{^}}unaligned:
// U: s_and_saveexec_b64
// U: global_load_dword v{{[0-9]+}}, v{{[0-9]+}}, s[
// U: s_endpgm
tt.func public @masked(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %end: i32) {
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %n : i32 -> tensor<1024xi32>
  %e = tt.splat %end : i32 -> tensor<1024xi32>
  %i = arith.subi %range, %s : tensor<1024xi32>
  %m = arith.cmpi slt, %range, %e : tensor<1024xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %p1, %m : tensor<1024x!tt.ptr<f32>>
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %q1, %x : tensor<1024x!tt.ptr<f32>>
  tt.return
}

tt.func public @unaligned(%p: !tt.ptr<f32> {tt.pointer_range = 32 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %end: i32) {
  %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
  %s = tt.splat %n : i32 -> tensor<1024xi32>
  %e = tt.splat %end : i32 -> tensor<1024xi32>
  %i = arith.subi %range, %s : tensor<1024xi32>
  %m = arith.cmpi slt, %range, %e : tensor<1024xi32>
  %p0 = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %p1 = tt.addptr %p0, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  %x = tt.load %p1, %m : tensor<1024x!tt.ptr<f32>>
  %q0 = tt.splat %q : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %q1 = tt.addptr %q0, %range : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  tt.store %q1, %x : tensor<1024x!tt.ptr<f32>>
  tt.return
}
