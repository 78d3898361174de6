#!/usr/bin/env python3
"""Times of the AMD timing model (docs/amd_timing.md) against measured ones of hand-written GEMM kernels.

  aiter_calibration.py --aiter DIR --tessera PATH [--rows N] [--family F]... [--out FILE.json] [--from FILE.json]

DIR is a checkout of github.com/ROCm/aiter, or its git directory. Its tables aiter/configs/**/*tuned*.csv have
measured times of kernels whose objects are under hsa/. Each row becomes a launch: arguments and grid as in
csrc/py_itfs_cu. A few workgroups are executed and timed by `tessera time --cold` (the tuner copies the arguments so
often that they do not stay in the caches), and the sum is compared with the table. Data are zeros: the code's control
flow does not depend on them.

A hash of the row (gfx, compute units, M, N, K, split, kernel) decides to which half it belongs. Three numbers for each
board are fitted on the first half, by the mean of |log(predicted / measured)|: what a launch takes, its clock while the
matrix units are idle, and its clock while all are busy. The figures of the second half are those that count.

Kernels of fp8, i8 and f4 with a split K add to their result, which the host code clears before. By the first half of
the rows the tables' times do not contain that, so those here do not either.

What the executor does not know is counted and named. Nothing of the checkout is kept.
"""
import argparse
import collections
import concurrent.futures
import csv
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

FAMILIES = ["bf16gemm", "i8gemm", "fp8gemm_blockscale", "f4gemm"]
BOARDS = {("gfx942", 304): "MI300X", ("gfx942", 80): "MI308X", ("gfx950", 256): "MI355X"}


class Checkout:
    """Files of a work tree or of a git directory without one."""

    def __init__(self, path):
        self.path = path
        self.bare = not os.path.isdir(os.path.join(path, "hsa"))

    def git(self, *command):
        return subprocess.run(["git", "--git-dir", self.path, *command], capture_output=True, check=True).stdout

    def files(self, folder):
        if self.bare:
            return self.git("ls-tree", "-r", "--name-only", "HEAD", folder).decode().split("\n")
        return [os.path.relpath(os.path.join(d, f), self.path)
                for d, _, names in os.walk(os.path.join(self.path, folder)) for f in names]

    def read(self, path):
        if self.bare:
            return self.git("show", "HEAD:" + path)
        with open(os.path.join(self.path, path), "rb") as f:
            return f.read()


def table(checkout, path):
    return csv.DictReader(io.StringIO(checkout.read(path).decode()))


def kernels_of(checkout):
    """{(gfx, kernel): {family, object's path, tile, what it supports}}"""
    kernels = {}
    for gfx in ("gfx942", "gfx950"):
        for family in FAMILIES:
            folder = f"hsa/{gfx}/{family}"
            for path in checkout.files(folder):
                if not path.endswith(".csv"):
                    continue
                for row in table(checkout, path):
                    row = {k.lower().replace("_", ""): v for k, v in row.items()}
                    kernels[gfx, row["knlname"]] = {
                        "family": family, "object": f"{folder}/{row['coname']}", "m": int(row["tilem"]),
                        "n": int(row["tilen"]), "split": row["splitk"] == "1", "subk": int(row.get("subk") or 64)}
    return kernels


def measured_rows(checkout, kernels):
    rows = {}
    for path in checkout.files("aiter/configs"):
        name = os.path.basename(path)
        if not name.endswith(".csv") or "tuned" not in name or "untuned" in name:
            continue
        for r in table(checkout, path):
            gfx, kernel = r.get("gfx"), r.get("kernelName")
            if (gfx, kernel) not in kernels or not r.get("K") or float(r.get("us") or 0) <= 0:
                continue
            row = {"gfx": gfx, "cu": int(r["cu_num"]), "M": int(r["M"]), "N": int(r["N"]), "K": int(r["K"]),
                   "split": int(r.get("splitK") or 0), "kernel": kernel, "us": float(r["us"]),
                   "out": r.get("outdtype", ""), "bias": r.get("bias") == "True"}
            key = ",".join(str(row[k]) for k in ("gfx", "cu", "M", "N", "K", "split", "kernel"))
            row["hash"] = hashlib.sha256(key.encode()).hexdigest()
            rows.setdefault(key, row)
    return sorted(rows.values(), key=lambda r: r["hash"])


