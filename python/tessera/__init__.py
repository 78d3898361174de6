"""Tessera: a compiler for Triton's tile IR, for NVIDIA and AMD GPUs, and emulators of both.

    import tessera

    kernel = tessera.compile(open("k.ttir").read(), target="gfx942")
    print(kernel.asm["amdgcn"], kernel.metadata["registers"])
    tessera.run("k.ttir", (4,), x, y, n, device="emulator:gfx942")  # arrays of numpy, torch, ...

Importing the package loads nothing else: the library is loaded by the first call that needs it. Neither torch, numpy,
triton nor a compiler is needed. `tessera.triton` is the plug-in for Triton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._lazy import names_of

if TYPE_CHECKING:
    from ._device import Buffer, Device, LoadedKernel, TensorDescriptor, devices, run
    from ._errors import Diagnostic, Error, FailedError, InputError, UsageError
    from ._kernel import Kernel, compile
    from ._layout import Layout, layout
    from ._library import library_path, targets, version

# Imported when they are first used, since `import triton` imports this package.
__getattr__, __all__ = names_of(
    __name__,
    {
        "_device": ("Buffer", "Device", "LoadedKernel", "TensorDescriptor", "devices", "run"),
        "_errors": ("Diagnostic", "Error", "FailedError", "InputError", "UsageError"),
        "_kernel": ("Kernel", "compile"),
        "_layout": ("Layout", "layout"),
        "_library": ("library_path", "targets", "version"),
    },
)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
