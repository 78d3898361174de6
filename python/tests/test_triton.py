"""The plug-in: stages, metadata, fallback, cache keys, threads. Needs Triton, no GPU."""

import importlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

triton = pytest.importorskip("triton")

import triton.language as tl  # noqa: E402
from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402

import tessera  # noqa: E402
import tessera.triton  # noqa: E402
from tessera.triton import _tools  # noqa: E402

H100, MI300 = GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)
TARGETS = [H100, GPUTarget("cuda", 80, 32), MI300, GPUTarget("hip", "gfx1100", 32)]


@triton.jit
def exponential(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.exp(tl.load(x + i, mask=i < n)), mask=i < n)


@triton.jit
def hinted(x, y):
    i = tl.arange(0, 256)
    tl.store(y + i, tl.load(x + i, cache_modifier=".cg"), cache_modifier=".wt", eviction_policy="evict_first")


@triton.jit
def dot(a, b, c, K, B: tl.constexpr):
    r = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        acc = tl.dot(tl.load(a + r[:, None] * K + r[None, :] + k), tl.load(b + (r[:, None] + k) * B + r[None, :]), acc)
    tl.store(c + r[:, None] * B + r[None, :], acc)


@triton.jit
def described(d, o, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(o + r[:, None] * B + r[None, :], d.load([0, B]))


@triton.jit
def describes(x, o, n, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [n, B], [B, 1], [B, B])
    r = tl.arange(0, B)
    tl.store(o + r[:, None] * B + r[None, :], d.load([0, 0]))


@triton.jit
def prints(x, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    tl.device_print("value", v)
    tl.device_assert(v > 0, "negative")


def source(fn=exponential, **constants):
    if fn is exponential:
        return ASTSource(fn, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"B": 1024, **constants})
    return ASTSource(fn, {"a": "*fp16", "b": "*fp16", "c": "*fp32", "K": "i32"}, {"B": 64, **constants})


@pytest.fixture
def mode(monkeypatch):
    return lambda value: monkeypatch.setenv("TESSERA_TRITON", value)


@pytest.fixture(autouse=True)
def fresh_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path))


def run(code, **environment):
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


# ---- tools ----


@pytest.mark.parametrize("folder", ["cu13", "nvjitlink"])
def test_nvjitlink_of_pips_packages(monkeypatch, tmp_path, folder):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    assert _tools._nvjitlink() is None
    library = tmp_path / "nvidia" / folder / "lib" / "libnvJitLink.so.13"
    library.parent.mkdir(parents=True)
    library.touch()
    importlib.invalidate_caches()
    assert _tools._nvjitlink() == library


# ---- what is compiled ----


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: str(t.arch))
@pytest.mark.parametrize("fn", [exponential, dot])
def test_all_stages_are_ours(target, fn):
    kernel = triton.compile(source(fn), target=target, options={"num_warps": 4})
    assembly, binary = ("ptx", "cubin") if target.backend == "cuda" else ("amdgcn", "hsaco")
    assert kernel.metadata.compiled_by == f"tessera {tessera.version()}"
    assert {"ttir", "ttgir", "llir", assembly, binary} <= set(kernel.asm)
    assert isinstance(kernel.asm[binary], bytes) and kernel.asm[binary][:4] == b"\x7fELF"
    assert "ttg.num-warps" in kernel.asm["ttgir"] and "define" in kernel.asm["llir"]
    assert kernel.metadata.name == fn.__name__ and fn.__name__ in kernel.asm[assembly]
    assert kernel.metadata.shared > 0 or fn is exponential
    assert kernel.packed_metadata[0] == kernel.metadata.num_warps
    # Profilers show lines of Python: the file is in the assembly.
    assert os.path.basename(__file__) in kernel.asm[assembly]


def test_is_found_in_the_cache():
    first = triton.compile(source(), target=H100)
    count = len(tessera.triton.records())
    second = triton.compile(source(), target=H100)
    assert len(tessera.triton.records()) == count
    assert second.asm["cubin"] == first.asm["cubin"] and second.metadata == first.metadata


def test_tensor_descriptors():
    src = ASTSource(described, {"d": "tensordesc<fp16[64,64]>", "o": "*fp16"}, {"B": 64})
    on_hopper = triton.compile(src, target=H100)
    assert on_hopper.metadata.compiled_by.startswith("tessera")
    assert len(on_hopper.metadata.tensordesc_meta) == 1
    about = on_hopper.metadata.tensordesc_meta[0]
    assert about is None or {"swizzle", "elem_size", "elem_type", "block_size", "fp4_padded"} <= set(about)
    assert triton.compile(src, target=MI300).metadata.compiled_by.startswith("tessera")


