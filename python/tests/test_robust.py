"""What users do wrong, and what machines lack: a clear error of Python, or a warning, and never a crash."""

import os
import subprocess
import sys
import threading

import pytest

import tessera

np = pytest.importorskip("numpy")


def run(code, *, fails=False, **environment):
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )
    assert (made.returncode != 0) == fails, made.stdout + made.stderr
    return made.stdout + made.stderr


# ---- arguments ----


def x(dtype="f4"):
    return np.ones(256, dtype)


@pytest.mark.parametrize(
    "change, says",
    [
        ({3: object()}, "argument 3: a number of type i32 is needed, not object"),
        ({3: "100"}, "a number of type i32 is needed, not str"),
        ({3: None}, "not NoneType"),
        ({3: 1.5}, "1.5 is not a value of type i32"),
        ({3: float("nan")}, "nan is not a value"),
        ({0: [1.0]}, "argument 0 must be an array for *f32, or an address, not list"),
        ({0: np.ones(256)}, "argument 0 has elements of 8 bytes, but the kernel takes *f32"),
        ({3: np.ones(4)}, "argument 3 must be a number of type i32, not an array"),
    ],
)
def test_arguments(vecadd, change, says):
    given = [x(), x(), x(), 256]
    for i, value in change.items():
        given[i] = value
    with pytest.raises(tessera.UsageError) as caught:
        tessera.run(vecadd, 1, *given, device="interpreter")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "grid, says",
    [
        ("a", "a grid is a number, or a tuple of 1 to 3 numbers, not str"),
        ({4: 1}, "a grid is a number, or a tuple of 1 to 3 numbers, not dict"),
        ({4}, "not set"),
        (-1, "a size of the grid must be from 1 to 2147483647, not -1"),
        ((4, 0), "the grid (4, 0, 1) is empty"),
        ((1 << 40,), "must be from 1 to 2147483647, not 1099511627776"),
        (1.5, "a size of the grid must be an integer, not float"),
        (None, "not NoneType"),
        ((), "a grid has 1 to 3 numbers, not 0"),
        ((1, 2, 3, 4), "a grid has 1 to 3 numbers, not 4"),
    ],
)
def test_grids(vecadd, grid, says):
    with pytest.raises(tessera.UsageError) as caught:
        tessera.run(vecadd, grid, x(), x(), x(), 256, device="interpreter")
    assert says in str(caught.value)


def test_compile_options(vecadd):
    for wrong in ({"target": 90}, {"num_warps": "4"}, {"num_warps": 1 << 40}, {"kernel": 1}, {"stage": 1}):
        with pytest.raises(tessera.UsageError):
            tessera.compile(vecadd, **{"target": "sm_90a", **wrong})
    with pytest.raises(tessera.UsageError, match="num_stages must be an integer of 32 bits, not 1099511627776"):
        tessera.compile(vecadd, "sm_90a", num_stages=1 << 40)
    with pytest.raises(tessera.UsageError, match="num_stages must be a whole number from 0 to 100, not -1"):
        tessera.compile(vecadd, "sm_90a", num_stages=-1)
    with pytest.raises(tessera.UsageError, match="a target is needed: sm_80, "):
        tessera.compile(vecadd, None)
    for text in (None, 3):
        with pytest.raises(tessera.UsageError):
            tessera.compile(text, "sm_90a")
    with pytest.raises(tessera.UsageError):
        tessera.layout(None, None)
    with pytest.raises(tessera.UsageError):
        tessera.Device(3)


@pytest.mark.parametrize("device", ["interpreter", "emulator:gfx942"])
def test_arrays(vecadd, device):
    out = x()
    out.flags.writeable = False
    with pytest.raises(tessera.UsageError, match="read-only"):
        tessera.run(vecadd, 1, x(), x(), out, 256, device=device)
    assert (out == 1).all()
    wide = np.ones((256, 2), "f4")  # the kernel knows nothing of its strides
    o = x()
    tessera.run(vecadd, 1, wide[:, 0], x(), o, 256, device=device)
    assert (o == 2).all()
    empty = np.zeros(0, "f4")
    tessera.run(vecadd, 1, empty, empty, empty, 0, device=device)
    with pytest.raises(tessera.FailedError, match="out of bounds"):
        tessera.run(vecadd, 1, empty, x(), x(), 256, device=device)


def test_arrays_of_triton():
    pytest.importorskip("triton")
    from tessera.triton import HostArray, emulate

    for dtype in (">f4", "c8", "O", "U1", "g"):
        with pytest.raises(tessera.UsageError, match="take no arrays of type"):
            HostArray(np.zeros(4, dtype))
    for wrong in (None, 3, "x", [1.0], b"1234", np.float32(1), HostArray(np.zeros(4))):
        with pytest.raises(tessera.UsageError, match="an array of numpy is needed"):
            HostArray(wrong)
    for dtype in ("bfloat16", "int8", "float8_e5m2", "float64", "bool"):
        with pytest.raises(tessera.UsageError, match="elements of 4 bytes are none of type"):
            HostArray(np.zeros(4, "f4"), dtype)
    for target in (None, 3, "sm_1"):
        with pytest.raises(tessera.UsageError), emulate(target):
            pass


