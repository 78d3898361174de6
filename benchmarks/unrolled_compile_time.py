#!/usr/bin/env python3
"""How long a loop compiles by the size of its unrolled body: what `unrolledMaxOperations` (ir/tuning.def) bounds.

  unrolled_compile_time.py build/tools/tessera [--targets sm_90a,gfx942,gfx1201] [--copies 512,819]

The body is 10 operations on 256 elements by 4 warps; seconds are processor time to the object, ptxas included.
"""

import argparse
import os
import resource
import subprocess
import tempfile

OPERATIONS = 10
KERNEL = """module {
  tt.func public @k(%a: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f32> {tt.divisibility = 16 : i32},
                    %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c256 = arith.constant 256 : i32
    %zero = arith.constant dense<0.0> : tensor<256xf32>
    %range = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %as = tt.splat %a : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %bs = tt.splat %b : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%before = %zero) -> (tensor<256xf32>) : i32 {
      %first = arith.muli %i, %c256 : i32
      %firsts = tt.splat %first : i32 -> tensor<256xi32>
      %at = arith.addi %firsts, %range : tensor<256xi32>
      %p = tt.addptr %as, %at : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
      %x = tt.load %p : tensor<256x!tt.ptr<f32>>
      %e = math.exp %x : tensor<256xf32>
      %m = arith.mulf %e, %x : tensor<256xf32>
      %s = arith.addf %m, %before : tensor<256xf32>
      scf.yield %s : tensor<256xf32>
    } {tt.loop_unroll_factor = COPIES : i32}
    %q = tt.addptr %bs, %range : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
    tt.store %q, %sum : tensor<256x!tt.ptr<f32>>
    tt.return
  }
}
"""


def processor_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tessera")
    parser.add_argument("--targets", default="sm_90a,gfx942,gfx1201")
    parser.add_argument("--copies", default="128,256,512,819")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "k.ttir")
        for target in given.targets.split(","):
            for copies in map(int, given.copies.split(",")):
                with open(text, "w") as f:
                    f.write(KERNEL.replace("COPIES", str(copies)))
                command = [given.tessera, "compile", text, "--target", target, "-o", os.path.join(folder, "object")]
                print(f"{target} {OPERATIONS * copies:6} operations {processor_seconds(command):6.1f} s", flush=True)


if __name__ == "__main__":
    main()
