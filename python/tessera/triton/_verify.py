"""Verify mode: the first launch of a kernel runs Triton's code, too, and tessera's is kept only if the results agree.

The kernel's files in Triton's cache have one more, `NAME.verify`: what Triton's own stages made, and its metadata, or
why they failed; the summary then says that the kernel was not verified. The first launch needs memory for two more
copies of everything that its arguments are part of. Results whose integers depend on the order of programs (places
that an atomic counter gives) differ from launch to launch, and so from Triton's.

A launch that skips `CompiledKernel.run` (Inductor's static launcher), or one that is captured into a CUDA graph, is not
verified: the summary names the kernels that had no other launch.
"""

from __future__ import annotations

import base64
import json
import threading
import warnings
from collections import namedtuple
from typing import Any, Callable

from . import _record

# The largest difference that another order of additions explains, relative to the largest value of a tensor.
_TOLERANCES = {"float64": 1e-9, "float32": 1e-3, "float16": 1e-2, "bfloat16": 4e-2}
_OTHER_FLOATS = 0.25

_lock = threading.Lock()


# ---- compiling ----


def reference(own: dict[str, Callable[..., Any]], module: Any, metadata: dict[str, Any]) -> str:
    """Compiles the module, which changes, with Triton's own stages; returns the text of the file NAME.verify. It has
    the reason where they fail: there is nothing to compare with."""
    made = dict(metadata)
    made.pop("compiled_by", None)
    try:
        for name in list(own)[list(own).index("ttgir") :]:
            module = own[name](module, made)
    except Exception as e:
        return json.dumps({"failed": f"{type(e).__name__}: {e}"})
    return json.dumps({"metadata": made, "binary": base64.b64encode(module).decode()}, default=vars)


# ---- launching ----


def install() -> None:
    """Makes kernels with such a file verify their first launch; once."""
    from triton.compiler.compiler import CompiledKernel

    with _lock:
        original = CompiledKernel._init_handles
        if hasattr(original, "__wrapped__"):
            return

        construct = CompiledKernel.__init__

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            construct(self, *args, **kwargs)
            if self.asm.get("verify"):
                _record.awaited(self.hash, self.name)

        CompiledKernel.__init__ = __init__

        def _init_handles(self: Any) -> None:
            is_loaded = self.module is not None
            original(self)
            if not is_loaded and self.asm.get("verify"):
                self._run = _Verifier(self)

        _init_handles.__wrapped__ = original  # type: ignore[attr-defined]
        CompiledKernel._init_handles = _init_handles


class _Reference:
    """Triton's kernel, loaded."""

    def __init__(self, kernel: Any):
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend
        from triton.runtime.driver import driver

        made = json.loads(kernel.asm["verify"])
        if "failed" in made:
            raise RuntimeError(f"Triton's own stages fail: {made['failed']}")
        about = made["metadata"]
        target = about["target"]
        about["target"] = GPUTarget(target["backend"], target["arch"], target["warp_size"])
        metadata = namedtuple("KernelMetadata", sorted(about))(**about)
        self.packed = make_backend(metadata.target).pack_metadata(metadata)
        self.run = driver.active.launcher_cls(kernel.src, metadata)
        device = driver.active.get_current_device()
        code = base64.b64decode(made["binary"])
        loaded = driver.active.utils.load_binary(metadata.name, code, metadata.shared, device)
        self.module, self.function = loaded[0], loaded[1]


def _tensors(arguments: Any) -> list[Any]:
    found = []
    for x in arguments:
        if isinstance(x, (tuple, list)):
            found += _tensors(x)
        elif hasattr(x, "base") and hasattr(x, "block_shape"):  # a tensor descriptor
            found += _tensors([x.base])
        elif hasattr(x, "untyped_storage"):
            found.append(x)
        elif hasattr(x, "base") and hasattr(x, "data_ptr"):  # triton.reinterpret
            found.append(_reinterpreted(x))
    return found


def _reinterpreted(x: Any) -> Any:
    """The tensor below triton.reinterpret, with torch's type of the same name where the sizes agree."""
    import torch

    from .._arrays import element_type_name

    dtype = getattr(torch, element_type_name(x), None)
    fits = isinstance(dtype, torch.dtype) and dtype.itemsize == x.base.element_size()
    return x.base.view(dtype) if fits else x.base


