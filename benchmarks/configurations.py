#!/usr/bin/env python3
"""Times matmul and attention kernels in many configurations on one NVIDIA GPU: tile sizes, warps, stages, types,
layouts, epilogues, ragged sizes, masks, grouped heads. The configurations are drawn from a seed (drawn_kernels.py), to
find cliffs that fixed lists miss. Needs torch and triton.

    TESSERA_TRITON=0 configurations.py --count 200 > triton.jsonl     # by Triton
    TESSERA_TRITON=1 configurations.py --count 200 > tessera.jsonl    # by Tessera, its wheel installed
    configurations.py --compare triton.jsonl tessera.jsonl

usage: configurations.py [--count N] [--seed N] [--only REGEX] [--jobs N]. Kernels are compiled by --jobs processes
first. A line per configuration: milliseconds (median of triton.testing.do_bench), TFLOP/s, relative error against
PyTorch in the Frobenius norm. A ratio above 1 means that the second file's code is faster. Configurations that do not
fit (shared memory, registers) are lines with an error.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys


def lines(file):
    return {c["case"]: c for c in (json.loads(line) for line in open(file) if line.startswith("{"))}


def compare(first_file, second_file):
    """Both files' figures, slowest ratio first, and geometric means by family."""
    first, second = lines(first_file), lines(second_file)
    rows, families = [], {}
    for name, a in first.items():
        b = second.get(name, {"error": "missing"})
        if "error" in a or "error" in b:
            print(f"{name:76} {a.get('error', 'ok')[:50]} | {b.get('error', 'ok')[:80]}")
            continue
        # 8-bit floats: the accumulators of wgmma are less exact than those of mma.sync, which either may choose
        # (1.35e-3 of sums of 4,096 terms by either compiler).
        least = 1.4e-3 if "e5m2" in name or "e4m3" in name else 1e-5
        wrong = "" if b["relative_error"] <= max(2 * a["relative_error"], least) else "  WRONG"
        rows.append((a["ms"] / b["ms"], name, a, b, wrong))
    for ratio, name, a, b, wrong in sorted(rows, key=lambda row: row[0]):
        print(f"{name:76} {a['ms']:9.4f} {b['ms']:9.4f} {ratio:6.2f} {b['rate']:8.1f} TFLOP/s{wrong}")
        families.setdefault(name.split(",")[0], []).append(ratio)
    families["all"] = [row[0] for row in rows]
    for family, ratios in families.items():
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        below = sum(r < 0.9 for r in ratios)
        print(f"{family:28} {len(ratios):4} configurations, geometric mean {mean:.3f}, least {min(ratios):.2f}, "
              f"{below} below 0.9")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--count", type=int, default=200, help="configurations")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--only", default="", metavar="REGEX")
parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that compile")
parser.add_argument("--compare", nargs=2, metavar="FILE")
parser.add_argument("--compile", type=int, metavar="I", help=argparse.SUPPRESS)  # every jobs-th configuration from I
options = parser.parse_args()
if options.compare:
    compare(*options.compare)
    sys.exit()

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

import drawn_kernels

DEVICE = "cuda"
PROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count
f16, bf16, f32, i8 = torch.float16, torch.bfloat16, torch.float32, torch.int8
e4m3, e5m2 = torch.float8_e4m3fn, torch.float8_e5m2
TYPES = {"f16": f16, "bf16": bf16, "tf32": f32, "e4m3": e4m3, "e5m2": e5m2, "i8": i8}


def rand(*shape, dtype=f16, scale=1.0):
    if dtype == i8:
        return torch.randint(-100, 100, shape, device=DEVICE, dtype=dtype)
    return (torch.randn(*shape, device=DEVICE) * scale).to(dtype)


def describe(t, block):
    return TensorDescriptor(t, list(t.shape), list(t.stride()), block)


def make_matmul(c):
    (m, n, k), (bm, bn, bk), dtype = c["sizes"], c["blocks"], TYPES[c["kind"]]
    ta, tb = c["ta"], c["tb"]
    a, b = rand(*((k, m) if ta else (m, k)), dtype=dtype), rand(*((n, k) if tb else (k, n)), dtype=dtype)
    out_dtype = torch.int32 if dtype == i8 else f16 if dtype.itemsize == 1 else dtype
    out = torch.empty(m, n, device=DEVICE, dtype=out_dtype)
    bias, scale = rand(n, dtype=f32), torch.rand(m, device=DEVICE)
    residual = rand(m, n, dtype=f32 if dtype == i8 else out_dtype)
    tiles = triton.cdiv(m, bm) * triton.cdiv(n, bn)
    grid = (min(PROCESSORS, tiles) if c["persistent"] else tiles,)
    matrices = (a, b, out)
    if c["descriptors"]:
        blocks = ([bk, bm] if ta else [bm, bk], [bn, bk] if tb else [bk, bn], [bm, bn])
        matrices = map(describe, matrices, blocks)

    def reference():
        x, y = (a.T if ta else a), (b.T if tb else b)
        if dtype == i8:
            return (x.double() @ y.double()).float()
        r = x.to(f16 if dtype.itemsize == 1 else dtype).float() @ y.to(f16 if dtype.itemsize == 1 else dtype).float()
        if c["epilogue"] == "bias gelu":
            r += bias
            r = r * torch.sigmoid(1.702 * r)
        elif c["epilogue"] == "residual":
            r += residual.float()
        elif c["epilogue"] == "row scale":
            r *= scale[:, None]
        return r

    return grid, (*matrices, bias, residual, scale), out, reference, 2 * m * n * k


