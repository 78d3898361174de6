#!/usr/bin/env python3
"""Times kernels in Triton's current idioms (tensor descriptors, persistent loops, attention and its relatives,
quantised weights, row operations) on one NVIDIA GPU and checks them against PyTorch. Needs torch and triton >= 3.4.

    TESSERA_TRITON=0 triton_kernels.py > triton.jsonl     # by Triton
    TESSERA_TRITON=1 triton_kernels.py > tessera.jsonl    # by Tessera, its wheel installed
    triton_kernels.py --compare triton.jsonl tessera.jsonl

usage: triton_kernels.py [REGEX]. A line per case: milliseconds (median of triton.testing.do_bench), TFLOP/s or GB/s,
relative error in the Frobenius norm. A ratio above 1 means that the second file's code is faster.
"""

import json
import math
import re
import sys

if len(sys.argv) > 1 and sys.argv[1] == "--compare":
    first, second = [{c["case"]: c for c in map(json.loads, open(f))} for f in sys.argv[2:4]]
    ratios = []
    for name, a in first.items():
        b = second.get(name, {"error": "missing"})
        if "error" in a or "error" in b:
            print(f"{name:44} {a.get('error', 'ok')[:60]} | {b.get('error', 'ok')[:100]}")
            continue
        ratios.append(a["ms"] / b["ms"])
        wrong = "" if b["relative_error"] <= max(2 * a["relative_error"], 1e-6) else "  WRONG"  # a NaN is wrong
        print(f"{name:44} {a['ms']:9.4f} {b['ms']:9.4f}  {ratios[-1]:5.2f}  {b['rate']:8.1f} {b['unit']}{wrong}")
    print(f"{len(ratios)} cases, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")
    sys.exit()

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

pick = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
DEVICE = "cuda"
PROCESSORS = torch.cuda.get_device_properties(0).multi_processor_count


def case(name, make):
    """make() gives (launch, output, reference, work, unit); work in operations (TFLOP/s) or bytes (GB/s)."""
    if not pick.search(name):
        return
    try:
        launch, output, reference, work, unit = make()
        launch()
        torch.cuda.synchronize()
        want = reference().float()
        error = ((output.float() - want).norm() / want.norm()).item()
        ms = triton.testing.do_bench(launch, warmup=20, rep=100, return_mode="median")
        rate = work / ms * (1e-9 if unit == "TFLOP/s" else 1e-6)
        line = {"case": name, "ms": round(ms, 5), "rate": round(rate, 1), "unit": unit, "relative_error": error}
    except Exception as e:  # a case that fails is a line, not the end
        line = {"case": name, "error": f"{type(e).__name__}: {str(e)[:300]}"}
    print(json.dumps(line), flush=True)


def rand(*shape, dtype=torch.float16, scale=1.0):
    return (torch.randn(*shape, device=DEVICE) * scale).to(dtype)


def describe(t, block):
    return TensorDescriptor(t, list(t.shape), list(t.stride()), block)


# ---- matmuls through descriptors ----


@triton.jit
def gemm(a, b, c, bias, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TA: tl.constexpr,
         TB: tl.constexpr, EPILOGUE: tl.constexpr, OUT: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    group = pid // (8 * tiles_n)
    size = min(tiles_m - group * 8, 8)
    pm = (group * 8 + (pid % (8 * tiles_n)) % size) * BM
    pn = ((pid % (8 * tiles_n)) // size) * BN
    acc = tl.zeros((BM, BN), tl.int32 if OUT == tl.int32 else tl.float32)
    for k in range(0, K, BK):
        x = a.load([k, pm]).T if TA else a.load([pm, k])
        y = b.load([pn, k]).T if TB else b.load([k, pn])
        acc = tl.dot(x, y, acc, out_dtype=acc.dtype)
    if EPILOGUE == "gelu":
        acc += tl.load(bias + pn + tl.arange(0, BN), mask=pn + tl.arange(0, BN) < N)[None, :]
        acc = 0.5 * acc * (1 + tl.math.erf(acc * 0.7071067811865476))
    c.store([pm, pn], acc.to(OUT))


TYPES = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32, torch.int32: tl.int32}


def make_gemm(m, n, k, dtype, blocks, warps, stages, ta=False, tb=False, epilogue="", out=None):
    def make():
        kind = out or (torch.float16 if dtype.itemsize == 1 else dtype)
        if dtype == torch.int8:
            a = torch.randint(-100, 100, (k, m) if ta else (m, k), device=DEVICE, dtype=dtype)
            b = torch.randint(-100, 100, (n, k) if tb else (k, n), device=DEVICE, dtype=dtype)
        else:
            a, b = rand(*((k, m) if ta else (m, k)), dtype=dtype), rand(*((n, k) if tb else (k, n)), dtype=dtype)
        bias = rand(n, dtype=torch.float32)
        c = torch.empty(m, n, device=DEVICE, dtype=kind)
        bm, bn, bk = blocks
        da, db = describe(a, [bk, bm] if ta else [bm, bk]), describe(b, [bn, bk] if tb else [bk, bn])
        dc = describe(c, [bm, bn])
        grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)

        def launch():
            gemm[grid](da, db, dc, bias, m, n, k, bm, bn, bk, ta, tb, epilogue, TYPES[kind], num_warps=warps,
                       num_stages=stages)

        def reference():
            x, y = (a.T if ta else a).float(), (b.T if tb else b).float()
            if dtype == torch.int8:
                return (x.double() @ y.double()).to(torch.int32)
            r = x @ y
            return torch.nn.functional.gelu(r + bias) if epilogue == "gelu" else r

        return launch, c, reference, 2 * m * n * k, "TFLOP/s"

    return make


