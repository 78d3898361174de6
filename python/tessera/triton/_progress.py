"""Progress on a terminal: a line of stderr that is overwritten; nothing where stderr is no terminal."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

_SECONDS = 0.2  # between two changes of the line
_PATIENCE = 1.0  # seconds before anything is shown
_installing = threading.Lock()


class Line:
    """One line for all threads. What is done quickly never shows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._shown_at = 0.0
        self._is_shown = False

    def show(self, text: str) -> None:
        if not is_on():
            return
        now = time.monotonic()
        with self._lock:
            if now - self._begun < _PATIENCE or now - self._shown_at < _SECONDS:
                return
            self._shown_at, self._is_shown = now, True
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\x1b[2K" + text[:width])
            sys.stderr.flush()

    def clear(self) -> None:
        with self._lock:
            if self._is_shown and is_on():
                sys.stderr.write("\r\x1b[2K")
                sys.stderr.flush()
            self._is_shown, self._begun = False, time.monotonic()


def is_on() -> bool:
    """Whether stderr is a terminal that can overwrite a line. TESSERA_TRITON_PROGRESS=0 turns it off."""
    if os.environ.get("TESSERA_TRITON_PROGRESS") == "0" or os.environ.get("TERM") == "dumb":
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # replaced or closed
        return False


@contextlib.contextmanager
def launch_progress(driver: Any) -> Iterator[None]:
    """Shows how many launches an emulation has made, and the kernel that runs."""
    line = Line()
    driver.on_launch = lambda name: line.show(f"{driver.spec}: {driver.launches} launches, running {name}")
    try:
        yield
    finally:
        driver.on_launch = None
        line.clear()


# ---- the autotuner's candidates ----


class _Tuning:
    """One search of an autotuner: `nargs`, which it makes anew for each, distinguishes it from others."""

    def __init__(self, tuner: Any, configs: int):
        self.nargs, self.configs, self.done, self.line = tuner.nargs, configs, 0, Line()
        self.name = getattr(getattr(tuner, "base_fn", None), "__name__", "kernel")
        atexit.register(self.line.clear)


def _tuning_of(tuner: Any, configs: int | None = None) -> _Tuning:
    found = tuner.__dict__.get("_tessera_tuning")
    if found is None or found.nargs is not tuner.nargs or configs is not None:
        found = tuner._tessera_tuning = _Tuning(tuner, configs or len(tuner.configs))
    return found


def _bench(original: Any) -> Any:
    def _bench(self: Any, *args: Any, **kwargs: Any) -> Any:
        tuning = _tuning_of(self)
        tuning.done += 1
        at = f"candidate {min(tuning.done, tuning.configs)} of {tuning.configs}"
        tuning.line.show(f"tessera: autotuning {tuning.name}: {at}")
        try:
            return original(self, *args, **kwargs)
        finally:
            if tuning.done >= tuning.configs:
                tuning.line.clear()

    _bench.__wrapped__ = original  # type: ignore[attr-defined]
    return _bench


def _prune(original: Any) -> Any:
    def prune_configs(self: Any, *args: Any, **kwargs: Any) -> Any:
        left = original(self, *args, **kwargs)
        if hasattr(left, "__len__"):
            _tuning_of(self, len(left))
        return left

    return prune_configs


def install() -> None:
    """Wraps Triton's autotuner, once; only where stderr is a terminal, since nothing is shown elsewhere."""
    if not is_on():
        return
    from triton.runtime.autotuner import Autotuner

    with _installing:
        if not hasattr(Autotuner._bench, "__wrapped__"):
            Autotuner._bench, Autotuner.prune_configs = _bench(Autotuner._bench), _prune(Autotuner.prune_configs)


__all__ = ["Line", "install", "is_on", "launch_progress"]
