"""Triton's autotuner with the plug-in: several threads compile the candidates before the first of them is timed,
candidates with the same code are timed once, and a terminal counts them.

Triton compiles each candidate when its turn to be timed comes. Compiled ahead, in Triton's own `AsyncCompileMode`, they
wait in the kernel's cache, and nothing else runs on the host while one is timed. A candidate that cannot be compiled is
compiled again in its turn, where the autotuner forgives what it forgives and reports the rest. One thread at a time
parses sources.

Candidates that differ in their stages or warps alone have the same code where no loop is pipelined, where the stages do
not fit into shared memory, or where the compiler takes more warps.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, Callable

from ._mode import emulation, warn_once
from ._progress import Line

_MOST_THREADS = 16  # Triton's front end holds Python's lock, so that more find nothing to do
_installing = threading.Lock()

# CPython's ast.parse counts the depth of the tree that it makes in one place for all threads. If another thread parses
# meanwhile (the collector of garbage may run Python code, which lets it), one of them fails: "SystemError: AST
# constructor recursion depth mismatch", or a RecursionError.
_parsing = threading.RLock()
os.register_at_fork(after_in_child=lambda: globals().update(_parsing=threading.RLock()))


class _Tuning:
    """One search of an autotuner, from when it has chosen its candidates. The autotuner makes its `nargs` anew for each
    search; only their identity is kept, so that no tensor is."""

    def __init__(self, tuner: Any, configs: list[Any]):
        self.search, self.configs, self.line = id(getattr(tuner, "nargs", None)), configs, Line()
        self.seen: set[int] = set()  # identities of the candidates that had their turn
        self.codes: dict[int, Any] = {}  # by such an identity: equal if the candidates launch the same code
        self.timings: dict[Any, Any] = {}  # of a code
        self.name = getattr(getattr(tuner, "base_fn", None), "__name__", "kernel")
        atexit.register(self.line.clear)

    def belongs_to(self, tuner: Any, config: Any) -> bool:
        return self.search == id(getattr(tuner, "nargs", None)) and id(config) not in self.seen

    def show(self, text: str) -> None:
        self.line.show(f"tessera: autotuning {self.name}: {text}")


def _tuning_of(tuner: Any, config: Any, meta: dict[str, Any]) -> _Tuning:
    """The search in which it is the candidate's turn."""
    found = tuner.__dict__.get("_tessera_tuning")
    if found is None or not found.belongs_to(tuner, config):
        # The search began before the methods were wrapped, or the class is another's, with a run of its own.
        with contextlib.suppress(Exception):
            tuner.prune_configs(meta)
        found = tuner.__dict__.get("_tessera_tuning")
    if found is None or not found.belongs_to(tuner, config):
        found = tuner._tessera_tuning = _Tuning(tuner, [])  # its candidates are not known
    return found


# ---- compiling ahead ----


def thread_count() -> int:
    """Of `TESSERA_TRITON_THREADS`, or the processors that this process may use; at least 1."""
    given = os.environ.get("TESSERA_TRITON_THREADS", "").strip()
    if given.isdecimal() and int(given) > 0:
        return int(given)
    if given:
        warn_once(f"TESSERA_TRITON_THREADS is '{given}'; it can be 1, 2, ...; it is ignored")
    return min(len(os.sched_getaffinity(0)), _MOST_THREADS)


