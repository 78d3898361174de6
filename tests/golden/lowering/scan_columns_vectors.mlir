// A scan along columns whose threads have eight columns side by side each: the totals of warps are stored and loaded as
// vectors of four. (One store of 32 bits for each column made ptxas branch around every one of them.)
// RUN: tessera compile %s --target sm_90a --num-warps 4 --emit ptx -o - | FileCheck %s --check-prefix=NVIDIA
// RUN: tessera compile %s --target gfx942 --num-warps 4 --emit llir -o - | FileCheck %s --check-prefix=AMD
// NVIDIA: shfl.sync
// NVIDIA-NOT: st.shared.b32
// NVIDIA-COUNT-4: st.shared.v4
// NVIDIA-NOT: st.shared
// NVIDIA: bar.sync
// NVIDIA-COUNT-14: ld.shared.v4
// NVIDIA-NOT: ld.shared
// NVIDIA: ret;
// AMD-COUNT-2: store <4 x float> {{.*}}, ptr addrspace(3)
// AMD-NOT: store float {{.*}}, ptr addrspace(3)
// AMD: ret void
tt.func public @columns(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %c1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %stride = arith.constant dense<32> : tensor<64x1xi32>
  %r2 = arith.muli %r1, %stride : tensor<64x1xi32>
  %r3 = tt.broadcast %r2 : tensor<64x1xi32> -> tensor<64x32xi32>
  %c2 = tt.broadcast %c1 : tensor<1x32xi32> -> tensor<64x32xi32>
  %at = arith.addi %r3, %c2 : tensor<64x32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %px = tt.addptr %xs, %at : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %a = tt.load %px : tensor<64x32x!tt.ptr<f16>>
  %b = arith.extf %a : tensor<64x32xf16> to tensor<64x32xf32>
  %sums = "tt.scan"(%b) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %s = arith.addf %l, %r : f32
    tt.scan.return %s : f32
  }) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<64x32x!tt.ptr<f16>>
  %py = tt.addptr %ys, %at : tensor<64x32x!tt.ptr<f16>>, tensor<64x32xi32>
  %c = arith.truncf %sums : tensor<64x32xf32> to tensor<64x32xf16>
  tt.store %py, %c : tensor<64x32x!tt.ptr<f16>>
  tt.return
}
