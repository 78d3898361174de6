"""Devices, their memory, and launches: GPUs, emulators of GPUs, and the interpreter of the text itself."""

from __future__ import annotations

import ctypes
import json
import os
import struct
from collections.abc import Mapping, Sequence, Set
from ctypes import byref, c_char, c_int64, c_uint32
from dataclasses import dataclass
from typing import Any

from . import _uninitialised
from ._arrays import Memory, element_type, memory_of
from ._errors import Diagnostic, UsageError, encoded, integer
from ._kernel import Kernel, make_options, read_text
from ._library import Argument, DescriptorStruct, Handle, Times, call, call_interruptibly, context, library


@dataclass(frozen=True)
class TensorDescriptor:
    """A tensor descriptor, for an argument of type `!tt.tensordesc`.

    Args:
        base: the array that holds the tensor; its data must begin at a multiple of 16 bytes.
        shape: of the tensor, in elements, outermost dimension first.
        strides: in elements; the last is 1, the others are multiples of 16 bytes.
        block_shape: of the tensors that the kernel loads and stores.
        padding: what elements outside of the tensor read as: "zero" or "nan".

    Raises:
        UsageError: shape, strides and block shape are not as many numbers, or there is no such padding.
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    padding: str = "zero"

    def __post_init__(self) -> None:
        for name in ("shape", "strides", "block_shape"):
            values = _numbers(name, getattr(self, name))
            object.__setattr__(self, name, values)
            if len(values) != len(self.shape):
                raise UsageError(f"the {name} of a tensor descriptor must have {len(self.shape)} numbers")
        if not isinstance(self.padding, str) or self.padding not in ("zero", "nan"):
            raise UsageError(f"the padding of a tensor descriptor is zero or nan, not {self.padding!r}")

    @staticmethod
    def of(base: Any, block_shape: Sequence[int], padding: str = "zero") -> TensorDescriptor:
        """Describes all of an array that is contiguous."""
        shape = _numbers("shape", getattr(base, "shape", None))
        strides, n = [], 1
        for size in reversed(shape):
            strides.insert(0, n)
            n *= size
        return TensorDescriptor(base, shape, strides, block_shape, padding)


def _bytes(what: str, n: object) -> int:
    """A number of the library's type size_t, or an address."""
    return integer(what, n, 0, (1 << 64) - 1)


def _numbers(what: str, values: object) -> tuple[int, ...]:
    try:
        listed = tuple(values)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"the {what} of a tensor descriptor must be numbers, not {type(values).__name__}") from None
    if isinstance(values, (str, bytes)) or not 1 <= len(listed) <= 5:
        raise UsageError(f"the {what} of a tensor descriptor must have 1 to 5 numbers")
    return tuple(integer(f"the {what} of a tensor descriptor", n, -(1 << 63), (1 << 63) - 1) for n in listed)


class Buffer(Handle):
    """Memory of a device. Its contents are undefined at first."""

    def __init__(self, device: Device, nbytes: int):
        super().__init__("tessera_buffer_destroy")
        if not isinstance(device, Device):
            raise UsageError(f"a buffer is on a Device, not on {type(device).__name__}")
        self.nbytes = _bytes("the size of a buffer", nbytes)
        call("tessera_buffer_create", device._handle.pointer, self.nbytes, self.out)

    def write(self, address: int, nbytes: int, offset: int = 0) -> None:
        """Copies from the host's memory."""
        at, n = _bytes("the offset", offset), _bytes("the number of bytes", nbytes)
        call("tessera_buffer_write", self.pointer, at, _bytes("the address", address), n)

    def undefine(self, offset: int, nbytes: int) -> None:
        """These bytes count as never written: emulators and interpreter report a kernel that reads them."""
        at, n = _bytes("the offset", offset), _bytes("the number of bytes", nbytes)
        call("tessera_buffer_undefine", self.pointer, at, n)

    def read(self, address: int, nbytes: int, offset: int = 0) -> None:
        """Copies to the host's memory."""
        at, n = _bytes("the offset", offset), _bytes("the number of bytes", nbytes)
        call("tessera_buffer_read", self.pointer, at, _bytes("the address", address), n)


