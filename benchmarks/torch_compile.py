#!/usr/bin/env python3
"""torch.compile with the plug-in of tessera-gpu and without: eight models, training step and inference.

    benchmarks/torch_compile.py [--models gpt2,llama] [--passes training,inference] [--modes default,max-autotune]
                                [--jobs 1] [--cores N] [--gpus 1] [--processes 1]
                                [--time-limit 180] [--total-limit SECONDS]

Each row of the table: two fresh processes with empty caches, TESSERA_TRITON=0 and 1, compile the same model side by
side, on the same processor cores; then both are timed in turn, while nothing else runs on the machine. While rows
compile at the same time, Inductor's timings of candidates take turns on a GPU, so that no choice is made while another
process times its own (ResNet-50's batch norms were given poor blocks without that). "Step" is wall
time, of which the host's part differs from process to process; "on the GPU" is what the kernels of a step take, by
torch's profiler. With --processes N, N - 1 further pairs of processes follow, one after the other, with the caches of
the first pair, warmed up and timed as that was; "step" and "on the GPU" of a compiler are then the least of its
processes' medians, since what the host adds differs from process to process. All else is of the first pair. "Loop" is
an iteration of an empty loop of Python in the processes whose steps count: where it differs, the wall time of a short
step says how fast a core was. "First step" is the wall time of the first call; "kernels" the sum of the times that
Triton took for each kernel, in the process itself (with --threads 1). Errors are relative, in the Frobenius norm,
against the same model in float32 without compilation: of the gradients of a training step, of the output of an
inference. Results are the same if ours is at most 1.25 times the larger of the error without compilation, in bfloat16,
and of the error with Triton. Needs a GPU, PyTorch, and tessera-gpu installed. A model that fails is a row with the
reason.
`--dry-run`: on the CPU, without compiling; checks the models and this script.
"""

import argparse
import fcntl
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

MODEL_NAMES = ["gpt2", "llama", "unet", "resnet50", "flex", "moe", "vit", "bert"]
COMPILERS = {"Triton": "0", "Tessera": "1"}
EQUAL_HOSTS = 1.1  # cores of a shared machine run Python up to twice as slowly as others


# ---- the process that measures one model with one compiler ----


def relative(made, expected):
    """Of lists of tensors, in the Frobenius norm over all of them."""
    difference = sum(float((a.float() - b.float()).square().sum()) for a, b in zip(made, expected))
    return math.sqrt(difference / max(sum(float(b.float().square().sum()) for b in expected), 1e-30))


class Steps:
    """One model, and what a step of it is."""

    def __init__(self, name, is_training, is_dry):
        import torch
        from torch_models import MODELS

        torch.manual_seed(0)
        self.device, self.is_training = "cpu" if is_dry else "cuda", is_training
        self.model, inputs, self.loss = MODELS[name]()
        self.model = self.model.to(self.device).train(is_training)
        if hasattr(self.model, "prepare"):
            self.model.prepare(self.device)
        self.inputs = [(x[:1] if is_dry else x).to(self.device) for x in inputs]
        self.expected = self.results(self.evaluate)
        if not is_training:
            self.model.to(torch.bfloat16)
            self.inputs = [x.to(torch.bfloat16) if x.is_floating_point() else x for x in self.inputs]
        self.eager_error = relative(self.results(self.evaluate_in_bfloat16), self.expected)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-4, fused=not is_dry)

    def evaluate(self, *inputs):
        """The output, or the loss of a training step."""
        made = self.model(*inputs)
        return self.loss(made, *inputs) if self.is_training else made

    def evaluate_in_bfloat16(self, *inputs):
        import torch

        with torch.autocast(self.device, torch.bfloat16, enabled=self.is_training):
            return self.evaluate(*inputs)

    def results(self, function):
        """The gradients that a call of the function leaves, or its output."""
        import torch

        if not self.is_training:
            with torch.no_grad():
                return [function(*self.inputs).clone()]
        self.model.zero_grad(set_to_none=True)
        function(*self.inputs).backward()
        return [p.grad.clone() for p in self.model.parameters() if p.grad is not None]

    def step(self, function):
        import torch

        torch.compiler.cudagraph_mark_step_begin()
        if not self.is_training:
            with torch.no_grad():
                function(*self.inputs)
            return
        self.optimizer.zero_grad(set_to_none=True)
        function(*self.inputs).backward()
        self.optimizer.step()


