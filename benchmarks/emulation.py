#!/usr/bin/env python3
"""Times of Triton's kernels without a GPU: Triton's interpreter mode, and tessera's interpreter and emulators.

    python benchmarks/emulation.py [--target sm_90a]... [--kernel NAME]... [--repeat 3]

Needs the packages triton, torch (on the CPU) and tessera-gpu. Each kernel runs in a process of its own for each way;
the first launch, which compiles, is not counted; the least of the others is. Prints a table in Markdown, in seconds.
"""

import argparse
import json
import os
import subprocess
import sys
import time


def kernels():
    """name -> a function that launches the kernel once and returns its result and what it should be."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, o, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

    @triton.jit
    def softmax(x, o, n, B: tl.constexpr):
        row, c = tl.program_id(0), tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
        e = tl.exp(v - tl.max(v, 0))
        tl.store(o + row * n + c, e / tl.sum(e, 0), mask=c < n)

    @triton.jit
    def layer_norm(x, w, b, o, n, B: tl.constexpr):
        row, c = tl.program_id(0), tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0)
        d = tl.where(c < n, v - tl.sum(v, 0) / n, 0.0)
        v = d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
        tl.store(o + row * n + c, v * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n), mask=c < n)

    @triton.jit
    def matmul(a, b, c, m, n, k, B: tl.constexpr):
        r, s, i = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B), tl.arange(0, B)
        acc = tl.zeros((B, B), tl.float32)
        for at in range(0, k, B):
            acc = tl.dot(tl.load(a + r[:, None] * k + at + i), tl.load(b + (at + i)[:, None] * n + s[None, :]), acc)
        tl.store(c + r[:, None] * n + s[None, :], acc)

    @triton.jit
    def attention(q, k, v, o, n, M: tl.constexpr, D: tl.constexpr):
        r, c, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, M), tl.arange(0, D)
        query = tl.load(q + r[:, None] * D + d)
        largest, total = tl.full((M,), -1e30, tl.float32), tl.zeros((M,), tl.float32)
        acc = tl.zeros((M, D), tl.float32)
        for at in range(0, n, M):
            score = tl.dot(query, tl.trans(tl.load(k + (at + c)[:, None] * D + d)))
            new = tl.maximum(largest, tl.max(score, 1))
            p, shrink = tl.exp(score - new[:, None]), tl.exp(largest - new)
            total = total * shrink + tl.sum(p, 1)
            acc = tl.dot(p.to(tl.float16), tl.load(v + (at + c)[:, None] * D + d), acc * shrink[:, None])
            largest = new
        tl.store(o + r[:, None] * D + d, acc / total[:, None])

    torch.manual_seed(0)
    x, y, o = torch.rand(1 << 18), torch.rand(1 << 18), torch.zeros(1 << 18)
    rows, out = torch.rand(256, 1000), torch.zeros(256, 1000)
    w, bias = torch.rand(1000), torch.rand(1000)
    a, b, c = torch.randn(512, 512).half(), torch.randn(512, 512).half(), torch.zeros(512, 512)
    q, k, v, z = (torch.randn(512, 64).half() * 0.3 for _ in range(4))
    z = z.float()
    return {
        "vector addition, 2^18": lambda: (add[(256,)](x, y, o, 1 << 18, 1024), o, x + y),
        "softmax, 256 x 1000": lambda: (softmax[(256,)](rows, out, 1000, 1024), out, rows.softmax(1)),
        "layer norm, 256 x 1000": lambda: (layer_norm[(256,)](rows, w, bias, out, 1000, 1024), out,
                                           torch.nn.functional.layer_norm(rows, (1000,), w, bias)),
        "matmul, 512^3": lambda: (matmul[(8, 8)](a, b, c, 512, 512, 512, 64), c, a.float() @ b.float()),
        "attention, 512 x 64": lambda: (attention[(8,)](q, k, v, z, 512, 64, 64), z,
                                        (q.float() @ k.float().T).softmax(1) @ v.float()),
    }  # fmt: skip


def measure(name, repeat):
    import torch

    launch, best = kernels()[name], float("inf")
    for i in range(repeat + 1):
        start = time.perf_counter()
        _, made, expected = launch()
        if i:
            best = min(best, time.perf_counter() - start)
    torch.testing.assert_close(made, expected, rtol=3e-2, atol=3e-2)
    return best


def child(name, way, repeat):
    if way == "TRITON_INTERPRET=1":
        print(json.dumps(measure(name, repeat)))
        return
    import tessera.triton

    with tessera.triton.emulate(way):
        print(json.dumps(measure(name, repeat)))


NAMES = [
    "vector addition, 2^18",
    "softmax, 256 x 1000",
    "layer norm, 256 x 1000",
    "matmul, 512^3",
    "attention, 512 x 64",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", help="emulated targets; default: sm_90a and gfx942")
    parser.add_argument("--kernel", action="append", choices=NAMES, metavar="NAME", help=f"one of: {'; '.join(NAMES)}")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.child:
        return child(*o.child, o.repeat)
    ways = ["TRITON_INTERPRET=1", "interpreter", *(o.target or ["sm_90a", "gfx942"])]
    print("| kernel | " + " | ".join(ways) + " |\n|---" * 1 + "|---" * len(ways) + "|")
    for name in o.kernel or NAMES:
        times = []
        for way in ways:
            if sys.stderr.isatty():
                print(f"\r\x1b[2K{name}: {way}", end="", file=sys.stderr, flush=True)
            given = {"TRITON_INTERPRET": "1"} if way == "TRITON_INTERPRET=1" else {}
            command = [sys.executable, __file__, "--repeat", str(o.repeat), "--child", name, way]
            made = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **given})
            if made.returncode:
                sys.exit(f"{name} with {way} failed:\n{made.stderr}")
            times.append(f"{json.loads(made.stdout.splitlines()[-1]):.3f}")
        if sys.stderr.isatty():
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
        print(f"| {name} | " + " | ".join(times) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