def is_fitted(row):
    return int(row["hash"][-1], 16) % 2 == 0


# ---- launches: the fields of the kernels' argument structures lie 16 bytes apart ----

def buffer(name, dtype, *shape):
    return {"name": name, "dtype": dtype, "shape": list(shape), "fill": 0}


def up(a, b):
    return -(-a // b)


def rows_of(count, tile):
    """Rows of an operand: the kernels read whole tiles, and prefetch after the last row; it goes to no result."""
    return up(count, tile) * tile + 1


def launch_bf16(row, k):
    m, n, kdim = row["M"], row["N"], row["K"]
    split = min(row["split"], 16, kdim // k["subk"]) if k["split"] else 1
    split = max(split, 1)
    out_dtype, out_bytes = ("f32", 4) if "float32" in row["out"] else ("bf16", 2)
    fields = [buffer("D", out_dtype, m, n), None, buffer("A", "bf16", rows_of(m, k["m"]), kdim),
              buffer("B", "bf16", rows_of(n, k["n"]), kdim),
              1.0, 0.0, n * out_bytes, 0, n * out_bytes, 0, kdim * 2, 0, kdim * 2, 0, m, n, kdim, split,
              int(out_bytes == 2), buffer("bias", "f32", n) if row["bias"] else None, int(row["bias"]),
              buffer("semaphore", "i32", 16, 64) if split > 1 else None]
    return fields, [up(n, k["n"]), up(m, k["m"]), split]


def launch_i8(row, k):
    m, n, kdim = row["M"], row["N"], row["K"]
    split = max(row["split"], 1)
    fields = [buffer("C", "bf16", m, n), buffer("A", "i8", rows_of(m, k["m"]), kdim),
              buffer("B", "i8", rows_of(n, k["n"]), kdim),
              buffer("SA", "f32", up(m, 256) * 256), buffer("SB", "f32", n), buffer("bias", "f32", n), m, n, kdim, kdim,
              kdim, n * 2, split]
    return fields, [n // k["n"] * split, up(m, k["m"]), 1]


def launch_fp8(row, k):
    m, n, kdim = row["M"], row["N"], row["K"]
    split = max(row["split"], 1)
    fields = [buffer("C", "bf16", m, n), buffer("A", "i8", rows_of(m, k["m"]), kdim),
              buffer("B", "i8", rows_of(n, k["n"]), kdim),
              buffer("SA", "f32", up(kdim, 128) * m + k["m"]),
              buffer("SB", "f32", up(n, 128), up(kdim, 128)),
              buffer("bias", "f32", n), m, n, kdim, kdim, kdim, n * 2, split, m, up(n, 128), up(kdim, 128)]
    return fields, [n // k["n"] * split, up(m, k["m"]), 1]


def launch_f4(row, k):
    m, n, kdim = row["M"], row["N"], row["K"]
    parts = 1 << row["split"] if k["split"] else 1
    each = up(up(kdim, parts), 256) * 256
    scales = up(up(kdim, 32), 8) * 8
    fields = [buffer("D", "bf16", m, n), None, buffer("A", "i8", rows_of(m, k["m"]), up(kdim, 2)),
              buffer("B", "i8", rows_of(n, k["n"]), up(kdim, 2)),
              1.0, 0.0, 0, 0, n, 0, kdim, 0, kdim, 0, m, n, kdim, buffer("ScaleA", "i8", up(m, 256) * 256, scales),
              buffer("ScaleB", "i8", up(n, 256) * 256, scales), scales, 0, scales, 0, row["split"] if k["split"] else 0]
    return fields, [up(n, k["n"]), up(m, k["m"]), up(kdim, each)]


LAUNCHES = {"bf16gemm": launch_bf16, "i8gemm": launch_i8, "fp8gemm_blockscale": launch_fp8, "f4gemm": launch_f4}


def arguments_of(path, readelf):
    """[(offset, size)] of an object's arguments, from its metadata."""
    text = subprocess.run([readelf, "--notes", path], capture_output=True, text=True, check=True).stdout
    return [(int(o), int(s)) for o, s in re.findall(r"\.offset:\s+(\d+)\s+\.size:\s+(\d+)", text)]


def description(row, kernel, layout):
    fields, grid = LAUNCHES[kernel["family"]](row, kernel)
    args = []
    for offset, size in layout:
        field = fields[offset // 16] if offset % 16 == 0 and offset // 16 < len(fields) else 0
        if isinstance(field, dict):
            args.append(field)
        elif isinstance(field, float):
            args.append({"name": f"at{offset}", "scalar": field, "type": "f32"})
        else:
            args.append({"name": f"at{offset}", "scalar": field or 0, "type": f"i{8 * size}"})
    return {"kernel": row["kernel"], "grid": grid, "num_warps": 4, "args": args}


def predict(checkout, row, kernel, o):
    with tempfile.TemporaryDirectory(prefix="aiter_calibration") as folder:
        path = os.path.join(folder, "kernel.co")
        with open(path, "wb") as f:
            f.write(checkout.read(kernel["object"]))
        launch = os.path.join(folder, "launch.json")
        with open(launch, "w") as f:
            json.dump(description(row, kernel, arguments_of(path, o.readelf)), f)
        command = [o.tessera, "time", path, "--launch", launch, "--kernel", row["kernel"], "--cold",
                   "--compute-units", str(row["cu"]), "--neighbours", str(o.neighbours), "--json", "-", *o.option]
        try:
            r = subprocess.run(command, capture_output=True, text=True, timeout=o.time_limit)
        except subprocess.TimeoutExpired:
            return {"error": "time limit"}
    if r.returncode:
        lines = [line for line in r.stderr.strip().splitlines() if "error" in line] or ["exit " + str(r.returncode)]
        return {"error": lines[0].replace(folder, "")[:300]}
    return json.loads(r.stdout)


# ---- statistics ----

def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def spearman(a, b):
    if len(a) < 3:
        return float("nan")
    x, y = ranks(a), ranks(b)
    mx, my = sum(x) / len(x), sum(y) / len(y)
    top = sum((p - mx) * (q - my) for p, q in zip(x, y))
    bottom = math.sqrt(sum((p - mx) ** 2 for p in x) * sum((q - my) ** 2 for q in y))
    return top / bottom if bottom else float("nan")


def median(values):
    s = sorted(values)
    return (s[(len(s) - 1) // 2] + s[len(s) // 2]) / 2 if s else float("nan")


UNFITTED = None  # the numbers of machine.def


def time_with(row, fit):
    """fit: launch in us; time of execution over that at the peak clock with idle matrix units, and what is added to it
    if all of them are busy."""
    m = row["model"]
    if fit is UNFITTED:
        launch, execution = m["launch_us"], m["execution_us"]
    else:
        launch, idle, busy = fit
        at_peak = m["execution_us"] * m["clock_mhz"] / m["peak_clock_mhz"]
        execution = at_peak * (idle + busy * m["matrix_load"])
    return launch + max(execution, m["bandwidth_us"])


def errors(rows, fit):
    return [abs(time_with(r, fit) / r["us"] - 1) for r in rows]


def fit_board(rows):
    best, least = UNFITTED, float("inf")
    for launch in (0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6):
        for idle in [0.8 + 0.05 * i for i in range(21)]:
            for busy in [0.1 * i for i in range(13)]:
                e = sum(abs(math.log(time_with(r, (launch, idle, busy)) / r["us"])) for r in rows)
                if e < least:
                    best, least = (launch, idle, busy), e
    return best


def describe_fit(fit, peak):
    if fit is UNFITTED:
        return "nothing fitted"
    launch, idle, busy = fit
    return f"launch {launch} µs, clock {peak / idle:.0f} MHz, with busy matrix units {peak / (idle + busy):.0f} MHz"


def line(name, rows, fit):
    if not rows:
        return
    e = errors(rows, fit)
    worst = max(rows, key=lambda r: abs(math.log(time_with(r, fit) / r["us"])))
    print(f"| {name} | {len(rows)} | {spearman([time_with(r, fit) for r in rows], [r['us'] for r in rows]):.3f} | "
          f"{100 * median(e):.1f} % | {100 * sorted(e)[int(0.9 * (len(e) - 1))]:.0f} % | "
          f"{worst['M']}×{worst['N']}×{worst['K']} {worst['kernel'].split('aiter')[-1][2:-1]}: "
          f"{time_with(worst, fit):.1f} for {worst['us']:.1f} µs |")


def report(rows):
    done = [r for r in rows if "error" not in r["model"]]
    print(f"{len(done)} of {len(rows)} rows were timed")
    reasons = collections.Counter(re.sub(r"0x[0-9a-f]+|\d+", "N", r["model"]["error"]) for r in rows
                                  if "error" in r["model"])
    for reason, n in reasons.most_common(20):
        print(f"  {n}: {reason}")
    fits = {}
    for board in sorted({(r["gfx"], r["cu"]) for r in done}):
        fitted = [r for r in done if (r["gfx"], r["cu"]) == board and is_fitted(r)]
        fits[board] = fit_board(fitted) if len(fitted) >= 8 else UNFITTED
        name = BOARDS.get(board, "%s, %d compute units" % board)
        peak = next(r["model"]["peak_clock_mhz"] for r in done if (r["gfx"], r["cu"]) == board)
        print(f"{name}: {describe_fit(fits[board], peak)}, by {len(fitted)} rows")
    print("\n| rows not used for fitting | rows | rank correlation | median error | 90 % below | worst |")
    print("|---|---|---|---|---|---|")
    for board, fit in fits.items():
        held = [r for r in done if (r["gfx"], r["cu"]) == board and not is_fitted(r)]
        name = BOARDS.get(board, str(board))
        for family in FAMILIES:
            line(f"{name} {family}", [r for r in held if r["family"] == family], fit)
        line(f"**{name}**", held, fit)
        line(f"{name}, nothing fitted", held, UNFITTED)


def write_rows(path, rows):
    with open(path + ".part", "w") as f:
        json.dump(rows, f, indent=1)
    os.replace(path + ".part", path)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--aiter", help="checkout of ROCm/aiter, or its git directory")
    p.add_argument("--tessera", help="the program")
    p.add_argument("--rows", type=int, default=0, help="only so many rows of each family and board, by their hash")
    p.add_argument("--family", action="append", choices=FAMILIES, help="only these (may be repeated)")
    p.add_argument("--gfx", help="only this target")
    p.add_argument("--neighbours", type=int, default=31, help="as for tessera time")
    p.add_argument("--option", action="append", default=[], help="another option of tessera time")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--time-limit", type=int, default=300, help="seconds for one row")
    p.add_argument("--readelf", default="llvm-readelf-22")
    p.add_argument("--out", help="write all rows with their times as JSON")
    p.add_argument("--from", dest="earlier", help="report the rows of such a file instead")
    o = p.parse_args()
    if o.earlier:
        with open(o.earlier) as f:
            report(json.load(f))
        return 0
    if not o.aiter or not o.tessera:
        p.error("--aiter and --tessera are needed, or --from")
    checkout = Checkout(o.aiter)
    kernels = kernels_of(checkout)
    rows = []
    taken = collections.Counter()
    for row in measured_rows(checkout, kernels):
        row["family"] = kernels[row["gfx"], row["kernel"]]["family"]
        group = row["gfx"], row["cu"], row["family"]
        if (o.family and row["family"] not in o.family) or (o.gfx and row["gfx"] != o.gfx):
            continue
        if o.rows and taken[group] >= o.rows:
            continue
        taken[group] += 1
        rows.append(row)
    # Groups alternate: a run that is stopped has rows of all.
    order = collections.Counter()
    for row in rows:
        group = row["gfx"], row["cu"], row["family"]
        row["place"] = order[group]
        order[group] += 1
    rows.sort(key=lambda r: r.pop("place"))
    written = 0.0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        jobs = {pool.submit(predict, checkout, r, kernels[r["gfx"], r["kernel"]], o): r for r in rows}
        for n, job in enumerate(concurrent.futures.as_completed(jobs)):
            jobs[job]["model"] = job.result()
            if o.out and (n + 1 == len(rows) or time.monotonic() > written + 10):
                write_rows(o.out, [r for r in rows if "model" in r])
                written = time.monotonic()
            if sys.stderr.isatty():
                print(f"\r{n + 1} of {len(rows)} rows", end="", file=sys.stderr)
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