@pytest.mark.parametrize("rounds", [False, True])
def test_descriptors_that_are_passed_in_parts(monkeypatch, rounds):
    """Triton 3.7 passes one part more than our code takes."""
    from tessera import _kernel
    from tessera.triton import _stages

    real = _kernel.compile

    def expand(*args, **options):
        kernel = real(*args, **options)
        kernel.metadata["args"][0]["descriptor"] = "tensordesc<f16[64, 64]>"
        return kernel

    monkeypatch.setattr(_kernel, "compile", expand)
    monkeypatch.setattr(_stages, "_passes_rounding", lambda: rounds)
    kernel = triton.compile(source(), target=H100)
    assert kernel.metadata.compiled_by.startswith("triton (the parts" if rounds else "tessera")


def by_both(src, target, mode, **options):
    """The kernel as Triton compiles it, and as tessera does."""
    made = []
    for value in "01":
        mode(value)
        made.append(triton.compile(src, target=target, options=options))
    assert not hasattr(made[0].metadata, "compiled_by") and made[1].metadata.compiled_by.startswith("tessera")
    return made


SURROUNDED = {
    "exponential": (source(), {}),
    "dot": (source(dot), {"num_warps": 8, "num_stages": 2}),
    "described": (ASTSource(described, {"d": "tensordesc<fp16[64,64]>", "o": "*fp16"}, {"B": 64}), {}),
    "describes": (ASTSource(describes, {"x": "*fp16", "o": "*fp16", "n": "i32"}, {"B": 64}), {}),
    "prints": (ASTSource(prints, {"x": "*i32"}, {"B": 128}), {"debug": True}),
}


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: str(t.arch))
@pytest.mark.parametrize("name", SURROUNDED)
def test_everything_that_triton_leaves_is_there(target, name, mode):
    """Launchers, Inductor, Proton and users' hooks read metadata and texts: names and types are those of Triton."""
    src, options = SURROUNDED[name]
    theirs, ours = by_both(src, target, mode, **options)
    expected, made = theirs.metadata._asdict(), ours.metadata._asdict()
    assert set(made) - set(expected) <= {"compiled_by", "compile_ms", "global_scratch_size", "global_scratch_align"}
    for key, value in expected.items():
        assert type(made[key]) is type(value), f"{key} is {made[key]!r}, and {value!r} with Triton"
    decided_by_compilers = {"hash", "shared", "num_warps", "tensordesc_meta", "global_scratch_size",
                            "global_scratch_align"}  # fmt: skip
    assert {k: v for k, v in expected.items() if k not in decided_by_compilers} == {
        k: made[k] for k in expected if k not in decided_by_compilers
    }
    assert list(ours.asm) == list(theirs.asm)
    assert [type(text) for text in ours.asm.values()] == [type(text) for text in theirs.asm.values()]
    assert len(ours.packed_metadata) == len(theirs.packed_metadata)
    if target is H100:
        entries = zip(made["tensordesc_meta"], expected["tensordesc_meta"])
        assert all(set(b) - set(a) <= {"is_im2col"} for a, b in entries)  # false without it


@pytest.mark.parametrize("target", [H100, MI300], ids=lambda t: str(t.arch))
def test_launchers_find_what_they_read(target):
    """Launchers cannot be made without a driver: what their constructors read is taken from their text."""
    import importlib
    import inspect
    import re

    vendor, name = ("nvidia", "CudaLauncher") if target is H100 else ("amd", "HIPLauncher")
    launcher = getattr(importlib.import_module(f"triton.backends.{vendor}.driver"), name)
    read = set(re.findall(r"\bmetadata\.(\w+)", inspect.getsource(launcher.__init__)))
    assert len(read) >= 2
    metadata = triton.compile(source(), target=target).metadata
    assert not [field for field in read if not hasattr(metadata, field)]


def test_remote_caches(monkeypatch, tmp_path):
    from triton.runtime.cache import RemoteCacheBackend, RemoteCacheManager

    kept = {}

    class Kept(RemoteCacheBackend):
        def __init__(self, key):
            self.key = key

        def get(self, filenames):
            return {f: kept[self.key, f] for f in filenames if (self.key, f) in kept}

        def put(self, filename, data):
            kept[self.key, filename] = data

    monkeypatch.setattr(knobs.cache, "manager_class", RemoteCacheManager)
    monkeypatch.setattr(knobs.cache, "remote_manager_class", Kept)
    first = triton.compile(source(), target=H100)
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path / "another"))
    count = len(tessera.triton.records())
    second = triton.compile(source(), target=H100)
    assert kept and len(tessera.triton.records()) == count
    assert second.asm["cubin"] == first.asm["cubin"] and second.asm["ttgir"] == first.asm["ttgir"]


