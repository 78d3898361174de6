// The beginning of LDS, which is 0, is not added to addresses: of a loop that goes round two buffers, say.
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx950 --num-warps 8 --num-stages 2 --emit amdgcn | FileCheck %s
// RUN: tessera compile %S/../../kernels/mm_across_k/mm_across_k.ttir --target gfx1201 --num-warps 4 --num-stages 2 --emit amdgcn | FileCheck %s
// CHECK-NOT: global_smem@abs32
// CHECK-NOT: v_add_{{(nc_)?}}u32{{(_e32)?}} v{{[0-9]+}}, 0, v
// CHECK-NOT: s_add_{{(co_)?}}i32 s{{[0-9]+}}, s{{[0-9]+}}, 0{{$}}
// CHECK: s_endpgm