class Device:
    """A device by its spec: "cuda:0", "hip:0", "emulator:gfx942", "interpreter"; None: the machine's first.

    Attributes:
        spec, name, driver: texts.
        target: what kernels are compiled for; "" of the interpreter.
        stage: what the device loads: "cubin", "hsaco", "bitcode" (emulators) or "ttir".
        memory_bytes: 0 where it is the host's.
        shared_bytes_per_block, threads_per_warp: of the target; 0 of the interpreter.

    Raises:
        UsageError: there is no such kind of device.
        FailedError: the driver is missing or failed.
    """

    def __init__(self, spec: str | None = None):
        self._handle = Handle("tessera_device_destroy")
        name = encoded("a device", spec) if spec is not None else None
        call("tessera_device_open", context(), name, self._handle.out)
        self.__dict__.update(_describe(library().tessera_device_describe(self._handle.pointer).contents))

    spec: str
    name: str
    target: str
    stage: str
    driver: str
    memory_bytes: int
    shared_bytes_per_block: int
    threads_per_warp: int

    @property
    def on_host(self) -> bool:
        """Whether kernels run on the CPU: the interpreter and emulators."""
        return self.stage in ("bitcode", "ttir")

    def compile(
        self, text: str | bytes | os.PathLike[str], *, file_name: str | None = None, **options: Any
    ) -> LoadedKernel:
        """Compiles a kernel for the device, or finds it in the cache, and loads it. Options: see `tessera.compile`."""
        data, name = read_text(text, file_name)
        o = make_options(**options)
        kernel = LoadedKernel(self)
        call(
            "tessera_kernel_compile", self._handle.pointer, data, len(data), name, byref(o), kernel._handle.out
        )
        return kernel

    def load(self, kernel: Kernel) -> LoadedKernel:
        """Loads a kernel that was compiled for the device's target and stage."""
        if not isinstance(kernel, Kernel):
            raise UsageError(f"a compiled kernel is needed, not {type(kernel).__name__}")
        if kernel.stage != self.stage:
            raise UsageError(f"{self.spec} loads {self.stage}, and the kernel is {kernel.stage}")
        data = kernel.object if isinstance(kernel.object, bytes) else kernel.object.encode()
        loaded = LoadedKernel(self)
        out = loaded._handle.out
        call("tessera_kernel_load", self._handle.pointer, data, len(data), kernel.metadata_text.encode(), out)
        return loaded

    def __repr__(self) -> str:
        return f"Device({self.spec!r}: {self.name})"


def _describe(info: Any) -> dict[str, Any]:
    texts = {k: getattr(info, k).decode() for k in ("spec", "name", "target", "stage", "driver")}
    numbers = {k: getattr(info, k) for k in ("memory_bytes", "shared_bytes_per_block", "threads_per_warp")}
    return {**texts, **numbers}


def devices() -> list[Device]:
    """The machine's GPUs, and the interpreter. Emulators, one for each target, are not listed."""
    made = Handle("tessera_device_list_destroy")
    call("tessera_device_list_create", context(), made.out)
    lib = library()
    count = lib.tessera_device_list_count(made.pointer)
    return [Device(lib.tessera_device_list_info(made.pointer, i).contents.spec.decode()) for i in range(count)]


def as_device(device: Device | str | None) -> Device:
    """The device itself, or the one of that spec."""
    return device if isinstance(device, Device) else Device(device)


# ---- arguments ----

_FLOATS = {"f32": "<f", "f64": "<d", "f16": "<e"}


def scalar_bytes(value: Any, type_name: str) -> bytes:
    """A number in the representation of a kernel's argument type.

    Raises:
        UsageError: arguments of the type cannot be passed as numbers.
    """
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, (int, float)):
        raise UsageError(f"a number of type {type_name} is needed, not {type(value).__name__}")
    try:
        return _packed(value, type_name)
    except (OverflowError, struct.error) as e:
        raise UsageError(f"{value} is not a value of type {type_name}: {e}") from None