# ---- the library ----


def test_missing_library():
    said = run("import tessera; tessera.version()", fails=True, TESSERA_LIBRARY="/no/libtessera.so")
    assert "FailedError" in said and "cannot load the library of tessera" in said and "TESSERA_LIBRARY" in said


def test_other_libraries(tmp_path):
    import ctypes.util

    said = run("import tessera; tessera.version()", fails=True, TESSERA_LIBRARY=ctypes.util.find_library("c"))
    assert "is a library of another version of tessera: it lacks" in said
    text = tmp_path / "libtessera.so"
    text.write_text("no library")
    assert "cannot load the library" in run("import tessera; tessera.version()", fails=True, TESSERA_LIBRARY=str(text))


def test_triton_without_the_library(tmp_path):
    """The plug-in steps back with a warning: a program that Triton compiles must run."""
    pytest.importorskip("triton")
    code = (
        "import sys; sys.path.insert(0, %r)\nimport test_triton as t, triton\n"
        "print(triton.compile(t.source(), target=t.H100).asm['cubin'][:4])" % os.path.dirname(__file__)
    )
    no_library = tmp_path / "no_library.so"
    no_library.write_text("no library")
    for path in ("/no/libtessera.so", str(tmp_path), str(no_library)):
        cache = str(tmp_path / "cache")
        said = run(code, TESSERA_LIBRARY=path, TRITON_CACHE_DIR=cache)
        assert "ELF" in said and "tessera" in said and "Triton's own compiler" in said
    run(code, fails=True, TESSERA_LIBRARY=path, TRITON_CACHE_DIR=cache, TESSERA_TRITON="strict")


def test_tools_in_the_environment(monkeypatch):
    """An empty variable is none, and a name need not be UTF-8, in which Triton's cache keys are hashed."""
    pytest.importorskip("triton")
    from tessera.triton import _tools

    for name in ("TESSERA_PTXAS", "TESSERA_LIBDEVICE"):
        monkeypatch.setattr(_tools, "_configured", False)
        monkeypatch.setenv(name, "")
        assert f"{os.path.basename(os.environ[name])}:" in _tools.describe()
        assert os.path.isfile(os.environ[name])
        monkeypatch.setenv(name, "/no/name-\udcff")
        assert "name-\\udcff:0" in _tools.describe()
        _tools.describe().encode()


def test_unknown_mode():
    pytest.importorskip("triton")
    said = run("import triton", TESSERA_TRITON="fast")
    assert said.count("TESSERA_TRITON is 'fast'; it can be 0, 1, strict, verify; 1 is taken") == 1


def test_old_triton(monkeypatch):
    pytest.importorskip("triton")
    import importlib.metadata

    from tessera.triton import _wrap, emulate

    real = importlib.metadata.version
    assert _wrap.too_old() == ""
    for version in ("3.5.1", "3.5.1+git1234", "2.1.0"):
        monkeypatch.setattr(importlib.metadata, "version", lambda p, v=version: v if p == "triton" else real(p))
        assert _wrap.too_old() == version
        with pytest.warns(UserWarning, match="is too old, 3.6 or later is needed: its own compiler is used"):
            _wrap.install()
        with pytest.raises(tessera.UsageError, match="needs Triton 3.6"), emulate("sm_90a"):
            pass
    monkeypatch.setattr(importlib.metadata, "version", lambda p: "3.10.0")
    assert _wrap.too_old() == ""


# ---- processes, threads, files ----

EMULATE = """
import numpy as np, sys, os, threading
sys.path.insert(0, %r)
import planted
from tessera.triton import emulate
def launch(n=64):
    o = np.zeros(1, "i4")
    planted.count[(n,)](o, True)
    assert o[0] == n
""" % os.path.dirname(__file__)


def test_fork_after_use():
    pytest.importorskip("triton")
    code = EMULATE + (
        "with emulate('gfx942'):\n    launch(3)\n    child = os.fork()\n    if child == 0:\n        launch(5)\n"
        "        os._exit(0)\n    assert os.waitpid(child, 0)[1] == 0\n    launch(4)\n"
    )
    run(code)


def test_threads_compile_and_emulate_at_once(tmp_path):
    pytest.importorskip("triton")
    code = EMULATE + (
        "failed = []\n"
        "def work(i):\n    try:\n        for n in (2, 3, 4): launch(n + i)\n"
        "    except BaseException as e: failed.append(e)\n"
        "with emulate('sm_90a'):\n    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]\n"
        "    [t.start() for t in threads]\n    [t.join() for t in threads]\nassert not failed, failed\n"
    )
    run(code, TRITON_CACHE_DIR=str(tmp_path))


def test_threads_share_a_device(vecadd):
    device, failed = tessera.Device("emulator:gfx942"), []

    def work():
        try:
            o = x()
            device.compile(vecadd)[(1,)](x(), x(), o, 256)
            assert (o == 2).all()
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed


def test_cache_that_cannot_be_written(tmp_path):
    """An error of Triton's, as without tessera: the folder is named."""
    pytest.importorskip("triton")
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = run(EMULATE + "with emulate('sm_90a'): launch()", fails=True, TRITON_CACHE_DIR=str(blocked / "cache"))
    assert str(blocked) in said
