#!/usr/bin/env python3
"""Times matmul and attention kernels in many configurations on one NVIDIA GPU: tile sizes, warps, stages, types,
layouts, epilogues, ragged sizes, masks, grouped heads. The configurations are drawn from a seed, as an autotuner's
lists and other people's kernels would have them, to find cliffs that fixed lists miss. Needs torch and triton.

    TESSERA_TRITON=0 configurations.py --count 200 > triton.jsonl     # by Triton
    TESSERA_TRITON=1 configurations.py --count 200 > tessera.jsonl    # by Tessera, its wheel installed
    configurations.py --compare triton.jsonl tessera.jsonl

usage: configurations.py [--count N] [--seed N] [--only REGEX] [--jobs N]. Kernels are compiled by --jobs processes
first. A line per configuration: milliseconds (median of triton.testing.do_bench), TFLOP/s, relative error against
PyTorch in the Frobenius norm. A ratio above 1 means that the second file's code is faster. Configurations that do not
fit (shared memory, registers) are lines with an error.
"""

import argparse
import itertools
import json
import math
import os
import random
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
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

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


# ---- matmul ----


@triton.jit
def finish(acc, bias, residual, scale, rm, rn, M, N, EPILOGUE: tl.constexpr):
    inside = (rm[:, None] < M) & (rn < N)
    if EPILOGUE == "bias gelu":
        acc += tl.load(bias + rn, mask=rn < N, other=0.0)
        acc = acc * tl.sigmoid(1.702 * acc)
    elif EPILOGUE == "residual":
        acc += tl.load(residual + rm[:, None] * N + rn, mask=inside, other=0.0).to(tl.float32)
    elif EPILOGUE == "row scale":
        acc *= tl.load(scale + rm, mask=rm < M, other=0.0)[:, None]
    return acc


@triton.jit
def tile_of(t, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = t // (GROUP * tiles_n)
    size = min(tiles_m - group * GROUP, GROUP)
    return (group * GROUP + (t % (GROUP * tiles_n)) % size) * BM, ((t % (GROUP * tiles_n)) // size) * BN


@triton.jit
def tile_by_pointers(t, a, b, c, bias, residual, scale, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr, EPILOGUE: tl.constexpr, SUM: tl.constexpr):
    pm, pn = tile_of(t, M, N, BM, BN, 8)
    rm, rn, rk = pm + tl.arange(0, BM), pn + tl.arange(0, BN), tl.arange(0, BK)
    x = a + (rm % M)[:, None] * am + rk * ak
    y = b + rk[:, None] * bk + (rn % N) * bn
    acc = tl.zeros((BM, BN), SUM)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        acc = tl.dot(tl.load(x, mask=rk < left, other=0.0), tl.load(y, mask=rk[:, None] < left, other=0.0), acc,
                     out_dtype=SUM)
        x += BK * ak
        y += BK * bk
    acc = finish(acc, bias, residual, scale, rm, rn, M, N, EPILOGUE)
    tl.store(c + rm[:, None] * N + rn, acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn < N))


@triton.jit
def by_pointers(a, b, c, bias, residual, scale, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr,
                BK: tl.constexpr, EPILOGUE: tl.constexpr, SUM: tl.constexpr, PROGRAMS: tl.constexpr):
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), PROGRAMS):
        tile_by_pointers(t, a, b, c, bias, residual, scale, M, N, K, am, ak, bk, bn, BM, BN, BK, EPILOGUE, SUM)


@triton.jit
def by_pointers_once(a, b, c, bias, residual, scale, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr, EPILOGUE: tl.constexpr, SUM: tl.constexpr):
    t = tl.program_id(0)
    tile_by_pointers(t, a, b, c, bias, residual, scale, M, N, K, am, ak, bk, bn, BM, BN, BK, EPILOGUE, SUM)


