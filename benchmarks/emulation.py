#!/usr/bin/env python3
"""Times of Triton's kernels without a GPU: Triton's interpreter mode, and tessera's interpreter and emulators.

    python benchmarks/emulation.py [--target sm_90a]... [--kernel NAME]... [--repeat 3]

Needs the packages triton, torch (on the CPU) and tessera-gpu; numpy below 2.4 for Triton 3.6's interpreter mode. One
process runs all kernels in one way. The fastest of the launches after the first counts; the first, which compiles, in
brackets. Prints a table in Markdown, in seconds.
"""

import argparse
import json
import os
import subprocess
import sys
import time


def measure(name, repeat, clock):
    """Seconds of the first launch, and of the fastest of the others."""
    import torch
    from emulated_kernels import CASES

    torch.manual_seed(0)
    launch, made, expected = CASES[name]()
    times = []
    for _ in range(repeat + 1):
        start = clock()
        launch()
        times.append(clock() - start)
    exact = not (made[0] if isinstance(made, tuple) else made).is_floating_point()
    # Sums of 16-bit operands in another order; halves may be rounded to another integer.
    torch.testing.assert_close(made, expected, rtol=0 if exact else 3e-2, atol=1 if exact else 3e-2)
    return times[0], min(times[1:])


def child(way, names, repeat, clock):
    """Prints a line of JSON for each kernel."""

    def run(name):
        try:
            return measure(name, repeat, clock)
        except Exception as e:
            print(f"{name} with {way} fails: {type(e).__name__}: {e}", file=sys.stderr)
            return None

    if way == "TRITON_INTERPRET=1":
        for name in names:
            print(json.dumps(run(name)), flush=True)
        return
    import tessera.triton

    with tessera.triton.emulate(way):
        for name in names:
            print(json.dumps(run(name)), flush=True)


NAMES = [
    "vector addition, 2^18",
    "softmax, 256 x 1000",
    "layer norm, 256 x 1000",
    "layer norm backward, 256 x 1000",
    "matmul, 512^3",
    "persistent matmul by descriptors, 512^3",
    "attention, 512 x 64",
    "cross entropy, 256 x 8000",
    "quantise to int8, 256 x 1000",
    "sort, 256 x 1024",
    "top 16 of 256 x 1024",
    "recurrence and sums, 256 x 1000",
    "histogram, 2^16",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", help="emulated targets; default: sm_90a and gfx942")
    parser.add_argument("--kernel", action="append", choices=NAMES, metavar="NAME", help=f"one of: {'; '.join(NAMES)}")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="CPU time of all threads, for machines that others use")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    o = parser.parse_args()
    names = o.kernel or NAMES
    if o.child:
        return child(o.child, names, o.repeat, time.process_time if o.cpu else time.perf_counter)
    ways = ["TRITON_INTERPRET=1", "interpreter", *(o.target or ["sm_90a", "gfx942"])]
    columns = []
    for way in ways:
        given = {"TRITON_INTERPRET": "1"} if way == "TRITON_INTERPRET=1" else {}
        command = [sys.executable, __file__, "--child", way, "--repeat", str(o.repeat), *["--cpu"] * o.cpu]
        for name in names:
            command += ["--kernel", name]
        child_process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **given})
        columns.append([])
        for line in child_process.stdout:
            columns[-1].append(json.loads(line))
            if sys.stderr.isatty():
                print(f"\r\x1b[2K{way}: {len(columns[-1])} of {len(names)}", end="", file=sys.stderr, flush=True)
        if child_process.wait():
            sys.exit(f"{way}: the process failed")
    if sys.stderr.isatty():
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
    print("| kernel | " + " | ".join(ways) + " |\n|---" + "|---" * len(ways) + "|")
    for name, row in zip(names, zip(*columns)):
        cells = ["fails" if times is None else f"{times[1]:.3f} ({times[0]:.2f})" for times in row]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
