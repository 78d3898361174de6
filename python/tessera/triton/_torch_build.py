"""What torch says it was built for: programs take `torch.version.hip` for the vendor of the device.

While an AMD target is emulated it is what a PyTorch for ROCm says, and what one for CUDA says for the others.
"""

from __future__ import annotations

import sys
from typing import Any

_OF_VENDOR = {
    "hip": {"cuda": None, "hip": "7.1.25424", "rocm": "7.1.1"},
    "cuda": {"cuda": "13.0", "hip": None, "rocm": None},
}
_before: dict[str, Any] = {}


def show(vendor: str | None) -> None:
    """`vendor`: "cuda" or "hip" as in Triton's targets; None: what torch was built for. Does nothing before torch is
    imported."""
    version = getattr(sys.modules.get("torch"), "version", None)
    if version is None:
        return
    for name, value in _before.items():
        setattr(version, name, value)
    _before.clear()
    if vendor is None or bool(getattr(version, "hip", None)) == (vendor == "hip") and getattr(version, vendor, None):
        return  # it was built for this vendor: its own versions
    for name, value in _OF_VENDOR[vendor].items():
        if hasattr(version, name):  # older ones have no `rocm`
            _before[name] = getattr(version, name)
            setattr(version, name, value)
