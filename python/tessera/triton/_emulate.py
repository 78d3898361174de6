"""Kernels of Triton without a GPU: a driver for Triton whose device is an emulator, or the interpreter of the TTIR.

Triton's own JIT, autotuner and hooks run as they do with a GPU. Its front end makes the TTIR for the emulated target,
our stages make the emulator's code of it, and the driver's launcher runs it on arrays in the host's memory.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import linecache
import os
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

from .. import _device, _errors, _kernel, _library
from .._arrays import element_type_name, memory_of
from . import _mode, _torch_build, _wrap
from ._mode import emulation


# What triton.runtime takes as the names of element types.
_TYPES = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2 "
    "float8_e4m3fnuz float8_e5m2fnuz".split()
)


class _NamedType(str):
    """The name of an element type, with what Triton's descriptors read of a dtype."""

    @property
    def itemsize(self) -> int:
        bits = re.search(r"\d+", self)
        return int(bits[0]) // 8 if bits else 1  # bool

    @property
    def is_floating_point(self) -> bool:  # descriptors padded with NaN
        return "float" in self


class HostArray:
    """An array of numpy as an argument of Triton's kernels: what `triton.runtime` reads of tensors.

    `kernel[grid](x)` makes it of numpy's arrays by itself. Made by hand for `TensorDescriptor.from_tensor`, and for
    types that numpy lacks: `HostArray(bits, dtype="bfloat16")` of an array of uint16.
    """

    def __init__(self, array: Any, dtype: str | None = None):
        if not hasattr(array, "__array_interface__") or memory_of(array) is None:
            raise _errors.UsageError(f"an array of numpy is needed, not {type(array).__name__}")
        self.array = array
        self.dtype = _NamedType(dtype or array.dtype)
        if element_type_name(self) not in _TYPES:
            raise _errors.UsageError(f"kernels of Triton take no arrays of type '{self.dtype}'")
        if array.itemsize != _NamedType(element_type_name(self)).itemsize:
            raise _errors.UsageError(f"elements of {array.itemsize} bytes are none of type '{self.dtype}'")
        self.shape = tuple(array.shape)
        self.device = _CPU

    @property
    def data(self) -> HostArray:  # triton.reinterpret reads it
        return self

    def data_ptr(self) -> int:
        return self.array.__array_interface__["data"][0]

    def element_size(self) -> int:
        return self.array.itemsize

    def numel(self) -> int:
        return self.array.size

    def stride(self, dim: int | None = None) -> Any:
        strides = tuple(s // self.array.itemsize for s in self.array.strides)
        return strides if dim is None else strides[dim]

    # What the autotuner's reset_to_zero and restore_value call.
    def zero_(self) -> HostArray:
        self.array[...] = 0
        return self

    def clone(self) -> HostArray:
        return HostArray(self.array.copy(), self.dtype)

    def copy_(self, other: HostArray) -> HostArray:
        self.array[...] = other.array
        return self


class _CPU:
    type = "cpu"
    index = 0


class KernelFault(_errors.FailedError):
    """A fault of a kernel that the emulator or the interpreter found: a race, an access out of bounds, a deadlock, ...

    Attributes:
        file, line: the place in Python; "" and 0 if unknown.
    """

    file = ""
    line = 0


_FILE = re.compile(r'loc\("([^"]+)":\d+')
_PLACE = re.compile(r"\bat (\S+?):(\d+)(?::\d+)?(?=[\s:,])")


def _fault(e: _errors.FailedError, files: list[str]) -> KernelFault:
    """The error with the line of Python. `files`: the paths in the kernel's text; emulators name files alone."""
    file, line = "", 0
    for d in e.diagnostics:
        if d.severity != "error":
            continue
        found = _PLACE.search(d.message)
        if d.line:
            file, line = d.file, d.line
        elif found:
            file, line = found[1], int(found[2])
        break
    file = next((f for f in files if f == file or os.path.basename(f) == file), file)
    source = linecache.getline(file, line).strip() if line else ""
    text = str(e)
    if line and not text.startswith(f"{file}:{line}"):
        text = f"{file}:{line}: {text}"
    if source:
        text += f"\n  {source}"
    fault = KernelFault(text, e.message, e.diagnostics)
    fault.file, fault.line = file, line
    return fault


def line_of_program() -> tuple[str, int]:
    """The innermost line that is being executed and is not of Triton, torch, the standard library or this package."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_STANDARD = os.path.dirname(os.__file__)


def is_library(file: str) -> bool:
    parts = file.split(os.sep)
    is_package = any(name in parts for name in ("site-packages", "dist-packages"))
    return file.startswith(("<", _PACKAGE + os.sep, _STANDARD + os.sep)) or is_package


def _launch_fault(text: str) -> KernelFault:
    """A fault of the launch itself, at the line that launches."""
    file, line = line_of_program()
    source = linecache.getline(file, line).strip()
    message = f"{file}:{line}: {text}" if line else text
    fault = KernelFault(f"{message}\n  {source}" if source else message)
    fault.file, fault.line = file, line
    return fault


# For programs that divide by them: registers of each kernel, which emulated code has none of, and bytes of shared
# memory, which the interpreter has none of.
_REGISTERS, _SHARED = 32, 1024

# ---- the stages ----


def emulated_stages(backend: Any, stages: dict[str, Any], options: Any) -> None:
    """The stages from TTGIR on: the emulator's code instead of an object."""
    from ._stages import _Made, compile_options, refusal, target_of

    spec = emulation.spec or "interpreter"
    names = list(stages)
    assembly, binary = names[-2], names[-1]
    # Gluon enters at TTGIR: Triton's first stage only resolves its layouts.
    resolve = None if "ttir" in stages else stages["ttgir"]

    def ttgir(module: Any, metadata: dict[str, Any]) -> Any:
        if resolve is not None:
            module = resolve(module, metadata)
        text = str(module)
        if spec == "interpreter":
            made = {"text": text, "num_warps": options.num_warps}
            metadata.update(num_warps=options.num_warps, tensordesc_meta=[], name="kernel", shared=_SHARED)
        else:
            target, given = target_of(options), compile_options(options)
            try:
                kernel = _kernel.compile(text.encode(), target, stage="bitcode", file_name="kernel.ttir", **given)
            except _errors.Error as e:
                raise refusal(e) from None
            data = base64.b64encode(kernel.object).decode()  # type: ignore[arg-type]
            made = {"object": data, "metadata": kernel.metadata_text, "target": kernel.target}
            m = kernel.metadata
            metadata.update(num_warps=m["threads_per_block"] // m["threads_per_warp"], name=kernel.name)
            metadata["tensordesc_meta"] = m.get("tensordesc_meta", [])
            text = str(kernel.asm["ttgir"])
            metadata["shared"] = m["dynamic_shared_bytes"]
        metadata.update(tmem_size=0, profile_scratch_size=0, profile_scratch_align=1)
        metadata.update(global_scratch_size=0, global_scratch_align=1, num_ctas=1)
        made["files"] = sorted(set(_FILE.findall(str(module))))
        metadata["compiled_by"] = f"tessera {_library.version()} for {spec}"
        result = _Made(text, None)  # type: ignore[arg-type]
        result.binary = json.dumps(made).encode()  # type: ignore[attr-defined]
        return result

    stages["ttgir"] = ttgir
    stages["llir"] = stages[assembly] = lambda made, metadata: made
    stages[binary] = lambda made, metadata: made.binary


# ---- the driver ----


class _Utils:
    """What Triton reads of a device, and how it loads code."""

    def __init__(self, driver: EmulatorDriver):
        self._driver = driver

    def get_device_properties(self, device: Any) -> dict[str, Any]:
        target = self._driver.target
        return {
            "max_shared_mem": self._driver.shared_bytes_per_block,
            "multiprocessor_count": self._driver.multiprocessors,
            "max_num_regs": 65536,
            "max_threads_per_sm": 2048,
            "warpSize": target.warp_size,
            "sm_clock_rate": 1000000,
            "mem_clock_rate": 1000000,
            "mem_bus_width": 4096,
            "arch": str(target.arch),
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device: Any) -> tuple[Any, Any, int, int, int]:
        made = json.loads(binary)
        _refuse_other_target(name, "interpreter" if "text" in made else f"emulator:{made['target']}", self._driver.spec)
        if "text" in made:
            kernel = self._driver.device.compile(made["text"], file_name="kernel.ttir")
        else:
            about = json.loads(made["metadata"])
            code = {"bitcode": base64.b64decode(made["object"])}
            kernel = self._driver.device.load(
                _kernel.Kernel(about["kernel"], made["target"], "bitcode", code, about, made["metadata"])
            )
        kernel.files = made["files"]  # type: ignore[attr-defined]
        return None, kernel, _REGISTERS, 0, 1024


def _refuse_other_target(kernel: str, of: str, now: str) -> None:
    """A kernel that the program keeps from the emulation of another target would run as that target's."""
    if of != now:
        raise _errors.UsageError(
            f"kernel '{kernel}' was compiled for {_name_of(of)} and is launched on {_name_of(now)}: the program keeps "
            "compiled kernels by itself, so check one target at a time"
        )


def _is_descriptor(ty: Any) -> bool:
    return isinstance(ty, str) and ty.startswith("tensordesc")


def _arguments(ty: Any, value: Any, parameters: list[dict[str, Any]], out: list[Any], at: list[int]) -> None:
    """Appends what the kernel's function takes for a value of Triton's signature; `at[0]` counts its parameters."""
    if isinstance(ty, tuple):
        for each_type, each in zip(ty, value):
            _arguments(each_type, each, parameters, out, at)
        return
    if ty == "constexpr":
        return
    if not _is_descriptor(ty):
        out.append(value.array if isinstance(value, HostArray) else value)
        at[0] += 1
        return
    # The descriptor, or its parts where Triton's front end expanded it; then once more its shape and strides.
    base = value.base
    about = parameters[at[0]] if at[0] < len(parameters) else {"type": ""}
    shape, strides = list(value.shape), list(value.strides)
    expanded = "descriptor" in about
    rounds = [bool(value.round_f32_to_tf32)] if hasattr(value, "round_f32_to_tf32") else []  # Triton 3.7 and later
    if expanded or about["type"].startswith("tensordesc"):
        if any(rounds):
            raise _errors.UsageError("tensor descriptors with round_f32_to_tf32 are not emulated")
        out.append(_device.TensorDescriptor(base, shape, strides, list(value.block_shape), value.padding))
        at[0] += 2 + 2 * len(shape) if expanded else 1
    else:
        out.extend([base, *shape, *strides, value.padding == "nan", *rounds])
        at[0] += 2 + 2 * len(shape) + len(rounds)
    out.extend([*shape, *strides])
    at[0] += 2 * len(shape)


class _Launcher:
    """Runs a kernel as Triton's launchers do, but waits for it."""

    def __init__(self, driver: EmulatorDriver, src: Any, metadata: Any):
        self._driver = driver
        self._types = list(src.signature.values())

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        kernel: Any,
        packed: Any,
        launch_metadata: Any,
        enter: Any,
        leave: Any,
        *arguments: Any,
    ) -> None:
        for n in (x, y, z):
            if _errors.integer("a size of the grid", n, -(1 << 63), (1 << 63) - 1) < 0:
                raise _errors.UsageError(f"the grid ({x}, {y}, {z}) has a negative size")
        if x * y * z == 0:
            return
        _refuse_other_target(kernel.name, self._driver.spec, emulation.spec or self._driver.spec)
        parameters = kernel.metadata["args"]
        values: list[Any] = []
        at = [0]
        for ty, value in zip(self._types, arguments):
            _arguments(ty, value, parameters, values, at)
        self._refuse_mixed_memory(kernel, values)
        if enter is not None:
            enter(launch_metadata)
        if self._driver.on_launch is not None:
            self._driver.on_launch(kernel.name)
        try:
            printed = kernel.launch((x, y, z), *values)
        except _errors.FailedError as e:
            fault = _fault(e, kernel.files)
            self._driver.faults.append(str(fault))
            raise fault from None
        self._driver.launches += 1
        for line in printed:
            print(line)
        if leave is not None:
            leave(launch_metadata)


    def _refuse_mixed_memory(self, kernel: Any, values: list[Any]) -> None:
        """A kernel on a GPU cannot access a tensor that the program has left on the host."""
        where = self._driver.placements
        tensors = [(k, v.base if isinstance(v, _device.TensorDescriptor) else v) for k, v in enumerate(values)]
        if where is None or not any(where.is_gpu(v) for _, v in tensors):
            return
        parameters = kernel.metadata["args"]
        for k, v in tensors:
            if not where.is_host(v):
                continue
            name = parameters[k].get("name", k) if k < len(parameters) else k
            text = f"kernel '{kernel.name}': '{name}' is a tensor on the CPU, which a GPU cannot access; others are on "
            fault = _launch_fault(text + "the GPU: move it with .cuda(), or make it with device='cuda'")
            self._driver.faults.append(str(fault))
            raise fault


class EmulatorDriver:
    """What Triton calls a driver, for an emulated target.

    Attributes:
        launches: how many ran without a fault.
        faults: what was wrong in those that had one, which the program may have caught.
    """

    def __init__(self, spec: str, multiprocessors: int):
        # The interpreter takes the TTIR of the target with most features.
        modelled = _device.Device("emulator:sm_90a" if spec == "interpreter" else spec)
        self.target = target = _gpu_target(modelled)
        self.shared_bytes_per_block = modelled.shared_bytes_per_block
        self.spec, self.multiprocessors = spec, multiprocessors
        self.utils = _Utils(self)
        self.launcher_cls = functools.partial(_Launcher, self)
        self.launches = 0
        self.launches_of_blocks = 0  # of emulations within this one, by their own drivers
        self.faults: list[str] = []
        self.on_launch: Any = None  # called with the kernel's name before each
        self.placements: Any = None  # which tensors are on the host (_placements.py), where that is followed
        self.device_interface: Any = None  # what stands for torch.cuda
        self.get_device_capability = lambda *_: _capability(target)

    @functools.cached_property
    def device(self) -> _device.Device:
        return _device.Device(self.spec)

    def get_current_device(self) -> str:
        return f"tessera:{self.spec}"  # Triton's key of kernels that are compiled: none that a GPU has

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_current_target(self) -> Any:
        return self.target

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        if self.device_interface is None:
            raise NotImplementedError("an emulator has no streams and events; `python -m tessera.triton check` has")
        return self.device_interface

    def get_benchmarker(self) -> Any:
        """Runs every candidate of the autotuner once, for its faults; all are as fast, so the first is chosen."""

        def benchmark(kernel_call: Any, *, quantiles: Any = None, **_: Any) -> Any:
            kernel_call()
            return [1.0] * len(quantiles) if quantiles else 1.0

        return benchmark

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: Any) -> None:
        pass

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args


