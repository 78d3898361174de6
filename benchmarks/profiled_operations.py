"""What the benchmarks of public libraries' operations have in common (linear_attention.py, public_kernels.py,
serving_kernels.py, helion_kernels.py, tritonbench_kernels.py): they are run as they are, each kernel is timed by
torch's profiler, and the figures of two compilers are compared.

An operation is a function that runs it once and returns its results, a list of tensors.
"""

import argparse
import contextlib
import json
import math
import os
import signal
import sys
import time

STEPS = 5


def arguments(doc):
    """The command line: names of operations, --save, --compare (which is done here, and ends the program)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    named = "all of the list, if none is named; NAME*: those that begin so"
    parser.add_argument("operations", nargs="*", help=named)
    parser.add_argument("--save", metavar="FILE", help="the results of the operations")
    parser.add_argument("--compare", nargs="+", metavar="FILE", help="two outputs of this program, and what both saved")
    options = parser.parse_args()
    if options.compare:
        if len(options.compare) not in (2, 4):
            parser.error("--compare needs two files, or four")
        compare(*options.compare)
        sys.exit()
    return parser, options


def is_by_triton(name):
    """Whether a profiler's row is a kernel that was compiled, not one of a library."""
    others = ("void ", "Mem", "nvjet", "sm90", "sm80", "cutlass", "ampere")
    return not name.startswith(others) and "cublas" not in name


def relative(expected, made):
    """The relative L2 difference; infinite if there is a NaN, which `max` could lose among others."""
    difference = ((made - expected).norm() / expected.norm().clamp_min(1e-30)).item()
    return math.inf if math.isnan(difference) else difference


def lines(file):
    """The operations of an output by name. Libraries write lines of their own between them."""
    return {c["op"]: c for c in (json.loads(line) for line in open(file) if line.startswith("{"))}


def compare(first_file, second_file, *saved):
    """Prints microseconds of both files, a line per operation and kernel. A ratio above 1: the second is faster."""
    import torch

    first, second = [lines(f) for f in (first_file, second_file)]
    results = [torch.load(f) for f in saved]
    ratios = []
    for op, a in first.items():
        b = second.get(op, {"error": "missing"})
        if "error" in a or "error" in b:
            print(f"{op:28} {a.get('error', 'ok')[-100:]} | {b.get('error', 'ok')[-100:]}")
            continue
        before, after = [sum(t for k, t in c["kernels"].items() if is_by_triton(k)) for c in (a, b)]
        if not before or not after:
            print(f"{op:28} no kernel of Triton's was profiled")
            continue
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


def spread(configurations, count):
    """So many of a list, spread over it."""
    n = len(configurations)
    if n <= count:
        return configurations
    return [configurations[i] for i in sorted({i * (n - 1) // (count - 1) for i in range(count)})]


def keep_few_configurations(count, after_pruning=False):
    """Each autotuned kernel is compiled in so many of its configurations, spread over their list, or over those that
    the kernel's own pruning leaves."""
    import triton.runtime.autotuner as autotuner

    if after_pruning:
        prune = autotuner.Autotuner.prune_configs
        autotuner.Autotuner.prune_configs = lambda self, arguments: spread(list(prune(self, arguments)), count)
        return
    init = autotuner.Autotuner.__init__

    def fewer(self, fn, arg_names, configs, *rest, **options):
        return init(self, fn, arg_names, spread(configs, count) if configs else configs, *rest, **options)

    autotuner.Autotuner.__init__ = fewer


def with_gradients(forward, leaves):
    """The operation that runs `forward`, which returns its output first, and the backward pass for random gradients."""
    import torch

    def step():
        for t in leaves:
            t.grad = None
        made = forward()
        made = made[0] if isinstance(made, tuple) else made
        torch.manual_seed(1)
        made.backward(torch.randn_like(made))
        return [made, *(t.grad for t in leaves if t.grad is not None)]

    return step


def measure(name, step):
    """The line of an operation, and its results: microseconds of each kernel, mean of five steps after two. What the
    operation says about itself, its attribute `about`, is in the line, too."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    start = time.time()
    results = [t.detach().float().cpu() for t in step()]
    first = time.time() - start
    step()
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
    rows = [e for e in profiled.key_averages() if e.self_device_time_total > 0]
    kernels = {e.key: round(e.self_device_time_total / STEPS, 1) for e in rows}
    return {"op": name, "first": round(first, 1), "kernels": kernels, **getattr(step, "about", {})}, results


@contextlib.contextmanager
def time_limit():
    """LIMIT=SECONDS ends what takes longer, with an error."""

    def end(*_):
        raise TimeoutError("longer than LIMIT")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(int(os.environ.get("LIMIT", 0)))
    try:
        yield
    finally:
        signal.alarm(0)


def run(names, make, save):
    """Prints a line per operation, and saves their results. `make` gives the operation of a name."""
    import torch

    saved = {}
    for i, name in enumerate(names):
        print(f"\r{i + 1}/{len(names)} {name:40}", end="", file=sys.stderr, flush=True)
        try:
            torch.manual_seed(0)
            with time_limit():
                line, saved[name] = measure(name, make(name))
        except Exception as e:  # out of memory, or a version that the operation refuses: only this one fails
            line = {"op": name, "error": f"{type(e).__name__}: {e}"[-400:]}
        print(json.dumps(line), flush=True)
        torch.cuda.empty_cache()
    print(file=sys.stderr)
    if save:
        torch.save(saved, save)


def chosen(names, patterns):
    """Those of the list that a pattern names, all if there is no pattern."""
    if not patterns:
        return list(names)
    return [n for n in names if any(n == p or (p.endswith("*") and n.startswith(p[:-1])) for p in patterns)]
