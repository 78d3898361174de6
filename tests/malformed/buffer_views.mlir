// Views of buffers whose types say something else about where elements are than the buffer's does.
#rows = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>
#columns = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [0, 1]}>
#stack = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [0, 2, 1]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>
#wider = #ttg.padded_shared<[32:+8] {order = [1, 0], shape = [32, 32]}>
#smem = #ttg.shared_memory
module {
  tt.func public @f(%x: !ttg.memdesc<32x32xi32, #rows, #smem, mutable>, %part: !ttg.memdesc<16x32xi32, #rows, #smem, mutable, 32x32>, %many: !ttg.memdesc<4x32x32xi32, #stack, #smem, mutable>, %two: !ttg.memdesc<2x32x32xi32, #rows, #smem, mutable>, %y: !ttg.memdesc<32x32xi32, #padded, #smem, mutable>, %i: i32) {
    %0 = ttg.memdesc_subslice %x[0, 4] : !ttg.memdesc<32x32xi32, #rows, #smem, mutable> -> !ttg.memdesc<32x16xi32, #rows, #smem, mutable, 32x32>
    %1 = ttg.memdesc_subslice %x[0, 16] : !ttg.memdesc<32x32xi32, #rows, #smem, mutable> -> !ttg.memdesc<32x16xi32, #rows, #smem, mutable>
    %2 = ttg.memdesc_subslice %x[0, 16] : !ttg.memdesc<32x32xi32, #rows, #smem, mutable> -> !ttg.memdesc<32x16xi32, #columns, #smem, mutable, 32x32>
    %3 = ttg.memdesc_subslice %y[0, 0] : !ttg.memdesc<32x32xi32, #padded, #smem, mutable> -> !ttg.memdesc<32x16xi32, #wider, #smem, mutable, 32x32>
    %4 = ttg.memdesc_trans %x {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xi32, #rows, #smem, mutable> -> !ttg.memdesc<32x32xi32, #rows, #smem, mutable>
    %5 = ttg.memdesc_reshape %x : !ttg.memdesc<32x32xi32, #rows, #smem, mutable> -> !ttg.memdesc<64x16xi32, #rows, #smem, mutable>
    %6 = ttg.memdesc_reshape %part : !ttg.memdesc<16x32xi32, #rows, #smem, mutable, 32x32> -> !ttg.memdesc<32x16xi32, #rows, #smem, mutable>
    %7 = ttg.memdesc_reinterpret %part : !ttg.memdesc<16x32xi32, #rows, #smem, mutable, 32x32> -> !ttg.memdesc<16x32xf32, #rows, #smem, mutable>
    %8 = ttg.memdesc_index %many[%i] : !ttg.memdesc<4x32x32xi32, #stack, #smem, mutable> -> !ttg.memdesc<32x32xi32, #rows, #smem, mutable>
    %9 = ttg.memdesc_index %two[%i] : !ttg.memdesc<2x32x32xi32, #rows, #smem, mutable> -> !ttg.memdesc<32x32xi32, #columns, #smem, mutable>
    %10 = ttg.local_alloc : () -> !ttg.memdesc<32x16xi32, #rows, #smem, mutable, 32x32>
    tt.return
  }
}
