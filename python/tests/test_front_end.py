"""Triton's front end and cache with what the plug-in replaces of them: the same results. Needs Triton, no GPU."""

import gc
import inspect
import json
import os
import subprocess
import sys
import warnings

import pytest

triton = pytest.importorskip("triton")

import triton.language as tl  # noqa: E402
from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource, code_generator  # noqa: E402
from triton.compiler.errors import CompilationError  # noqa: E402
from triton.runtime.cache import FileCacheManager  # noqa: E402

from tessera.triton import _front_end  # noqa: E402

H100 = GPUTarget("cuda", 90, 32)
INSTALLED = triton.__version__.startswith("3.6.")  # the functions that this version has are known


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path / "cache"))
    _front_end.install()


@triton.jit
def second(pair):
    return pair[1]


@triton.jit
def sums(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    for k in tl.static_range(3):
        v += second((k, tl.sum(v.to(tl.float32)[None, :], 1)))
    tl.store(y + i, tl.where(v > 0, v, tl.exp(v)), mask=i < n)


def source(fn=sums):
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}
    return ASTSource(fn, signature, constexprs={(3,): 256}, attrs={(0,): [["tt.divisibility", 16]]})


COMPILE = """
import json, sys
sys.path.insert(0, {folder!r})
import triton, test_front_end as t
asm = triton.compile(t.source(), target=t.H100).asm
print(json.dumps([asm["source"], asm["ttir"]]))
"""


def test_ttir_is_tritons(tmp_path):
    """With locations, names and all."""
    code = COMPILE.format(folder=os.path.dirname(os.path.abspath(__file__)))

    def texts(mode):
        environment = {**os.environ, "TESSERA_TRITON": mode, "TRITON_CACHE_DIR": str(tmp_path / mode)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    triton_own, ours = texts("0"), texts("strict")
    assert triton_own == ours and "arith.addf" in ours[1]


@pytest.mark.skipif(not INSTALLED, reason="another version's functions are left alone")
def test_what_is_known_is_replaced():
    assert isinstance(code_generator.warnings, _front_end._Warnings)
    assert FileCacheManager.put is _front_end._put
    assert tl.core.tuple_type.__init__ is _front_end._tuple_type_init


def test_what_is_not_known_stays():
    def known(self):
        return self.path

    def another(self):
        os.fsync(0)
        return self.path

    assert _front_end._uses(known, "path") and not _front_end._uses(another, "path")
    assert not _front_end._uses(len, "path")


# ---- warnings ----


def test_filters_of_warnings_are_set_once_and_restored():
    known = _front_end._Warnings(warnings)
    before = list(warnings.filters)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(KeyError), known.catch_warnings():
            known.simplefilter("ignore", DeprecationWarning)
            outside = list(warnings.filters)
            with known.catch_warnings():
                known.simplefilter("ignore", PendingDeprecationWarning)
                assert list(warnings.filters) == outside
            known.warn("old", DeprecationWarning)
            raise KeyError
        known.warn("still old", DeprecationWarning)
    assert [str(w.message) for w in seen] == ["still old"]
    assert list(warnings.filters) == before


# ---- signatures and types ----


def test_signatures_of_functions_are_kept_and_those_of_methods_are_not():
    kept = _front_end._Inspect(inspect)
    assert kept.signature(tl.where) == inspect.signature(tl.where)
    assert kept.signature(tl.where) is kept.signature(tl.where)
    method = source().make_ir
    assert kept.signature(method) == inspect.signature(method)
    assert kept.signature(method) is not kept.signature(method)
    assert kept.getcallargs is inspect.getcallargs


def test_names_of_tuple_types():
    pair = tl.core.tuple_type([tl.int32, tl.core.tuple_type([tl.float32])], ["a", "b"])
    inner = "[:fp32]" if INSTALLED else str(pair.types[1])  # later versions leave the colon out
    assert pair.name == str(pair) == f"[a:int32,b:{inner}]"
    assert pair == tl.core.tuple_type([tl.int32, tl.core.tuple_type([tl.float32])], ["a", "b"])
    assert pair != tl.core.tuple_type([tl.int32, tl.float32], ["a", "b"])


# ---- garbage ----


@triton.jit
def fails(x, y, n, B: tl.constexpr):
    tl.static_assert(B == 1)


@pytest.mark.parametrize("fn", [sums, fails])
def test_thresholds_of_the_collector_are_restored(fn):
    before = gc.get_threshold()
    try:
        triton.compile(source(fn), target=H100)
        assert fn is sums
    except CompilationError:
        assert fn is fails
    assert gc.get_threshold() == before


def test_thresholds_that_somebody_sets_are_kept():
    before = gc.get_threshold()
    try:
        gc.set_threshold(0)  # no collections
        with _front_end._rare_collections:
            assert gc.get_threshold()[0] == 0
        gc.set_threshold(700, 11, 12)
        with _front_end._rare_collections:
            with _front_end._rare_collections:
                assert gc.get_threshold() == (_front_end._rare_collections.OBJECTS, 11, 12)
            assert gc.get_threshold()[0] == _front_end._rare_collections.OBJECTS
        assert gc.get_threshold() == (700, 11, 12)
        with _front_end._rare_collections:
            gc.set_threshold(5, 6, 7)
        assert gc.get_threshold() == (5, 6, 7)
    finally:
        gc.set_threshold(*before)


# ---- files and texts ----


class Module:
    """As Triton's: passes change it in place."""

    text = "first"
    prints = 0

    def __str__(self):
        self.prints += 1
        return self.text


def test_files_are_whole_and_alone(tmp_path):
    manager = FileCacheManager("abc")
    paths = [manager.put("text ä", "k.json", binary=False), manager.put(b"\0\xff", "k.cubin")]
    paths.append(manager.put("again", "k.json"))
    assert open(paths[1], "rb").read() == b"\0\xff" and open(paths[2]).read() == "again" and paths[0] == paths[2]
    assert sorted(os.listdir(manager.cache_dir)) == ["k.cubin", "k.json"]


def test_ttir_is_printed_once_and_never_from_before_a_pass():
    manager = FileCacheManager("abc")
    module, other = Module(), Module()
    manager.put(module, "k.source")
    module.text = "second"
    assert _front_end.text_of(module) == "second"  # no file was written after the passes
    manager.put(module, "k.ttir")
    prints = module.prints
    assert _front_end.text_of(other) == "first"
    manager.put(module, "k.ttir")
    is_replaced = FileCacheManager.put is _front_end._put
    assert _front_end.text_of(module) == "second" and module.prints == prints + (1 if is_replaced else 2)
    module.text = "third"
    assert _front_end.text_of(module) == "third"  # a text is used once
    manager.put(module, "k.ttir")
    manager.put(other, "k.ttgir")
    module.text = "fourth"
    assert _front_end.text_of(module) == "fourth"


def test_code_is_the_same_if_only_binaries_are_stored(monkeypatch):
    """Then no TTIR is printed after Triton's passes."""
    monkeypatch.setattr(knobs.compilation, "always_compile", True)
    whole = triton.compile(source(), target=H100).asm["cubin"]
    monkeypatch.setattr(knobs.compilation, "store_binary_only", True)
    assert triton.compile(source(), target=H100).asm["cubin"] == whole
