#!/usr/bin/env python3
"""Time and page faults of whole processes that compile one small kernel: what starting a program costs.

  process_time.py PROGRAM... [--rounds N] [--kernel NAME]...

The programs run alternately, so that all have the same load. Per program, kernel and target: the shortest and the
median wall time, the shortest CPU time (user and system), and page faults; then their sums over all cases.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = [("sm_90a", "ptx"), ("gfx942", "hsaco")]


def run(command):
    """(wall ms, CPU ms, page faults)"""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status:
        sys.exit(f"process_time.py: {' '.join(command)} ended with status {status}")
    return 1e3 * wall, 1e3 * (usage.ru_utime + usage.ru_stime), usage.ru_minflt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--kernel", action="append", default=[])
    options = parser.parse_args()
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        for kernel in options.kernel or ["vecadd", "softmax_row", "mm_f16"]:
            for target, emit in CASES:
                times = {p: [] for p in options.programs}
                for _ in range(options.rounds):
                    for program in options.programs:
                        times[program].append(run([
                            program, "compile", str(ROOT / f"tests/kernels/{kernel}/{kernel}.ttir"), "--target", target,
                            "--emit", emit, "-o", os.path.join(folder, "out")]))
                for program in options.programs:
                    wall, cpu, faults = zip(*times[program])
                    row = min(wall), statistics.median(wall), min(cpu), min(faults)
                    sums[program] = [a + b for a, b in zip(sums.get(program, [0] * 4), row)]
                    line = "%-12s %-7s %8.2f ms, median %8.2f, CPU %8.2f, %6d faults  %s"
                    print(line % (kernel, target, *row, program))
    for program in options.programs:
        print("%-20s %8.2f ms, median %8.2f, CPU %8.2f, %6d faults  %s" % ("sum", *sums[program], program))


if __name__ == "__main__":
    main()