def _gpu_target(device: _device.Device) -> Any:
    """Triton's target of an emulator's."""
    from triton.backends.compiler import GPUTarget

    name = device.target
    if name.startswith("sm_"):
        return GPUTarget("cuda", int(re.sub(r"\D", "", name)), device.threads_per_warp)
    return GPUTarget("hip", name, device.threads_per_warp)


def _capability(target: Any) -> tuple[int, int]:
    """What torch.cuda.get_device_capability says: of AMD's, the first two numbers of the architecture."""
    if target.backend == "cuda":
        return divmod(target.arch, 10)
    digits = target.arch.removeprefix("gfx")
    return int(digits[:-2]), int(digits[-2])


# ---- what of Triton and torch changes during an emulation ----


def _wrapped(x: Any) -> Any:
    """numpy's arrays as tensors, in tuples, too."""
    if isinstance(x, tuple):
        made = [_wrapped(each) for each in x]
        return type(x)(*made) if hasattr(x, "_fields") else tuple(made)
    return HostArray(x) if hasattr(x, "__array_interface__") and type(x).__name__ == "ndarray" else x


def _getitem(original: Any) -> Any:
    def __getitem__(self: Any, grid: Any) -> Any:
        run = original(self, grid)
        return lambda *args, **kwargs: run(*map(_wrapped, args), **{k: _wrapped(v) for k, v in kwargs.items()})

    return __getitem__


