"""Progress on a terminal: a line of stderr that is overwritten; nothing where stderr is no terminal."""

from __future__ import annotations

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


__all__ = ["Line", "is_on", "launch_progress"]
