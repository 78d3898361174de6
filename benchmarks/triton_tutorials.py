#!/usr/bin/env python3
"""Times the kernels of Triton's tutorials by Triton, by Tessera and by the vendor's library (cuBLAS, cuDNN, PyTorch)
alternately, in one process, so that all find the same clocks. Needs one NVIDIA GPU, torch, triton and tessera-gpu, and
Triton's python/tutorials.

usage: triton_tutorials.py FOLDER_OF_TUTORIALS [REGEX [ROUNDS]]

A JSON line per case: milliseconds (medians over the rounds of triton.testing.do_bench's medians), TFLOP/s of the
dots, seconds of the first call with autotuning, and the medians of Triton's and of the library's time by
ours: above 1, ours is faster. The last lines have the geometric means. With ROUNDS = 0 kernels are compiled only: run
that first, several at a time with different REGEX, and the second run finds them in Triton's cache.
"""

import ast
import functools
import json
import math
import os
import re
import statistics
import sys
import time
import types

import torch
import torch.nn.functional as F
import triton
from torch.nn.attention import SDPBackend, sdpa_kernel

FOLDER = sys.argv[1]
PICK = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 7
COMPILERS = {"triton": "0", "tessera": "1"}  # the values of TESSERA_TRITON, which counts when a kernel is compiled
RESULTS = []


def load(name, compiler):
    """A tutorial's definitions without its demonstrations."""
    os.environ["TESSERA_TRITON"] = COMPILERS[compiler]
    path = f"{FOLDER}/{name}.py"
    m = types.ModuleType(f"{compiler}_" + re.sub(r"\W", "_", name))
    m.__file__ = path
    sys.modules[m.__name__] = m
    for s in ast.parse(open(path).read()).body:
        is_main = isinstance(s, ast.If) and "__main__" in ast.dump(s.test)
        if is_main or isinstance(s, (ast.Expr, ast.For, ast.With)):
            continue
        try:
            exec(compile(ast.Module([s], []), path, "exec"), m.__dict__)
        except Exception as e:  # a demonstration in a statement of another kind
            print(f"# {name}: {type(e).__name__}: {str(e)[:80]}", file=sys.stderr)
    return m


@functools.cache
def modules(tutorial):
    return {compiler: load(tutorial, compiler) for compiler in COMPILERS}


def case(name, tutorial, make, library=None, work=None):
    """`make(module)` gives the function to time; `work` is its number of operations."""
    if not PICK.search(name):
        return
    try:
        functions, first = {}, {}
        for compiler, module in modules(tutorial).items():
            os.environ["TESSERA_TRITON"] = COMPILERS[compiler]
            start = time.perf_counter()
            functions[compiler] = make(module)
            functions[compiler]()
            torch.cuda.synchronize()
            first[compiler] = round(time.perf_counter() - start, 2)
        line = {"case": name, "first_s": first}
        if ROUNDS:
            if library:
                functions["library"] = library
            times = {kind: [] for kind in functions}
            for r in range(ROUNDS):
                for kind in list(functions)[:: -1 if r % 2 else 1]:
                    ms = triton.testing.do_bench(functions[kind], warmup=15, rep=60, return_mode="median")
                    times[kind].append(ms)
            line["ms"] = {kind: round(statistics.median(t), 4) for kind, t in times.items()}
            if work:
                line["tflops"] = {kind: round(work / ms * 1e-9, 1) for kind, ms in line["ms"].items()}
            for kind in set(times) - {"tessera"}:
                pairs = zip(times[kind], times["tessera"])
                line[f"{kind}/tessera"] = round(statistics.median(a / b for a, b in pairs), 3)
        RESULTS.append(line)
    except Exception as e:  # a case that fails is a line, not the end
        line = {"case": name, "error": f"{type(e).__name__}: {str(e)[:300]}"}
    print(json.dumps(line), flush=True)