@triton.jit
def tile_by_descriptors(t, a, b, c, bias, residual, scale, M, N, K, TA: tl.constexpr, TB: tl.constexpr,
                        BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, EPILOGUE: tl.constexpr,
                        SUM: tl.constexpr):
    pm, pn = tile_of(t, M, N, BM, BN, 8)
    acc = tl.zeros((BM, BN), SUM)
    for k in range(0, K, BK):
        x = a.load([k, pm]).T if TA else a.load([pm, k])
        y = b.load([pn, k]).T if TB else b.load([k, pn])
        acc = tl.dot(x, y, acc, out_dtype=SUM)
    acc = finish(acc, bias, residual, scale, pm + tl.arange(0, BM), pn + tl.arange(0, BN), M, N, EPILOGUE)
    c.store([pm, pn], acc.to(c.dtype))


@triton.jit
def by_descriptors(a, b, c, bias, residual, scale, M, N, K, TA: tl.constexpr, TB: tl.constexpr, BM: tl.constexpr,
                   BN: tl.constexpr, BK: tl.constexpr, EPILOGUE: tl.constexpr, SUM: tl.constexpr,
                   PROGRAMS: tl.constexpr):
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), PROGRAMS, flatten=True):
        tile_by_descriptors(t, a, b, c, bias, residual, scale, M, N, K, TA, TB, BM, BN, BK, EPILOGUE, SUM)


@triton.jit
def by_descriptors_once(a, b, c, bias, residual, scale, M, N, K, TA: tl.constexpr, TB: tl.constexpr, BM: tl.constexpr,
                        BN: tl.constexpr, BK: tl.constexpr, EPILOGUE: tl.constexpr, SUM: tl.constexpr):
    t = tl.program_id(0)
    tile_by_descriptors(t, a, b, c, bias, residual, scale, M, N, K, TA, TB, BM, BN, BK, EPILOGUE, SUM)


def draw_matmul(r):
    kind = r.choice(["f16", "f16", "bf16", "bf16", "tf32", "e4m3", "e5m2", "i8"])
    descriptors, persistent = r.random() < 0.5, r.random() < 0.35
    ta, tb = r.random() < 0.25, r.random() < 0.6
    epilogue = r.choice(["", "", "bias gelu", "residual", "row scale"]) if kind != "i8" else ""
    size = {"tf32": 4, "f16": 2, "bf16": 2}.get(kind, 1)
    while True:
        bm, bn, warps = r.choice([32, 64, 64, 128, 128, 256]), r.choice([32, 64, 128, 128, 256]), r.choice([4, 4, 8])
        bk, stages = r.choice([32, 64, 64, 128]), r.choice([2, 3, 3, 4, 5])
        # What people run: the accumulator fits into the registers, the stages into shared memory.
        if bm * bn <= 128 * 32 * warps and (bm + bn) * bk * size * stages <= 200 * 1024 and bk * size >= 32:
            break
    m, n, k = r.choice([(4096, 4096, 4096), (8192, 4096, 1024), (2048, 8192, 2048), (3000, 4104, 2056),
                        (512, 8192, 4096), (128, 16384, 4096), (16384, 1024, 1024)])
    return dict(family="matmul", kind=kind, descriptors=descriptors, persistent=persistent, ta=ta, tb=tb,
                epilogue=epilogue, blocks=(bm, bn, bk), warps=warps, stages=stages, sizes=(m, n, k))


def name_matmul(c):
    how = ("descriptors" if c["descriptors"] else "pointers") + (" persistent" if c["persistent"] else "")
    layout = "".join("nt"[c[t]] for t in ("ta", "tb"))
    return (f"matmul {how}, {c['kind']} {layout} {'x'.join(map(str, c['sizes']))}, "
            f"{'x'.join(map(str, c['blocks']))} w{c['warps']} s{c['stages']} {c['epilogue']}".rstrip())