class _Counted(Executor):
    """Another executor, whose finished tasks are counted on the terminal."""

    def __init__(self, executor: Executor, tuning: _Tuning):
        self.executor, self.tuning, self.submitted, self.finished = executor, tuning, 0, 0
        self.lock = threading.Lock()

    def submit(self, task: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.submitted += 1
        future = self.executor.submit(task, *args, **kwargs)
        future.add_done_callback(self._count)
        return future

    def _count(self, _: Future[Any]) -> None:
        with self.lock:
            self.finished += 1
        self.tuning.show(f"{self.finished} of {self.submitted} candidates are compiled")


def _kernel_of(fn: Any) -> Any:
    """The kernel, if there are only heuristics between it and an autotuner: another autotuner would search. None also
    where hooks see every run: they are not shown one more."""
    from triton.runtime.autotuner import Heuristics
    from triton.runtime.jit import JITFunction

    while isinstance(fn, Heuristics):
        fn = fn.fn
    return fn if isinstance(fn, JITFunction) and not fn.pre_run_hooks else None


def _code_of(config: Any, kernel: Any) -> tuple[Any, ...] | None:
    """What a candidate launches: its object, and what else its launch depends on; None if it could not be compiled.
    `kernel`: of Triton's function, or what an `AsyncCompileMode` gives instead, which has it when it has ended."""
    if not isinstance(getattr(kernel, "kernel", None), bytes):
        kernel = getattr(kernel, "kernel", None)
    if kernel is None:
        return None
    return kernel.kernel, repr(kernel.packed_metadata), repr(sorted(config.kwargs.items())), id(config.pre_hook)


def _compile_ahead(tuner: Any, tuning: _Tuning, args: tuple[Any, ...], meta: dict[str, Any]) -> None:
    """Leaves the kernels of all candidates in the cache of Triton's function."""
    from . import _wrap

    threads = min(thread_count(), len(tuning.configs))
    if threads < 2 or not _wrap.is_active() or _kernel_of(tuner.fn) is None:
        return
    from triton.runtime import _async_compile

    if _async_compile.active_mode.get() is not None:
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="tessera compiles")
    kernels = []
    try:
        with _async_compile.AsyncCompileMode(_Counted(pool, tuning), ignore_errors=True):
            try:
                for config in tuning.configs:
                    with contextlib.suppress(Exception):  # found again, and reported, in the candidate's turn
                        current = {**meta, **config.all_kwargs()}
                        if config.pre_hook:  # sets the blocks of descriptors
                            config.pre_hook({**tuner.nargs, **current})
                        kernels.append((config, tuner.fn.run(*args, **{**current, "warmup": True})))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        _async_compile.active_mode.set(None)  # Triton leaves it set if the wait for the threads is interrupted
    # Emulation runs all candidates, for their faults. Heuristics may make the grid depend on anything.
    if emulation.spec is None and tuner.fn is _kernel_of(tuner.fn):
        for config, kernel in kernels:
            if code := _code_of(config, kernel):
                tuning.codes[id(config)] = code


# ---- what is wrapped ----


def _wrap_parse(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def parse(self: Any) -> Any:
        with _parsing:
            return original(self)

    return parse


def _wrap_bench(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def _bench(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
        tuning = _tuning_of(self, config, meta)
        if not tuning.seen:
            _compile_ahead(self, tuning, args, meta)
        tuning.seen.add(id(config))
        done, configs = len(tuning.seen), len(tuning.configs)
        tuning.show(f"candidate {done} of {max(done, configs)}")
        code = tuning.codes.get(id(config), id(config))
        try:
            if code not in tuning.timings:
                tuning.timings[code] = original(self, *args, config=config, **meta)
            return tuning.timings[code]
        finally:
            if done >= configs:
                tuning.line.clear()

    return _bench


def _wrap_prune(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def prune_configs(self: Any, *args: Any, **kwargs: Any) -> list[Any]:
        left = list(original(self, *args, **kwargs))
        self._tessera_tuning = _Tuning(self, left)
        return left

    return prune_configs


def install() -> None:
    """Wraps Triton's autotuner, and the parser of its kernels, once."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    with _installing:
        if not hasattr(JITFunction.parse, "__wrapped__"):
            JITFunction.parse = _wrap_parse(JITFunction.parse)
        if not hasattr(Autotuner._bench, "__wrapped__"):
            Autotuner._bench = _wrap_bench(Autotuner._bench)
            Autotuner.prune_configs = _wrap_prune(Autotuner.prune_configs)


__all__ = ["install", "thread_count"]