# ---- what is left to Triton ----


@pytest.mark.parametrize(
    "target, options, why",
    [
        (H100, {"num_ctas": 2}, "num_ctas = 2"),
        (H100, {"maxnreg": 257}, "maxnreg = 257"),
        (H100, {"ptx_options": "-O1"}, "ptx_options"),
        (H100, {"enable_reflect_ftz": False}, "enable_reflect_ftz"),
        (GPUTarget("cuda", 75, 32), {}, "sm75 is unknown"),
    ],
)
def test_options_that_are_not_honoured(target, options, why):
    kernel = triton.compile(source(), target=target, options=options)
    assert kernel.metadata.compiled_by.startswith("triton (") and why in kernel.metadata.compiled_by
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    record = tessera.triton.records()[-1]
    assert not record.by_tessera and why in record.reason and record.name == "exponential"


def test_attributes_of_llvm_are_left_to_triton():
    if not hasattr(make_backend(MI300).parse_options({}), "llvm_fn_attrs"):
        pytest.skip("an option of Triton 3.9")
    kernel = triton.compile(source(), target=MI300, options={"llvm_fn_attrs": "amdgpu-waves-per-eu=1"})
    assert "llvm_fn_attrs" in kernel.metadata.compiled_by and kernel.asm["hsaco"][:4] == b"\x7fELF"


def test_the_least_shared_memory_is_honoured():
    if not hasattr(make_backend(H100).parse_options({}), "min_shared_mem"):
        pytest.skip("an option of Triton 3.9")
    kernel = triton.compile(source(), target=H100, options={"min_shared_mem": 4096})
    assert kernel.metadata.compiled_by.startswith("tessera") and kernel.metadata.shared == 4096


def test_cache_modifiers_are_read():
    hints = ASTSource(hinted, signature={"x": "*fp32", "y": "*fp32"})
    ttgir = triton.compile(hints, target=H100).asm["ttgir"]
    assert "cacheModifier = cg" in ttgir and "cacheModifier = wt evictionPolicy = evict_first" in ttgir


def test_a_bound_on_registers_is_honoured():
    kernel = triton.compile(source(), target=H100, options={"maxnreg": 64})
    assert kernel.metadata.compiled_by.startswith("tessera") and kernel.metadata.maxnreg == 64
    assert ".maxnreg 64" in kernel.asm["ptx"] and "ttg.maxnreg = 64" in kernel.asm["ttgir"]


def test_lines_of_the_source_can_be_left_out(monkeypatch):
    from tessera.triton._stages import compile_options

    options = make_backend(H100).parse_options({})
    assert compile_options(options)["line_info"]
    monkeypatch.setattr(knobs.compilation, "disable_line_info", False)  # libtriton reads the variable all the same
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    assert not compile_options(options)["line_info"]


def test_hooks_of_stages_are_left_alone(monkeypatch):
    seen = []
    monkeypatch.setattr(
        knobs.runtime,
        "add_stages_inspection_hook",
        lambda *args: seen.append(args) or ("key", "hash") if not args else seen.append(args),
        raising=False,
    )
    kernel = triton.compile(source(), target=H100, options={"num_warps": 2})
    assert "hook" in kernel.metadata.compiled_by and seen


def test_a_refusal_falls_back_once(monkeypatch, mode):
    from tessera import _kernel

    calls = []

    def refuse(*args, **options):
        calls.append(options)
        raise tessera.InputError("k.ttir:1:1: error: no", "this is refused", ())

    monkeypatch.setattr(_kernel, "compile", refuse)
    kernel = triton.compile(source(), target=MI300)
    assert kernel.metadata.compiled_by == "triton (this is refused)" and len(calls) == 1
    assert kernel.asm["hsaco"][:4] == b"\x7fELF"
    mode("strict")
    with pytest.raises(tessera.InputError):
        triton.compile(source(B=512), target=MI300)


def test_strict_mode_refuses_options(mode):
    mode("strict")
    with pytest.raises(tessera.UsageError, match="num_ctas"):
        triton.compile(source(), target=H100, options={"num_ctas": 2})
    assert triton.compile(source(), target=H100).metadata.compiled_by.startswith("tessera")


