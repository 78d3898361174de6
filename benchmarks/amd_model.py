#!/usr/bin/env python3
"""Predicted times of kernels on AMD GPUs: two versions of Tessera and Triton, by the same model (docs/amd_timing.md).

  amd_model.py --new build/tools/tessera [--old OLD/tessera] [--model build/tools/tessera] [--targets gfx942,gfx950]
               [--skip-pass PASS] [--jobs N] [--json OUT] [--triton-from EARLIER] KERNEL_DIR…

A kernel's folder has NAME/NAME.ttir and launch.json or bench.json, whose grid, arguments, warps and stages are used for
all compilers (amd_kernels.py makes 80 of them). Triton is included if this Python has it (3.6.0; no GPU is needed), or
its figures come from the JSON of an earlier run. `--skip-pass` is given to both versions of Tessera, if they have the
pass: order-programs changes which programs are sampled, which matters where they differ in length.

Prints a table in Markdown: microseconds; times as fast as Triton; executed wave instructions of a replayed workgroup,
relative to Triton's; cycles of LDS that are bank conflicts (Triton's in brackets).
"""
import argparse
import concurrent.futures
import json
import math
import os
import subprocess
import tempfile

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
        return None, {"error": "over %d s" % limit}
    lines = (r.stderr or r.stdout).strip().splitlines()
    return (r, {}) if r.returncode == 0 else (None, {"error": lines[0] if lines else "exit code %d" % r.returncode})


def predicted(o, obj, spec, threads, lds):
    """The model's figures, or {"error": why not}."""
    command = [o.model, "time", obj, "--launch", spec, "--threads-per-block", str(threads), "--dynamic-lds", str(lds)]
    r, error = run(command + ["--json", obj + ".time", *o.option], o.time_limit)
    if not r:
        return error
    j = json.load(open(obj + ".time"))
    return {"us": j["us"], "instructions": j["replayed_instructions"] / j["replayed_workgroups"],
            "matrix": 100 * j["busy"].get("matrix", 0), "conflicts": j["lds_conflict_cycles"] / max(1, j["lds_cycles"]),
            "resident": j["resident_workgroups"], "bound_by": j["bound_by"]}  # fmt: skip


def compiled_by_tessera(tessera, o, tmp, case, target):
    """{object, threads, lds, spill_bytes, compile_ms}, or {"error": why not}."""
    name, folder, _, launch = case
    obj, meta = "%s/k.hsaco" % tmp, "%s/k.json" % tmp
    command = [tessera, "compile", "%s/%s.ttir" % (folder, name), "--target", target, "--emit", "hsaco", "-o", obj,
               "--metadata", meta, "--num-warps", str(launch["num_warps"]), "--num-stages", str(launch["num_stages"])]
    if o.skip_pass:
        known = subprocess.run([tessera, "opt", "--list-passes=markdown"], capture_output=True, text=True).stdout
        command += ["--skip-pass", o.skip_pass] if "`" + o.skip_pass in known else []
    r, error = run(command, o.time_limit)
    if not r:
        return error
    m = json.load(open(meta))
    return {"object": obj, "threads": m["threads_per_block"], "lds": m["dynamic_shared_bytes"],
            "spill_bytes": m["spill_bytes"], "compile_ms": sum(m["compile_ms"].values())}  # fmt: skip


def compiled_by_triton(o, tmp, case, target):
    """{object, threads, lds}, or {"error": why not}."""
    name, folder, _, launch = case
    warp = 64 if target.startswith("gfx9") else 32
    options = {"num_warps": launch["num_warps"], "num_stages": launch["num_stages"]}
    try:
        k = triton.compile("%s/%s.ttir" % (folder, name), target=GPUTarget("hip", target, warp), options=options)
    except Exception as e:  # whatever Triton raises is its answer
        return {"error": str(e).strip().splitlines()[0][:80] if str(e).strip() else type(e).__name__}
    obj = "%s/t.hsaco" % tmp
    open(obj, "wb").write(k.asm["hsaco"])
    return {"object": obj, "threads": warp * launch["num_warps"], "lds": k.metadata.shared}