def make_matmul(c):
    (m, n, k), (bm, bn, bk), dtype = c["sizes"], c["blocks"], TYPES[c["kind"]]
    ta, tb = c["ta"], c["tb"]
    a, b = rand(*((k, m) if ta else (m, k)), dtype=dtype), rand(*((n, k) if tb else (k, n)), dtype=dtype)
    out_dtype = torch.int32 if dtype == i8 else f16 if dtype.itemsize == 1 else dtype
    out = torch.empty(m, n, device=DEVICE, dtype=out_dtype)
    bias, scale = rand(n, dtype=f32), torch.rand(m, device=DEVICE)
    residual = rand(m, n, dtype=f32 if dtype == i8 else out_dtype)
    tiles = triton.cdiv(m, bm) * triton.cdiv(n, bn)
    rest = (c["epilogue"], tl.int32 if dtype == i8 else tl.float32)
    if c["persistent"]:
        grid, rest = (min(PROCESSORS, tiles),), (*rest, PROCESSORS)
    else:
        grid = (tiles,)
    if c["descriptors"]:
        da, db = describe(a, [bk, bm] if ta else [bm, bk]), describe(b, [bn, bk] if tb else [bk, bn])
        kernel = by_descriptors if c["persistent"] else by_descriptors_once
        args = (da, db, describe(out, [bm, bn]), bias, residual, scale, m, n, k, ta, tb, bm, bn, bk, *rest)
    else:
        kernel = by_pointers if c["persistent"] else by_pointers_once
        strides = (*(a.stride()[::-1] if ta else a.stride()), *(b.stride()[::-1] if tb else b.stride()))
        args = (a, b, out, bias, residual, scale, m, n, k, *strides, bm, bn, bk, *rest)

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

    return kernel, grid, args, out, reference, 2 * m * n * k


# ---- attention, forward ----


@triton.jit
def masked(s, rows, columns, slope, N, BIAS: tl.constexpr, CAUSAL: tl.constexpr, RAGGED: tl.constexpr):
    if BIAS:
        s += slope * (columns - rows[:, None]).to(tl.float32)
    if CAUSAL:
        s = tl.where(rows[:, None] >= columns, s, float("-inf"))
    if RAGGED:
        s = tl.where(columns < N, s, float("-inf"))
    return s


@triton.jit
def attended(s, z, m, l, acc):
    """The maximum, the sum and the accumulator after a block of scores and its values."""
    best = tl.maximum(m, tl.max(s, 1))
    p, shrink = tl.exp2(s - best[:, None]), tl.exp2(m - best)
    return best, l * shrink + tl.sum(p, 1), tl.dot(p.to(z.dtype), z, acc * shrink[:, None])


@triton.jit
def attention(q, k, v, o, slopes, scale, N, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
              CAUSAL: tl.constexpr, BIAS: tl.constexpr, RAGGED: tl.constexpr):
    pm, head = tl.program_id(0) * BM, tl.program_id(1).to(tl.int64)
    rows, columns, d = pm + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    base, shared = head * N * D, head // GROUP * N * D
    if RAGGED:
        x = tl.load(q + base + rows[:, None] * D + d, mask=rows[:, None] < N, other=0.0)
    else:
        x = tl.load(q + base + rows[:, None] * D + d)
    m, l = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    high = min(pm + BM, N) if CAUSAL else N
    slope = tl.load(slopes + head) if BIAS else 0.0
    for n in range(0, high, BN):
        at = (n + columns)[:, None] * D + d
        if RAGGED:
            y = tl.load(k + shared + at, mask=(n + columns)[:, None] < N, other=0.0)
            z = tl.load(v + shared + at, mask=(n + columns)[:, None] < N, other=0.0)
        else:
            y, z = tl.load(k + shared + at), tl.load(v + shared + at)
        s = masked(tl.dot(x, y.T) * scale, rows, n + columns, slope, N, BIAS, CAUSAL, RAGGED)
        m, l, acc = attended(s, z, m, l, acc)
    acc = acc / l[:, None]
    tl.store(o + base + rows[:, None] * D + d, acc.to(o.dtype.element_ty), mask=rows[:, None] < N)


