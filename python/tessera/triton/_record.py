"""What was compiled in this process, by whom, how long it took, and why not by tessera."""

from __future__ import annotations

import atexit
import functools
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Record:
    """One compilation."""

    name: str  #: of the kernel
    target: str  #: "sm_90a", "gfx942"
    compiled_by: str  #: "tessera 0.2.0", or "triton (reason)"
    milliseconds: float  #: of tessera's compilation; with a refusal, of the attempt

    @property
    def by_tessera(self) -> bool:
        return self.compiled_by.startswith("tessera")

    @property
    def reason(self) -> str:
        """Why it was not compiled by tessera; "" if it was."""
        return "" if self.by_tessera else self.compiled_by.partition("(")[2].removesuffix(")")


_records: list[Record] = []
_verified: list[tuple[str, str]] = []  # kernel, and how its results differed from Triton's
_awaited: dict[str, tuple[str, str]] = {}  # kernels that verify mode waits for: hash -> name, and what it knows of them
_lock = threading.Lock()


def add(record: Record) -> None:
    with _lock:
        _at_exit()
        _records.append(record)


@functools.cache
def _at_exit() -> None:
    if os.environ.get("TESSERA_TRITON_SUMMARY", "0") not in ("", "0"):
        atexit.register(lambda: print(summary(), file=sys.stderr))


def records() -> list[Record]:
    """The compilations of this process, in their order; kernels found in Triton's cache are not among them."""
    with _lock:
        return list(_records)


def verified(key: str, name: str, problem: str) -> None:
    """Notes that a kernel's first launch was compared with Triton's; `problem` "": they agree."""
    with _lock:
        _verified.append((name, problem))
        _awaited.pop(key, None)


def awaited(key: str, name: str, reason: str = "no launch by Triton's launcher") -> None:
    """Notes that verify mode has a kernel whose launch it has not compared so far, and why."""
    with _lock:
        _at_exit()
        _awaited[key] = (name, reason)


def summary(of: Iterable[Record] | None = None) -> str:
    """A few lines: how many kernels were compiled by whom, how long it took, and the reasons of what was not ours."""
    made = records() if of is None else list(of)
    ours = [r for r in made if r.by_tessera]
    total = sum(r.milliseconds for r in made)
    took = f" in {total / 1e3:.2f} s" if total else ""  # Triton's cache has no times of Triton's own kernels
    lines = [f"tessera: compiled {len(ours)} of {len(made)} kernels{took}"]
    reasons = Counter(r.reason for r in made if not r.by_tessera)
    for reason, count in reasons.most_common():
        names = sorted({r.name for r in made if r.reason == reason})
        shown = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
        lines.append(f"  {count} by Triton: {reason} ({shown})")
    if of is None and _verified:
        wrong = [(name, problem) for name, problem in _verified if problem]
        lines.append(f"  verified {len(_verified) - len(wrong)} of {len(_verified)} kernels against Triton's")
        lines += [f"    {name}: {problem}" for name, problem in wrong]
    if of is None and _awaited:
        lines.append(
            f"  not verified: {len(_awaited)} kernels (launches by Inductor's static launcher, and those that are "
            "captured into CUDA graphs, are not seen)"
        )
        for why in sorted({reason for _, reason in _awaited.values()}):
            names = sorted({name for name, reason in _awaited.values() if reason == why})
            lines.append(f"    {why}: {', '.join(names[:8])}{', ...' if len(names) > 8 else ''}")
    return "\n".join(lines)