def _with_assertions(original: Any) -> Any:
    """device_assert is active, as with `debug=True`, but not Triton's checks of 32-bit overflow: hash functions do that
    on purpose, and the emulators follow what overflows on its way to an address."""

    @functools.wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        from triton import knobs

        if emulation.assertions and not (kwargs.get("debug") or self.debug or knobs.runtime.debug):
            kwargs["debug"] = True
            kwargs.setdefault("sanitize_overflow", False)
        return original(self, *args, **kwargs)

    return run


def _autotune(original: Any) -> Any:
    """What an emulation finds is forgotten with it: it says nothing about a GPU."""

    @functools.wraps(original)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        found, bench = self.cache, self.__dict__.pop("do_bench", None)
        given, cached = self._do_bench, self.cache_results
        self.cache = self.__dict__.setdefault(f"_tessera_{emulation.spec}", {})
        self._do_bench, self.cache_results = None, False
        try:
            return original(self, *args, **kwargs)
        finally:
            self.cache, self._do_bench, self.cache_results = found, given, cached
            self.__dict__.pop("do_bench", None)
            if bench is not None:
                self.__dict__["do_bench"] = bench

    return run


def _is_within_2gb(x: Any) -> bool:
    """As HIPBackend.is_within_2gb, which needs torch."""
    m = memory_of(x)
    return m is not None and m.storage_bytes < 1 << 31


