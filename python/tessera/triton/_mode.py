"""The mode that `TESSERA_TRITON` names, what is being emulated, and the end of emulations that nobody left."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import os
import threading
import warnings
import weakref
from collections.abc import Generator
from typing import Any, Callable

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


# The bodies of blocks in the order of their making, each with its thread.
_bodies: dict[int, tuple[weakref.ref[Generator[Any, None, None]], threading.Thread]] = {}
_numbers = itertools.count()


def left_at_exit(body: Callable[..., Any]) -> Callable[..., Any]:
    """For what contextlib.contextmanager decorates: blocks that were entered by hand are left while the process ends.
    Python would do so after its modules are gone, when Triton and torch cannot be restored."""

    @functools.wraps(body)
    def start(*args: Any, **kwargs: Any) -> Any:
        made, number = body(*args, **kwargs), next(_numbers)
        _bodies[number] = weakref.ref(made, lambda _: _bodies.pop(number, None)), threading.current_thread()
        return made

    return start


@atexit.register
def _leave_all() -> None:
    for ref, thread in reversed(list(_bodies.values())):
        made, is_own = ref(), thread is threading.current_thread()
        # Threads that still run keep theirs: Python never unwinds their stacks. What a thread that ended had to itself,
        # such as torch's modes, ended with it.
        if made is not None and (is_own or not thread.is_alive()):
            with contextlib.suppress(*() if is_own else (Exception,)):
                made.close()