@triton.jit
def attention_descriptors(q, k, v, o, slopes, scale, N, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                          D: tl.constexpr, CAUSAL: tl.constexpr, BIAS: tl.constexpr, RAGGED: tl.constexpr):
    """Two loops for a causal mask: columns before the diagonal, and those along it."""
    pm, head = tl.program_id(0) * BM, tl.program_id(1)
    rows, columns = pm + tl.arange(0, BM), tl.arange(0, BN)
    x = q.load([head, pm, 0]).reshape(BM, D)
    m, l = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    slope = tl.load(slopes + head) if BIAS else 0.0
    for part in tl.static_range(2 if CAUSAL else 1):
        low = pm // BN * BN if part else 0
        high = min(pm + BM, N) if part else (pm // BN * BN if CAUSAL else N)
        for n in tl.range(low, high, BN):
            s = tl.dot(x, k.load([head // GROUP, n, 0]).reshape(BN, D).T) * scale
            s = masked(s, rows, n + columns, slope, N, BIAS, part > 0, RAGGED)
            m, l, acc = attended(s, v.load([head // GROUP, n, 0]).reshape(BN, D), m, l, acc)
    o.store([head, pm, 0], (acc / l[:, None]).to(o.dtype).reshape(1, BM, D))


def draw_attention(r):
    while True:
        d, warps = r.choice([32, 64, 64, 128, 128, 256]), r.choice([4, 8])
        bm, bn, stages = r.choice([64, 128, 128, 256]), r.choice([32, 64, 64, 128]), r.choice([2, 3, 3, 4])
        if bm * max(bn, d) <= 128 * 32 * warps and (bm + 2 * bn * stages) * d * 2 <= 220 * 1024:
            break
    n, heads = r.choice([(4096, 32), (2048, 64), (8192, 8), (1024, 128), (4000, 32)])
    return dict(family="attention", kind=r.choice(["f16", "bf16"]), descriptors=r.random() < 0.5, d=d, n=n, heads=heads,
                blocks=(bm, bn), warps=warps, stages=stages, causal=r.random() < 0.5, bias=r.random() < 0.2,
                group=r.choice([1, 1, 4, 8]))


def name_attention(c):
    return (f"attention {'descriptors' if c['descriptors'] else 'pointers'}, {c['kind']} d{c['d']} n{c['n']} "
            f"h{c['heads']}{'/' + str(c['group']) if c['group'] > 1 else ''}{' causal' if c['causal'] else ''}"
            f"{' bias' if c['bias'] else ''}, {'x'.join(map(str, c['blocks']))} w{c['warps']} s{c['stages']}")


def make_attention(c):
    (bm, bn), d, n, heads, group = c["blocks"], c["d"], c["n"], c["heads"], c["group"]
    dtype = TYPES[c["kind"]]
    q, k, v = [rand(h, n, d, dtype=dtype) for h in (heads, heads // group, heads // group)]
    o, slopes = torch.empty_like(q), torch.rand(heads, device=DEVICE) * 0.01
    scale = 1.4426950408889634 / math.sqrt(d)
    ragged = n % bm != 0 or n % bn != 0
    rest = (slopes, scale, n, group, bm, bn, d, c["causal"], c["bias"], ragged)
    kernel, args = attention, (q, k, v, o)
    if c["descriptors"]:
        kernel = attention_descriptors
        args = [describe(t, [1, rows, d]) for t, rows in zip((q, k, v, o), (bm, bn, bn, bm))]

    def reference():
        i, made = torch.arange(n, device=DEVICE), torch.empty(heads, n, d, device=DEVICE)
        for h in range(heads):
            s = q[h].float() @ k[h // group].float().T * scale
            s = s + slopes[h] * (i - i[:, None]) if c["bias"] else s
            s = s.masked_fill(i[:, None] < i, -math.inf) if c["causal"] else s
            made[h] = torch.softmax(s * math.log(2), 1) @ v[h // group].float()
        return made

    work = 4 * heads * n * n * d * (0.5 if c["causal"] else 1)
    return kernel, (triton.cdiv(n, bm), heads), (*args, *rest), o, reference, work


# ---- attention, gradients of keys and values ----


@triton.jit
def attention_gradients(q, k, v, do, lse, delta, dk, dv, scale, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
                        CAUSAL: tl.constexpr):
    """A block of BN keys against all blocks of BM queries."""
    pn, head = tl.program_id(0) * BN, tl.program_id(1).to(tl.int64)
    base, columns, rows, d = head * N * D, pn + tl.arange(0, BN), tl.arange(0, BM), tl.arange(0, D)
    y, z = tl.load(k + base + columns[:, None] * D + d), tl.load(v + base + columns[:, None] * D + d)
    gk, gv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    low = pn // BM * BM if CAUSAL else 0
    for m in range(low, N, BM):
        at = (m + rows)[:, None] * D + d
        x, g = tl.load(q + base + at), tl.load(do + base + at)
        p = tl.exp2(tl.dot(y, x.T) * scale - tl.load(lse + head * N + m + rows)[None, :])
        if CAUSAL:
            p = tl.where(m + rows >= columns[:, None], p, 0.0)
        gv = tl.dot(p.to(g.dtype), g, gv)
        ds = p * (tl.dot(z, g.T) - tl.load(delta + head * N + m + rows)[None, :])
        gk = tl.dot(ds.to(x.dtype), x, gk)
    tl.store(dk + base + columns[:, None] * D + d, (gk * scale * 0.6931471805599453).to(dk.dtype.element_ty))
    tl.store(dv + base + columns[:, None] * D + d, gv.to(dv.dtype.element_ty))


def draw_gradients(r):
    while True:
        d, warps, stages = r.choice([64, 64, 128]), r.choice([4, 8, 8]), r.choice([1, 2, 2, 3])
        bm, bn = r.choice([32, 64, 64, 128]), r.choice([64, 128, 128])
        if bn * (2 * d + bm) <= 128 * 48 * warps and (2 * bn + 2 * bm * stages) * d * 2 <= 200 * 1024:
            break
    n, heads = r.choice([(4096, 32), (2048, 64), (8192, 16)])
    return dict(family="gradients", kind=r.choice(["f16", "bf16"]), d=d, n=n, heads=heads, blocks=(bm, bn),
                warps=warps, stages=stages, causal=r.random() < 0.5)


def name_gradients(c):
    return (f"attention gradients, {c['kind']} d{c['d']} n{c['n']} h{c['heads']}{' causal' if c['causal'] else ''}, "
            f"{'x'.join(map(str, c['blocks']))} w{c['warps']} s{c['stages']}")


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

    args = (q, k, v, do, lse, delta, both[0], both[1], scale, n, bm, bn, d, c["causal"])
    work = 8 * heads * n * n * d * (0.5 if c["causal"] else 1)
    return attention_gradients, (n // bn, heads), args, both, reference, work


# ---- the run ----

FAMILIES = {
    "matmul": (draw_matmul, name_matmul, make_matmul),
    "attention": (draw_attention, name_attention, make_attention),
    "gradients": (draw_gradients, name_gradients, make_gradients),
}


def drawn(count, seed):
    """So many different configurations: three of five are matmuls, one of five are gradients."""
    r, made = random.Random(seed), {}
    for family in itertools.cycle(["matmul", "attention", "matmul", "gradients", "matmul"]):
        if len(made) == count:
            return made
        draw, name, _ = FAMILIES[family]
        c = draw(r)
        made[name(c)] = c


def measure(c):
    torch.manual_seed(0)
    kernel, grid, args, out, reference, work = FAMILIES[c["family"]][2](c)

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
    cases = {n: c for n, c in drawn(options.count, options.seed).items() if re.search(options.only, n)}
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
