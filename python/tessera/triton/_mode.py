"""The mode that `TESSERA_TRITON` names, and what is being emulated."""

from __future__ import annotations

import functools
import os
import warnings

MODES = ("0", "1", "strict", "verify")


def mode() -> str:
    """ "0", "1", "strict" or "verify"."""
    given = os.environ.get("TESSERA_TRITON", "1").strip().lower()
    given = {"": "1", "off": "0", "on": "1", "true": "1", "false": "0"}.get(given, given)
    if given not in MODES:
        warn_once(f"TESSERA_TRITON is '{given}'; it can be {', '.join(MODES)}; 1 is taken")
        return "1"
    return given


@functools.cache
def warn_once(text: str) -> None:
    warnings.warn(f"tessera: {text}", stacklevel=3)


class _Emulation:
    """The device that kernels are compiled for instead of a GPU: "emulator:gfx942", "interpreter"; None: none."""

    spec: str | None = None
    assertions = False  # device_assert is compiled into kernels without debug=True, too


emulation = _Emulation()