def by_tessera(tessera, o, tmp, case, target):
    built = compiled_by_tessera(tessera, o, tmp, case, target)
    return built if "error" in built else predicted(o, built["object"], case[2], built["threads"], built["lds"])


def by_triton(o, tmp, case, target):
    built = compiled_by_triton(o, tmp, case, target)
    return built if "error" in built else predicted(o, built["object"], case[2], built["threads"], built["lds"])


def measure(o, folder, target, triton_row):
    name = os.path.basename(os.path.normpath(folder))
    spec = next(f for f in ("%s/launch.json" % folder, "%s/bench.json" % folder) if os.path.exists(f))
    case = name, folder, spec, json.load(open(spec))
    with tempfile.TemporaryDirectory(prefix="amd_model") as tmp:
        row = {"kernel": name, "target": target}
        row["before"] = by_tessera(o.old, o, tmp, case, target) if o.old else {"error": ""}
        row["after"] = by_tessera(o.new, o, tmp, case, target)
        row["triton"] = triton_row or (by_triton(o, tmp, case, target) if triton else {"error": ""})
        return row


def ratio(a, b, key):
    return a[key] / b[key] if key in a and key in b else None


def line(r):
    def text(x):
        return "%.2f µs" % x["us"] if "us" in x else x["error"].replace("|", "/")[:60]

    def quotient(a, b, key="us"):
        q = ratio(a, b, key)
        return "%.2f" % q if q else ""

    old, new, other = r["before"], r["after"], r["triton"]
    conflicts = "%.0f %%" % (100 * new["conflicts"]) if "us" in new else ""
    conflicts += " (%.0f %%)" % (100 * other["conflicts"]) if "us" in other else ""
    cells = [r["kernel"], r["target"], text(old), text(new), quotient(old, new), text(other), quotient(other, new),
             quotient(new, other, "instructions"), conflicts]  # fmt: skip
    return "| %s |" % " | ".join(cells)


def summary(rows, target):
    rows = [r for r in rows if r["target"] == target]
    ratios = (("before", "after", "us", "before / after"), ("triton", "after", "us", "Triton / after"),
              ("after", "triton", "instructions", "instructions, after / Triton"))  # fmt: skip
    for first, second, key, what in ratios:
        q = {r["kernel"]: ratio(r[first], r[second], key) for r in rows if ratio(r[first], r[second], key)}
        if not q:
            continue
        mean = math.exp(sum(map(math.log, q.values())) / len(q))
        worst = (max if key == "instructions" else min)(q, key=q.get)
        print("\n%s, %s: geometric mean %.2f over %d kernels, worst %.2f (%s)"
              % (target, what, mean, len(q), q[worst], worst))  # fmt: skip


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--new", required=True)
    p.add_argument("--old")
    p.add_argument("--model", help="the tessera whose model is used; default: --new")
    p.add_argument("--targets", default="gfx942,gfx950")
    p.add_argument("--skip-pass")
    p.add_argument("--time-limit", type=float, default=120, help="seconds for a compilation or a prediction")
    p.add_argument("--option", action="append", default=[], help="another option of tessera time")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--json")
    p.add_argument("--triton-from", help="take Triton's figures from the --json of an earlier run")
    p.add_argument("kernels", nargs="+")
    o = p.parse_args()
    o.model = o.model or o.new
    earlier = json.load(open(o.triton_from)) if o.triton_from else []
    by_key = {(r["kernel"], r["target"]): r["triton"] for r in earlier}
    print("| kernel | target | before | after | before / after | Triton | Triton / after "
          "| instructions, after / Triton | LDS conflicts |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    rows = []
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        name = lambda folder: os.path.basename(os.path.normpath(folder))
        pending = [pool.submit(measure, o, folder, target, by_key.get((name(folder), target)))
                   for folder in o.kernels for target in o.targets.split(",")]  # fmt: skip
        for done in pending:
            rows.append(done.result())
            print(line(rows[-1]), flush=True)
            if o.json:
                json.dump(rows, open(o.json, "w"), indent=1)
    for target in o.targets.split(","):
        summary(rows, target)


if __name__ == "__main__":
    main()
