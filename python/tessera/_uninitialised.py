"""Memory of the host that nothing has written: marked by a pattern that arrays have from their allocation on.

While `marked` is active, `numpy.empty`, `torch.empty` and their relatives fill what they return with a pattern of four
bytes (a NaN in all float formats of 16 bits and more). What still holds it at a launch was never written: emulators
and interpreter then report a kernel that reads it. Copies of such memory hold the pattern, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator
from typing import Any, Callable

from ._arrays import has_memory, memory_of

_PATTERN = b"\xb5\x7f\xd6\xff"  # f16 and bf16: 0x7fb5, 0xffd6; f32: 0xffd67fb5
_is_active = False


def fill(x: Any) -> Any:
    """Fills the memory of a new array with the pattern; returns the array. Tensors without memory, with which compilers
    trace programs, are left alone."""
    if not has_memory(x):
        return x
    m = memory_of(x)
    if m is not None and not m.on_gpu and m.storage_bytes:
        data = _PATTERN * (m.storage_bytes // 4 + 1)
        ctypes.memmove(m.storage, data, m.storage_bytes)
    return x


def ranges(address: int, nbytes: int) -> list[tuple[int, int]]:
    """Offset and size of the pieces of this memory that were never written; none while nothing is marked."""
    if not _is_active or nbytes < 4:
        return []
    data = ctypes.string_at(address, nbytes)
    found: list[tuple[int, int]] = []
    at = data.find(_PATTERN)
    while at >= 0:
        if at % 4:  # not at a multiple of four: values that look like it
            at = data.find(_PATTERN, at + 1)
            continue
        end = _end_of_run(data, at)
        found.append((at, end - at))
        at = data.find(_PATTERN, end)
    if found and sum(found[-1]) == nbytes - nbytes % 4 and data.endswith(_PATTERN[: nbytes % 4]):
        found[-1] = (found[-1][0], nbytes - found[-1][0])
    return found


def _end_of_run(data: bytes, at: int) -> int:
    """Where the run of patterns ends that begins at `at`: compared in steps that double."""
    size = 4
    while size >= 4:
        if data[at : at + size] == _PATTERN * (size // 4):
            at += size
            size *= 2
        else:
            size //= 2
    return at


def _filling(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def allocate(*args: Any, **kwargs: Any) -> Any:
        return fill(function(*args, **kwargs))

    return allocate


def torch_functions() -> list[Any]:
    """Functions of torch whose results nothing has written."""
    import torch

    return [torch.empty, torch.empty_like, torch.empty_strided, torch.Tensor.new_empty, torch.Tensor.new_empty_strided]


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """Marks what numpy allocates; torch's functions are called by whoever watches torch (triton/_check.py)."""
    global _is_active
    before = []
    if "numpy" in sys.modules or _has_numpy():
        import numpy

        before = [(numpy, name, getattr(numpy, name)) for name in ("empty", "empty_like")]
    was_active, _is_active = _is_active, True
    try:
        for module, name, function in before:
            setattr(module, name, _filling(function))
        yield
    finally:
        _is_active = was_active
        for module, name, function in before:
            setattr(module, name, function)


def _has_numpy() -> bool:
    import importlib.util

    return importlib.util.find_spec("numpy") is not None


__all__ = ["fill", "marked", "ranges", "torch_functions"]
