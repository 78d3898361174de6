"""The tools that compilations use: Triton's own ptxas and device libraries, and the libnvJitLink of pip's packages.

Set in the environment, which the library reads, unless the user has: what Triton's stages would use is what fits the
driver, and a machine without a CUDA toolkit needs nothing else.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from pathlib import Path

_lock = threading.Lock()
_configured = False


# Where pip's packages of NVIDIA have it: nvidia-nvjitlink for all tools of CUDA 13, nvidia-nvjitlink-cu12 alone.
_NVJITLINK = ("cu13/lib", "nvjitlink/lib")


def _nvjitlink() -> Path | None:
    """The library of the package that PyTorch brings, with the version that it was built for."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return None
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = (path for below in _NVJITLINK for f in folders for path in sorted(Path(f, below).glob("libnvJitLink.so.*")))
    return next(found, None)


def _ptxas() -> str | None:
    from triton import knobs

    try:
        return knobs.nvidia.ptxas.path
    except Exception:  # not found; what it raises differs between versions
        return None


def configure() -> None:
    """Names the tools in the environment, once. Other threads wait: what they compile must find them."""
    global _configured
    with _lock:
        if _configured:
            return
        import triton.backends

        root = Path(triton.backends.__file__).parent
        found = {
            "TESSERA_PTXAS": _ptxas(),
            "TESSERA_NVJITLINK": _nvjitlink(),
            "TESSERA_LIBDEVICE": root / "nvidia" / "lib" / "libdevice.10.bc",
            "TESSERA_DEVICE_LIBS": root / "amd" / "lib" / "ocml.bc",
        }
        for name, path in found.items():
            if path is not None and os.path.isfile(path) and not os.environ.get(name):
                os.environ[name] = str(path)
        _configured = True


def describe() -> str:
    """The tools, for cache keys: names and sizes, which are the same on all machines with the same packages."""
    configure()
    parts = []
    for name in ("TESSERA_PTXAS", "TESSERA_NVJITLINK", "TESSERA_LIBDEVICE", "TESSERA_DEVICE_LIBS"):
        path = os.environ.get(name, "")
        size = os.path.getsize(path) if os.path.isfile(path) else 0
        name_in_utf8 = os.path.basename(path).encode(errors="backslashreplace").decode()
        parts.append(f"{name_in_utf8}:{size}")
    return "|".join(parts)
