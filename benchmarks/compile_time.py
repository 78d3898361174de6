#!/usr/bin/env python3
"""CPU time of compilations inside a process: two builds of libtessera.so, alternately.

  compile_time.py OLD NEW [--kernels DIR]... [--targets T,T] [--warps 4] [--rounds 7] [--worst N] [--json FILE]

OLD and NEW are two libraries (`ninja tessera_capi`). Each is loaded by a process of its own, which compiles every
kernel once, so that code is loaded and tables are filled, and then one kernel at a time, alternating with the other.
Starting a process and loading LLVM are not part of the times. A DIR is searched for *.ttir, *.ttgir
and *.mlir files (default: tests/kernels); what both refuse is left out. Output: PTX or AMDGCN.

The time of a compilation is the processor time of its process (user and system), so that other load on the machine
matters little; the fastest of all rounds counts. Per target: kernels, sums, the ratio of the sums, the geometric mean
of the ratios with its 95 % interval (bootstrap over the kernels), and the ratio of the sums in odd and in even rounds,
which differ by noise only; then the sums of the stages of the metadata's `compile_ms` (wall time, fastest of all
rounds). `--worst` lists the kernels whose time has grown most, with their stages.
"""
import argparse
import json
import math
import pathlib
import random
import sys

from compiler_library import Worker

ROOT = pathlib.Path(__file__).resolve().parent.parent


def measure(workers, cases, rounds):
    """{case: [{"cpu": [ms], "stages": {stage: ms}} of each worker]}"""
    times = {}
    for case in cases:
        if any(worker.compile(case)[0] for worker in workers):
            continue
        rows = times[case] = [{"cpu": [], "stages": {}} for _ in workers]
        for round_ in range(rounds):
            order = (0, 1) if round_ % 2 else (1, 0)
            for side in order:
                _, _, metadata, _, cpu = workers[side].compile(case)
                rows[side]["cpu"].append(cpu)
                fastest = rows[side]["stages"]
                for name, ms in metadata["compile_ms"].items():
                    fastest[name] = min(fastest.get(name, ms), ms)
    return times


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def interval(ratios):
    """95 % interval of the geometric mean, bootstrap over the kernels."""
    source = random.Random(1)
    means = sorted(geometric_mean(source.choices(ratios, k=len(ratios))) for _ in range(2000))
    return means[50], means[1949]


def stages_of(rows):
    """The sums of the stages on both sides."""
    sums = [{}, {}]
    for row in rows:
        for side in (0, 1):
            for name, ms in row[side]["stages"].items():
                sums[side][name] = sums[side].get(name, 0) + ms
    names = list(sums[1]) + [s for s in sums[0] if s not in sums[1]]
    return ", ".join(f"{s} {sums[0].get(s, 0):.1f} -> {sums[1].get(s, 0):.1f}" for s in names)


def report(name, rows):
    old, new = ([min(row[side]["cpu"]) for row in rows] for side in (0, 1))
    ratios = [b / a for a, b in zip(old, new)]
    halves = []
    for half in (0, 1):
        sums = [sum(min(row[side]["cpu"][half::2]) for row in rows) for side in (0, 1)]
        halves.append(sums[1] / sums[0])
    form = "%-8s %3d kernels: %9.1f ms, %9.1f ms, %.4f (half the rounds: %.4f, %.4f), mean %.4f [%.4f, %.4f]"
    figures = *halves, geometric_mean(ratios), *interval(ratios)
    print(form % (name, len(rows), sum(old), sum(new), sum(new) / sum(old), *figures))
    print("    " + stages_of(rows))


def list_worst(times, count):
    def growth(item):
        return min(item[1][1]["cpu"]) / min(item[1][0]["cpu"])

    for (file, target, warps), rows in sorted(times.items(), key=growth, reverse=True)[:count]:
        old, new = (min(row["cpu"]) for row in rows)
        print(f"{pathlib.Path(file).stem} {target} warps {warps}: {old:.1f} ms, {new:.1f} ms, {new / old:.2f}")
        print("    " + stages_of([rows]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--kernels", action="append", default=[])
    parser.add_argument("--targets", default="sm_90a,gfx942")
    parser.add_argument("--warps", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--json")
    options = parser.parse_args()
    folders = options.kernels or [str(ROOT / "tests/kernels")]
    found = [f for folder in folders for f in pathlib.Path(folder).rglob("*")]
    files = sorted(str(f) for f in found if f.suffix in (".ttir", ".ttgir", ".mlir"))
    targets = options.targets.split(",")
    workers = [Worker(options.old), Worker(options.new)]
    times = measure(workers, [(f, t, options.warps) for t in targets for f in files], options.rounds)
    if not times:
        sys.exit("compile_time.py: no kernel compiles with both")
    for target in targets:
        rows = [row for case, row in times.items() if case[1] == target]
        if rows:
            report(target, rows)
    report("all", list(times.values()))
    list_worst(times, options.worst)
    if options.json:
        listed = [{"file": f, "target": t, "warps": w, "old": a, "new": b} for (f, t, w), (a, b) in times.items()]
        pathlib.Path(options.json).write_text(json.dumps(listed, indent=1))


if __name__ == "__main__":
    main()