f16, bf16, f32, e4m3, e5m2 = torch.float16, torch.bfloat16, torch.float32, torch.float8_e4m3fn, torch.float8_e5m2
for layout in ("nn", "nt", "tn", "tt"):
    ta, tb = layout[0] == "t", layout[1] == "t"
    case(f"gemm f16 {layout} 4096, 128x256x64", make_gemm(4096, 4096, 4096, f16, (128, 256, 64), 8, 3, ta, tb))
    case(f"gemm f16 {layout} 4096, 128x128x64", make_gemm(4096, 4096, 4096, f16, (128, 128, 64), 4, 4, ta, tb))
case("gemm bf16 nt 8192, 128x256x64", make_gemm(8192, 8192, 8192, bf16, (128, 256, 64), 8, 3, tb=True))
case("gemm bf16 nn 2048x2048x8192, 128x128x64", make_gemm(2048, 2048, 8192, bf16, (128, 128, 64), 8, 3))
case("gemm f16 ragged 4008x3992x2056", make_gemm(4008, 3992, 2056, f16, (128, 128, 64), 8, 3))
case("gemm f16 gelu 4096", make_gemm(4096, 4096, 4096, f16, (128, 256, 64), 8, 3, epilogue="gelu"))
case("gemm f16 f32 out 4096", make_gemm(4096, 4096, 4096, f16, (128, 128, 64), 8, 3, out=f32))
case("gemm tf32 4096", make_gemm(4096, 4096, 4096, f32, (128, 128, 32), 8, 3))
case("gemm tf32 nt 4096", make_gemm(4096, 4096, 4096, f32, (128, 128, 32), 8, 3, tb=True))
case("gemm e4m3 nt 4096, 128x128x128", make_gemm(4096, 4096, 4096, e4m3, (128, 128, 128), 4, 4, tb=True))
case("gemm e4m3 nt 8192, 128x256x128", make_gemm(8192, 8192, 8192, e4m3, (128, 256, 128), 8, 3, tb=True))
case("gemm e5m2 nn 4096", make_gemm(4096, 4096, 4096, e5m2, (128, 128, 128), 8, 3))
case("gemm i8 nt 4096", make_gemm(4096, 4096, 4096, torch.int8, (128, 128, 128), 4, 4, tb=True, out=torch.int32))
case("gemm f16 16x8192x8192, 16x128x128", make_gemm(16, 8192, 8192, f16, (16, 128, 128), 4, 4, tb=True))
case("gemm f16 64x4096x4096, 64x64x128", make_gemm(64, 4096, 4096, f16, (64, 64, 128), 4, 4, tb=True))
case("gemm f16 4096, 64x64x64", make_gemm(4096, 4096, 4096, f16, (64, 64, 64), 4, 4, tb=True))
case("gemm f16 4096, 64x256x32, 5 stages", make_gemm(4096, 4096, 4096, f16, (64, 256, 32), 4, 5))
case("gemm f16 4096, 256x128x64", make_gemm(4096, 4096, 4096, f16, (256, 128, 64), 8, 3))


@triton.jit
def gemm_made(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    tiles_n = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, PROGRAMS, flatten=True):
        pm, pn = t // tiles_n * BM, t % tiles_n * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(da.load([pm, k]), db.load([pn, k]).T, acc)
        dc.store([pm, pn], acc.to(c.dtype.element_ty))