class KernelTimes:
    """Listens to Triton: the time that its compilations take in this process."""

    def __init__(self):
        self.seconds, self.count, self.lock = 0.0, 0, threading.Lock()

    def __call__(self, *, times, cache_hit, **_):
        with self.lock:
            self.seconds += 0.0 if cache_hit else times.total * 1e-6
            self.count += not cache_hit

    @staticmethod
    def install():
        made = KernelTimes()
        try:
            from triton import knobs

            knobs.compilation.listener = made
        except ImportError:
            pass
        return made


def milliseconds(steps, function, seconds):
    """Of one step: the mean over a window of about so many seconds."""
    import torch

    wait = torch.cuda.synchronize if steps.device == "cuda" else lambda: None

    def run(count):
        wait()
        start = time.perf_counter()
        for _ in range(count):
            steps.step(function)
        wait()
        return (time.perf_counter() - start) / count

    return run(max(2, int(seconds / run(2)))) * 1e3


def gpu_milliseconds(steps, function, count=10):
    """What the kernels and copies of one step take, one after the other: the mean over `count` steps."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    if steps.device != "cuda":
        return 0.0
    with profile(activities=[ProfilerActivity.CUDA]) as made:
        for _ in range(count):
            steps.step(function)
        torch.cuda.synchronize()
    return sum(e.self_device_time_total for e in made.key_averages()) * 1e-3 / count


def host_nanoseconds(count=200_000):
    """Of one iteration of an empty loop: how fast this process's core runs Python now."""
    start = time.perf_counter()
    for _ in range(count):
        pass
    return (time.perf_counter() - start) / count * 1e9


def take_turns(path):
    """Inductor's timings in this process hold the lock of that file from now on."""
    from torch._inductor.runtime.benchmarking import benchmarker

    time_alone, thread, depth = benchmarker.benchmark_gpu, threading.RLock(), [0]
    file = open(path, "w")  # noqa: SIM115

    def benchmark_gpu(*args, **kwargs):
        with thread:
            fcntl.flock(file, fcntl.LOCK_EX)
            depth[0] += 1  # a candidate may itself be tuned at its first call
            try:
                return time_alone(*args, **kwargs)
            finally:
                depth[0] -= 1
                if not depth[0]:
                    fcntl.flock(file, fcntl.LOCK_UN)

    benchmarker.benchmark_gpu = benchmark_gpu


def compiled_kernels():
    """How many kernels of this process's cache are Tessera's, how many there are, and the reasons of the others."""
    from collections import Counter
    from pathlib import Path

    from tessera.triton.__main__ import read_cache

    made = read_cache(Path(os.environ["TRITON_CACHE_DIR"]))
    reasons = Counter(r.reason for r in made if not r.by_tessera)
    return {"ours": sum(r.by_tessera for r in made), "all": len(made), "reasons": reasons}


