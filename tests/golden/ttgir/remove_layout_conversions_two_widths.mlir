// Two values of one shape that are loaded in layouts of 8 and 16 elements a thread, and multiplied: one of them takes the
// other's layout, rather than both a third one.
// RUN: tessera opt %s -tritongpu-remove-layout-conversions --target gfx942 --verify-each | FileCheck %s
#bytes = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [1, 64], warpsPerCTA = [1, 4], order = [1, 0]}>
#halves = #ttg.blocked<{sizePerThread = [8], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#default = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 64], warpsPerCTA = [1, 4], order = [1, 0]}>
#row = #ttg.slice<{dim = 0, parent = #default}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  // CHECK-LABEL: @product
  // CHECK: ttg.convert_layout {{.*}} : tensor<4096xbf16, #{{.*}}> -> tensor<4096xbf16, #ttg.slice<{dim = 0, parent = #[[BYTES:.*]]}>>
  // CHECK: arith.mulf {{.*}} : tensor<1x4096xf32, #[[BYTES]]>
  // CHECK-NOT: ttg.convert_layout {{.*}}xi8
  // CHECK: tt.return
  tt.func @product(%p: tensor<4096x!tt.ptr<bf16>, #halves>, %q: tensor<1x4096x!tt.ptr<i8>, #bytes>, %o: tensor<1x4096x!tt.ptr<f32>, #default>) {
    %x = tt.load %p : tensor<4096x!tt.ptr<bf16>, #halves>
    %w = tt.load %q : tensor<1x4096x!tt.ptr<i8>, #bytes>
    %a = ttg.convert_layout %x : tensor<4096xbf16, #halves> -> tensor<4096xbf16, #row>
    %b = arith.extf %a : tensor<4096xbf16, #row> to tensor<4096xf32, #row>
    %c = tt.expand_dims %b {axis = 0 : i32} : tensor<4096xf32, #row> -> tensor<1x4096xf32, #default>
    %d = ttg.convert_layout %w : tensor<1x4096xi8, #bytes> -> tensor<1x4096xi8, #default>
    %e = arith.sitofp %d : tensor<1x4096xi8, #default> to tensor<1x4096xf32, #default>
    %f = arith.mulf %e, %c : tensor<1x4096xf32, #default>
    tt.store %o, %f : tensor<1x4096x!tt.ptr<f32>, #default>
    tt.return
  }
}