def _packed(value: float, type_name: str) -> bytes:
    if type_name in _FLOATS:
        return struct.pack(_FLOATS[type_name], value)
    if type_name == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        if value == value:  # round to nearest even; a NaN stays one
            bits += 0x7FFF + (bits >> 16 & 1)
        return struct.pack("<H", bits >> 16 & 0xFFFF)
    if type_name == "i1":
        return bytes([bool(value)])
    width = type_name[1:]
    if type_name[:1] not in "iu" or not width.isdigit():
        raise UsageError(f"an argument of type {type_name} cannot be passed as a number")
    values = 1 << int(width)
    if value != value or value != int(value) or not -values // 2 <= value < values:
        raise UsageError(f"{value} is not a value of type {type_name}")
    return (int(value) % values).to_bytes(int(width) // 8, "little")


class _Arguments:
    """The arguments of one launch, and what must live until it has run."""

    def __init__(self, device: Device, parameters: list[dict[str, Any]], given: Sequence[Any]):
        self.device = device
        self.keep: list[Any] = []
        self.buffers: dict[int, tuple[Buffer, Memory]] = {}  # by the storage's address
        self.made: list[Argument] = []
        types = _types_of_given(parameters, given)
        # Once for each: the memory of a read-only buffer is a copy, another one for each call.
        memories = [memory_of(x.base if isinstance(x, TensorDescriptor) else x) for x in given]
        self._collect(memories)
        for i, (x, m) in enumerate(zip(given, memories)):
            self.made.append(self._argument(x, m, types[i] if i < len(types) else None, i))
        self.array = (Argument * max(len(self.made), 1))(*self.made)

    def _collect(self, memories: Sequence[Memory | None]) -> None:
        """One buffer for each storage of host memory, also where storages overlap."""
        spans = []
        for i, m in enumerate(memories):
            if m is not None and not m.storage and m.storage_bytes:
                raise UsageError(f"argument {i} has a shape and no memory, as torch's meta and fake tensors")
            if m is not None and not m.on_gpu and m.storage_bytes:
                spans.append((m.storage, m.storage + m.storage_bytes, m))
        spans.sort(key=lambda s: s[0])
        self.storages: list[Memory] = []
        for begin, end, m in spans:
            last = self.storages[-1] if self.storages else None
            if last is not None and begin < last.storage + last.storage_bytes:
                last.storage_bytes = max(last.storage_bytes, end - last.storage)
                last.readonly = last.readonly and m.readonly
                self.keep.append(m.owner)
            else:
                self.storages.append(Memory(begin, begin, end - begin, readonly=m.readonly, owner=m.owner))

    def _buffer(self, m: Memory) -> tuple[Buffer, int]:
        for s in self.storages:
            if s.storage <= m.address <= s.storage + s.storage_bytes and m.storage >= s.storage:
                if s.storage not in self.buffers:
                    buffer = Buffer(self.device, s.storage_bytes)
                    buffer.write(s.storage, s.storage_bytes)
                    for at, size in _uninitialised.ranges(s.storage, s.storage_bytes):
                        buffer.undefine(at, size)
                    self.buffers[s.storage] = (buffer, s)
                return self.buffers[s.storage][0], m.address - s.storage
        empty = Buffer(self.device, 0)
        self.keep.append(empty)
        return empty, 0

    def _argument(self, x: Any, m: Memory | None, type_name: str | None, index: int) -> Argument:
        if isinstance(x, TensorDescriptor):
            if type_name is not None and not type_name.startswith("tensordesc"):
                raise UsageError(f"argument {index} is {type_name}, not a tensor descriptor")
            return self._descriptor(x, m)
        if isinstance(x, Buffer):
            return Argument(x.pointer, 0, None, 0)
        is_pointer = type_name is None or type_name.startswith("*")
        if m is not None and type_name is not None:
            _check_elements(x, m, type_name, index)
        if m is not None and not m.on_gpu:
            buffer, offset = self._buffer(m)
            return Argument(buffer.pointer, offset, None, 0)
        if m is not None:
            if self.device.on_host:
                raise UsageError(f"argument {index} is in the memory of a GPU; {self.device.spec} needs the host's")
            return self._value(struct.pack("<Q", m.address))
        if x is None and is_pointer:
            return self._value(bytes(8))
        if is_pointer:
            if not hasattr(x, "__index__"):
                wanted = "an array" if type_name is None else f"an array for {type_name}"
                raise UsageError(f"argument {index} must be {wanted}, or an address, not {type(x).__name__}")
            return self._value(struct.pack("<Q", integer(f"argument {index}, an address,", x, 0, (1 << 64) - 1)))
        try:
            return self._value(scalar_bytes(x, type_name))
        except UsageError as e:
            raise UsageError(f"argument {index}: {e}") from None

    def _value(self, data: bytes) -> Argument:
        held = (c_char * len(data)).from_buffer_copy(data)
        self.keep.append(held)
        return Argument(None, 0, ctypes.addressof(held), len(data))

    def _descriptor(self, x: TensorDescriptor, m: Memory | None) -> Argument:
        d = DescriptorStruct()
        library().tessera_tensor_descriptor_init(byref(d), ctypes.sizeof(d))
        if m is None:
            raise UsageError("the base of a tensor descriptor must be an array")
        try:
            d.element_type = element_type(x.base).encode()
        except TypeError as e:
            raise UsageError(f"the base of a tensor descriptor: {e}") from None
        d.rank = len(x.shape)
        for name in ("shape", "strides", "block_shape"):
            setattr(d, name, (c_int64 * 5)(*getattr(x, name)))
        d.nan_padding = x.padding == "nan"
        self.keep.append(d)
        if m.on_gpu:
            d.address = m.address
            return Argument(None, 0, ctypes.addressof(d), ctypes.sizeof(d))
        buffer, offset = self._buffer(m)
        return Argument(buffer.pointer, offset, ctypes.addressof(d), ctypes.sizeof(d))

    def copy_back(self) -> None:
        """Raises:
        UsageError: the kernel has written to an array that is read-only; all arrays keep their contents.
        """
        for buffer, s in self.buffers.values():
            if not s.readonly:
                continue
            after = (c_char * s.storage_bytes)()
            buffer.read(ctypes.addressof(after), s.storage_bytes)
            if after.raw != ctypes.string_at(s.storage, s.storage_bytes):
                raise UsageError("the kernel writes to an array that is read-only")
        for buffer, s in self.buffers.values():
            if not s.readonly:
                buffer.read(s.storage, s.storage_bytes)


_ELEMENT_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "i1": 1}


