"""Programs with their kernels on an emulator: what `python -m tessera.triton check` starts, and pytest's plug-in uses.

Besides what the emulator itself finds, memory is followed that nobody wrote (`numpy.empty`, `torch.empty`), and
`device_assert` is active.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import linecache
import os
import runpy
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any

from .. import _errors, _uninitialised
from ._emulate import EmulatorDriver, KernelFault, emulate, entered, is_library
from ._mode import emulation, left_at_exit
from ._placements import Placements, is_gpu_device


@contextlib.contextmanager
@left_at_exit
def checking(target: str) -> Iterator[EmulatorDriver]:
    """Launches in the block run on an emulator of the target, or on the interpreter, with all checks.

    Raises:
        UsageError: there is no such target.
    """
    before = emulation.assertions
    with emulate(target) as driver, torch_without_gpu(driver), benchmarks_once(), _uninitialised.marked():
        emulation.assertions = True
        try:
            yield driver
        finally:
            emulation.assertions = before


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _own_nothing() -> Any:
    """A function of its own: torch.compile has one rule for each function of torch, found by its identity."""
    return lambda *_, **__: None


@contextlib.contextmanager
def benchmarks_once() -> Iterator[None]:
    """Benchmarks of triton.testing call each function once, and plots have the first value of each line alone: times of
    an emulator say nothing, and the largest values would run for hours."""
    from triton import testing

    def do_bench(fn: Any, *_: Any, quantiles: Any = None, return_mode: str = "mean", **__: Any) -> Any:
        fn()
        if quantiles is not None:
            return [1.0] * len(quantiles) if len(quantiles) > 1 else 1.0
        return [1.0] if return_mode == "all" else 1.0

    class FirstValues(testing.Mark):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            plots = self.benchmarks if isinstance(self.benchmarks, list) else [self.benchmarks]
            kept = [(plot, plot.x_vals) for plot in plots]
            for plot, values in kept:
                plot.x_vals = list(values)[:1]
            try:
                return super().run(*args, **kwargs)
            finally:
                for plot, values in kept:
                    plot.x_vals = values

    changes = {"do_bench": do_bench, "do_bench_cudagraph": do_bench, "Mark": FirstValues}
    before = {name: getattr(testing, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(testing, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(testing, name, value)


class _Stream:
    """Stands for torch.cuda.Stream, and the block that `torch.cuda.stream(s)` begins."""

    cuda_stream = 0

    def __init__(self, *_: Any, **__: Any):
        self.synchronize = self.wait_stream = self.wait_event = _nothing

    def record_event(self, event: Any = None) -> Any:
        return event or _Event()

    def query(self) -> bool:
        return True

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class _Event:
    """Stands for torch.cuda.Event: launches are over when they return, and their times say nothing about a GPU."""

    def __init__(self, *_: Any, **__: Any):
        self.record = self.wait = self.synchronize = _nothing

    def query(self) -> bool:
        return True

    def elapsed_time(self, _: Any) -> float:
        return 1.0


class _Generator:
    """Stands for the generator of a GPU, whose state is the seed and the offset of Philox."""

    def __init__(self, torch: Any):
        self._torch = torch
        self._state = torch.tensor([torch.initial_seed() % (1 << 63), 0], dtype=torch.int64)

    def get_state(self) -> Any:
        return self._state.clone().view(self._torch.uint8)

    def set_state(self, state: Any) -> _Generator:
        self._state = state.clone().view(self._torch.int64)
        return self

    def initial_seed(self) -> int:
        return int(self._state[0])

    def manual_seed(self, seed: int) -> _Generator:
        self._state = self._torch.tensor([seed, 0], dtype=self._torch.int64)
        return self

    def get_offset(self) -> int:
        return int(self._state[1])

    def set_offset(self, offset: int) -> None:
        self._state[1] = offset


def _generator_class(torch: Any) -> Any:
    """torch.Generator, of which one for a GPU is the host's here."""

    class Class(type):
        def __call__(cls, device: Any = "cpu") -> Any:
            return original("cpu" if is_gpu_device(device) else device)

        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, original)

    original = torch.Generator
    return Class("Generator", (), {})


class _Graph:
    """Stands for torch.cuda.CUDAGraph and torch.cuda.graph."""

    def __init__(self, *_: Any, **__: Any):
        raise _errors.UsageError("CUDA graphs are not emulated: launch the kernels without one, or as on a CPU")