def rand(*shape, dtype=torch.float16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def softmax():
    x = rand(8192, 4096, dtype=torch.float32)
    case("02 softmax 8192x4096 f32", "02-fused-softmax", lambda m: lambda: m.softmax(x),
         lambda: torch.softmax(x, 1))


def matmul():
    tutorial = "03-matrix-multiplication"
    for n in (1024, 4096, 8192):
        a, b = rand(n, n), rand(n, n)
        case(f"03 matmul f16 {n}", tutorial, lambda m: lambda: m.matmul(a, b), lambda: a @ b, 2 * n**3)
    a8, b8 = rand(4096, 4096).to(torch.float8_e5m2), rand(4096, 4096).T.to(torch.float8_e5m2)
    case("03 matmul f8 4096", tutorial, lambda m: lambda: m.matmul(a8, b8), None, 2 * 4096**3)


def layer_norm():
    tutorial = "05-layer-norm"
    x = (-2.3 + 0.5 * rand(4096, 8192)).detach().requires_grad_()
    w, b = [torch.rand(8192, device="cuda", dtype=torch.float16, requires_grad=True) for _ in "wb"]
    dy = torch.randn_like(x)

    def forward(m):
        return lambda: m.LayerNorm.apply(x, (8192,), w, b, 1e-5)

    def backward(y):
        def run():
            x.grad = w.grad = b.grad = None
            y.backward(dy, retain_graph=True)

        return run

    def library():
        return F.layer_norm(x, (8192,), w, b, 1e-5)

    case("05 layer norm forward 4096x8192", tutorial, forward, library)
    case("05 layer norm backward 4096x8192", tutorial, lambda m: backward(forward(m)()), backward(library()))


def attention():
    tutorial = "06-fused-attention"
    for d in (64, 128):
        for causal in (False, True):
            heads, n = (32 if d == 64 else 16), 4096
            q, k, v = [rand(4, heads, n, d).requires_grad_() for _ in "qkv"]
            gradient = torch.randn_like(q)
            work = 4 * 4 * heads * n * n * d * (0.5 if causal else 1)

            def library(q=q, k=k, v=v, causal=causal):
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=0.5)

            def forward(m, q=q, k=k, v=v, causal=causal):
                return lambda: m.attention(q, k, v, causal, 0.5, False)

            def backward(o, gradient=gradient):
                return lambda: o.backward(gradient, retain_graph=True)

            name = f"06 attention d{d}{' causal' if causal else ''}"
            case(f"{name} forward", tutorial, forward, library, work)
            case(f"{name} backward", tutorial, lambda m: backward(forward(m)()), backward(library()), 2.5 * work)


def grouped():
    tutorial = "08-grouped-gemm"
    a, b = [rand(2048, 2048) for _ in range(4)], [rand(2048, 2048) for _ in range(4)]
    transposed = [x.T.contiguous() for x in b]
    work = 4 * 2 * 2048**3
    case("08 grouped matmul 4x2048", tutorial, lambda m: lambda: m.group_gemm_fn(a, b), None, work)
    case("08 grouped matmul 4x2048, TMA", tutorial, lambda m: lambda: m.group_gemm_tma_fn(a, transposed), None, work)


def persistent():
    tutorial = "09-persistent-matmul"
    for k in (512, 4096):
        a, b = rand(8192, k), rand(8192, k)
        functions = {
            "not persistent": lambda m: lambda: m.matmul(a, b.T),
            "not persistent, TMA": lambda m: lambda: m.matmul_tma(a, b, False),
            "pointers": lambda m: lambda: m.matmul_persistent(a, b.T),
            "TMA": lambda m: lambda: m.matmul_tma_persistent(a, b, False),
            "device descriptors": lambda m: lambda: m.matmul_descriptor_persistent(a, b, False),
        }
        for kind, make in functions.items():
            case(f"09 persistent 8192x8192x{k}, {kind}", tutorial, make, lambda: a @ b.T, 2 * 8192 * 8192 * k)


def mean(key, pattern=""):
    ratios = [r[key] for r in RESULTS if key in r and re.search(pattern, r["case"])]
    if ratios:
        of = f" of {pattern}" if pattern else ""
        geometric = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"# {key}{of}: geometric mean {geometric:.3f} over {len(ratios)}")


softmax()
matmul()
layer_norm()
attention()
grouped()
persistent()
mean("triton/tessera")
for kind in ("attention.*forward", "attention.*backward", "persistent"):
    mean("library/tessera", kind)
