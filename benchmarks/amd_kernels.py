#!/usr/bin/env python3
"""Kernels that users of Triton have, as launch descriptions for amd_model.py. Needs `pip install triton==3.6.0`.

  amd_kernels.py FOLDER [REGEX]        # FOLDER/NAME/NAME.ttir and launch.json; `--list` instead of FOLDER: names

The TTIR is Triton's for an AMD GPU: arguments that are multiples of 16, buffers below 2 GiB. Contents are made by the
launch (`fill`). Sizes are such that most kernels fill a GPU and that a prediction takes seconds.
"""
import json
import os
import re
import sys

import triton
import triton.language as tl
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

TARGET = GPUTarget("hip", "gfx942", 64)  # TTIR is the same for all
TYPES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f8E4M3FN": "fp8e4nv", "f8E5M2": "fp8e5"}
CASES = {}


def data(dtype, *shape, **fill):
    """A buffer. fill: randn by default for floats; lo, hi: random integers."""
    if "lo" in fill:
        fill["fill"] = "randint"
    return {"dtype": dtype, "shape": list(shape), **(fill or ({"fill": "randn"} if dtype in TYPES else {}))}


def out(dtype, *shape, fill=0):
    return {"dtype": dtype, "shape": list(shape), "fill": fill}


def case(name, kernel, grid, arguments, warps=4, stages=2):
    """arguments: in the kernel's order; buffers, and numbers for scalars and constexprs."""
    assert name not in CASES and len(arguments) == len(kernel.arg_names), name
    CASES[name] = (kernel, list(grid) + [1] * (3 - len(grid)), arguments, warps, stages)


def write(folder, name):
    kernel, grid, values, warps, stages = CASES[name]
    signature, constants, attributes, launch = {}, {}, {}, []
    for i, (p, v) in enumerate(zip(kernel.params, values)):
        if p.is_constexpr:
            signature[p.name], constants[p.name] = "constexpr", v
        elif isinstance(v, dict):
            signature[p.name] = "*" + TYPES.get(v["dtype"], v["dtype"])
            attributes[(i,)] = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
            launch.append({"name": p.name, **v})
        else:
            signature[p.name] = "fp32" if isinstance(v, float) else "i32"
            if not isinstance(v, float) and v % 16 == 0:
                attributes[(i,)] = [["tt.divisibility", 16]]
            launch.append({"name": p.name, "scalar": v, "type": "f32" if isinstance(v, float) else "i32"})
    source, backend = ASTSource(kernel, signature, constants, attributes), make_backend(TARGET)
    options, context = backend.parse_options({"num_warps": warps, "num_stages": stages}), ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions, modules = backend.get_codegen_implementation(options), backend.get_module_map()
    module = backend.make_ttir(source.make_ir(TARGET, options, functions, modules, context), {}, options)
    os.makedirs("%s/%s" % (folder, name), exist_ok=True)
    open("%s/%s/%s.ttir" % (folder, name, name), "w").write(module.str_nodebug())
    description = {"kernel": kernel.__name__, "grid": grid, "num_warps": warps, "num_stages": stages, "args": launch}
    json.dump(description, open("%s/%s/launch.json" % (folder, name), "w"), indent=1)


# ---- dots ----


