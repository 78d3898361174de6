// A part of a buffer of 64 rows that has the second half of each warp's lanes has no lanes beyond those.
// RUN: not tessera compile %s --target sm_100a --emit llir -o - 2>&1 | FileCheck %s
#rows = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
!whole = !ttg.memdesc<64x128xf32, #rows, #ttng.tensor_memory, mutable>
!part = !ttg.memdesc<64x64xf32, #rows, #ttng.tensor_memory, mutable, 64x128>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @views() {
    %acc = ttng.tmem_alloc : () -> !whole
    %first = ttng.tmem_subslice %acc {N = 0 : i32} : !whole -> !part
    %second = ttng.tmem_subslice %acc {N = 64 : i32} : !whole -> !part
    %a = ttg.memdesc_reinterpret %first : !part -> !ttg.memdesc<64x128xf16, #rows, #ttng.tensor_memory, mutable>
    %b = ttg.memdesc_reinterpret %second : !part -> !ttg.memdesc<64x64xi32, #rows, #ttng.tensor_memory, mutable>
    // CHECK: [[@LINE+1]]:{{.*}}error: 'ttg.memdesc_reinterpret' gives a view with more lanes of tensor memory than the part
    %c = ttg.memdesc_reinterpret %second : !part -> !ttg.memdesc<64x128xf16, #rows, #ttng.tensor_memory, mutable>
    tt.return
  }
}
