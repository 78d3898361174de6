"""Where the memory of an array is: of numpy, torch, and anything that speaks one of the protocols.

Known are objects with `data_ptr()` (torch, and wrappers that have a tensor as an attribute, or say what they span),
`__cuda_array_interface__` (GPU arrays), `__array_interface__` (numpy), `__dlpack__`, and Python's buffers (bytearray,
array.array). Nothing is imported for it.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import Any

from ._errors import UsageError, integer

_ADDRESSES = 1 << 64


@dataclass
class Memory:
    """The memory of an array, and of the storage that it is a view of; addresses and sizes in bytes."""

    address: int
    storage: int  # where the storage begins
    storage_bytes: int
    on_gpu: bool = False
    readonly: bool = False
    owner: Any = None  # keeps the memory alive
    typestr: str = ""  # the elements as numpy's interface spells them, "<f4"; "" of others

    @property
    def offset(self) -> int:
        return self.address - self.storage


def _span(shape: Any, strides: Any, itemsize: int) -> tuple[int, int]:
    """The bytes before and after an array's address that its elements take; strides in bytes, None: contiguous."""
    before, after = 0, itemsize
    if strides is None:
        for n in shape:
            after *= n
        return 0, after
    for n, stride in zip(shape, strides):
        if n == 0:
            return 0, 0
        reach = (n - 1) * stride
        before, after = before + max(0, -reach), after + max(0, reach)
    return before, after


def has_memory(x: Any) -> bool:
    """Whether an array has memory behind its shape. Fake tensors, with which torch.compile and others trace programs,
    have a storage with a size and no address; torch warns if the address is queried."""
    if any(c.__name__ == "FakeTensor" for c in type(x).__mro__):
        return False
    if not hasattr(x, "untyped_storage"):
        return True
    try:
        storage = x.untyped_storage()
        return bool(storage.data_ptr()) or not storage.nbytes()
    except Exception:  # some kinds of tensors refuse the query
        return False


def _of_tensor(x: Any) -> Memory:
    array = getattr(x, "array", None)
    if hasattr(array, "__array_interface__"):  # tessera.triton.HostArray: an array with another type
        return _of_numpy(array)
    if not has_memory(x):
        raise TypeError("it has a shape and no memory, as tensors have while a program is traced")
    address = x.data_ptr()
    device = getattr(getattr(x, "device", None), "type", "cpu")
    if hasattr(x, "untyped_storage"):
        storage = x.untyped_storage()
        return Memory(address, storage.data_ptr(), storage.nbytes(), device != "cpu", owner=x)
    if (inner := _wrapped_memory(x, address)) is not None:
        return Memory(address, inner.storage, inner.storage_bytes, inner.on_gpu, inner.readonly, owner=x)
    before, after = _span_of_tensor(x)
    return Memory(address, address - before, before + after, device != "cpu", owner=x)


_DEEPEST_WRAPPER = 4


def _wrapped_memory(x: Any, address: int, depth: int = _DEEPEST_WRAPPER) -> Memory | None:
    """The memory of the array that a wrapper has as an attribute, such as triton.reinterpret's `base`, if the address
    is in it."""
    attributes = getattr(x, "__dict__", {})
    for each in attributes.values() if depth else ():
        if hasattr(each, "untyped_storage") or hasattr(each, "__array_interface__"):
            m = _memory_of(each)
        elif callable(getattr(each, "data_ptr", None)):
            m = _wrapped_memory(each, address, depth - 1)
        else:
            continue
        if m is not None and m.storage <= address < m.storage + max(m.storage_bytes, 1):
            return m
    return None


def _value_of(x: Any, name: str) -> Any:
    """An attribute, or what it returns if it is a method; None if there is none."""
    value = getattr(x, name, None)
    return value() if callable(value) else value


def _span_of_tensor(x: Any) -> tuple[int, int]:
    """The bytes before and after the address of an object with `data_ptr()` that has no storage: from its shape and
    strides, number of elements, or bytes."""
    itemsize = _value_of(x, "element_size") or _value_of(x, "itemsize") or _bytes_of_type(x)
    shape, strides = _value_of(x, "shape"), _value_of(x, "stride")
    if itemsize and shape is not None:
        return _span(shape, None if strides is None else [s * itemsize for s in strides], itemsize)
    count = _value_of(x, "numel")
    if itemsize and count is not None:
        return 0, count * itemsize
    size = _value_of(x, "nbytes")
    if size is None:
        raise TypeError("it has data_ptr(), and neither nbytes, shape, numel() nor an array as an attribute")
    return 0, size