@triton.jit
def gemm_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    tiles_n = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tiles_n, PROGRAMS):
        pm, pn = t // tiles_n * BM, t % tiles_n * BN
        rm, rn, rk = pm + tl.arange(0, BM), pn + tl.arange(0, BN), tl.arange(0, BK)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            x = tl.load(a + rm[:, None] * K + k * BK + rk, mask=(rm[:, None] < M) & (k * BK + rk < K), other=0.0)
            y = tl.load(b + rn[None, :] * K + (k * BK + rk)[:, None],
                        mask=(rn[None, :] < N) & ((k * BK + rk)[:, None] < K), other=0.0)
            acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * N + rn, acc.to(tl.float16), mask=(rm[:, None] < M) & (rn < N))


def make_persistent(kernel, m, n, k, blocks, warps, stages):
    def make():
        a, b, c = rand(m, k), rand(n, k), torch.empty(m, n, device=DEVICE, dtype=f16)
        triton.set_allocator(lambda size, align, stream: torch.empty(size, device=DEVICE, dtype=torch.int8))
        options = {"num_warps": warps, "num_stages": stages}
        return (lambda: kernel[(PROCESSORS,)](a, b, c, m, n, k, *blocks, PROCESSORS, **options), c, lambda: a @ b.T,
                2 * m * n * k, "TFLOP/s")

    return make


for k in (512, 4096):
    case(f"persistent, descriptors made, 8192x8192x{k}",
         make_persistent(gemm_made, 8192, 8192, k, (128, 128, 64), 8, 3))
    case(f"persistent, 256 columns, 8192x8192x{k}", make_persistent(gemm_made, 8192, 8192, k, (128, 256, 64), 8, 3))
    case(f"persistent, pointers, 8192x8192x{k}", make_persistent(gemm_pointers, 8192, 8192, k, (128, 128, 64), 4, 3))
    case(f"persistent, pointers 8 warps, 8192x8192x{k}",
         make_persistent(gemm_pointers, 8192, 8192, k, (128, 256, 64), 8, 3))


@triton.jit
def gated(a, b, g, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0) * BM, tl.program_id(1) * BN
    up, gate = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = a.load([pm, k])
        up = tl.dot(x, b.load([pn, k]).T, up)
        gate = tl.dot(x, g.load([pn, k]).T, gate)
    c.store([pm, pn], (up * gate * tl.sigmoid(gate)).to(tl.float16))


def make_gated():
    m, n, k = 4096, 4096, 4096
    a, b, g, c = rand(m, k), rand(n, k, scale=0.02), rand(n, k, scale=0.02), torch.empty(m, n, device=DEVICE, dtype=f16)
    args = [describe(a, [128, 64]), describe(b, [64, 64]), describe(g, [64, 64]), describe(c, [128, 64])]
    return (lambda: gated[(32, 64)](*args, m, n, k, 128, 64, 64, num_warps=4, num_stages=3), c,
            lambda: (a @ b.T).float() * torch.nn.functional.silu((a @ g.T).float()), 4 * m * n * k, "TFLOP/s")


case("gated GEMM f16 4096", make_gated)


@triton.jit
def batched(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn, z = tl.program_id(0) * BM, tl.program_id(1) * BN, tl.program_id(2)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([z, pm, k]).reshape(BM, BK), b.load([z, k, pn]).reshape(BK, BN), acc)
    c.store([z, pm, pn], acc.to(tl.bfloat16).reshape(1, BM, BN))


def make_batched():
    z, m, n, k = 64, 1024, 1024, 512
    a, b, c = rand(z, m, k, dtype=bf16), rand(z, k, n, dtype=bf16), torch.empty(z, m, n, device=DEVICE, dtype=bf16)
    args = [describe(a, [1, 128, 64]), describe(b, [1, 64, 128]), describe(c, [1, 128, 128])]
    return (lambda: batched[(8, 8, z)](*args, m, n, k, 128, 128, 64, num_warps=8, num_stages=3), c, lambda: a @ b,
            2 * z * m * n * k, "TFLOP/s")


case("batched GEMM bf16 64x1024x1024x512", make_batched)


