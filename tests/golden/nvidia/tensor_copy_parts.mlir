// Copies of tensors to parts of a buffer: of rows, and of columns that are whole spans of the swizzle, in another order
// than that of the tensor.
// RUN: mkdir -p %t && cp %s %t/k.ttgir && \
// RUN:   echo '{"kernel": "rows", "ttir": "k.ttgir", "grid": [1], "args": [{"name": "x", "dtype": "f16", "shape": [128, 64], "block_shape": [64, 64]}, {"name": "o", "dtype": "f16", "shape": [128, 64], "fill": "poison"}]}' > %t/rows.json && \
// RUN:   sed 's/"kernel": "rows"/"kernel": "columns"/; s/.128, 64./[64, 128]/g' %t/rows.json > %t/columns.json
// RUN: tessera run %t/rows.json --device emulator:sm_90a --out %t/e && tessera run %t/rows.json --device interpreter --out %t/i && diff -r %t/e %t/i
// RUN: tessera run %t/columns.json --device emulator:sm_90a --out %t/e && tessera run %t/columns.json --device interpreter --out %t/i && diff -r %t/e %t/i
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #blocked}>
#column = #ttg.slice<{dim = 0, parent = #blocked}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#line = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #line, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @rows(%x: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: !tt.ptr<f16>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %whole = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    ttng.barrier_expect %bar, 16384, %true : !bar
    %first = ttg.memdesc_subslice %whole[0, 0] : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
    %second = ttg.memdesc_subslice %whole[64, 0] : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
    ttng.async_tma_copy_global_to_local %x[%c64, %c0] %first, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !bar -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
    ttng.async_tma_copy_global_to_local %x[%c0, %c0] %second, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !bar -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
    ttng.wait_barrier %bar, %c0 : !bar
    %got = ttg.local_load %whole : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #blocked>
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #row>
    %j = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #column>
    %i2 = tt.expand_dims %i {axis = 1 : i32} : tensor<128xi32, #row> -> tensor<128x1xi32, #blocked>
    %j2 = tt.expand_dims %j {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #blocked>
    %stride = arith.constant dense<64> : tensor<128x1xi32, #blocked>
    %begin = arith.muli %i2, %stride : tensor<128x1xi32, #blocked>
    %i3 = tt.broadcast %begin : tensor<128x1xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %j3 = tt.broadcast %j2 : tensor<1x64xi32, #blocked> -> tensor<128x64xi32, #blocked>
    %at = arith.addi %i3, %j3 : tensor<128x64xi32, #blocked>
    %pointers = tt.splat %p : !tt.ptr<f16> -> tensor<128x64x!tt.ptr<f16>, #blocked>
    %addresses = tt.addptr %pointers, %at : tensor<128x64x!tt.ptr<f16>, #blocked>, tensor<128x64xi32, #blocked>
    tt.store %addresses, %got : tensor<128x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
  tt.func public @columns(%x: !tt.tensordesc<tensor<64x64xf16, #shared>>, %p: !tt.ptr<f16>) {
    %true = arith.constant true
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %whole = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    ttng.barrier_expect %bar, 16384, %true : !bar
    %first = ttg.memdesc_subslice %whole[0, 0] : !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 64x128>
    %second = ttg.memdesc_subslice %whole[0, 64] : !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 64x128>
    ttng.async_tma_copy_global_to_local %x[%c0, %c64] %first, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !bar -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 64x128>
    ttng.async_tma_copy_global_to_local %x[%c0, %c0] %second, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !bar -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 64x128>
    ttng.wait_barrier %bar, %c0 : !bar
    %got = ttg.local_load %whole : !ttg.memdesc<64x128xf16, #shared, #smem, mutable> -> tensor<64x128xf16, #blocked>
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #row>
    %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #column>
    %i2 = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #row> -> tensor<64x1xi32, #blocked>
    %j2 = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32, #column> -> tensor<1x128xi32, #blocked>
    %stride = arith.constant dense<128> : tensor<64x1xi32, #blocked>
    %begin = arith.muli %i2, %stride : tensor<64x1xi32, #blocked>
    %i3 = tt.broadcast %begin : tensor<64x1xi32, #blocked> -> tensor<64x128xi32, #blocked>
    %j3 = tt.broadcast %j2 : tensor<1x128xi32, #blocked> -> tensor<64x128xi32, #blocked>
    %at = arith.addi %i3, %j3 : tensor<64x128xi32, #blocked>
    %pointers = tt.splat %p : !tt.ptr<f16> -> tensor<64x128x!tt.ptr<f16>, #blocked>
    %addresses = tt.addptr %pointers, %at : tensor<64x128x!tt.ptr<f16>, #blocked>, tensor<64x128xi32, #blocked>
    tt.store %addresses, %got : tensor<64x128x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
