#!/usr/bin/env python3
"""Times the operations of flash-linear-attention (gated delta rule, KDA, RWKV, GLA, ...), forward and backward, on one
NVIDIA GPU, and compares what two compilers made of its Triton kernels. Needs torch, triton, einops and a checkout of
https://github.com/fla-org/flash-linear-attention, whose list of operations (benchmarks/ops/registry.py) it takes.

    export FLA=CHECKOUT FLA_CACHE_MODE=disabled
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t linear_attention.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s linear_attention.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    linear_attention.py --compare triton.jsonl tessera.jsonl t.pt s.pt

Each autotuned kernel is compiled in at most four of its configurations, spread over their list. A line per operation:
microseconds of each kernel by torch's profiler, mean of five steps, and seconds of the first step. A ratio above 1
means that the second file's code is faster; "difference" is the largest relative one (Frobenius norm) of the output and
the gradients.
"""

import argparse
import importlib
import json
import math
import os
import sys

SHAPE = {"B": 2, "T": 4096, "H": 16, "D": 128}  # batch, length, heads, width of a head
KEPT_CONFIGURATIONS = 4
STEPS = 5


def is_by_triton(name):
    """Whether a profiler's row is a kernel that was compiled, not one of a library."""
    others = ("void ", "Mem", "nvjet", "sm90", "sm80", "cutlass", "ampere")
    return not name.startswith(others) and "cublas" not in name


def compare(triton_file, tessera_file, *saved):
    import torch

    first, second = [{c["op"]: c for c in map(json.loads, open(f))} for f in (triton_file, tessera_file)]
    results = [torch.load(f) for f in saved]
    ratios = []
    for op, a in first.items():
        b = second.get(op, {"error": "missing"})
        if "error" in a or "error" in b:
            print(f"{op:28} {a.get('error', 'ok')[-100:]} | {b.get('error', 'ok')[-100:]}")
            continue
        before, after = [sum(t for k, t in c["kernels"].items() if is_by_triton(k)) for c in (a, b)]
        ratios.append(before / after)
        text = ""
        if results:
            pairs = zip(results[0][op], results[1][op])
            text = f"  difference {max((relative(x, y) for x, y in pairs), default=0.0):.1e}"
        print(f"{op:28} {before:9.1f} {after:9.1f} us {ratios[-1]:6.2f}{text}")
        for name, t in sorted(a["kernels"].items(), key=lambda k: -k[1]):
            if is_by_triton(name) and name in b["kernels"]:
                print(f"    {name[:60]:60} {t:9.1f} {b['kernels'][name]:9.1f} us {t / b['kernels'][name]:6.2f}")
    if ratios:
        print(f"{len(ratios)} operations, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")


def relative(expected, made):
    return ((made - expected).norm() / expected.norm().clamp_min(1e-30)).item()


def keep_few_configurations():
    import triton.runtime.autotuner as autotuner

    init = autotuner.Autotuner.__init__

    def fewer(self, fn, arg_names, configs, *rest, **options):
        n = len(configs)
        spread = sorted({i * (n - 1) // (KEPT_CONFIGURATIONS - 1) for i in range(KEPT_CONFIGURATIONS)})
        kept = [configs[i] for i in spread] if n > KEPT_CONFIGURATIONS else configs
        return init(self, fn, arg_names, kept, *rest, **options)

    autotuner.Autotuner.__init__ = fewer


def measure(name, config, generate_inputs):
    """The line of an operation, and its output and gradients."""
    import time

    import torch
    from torch.profiler import ProfilerActivity, profile

    shape = dict(next(iter(config.default_shapes.values())) if config.default_shapes else SHAPE)
    function = getattr(importlib.import_module(config.import_path), config.func_name or name)
    torch.manual_seed(0)
    inputs = generate_inputs(config, **shape)
    values = [t for v in inputs.values() for t in (v if isinstance(v, list) else [v]) if torch.is_tensor(t)]

    def step():
        for t in values:
            t.grad = None
        made = function(**inputs, **config.extra_kwargs)
        made = made[0] if config.output_is_tuple else made
        if not config.skip_backward:
            torch.manual_seed(1)
            made.backward(torch.randn_like(made))
        return made

    start = time.time()
    output = step()
    torch.cuda.synchronize()
    first = time.time() - start
    results = [output.detach().float().cpu()] + [t.grad.float().cpu() for t in values if t.grad is not None]
    step()
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
    rows = [e for e in profiled.key_averages() if e.self_device_time_total > 0]
    kernels = {e.key: round(e.self_device_time_total / STEPS, 1) for e in rows}
    return {"op": name, "first": round(first, 1), "kernels": kernels}, results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="all of the list, if none is named")
    parser.add_argument("--save", metavar="FILE", help="outputs and gradients")
    parser.add_argument("--compare", nargs="+", metavar="FILE", help="two outputs of this program, and what both saved")
    options = parser.parse_args()
    if options.compare:
        if len(options.compare) not in (2, 4):
            parser.error("--compare needs two files, or four")
        return compare(*options.compare)
    if "FLA" not in os.environ:
        parser.error("FLA must name a checkout of flash-linear-attention")

    import torch

    sys.path.insert(0, os.environ["FLA"])
    keep_few_configurations()
    from benchmarks.ops.registry import generate_inputs, get_op, list_ops

    # Attention of another library, and one without kernels.
    names = options.operations or [n for n in list_ops() if n not in ("flash_attn", "naive_attnres")]
    saved = {}
    for i, name in enumerate(names):
        print(f"\r{i + 1}/{len(names)} {name:40}", end="", file=sys.stderr, flush=True)
        try:
            line, saved[name] = measure(name, get_op(name), generate_inputs)
        except Exception as e:  # out of memory, or a version that the operation refuses: only this one fails
            line = {"op": name, "error": f"{type(e).__name__}: {e}"[-400:]}
        print(json.dumps(line), flush=True)
        torch.cuda.empty_cache()
    print(file=sys.stderr)
    if options.save:
        torch.save(saved, options.save)


if __name__ == "__main__":
    main()