@triton.jit
def scaled_blocks(a, b, c, sa, sb, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Every 128 elements of K have a scale (a: per row, b: per 128 columns)."""
    pm, pn = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    rows = pm + tl.arange(0, BM)
    for k in range(0, K // BK):
        part = tl.dot(a.load([pm, k * BK]), b.load([pn, k * BK]).T)
        acc += part * tl.load(sa + rows * (K // BK) + k)[:, None] * tl.load(sb + pn // 128 * (K // BK) + k)
    c.store([pm, pn], acc.to(tl.bfloat16))


def make_scaled_blocks():
    m, n, k = 4096, 4096, 4096
    a, b, c = rand(m, k, dtype=e4m3), rand(n, k, dtype=e4m3), torch.empty(m, n, device=DEVICE, dtype=bf16)
    sa, sb = torch.rand(m, k // 128, device=DEVICE) + 0.5, torch.rand(n // 128, k // 128, device=DEVICE) + 0.5
    args = [describe(a, [128, 128]), describe(b, [128, 128]), describe(c, [128, 128])]

    def reference():
        return ((a.float().view(m, -1, 128) * sa[:, :, None]).view(m, k)
                @ (b.float().view(n // 128, 128, -1, 128) * sb[:, None, :, None]).view(n, k).T)

    return (lambda: scaled_blocks[(32, 32)](*args, sa, sb, m, n, k, 128, 128, 128, num_warps=8, num_stages=3), c,
            reference, 2 * m * n * k, "TFLOP/s")


case("block-scaled GEMM e4m3 4096", make_scaled_blocks)


@triton.jit
def int4_weights(a, q, scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """q: K/2 x N bytes, low half first; one scale for 128 elements of K."""
    pm, pn = tl.program_id(0) * BM, tl.program_id(1) * BN
    rm, rn, rk = pm + tl.arange(0, BM), pn + tl.arange(0, BN), tl.arange(0, BK // 2)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K // BK):
        w = tl.load(q + (k * (BK // 2) + rk)[:, None] * N + rn)
        low, high = (w & 15).to(tl.int8) - 8, (w >> 4).to(tl.int8) - 8
        both = tl.join(low, high).permute(0, 2, 1).reshape(BK, BN)
        s = tl.load(scale + (k * BK // 128) * N + rn)
        x = tl.load(a + rm[:, None] * K + k * BK + tl.arange(0, BK), mask=rm[:, None] < M, other=0.0)
        acc = tl.dot(x, both.to(tl.float16) * s[None, :], acc)
    tl.store(c + rm[:, None] * N + rn, acc.to(tl.float16), mask=rm[:, None] < M)


def make_int4(m, bm, warps):
    def make():
        n, k = 4096, 4096
        a, c = rand(m, k), torch.empty(m, n, device=DEVICE, dtype=f16)
        q = torch.randint(0, 256, (k // 2, n), device=DEVICE, dtype=torch.uint8)
        s = rand(k // 128, n, scale=0.05)

        def reference():
            w = torch.stack([(q & 15).int() - 8, (q >> 4).int() - 8], 1).reshape(k, n).half()
            return a @ (w.view(-1, 128, n) * s[:, None]).view(k, n)

        def launch():
            grid = (triton.cdiv(m, bm), n // 128)
            int4_weights[grid](a, q, s, c, m, n, k, bm, 128, 64, num_warps=warps, num_stages=4)

        return launch, c, reference, 2 * m * n * k, "TFLOP/s"

    return make


case("int4 weights, 16 rows", make_int4(16, 16, 4))
case("int4 weights, 4096 rows", make_int4(4096, 128, 8))


@triton.jit
def experts(a, b, c, token, expert, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A block of BM tokens, picked by index, times its expert's weights."""
    pm, pn = tl.program_id(1) * BM, tl.program_id(0) * BN
    rows = tl.load(token + pm + tl.arange(0, BM))
    e = tl.load(expert + tl.program_id(1)).to(tl.int64)
    rn, rk = pn + tl.arange(0, BN), tl.arange(0, BK)
    x, y = a + rows[:, None] * K + rk, b + e * N * K + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(x + k, mask=rows[:, None] >= 0, other=0.0), tl.load(y + k), acc)
    tl.store(c + (pm + tl.arange(0, BM))[:, None] * N + rn, acc.to(tl.bfloat16))