def test_too_much_shared_memory_is_what_the_autotuner_forgives(monkeypatch, mode):
    from triton.runtime.errors import OutOfResources

    from tessera.triton import _stages

    message = "kernel 'k' needs 300000 bytes of shared memory, but a block on sm_90a has 232448"
    e = _stages.refusal(tessera.InputError(message, message))
    assert isinstance(e, OutOfResources) and (e.required, e.limit) == (300000, 232448)
    message = "32 warps of 64 threads are 2048 threads per block, but gfx942 allows 1024"
    e = _stages.refusal(tessera.UsageError(message, message))
    assert isinstance(e, OutOfResources) and (e.required, e.limit, e.name) == (2048, 1024, "threads")
    other = tessera.InputError("something else")
    assert _stages.refusal(other) is other


def test_sources_that_are_not_ttir(tmp_path):
    ttgir = triton.compile(source(), target=H100, options={"num_ctas": 2}).asm["ttgir"]
    path = tmp_path / "k.ttgir"
    path.write_text(ttgir)
    kernel = triton.compile(str(path), target=H100)
    assert kernel.metadata.compiled_by == "triton (the source is not TTIR)"
    ttir = tmp_path / "k.ttir"
    ttir.write_text(triton.compile(source(), target=H100).asm["ttir"])
    assert triton.compile(str(ttir), target=H100).metadata.compiled_by.startswith("tessera")