def _of_modules(torch: Any) -> dict[tuple[Any, str], Any]:
    """What programs and code that Inductor wrote call, by module and name."""

    def empty_strided(size: Any, stride: Any, dtype: Any) -> Any:
        return torch.empty_strided(size, stride, dtype=dtype)

    return {
        (torch, "Generator"): _generator_class(torch),
        (torch._C, "_cuda_getCurrentRawStream"): lambda _: 0,
        (torch._C._dynamo.guards, "_empty_strided_cuda"): empty_strided,
    }


def _without_numbers_of_devices(torch: Any, function: Any, args: Any, given: Any) -> tuple[Any, Any]:
    """A number as device is a GPU's: `torch.ones(2, device=0)`, `x.to(torch.cuda.current_device())`."""
    if type(given.get("device")) is int:
        given = given | {"device": "cpu"}
    if function is torch.Tensor.to and len(args) > 1 and type(args[1]) is int:
        args = (args[0], "cpu", *args[2:])
    return args, given


def _answers(driver: EmulatorDriver, generator: _Generator) -> dict[str, Any]:
    """What torch.cuda answers for the emulated device, by name."""
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda *_: driver.spec,
        "get_device_capability": driver.get_device_capability,
        "get_device_properties": lambda *_: _properties(driver),
        "is_current_stream_capturing": lambda: False,
        "Event": _Event,
        **dict.fromkeys(("CUDAGraph", "graph"), _Graph),
        "Stream": _Stream,
        "current_stream": _Stream,
        "default_stream": _Stream,
        "stream": _Stream,
        **dict.fromkeys(("device", "device_of", "_DeviceGuard"), _Stream),  # blocks, too; the last one is Inductor's
        "mem_get_info": lambda *_: (1 << 34, 1 << 34),
        "memory_allocated": lambda *_: 0,
        "max_memory_allocated": lambda *_: 0,
        "default_generators": (generator,),
        "manual_seed": lambda seed: generator.manual_seed(seed),
        "manual_seed_all": lambda seed: generator.manual_seed(seed),
        "is_bf16_supported": lambda *_, **__: True,
        **{name: _own_nothing() for name in ("synchronize", "set_stream", "set_device", "empty_cache",
                                             "reset_peak_memory_stats")},
    }  # fmt: skip


@contextlib.contextmanager
def torch_without_gpu(driver: EmulatorDriver) -> Iterator[None]:
    """Programs say device="cuda": torch makes such tensors in the host's memory here, and answers queries of the device
    for the emulated one. Does nothing without torch."""
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        yield
        return
    entered.torch_is_imported()
    unwritten = set(_uninitialised.torch_functions())
    driver.placements = placements = Placements(torch)

    def on_host(x: Any) -> Any:
        return "cpu" if isinstance(x, (str, torch.device)) and is_gpu_device(x) else x

    class OnHost(TorchFunctionMode):
        def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function == torch.Tensor.is_cuda.__get__:  # type: ignore[attr-defined]
                return True
            asked = (args, kwargs or {})
            if function is torch.Tensor.cuda:
                return placements.moved(function, *asked, args[0])
            given = {k: on_host(v) for k, v in asked[1].items()}
            args, given = _without_numbers_of_devices(torch, function, args, given)
            if given.get("pin_memory"):
                given["pin_memory"] = False
            made = function(*map(on_host, args), **given)
            if placements.moves(function):
                return placements.moved(function, *asked, made)
            placements.computed(function, *asked, made)
            return _uninitialised.fill(made) if function in unwritten else made

    generator = _Generator(torch)
    answers = _answers(driver, generator)
    inductor = _of_modules(torch)
    before: dict[Any, Any] = {(torch.cuda, name): getattr(torch.cuda, name) for name in answers}
    before |= {(module, name): getattr(module, name) for module, name in inductor if hasattr(module, name)}
    # The device of tensors is the CPU, and programs say getattr(torch, device.type).
    added = [name for name in answers if not hasattr(torch.cpu, name)]
    try:
        for name, answer in answers.items():
            setattr(torch.cuda, name, answer)
        for (module, name), answer in inductor.items():
            setattr(module, name, answer)
        for name in added:
            setattr(torch.cpu, name, answers[name])
        driver.device_interface = torch.cuda
        with OnHost(), _on_host_in_callbacks(torch, OnHost), _eagerly(torch):
            yield
    finally:
        for module, name in inductor:
            delattr(module, name)
        for (module, name), function in before.items():
            setattr(module, name, function)
        for name in added:
            if hasattr(torch.cpu, name):
                delattr(torch.cpu, name)