def _check_elements(x: Any, m: Memory, type_name: str, index: int) -> None:
    """Raises:
    UsageError: the array's elements have another size than the kernel's (single bytes may be anything), or are none
        that a kernel can compute with.
    """
    if not type_name.startswith("*"):
        raise UsageError(f"argument {index} must be a number of type {type_name}, not an array")
    if m.typestr.startswith(">"):
        raise UsageError(f"argument {index} has big-endian elements ('{m.typestr}'); kernels read little-endian ones")
    if m.typestr[1:2] in ("O", "U"):
        raise UsageError(f"argument {index} has elements of numpy's type '{m.typestr}', which kernels do not have")
    size = getattr(x, "itemsize", None)
    wanted = _ELEMENT_BYTES.get(type_name[1:])
    if isinstance(size, int) and wanted and size not in (1, wanted):
        raise UsageError(f"argument {index} has elements of {size} bytes, but the kernel takes {type_name}")


def _types_of_given(parameters: list[dict[str, Any]], given: Sequence[Any]) -> list[str]:
    """For each given argument the type of the parameter that takes it: a descriptor may be several parameters."""
    types, at = [], 0
    for x in given:
        if at >= len(parameters):
            break
        is_expanded = isinstance(x, TensorDescriptor) and "descriptor" in parameters[at]
        types.append(parameters[at]["descriptor" if is_expanded else "type"])
        at += 2 + 2 * len(x.shape) if is_expanded else 1
    return types


def as_grid(grid: int | Sequence[int]) -> Any:
    """Blocks in x, y and z."""
    if isinstance(grid, (str, Mapping, Set)):
        raise UsageError(f"a grid is a number, or a tuple of 1 to 3 numbers, not {type(grid).__name__}")
    try:
        sizes = tuple(grid)  # type: ignore[arg-type]
    except TypeError:
        sizes = (grid,)
    if not 1 <= len(sizes) <= 3:
        raise UsageError(f"a grid has 1 to 3 numbers, not {len(sizes)}")
    checked = [integer("a size of the grid", n) for n in sizes]
    for n in checked:
        if not 0 <= n < 1 << 32:  # what fits is checked by the library, which knows the device
            raise UsageError(f"a size of the grid must be from 1 to {(1 << 31) - 1}, not {n}")
    return (c_uint32 * 3)(*checked, *([1] * (3 - len(checked))))


