"""Names Triton's build, for cache keys, without reading all of it.

Triton's own key hashes its sources and libtriton.so, 400 MB, in each process: 0.3 s, which is the time of ten small
kernels. pip has recorded the hashes of the files that it installed. Libraries that still have the recorded size and are
not newer than the record are taken from there; sources, a megabyte, are read, since people edit those.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("triton", "pytorch-triton", "pytorch-triton-rocm", "triton-rocm")


def _root() -> Path:
    import triton

    return Path(triton.__file__).parent


def _files(root: Path) -> Iterator[Path]:
    """Triton's sources and libraries, in an order that is the same on all machines."""
    for folder, folders, names in os.walk(root):
        folders.sort()
        yield from (Path(folder, name) for name in sorted(names) if name.endswith((".py", ".so")))


def _recorded_hashes(root: Path) -> dict[Path, str]:
    """Of files below `root`: the hash in the record of the package that has installed them, if they are unchanged."""
    import csv
    import importlib.metadata

    for package in PACKAGES:
        try:
            distribution = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        site = Path(str(distribution.locate_file("")))
        rows = [row for row in csv.reader((distribution.read_text("RECORD") or "").splitlines()) if len(row) == 3]
        record = next((site / name for name, _, _ in rows if name.endswith(".dist-info/RECORD")), None)
        if record is None or site / root.name != root:
            continue
        written = record.stat().st_mtime_ns
        wanted = ((site / name, hashed, size) for name, hashed, size in rows if hashed and name.endswith(".so"))
        return {path: hashed for path, hashed, size in wanted if _is_unchanged(path, int(size), written)}
    return {}


def _is_unchanged(path: Path, size: int, written: int) -> bool:
    about = path.stat()
    return about.st_size == size and about.st_mtime_ns <= written


@functools.cache
def contents() -> str:
    """Names the contents of Triton's sources and libraries, as Triton's own key does: equal on all machines that have
    the same ones. Empty if a library would have to be read."""
    root = _root()
    try:
        recorded = _recorded_hashes(root)
        digest = hashlib.sha256()
        for path in _files(root):
            if path.suffix == ".so" and path not in recorded:
                return ""
            of_file = recorded.get(path) or hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(root)} {of_file}\n".encode())
    except Exception:  # a record that is damaged or cannot be read: Triton's own key does without it
        return ""
    return digest.hexdigest()


@functools.cache
def stamp() -> str:
    """Names Triton's build by its files' sizes and times of change, for caches that are not taken to other machines."""
    digest = hashlib.sha256()
    for path in _files(_root()):
        about = path.stat()
        digest.update(f"{path} {about.st_size} {about.st_mtime_ns}\n".encode())
    return digest.hexdigest()
