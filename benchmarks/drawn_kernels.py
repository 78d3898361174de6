"""Kernels with dots in configurations that are drawn from a seed, as an autotuner's lists and other people's kernels
would have them: matmuls, attention, and attention's gradients of keys and values. configurations.py times them;
python/tests/test_machine_code.py checks their machine code. Needs triton, not torch.
"""

import itertools
import math
import random

import triton
import triton.language as tl
from triton.compiler import ASTSource

TYPES = {"f16": "fp16", "bf16": "bf16", "tf32": "fp32", "e4m3": "fp8e4nv", "e5m2": "fp8e5", "i8": "i8"}

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


def call_matmul(c, programs):
    (m, n, k), (bm, bn, bk), ta, tb, t = c["sizes"], c["blocks"], c["ta"], c["tb"], TYPES[c["kind"]]
    out = output_type(c["kind"])
    vectors = ["*fp32", "*fp32" if c["kind"] == "i8" else "*" + out, "*fp32"]
    last = [bm, bn, bk, c["epilogue"], tl.int32 if c["kind"] == "i8" else tl.float32]
    last += [programs] if c["persistent"] else []
    if c["descriptors"]:
        blocks = [[bk, bm] if ta else [bm, bk], [bn, bk] if tb else [bk, bn], [bm, bn]]
        tensors = [f"tensordesc<{of}{block}>" for of, block in zip((t, t, out), blocks)]
        kernel = by_descriptors if c["persistent"] else by_descriptors_once
        return kernel, [*tensors, *vectors, m, n, k, ta, tb, *last]
    strides = [*((1, m) if ta else (k, 1)), *((1, k) if tb else (n, 1))]
    return by_pointers if c["persistent"] else by_pointers_once, [
        "*" + t, "*" + t, "*" + out, *vectors, m, n, k, *strides, *last]


def output_type(kind):
    """Of a matmul's result, and of its residual except for 8-bit integers."""
    return {"i8": "i32", "e4m3": "fp16", "e5m2": "fp16"}.get(kind, TYPES[kind])


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


def call_attention(c, _):
    (bm, bn), d, n, group, t = c["blocks"], c["d"], c["n"], c["group"], TYPES[c["kind"]]
    ragged = n % bm != 0 or n % bn != 0
    last = ["*fp32", 1.4426950408889634 / math.sqrt(d), n, group, bm, bn, d, c["causal"], c["bias"], ragged]
    if not c["descriptors"]:
        return attention, ["*" + t] * 4 + last
    return attention_descriptors, [f"tensordesc<{t}{[1, rows, d]}>" for rows in (bm, bn, bn, bm)] + last


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


def call_gradients(c, _):
    (bm, bn), d, t = c["blocks"], c["d"], "*" + TYPES[c["kind"]]
    scale = 1.4426950408889634 / math.sqrt(d)
    return attention_gradients, [*[t] * 4, "*fp32", "*fp32", t, t, scale, c["n"], bm, bn, d, c["causal"]]


# ---- all of them ----

FAMILIES = {
    "matmul": (draw_matmul, name_matmul, call_matmul),
    "attention": (draw_attention, name_attention, call_attention),
    "gradients": (draw_gradients, name_gradients, call_gradients),
}


def drawn(count, seed):
    """So many different configurations by name: three of five are matmuls, one of five are gradients."""
    r, made = random.Random(seed), {}
    for family in itertools.cycle(["matmul", "attention", "matmul", "gradients", "matmul"]):
        if len(made) == count:
            return made
        draw, name, _ = FAMILIES[family]
        c = draw(r)
        made[name(c)] = c


def call(c, programs=132):
    """The kernel of a configuration and its arguments: first the types of pointers and descriptors in the places of
    tensors, then numbers and constants. `programs`: of a persistent kernel, by default an H200's multiprocessors."""
    return FAMILIES[c["family"]][2](c, programs)


def source(c):
    """What Triton compiles ahead of a launch: pointers and sizes are known to be multiples of 16 where they are."""
    kernel, arguments = call(c)
    signature, constants, attributes = {}, {}, {}
    for i, (parameter, argument) in enumerate(zip(kernel.params, arguments)):
        is_number = isinstance(argument, int) and not parameter.is_constexpr
        if parameter.is_constexpr or is_number and argument == 1:
            signature[parameter.name], constants[(i,)] = "constexpr", argument
        elif is_number or isinstance(argument, float):
            signature[parameter.name] = "i32" if is_number else "fp32"
        else:
            signature[parameter.name] = argument
        is_pointer = signature[parameter.name].startswith("*")
        if is_pointer or signature[parameter.name] == "i32" and argument % 16 == 0:
            attributes[(i,)] = [["tt.divisibility", 16]]
    return ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
