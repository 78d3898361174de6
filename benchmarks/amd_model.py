#!/usr/bin/env python3
"""Predicted times of kernels on AMD GPUs: two versions of Tessera and Triton, by the same model (docs/amd_timing.md).

  amd_model.py --new build/tools/tessera [--old OLD/tessera] [--model build/tools/tessera] [--targets gfx942,gfx950]
               [--skip-pass PASS] [--json OUT] KERNEL_DIR…

A kernel's folder has NAME/NAME.ttir and launch.json or bench.json, whose grid, arguments, warps and stages are used for
all compilers. Triton is included if this Python has it (3.6.0; no GPU is needed). `--skip-pass` is given to both
versions of Tessera, if they have the pass: order-programs changes which programs are sampled, which matters where they
differ in length. Prints a table in Markdown: microseconds, and times as fast as Triton.
"""
import argparse
import json
import math
import os
import re
import subprocess
import tempfile

os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="triton"))
try:
    import triton
    from triton.backends.compiler import GPUTarget
except ImportError:
    triton = None


def run(command, limit):
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, "over %d s" % limit
    lines = (r.stderr or r.stdout).strip().splitlines()
    return (r, "") if r.returncode == 0 else (None, lines[0] if lines else "exit code %d" % r.returncode)


def predicted(model, obj, spec, threads, lds, limit):
    """(microseconds, matrix unit's busy percent), or (None, why not)."""
    command = [model, "time", obj, "--launch", spec, "--threads-per-block", str(threads), "--dynamic-lds", str(lds)]
    r, error = run(command, limit)
    if not r:
        return None, error
    micros = re.search(r": ([\d.]+) us \(model\)", r.stdout)
    busy = re.search(r"^matrix\s+([\d.]+) %", r.stdout, re.M)
    return float(micros.group(1)), float(busy.group(1)) if busy else 0.0


def by_tessera(tessera, o, name, folder, spec, launch, target):
    obj, meta = "%s/k.hsaco" % o.tmp, "%s/k.json" % o.tmp
    command = [tessera, "compile", "%s/%s.ttir" % (folder, name), "--target", target, "--emit", "hsaco", "-o", obj,
               "--metadata", meta, "--num-warps", str(launch["num_warps"]), "--num-stages", str(launch["num_stages"])]
    if o.skip_pass:
        known = subprocess.run([tessera, "opt", "--list-passes=markdown"], capture_output=True, text=True).stdout
        command += ["--skip-pass", o.skip_pass] if "`" + o.skip_pass in known else []
    r, error = run(command, o.time_limit)
    if not r:
        return None, error
    m = json.load(open(meta))
    return predicted(o.model, obj, spec, m["threads_per_block"], m["dynamic_shared_bytes"], o.time_limit)


def by_triton(o, name, folder, spec, launch, target):
    warp = 64 if target.startswith("gfx9") else 32
    options = {"num_warps": launch["num_warps"], "num_stages": launch["num_stages"]}
    try:
        k = triton.compile("%s/%s.ttir" % (folder, name), target=GPUTarget("hip", target, warp), options=options)
    except Exception as e:  # whatever Triton raises is its answer
        return None, str(e).strip().splitlines()[0][:80] if str(e).strip() else type(e).__name__
    obj = "%s/t.hsaco" % o.tmp
    open(obj, "wb").write(k.asm["hsaco"])
    threads = warp * launch["num_warps"]
    return predicted(o.model, obj, spec, threads, k.metadata.shared, o.time_limit)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--new", required=True)
    p.add_argument("--old")
    p.add_argument("--model", help="the tessera whose model is used; default: --new")
    p.add_argument("--targets", default="gfx942,gfx950")
    p.add_argument("--skip-pass")
    p.add_argument("--time-limit", type=float, default=120, help="seconds for a compilation or a prediction")
    p.add_argument("--json")
    p.add_argument("kernels", nargs="+")
    o = p.parse_args()
    o.model = o.model or o.new
    o.tmp = tempfile.mkdtemp(prefix="amd_model")
    print("| kernel | target | before | after | after / before | matrix unit busy | Triton | Triton / after |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    for folder in o.kernels:
        name = os.path.basename(os.path.normpath(folder))
        spec = next(f for f in ("%s/launch.json" % folder, "%s/bench.json" % folder) if os.path.exists(f))
        launch = json.load(open(spec))
        for target in o.targets.split(","):
            old = by_tessera(o.old, o, name, folder, spec, launch, target) if o.old else (None, "")
            new = by_tessera(o.new, o, name, folder, spec, launch, target)
            other = by_triton(o, name, folder, spec, launch, target) if triton else (None, "")
            text = lambda x: "%.1f µs" % x[0] if x[0] else x[1].replace("|", "/")[:60]
            ratio = lambda a, b: "%.2f" % (a[0] / b[0]) if a[0] and b[0] else ""
            busy = "%s → %s %%" % (old[1], new[1]) if old[0] and new[0] else ""
            print("| %s | %s | %s | %s | %s | %s | %s | %s |" % (name, target, text(old), text(new), ratio(new, old),
                                                               busy, text(other), ratio(other, new)), flush=True)
            rows.append({"kernel": name, "target": target, "before": old, "after": new, "triton": other})
    for target in o.targets.split(","):
        for key, what in (("before", "before / after"), ("triton", "Triton / after")):
            g = [math.log(r[key][0] / r["after"][0]) for r in rows
                 if r["target"] == target and r[key][0] and r["after"][0]]
            if g:
                mean = math.exp(sum(g) / len(g))
                print("\n%s, %s: geometric mean %.2f over %d kernels" % (target, what, mean, len(g)))
    if o.json:
        json.dump(rows, open(o.json, "w"), indent=1)


if __name__ == "__main__":
    main()