def _storages(arguments: Any) -> list[tuple[Any, Any]]:
    """For each storage that the arguments have a tensor of: all of it as one tensor, and as bytes."""
    import torch

    found = {}
    for t in _tensors(arguments):
        storage = t.untyped_storage()
        if storage.nbytes() and storage.data_ptr() not in found:
            as_bytes = torch.empty(0, dtype=torch.uint8, device=t.device).set_(storage)
            whole = as_bytes[: as_bytes.numel() // t.element_size() * t.element_size()]
            found[storage.data_ptr()] = (whole.view(t.dtype), as_bytes)
    return list(found.values())


def difference(ours: Any, theirs: Any) -> str:
    """How two results differ by more than the type's noise; "" if they do not."""
    import torch

    if not (ours.dtype.is_floating_point or ours.dtype.is_complex):
        wrong = int((ours != theirs).sum())
        return f"{wrong} of {ours.numel()} integers differ" if wrong else ""
    wide = torch.float64 if ours.dtype == torch.float64 else torch.float32
    a, b = ours.to(wide), theirs.to(wide)
    finite = torch.isfinite(b)
    same_special = torch.where(torch.isnan(b), torch.isnan(a), a == b)
    wrong = int((~finite & ~same_special).sum()) + int((finite & ~torch.isfinite(a)).sum())
    if wrong:
        return f"{wrong} of {a.numel()} values are infinite or NaN in one of the two"
    if not bool(finite.any()):
        return ""
    scale = float(b[finite].abs().max())
    largest = float((a - b)[finite].abs().max())
    allowed = _TOLERANCES.get(str(ours.dtype).split(".")[-1], _OTHER_FLOATS) * scale
    return f"a difference of {largest:.3g} where the largest value is {scale:.3g}" if largest > allowed else ""


def _is_capturing() -> bool:
    import torch

    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


class _Verifier:
    """A kernel's launcher until its first launch has been verified."""

    def __init__(self, kernel: Any):
        self._kernel, self._run = kernel, kernel._run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)  # what Triton's launchers have as attributes

    def __call__(
        self, x: Any, y: Any, z: Any, stream: Any, function: Any, packed: Any, launch_metadata: Any, enter: Any,
        leave: Any, *arguments: Any,
    ) -> None:  # fmt: skip
        launch = (x, y, z, stream)
        if _is_capturing():
            _record.awaited(self._kernel.hash, self._kernel.name, "captured into a CUDA graph")
            self._run(*launch, function, packed, launch_metadata, enter, leave, *arguments)
            return
        try:
            theirs = _Reference(self._kernel)
        except Exception as e:  # such as OutOfResources: Triton's code cannot run here
            self._run(*launch, function, packed, launch_metadata, enter, leave, *arguments)
            self._kernel._run = self._run
            _note(self._kernel, f"not verified: Triton's code does not load: {e}")
            return
        storages = _storages(arguments)
        before = [as_bytes.clone() for _, as_bytes in storages]
        self._run(*launch, function, packed, launch_metadata, enter, leave, *arguments)
        self._kernel._run = self._run
        ours = [as_bytes.clone() for _, as_bytes in storages]
        for (_, as_bytes), kept in zip(storages, before):
            as_bytes.copy_(kept)
        try:
            theirs.run(*launch, theirs.function, theirs.packed, launch_metadata, None, None, *arguments)
        except Exception as e:  # nothing to compare with: the arguments get our results back
            for (_, as_bytes), made in zip(storages, ours):
                as_bytes.copy_(made)
            _note(self._kernel, f"not verified: the launch of Triton's code fails: {e}")
            return
        differences = []
        for (whole, as_bytes), made in zip(storages, ours):
            mine = made[: whole.numel() * whole.element_size()].view(whole.dtype)
            differences.append(difference(mine, whole))
        found = [f"tensor {i}: {d}" for i, d in enumerate(differences) if d]
        if not found:
            _note(self._kernel, "")
            return
        # The arguments have Triton's results. Later launches read function and metadata from the kernel.
        kernel = self._kernel
        kernel._run, kernel.function, kernel.packed_metadata = theirs.run, theirs.function, theirs.packed
        kernel._tessera_reference = theirs  # keeps its module
        _note(kernel, "; ".join(found))
        warnings.warn(
            f"tessera: kernel '{kernel.name}' gave other results than Triton's ({'; '.join(found)}); Triton's code is "
            "used. Please report this with the file of the kernel's TTIR",
            stacklevel=2,
        )


def _note(kernel: Any, problem: str) -> None:
    _record.verified(kernel.hash, kernel.name, problem)


__all__ = ["difference", "install", "reference"]
