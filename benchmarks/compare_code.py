#!/usr/bin/env python3
"""Compares the code that two builds of `tessera` make of the same kernels, byte by byte, and how long they take.

  compare_code.py OLD NEW [--kernels DIR]... [--conformance] [--targets T,T] [--warps 1,4,8] [--cache DIR] [--show N]
                          [--objects] [--diagnostics] [--json FILE]
  compare_code.py OLD NEW --time ROUNDS [--kernels DIR]... [--targets T,T] [--warps 4]

OLD and NEW are the two programs, or two libraries libtessera.so, which compile all kernels in one process each, in a
fraction of the time. A DIR is searched for *.ttir, *.ttgir and *.mlir files (default: tests/kernels); of equal texts
one is compiled. `--conformance` adds the conformance suite's `--quick` cases as OLD writes them (libraries: write them
with `tessera conformance --quick --dump DIR`). Every file is compiled to PTX or AMDGCN for every target (default: all
that NEW has) and number of warps. Exit code and bytes are compared; where both refuse a kernel, the diagnostics may
differ, which `--diagnostics` counts as a difference, too. `--json` writes every difference, with the texts of those
shown. For every target some kernel must compile. `--objects` compares the objects instead
(cubin, hsaco; NVIDIA's need ptxas or libnvJitLink) and the figures in their metadata: registers, spills, shared memory,
occupancy. `--cache` keeps the digests of OLD's output in a folder, by OLD and the kernel's text; with them only NEW is
run.

`--time` compiles with OLD and NEW alternately, ROUNDS times, and prints the ratio of the sums of the fastest times per
kernel (milliseconds inside the process, from the metadata's `compile_ms`).

Exit code: 0 no difference, 1 differences (each listed) or a target for which nothing compiles, 2 wrong usage.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from compiler_library import Worker, target_list

ROOT = pathlib.Path(__file__).resolve().parent.parent


def is_library(program):
    return ".so" in pathlib.Path(program).suffixes


def targets_of(program):
    """Every target of a compiler; a program lists them in the error about an unknown one."""
    if is_library(program):
        return target_list(program)
    text = subprocess.run([program, "compile", "-", "--target", "?"], input="", capture_output=True, text=True).stderr
    return [t for t in text.partition("targets: ")[2].strip().split(", ") if t]


STAGES = {"assembly": ("ptx", "amdgcn"), "object": ("cubin", "hsaco")}  # NVIDIA's, AMD's
FIGURES = ("registers", "spill_bytes", "static_shared_bytes", "dynamic_shared_bytes", "occupancy")


def compile_kernel(program, case, metadata=None, stage="assembly"):
    """(exit code, output, diagnostics) of one compilation. `case`: (file, target, warps)."""
    path, target, warps = case
    if is_library(program):
        return compile_by_library(program, case)
    emit = STAGES[stage][0 if target.startswith("sm_") else 1]
    command = [program, "compile", path, "--target", target, "--emit", emit, "--num-warps", str(warps), "-o", "-"]
    if metadata:
        command += ["--metadata", metadata]
    try:
        result = subprocess.run(command, capture_output=True, timeout=300)
    except subprocess.TimeoutExpired:
        return -1, b"", b"more than 300 s"
    return result.returncode, result.stdout, result.stderr


WORKERS = threading.local()


def compile_by_library(library, case):
    """As compile_kernel, by a process that stays."""
    workers = WORKERS.__dict__.setdefault("of", {})
    if library not in workers:
        workers[library] = Worker(library)
    status, code, _, message, _ = workers[library].compile(case)
    return status, code, message.encode()


def digest(result, diagnostics=False):
    """Exit code and digest of the code, or of the diagnostics of what is refused."""
    text = result[1] if result[0] == 0 else result[2] if diagnostics else b""
    return [result[0], hashlib.sha256(text).hexdigest() if text else ""]


def identity_of(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()


def usage(message):
    print("compare_code.py: " + message, file=sys.stderr)
    sys.exit(2)


def wanted_targets(options):
    known = targets_of(options.new)
    if not known:
        usage(f"{options.new} lists no targets")
    wanted = [t for t in options.targets.split(",") if t] if options.targets is not None else known
    unknown = [t for t in wanted if t not in known]
    if unknown or not wanted:
        usage(f"unknown targets: {', '.join(unknown) or 'none given'}; targets: {', '.join(known)}")
    return wanted


def digest_of_object(program, case):
    """Exit code, digest and figures of an object."""
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "metadata.json")
        result = digest(compile_kernel(program, case, path, "object"))
        if result[0] == 0:
            metadata = json.load(open(path))
            result += [metadata[f] for f in FIGURES]
        return result


def figures_that_differ(old, new):
    both = zip(FIGURES, old[2:], new[2:])
    return ", ".join(f"{name} {a} -> {b}" for name, a, b in both if a != b) or "same figures"


def kernel_files(options, scratch):
    folders = options.kernels or [str(ROOT / "tests/kernels")]
    if options.conformance:
        if is_library(options.old):
            usage("--conformance needs a program")
        dumped = os.path.join(options.cache or scratch, "conformance-" + identity_of(options.old)[:16])
        if not os.path.isdir(dumped):
            command = [options.old, "conformance", "--quick", "--dump", dumped]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        folders = folders + [dumped]
    found = [f for folder in folders for f in pathlib.Path(folder).rglob("*")]
    files = sorted(str(f) for f in found if f.suffix in (".ttir", ".ttgir", ".mlir"))
    if not files:
        usage("no kernels found")
    return list({identity_of(f): f for f in reversed(files)}.values())[::-1]


def progress(done, total, differences):
    if sys.stderr.isatty():
        end = "" if done < total else "\n"
        print(f"\r\033[K{done} of {total}, {differences} differ", end=end, file=sys.stderr, flush=True)


def show_differences(options, differences):
    listed = []
    for number, (case, old, new) in enumerate(differences):
        print(f"differs: {case[0]} {case[1]} warps {case[2]}: exit codes {old[0]} and {new[0]}")
        listed.append({"file": case[0], "target": case[1], "warps": case[2], "codes": [old[0], new[0]]})
        if options.objects:
            print(figures_that_differ(old, new))
            continue
        if number >= options.show:
            continue
        a, b = compile_kernel(options.old, case), compile_kernel(options.new, case)
        texts = [(r[1] if r[0] == 0 else r[2]).decode(errors="replace") for r in (a, b)]
        listed[-1]["texts"] = texts
        lines = [t.splitlines() for t in texts]
        print("\n".join(list(difflib.unified_diff(*lines, "old", "new", lineterm="", n=2))[:40]))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(listed, indent=1))


def compare(options, cases):
    known_path = os.path.join(options.cache, "digests.json") if options.cache else None
    known = json.load(open(known_path)) if known_path and os.path.exists(known_path) else {}
    identity = identity_of(options.old)
    texts = {path: identity_of(path) for path in {case[0] for case in cases}}
    if known.get("program") != identity:
        known = {"program": identity}
    lock_free = {}
    kind = "|object" if options.objects else "|diagnostics" if options.diagnostics else ""

    def digest_of(program, case):
        if options.objects:
            return digest_of_object(program, case)
        return digest(compile_kernel(program, case), options.diagnostics)

    def one(case):
        # The file's name matters to diagnostics only.
        key = "|".join(map(str, (texts[case[0]], *case[1:]))) + kind + (case[0] if options.diagnostics else "")
        old = known.get(key)
        if old is None:
            old = lock_free[key] = digest_of(options.old, case)
        return case, old, digest_of(options.new, case)

    differences, done, compiled, refused = [], 0, set(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, old, new in pool.map(one, cases):
            done += 1
            if old[0] == 0:
                compiled.add(case[1])
            refused += old[0] != 0 and new[0] != 0
            if old != new:
                differences.append((case, old, new))
            progress(done, len(cases), len(differences))
    if known_path:
        os.makedirs(options.cache, exist_ok=True)
        json.dump({**known, **lock_free}, open(known_path, "w"))
    show_differences(options, differences)
    failed = sorted({case[1] for case in cases} - compiled)
    for target in failed:
        print(f"no kernel compiles for {target}")
    print(f"{len(cases)} compilations, {len(differences)} differ; {refused} refused by both")
    return 1 if differences or failed else 0


def measure(options, cases, scratch):
    best = {}
    for round_ in range(options.time):
        for i, case in enumerate(cases):
            for side in ("old", "new") if round_ % 2 else ("new", "old"):
                metadata = os.path.join(scratch, "metadata.json")
                if compile_kernel(getattr(options, side), case, metadata)[0]:
                    continue
                ms = sum(json.load(open(metadata))["compile_ms"].values())
                key = (side, case)
                best[key] = min(best.get(key, ms), ms)
            progress(round_ * len(cases) + i + 1, options.time * len(cases), 0)
    both = [c for c in cases if ("old", c) in best and ("new", c) in best]
    old, new = (sum(best[side, c] for c in both) for side in ("old", "new"))
    if not both:
        print("no kernel compiles with both")
        return 1
    print(f"{len(both)} compilations: old {old:.1f} ms, new {new:.1f} ms, new/old {new / old:.4f}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--kernels", action="append", default=[])
    parser.add_argument("--conformance", action="store_true")
    parser.add_argument("--targets")
    parser.add_argument("--warps", default="1,4,8")
    parser.add_argument("--cache")
    parser.add_argument("--objects", action="store_true")
    parser.add_argument("--diagnostics", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--time", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    targets = wanted_targets(options)
    with tempfile.TemporaryDirectory() as scratch:
        files = kernel_files(options, scratch)
        cases = [(f, t, int(w)) for f in files for t in targets for w in options.warps.split(",")]
        return measure(options, cases, scratch) if options.time else compare(options, cases)


if __name__ == "__main__":
    sys.exit(main())
