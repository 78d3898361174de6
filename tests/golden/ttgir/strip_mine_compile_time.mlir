// Blocks of 65,536 elements are compiled in about the time that small ones take (hundredths of a second; unoptimised builds of
// the compiler a few times that), whatever the number of warps. Without strips each of these took from 3 to 90 seconds.
// RUN: for target in gfx942 gfx1100 gfx1201; do for warps in 1 4 8 16; do (ulimit -t 20; tessera compile %s --target $target --num-warps $warps -o %t.hsaco) || exit 1; done; done
// RUN: for warps in 1 4 8 16; do (ulimit -t 20; tessera compile %s --target sm_90a --num-warps $warps --emit ptx -o %t.ptx) || exit 1; if command -v ptxas; then (ulimit -t 20; ptxas -arch sm_90a %t.ptx -o %t.cubin) || exit 1; fi; done
tt.func public @add_where(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %k: i32) {
  %pid = tt.get_program_id x : i32
  %size = arith.constant 65536 : i32
  %first = arith.muli %pid, %size : i32
  %r = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32>
  %f = tt.splat %first : i32 -> tensor<65536xi32>
  %i = arith.addi %f, %r : tensor<65536xi32>
  %ns = tt.splat %n : i32 -> tensor<65536xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<65536xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  %a = tt.load %xp, %m : tensor<65536x!tt.ptr<f32>>
  %ks = tt.splat %k : i32 -> tensor<65536xi32>
  %j = arith.remsi %i, %ks : tensor<65536xi32>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>>
  %yp = tt.addptr %ys, %j : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  %b = tt.load %yp, %m : tensor<65536x!tt.ptr<f32>>
  %c = arith.addf %a, %b : tensor<65536xf32>
  %zero = arith.constant dense<0.0> : tensor<65536xf32>
  %p = arith.cmpf ogt, %c, %zero : tensor<65536xf32>
  %d = arith.select %p, %c, %zero : tensor<65536xi1>, tensor<65536xf32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>
  tt.store %op, %d, %m : tensor<65536x!tt.ptr<f32>>
  tt.return
}