# Under these the implementation of an operator computes, on tensors of the host here.
_COMPUTING_KEYS = ("", "CPU", "CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd")


@contextlib.contextmanager
def _on_host_in_callbacks(torch: Any, mode: Any) -> Iterator[None]:
    """Functions of the program that torch calls are on the host, too: torch suspends a mode while one of its functions
    runs, and with it in `backward` of an autograd function, in hooks of gradients, and in operators of torch.library.
    Operators for CUDA alone also take the tensors that the program has here, which are the host's."""

    def within(function: Any) -> Any:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            if not active or torch._C._is_torch_function_mode_enabled():
                return function(*args, **kwargs)
            with mode():
                return function(*args, **kwargs)

        return run

    def impl(library: Any, name: Any, function: Any, dispatch_key: str = "", **how: Any) -> Any:
        key = dispatch_key or library.dispatch_key
        if not active or not isinstance(function, types.FunctionType) or key not in _COMPUTING_KEYS:
            return register(library, name, function, dispatch_key, **how)
        operator = (library.ns, str(name))
        if key == "CPU" and operator in added:  # the program has one for the host
            added.pop(operator)._destroy()
        made = register(library, name, within(function), dispatch_key, **how)
        if key == "CUDA":
            own = torch.library.Library(library.ns, "IMPL")
            with contextlib.suppress(RuntimeError):  # the program has one for the host
                register(own, name, within(function), "CPU", **how)
                added[operator] = own
        return made

    active = True
    added: dict[Any, Any] = {}
    register = torch.library.Library.impl
    engines = [m for m in (torch.autograd, torch.autograd.graph) if hasattr(m, "_engine_run_backward")]
    run_backward = [m._engine_run_backward for m in engines]
    try:
        for module, run in zip(engines, run_backward):
            module._engine_run_backward = within(run)
        torch.library.Library.impl = impl
        yield
    finally:
        active = False
        torch.library.Library.impl = register
        for module, run in zip(engines, run_backward):
            module._engine_run_backward = run
        for own in added.values():
            own._destroy()


def _eagerly(torch: Any) -> Any:
    """torch.compile would make code for a GPU that is not there: its functions run as they are written."""
    stance = getattr(torch.compiler, "set_stance", None)  # torch 2.6 and later
    return stance("force_eager") if stance else contextlib.nullcontext()


def _properties(driver: EmulatorDriver) -> Any:
    """What programs read of torch.cuda.get_device_properties."""
    about = driver.utils.get_device_properties(0)
    major, minor = driver.get_device_capability()
    return types.SimpleNamespace(
        name=driver.spec,
        major=major,
        minor=minor,
        multi_processor_count=about["multiprocessor_count"],
        warp_size=about["warpSize"],
        shared_memory_per_block=min(about["max_shared_mem"], 48 << 10 if driver.target.backend == "cuda" else 64 << 10),
        shared_memory_per_block_optin=about["max_shared_mem"],
        shared_memory_per_multiprocessor=about["max_shared_mem"],
        max_threads_per_block=1024,
        max_threads_per_multi_processor=about["max_threads_per_sm"],
        L2_cache_size=50 << 20,
        regs_per_multiprocessor=about["max_num_regs"],
        gcnArchName=about["arch"],
        total_memory=1 << 34,
    )


def _is_found(module: str) -> bool:
    """Whether `-m` has something to run; what fails in a package around it fails again when it is run."""
    try:
        return not module.startswith(".") and importlib.util.find_spec(module) is not None
    except ModuleNotFoundError as e:
        return not f"{module}.".startswith(f"{e.name}.")
    except ValueError:  # an empty part of the name
        return False
    except Exception:
        return True


def _run(command: list[str]) -> None:
    is_module = command[0] == "-m"
    sys.argv = command[1:] if is_module else command
    if is_module:
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(command[0])))
        runpy.run_path(command[0], run_name="__main__")


def _tail(frames: Any, first: int) -> Any:
    for _ in range(first):
        frames = frames.tb_next
    return frames


def _functions_compiled(e: BaseException) -> Iterator[Any]:
    """The function of Triton whose compilation raised the error, and those that it may call."""
    from triton.runtime.jit import JITFunction

    frames, waiting = e.__traceback__, []
    while frames is not None:
        source = frames.tb_frame.f_locals.get("src")
        if isinstance(getattr(source, "fn", None), JITFunction):
            waiting = [source.fn, *getattr(source, "constants", {}).values()]
        frames = frames.tb_next
    seen = set()
    while waiting:
        function = getattr(waiting[0], "value", waiting[0])  # of a constexpr
        waiting = waiting[1:]
        if isinstance(function, JITFunction) and id(function) not in seen:
            seen.add(id(function))
            yield function
            waiting += function.fn.__globals__.values()