class LoadedKernel:
    """A kernel on a device.

        kernel = tessera.Device("emulator:gfx942").compile(text, num_warps=4)
        kernel[(4,)](x, y, out, 1000)

    Arguments are those of the function in the text: arrays (memory of the host is copied to the device and back, memory
    of a GPU is used in place), numbers, `TensorDescriptor`, `Buffer`, None (a null pointer).
    """

    def __init__(self, device: Device):
        self.device = device
        self._handle = Handle("tessera_kernel_destroy")
        self._metadata: dict[str, Any] | None = None

    @property
    def metadata(self) -> dict[str, Any]:
        """As `Kernel.metadata`; on the interpreter only the kernel's name and arguments."""
        if self._metadata is None:
            self._metadata = json.loads(library().tessera_kernel_metadata(self._handle.pointer))
        return self._metadata

    @property
    def name(self) -> str:
        return self.metadata["kernel"]

    def launch(self, grid: int | Sequence[int], *arguments: Any) -> list[str]:
        """Runs the kernel and waits for it; returns the lines that it printed (interpreter and emulators).

        Raises:
            UsageError: the arguments are not those that the kernel takes.
            FailedError: interpreter or emulator found a fault in the kernel (`diagnostics` has its place), or the
                driver failed. Arrays keep their contents.
            KeyboardInterrupt, or what another handler of signals raises: on interpreter and emulators the launch is
                ended at once.
        """
        a = _Arguments(self.device, self.metadata["args"], arguments)
        found = self._call("tessera_launch", as_grid(grid), a.array, len(a.made))
        a.copy_back()
        return [d.message for d in found if d.severity == "remark"]

    def time(self, grid: int | Sequence[int], *arguments: Any, repetitions: int = 100) -> tuple[float, float]:
        """Median and minimum of the time of a launch, in milliseconds. Arrays keep their contents, except on GPUs."""
        a, times = _Arguments(self.device, self.metadata["args"], arguments), Times()
        repeat = integer("the number of repetitions", repetitions, 1, (1 << 31) - 1)
        self._call("tessera_time", as_grid(grid), a.array, len(a.made), repeat, byref(times))
        return times.median_ms, times.min_ms

    def _call(self, name: str, *arguments: Any) -> list[Diagnostic]:
        if self.device.on_host:
            return call_interruptibly(self._handle.pointer, name, *arguments)
        return call(name, self._handle.pointer, *arguments)

    def __getitem__(self, grid: int | Sequence[int]) -> Any:
        return lambda *arguments: self.launch(grid, *arguments)


def run(
    kernel: str | bytes | os.PathLike[str] | Kernel,
    grid: int | Sequence[int],
    /,  # so that `kernel` is free as an option
    *arguments: Any,
    device: Device | str | None = None,
    file_name: str | None = None,
    **options: Any,
) -> list[str]:
    """Compiles a kernel for a device, launches it and waits; arrays of the host have its results afterwards.

        tessera.run("vecadd.ttir", (4,), x, y, out, 1000, device="emulator:gfx942")

    Args:
        kernel: text or path as of `tessera.compile`, or a compiled kernel.
        grid: blocks in x, y and z.
        arguments: see `LoadedKernel`.
        device: a device or its spec; None: the machine's first GPU, else the interpreter.
        options: as of `tessera.compile`; none for a compiled kernel.

    Returns:
        The lines that the kernel printed, on interpreter and emulators.
    """
    target = as_device(device)
    if not isinstance(kernel, Kernel):
        return target.compile(kernel, file_name=file_name, **options).launch(grid, *arguments)
    if options:
        raise UsageError(f"the kernel is compiled already: it takes no options ({', '.join(options)})")
    return target.load(kernel).launch(grid, *arguments)


__all__ = ["Buffer", "Device", "LoadedKernel", "TensorDescriptor", "as_device", "devices", "run"]