def measure(name, which, mode, is_dry, lock):
    """Prints a line of JSON once all is compiled, then a time for each line of input: seconds of wall time, "gpu" or
    "host"."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    if lock:
        take_turns(lock)
    steps = Steps(name, which == "training", is_dry)
    times = KernelTimes.install()
    options = {} if mode == "default" else {"mode": mode}
    function = torch.compile(steps.evaluate_in_bfloat16, **({"backend": "eager"} if is_dry else options))
    start = time.perf_counter()
    error = relative(steps.results(function), steps.expected)
    if not is_dry:
        torch.cuda.synchronize()
    first = time.perf_counter() - start
    steps.expected = None
    for _ in range(1 if is_dry else 5):  # max-autotune records CUDA graphs in these
        steps.step(function)
    about = {"first": first, "kernel_seconds": times.seconds, "error": error, "eager_error": steps.eager_error}
    print(json.dumps({**about, **compiled_kernels()}), flush=True)
    for line in sys.stdin:
        what = line.strip()
        if what == "host":
            made = host_nanoseconds()
        elif what == "gpu":
            made = gpu_milliseconds(steps, function)
        else:
            made = milliseconds(steps, function, float(what))
        print(json.dumps(made), flush=True)


# ---- the processes of one row ----


class Worker:
    """A process that measures, with its standard output as a queue of values."""

    def __init__(self, case, compiler, place, cache, options):
        environment = {
            **os.environ,
            "CUDA_VISIBLE_DEVICES": place.gpu,
            "PYTHONHASHSEED": "0",  # the order of sets, and with it the code of some kernels
            "TESSERA_TRITON": COMPILERS[compiler],
            "TORCHINDUCTOR_CACHE_DIR": cache,
            "TRITON_CACHE_DIR": os.path.join(cache, "triton"),
            "TORCHINDUCTOR_COMPILE_THREADS": str(options.threads),
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "2"),
        }
        cores = ",".join(map(str, place.cores))
        measure = ["--measure", *case, "--lock", place.lock]
        command = ["taskset", "-c", cores, sys.executable, os.path.abspath(__file__), *measure]
        self.errors = open(os.path.join(cache, "stderr"), "w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            command + ["--dry-run"] * options.dry_run, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, start_new_session=True,
        )  # fmt: skip
        self.values = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            try:
                self.values.put(json.loads(line))
            except ValueError:
                continue  # a line that a library printed
        self.values.put(None)

    def value(self, seconds):
        """The next, within so many seconds.

        Raises:
            RuntimeError: there is none.
        """
        try:
            made = self.values.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            raise RuntimeError("the time limit") from None
        if made is None:
            self.errors.seek(0)
            lines = [line.strip() for line in self.errors.read().splitlines() if line.strip()]
            said = [line for line in lines if "Error" in line and not line.startswith("File")] or lines or ["no output"]
            raise RuntimeError(f"failed: {said[-1][:200]}")
        return made

    def time(self, what):
        """Seconds of wall time to measure, "gpu" or "host"."""
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        return self.value(60)

    def stop(self):
        """Ends the process and the compile workers that it started: its session. A second call does nothing."""
        if self.errors.closed:
            return
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.errors.close()


def median(values):
    return sorted(values)[len(values) // 2]


class Place:
    """Where the two processes of a row run: a GPU, for CUDA_VISIBLE_DEVICES, and processor cores."""

    def __init__(self, index, options):
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        gpu = index % options.gpus
        self.gpu = visible.split(",")[gpu] if visible else str(gpu)
        self.lock = os.path.join(options.folder, f"gpu{gpu}.lock")
        cores = sorted(os.sched_getaffinity(0))
        share = min(options.cores or max(1, len(cores) // options.jobs), len(cores))
        first = index % (len(cores) // share) * share
        self.cores = cores[first : first + share]


class Row:
    """One model, pass and mode: a process for each compiler, in one place, and further pairs with the same caches."""

    def __init__(self, case, place, options):
        self.case, self.place, self.options, self.about, self.problem = case, place, options, {}, ""
        self.folders = {compiler: tempfile.TemporaryDirectory() for compiler in COMPILERS}
        self.milliseconds = {compiler: [] for compiler in COMPILERS}  # the median of each process
        self.gpu_milliseconds = {compiler: [] for compiler in COMPILERS}
        self.host_nanoseconds = {compiler: [] for compiler in COMPILERS}
        self.start()

    def start(self):
        self.began = time.monotonic()
        self.workers = {
            compiler: Worker(self.case, compiler, self.place, folder.name, self.options)
            for compiler, folder in self.folders.items()
        }

    def wait(self, progress):
        """Until both have compiled, or one has failed."""
        for compiler, worker in self.workers.items():
            try:
                about = worker.value(self.began + self.options.time_limit - time.monotonic())
            except RuntimeError as e:
                self.problem = f"{compiler}: {e}"
                break
            did = "began again, with its caches," if compiler in self.about else "compiled"
            progress(f"{' '.join(self.case)}: {compiler} {did} in {about['first']:.1f} s")
            self.about.setdefault(compiler, about)
        if self.problem:
            progress(f"{' '.join(self.case)}: {self.problem}")
            self.stop()

    def time(self, progress):
        """In turn, so that both see the same clocks."""
        made, host = ({compiler: [] for compiler in COMPILERS} for _ in range(2))
        try:
            for _ in range(self.options.rounds):
                for compiler, worker in self.workers.items():
                    made[compiler].append(worker.time(self.options.window))
                    host[compiler].append(worker.time("host"))
            for compiler, worker in self.workers.items():
                self.gpu_milliseconds[compiler].append(worker.time("gpu"))
                self.host_nanoseconds[compiler].append(median(host[compiler]))
                self.milliseconds[compiler].append(median(made[compiler]))
        except (RuntimeError, OSError) as e:
            self.problem = f"timing: {e}"
        steps = [
            f"{c} {step[-1]:.3f} ms, {self.gpu_milliseconds[c][-1]:.3f} on the GPU, "
            f"loop {self.host_nanoseconds[c][-1]:.0f} ns"
            for c, step in self.milliseconds.items()
            if step
        ]
        progress(f"{' '.join(self.case)}: {self.problem or '; '.join(steps)}")
        self.stop()

    def stop(self):
        for worker in self.workers.values():
            worker.stop()

    def close(self):
        """Ends the processes and removes their caches."""
        self.stop()
        for folder in self.folders.values():
            folder.cleanup()

    @property
    def speed(self):
        theirs, ours = (min(self.milliseconds[c]) for c in COMPILERS)
        return theirs / ours

    @property
    def gpu_speed(self):
        theirs, ours = (min(self.gpu_milliseconds[c]) for c in COMPILERS)
        return theirs / ours if ours else 1.0

    @property
    def hosts(self):
        """Nanoseconds of a loop's iteration in the process that counts, of each compiler."""
        steps = self.milliseconds
        return [self.host_nanoseconds[c][steps[c].index(min(steps[c]))] for c in COMPILERS]

    @property
    def has_equal_hosts(self):
        return max(self.hosts) <= EQUAL_HOSTS * min(self.hosts)

    @property
    def is_same(self):
        theirs, ours = (self.about[c] for c in COMPILERS)
        return ours["error"] <= 1.25 * max(theirs["error"], theirs["eager_error"]) + 1e-6

    def __str__(self):
        head = f"| {' | '.join(self.case)} "
        if self.problem:
            return head + f"| {self.problem.replace('|', '/')} " + "| " * 15 + "|"
        theirs, ours = (self.about[c] for c in COMPILERS)
        compile_ratio = ours["kernel_seconds"] / theirs["kernel_seconds"] if theirs["kernel_seconds"] else float("nan")
        cells = [
            *(f"{min(self.milliseconds[c]):.3f}" for c in COMPILERS),
            f"{self.speed:.3f}",
            *(f"{host:.0f}" for host in self.hosts),
            *(f"{min(self.gpu_milliseconds[c]):.3f}" for c in COMPILERS),
            f"{self.gpu_speed:.3f}",
            f"{theirs['first']:.1f}",
            f"{ours['first']:.1f}",
            f"{theirs['kernel_seconds']:.2f}",
            f"{ours['kernel_seconds']:.2f}",
            f"{compile_ratio:.2f}",
            f"{ours['ours']}/{ours['all']}",
            f"{theirs['eager_error']:.1e} {theirs['error']:.1e} {ours['error']:.1e}",
            "yes" if self.is_same else "**no**",
        ]
        return head + "| " + " | ".join(cells) + " |"


