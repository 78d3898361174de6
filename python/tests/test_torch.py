"""What PyTorch's Inductor does with compiled kernels, as far as it needs no GPU: its static launcher, and its results,
which travel from compile workers and through its caches. Needs torch."""

import pickle
import sys
import types

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


@triton.jit
def matmul(a, b, o, n, m, B: tl.constexpr):
    r, accumulator = tl.arange(0, B), tl.zeros((B, B), tl.float32)
    for k in range(0, n, B):
        left = tl.load(a + r[:, None] * n + k + r[None, :])
        accumulator = tl.dot(left, tl.load(b + (k + r)[:, None] * B + r[None, :]), accumulator)
    tl.store(o + r[:, None] * B + r[None, :], accumulator * m)


KERNELS = {
    fused: {"x": "*bf16", "y": "*fp32", "o": "*fp32", "n": "i32", "m": "fp32"},
    matmul: {"a": "*bf16", "b": "*bf16", "o": "*fp32", "n": "i32", "m": "fp32"},
}


def by_both(monkeypatch, tmp_path, target, function=fused):
    """The kernel as Triton compiles it, and as tessera does."""
    made = []
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path))
    for mode in "01":
        monkeypatch.setenv("TESSERA_TRITON", mode)
        size = {fused: 1024, matmul: 64}[function]
        made.append(triton.compile(ASTSource(function, KERNELS[function], {"B": size}), target=target))
    assert made[1].metadata.compiled_by.startswith("tessera")
    return made


def events(function):
    """What of Python a call runs: its functions, and the built-in ones that they call."""
    seen = []

    def note(frame, event, what):
        if event in ("call", "c_call"):
            seen.append((event, getattr(what, "__qualname__", None) or frame.f_code.co_qualname))

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: str(t.arch))
def test_static_launcher(monkeypatch, tmp_path, target, function):
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

    theirs, ours = map(described, by_both(monkeypatch, tmp_path, target, function))
    assert ours == theirs


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_nothing_is_added_to_a_launch_by_inductor(monkeypatch, tmp_path, function):
    launcher = pytest.importorskip("torch._inductor.runtime.static_triton_launcher")
    launches = []
    module = (2,) if hasattr(launcher.StaticallyLaunchedCudaKernel, "close") else ()  # later ones unload it

    class Driver:
        """In the place of PyTorch's C++."""

        @staticmethod
        def _load_kernel(path, name, shared, device):
            return (*module, 1, 64, 0)

        @staticmethod
        def _unload_kernel(module):
            pass

        @staticmethod
        def _launch_kernel(function, x, y, z, num_warps, shared, types, arguments, stream):
            launches.append((x, y, z, num_warps, types, arguments, stream))

    def launched(kernel):
        kernel._cubin_path = str(tmp_path)
        static = launcher.StaticallyLaunchedCudaKernel(kernel)
        static.C_impl = Driver
        meta = {"device": 0, "signature": KERNELS[function] | {"B": "constexpr"}, "constants": {}}
        grid = {"grid_type": "FixedGrid", "fixed_grid": ["2", "1", "1"]}
        result = heuristics.StaticTritonCompileResult(static, triton.Config({"B": 64}), meta, grid)
        launch = result.make_launcher()
        pointers = [torch.zeros(4) for _ in range(3)]
        return [what for what in events(lambda: launch(*pointers, 64, 1.0, 64, stream=7)) if "lambda" not in what[1]]

    theirs, ours = map(launched, by_both(monkeypatch, tmp_path, TARGETS[0], function))
    assert ours == theirs
    assert len(launches) == 2 and repr(launches[0]) == repr(launches[1])


@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_nothing_is_added_to_a_launch_by_triton(monkeypatch, tmp_path, function):
    from triton.runtime.driver import driver

    launches = []

    class Launcher:
        def __init__(self, source, metadata):
            pass

        def __call__(self, x, y, z, stream, function, packed, *rest):
            launches.append((x, y, z, stream, len(packed), len(rest)))

    active = types.SimpleNamespace(
        get_current_target=lambda: TARGETS[0],
        get_current_device=lambda: 0,
        get_current_stream=lambda device: 7,
        launcher_cls=Launcher,
        utils=types.SimpleNamespace(
            get_device_properties=lambda device: {"max_shared_mem": 232448},
            load_binary=lambda *arguments: (None, 2, 64, 0, 1024),  # no module that a kernel would unload
        ),
    )
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path))
    arguments = [torch.zeros(4, dtype=torch.bfloat16), torch.zeros(4), torch.zeros(4), 64, 1.0]
    arguments[1] = arguments[1].to(torch.bfloat16 if function is matmul else torch.float32)
    made = []
    before = driver._active if hasattr(driver, "_active") else None
    driver.set_active(active)
    try:
        for mode in "01":
            monkeypatch.setenv("TESSERA_TRITON", mode)
            function.device_caches.clear()
            launch = lambda: function[(1,)](*arguments, B=64)
            kernel = launch()
            made.append((events(launch), getattr(kernel.metadata, "compiled_by", "")))
    finally:
        function.device_caches.clear()
        driver._active = before
    (theirs, _), (ours, by) = made
    assert by.startswith("tessera") and ours == theirs
    assert len(launches) == 4 and len(set(launches)) == 1


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