@triton.jit
def gemm(a, b, c, M, N, K, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
         ACC: tl.constexpr, TB: tl.constexpr):
    """As in Triton's tutorial 03: programs grouped along M, rows and columns modulo the extent, K masked."""
    pid, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * tiles_n) * GROUP
    size = min(tiles_m - first, GROUP)
    pm, pn = first + pid % (GROUP * tiles_n) % size, pid % (GROUP * tiles_n) // size
    rm, rn = (pm * BM + tl.arange(0, BM)) % M, (pn * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    pa = a + rm[:, None] * sak + k[None, :]
    pb = b + k[:, None] + rn[None, :] * sbn if TB else b + k[:, None] * sbk + rn[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for i in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(pb, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
        pa += BK
        pb += BK if TB else BK * sbk
    cm, cn = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    tl.store(c + cm[:, None] * N + cn[None, :], acc.to(c.dtype.element_ty), mask=(cm[:, None] < M) & (cn[None, :] < N))


def gemms():
    def add(name, m, n, k, dtype, blocks, warps, tb, to=None):
        bm, bn, bk = blocks
        whole = dict(lo=-8, hi=8) if dtype == "i8" else {}
        to = to or ("i32" if dtype == "i8" else "f16" if dtype[:2] == "f8" else dtype)
        b = data(dtype, n, k, **whole) if tb else data(dtype, k, n, **whole)
        case(name, gemm, [-(-m // bm) * -(-n // bn)],
             [data(dtype, m, k, **whole), b, out(to, m, n), m, n, k, k, n, k, *blocks, 8,
              tl.int32 if dtype == "i8" else tl.float32, tb], warps)  # fmt: skip

    for dtype, bk in (("f16", 64), ("bf16", 64), ("f8E4M3FN", 128), ("i8", 128)):
        for tb in (False, True):
            short = "%s_%s" % (dtype[:2] if dtype[:2] == "f8" else dtype, "nt" if tb else "nn")
            add("gemm_%s_1024" % short, 1024, 1024, 1024, dtype, (64, 64, bk), 4, tb)
            add("gemm_%s_4096" % short, 4096, 4096, 4096, dtype, (128, 128, bk), 8, tb)
    for tb in (False, True):
        add("gemm_f16_%s_2048_w4" % ("nt" if tb else "nn"), 2048, 2048, 2048, "f16", (128, 128, 32), 4, tb)
    add("gemm_f16_nt_4096_256", 4096, 4096, 4096, "f16", (256, 256, 32), 8, True)
    add("gemm_f32_nn_1024", 1024, 1024, 1024, "f32", (64, 64, 32), 4, False)
    add("gemm_bf16_nt_skinny", 16, 4096, 4096, "bf16", (16, 64, 128), 4, True)
    add("gemm_bf16_nt_ragged", 1000, 1000, 1000, "bf16", (64, 64, 64), 4, True)
    add("gemm_f16_nn_one_wave", 256, 256, 256, "f16", (32, 32, 32), 1, False)


@triton.jit
def split_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pm, pn, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rm, rn, k = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), part * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K // (BK * SPLIT)):
        acc = tl.dot(tl.load(a + rm[:, None] * K + k[None, :]), tl.load(b + k[:, None] + rn[None, :] * K), acc)
        k += BK * SPLIT
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], acc, sem="relaxed")


@triton.jit
def batched_dots(a, b, c, G: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    g = tl.program_id(0) * G + tl.arange(0, G)[:, None, None]
    m, n = tl.arange(0, M), tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + g * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b + g * K * N + k[None, :, None] * N + n[None, None, :])
    tl.store(c + g * M * N + m[None, :, None] * N + n[None, None, :], tl.dot(x, y))


@triton.jit
def experts(a, b, c, token, expert, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows sorted by expert, in blocks of BM of one expert."""
    pm, pn = tl.program_id(0), tl.program_id(1)
    row, e = tl.load(token + pm * BM + tl.arange(0, BM)), tl.load(expert + pm)
    n, k = pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + row[:, None] * K + at + k[None, :])
        acc = tl.dot(x, tl.load(b + e * N * K + n[None, :] * K + at + k[:, None]), acc)
    tl.store(c + (pm * BM + tl.arange(0, BM))[:, None] * N + n[None, :], acc.to(tl.bfloat16))


@triton.jit
def packed_words(a, w, scale, zero, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    """Weights of 4 bits as GPTQ packs them: eight of a column in a word, loaded once for each of them."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x, y = a + m[:, None] * K + k[None, :], w + k[:, None] // 8 * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        g = i * BK // G
        z = tl.load(zero + g * (N // 8) + n // 8) >> n % 8 * 4 & 15
        v = (tl.load(y) >> (k % 8 * 4)[:, None] & 15) - z[None, :]
        v = v.to(tl.float16) * tl.load(scale + g * N + n)[None, :]
        acc += tl.dot(tl.load(x, mask=m[:, None] < M, other=0.0), v)
        x += BK
        y += BK // 8 * N
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@triton.jit
def packed_bytes(a, w, scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    """Two weights of a column in a byte, which lie along K, as in vLLM's mixtures of experts."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    x, y = a + m[:, None] * K + k[None, :], w + n[None, :] * (K // 2) + k[:, None] // 2
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(tl.cdiv(K, BK)):
        left = K - i * BK
        v = (tl.load(y, mask=k[:, None] < left, other=0) >> k[:, None] % 2 * 4 & 15).to(tl.float32) - 8
        v = v * tl.load(scale + n[None, :] * (K // G) + (i * BK + k[:, None]) // G).to(tl.float32)
        acc += tl.dot(tl.load(x, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0), v.to(tl.float16))
        x += BK
        y += BK // 2
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=m[:, None] < M)


@triton.jit
def int8_weights(a, q, scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    m, n, k = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        w = tl.load(q + (at + k)[:, None] * N + n[None, :]).to(tl.bfloat16)
        acc = tl.dot(tl.load(a + m[:, None] * K + (at + k)[None, :]), w, acc)
    tl.store(c + m[:, None] * N + n[None, :], (acc * tl.load(scale + n)[None, :]).to(tl.bfloat16))


@triton.jit
def attention(q, k, v, o, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    m, n, d = block * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    at = head * N * D
    x = tl.load(q + at + m[:, None] * D + d[None, :])
    top, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for i in range(0, (block + 1) * BM if CAUSAL else N, BN):
        s = tl.dot(x, tl.load(k + at + (i + n)[None, :] * D + d[:, None])) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(m[:, None] >= (i + n)[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p, shrink = tl.exp2(s - new[:, None]), tl.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(q.dtype.element_ty), tl.load(v + at + (i + n)[:, None] * D + d[None, :]), acc)
        top = new
    tl.store(o + at + m[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype.element_ty))


@triton.jit
def flash_steps(acc, total, top, x, k, v, low, high, m, scale, BN: tl.constexpr, D: tl.constexpr, MASK: tl.constexpr):
    n, d = tl.arange(0, BN), tl.arange(0, D)
    for i in range(low, high, BN):
        s = tl.dot(x, tl.load(k + (i + n)[None, :] * D + d[:, None]))
        if MASK:
            s = s * scale + tl.where(m[:, None] >= (i + n)[None, :], 0, -1.0e6)
            new = tl.maximum(top, tl.max(s, 1))
            s -= new[:, None]
        else:
            new = tl.maximum(top, tl.max(s, 1) * scale)
            s = s * scale - new[:, None]
        p, shrink = tl.exp2(s), tl.exp2(top - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(x.dtype), tl.load(v + (i + n)[:, None] * D + d[None, :]), acc)
        top = new
    return acc, total, top


@triton.jit
def flash_attention(q, k, v, o, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    """As in Triton's tutorial 06: the scale goes into the exponent; blocks on the diagonal have a loop of their own."""
    block, at = tl.program_id(0), tl.program_id(1) * N * D
    m, d = block * BM + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + at + m[:, None] * D + d[None, :])
    top, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc, scale = tl.zeros((BM, D), tl.float32), scale * 1.44269504
    whole = block * BM if CAUSAL else N
    acc, total, top = flash_steps(acc, total, top, x, k + at, v + at, 0, whole, m, scale, BN, D, False)
    if CAUSAL:
        acc, total, top = flash_steps(acc, total, top, x, k + at, v + at, whole, whole + BM, m, scale, BN, D, True)
    tl.store(o + at + m[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype.element_ty))


@triton.jit
def chunked(q, k, v, o, T, C: tl.constexpr, D: tl.constexpr):
    """Linear attention in chunks: a state of D × D is carried."""
    at, c, d = tl.program_id(0) * T * D, tl.arange(0, C), tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    for i in range(0, T, C):
        p = at + (i + c)[:, None] * D + d[None, :]
        x, y, z = tl.load(q + p), tl.load(k + p), tl.load(v + p)
        s = tl.where(c[:, None] >= c[None, :], tl.dot(x, tl.trans(y)), 0.0)
        made = tl.dot(s.to(tl.bfloat16), z) + tl.dot(x, state.to(tl.bfloat16))
        state += tl.dot(tl.trans(y), z)
        tl.store(o + p, made.to(tl.bfloat16))


def dots():
    gemms()
    case("split_k_f16", split_k, [2, 16, 8],
         [data("f16", 128, 4096), data("f16", 1024, 4096), out("f32", 128, 1024), 128, 1024, 4096, 64, 64, 64, 8])
    for g, m, k, warps in ((4, 16, 16, 4), (8, 16, 32, 4), (4, 32, 32, 4), (1, 16, 16, 1), (2, 64, 64, 4)):
        case("batched_dots_%dx%dx%d_w%d" % (g, m, k, warps), batched_dots, [1024],
             [data("f16", 1024 * g, m, k), data("f16", 1024 * g, k, m), out("f32", 1024 * g, m, m), g, m, m, k], warps)
    case("experts_bf16", experts, [32, 16],
         [data("bf16", 512, 2048), data("bf16", 8, 2048, 2048), out("bf16", 2048, 2048),
          data("i32", 2048, lo=0, hi=512), data("i32", 32, lo=0, hi=8), 2048, 2048, 64, 128, 64])
    weights = [data("f16", 4096, 32), out("f16", 128, 4096), 128, 4096, 4096]
    for bm, bn, bk, warps in ((16, 64, 128, 4), (32, 64, 128, 4), (64, 64, 64, 4), (64, 128, 64, 4), (128, 128, 64, 8)):
        shape = "%dx%dx%d_w%d" % (bm, bn, bk, warps)
        case("packed_words_" + shape, packed_words, [128 // bm, 4096 // bn],
             [data("f16", 128, 4096), data("i32", 512, 4096, lo=0, hi=1 << 30), data("f16", 32, 4096),
              data("i32", 32, 512, lo=0, hi=1 << 30), *weights[1:], bm, bn, bk, 128], warps)
        case("packed_bytes_" + shape, packed_bytes, [128 // bm, 4096 // bn],
             [data("f16", 128, 4096), data("i8", 4096, 2048, lo=0, hi=127), *weights, bm, bn, bk, 128], warps)
    case("int8_weights_bf16", int8_weights, [2, 32],
         [data("bf16", 32, 4096), data("i8", 4096, 4096, lo=-8, hi=8), data("f32", 4096), out("bf16", 32, 4096),
          32, 4096, 4096, 16, 128, 64])
    for name, dtype, d, bm, bn, warps, causal in (
            ("d64", "f16", 64, 128, 64, 4, False), ("d64_causal", "f16", 64, 128, 64, 4, True),
            ("d128", "bf16", 128, 128, 64, 4, False), ("d128_w8", "f16", 128, 128, 64, 8, False),
            ("d128_causal", "f16", 128, 128, 64, 8, True), ("d64_small", "bf16", 64, 32, 32, 1, False)):
        n = 2048 if warps > 1 else 512
        x = [data(dtype, 16, n, d) for _ in range(3)]
        case("attention_" + name, attention, [n // bm, 16], [*x, out(dtype, 16, n, d), n, 0.125, bm, bn, d, causal],
             warps)
    case("chunked_bf16", chunked, [64],
         [*(data("bf16", 64, 512, 64) for _ in range(3)), out("bf16", 64, 512, 64), 512, 64, 64])


# ---- rows ----


@triton.jit
def softmax(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def softmax_rows(x, o, m, n, R: tl.constexpr, B: tl.constexpr):
    """R short rows a program."""
    r, c = tl.program_id(0) * R + tl.arange(0, R)[:, None], tl.arange(0, B)[None, :]
    inside = (r < m) & (c < n)
    v = tl.load(x + r * n + c, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(o + r * n + c, e / tl.sum(e, 1)[:, None], mask=inside)


@triton.jit
def softmax_online(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    top, total = tl.full((B,), -float("inf"), tl.float32), tl.zeros((B,), tl.float32)
    for at in range(0, n, B):
        v = tl.load(x + row * n + at + c, mask=at + c < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, v)
        total = total * tl.exp(top - new) + tl.exp(v - new)
        top = new
    most = tl.max(top, 0)
    total = tl.sum(total * tl.exp(top - most), 0)
    for at in range(0, n, B):
        v = tl.load(x + row * n + at + c, mask=at + c < n, other=-float("inf")).to(tl.float32)
        tl.store(o + row * n + at + c, tl.exp(v - most) / total, mask=at + c < n)


@triton.jit
def layer_norm(x, w, b, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    d = tl.where(c < n, v - tl.sum(v, 0) / n, 0.0)
    v = d * tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(o + row * n + c, v * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n), mask=c < n)


@triton.jit
def layer_norm_backward(x, w, dy, dx, dw, db, n, ROWS: tl.constexpr, B: tl.constexpr):
    c = tl.arange(0, B)
    weight = tl.load(w + c, mask=c < n, other=0.0)
    weights, biases = tl.zeros((B,), tl.float32), tl.zeros((B,), tl.float32)
    for row in range(tl.program_id(0) * ROWS, tl.program_id(0) * ROWS + ROWS):
        v = tl.load(x + row * n + c, mask=c < n, other=0.0)
        g = tl.load(dy + row * n + c, mask=c < n, other=0.0)
        d = tl.where(c < n, v - tl.sum(v, 0) / n, 0.0)
        scale = tl.rsqrt(tl.sum(d * d, 0) / n + 1e-5)
        normal, t = d * scale, g * weight
        made = (t - tl.sum(t, 0) / n - normal * tl.sum(t * normal, 0) / n) * scale
        tl.store(dx + row * n + c, made, mask=c < n)
        weights += g * normal
        biases += g
    tl.atomic_add(dw + c, weights, mask=c < n, sem="relaxed")
    tl.atomic_add(db + c, biases, mask=c < n, sem="relaxed")


@triton.jit
def rms_norm(x, w, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    v *= tl.rsqrt(tl.sum(v * v, 0) / n + 1e-6)
    tl.store(o + row * n + c, (v * tl.load(w + c, mask=c < n)).to(tl.bfloat16), mask=c < n)


@triton.jit
def cross_entropy(x, target, loss, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    top, total = -float("inf"), 0.0
    for at in range(0, n, B):
        v = tl.load(x + row * n + at + c, mask=at + c < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new), 0)
        top = new
    tl.store(loss + row, top + tl.log(total) - tl.load(x + row * n + tl.load(target + row)).to(tl.float32))


@triton.jit
def quantise(x, o, scales, n, MOST: tl.constexpr, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), 0), 1e-6) / MOST
    tl.store(o + row * n + c, (v / scale).to(o.dtype.element_ty), mask=c < n)
    tl.store(scales + row, scale)


@triton.jit
def argmax(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row, tl.argmax(tl.load(x + row * n + c, mask=c < n, other=-float("inf")), 0))


@triton.jit
def running_sums(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * n + c, tl.cumsum(tl.load(x + row * n + c, mask=c < n, other=0.0), 0), mask=c < n)


@triton.jit
def combine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def recurrence(a, x, o, T, D, BT: tl.constexpr, BD: tl.constexpr):
    """h = a h + x along the first axis, as in state space models."""
    t, d = tl.arange(0, BT)[:, None], tl.program_id(0) * BD + tl.arange(0, BD)[None, :]
    _, h = tl.associative_scan((tl.load(a + t * D + d), tl.load(x + t * D + d)), 0, combine)
    tl.store(o + t * D + d, h)


@triton.jit
def sort(x, o, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * B + c, tl.sort(tl.load(x + row * B + c)))


def rows():
    for dtype, m, n, warps in (("f32", 1024, 1000, 4), ("bf16", 1024, 4096, 8), ("f16", 4096, 256, 1)):
        case("softmax_%s_%d" % (dtype, n), softmax, [m],
             [data(dtype, m, n), out(dtype, m, n), n, triton.next_power_of_2(n)], warps)
    case("softmax_rows_f32_100", softmax_rows, [1024],
         [data("f32", 16384, 100), out("f32", 16384, 100), 16384, 100, 16, 128])
    case("softmax_online_bf16_32000", softmax_online, [256],
         [data("bf16", 256, 32000), out("bf16", 256, 32000), 32000, 4096], 8)
    for dtype, n, warps in (("f32", 1000, 4), ("bf16", 4096, 8)):
        case("layer_norm_%s_%d" % (dtype, n), layer_norm, [1024],
             [data(dtype, 1024, n), data(dtype, n), data(dtype, n), out(dtype, 1024, n), n,
              triton.next_power_of_2(n)], warps)
    case("layer_norm_backward_f32_1000", layer_norm_backward, [256],
         [data("f32", 2048, 1000), data("f32", 1000), data("f32", 2048, 1000), out("f32", 2048, 1000),
          out("f32", 1000), out("f32", 1000), 1000, 8, 1024])
    case("rms_norm_bf16_5120", rms_norm, [1024],
         [data("bf16", 1024, 5120), data("bf16", 5120), out("bf16", 1024, 5120), 5120, 8192], 8)
    case("cross_entropy_bf16_32000", cross_entropy, [256],
         [data("bf16", 256, 32000), data("i64", 256, lo=0, hi=32000), out("f32", 256), 32000, 4096], 8)
    for to, most in (("i8", 127.0), ("f8E4M3FN", 448.0)):
        case("quantise_bf16_%s" % to[:2], quantise, [1024],
             [data("bf16", 1024, 4096), out(to, 1024, 4096), out("f32", 1024), 4096, most, 4096])
    case("argmax_f32_1000", argmax, [1024], [data("f32", 1024, 1000), out("i32", 1024), 1000, 1024])
    case("running_sums_f32_1000", running_sums, [1024], [data("f32", 1024, 1000), out("f32", 1024, 1000), 1000, 1024])
    case("recurrence_f32", recurrence, [64],
         [data("f32", 128, 2048, fill="randn", scale=0.1), data("f32", 128, 2048), out("f32", 128, 2048), 128, 2048,
          128, 32])
    case("sort_f32_512", sort, [512], [data("f32", 512, 512), out("f32", 512, 512), 512])


# ---- elements and columns ----


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def swiglu(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.program_id(1) * B + tl.arange(0, B)
    gate = tl.load(x + row * 2 * n + c, mask=c < n).to(tl.float32)
    up = tl.load(x + row * 2 * n + n + c, mask=c < n).to(tl.float32)
    tl.store(o + row * n + c, gate * tl.sigmoid(gate) * up, mask=c < n)


@triton.jit
def gelu(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(o + i, 0.5 * v * (1 + tl.math.erf(v * 0.70710678)), mask=i < n)


@triton.jit
def dropout(x, o, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    kept = tl.rand(seed, i) > p
    tl.store(o + i, tl.where(kept, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def rope(x, cos, sin, o, heads, D: tl.constexpr, H: tl.constexpr):
    token, h, d = tl.program_id(0), tl.arange(0, H), tl.arange(0, D // 2)
    c, s = tl.load(cos + token * (D // 2) + d)[None, :], tl.load(sin + token * (D // 2) + d)[None, :]
    p = token * heads * D + h[:, None] * D + d[None, :]
    inside = (h < heads)[:, None] & (d < D // 2)[None, :]
    a = tl.load(x + p, mask=inside).to(tl.float32)
    b = tl.load(x + p + D // 2, mask=inside).to(tl.float32)
    tl.store(o + p, (a * c - b * s).to(tl.bfloat16), mask=inside)
    tl.store(o + p + D // 2, (b * c + a * s).to(tl.bfloat16), mask=inside)


@triton.jit
def column_sums(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    c, r = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BM)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, M, BM):
        acc += tl.load(x + (at + r)[:, None] * N + c[None, :], mask=((at + r) < M)[:, None] & (c < N)[None, :],
                       other=0.0)
    tl.store(o + c, tl.sum(acc, 0), mask=c < N)


@triton.jit
def column_most(x, o, N, BM: tl.constexpr, BN: tl.constexpr):
    c, r = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, BM)
    tl.store(o + c, tl.max(tl.load(x + r[:, None] * N + c[None, :]), 0))


@triton.jit
def transpose(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    tl.store(o + n[:, None] * M + m[None, :], tl.trans(tl.load(x + m[:, None] * N + n[None, :])))


@triton.jit
def embedding(table, index, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * n + c, tl.load(table + tl.load(index + row) * n + c, mask=c < n), mask=c < n)


@triton.jit
def permute(x, index, o, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * B + c, tl.gather(tl.load(x + row * B + c), tl.load(index + row * B + c), 0))


@triton.jit
def histogram(x, o, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS), sem="relaxed")


@triton.jit
def matrix_vector(a, x, o, N, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for at in range(0, N, BN):
        v = tl.load(x + at + n).to(tl.float32)[None, :]
        acc += tl.load(a + m[:, None] * N + at + n[None, :]).to(tl.float32) * v
    tl.store(o + m, tl.sum(acc, 1))


@triton.jit
def convolution(x, w, o, T, D, BT: tl.constexpr, BD: tl.constexpr):
    """Causal, four taps a channel."""
    t, d = tl.program_id(0) * BT + tl.arange(0, BT)[:, None], tl.program_id(1) * BD + tl.arange(0, BD)[None, :]
    acc = tl.zeros((BT, BD), tl.float32)
    for tap in tl.static_range(4):
        v = tl.load(x + (t + tap - 3) * D + d, mask=(t + tap >= 3) & (d < D), other=0.0).to(tl.float32)
        acc += v * tl.load(w + tap * D + d).to(tl.float32)
    tl.store(o + t * D + d, acc * tl.sigmoid(acc), mask=d < D)


def elements():
    n = 1 << 22
    for name, dtype, block, warps in (("f32", "f32", 1024, 4), ("bf16", "bf16", 2048, 4), ("one_wave", "f32", 256, 1)):
        case("add_" + name, add, [n // block], [data(dtype, n), data(dtype, n), out(dtype, n), n, block], warps)
    case("swiglu_bf16", swiglu, [1024, 4], [data("bf16", 1024, 8192), out("bf16", 1024, 4096), 4096, 1024])
    case("gelu_bf16", gelu, [n // 1024], [data("bf16", n), out("bf16", n), n, 1024])
    case("dropout_f32", dropout, [n // 1024], [data("f32", n), out("f32", n), n, 0.25, 7, 1024])
    case("rope_bf16", rope, [2048],
         [data("bf16", 2048, 32, 128), data("f32", 2048, 64), data("f32", 2048, 64), out("bf16", 2048, 32, 128), 32,
          128, 32])
    case("column_sums_f32", column_sums, [32], [data("f32", 2000, 2048), out("f32", 2048), 2000, 2048, 32, 64])
    case("column_most_f16", column_most, [64], [data("f16", 64, 4096), out("f16", 4096), 4096, 64, 64])
    for dtype in ("f32", "f16"):
        case("transpose_" + dtype, transpose, [32, 32],
             [data(dtype, 2048, 2048), out(dtype, 2048, 2048), 2048, 2048, 64, 64])
    case("embedding_f16", embedding, [2048],
         [data("f16", 8192, 1024), data("i64", 2048, lo=0, hi=8192), out("f16", 2048, 1024), 1024, 1024])
    case("permute_f32", permute, [1024],
         [data("f32", 1024, 512), data("i32", 1024, 512, lo=0, hi=512), out("f32", 1024, 512), 512])
    case("histogram_i32", histogram, [256], [data("i32", 1 << 18, lo=0, hi=64), out("i32", 64), 1024, 64])
    case("matrix_vector_bf16", matrix_vector, [256],
         [data("bf16", 4096, 4096), data("bf16", 4096), out("f32", 4096), 4096, 16, 256])
    case("convolution_bf16", convolution, [32, 16],
         [data("bf16", 1024, 2048), data("bf16", 4, 2048), out("bf16", 1024, 2048), 1024, 2048, 32, 128])


def main():
    dots()
    rows()
    elements()
    folder, pick = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    for name in filter(pick.search, CASES):
        if folder == "--list":
            print(name)
        else:
            write(folder, name)


if __name__ == "__main__":
    main()