HEAD = """| model | pass | mode | step, ms: Triton | Tessera | speed | loop, ns: Triton | Tessera \
| on the GPU, ms: Triton | Tessera | speed | first step, s: Triton | Tessera | \
kernels, s: Triton | Tessera | ratio | kernels by Tessera | error: not compiled, Triton, Tessera | same |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def mean_and_least(speeds):
    mean = math.exp(sum(math.log(s) for s in speeds) / len(speeds))
    return f"geometric mean {mean:.3f}, least {min(speeds):.3f}"


def summary(rows):
    """The figures over all rows that have some."""
    from collections import Counter

    made = [r for r in rows if not r.problem]
    lines = [f"{len(made)} of {len(rows)} rows measured, {sum(r.is_same for r in made)} with the same results."]
    if made:
        lines.append(f"Speed: {mean_and_least([r.speed for r in made])}.")
        equal = [r.speed for r in made if r.has_equal_hosts]
        if 0 < len(equal) < len(made):
            lines.append(f"Speed of the {len(equal)} rows on cores equally fast: {mean_and_least(equal)}.")
        lines.append(f"On the GPU: {mean_and_least([r.gpu_speed for r in made])}.")
        seconds = [sum(r.about[c]["kernel_seconds"] for r in made) for c in COMPILERS]
        firsts = [sum(r.about[c]["first"] for r in made) for c in COMPILERS]
        lines.append(f"Kernels: {seconds[0]:.1f} s by Triton, {seconds[1]:.1f} s by Tessera; first steps: "
                     f"{firsts[0]:.1f} s and {firsts[1]:.1f} s.")  # fmt: skip
        ours, total = (sum(r.about["Tessera"][k] for r in made) for k in ("ours", "all"))
        lines.append(f"Compiled by Tessera: {ours} of {total} kernels.")
        reasons = sum((Counter(r.about["Tessera"]["reasons"]) for r in made), Counter())
        lines += [f"- {count} by Triton: {reason}" for reason, count in reasons.most_common()]
    return "\n".join(lines)


def listed(known):
    def parse(text):
        names = text.split(",")
        unknown = [n for n in names if n not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(known)}")
        return names

    return parse


def run(options):
    began = time.monotonic()
    cases = [(n, p, m) for m in options.modes for p in options.passes for n in options.models]
    rows = []

    def progress(text):
        print(f"[{time.monotonic() - began:5.0f} s, {len(rows)} of {len(cases)}] {text}", file=sys.stderr, flush=True)

    print(HEAD, flush=True)
    for i in range(0, len(cases), options.jobs):
        if time.monotonic() - began > options.total_limit:
            progress(f"the total limit: {len(cases) - i} rows are left out")
            break
        batch = [Row(case, Place(n, options), options) for n, case in enumerate(cases[i : i + options.jobs])]
        try:
            for n in range(options.processes):
                going = [row for row in batch if not row.problem]
                if n and time.monotonic() - began > options.total_limit:
                    progress(f"the total limit: {options.processes - n} further processes are left out")
                    break
                for row in going if n else []:
                    row.start()
                for row in going:
                    row.wait(progress)
                for row in going:  # nothing compiles now
                    if not row.problem:
                        row.time(progress)
            for row in batch:
                rows.append(row)
                print(row, flush=True)
        finally:
            for row in batch:
                row.close()
    print("\n" + summary(rows), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=listed(MODEL_NAMES), default=MODEL_NAMES, help=",".join(MODEL_NAMES))
    parser.add_argument("--passes", type=listed(["training", "inference"]), default=["training", "inference"])
    modes = ["default", "max-autotune", "max-autotune-no-cudagraphs", "reduce-overhead"]
    parser.add_argument("--modes", type=listed(modes), default=modes[:2], help=",".join(modes))
    parser.add_argument("--jobs", type=int, default=1, help="rows that are compiled at the same time")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs that the rows of --jobs are spread over")
    parser.add_argument("--cores", type=int, default=0, help="of a row, which rows share if there are too few")
    parser.add_argument("--threads", type=int, default=1, help="Inductor's compile workers in each process")
    parser.add_argument("--rounds", type=int, default=5, help="timings of each compiler; their median counts")
    parser.add_argument("--window", type=float, default=0.3, help="seconds of a timing")
    parser.add_argument("--processes", type=int, default=1, help="of each compiler and row; the fastest one counts")
    parser.add_argument("--time-limit", type=float, default=180, help="seconds in which a row must have compiled")
    parser.add_argument("--total-limit", type=float, default=math.inf, help="seconds after which none is begun")
    parser.add_argument("--dry-run", action="store_true", help="on the CPU, without compiling")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--lock", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure, options.dry_run, options.lock)
    else:
        with tempfile.TemporaryDirectory() as options.folder:
            run(options)


if __name__ == "__main__":
    main()
