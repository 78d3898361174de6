#!/usr/bin/env python3
"""Times the kernels that torch.compile makes of models, each in all configurations that it tries, by two compilers.

    inductor_kernels.py collect FOLDER [--models gpt2,bert] [--passes training,inference]
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t inductor_kernels.py time FOLDER > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s inductor_kernels.py time FOLDER > tessera.jsonl    # by Tessera, its wheel
    inductor_kernels.py compare triton.jsonl tessera.jsonl

`collect` compiles the models of torch_models.py and keeps the files of their kernels, which Inductor writes with random
arguments of the right sizes (TORCHINDUCTOR_BENCHMARK_KERNEL). `time` runs each configuration ten times in a CUDA graph
and prints a line of JSON: the least of up to 20 replays in microseconds, registers, spills, and the sums of absolute
values of all arguments after one launch, by which `compare` finds different results. Templates (flex attention,
matmul) are left out: random arguments are no valid indices for them. `time FOLDER I/N` takes each N-th file from the
I-th on; processes on one GPU take turns. Needs a GPU, PyTorch, and tessera-gpu installed.
"""

import argparse
import contextlib
import fcntl
import glob
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

HARNESS = "def benchmark_all_configs"
ENVIRONMENT = {"TORCHINDUCTOR_BENCHMARK_KERNEL": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONHASHSEED": "0"}


# ---- collect ----


def compile_model(name, which):
    """In a process of its own, with a cache of its own."""
    import torch
    from torch_compile import Steps

    steps = Steps(name, which == "training", False)
    steps.results(torch.compile(steps.evaluate_in_bfloat16))
    torch.cuda.synchronize()


def caches_of_models(script, models, passes, environment):
    """Runs `script compile-model MODEL PASS` for each of them, and gives both and Inductor's cache after it."""
    for name in models:
        for which in passes:
            with tempfile.TemporaryDirectory() as cache:
                print(f"{name} {which}", file=sys.stderr, flush=True)
                variables = {**os.environ, **environment, "TORCHINDUCTOR_CACHE_DIR": cache, "TESSERA_TRITON": "0"}
                command = [sys.executable, os.path.abspath(script), "compile-model", name, which]
                subprocess.run(command, env=variables, check=True, stdout=sys.stderr)
                yield name, which, cache


def sources_in(cache):
    """The paths and texts of the files of Python in Inductor's cache."""
    for path in sorted(glob.glob(f"{cache}/**/*.py", recursive=True)):
        with open(path) as file:
            yield path, file.read()


def collect(folder, models, passes):
    os.makedirs(folder, exist_ok=True)
    seen = set()
    for name, which, cache in caches_of_models(__file__, models, passes, ENVIRONMENT):
        for path, text in sources_in(cache):
            body = re.sub(r"'(backend_hash|kernel_name)': '[^']*'", "", text)
            if HARNESS not in text or "triton_tem" in text or body in seen:
                continue
            seen.add(body)
            shutil.copy(path, os.path.join(folder, f"{name}-{which}--{os.path.basename(path)}"))
    print(f"{len(seen)} kernels", file=sys.stderr)


# ---- time ----


def module_at(path):
    spec = importlib.util.spec_from_file_location("kernel_" + os.path.basename(path)[:-3].replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def turn_on_gpu():
    """Processes on one GPU take turns."""
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    with open(os.path.join(tempfile.gettempdir(), f"gpu{gpu}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def configurations_of(path):
    """Lines about the configurations of one kernel."""
    import torch
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    module = module_at(path)
    kernel = next(v for v in vars(module).values() if isinstance(v, CachingAutotuner))
    kernel.precompile()
    with turn_on_gpu():
        for launcher in kernel.launchers:
            torch.manual_seed(0)
            arguments = module.get_args()
            us, sums = time_launcher(launcher, arguments)
            yield {
                "file": os.path.basename(path), "kernel": kernel.fn.__name__, "config": dict(launcher.config.kwargs),
                "warps": launcher.config.num_warps, "us": us, "registers": launcher.n_regs, "spills": launcher.n_spills,
                "sums": sums,
            }  # fmt: skip


def time_launcher(launcher, arguments, launches=10, least_replays=4, most_replays=20, enough_ms=8.0):
    """Microseconds of a launch, and the sums of absolute values after the first one."""
    import torch

    def launch():
        launcher(*arguments, stream=torch.cuda.current_stream().cuda_stream)

    launch()
    torch.cuda.synchronize()
    tensors = [a for a in arguments if torch.is_tensor(a) and a.numel() < 1 << 28]
    sums = [float(a.double().abs().sum()) for a in tensors]
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        launch()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                launch()
        graph.replay()
        torch.cuda.synchronize()
        times = []
        while len(times) < least_replays or (sum(times) < enough_ms and len(times) < most_replays):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            times.append(begin.elapsed_time(end))
    return round(min(times) * 1e3 / launches, 2), sums


def part_of(text):
    """I/N of the command line: each N-th file from the I-th on."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    part = tuple(map(int, found.groups())) if found else (0, 0)
    if part[0] >= part[1]:
        raise argparse.ArgumentTypeError(f"must be I/N with I below N, not '{text}'")
    return part


def files_of(folder, part):
    """The paths of the part's files, counted on the terminal."""
    first, step = part
    files = sorted(glob.glob(os.path.join(folder, "*.py")))[first::step]
    for i, path in enumerate(files):
        print(f"\r{i + 1}/{len(files)}", end="", file=sys.stderr, flush=True)
        yield path
    print(file=sys.stderr)


def time_all(folder, part):
    os.environ.update(ENVIRONMENT)
    for path in files_of(folder, part):
        try:
            for line in configurations_of(path):
                print(json.dumps(line), flush=True)
        except Exception as e:  # a kernel that takes arguments of its own: only this one fails
            print(json.dumps({"file": os.path.basename(path), "error": f"{type(e).__name__}: {e}"[:300]}), flush=True)


# ---- compare ----


def read(path):
    with open(path) as file:
        lines = [json.loads(line) for line in file if line.startswith("{")]
    return {(x["file"], json.dumps(x["config"]), x["warps"]): x for x in lines if "us" in x}


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def compare(first, second, least_us, shown):
    """Prints the geometric means of first / second, of all configurations and of the best ones, and the extremes."""
    a, b = read(first), read(second)
    common = [k for k in a if k in b and max(a[k]["us"], b[k]["us"]) > least_us]
    rows = sorted((a[k]["us"] / b[k]["us"], k) for k in common)
    best = {}
    for _, k in rows:
        us = best.setdefault(k[0], [math.inf, math.inf])
        us[0], us[1] = min(us[0], a[k]["us"]), min(us[1], b[k]["us"])
    ratios = [x / y for x, y in best.values()]
    below = sum(r < 0.97 for r in ratios)
    print(f"{len(rows)} configurations {mean([r for r, _ in rows]):.3f}, {len(best)} kernels in the fastest one "
          f"{mean(ratios):.3f}, {below} of them below 0.97")  # fmt: skip
    for ratio, k in rows[:shown] + rows[-shown:]:
        x, y = a[k], b[k]
        print(f"{ratio:.2f}  {x['us']:8.1f} {y['us']:8.1f} us  registers {x['registers']}, {y['registers']}  "
              f"{x['warps']} warps {k[1]} {k[0].split('--')[0]} {x['kernel'][:70]}")  # fmt: skip
    differ = [k for k in common if any(abs(p - q) > 1e-2 * max(abs(p), abs(q), 1e-3)
                                       for p, q in zip(a[k]["sums"], b[k]["sums"]))]  # fmt: skip
    print(f"{len(differ)} configurations with other results")
    for k in differ:
        print(" ", *k)
    return bool(differ)


# ---- command line ----


def run_command(description, collect, compile_model, of_folder, passes, least_us):
    """The commands of this script and of inductor_templates.py. `of_folder`: functions of a folder and a part of its
    files, by name; `passes` and `least_us`: defaults."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sub = commands.add_parser("collect")
    sub.set_defaults(run=lambda o: collect(o.folder, o.models.split(","), o.passes.split(",")))
    sub.add_argument("folder")
    sub.add_argument("--models", default="gpt2,llama,unet,resnet50,flex,moe,vit,bert")
    sub.add_argument("--passes", default=passes)
    sub = commands.add_parser("compile-model")
    sub.set_defaults(run=lambda o: compile_model(o.model, o.which))
    sub.add_argument("model")
    sub.add_argument("which")
    for name, function in of_folder.items():
        sub = commands.add_parser(name)
        sub.set_defaults(run=lambda o, function=function: function(o.folder, o.part))
        sub.add_argument("folder")
        sub.add_argument("part", nargs="?", type=part_of, default="0/1", help="I/N: each N-th file from the I-th on")
    sub = commands.add_parser("compare")
    sub.set_defaults(run=lambda o: compare(o.first, o.second, o.least_us, o.shown))
    sub.add_argument("first")
    sub.add_argument("second")
    sub.add_argument("--least-us", type=float, default=least_us)
    sub.add_argument("--shown", type=int, default=20, help="of either end")
    o = parser.parse_args()
    sys.exit(o.run(o))


if __name__ == "__main__":
    run_command(__doc__, collect, compile_model, {"time": time_all}, passes="training,inference", least_us=3.5)
