"""The autotuner with the plug-in: candidates are compiled ahead, by several threads."""

import ast
import os
import subprocess
import sys
import threading
import types
import warnings

import pytest

np = pytest.importorskip("numpy")
triton = pytest.importorskip("triton")
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.runtime import _async_compile  # noqa: E402

from tessera.triton import _autotuner, emulate  # noqa: E402

CONFIGS = [triton.Config({"B": b}, num_warps=w) for b in (64, 128) for w in (1, 2)]


def tuned(configs=CONFIGS, more=lambda kernel: kernel, **options):
    """An autotuner with a cache of its own."""

    @triton.jit
    def increment(x, o, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(o + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    return triton.autotune(configs, key=["n"], **options)(more(increment))


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """Where kernels are compiled, and launched ("launch"), in this order."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TESSERA_TRITON_THREADS", "3")
    _autotuner.install()
    seen = []
    monkeypatch.setattr(
        triton.knobs.compilation,
        "listener",
        lambda **_: seen.append("here" if threading.current_thread() is threading.main_thread() else "thread"),
    )
    return seen


def launch(kernel, seen, *sizes, **meta):
    with emulate("sm_90a") as driver:
        driver.on_launch = lambda name: seen.append("launch")
        for n in sizes or [1000]:
            x, o = np.random.rand(n).astype("f4"), np.zeros(n, "f4")
            kernel[lambda m: (triton.cdiv(n, m["B"]),)](x, o, n, **meta)
            np.testing.assert_array_equal(o, x + 1)


def test_candidates_are_compiled_before_the_first_launch(compiled):
    kernel = tuned()
    launch(kernel, compiled)
    assert compiled == ["thread"] * 4 + ["launch"] * 5
    assert _async_compile.active_mode.get() is None


def test_a_second_search_finds_them(compiled):
    launch(tuned(), compiled, 1000, 1001, 1024)
    aligned = ["thread"] * 4 + ["launch"] * 5  # n is divisible by 16: another kernel
    assert compiled == ["thread"] * 4 + ["launch"] * 10 + aligned


class Watched:
    """A lock that says who comes for it."""

    def __init__(self, lock, comes):
        self.lock, self.comes = lock, comes

    def __enter__(self):
        self.comes()
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()


def test_one_thread_parses_at_a_time(compiled, monkeypatch):
    """The first thread that parses ends when a second one waits for it, or parses, too."""
    parse, busy, came, first = ast.parse, threading.Lock(), threading.Condition(), []
    threads, overlaps = set(), []

    def comes():
        with came:
            threads.add(threading.current_thread())
            came.notify_all()

    def watched(*args, **kwargs):
        if threading.current_thread() is threading.main_thread():
            return parse(*args, **kwargs)
        comes()
        if not busy.acquire(blocking=False):
            overlaps.append(threading.current_thread())
            return parse(*args, **kwargs)
        with came:
            if not first:
                first.append(came.wait_for(lambda: len(threads) > 1, timeout=60))
        try:
            return parse(*args, **kwargs)
        finally:
            busy.release()

    monkeypatch.setattr(_autotuner, "_parsing", Watched(_autotuner._parsing, comes))
    monkeypatch.setattr(ast, "parse", watched)
    launch(tuned(), compiled)
    assert compiled == ["thread"] * 4 + ["launch"] * 5
    assert first == [True] and not overlaps


def test_a_fork_while_another_thread_parses():
    """Its child can parse."""
    before, held, go_on = _autotuner._parsing, threading.Event(), threading.Event()

    def hold():
        with before:
            held.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with warnings.catch_warnings():  # of forks in a process with threads, from Python 3.12 on
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        os._exit(0 if _autotuner._parsing.acquire(blocking=False) else 1)
    go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0 and _autotuner._parsing is before


def test_one_thread_compiles_each_in_its_turn(compiled, monkeypatch):
    monkeypatch.setenv("TESSERA_TRITON_THREADS", "1")
    launch(tuned(), compiled)
    assert compiled == ["here", "launch"] * 4 + ["launch"]


def test_pruned_candidates_are_not_compiled(compiled):
    launch(tuned(prune_configs_by={"early_config_prune": lambda configs, args, **meta: configs[1:]}), compiled)
    assert compiled == ["thread"] * 3 + ["launch"] * 4


class NoDevice:
    """A driver that launches nothing."""

    def __init__(self, seen):
        self.launcher_cls = lambda source, metadata: lambda *arguments: seen.append("launch")
        self.utils = types.SimpleNamespace(
            get_device_properties=lambda device: {"max_shared_mem": 227 << 10, "max_num_regs": 65536, "warpSize": 32},
            load_binary=lambda *arguments: (None, 1, 0, 0, 1024),  # no module that a kernel would unload
        )

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0

    def get_benchmarker(self):
        return lambda call, quantiles: [call() or 1.0] * len(quantiles)


def test_candidates_with_the_same_code_are_timed_once(compiled, monkeypatch):
    """Without a loop, stages change nothing."""
    stages = [triton.Config({"B": b}, num_warps=w, num_stages=s) for b, w in [(64, 1), (128, 2)] for s in (1, 2, 3)]
    hooked = [triton.Config({"B": 64}, num_stages=s, pre_hook=lambda args: None) for s in (1, 2)]
    x = o = triton.runtime.jit.MockTensor(tl.float32)
    monkeypatch.setattr(triton.runtime.driver, "_active", NoDevice(compiled))
    kernel = tuned(stages)
    kernel[(8,)](x, o, 1000)
    assert compiled == ["thread"] * 6 + ["launch"] * 3
    assert list(kernel.configs_timings) == stages
    kernel[(8,)](x, o, 1001)  # found in the cache of Triton's function
    assert compiled == ["thread"] * 6 + ["launch"] * 6
    tuned(hooked)[(8,)](x, o, 1000)
    assert compiled.count("launch") == 9  # hooks may do different things


@pytest.mark.parametrize("prunes", [False, True])
def test_classes_with_a_search_of_their_own(compiled, monkeypatch, prunes):
    """Timings of one search are not taken for those of the next, whichever methods a class replaces."""
    from triton.runtime.autotuner import Autotuner

    class Own(Autotuner):
        def run(self, *args, **meta):
            self.nargs = dict(zip(self.arg_names, args))
            candidates = self.prune_configs(meta) if prunes else self.configs[:2]
            self.times = [self._bench(*args, config=c, **meta)[0] for c in candidates]
            self.nargs = None

        def prune_configs(self, meta):
            return self.configs[:2] if prunes else super().prune_configs(meta)

    x = o = triton.runtime.jit.MockTensor(tl.float32)
    monkeypatch.setattr(triton.runtime.driver, "_active", NoDevice(compiled))
    kernel = tuned()
    kernel = Own(kernel.fn, kernel.arg_names, CONFIGS, ["n"], None, None)
    for n in (1000, 1001, 1002):
        compiled.clear()
        kernel[(8,)](x, o, n)
        assert compiled.count("launch") == 2


def test_the_first_search_of_a_process(tmp_path):
    """It has chosen its candidates before Triton calls anything of the plug-in's; the first is compiled in its turn."""
    code = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
import test_autotuner as t
seen = []
t.triton.knobs.compilation.listener = lambda **_: seen.append(
    "here" if t.threading.current_thread() is t.threading.main_thread() else "thread")
prune = dict(early_config_prune=lambda configs, args, **meta: configs[1:])
t.launch(t.tuned(prune_configs_by=prune), seen)
assert seen == ["here", "launch", "thread", "thread", "launch", "launch", "launch"], seen
"""
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path), "TESSERA_TRITON_THREADS": "2"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_heuristics(compiled):
    by = triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})

    @triton.jit
    def increment(x, o, n, B: tl.constexpr, EVEN: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(o + i, tl.load(x + i, mask=(i < n) | EVEN) + 1, mask=(i < n) | EVEN)

    launch(triton.autotune(CONFIGS, key=["n"])(by(increment)), compiled)
    assert compiled == ["thread"] * 4 + ["launch"] * 5


def test_hooks_of_candidates_set_what_they_are_compiled_for(compiled):
    """As those that set the blocks of descriptors."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    def pre_hook(args):
        args["x"].block_shape = [args["B"]]

    @triton.jit
    def increment(x, o, n, B: tl.constexpr):
        i = tl.program_id(0) * B + tl.arange(0, B)
        tl.store(o + i, x.load([tl.program_id(0) * B]) + 1, mask=i < n)

    configs = [triton.Config({"B": b}, pre_hook=pre_hook) for b in (64, 128)]
    kernel, n = triton.autotune(configs, key=["n"])(increment), 1000
    torch = pytest.importorskip("torch")
    x, o = torch.rand(n), torch.zeros(n)
    with emulate("sm_90a") as driver:
        driver.on_launch = lambda name: compiled.append("launch")
        kernel[lambda m: (triton.cdiv(n, m["B"]),)](TensorDescriptor.from_tensor(x, [16]), o, n)
    assert (o == x + 1).all()
    assert compiled == ["thread"] * 2 + ["launch"] * 3


def test_what_cannot_be_compiled_is_reported_in_its_turn(compiled):
    """32 warps of 64 threads are too many for a block: the autotuner leaves the candidate out."""
    kernel = tuned([*CONFIGS[:2], triton.Config({"B": 64}, num_warps=32)])
    x, o = np.random.rand(100).astype("f4"), np.zeros(100, "f4")
    with emulate("gfx942"):
        kernel[(2,)](x, o, 100)
        with pytest.raises(ValueError, match="Conflicting meta-parameters: B"):
            kernel[(2,)](x, o, 99, B=64)
    np.testing.assert_array_equal(o, x + 1)
    assert _async_compile.active_mode.get() is None


def test_an_interrupted_search(compiled):
    def interrupt(args):
        raise KeyboardInterrupt

    kernel = tuned([CONFIGS[0], triton.Config({"B": 64}, pre_hook=interrupt)])
    x, o = np.random.rand(100).astype("f4"), np.zeros(100, "f4")
    with emulate("sm_90a"), pytest.raises(KeyboardInterrupt):
        kernel[(2,)](x, o, 100)
    assert _async_compile.active_mode.get() is None
    launch(tuned(), compiled)


def test_hooks_that_see_runs_see_no_others(compiled):
    kernel, runs = tuned(), []
    kernel.fn.add_pre_run_hook(lambda *args, **meta: runs.append(1))
    launch(kernel, compiled)
    assert compiled == ["here", "launch"] * 4 + ["launch"] and len(runs) == 5


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5"])
def test_a_wrong_number_of_threads(given, monkeypatch):
    monkeypatch.setenv("TESSERA_TRITON_THREADS", given)
    with pytest.warns(UserWarning, match=f"TESSERA_TRITON_THREADS is '{given}'"):
        assert _autotuner.thread_count() >= 1