def test_gluon_passes_through():
    gluon = pytest.importorskip("triton.experimental.gluon")
    from triton.experimental.gluon import language as gl

    source_text = (
        "from triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n"
        "@gluon.jit\ndef k(x):\n    l: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"
        "    gl.store(x + gl.arange(0, 128, l), gl.full([128], 1.0, gl.float32, l))\n"
    )
    assert gluon and gl
    import importlib.util
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as f:
        f.write(source_text)
    spec = importlib.util.spec_from_file_location("gluon_kernel", f.name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from triton.experimental.gluon._runtime import GluonASTSource

    kernel = triton.compile(GluonASTSource(module.k, {"x": "*fp32"}, {}), target=H100)
    assert not hasattr(kernel.metadata, "compiled_by") or kernel.metadata.compiled_by.startswith("triton")
    assert kernel.asm["cubin"][:4] == b"\x7fELF"


# ---- modes, keys, process ----

KEYS = """
import json, sys, triton
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend
from triton.runtime.cache import triton_key
hashes = [make_backend(t).hash() for t in (GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64))]
print(json.dumps([triton_key(), *hashes]))
"""


def test_cache_keys_name_build_and_mode():
    """Neither compiler gets the other's objects, from Triton's cache or from Inductor's graph cache."""
    off, on, strict = (json.loads(run(KEYS, TESSERA_TRITON=m)) for m in ("0", "1", "strict"))
    for a, b, c in zip(off, on, strict):
        assert "tessera" not in a and "tessera" in b
        assert len({a, b, c}) == 3
    assert all(b.startswith(a) for a, b in zip(off[1:], on[1:]))


def test_tritons_build_is_named_without_reading_its_library(monkeypatch, tmp_path):
    import base64
    import hashlib

    from tessera.triton import _triton_build

    root, record = tmp_path / "triton", tmp_path / "triton-3.6.0.dist-info" / "RECORD"
    source, library = root / "compiler" / "code.py", root / "_C" / "libtriton.so"
    for path, text in ((source, "x = 1"), (library, "code"), (record, "")):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (record.parent / "METADATA").write_text("Metadata-Version: 2.1\nName: triton\nVersion: 3.6.0\n")

    def install(library_text):
        library.write_text(library_text)
        hashed = base64.urlsafe_b64encode(hashlib.sha256(library_text.encode()).digest()).decode().rstrip("=")
        record.write_text(
            f"triton/compiler/code.py,sha256=x,5\n"
            f"triton/_C/libtriton.so,sha256={hashed},{len(library_text)}\n"
            f"triton-3.6.0.dist-info/RECORD,,\n"
        )

    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(_triton_build, "_root", lambda: root)
    name = _triton_build.contents.__wrapped__
    install("code")
    names = [name()]
    install("edoc")  # another build of the same size
    names.append(name())
    source.write_text("x = 2")
    names.append(name())
    (root / "compiler" / "more.py").write_text("")
    names.append(name())
    assert "" not in names and len(set(names)) == 4
    source.write_text("x = 1")
    (root / "compiler" / "more.py").unlink()
    assert name() == names[1]

    # The library is not what was installed, or nobody knows: Triton's own key reads it.
    written = record.stat().st_mtime_ns
    os.utime(library, ns=(written + 1, written + 1))
    assert name() == ""
    os.utime(library, ns=(written, written))
    assert name() == names[1]
    library.write_text("longer code")
    os.utime(library, ns=(written, written))
    assert name() == ""
    install("edoc")
    (root / "_C" / "other.so").write_text("unknown")
    assert name() == ""
    (root / "_C" / "other.so").unlink()
    assert name() == names[1]
    for damaged in ("", "triton/_C/libtriton.so,sha256=x,many\n", "\x00,,\n", "a\n" * 3):
        record.write_text(damaged)
        assert name() == ""


def test_cache_keys_name_the_library(monkeypatch, tmp_path):
    import shutil

    from tessera import _library
    from tessera.triton import _wrap

    before = _wrap.key()
    assert _library.build_id() in before
    other = tmp_path / "libtessera.so"
    shutil.copy(_library.library_path(), other)
    with open(other, "r+b") as f:  # another build id
        data = f.read()
        note = data.find(bytes.fromhex(_library.build_id()))
        f.seek(note)
        f.write(bytes(20))
    monkeypatch.setenv("TESSERA_LIBRARY", str(other))
    assert _wrap.key() != before


def test_off_changes_nothing():
    code = (
        "import triton, sys; from triton.backends.nvidia.compiler import CUDABackend as B; "
        "from triton.runtime import cache; "
        "print(hasattr(B.add_stages, '__wrapped__'), hasattr(cache.triton_key, 'tessera'), "
        "'tessera._library' in sys.modules)"
    )
    assert run(code, TESSERA_TRITON="0") == "False False False"
    assert run(code, TESSERA_TRITON="1") == "True True False"


def test_the_driver_is_never_active():
    from triton.backends import backends

    assert not backends["tessera"].driver.is_active()
    assert not any(backends["tessera"].compiler.supports_target(t) for t in TARGETS)


def test_threads():
    def compile_one(i):
        target = TARGETS[i % len(TARGETS)]
        kernel = triton.compile(source(B=64 << i % 5), target=target, options={"num_warps": 1 << i % 3})
        return (
            kernel.metadata.compiled_by,
            kernel.metadata.name,
            kernel.asm["cubin" if target.backend == "cuda" else "hsaco"],
        )

    with ThreadPoolExecutor(4) as pool:
        many = list(pool.map(compile_one, range(30)))
    assert all(by.startswith("tessera") and name == "exponential" for by, name, _ in many)


def test_summary_at_exit():
    code = (
        "import triton\nfrom triton.backends.compiler import GPUTarget\nimport sys; sys.path.insert(0, %r)\n"
        "import test_triton as t\n"
        "triton.compile(t.source(), target=t.MI300)\n"
        "triton.compile(t.source(), target=t.H100, options={'num_ctas': 2})\n" % os.path.dirname(__file__)
    )
    made = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "TESSERA_TRITON_SUMMARY": "1", "TRITON_ALWAYS_COMPILE": "1"},
    )
    assert "tessera: compiled 1 of 2 kernels" in made.stderr, made.stderr
    assert "1 by Triton: num_ctas = 2 (exponential)" in made.stderr


def test_report(tmp_path):
    from pathlib import Path

    from tessera.triton.__main__ import main, read_cache

    triton.compile(source(), target=MI300)
    triton.compile(source(), target=H100, options={"num_ctas": 2})
    found = read_cache(Path(knobs.cache.dir))
    assert sorted(r.by_tessera for r in found) == [False, True]
    assert main(["report", knobs.cache.dir, "--kernels"]) == 0
    assert main(["report", knobs.cache.dir + "/none"]) == 2
    foreign = Path(knobs.cache.dir, "foreign")
    foreign.mkdir()
    for i, text in enumerate(("{", "[]", '{"name": "k"}', '{"name": 5, "target": {}, "compiled_by": 7}')):
        (foreign / f"{i}.json").write_text(text)
    (foreign / "5.json").write_text('{"name": "k", "target": {}, "compile_ms": "long"}')
    (foreign / "6.json").write_bytes(b"\xff")
    assert main(["report", knobs.cache.dir, "--kernels"]) == 0
    assert main(["report", str(tmp_path)]) == 0  # no kernels
