"""Wraps three functions of Triton: `add_stages` and `hash` of its back ends, and `triton_key`.

Runs while `import triton` discovers back ends, before anything else can have taken the functions by name (torch takes
`triton_key`). It imports only what Triton's own back ends import at that time. The library of tessera is loaded by
the first compilation.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import warnings
from typing import Any, Callable

from . import _triton_build
from ._mode import emulation, mode, warn_once

_BACKENDS = (("triton.backends.nvidia.compiler", "CUDABackend"), ("triton.backends.amd.compiler", "HIPBackend"))


OLDEST = (3, 6)  # before it, stages and launchers take other things


def too_old() -> str:
    """The version of Triton if it is older than what the plug-in knows, else "". Packages name it: the module does not
    know it while it is being imported."""
    import importlib.metadata

    for package in _triton_build.PACKAGES:
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        numbers = [int(n) for n in re.findall(r"\d+", version)[:2]]
        return version if len(numbers) == 2 and tuple(numbers) < OLDEST else ""
    return ""


def install(always: bool = False) -> None:
    """Wraps what of Triton is there; a second call does nothing. `always`: also with TESSERA_TRITON=0.

    A version of Triton that is too old is left alone, with a warning.
    """
    if mode() == "0" and not always:
        return
    if version := too_old():
        warn_once(f"Triton {version} is too old, {OLDEST[0]}.{OLDEST[1]} or later is needed: its own compiler is used")
        return
    for module_name, class_name in _BACKENDS:
        try:
            backend = getattr(importlib.import_module(module_name), class_name)
        except (ImportError, AttributeError):
            continue  # a Triton that was built without it
        if not hasattr(backend.add_stages, "__wrapped__"):
            backend.add_stages = _wrap_add_stages(backend.add_stages)
            backend.hash = _wrap_hash(backend.hash)
    try:
        cache = importlib.import_module("triton.runtime.cache")
        if not hasattr(cache.triton_key, "tessera"):
            cache.triton_key = _wrap_triton_key(cache.triton_key)
    except (ImportError, AttributeError):
        warnings.warn("tessera: this version of Triton has no triton.runtime.cache.triton_key; 3.6 or later is needed")


def is_active() -> bool:
    return emulation.spec is not None or (mode() != "0" and _has_library())


def _has_library() -> bool:
    """Whether the library's file is there; else Triton compiles, with a warning. In strict mode that is an error later.
    Keys of caches name the library: it must be known before anything is compiled."""
    from .._library import library_path

    path = library_path()
    if mode() == "strict" or (os.path.isfile(path) and os.access(path, os.R_OK)):
        return True
    warn_once(f"{path} is missing or cannot be read: Triton's own compiler is used")
    return False


def key() -> str:
    """Names this compiler in Triton's cache keys: its build, the mode, and the tools of the CUDA toolkit."""
    from .._library import build_id
    from ._tools import describe

    return "-".join(["tessera", build_id(), _sources(), emulation.spec or mode(), describe()])


@functools.cache
def _sources() -> str:
    """A hash of the plug-in's own files, which decide on options and metadata."""
    import hashlib
    from pathlib import Path

    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _wrap_add_stages(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def add_stages(self: Any, stages: dict[str, Any], options: Any, *args: Any, **kwargs: Any) -> None:
        original(self, stages, options, *args, **kwargs)
        # Gluon enters at TTGIR, with layouts that the user chose: for a GPU it is Triton's own.
        if is_active() and ("ttir" in stages or emulation.spec is not None):
            from ._stages import replace_stages

            replace_stages(self, stages, options)

    return add_stages


def _wrap_hash(original: Callable[[Any], str]) -> Callable[[Any], str]:
    @functools.wraps(original)
    def backend_hash(self: Any) -> str:
        if not is_active():
            return original(self)
        from . import _autotuner, _front_end

        _autotuner.install()
        _front_end.install()
        if mode() == "verify" and emulation.spec is None:
            # Here, because a kernel that is found in the cache is not compiled.
            from . import _verify

            _verify.install()
        return f"{original(self)}-{key()}"

    return backend_hash


def _wrap_triton_key(original: Callable[[], str]) -> Callable[[], str]:
    @functools.wraps(original)
    def triton_key() -> str:
        if not is_active():
            return original()
        build = _triton_build.stamp() if emulation.spec is not None else _triton_build.contents() or original()
        return f"{build}-{key()}"

    triton_key.tessera = True  # type: ignore[attr-defined]
    return triton_key