def make_experts():
    tokens, n, k, count, bm = 8192, 2048, 2048, 16, 64
    a, b = rand(tokens, k, dtype=bf16), rand(count, n, k, dtype=bf16, scale=0.05)
    index = torch.randperm(tokens, device=DEVICE).int()
    of_block = torch.arange(tokens // bm, device=DEVICE, dtype=torch.int32) % count
    c = torch.empty(tokens, n, device=DEVICE, dtype=bf16)

    def reference():
        return torch.bmm(a[index.long()].view(-1, bm, k), b[of_block.long()].transpose(1, 2)).view(tokens, n)

    return (lambda: experts[(n // 128, tokens // bm)](a, b, c, index, of_block, n, k, bm, 128, 64, num_warps=4,
                                                      num_stages=4), c, reference, 2 * tokens * n * k, "TFLOP/s")


case("mixture of experts bf16", make_experts)


# ---- attention ----


@triton.jit
def attention(q, k, v, o, scale, N, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr,
              CAUSAL: tl.constexpr, WINDOW: tl.constexpr, CAP: tl.constexpr):
    pm, head = tl.program_id(0) * BM, tl.program_id(1)
    base, shared = head * N, head // GROUP * N
    x = q.load([base + pm, 0])
    m, l = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    rows = pm + tl.arange(0, BM)
    low = max(pm - WINDOW, 0) // BN * BN if WINDOW > 0 else 0
    high = min(pm + BM, N) if CAUSAL else N
    for n in range(low, high, BN):
        s = tl.dot(x, k.load([shared + n, 0]).T) * scale
        if CAP > 0:
            s = CAP * (2 * tl.sigmoid(2 * s / CAP) - 1)
        s *= 1.4426950408889634
        columns = n + tl.arange(0, BN)
        if CAUSAL:
            s = tl.where(rows[:, None] >= columns, s, -1e6)
        if WINDOW > 0:
            s = tl.where(rows[:, None] - columns < WINDOW, s, -1e6)
        best = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - best[:, None])
        shrink = tl.exp2(m - best)
        l = l * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(x.dtype), v.load([shared + n, 0]), acc * shrink[:, None])
        m = best
    o.store([base + pm, 0], (acc / l[:, None]).to(tl.float16))


def make_attention(d, blocks, warps, stages, causal=False, group=1, window=0, cap=0.0, dtype=f16, n=4096):
    def make():
        heads = 64
        q, k, v = rand(heads, n, d), rand(heads // group, n, d), rand(heads // group, n, d)
        q, k, v = [t.to(dtype) for t in (q, k, v)]
        o = torch.empty(heads, n, d, device=DEVICE, dtype=f16)
        bm, bn = blocks
        flat = [t.view(-1, d) for t in (q, k, v, o)]
        args = [describe(t, [rows, d]) for t, rows in zip(flat, (bm, bn, bn, bm))]
        scale = 1 / math.sqrt(d)

        def launch():
            attention[(n // bm, heads)](*args, scale, n, group, bm, bn, d, causal, window, cap, num_warps=warps,
                                        num_stages=stages)

        def reference():
            x, y, z = [t.float().repeat_interleave(1 if t is q else group, 0) for t in (q, k, v)]
            r = torch.empty(heads, n, d, device=DEVICE)
            for h in range(heads):
                s = x[h] @ y[h].T * scale
                s = cap * torch.tanh(s / cap) if cap else s
                i = torch.arange(n, device=DEVICE)
                off = torch.zeros(n, n, dtype=torch.bool, device=DEVICE)
                off |= (i[:, None] < i) if causal else off
                off |= (i[:, None] - i >= window) if window else off
                r[h] = torch.softmax(s.masked_fill(off, -1e6), 1) @ z[h]
            return r

        pairs = n * window if window else n * n * (0.5 if causal else 1)
        return launch, o, reference, 4 * heads * pairs * d, "TFLOP/s"

    return make


case("attention d64, 128x64, 4 warps", make_attention(64, (128, 64), 4, 3))
case("attention d64, 128x128, 8 warps", make_attention(64, (128, 128), 8, 3))
case("attention d128, 128x64, 4 warps", make_attention(128, (128, 64), 4, 3))
case("attention d128, 128x128, 8 warps", make_attention(128, (128, 128), 8, 3))
case("attention d128, 128x128, 8 warps, 2 stages", make_attention(128, (128, 128), 8, 2))
case("attention d128 causal, 128x64, 8 warps", make_attention(128, (128, 64), 8, 3, causal=True))
case("attention d128 causal, 128x128, 8 warps", make_attention(128, (128, 128), 8, 2, causal=True))
case("attention d128 causal GQA", make_attention(128, (128, 64), 4, 3, causal=True, group=8))
case("attention d128 window 512", make_attention(128, (128, 64), 4, 3, causal=True, window=512))
case("attention d128 softcap", make_attention(128, (128, 64), 8, 3, causal=True, cap=30.0))
case("attention d256", make_attention(256, (64, 64), 4, 2, n=2048))
case("attention d256, 8 warps", make_attention(256, (128, 64), 8, 2, n=2048))
case("attention d64 causal bf16", make_attention(64, (128, 64), 4, 3, causal=True, dtype=bf16))
case("attention d128 e5m2", make_attention(128, (128, 128), 8, 3, dtype=e5m2))


@triton.jit
def decode(q, k, v, o, table, scale, PAGES: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr, ROWS: tl.constexpr):
    """One token's queries of a group of heads against pages of keys and values that a table lists."""
    s = tl.program_id(0)
    d, r, j = tl.arange(0, D), tl.arange(0, ROWS), tl.arange(0, PAGE)
    x = tl.load(q + s * ROWS * D + r[:, None] * D + d)
    m, l = tl.full((ROWS,), float("-inf"), tl.float32), tl.zeros((ROWS,), tl.float32)
    acc = tl.zeros((ROWS, D), tl.float32)
    for i in range(PAGES):
        page = tl.load(table + s * PAGES + i).to(tl.int64) * (PAGE * D)
        y = tl.load(k + page + j[None, :] * D + d[:, None])
        p = tl.dot(x, y) * (scale * 1.4426950408889634)
        best = tl.maximum(m, tl.max(p, 1))
        p, shrink = tl.exp2(p - best[:, None]), tl.exp2(m - best)
        z = tl.load(v + page + j[:, None] * D + d)
        l = l * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), z, acc * shrink[:, None])
        m = best
    tl.store(o + s * ROWS * D + r[:, None] * D + d, (acc / l[:, None]).to(tl.float16))


