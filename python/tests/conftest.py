"""The library of a build, and the plug-in as if the wheel were installed.

TESSERA_LIBRARY names the library; else it is that of the installed wheel, or of ./build. Where the distribution
tessera-gpu is not installed, its entry point is made in a temporary folder.
"""

import importlib.metadata
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests" / "kernels"


def _prepare():
    paths = []
    try:
        importlib.metadata.distribution("tessera-gpu")
    except importlib.metadata.PackageNotFoundError:
        folder = Path(tempfile.mkdtemp(prefix="tessera-tests-"))
        about = folder / "tessera_gpu-0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tessera-gpu\nVersion: 0\n")
        points = "[triton.backends]\ntessera = tessera.triton\n[pytest11]\ntessera-check = tessera.triton._pytest\n"
        (about / "entry_points.txt").write_text(points)
        paths = [str(ROOT / "python"), str(folder)]
        built = ROOT / "build" / "capi" / "libtessera.so"
        if built.exists():
            os.environ.setdefault("TESSERA_LIBRARY", str(built))
    sys.path[:0] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # Triton makes and removes a folder for each file
    cache = tempfile.mkdtemp(prefix="tessera-tests-cache-", dir=memory)
    os.environ["TRITON_CACHE_DIR"] = cache
    os.environ.pop("TESSERA_TRITON", None)
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns on stderr where it is unset
    return [*paths[1:], cache]


_folders = _prepare()


def pytest_sessionfinish():
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def vecadd():
    """The text of a kernel o[i] = x[i] + y[i] for i < n, 256 elements per block: arguments x, y, o, n."""
    return (KERNELS / "vecadd" / "vecadd.ttir").read_text()
