// A tensor that does not fit in a thread's registers: code is generated without optimisation, and a remark says so.
// With more warps it fits. (It is stored where it was loaded, and so cannot be loaded again.)
// RUN: tessera compile %s --target gfx1100 --num-warps 1 -o %t.hsaco --remarks=NotOptimized 2>%t | FileCheck --allow-empty --check-prefix=NONE %s
// RUN: FileCheck --check-prefix=REMARK %s < %t
// RUN: tessera compile %s --target gfx1100 --num-warps 8 -o %t.hsaco --remarks=NotOptimized 2>&1 | FileCheck --allow-empty --check-prefix=NONE %s
// REMARK: not_optimized_remark.mlir:{{[0-9]+}}:{{[0-9]+}}: remark: machine code of 'k' is made without optimisation, {{.*}} more than the 256 registers {{.*}} [codegen:NotOptimized]
// NONE-NOT: remark

module {
  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %r = tt.make_range {end = 16384 : i32, start = 0 : i32} : tensor<16384xi32>
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
    %a = tt.addptr %s, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
    %x = tt.load %a : tensor<16384x!tt.ptr<f32>>
    %m = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%b: f32, %c: f32):
      %d = arith.addf %b, %c : f32
      tt.reduce.return %d : f32
    }) : (tensor<16384xf32>) -> f32
    %n = tt.splat %m : f32 -> tensor<16384xf32>
    %q = arith.divf %x, %n : tensor<16384xf32>
    %t = tt.splat %p : !tt.ptr<f32> -> tensor<16384x!tt.ptr<f32>>
    %u = tt.addptr %t, %r : tensor<16384x!tt.ptr<f32>>, tensor<16384xi32>
    tt.store %u, %q : tensor<16384x!tt.ptr<f32>>
    tt.return
  }
}
