#!/usr/bin/env python3
"""How long Triton and Tessera compile the matmul template of torch.compile, in the configurations of max-autotune.

  template_compile_time.py [--shape 1024,2816,1024] [--arch 90] [--filter 128,128]

Needs Triton (3.6 or later) and tessera-gpu, or python/ in PYTHONPATH and TESSERA_LIBRARY. The kernel is Inductor's
triton_mm for bfloat16, written out; M, N and K are constants in it, as there. Each compiler has a process of its own
and compiles to a cubin; seconds are processor time of the process and of ptxas, so that other load on the machine
matters little.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# Blocks M, N, K, stages, warps: mm_configs of PyTorch 2.11 (torch/_inductor/template_heuristics/triton.py).
CONFIGURATIONS = [
    (32, 32, 16, 1, 2), (32, 32, 128, 2, 4), (32, 64, 32, 5, 8), (64, 32, 32, 5, 8), (64, 32, 128, 5, 4),
    (64, 64, 16, 2, 4), (64, 64, 32, 2, 4), (64, 64, 64, 3, 8), (64, 64, 128, 5, 4), (64, 128, 32, 3, 4),
    (64, 128, 32, 4, 8), (64, 128, 64, 3, 4), (64, 128, 128, 4, 4), (128, 64, 32, 3, 4), (128, 64, 32, 4, 8),
    (128, 128, 32, 2, 8), (128, 128, 32, 3, 4), (128, 128, 64, 3, 4), (128, 128, 64, 5, 8), (128, 128, 128, 4, 8),
]  # fmt: skip


def processor_seconds():
    usages = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usages), usages[1].ru_utime + usages[1].ru_stime


def compile_all(shape, arch, chosen):
    """One JSON line for each configuration: seconds, and those of ptxas."""
    constants = ("M", "N", "K", "EVEN_K", "GROUP_M", "BLOCK_M", "BLOCK_N", "BLOCK_K")
    signature = {**dict.fromkeys(("A", "B", "out"), "*bf16"), **dict.fromkeys(constants, "constexpr")}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    m, n, k = shape
    for number, (bm, bn, bk, stages, warps) in enumerate([chosen[0], *chosen]):  # the first one loads the compilers
        values = (m, n, k, k % bk == 0, 8, bm, bn, bk)
        source = ASTSource(matmul, signature, dict(zip(constants, values)), aligned)
        before = processor_seconds()
        made = triton.compile(source, GPUTarget("cuda", arch, 32), dict(num_warps=warps, num_stages=stages))
        total, tools = (b - a for a, b in zip(before, processor_seconds()))
        by = getattr(made.metadata, "compiled_by", "triton")
        if number:
            print(json.dumps({"seconds": total, "ptxas": tools, "by": by}), flush=True)


@triton.jit
def matmul(A, B, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN_K: tl.constexpr,
           GROUP_M: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
           BLOCK_K: tl.constexpr):  # fmt: skip
    pid = tl.program_id(0)
    grid_m = (M + BLOCK_M - 1) // BLOCK_M
    grid_n = (N + BLOCK_N - 1) // BLOCK_N
    width = GROUP_M * grid_n
    group_id = pid // width
    group_size = min(grid_m - group_id * GROUP_M, GROUP_M)
    pid_m = group_id * GROUP_M + (pid % group_size)
    pid_n = (pid % width) // group_size
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    offs_a_m = tl.max_contiguous(tl.multiple_of(rm % M, BLOCK_M), BLOCK_M)
    offs_b_n = tl.max_contiguous(tl.multiple_of(rn % N, BLOCK_N), BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k_idx in range(0, tl.cdiv(K, BLOCK_K)):
        a_at = A + (offs_k[None, :] + k_idx * BLOCK_K) + K * offs_a_m[:, None]
        b_at = B + (offs_k[:, None] + k_idx * BLOCK_K) + K * offs_b_n[None, :]
        if EVEN_K:
            a = tl.load(a_at)
            b = tl.load(b_at)
        else:
            a = tl.load(a_at, mask=offs_k[None, :] < (K - k_idx * BLOCK_K), other=0.0)
            b = tl.load(b_at, mask=offs_k[:, None] < (K - k_idx * BLOCK_K), other=0.0)
        acc += tl.dot(a, b, allow_tf32=False, out_dtype=tl.float32)
    idx_m = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]
    idx_n = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
    tl.store(out + idx_n + N * idx_m, acc, (idx_m < M) & (idx_n < N))


def measure(mode, arguments):
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TESSERA_TRITON": mode, "TRITON_CACHE_DIR": cache, "TRITON_ALWAYS_COMPILE": "1"}
        command = [sys.executable, __file__, "--in-process", *arguments]
        made = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in made.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="1024,2816,1024", help="M, N, K")
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--filter", default="", help="configurations that begin so")
    parser.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    name = ",".join
    chosen = [c for c in CONFIGURATIONS if name(map(str, c)).startswith(options.filter)]
    if not chosen:
        sys.exit("template_compile_time.py: no such configuration")
    shape = tuple(map(int, options.shape.split(",")))
    if options.in_process:
        compile_all(shape, options.arch, chosen)
        return
    theirs, ours = (measure(mode, sys.argv[1:]) for mode in ("0", "strict"))
    if not all(row["by"].startswith("tessera") for row in ours):
        sys.exit("template_compile_time.py: Tessera is not what compiled")
    print("| blocks, stages, warps | Triton, s | of it ptxas | Tessera, s | of it ptxas | ratio |")
    print("|---|---|---|---|---|---|")
    sums = {key: [sum(row[key] for row in rows) for rows in (theirs, ours)] for key in ("seconds", "ptxas")}
    total = tuple({key: sums[key][side] for key in sums} for side in (0, 1))
    for title, a, b in [*zip((", ".join(map(str, c)) for c in chosen), theirs, ours), ("all", *total)]:
        print(f"| {title} | {a['seconds']:.2f} | {a['ptxas']:.2f} | {b['seconds']:.2f} | {b['ptxas']:.2f} "
              f"| {b['seconds'] / a['seconds']:.2f} |")  # fmt: skip


if __name__ == "__main__":
    main()