def make_decode():
    sequences, pages, page, d, rows = 512, 64, 64, 128, 16
    q = rand(sequences, rows, d)
    k, v = rand(4096, page, d), rand(4096, page, d)
    table = torch.randint(0, 4096, (sequences, pages), device=DEVICE, dtype=torch.int32)
    o = torch.empty_like(q)

    def reference():
        r = torch.empty(sequences, rows, d, device=DEVICE)
        for s in range(sequences):
            y, z = k[table[s].long()].view(-1, d).float(), v[table[s].long()].view(-1, d).float()
            r[s] = torch.softmax(q[s].float() @ y.T / math.sqrt(d), 1) @ z
        return r

    return (lambda: decode[(sequences,)](q, k, v, o, table, 1 / math.sqrt(d), pages, page, d, rows, num_warps=4,
                                         num_stages=3), o, reference, sequences * pages * page * d * 4, "GB/s")


case("decode, pages of 64", make_decode)


@triton.jit
def chunked(q, k, v, g, o, T, D: tl.constexpr, C: tl.constexpr):
    """Linear attention with decay, chunk by chunk; the state stays in registers."""
    h = tl.program_id(0)
    state = tl.zeros((D, D), tl.float32)
    i = tl.arange(0, C)
    for t in range(0, T, C):
        x, y, z = q.load([h * T + t, 0]), k.load([h * T + t, 0]), v.load([h * T + t, 0])
        decay = tl.cumsum(tl.load(g + h * T + t + i), 0)
        last = tl.sum(tl.where(i == C - 1, decay, 0.0), 0)
        a = tl.dot(x, y.T) * tl.exp(decay[:, None] - decay)
        a = tl.where(i[:, None] >= i, a, 0.0)
        out = tl.dot(a.to(x.dtype), z) + tl.dot((x * tl.exp(decay)[:, None]).to(x.dtype), state.to(x.dtype))
        state = state * tl.exp(last) + tl.dot((y * tl.exp(last - decay)[:, None]).to(x.dtype).T, z)
        o.store([h * T + t, 0], out.to(tl.bfloat16))


def make_chunked():
    heads, steps, d, c = 256, 2048, 64, 64
    q, k, v = [rand(heads, steps, d, dtype=bf16, scale=0.3) for _ in "qkv"]
    g = -torch.rand(heads, steps, device=DEVICE) * 0.1
    o = torch.empty(heads, steps, d, device=DEVICE, dtype=bf16)
    args = [describe(t.view(-1, d), [c, d]) for t in (q, k, v)]

    def reference():
        decay = g.cumsum(1)
        r = torch.empty(heads, steps, d, device=DEVICE)
        for h in range(heads):
            a = (q[h].float() @ k[h].float().T * torch.exp(decay[h][:, None] - decay[h])).tril()
            r[h] = a @ v[h].float()
        return r

    do = describe(o.view(-1, d), [c, d])
    return (lambda: chunked[(heads,)](*args, g, do, steps, d, c, num_warps=4, num_stages=2), o, reference,
            heads * steps * d * 8, "GB/s")


