"""What PyTorch's Inductor does with compiled kernels, as far as it needs no GPU: its static launcher, and its results,
which travel from compile workers and through its caches. Needs torch."""

import pickle

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
heuristics = pytest.importorskip("torch._inductor.runtime.triton_heuristics")

import triton.language as tl  # noqa: E402
from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

TARGETS = [GPUTarget("cuda", 90, 32), GPUTarget("hip", "gfx942", 64)]


@triton.jit
def fused(x, y, o, n, m, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0).to(tl.float32)
    tl.store(o + row * n + c, v * tl.load(y + row) + tl.sum(v, 0) * m, mask=c < n)


def by_both(monkeypatch, tmp_path, target):
    """The kernel as Triton compiles it, and as tessera does."""
    signature = {"x": "*bf16", "y": "*fp32", "o": "*fp32", "n": "i32", "m": "fp32"}
    made = []
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path))
    for mode in "01":
        monkeypatch.setenv("TESSERA_TRITON", mode)
        made.append(triton.compile(ASTSource(fused, signature, {"B": 1024}), target=target))
    assert made[1].metadata.compiled_by.startswith("tessera")
    return made


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: str(t.arch))
def test_static_launcher(monkeypatch, tmp_path, target):
    launcher = pytest.importorskip("torch._inductor.runtime.static_triton_launcher")

    def described(kernel):
        kernel._cubin_path = str(tmp_path)
        made = launcher.StaticallyLaunchedCudaKernel(kernel)
        assert made.cubin_raw == kernel.asm["cubin" if target.backend == "cuda" else "hsaco"]
        assert pickle.loads(pickle.dumps(made)).arg_tys == made.arg_tys
        differ = {"cubin_raw", "hash", "shared"}
        # Triton's kernels for AMD have no size of scratch memory; the launcher for AMD passes it always.
        differ |= {"has_global_scratch"} if target.backend == "hip" else set()
        return {k: v for k, v in vars(made).items() if k not in differ}

    theirs, ours = map(described, by_both(monkeypatch, tmp_path, target))
    assert ours == theirs


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: str(t.arch))
def test_results_travel(monkeypatch, tmp_path, target):
    """A compile worker sends a result to the process that launches: metadata included, which hooks read there."""
    theirs, ours = by_both(monkeypatch, tmp_path, target)
    for kernel in (theirs, ours):
        kernel.src = None  # has the function, which Inductor strips
        result = heuristics.TritonCompileResult(kernel, triton.Config({"B": 1024}), {}, {})
        arrived = pickle.loads(pickle.dumps(result)).kernel
        assert arrived.metadata == kernel.metadata and arrived.packed_metadata == kernel.packed_metadata
        assert arrived.hash == kernel.hash and arrived.asm == kernel.asm


def test_bundles_have_all_files(monkeypatch, tmp_path):
    """Inductor's caches keep the files of a kernel in a bundle, found by the kernel's hash."""
    theirs, ours = by_both(monkeypatch, tmp_path, TARGETS[0])
    path_of = heuristics.triton_hash_to_path_key
    files = [sorted(p.name for p in (tmp_path / path_of(kernel.hash)).iterdir()) for kernel in (theirs, ours)]
    assert files[1] == files[0] and "fused.cubin" in files[1]