def _definition(function: Any) -> tuple[str, int]:
    """The file and the line of `def` of a function of Triton, behind its decorators."""
    lines, first = inspect.getsourcelines(function.fn)
    above = next((k for k, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
    return function.fn.__code__.co_filename, first + above


def _described(e: BaseException | None) -> str:
    """The exception; of an assertion without a message, what it asserts."""
    if type(e) is AssertionError and not e.args:
        frames = traceback.extract_tb(e.__traceback__)
        return f"AssertionError: {frames[-1].line}" if frames else "AssertionError"
    return "" if e is None else f"{type(e).__name__}: {e}".removesuffix(": ")


def _compile_error(e: BaseException) -> str | None:
    """Where Triton's front end refuses a kernel, and why: the innermost line of the program's. Triton's own text names
    lines counted from the function's beginning. Null: e is something else."""
    from triton.compiler.errors import CompilationError

    if not isinstance(e, CompilationError):
        return None
    functions = {f.src: f for f in _functions_compiled(e)}
    error: Any = e
    reason, place, source = "", "", ""
    while isinstance(error, CompilationError):
        function = functions.get(error.src)
        if function is not None and hasattr(error.node, "lineno"):
            file, begin = _definition(function)
            if not place or not is_library(file):
                line = begin + error.node.lineno - 1
                place, source = f"{file}:{line}: ", linecache.getline(file, line).strip()
        reason = error.error_message or reason
        error = error.__cause__ or error.__context__
    if not reason or (type(error) is AssertionError and not error.args):
        reason = _described(error)
    return f"{place}{reason.strip()}\n  {source}" if place else reason.strip() or str(e)


def launches(count: int) -> str:
    return f"{count} launch{'' if count == 1 else 'es'}"


def _execute(driver: EmulatorDriver, command: list[str]) -> tuple[int, str]:
    """The exit status, and a line for the user."""
    if command[0] == "-m":
        sys.path.insert(0, os.getcwd())
        if not _is_found(command[1]):
            return 2, f"there is no module {command[1]!r}"
    try:
        _run(command)
    except KernelFault as e:
        return 1, str(e)
    except SystemExit as e:
        if isinstance(e.code, str):  # sys.exit("why")
            print(e.code, file=sys.stderr)
        if e.code not in (None, 0):
            return 1, f"the program ended with status {1 if isinstance(e.code, str) else e.code}"
    except KeyboardInterrupt:
        return 130, f"interrupted after {launches(driver.launches)}"
    except _errors.InputError as e:
        return 1, f"a kernel does not compile: {e}"
    except Exception as e:
        if (why := _compile_error(e)) is not None:
            return 1, f"a kernel does not compile: {why}"
        # The frames of the program: this function, _run and runpy's come first.
        frames = traceback.extract_tb(e.__traceback__)
        own = [f for f in frames if not is_library(f.filename)]
        if isinstance(e, _errors.Error):  # what the emulation refuses
            return 1, f"{own[-1].filename}:{own[-1].lineno}: {e}" if own else str(e)
        first = frames.index(own[0]) if own else 0
        traceback.print_exception(e.with_traceback(_tail(e.__traceback__, first)))
        at = f" at {own[-1].filename}:{own[-1].lineno}" if own else ""
        return 1, f"the program failed{at}: {type(e).__name__}: {e}"
    if driver.faults:  # as test runners and loops over cases do
        return 1, f"{launches(len(driver.faults))} had a fault, which the program caught; the first: {driver.faults[0]}"
    if driver.launches:
        return 0, f"no faults in {launches(driver.launches)}"
    if driver.launches_of_blocks:
        of_blocks = launches(driver.launches_of_blocks)
        return 0, f"nothing was checked: the program's own emulate() chose the targets of its {of_blocks}"
    return 0, "no kernel was launched"


def main(target: str, command: list[str]) -> int:
    from ._progress import launch_progress

    try:
        with checking(target) as driver, launch_progress(driver):
            code, line = _execute(driver, command)
    except _errors.UsageError as e:
        code, line = 2, str(e)
    except _errors.FailedError as e:
        code, line = 1, str(e)
    print(f"{target}: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
