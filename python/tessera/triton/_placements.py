"""Where a tensor would be with a GPU: in its memory or in the host's. All tensors are in the host's memory here, and
programs copy between the two all the same: a copy must be one, and a kernel that takes tensors of both is wrong.

It is known of tensors that were made with a device, or without one, and of what was computed from them; not of those
from functions that torch does not show. A device `cpu` that is not a string says nothing, since that is what `x.device`
is of all tensors here.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import Any

_HOST, _GPU = "host", "GPU"

# Functions of torch that make tensors of something else, on the host unless a device is given.
_FACTORIES = (
    "tensor as_tensor asarray from_numpy frombuffer scalar_tensor zeros ones empty full rand randn randint randperm "
    "normal arange linspace logspace eye empty_strided tril_indices triu_indices"
).split()


def _given_device(args: Any, given: Any) -> Any:
    """The device that a call names, or None; for `to`, also by position."""
    device = given.get("device")
    if device is None:
        device = next((a for a in args[1:2] if isinstance(a, (str, int)) or type(a).__name__ == "device"), None)
    return device if type(device) is not bool else None


def is_gpu_device(device: Any) -> bool:
    """Whether the device, as a program names it, is a GPU. "tessera:…" is what the driver's get_current_device()
    returns, where a GPU's returns a number."""
    name = device if isinstance(device, str) else getattr(device, "type", "cuda" if type(device) is int else "")
    return name.split(":")[0] in ("cuda", "tessera")


class Placements:
    """Which tensors are the GPU's and which the host's, by their storages."""

    def __init__(self, torch: Any):
        self._torch = torch
        self._known: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._factories = {getattr(torch, name) for name in _FACTORIES if hasattr(torch, name)}
        self._to = {torch.Tensor.to, torch.Tensor.type_as, torch.Tensor.cuda, torch.Tensor.cpu}

    def _storage(self, x: Any) -> Any:
        try:
            return x.untyped_storage()
        except (RuntimeError, NotImplementedError, TypeError):  # sparse tensors, tensors that are traced
            return None

    def _of(self, x: Any) -> str | None:
        storage = self._storage(x)
        return None if storage is None else self._known.get(storage)

    def is_host(self, x: Any) -> bool:
        return isinstance(x, self._torch.Tensor) and self._of(x) == _HOST

    def is_gpu(self, x: Any) -> bool:
        return isinstance(x, self._torch.Tensor) and self._of(x) == _GPU

    def _tensors(self, values: Any) -> Iterator[Any]:
        for x in values:
            if isinstance(x, self._torch.Tensor):
                yield x
            elif isinstance(x, (list, tuple)):
                yield from self._tensors(x)

    def _note(self, made: Any, where: str) -> None:
        for x in self._tensors((made,)):
            storage = self._storage(x)
            if storage is not None:
                self._known.setdefault(storage, where)

    def _has_default(self) -> bool:
        """Whether the program has set a default device (torch.set_default_device): it may be a GPU's."""
        return getattr(sys.modules.get("torch.utils._device"), "CURRENT_DEVICE", None) is not None

    def moves(self, function: Any) -> bool:
        return function in self._to

    def moved(self, function: Any, args: Any, given: Any, made: Any) -> Any:
        """The result of `x.cuda()`, `x.cpu()` and `x.to(…)`, with memory of its own if it goes to the other side.
        `args`, `given`: as the program gave them."""
        x = args[0]
        device = {self._torch.Tensor.cuda: "cuda", self._torch.Tensor.cpu: "cpu"}.get(function)
        device = device or _given_device(args, given)
        if device is None and any(self.is_gpu(y) for y in (*args[1:], *given.values())):  # x.to(y)
            device = "cuda"
        if device is None:
            self.computed(function, args, given, made)
            return made
        storage = self._storage(x)
        is_alias = storage is not None and self._storage(made) is storage
        was = self._of(x)
        if is_gpu_device(device):
            made = made.clone() if is_alias and was == _HOST else made
            self._note(made, _GPU)
        elif isinstance(device, str):
            made = made.clone() if is_alias and was != _HOST else made
            self._note(made, _HOST)
        elif is_alias and was == _HOST:  # `x.to(y.device)`: y may be the GPU's
            made = made.clone()
        return made

    def computed(self, function: Any, args: Any, given: Any, made: Any) -> None:
        """Notes where the results of any other function are."""
        device = given.get("device")
        if device is not None:
            if is_gpu_device(device):
                self._note(made, _GPU)
            elif isinstance(device, str) and not given.get("pin_memory"):
                self._note(made, _HOST)
            return
        inputs = {self._of(x) for x in self._tensors((*args, *given.values()))}
        if _GPU in inputs:
            self._note(made, _GPU)
        elif inputs == {_HOST} and function is not self._torch.Tensor.pin_memory:
            self._note(made, _HOST)
        elif not inputs and function in self._factories and not given.get("pin_memory") and not self._has_default():
            self._note(made, _HOST)