def _of_numpy(x: Any) -> Memory:
    address, readonly = x.__array_interface__["data"]
    root = x
    while hasattr(getattr(root, "base", None), "__array_interface__"):
        root = root.base
    about = root.__array_interface__
    itemsize = getattr(root, "itemsize", 0) or int(about["typestr"][2:])
    before, after = _span(about["shape"], about.get("strides"), itemsize)
    storage = about["data"][0] - before
    typestr = str(x.__array_interface__["typestr"])
    return Memory(address, storage, before + after, readonly=bool(readonly), owner=x, typestr=typestr)


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_DL_HOST = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost


def _of_dlpack(x: Any) -> Memory:
    capsule = x.__dlpack__()
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    t = ctypes.cast(pointer_of(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    itemsize = max(1, t.bits * t.lanes // 8)
    shape = [t.shape[i] for i in range(t.ndim)]
    strides = [t.strides[i] * itemsize for i in range(t.ndim)] if t.strides else None
    address = (t.data or 0) + t.byte_offset
    before, after = _span(shape, strides, itemsize)
    # The capsule is not consumed: it frees what it holds when it dies.
    return Memory(address, address - before, before + after, t.device_type not in _DL_HOST, owner=(x, capsule))


def _of_buffer(x: Any) -> Memory:
    view = memoryview(x)
    if not view.c_contiguous:
        raise TypeError("a buffer must be contiguous")
    if view.readonly:
        copy = (ctypes.c_char * max(view.nbytes, 1)).from_buffer_copy(view.cast("B").tobytes().ljust(1, b"\0"))
        return Memory(ctypes.addressof(copy), ctypes.addressof(copy), view.nbytes, readonly=True, owner=copy)
    raw = (ctypes.c_char * view.nbytes).from_buffer(view)
    return Memory(ctypes.addressof(raw), ctypes.addressof(raw), view.nbytes, owner=(raw, x))


def memory_of(x: Any) -> Memory | None:
    """The memory of an array; None if the object is none.

    Raises:
        UsageError: an object that has one of the protocols does not say where its memory is.
    """
    try:
        m = _memory_of(x)
    except Exception as e:  # of the object's own code, or for what it returned
        raise UsageError(f"{type(x).__name__} does not say where its memory is: {type(e).__name__}: {e}") from e
    if m is not None:
        for what in ("address", "storage", "storage_bytes"):
            integer(f"the {what} of {type(x).__name__}", getattr(m, what), 0, _ADDRESSES - 1)
        if m.storage + m.storage_bytes > _ADDRESSES:
            raise UsageError(f"{type(x).__name__} says that it has {m.storage_bytes} bytes from {m.storage} on")
    return m


def _memory_of(x: Any) -> Memory | None:
    if callable(getattr(x, "data_ptr", None)):
        return _of_tensor(x)
    gpu = getattr(x, "__cuda_array_interface__", None)
    if gpu is not None:
        before, after = _span(gpu["shape"], gpu.get("strides"), int(gpu["typestr"][2:]))
        address = gpu["data"][0]
        return Memory(address, address - before, before + after, on_gpu=True, owner=x)
    # numpy's scalars have the interface, too, and no memory that a kernel could write to.
    is_scalar = any((c.__module__, c.__name__) == ("numpy", "generic") for c in type(x).__mro__)
    if hasattr(x, "__array_interface__") and not is_scalar:
        return _of_numpy(x)
    if hasattr(x, "__dlpack__"):
        return _of_dlpack(x)
    if isinstance(x, (bytes, bytearray, memoryview)) or type(x).__module__ == "array":
        return _of_buffer(x)
    return None


_DTYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "bool": "i8",
    "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8",
    "float8_e4m3fn": "f8E4M3FN", "float8_e5m2": "f8E5M2",
    "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2fnuz": "f8E5M2FNUZ",
}  # fmt: skip

_TRITON_TYPES = {
    "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2", "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
}  # fmt: skip


def element_type_name(x: Any) -> str:
    """The element type of an array as torch spells it, "float16"; "" if it has none."""
    name = str(getattr(x, "dtype", "")).split(".")[-1]
    return _TRITON_TYPES.get(name, name)


def _bytes_of_type(x: Any) -> int:
    """The bytes of an array's element by the name of its type; 0 if that is unknown."""
    bits = re.search(r"\d+", _DTYPES.get(element_type_name(x), ""))
    return int(bits[0]) // 8 if bits else 0


def element_type(x: Any) -> str:
    """The element type of an array as kernels spell it: "f16", "i8", ...

    Raises:
        TypeError: kernels have no such type.
    """
    name = element_type_name(x)
    if name not in _DTYPES:
        raise TypeError(f"kernels have no elements of type '{name}'")
    return _DTYPES[name]


__all__ = ["Memory", "element_type", "has_memory", "memory_of"]