def make_attention(c):
    (bm, bn), d, n, heads, group = c["blocks"], c["d"], c["n"], c["heads"], c["group"]
    dtype = TYPES[c["kind"]]
    q, k, v = [rand(h, n, d, dtype=dtype) for h in (heads, heads // group, heads // group)]
    o, slopes = torch.empty_like(q), torch.rand(heads, device=DEVICE) * 0.01
    scale = 1.4426950408889634 / math.sqrt(d)
    tensors = (q, k, v, o)
    if c["descriptors"]:
        tensors = [describe(t, [1, rows, d]) for t, rows in zip(tensors, (bm, bn, bn, bm))]

    def reference():
        i, made = torch.arange(n, device=DEVICE), torch.empty(heads, n, d, device=DEVICE)
        for h in range(heads):
            s = q[h].float() @ k[h // group].float().T * scale
            s = s + slopes[h] * (i - i[:, None]) if c["bias"] else s
            s = s.masked_fill(i[:, None] < i, -math.inf) if c["causal"] else s
            made[h] = torch.softmax(s * math.log(2), 1) @ v[h // group].float()
        return made

    work = 4 * heads * n * n * d * (0.5 if c["causal"] else 1)
    return (triton.cdiv(n, bm), heads), (*tensors, slopes), o, reference, work


def make_gradients(c):
    (bm, bn), d, n, heads = c["blocks"], c["d"], c["n"], c["heads"]
    q, k, v, do = [rand(heads, n, d, dtype=TYPES[c["kind"]]) for _ in range(4)]
    scale = 1.4426950408889634 / math.sqrt(d)
    lse, delta = [torch.empty(heads, n, device=DEVICE) for _ in range(2)]
    i = torch.arange(n, device=DEVICE)

    def scores(h):
        s = q[h].float() @ k[h].float().T * scale
        return s.masked_fill(i[:, None] < i, -math.inf) if c["causal"] else s

    if options.compile is None:
        for h in range(heads):
            s = scores(h)
            lse[h] = torch.logsumexp(s * math.log(2), 1) / math.log(2)
            delta[h] = ((torch.exp2(s - lse[h][:, None]) @ v[h].float()) * do[h].float()).sum(1)
    both = torch.empty(2, heads, n, d, device=DEVICE, dtype=q.dtype)

    def reference():
        made = torch.empty(2, heads, n, d, device=DEVICE)
        for h in range(heads):
            p = torch.exp2(scores(h) - lse[h][:, None])
            ds = p * (do[h].float() @ v[h].float().T - delta[h][:, None])
            made[0, h], made[1, h] = ds.T @ q[h].float() * scale * math.log(2), p.T @ do[h].float()
        return made

    work = 8 * heads * n * n * d * (0.5 if c["causal"] else 1)
    return (n // bn, heads), (q, k, v, do, lse, delta, both[0], both[1]), both, reference, work


MAKERS = {"matmul": make_matmul, "attention": make_attention, "gradients": make_gradients}


def measure(c):
    torch.manual_seed(0)
    grid, tensors, out, reference, work = MAKERS[c["family"]](c)
    kernel, arguments = drawn_kernels.call(c, PROCESSORS)
    args = [*tensors, *arguments[len(tensors):]]

    def launch():
        kernel[grid](*args, num_warps=c["warps"], num_stages=c["stages"])

    if options.compile is not None:
        kernel.warmup(*args, grid=grid, num_warps=c["warps"], num_stages=c["stages"])
        return {}
    launch()
    expected = reference()
    error = ((out.float() - expected).norm() / expected.norm()).item()
    ms = triton.testing.do_bench(launch, warmup=10, rep=50, return_mode="median")
    return {"ms": round(ms, 5), "rate": round(work / ms * 1e-9, 1), "relative_error": error}


def main():
    cases = {n: c for n, c in drawn_kernels.drawn(options.count, options.seed).items() if re.search(options.only, n)}
    compiling = options.compile is not None
    if not compiling:
        workers = [subprocess.Popen([sys.executable, *sys.argv, "--jobs", str(options.jobs), "--compile", str(i)],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(options.jobs)]
        for worker in workers:
            worker.wait()
    for i, (name, c) in enumerate(cases.items()):
        if compiling and i % options.jobs != options.compile:
            continue
        try:
            line = {"case": name, **measure(c)}
        except Exception as e:  # a configuration that fails is a line, not the end
            line = {"case": name, "error": f"{type(e).__name__}: {str(e)[:300]}"}
        print(json.dumps(line), flush=True)
        if not compiling and sys.stderr.isatty():
            print(f"\r{i + 1}/{len(cases)} ", end="", file=sys.stderr, flush=True)


main()