case("chunked linear attention bf16", make_chunked)


# ---- rows ----


@triton.jit
def softmax_rows(x, y, N: tl.constexpr):
    r = tl.program_id(0)
    t = x.load([r, 0]).to(tl.float32)
    t = tl.exp(t - tl.max(t, 1, keep_dims=True))
    y.store([r, 0], (t / tl.sum(t, 1, keep_dims=True)).to(tl.float16))


@triton.jit
def rms_norm(x, w, y, n, eps, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    t = tl.load(x + r * n + i, mask=i < n, other=0.0).to(tl.float32)
    s = tl.rsqrt(tl.sum(t * t, 0) / n + eps)
    tl.store(y + r * n + i, (t * s * tl.load(w + i, mask=i < n)).to(tl.bfloat16), mask=i < n)


@triton.jit
def cross_entropy(x, target, loss, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    m, s = float("-inf"), 0.0
    for c in range(0, n, B):
        i = c + tl.arange(0, B)
        t = tl.load(x + r * n + i, mask=i < n, other=float("-inf")).to(tl.float32)
        best = tl.maximum(m, tl.max(t, 0))
        s = s * tl.exp(m - best) + tl.sum(tl.exp(t - best), 0)
        m = best
    t = tl.load(x + r * n + tl.load(target + r)).to(tl.float32)
    tl.store(loss + r, m + tl.log(s) - t)


@triton.jit
def swiglu(x, y, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * B + tl.arange(0, B)
    a = tl.load(x + r * 2 * n + i, mask=i < n).to(tl.float32)
    b = tl.load(x + r * 2 * n + n + i, mask=i < n)
    tl.store(y + r * n + i, (a * tl.sigmoid(a)).to(tl.bfloat16) * b, mask=i < n)


@triton.jit
def rope(x, cos, sin, y, heads, D: tl.constexpr, H: tl.constexpr):
    t = tl.program_id(0).to(tl.int64)
    h, d = tl.arange(0, H), tl.arange(0, D // 2)
    at = t * heads * D + h[:, None] * D + d
    c, s = tl.load(cos + t * (D // 2) + d), tl.load(sin + t * (D // 2) + d)
    a = tl.load(x + at, mask=h[:, None] < heads).to(tl.float32)
    b = tl.load(x + at + D // 2, mask=h[:, None] < heads).to(tl.float32)
    tl.store(y + at, (a * c - b * s).to(tl.bfloat16), mask=h[:, None] < heads)
    tl.store(y + at + D // 2, (b * c + a * s).to(tl.bfloat16), mask=h[:, None] < heads)


@triton.jit
def transpose(x, y, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    y.store([j, i], x.load([i, j]).T)


@triton.jit
def column_sums(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    j = tl.program_id(0) * BN
    s = tl.zeros((BN,), tl.float32)
    for i in range(0, M, BM):
        s += tl.sum(x.load([i, j]).to(tl.float32), 0)
    tl.store(y + j + tl.arange(0, BN), s, mask=j + tl.arange(0, BN) < N)


@triton.jit
def running_sums(x, y, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    before = 0.0
    for c in range(0, n, B):
        i = c + tl.arange(0, B)
        t = tl.load(x + r * n + i, mask=i < n, other=0.0)
        s = tl.cumsum(t, 0) + before
        tl.store(y + r * n + i, s, mask=i < n)
        before += tl.sum(t, 0)


@triton.jit
def quantise(x, y, scale, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    t = tl.load(x + r * n + i, mask=i < n, other=0.0).to(tl.float32)
    s = tl.maximum(tl.max(tl.abs(t), 0), 1e-6) / 448.0
    tl.store(y + r * n + i, (t / s).to(tl.float8e4nv), mask=i < n)
    tl.store(scale + r, s)


@triton.jit
def top_two(x, y, n, B: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, B)
    t = tl.load(x + r * n + i, mask=i < n, other=float("-inf"))
    first, at = tl.max(t, 0, return_indices=True)
    second = tl.max(tl.where(i == at, float("-inf"), t), 0)
    tl.store(y + r * 2, first)
    tl.store(y + r * 2 + 1, second)


@triton.jit
def sort_rows(x, y, N: tl.constexpr):
    r = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, N)
    tl.store(y + r * N + i, tl.sort(tl.load(x + r * N + i)))


def rows(kernel, x, y, grid, arguments, reference, nbytes, **options):
    return lambda: (lambda: kernel[grid](*arguments(x, y), **options), y, lambda: reference(x), nbytes, "GB/s")


def row_cases():
    x = rand(8192, 4096)
    y = torch.empty_like(x)
    dx, dy = describe(x, [1, 4096]), describe(y, [1, 4096])
    case("softmax f16 8192x4096 by descriptors",
         lambda: (lambda: softmax_rows[(8192,)](dx, dy, 4096, num_warps=8), y, lambda: torch.softmax(x.float(), 1),
                  x.nbytes * 2, "GB/s"))
    tx, ty = describe(x, [64, 64]), describe(y.view(4096, 8192), [64, 64])
    case("transpose f16 8192x4096 by descriptors",
         lambda: (lambda: transpose[(128, 64)](tx, ty, 64, 64), y.view(4096, 8192), lambda: x.T, x.nbytes * 2, "GB/s"))
    s = torch.empty(4096, device=DEVICE)
    sx = describe(x, [64, 32])
    case("column sums f16 8192x4096 by descriptors",
         lambda: (lambda: column_sums[(128,)](sx, s, 8192, 4096, 64, 32), s, lambda: x.float().sum(0), x.nbytes,
                  "GB/s"))
    b = rand(8192, 4096, dtype=bf16)
    o, w = torch.empty_like(b), rand(4096, dtype=bf16)
    case("rms norm bf16 8192x4096", rows(
        rms_norm, b, o, (8192,), lambda x, y: (x, w, y, 4096, 1e-6, 4096),
        lambda x: x.float() * torch.rsqrt(x.float().pow(2).mean(1, keepdim=True) + 1e-6) * w, b.nbytes * 2,
        num_warps=8))
    z = torch.empty(8192, 2048, device=DEVICE, dtype=bf16)
    case("swiglu bf16 8192x2048", rows(
        swiglu, b, z, (8192, 2), lambda x, y: (x, y, 2048, 1024),
        lambda x: torch.nn.functional.silu(x[:, :2048].float()) * x[:, 2048:].float(), b.nbytes * 1.5))
    cos, sin = torch.rand(8192, 64, device=DEVICE), torch.rand(8192, 64, device=DEVICE)

    def turned(x):
        a, c = x.float().view(8192, 32, 128).split(64, 2)
        return torch.cat([a * cos[:, None] - c * sin[:, None], c * cos[:, None] + a * sin[:, None]], 2).view(8192, 4096)

    case("rope bf16 8192x32x128", rows(rope, b, o, (8192,), lambda x, y: (x, cos, sin, y, 32, 128, 32), turned,
                                       b.nbytes * 2 + cos.nbytes * 2))
    f = rand(4096, 5000, dtype=f32)
    g = torch.empty_like(f)
    case("running sums f32 4096x5000", rows(running_sums, f, g, (4096,), lambda x, y: (x, y, 5000, 1024),
                                            lambda x: x.cumsum(1), f.nbytes * 2))
    e, scale = torch.empty(8192, 4096, device=DEVICE, dtype=e4m3), torch.empty(8192, device=DEVICE)
    case("quantise bf16 to e4m3 8192x4096", rows(
        quantise, b, e, (8192,), lambda x, y: (x, y, scale, 4096, 4096),
        lambda x: (x.float() / (x.float().abs().amax(1, keepdim=True) / 448.0)).to(e4m3), b.nbytes * 1.5,
        num_warps=8))
    two = torch.empty(4096, 2, device=DEVICE)
    case("two largest f32 4096x5000", rows(top_two, f, two, (4096,), lambda x, y: (x, y, 5000, 8192),
                                           lambda x: x.topk(2, 1).values, f.nbytes, num_warps=8))
    h = rand(8192, 1024, dtype=f32)
    case("sort f32 8192x1024", rows(sort_rows, h, torch.empty_like(h), (8192,), lambda x, y: (x, y, 1024),
                                    lambda x: x.sort(1).values, h.nbytes * 2))
    logits = rand(4096, 128256, dtype=bf16)
    target, loss = torch.randint(0, 128256, (4096,), device=DEVICE), torch.empty(4096, device=DEVICE)
    case("cross entropy bf16 4096x128256", rows(
        cross_entropy, logits, loss, (4096,), lambda x, y: (x, target, y, 128256, 8192),
        lambda x: torch.stack([torch.nn.functional.cross_entropy(x[i].float(), target[i]) for i in range(4096)]),
        logits.nbytes, num_warps=8))


row_cases()