@contextlib.contextmanager
def _patched() -> Iterator[None]:
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction, KernelInterface

    changes = [(KernelInterface, "__getitem__", _getitem(KernelInterface.__getitem__))]
    changes.append((Autotuner, "run", _autotune(Autotuner.run)))
    changes.append((JITFunction, "run", _with_assertions(JITFunction.run)))
    try:
        from triton.backends.amd.compiler import HIPBackend

        changes.append((HIPBackend, "is_within_2gb", staticmethod(_is_within_2gb)))
    except ImportError:
        pass
    before = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in changes]
    for owner, name, value in changes:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            if value is not None:
                setattr(owner, name, value)


class _Entered:
    """The emulations whose blocks are entered and not left; kernels run on the last one's device. Blocks of several
    threads may be left in any order, and what Triton had before is restored after the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drivers: list[tuple[EmulatorDriver, int]] = []  # with the thread that entered the block
        self._patches = contextlib.ExitStack()
        self._before: Any = None  # Triton's driver

    def enter(self, made: EmulatorDriver) -> None:
        from triton.runtime import driver

        me = threading.get_ident()
        with self._lock:
            for other, thread in self._drivers:
                # One device for all threads: this thread's kernels, or the other's, would run on the wrong one.
                if thread != me and other.spec != made.spec:
                    raise _errors.UsageError(
                        f"another thread emulates {_name_of(other.spec)}; an emulation holds for the whole process, so "
                        "threads can only emulate the same target at once"
                    )
            if not self._drivers:
                self._before = driver._active
                self._patches.enter_context(_patched())
            self._drivers.append((made, me))
            self._activate()

    def leave(self, made: EmulatorDriver) -> None:
        with self._lock:
            self._drivers = [d for d in self._drivers if d[0] is not made]
            if self._drivers:
                self._drivers[0][0].launches_of_blocks += made.launches
            else:
                self._patches.close()
            self._activate()

    def _activate(self) -> None:
        from triton.runtime import driver

        last = self._drivers[-1][0] if self._drivers else None
        emulation.spec = last.spec if last else None
        driver._active = last or self._before
        _torch_build.show(last.target.backend if last else None)

    def torch_is_imported(self) -> None:
        """Within a block, perhaps."""
        with self._lock:
            if self._drivers:
                _torch_build.show(self._drivers[-1][0].target.backend)


entered = _Entered()


def _name_of(spec: str) -> str:
    return spec.removeprefix("emulator:")


@contextlib.contextmanager
@_mode.left_at_exit
def emulate(target: str, *, multiprocessors: int = 8) -> Iterator[EmulatorDriver]:
    """Runs the kernels that are launched in the block on an emulator, on arrays in the host's memory.

        with tessera.triton.emulate("gfx942"):
            kernel[grid](x, y, out, n, BLOCK=1024)     # tensors of torch on the CPU, arrays of numpy

    The code is the one that is made for the target. A race, an access out of bounds, a read of shared memory that was
    never written, a deadlock or a failed assertion is a `KernelFault` at the line of Python; the arrays then keep
    their contents. Of autotuned kernels every candidate runs. For the whole process: other threads' kernels, too.
    `torch.version` is that of a PyTorch for the target's vendor, if torch is imported before the block.
    Blocks may be nested; threads that emulate at once must emulate the same target.

    Args:
        target: "sm_90a", "gfx942", ..., or "interpreter": the meaning of the TTIR alone, without code.
        multiprocessors: their number, for programs that query it.

    Raises:
        InputError: the compiler refuses a kernel.
    """
    if not isinstance(target, str):
        raise _errors.UsageError(f"a target is a str such as 'gfx942', not {type(target).__name__}")
    try:
        import triton
    except ImportError as e:
        raise _errors.UsageError(f"emulate needs Triton: {e}") from None
    name = target.removeprefix("emulator:")
    spec = name if name == "interpreter" else f"emulator:{name}"
    if name != "interpreter" and name not in _library.targets():
        raise _errors.UsageError(f"there is no target '{name}'; targets: interpreter, {', '.join(_library.targets())}")
    if version := _wrap.too_old():
        raise _errors.UsageError(f"emulate needs Triton {_wrap.OLDEST[0]}.{_wrap.OLDEST[1]} or later, not {version}")
    if triton.knobs.runtime.interpret:  # @triton.jit makes functions of its interpreter, which no emulation reaches
        raise _errors.UsageError("TRITON_INTERPRET is set: Triton's interpreter would run the kernels; unset it")
    sms = _errors.integer("multiprocessors", multiprocessors, 1, (1 << 31) - 1)
    _wrap.install(always=True)
    made = EmulatorDriver(spec, sms)
    entered.enter(made)
    try:
        yield made
    finally:
        entered.leave(made)


__all__ = ["EmulatorDriver", "HostArray", "KernelFault", "emulate"]
