"""The plug-in on a GPU: launches, autotuning, tensor descriptors, CUDA graphs, torch.compile, verify mode."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)
triton = pytest.importorskip("triton")

KERNELS = """
import torch, triton, triton.language as tl, tessera.triton
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

@triton.autotune([triton.Config({"M": m, "N": n, "K": 64}, num_warps=w, num_stages=s)
                  for m, n, w, s in [(64, 64, 4, 3), (128, 128, 8, 3), (128, 256, 8, 3), (256, 256, 4, 8)]], key=["k"])
@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        acc = tl.dot(a.load([pm * M, i]), b.load([i, pn * N]), acc)
    c.store([pm * M, pn * N], acc.to(tl.float16))

def set_blocks(args):
    args["a"].block_shape, args["b"].block_shape = [args["M"], args["K"]], [args["K"], args["N"]]
    args["c"].block_shape = [args["M"], args["N"]]
for config in matmul.configs:
    config.pre_hook = set_blocks

@triton.jit
def scaled(a, b, c, k, M: tl.constexpr, K: tl.constexpr):
    r = tl.arange(0, M)
    acc = tl.zeros((M, M), tl.float32)
    for i in range(0, k, K):
        c0 = i + tl.arange(0, K)
        acc = tl.dot(tl.load(a + r[:, None] * k + c0), tl.load(b + c0[:, None] * M + r), acc)
    tl.store(c + r[:, None] * M + r, acc)
"""


def run(code, **environment):
    """A process of its own: the mode is read when Triton is imported. Returns what it prints, as JSON."""
    with open(os.path.join(os.environ["TRITON_CACHE_DIR"], "program.py"), "w") as f:
        f.write(KERNELS + textwrap.dedent(code))
    made = subprocess.run([sys.executable, f.name], capture_output=True, text=True, env={**os.environ, **environment})
    assert made.returncode == 0, made.stdout[-4000:] + made.stderr[-8000:]
    return json.loads(made.stdout.strip().splitlines()[-1])


def test_launch():
    assert run("""
        x = torch.rand(100000, device="cuda")
        o = torch.empty_like(x)
        kernel = add[(98,)](x, x, o, 100000, 1024)
        torch.testing.assert_close(o, x + x)
        import json; print(json.dumps(kernel.metadata.compiled_by))
    """).startswith("tessera")


def test_autotuned_with_tensor_descriptors():
    """One of the candidates does not fit: the autotuner must forgive it."""
    by = run("""
        a = torch.randn(1024, 512, device="cuda", dtype=torch.float16)
        b = torch.randn(512, 2048, device="cuda", dtype=torch.float16)
        c = torch.empty(1024, 2048, device="cuda", dtype=torch.float16)
        d = [TensorDescriptor.from_tensor(t, [64, 64]) for t in (a, b, c)]
        kernel = matmul[lambda m: (triton.cdiv(1024, m["M"]), triton.cdiv(2048, m["N"]))](*d, 1024, 2048, 512)
        torch.testing.assert_close(c, a @ b, rtol=1e-2, atol=1e-1)
        import json; print(json.dumps(kernel.metadata.compiled_by))
    """)
    assert by.startswith("tessera")


def test_graph_capture():
    run("""
        x = torch.rand(4096, device="cuda")
        o = torch.zeros_like(x)
        add[(4,)](x, x, o, 4096, 1024)
        g = torch.cuda.CUDAGraph()
        o.zero_()
        with torch.cuda.graph(g):
            add[(4,)](x, x, o, 4096, 1024)
        g.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(o, x + x)
        print(1)
    """)


def test_verify_mode_agrees():
    text = run(
        """
        a = torch.randn(128, 1024, device="cuda", dtype=torch.float16)
        b = torch.randn(1024, 128, device="cuda", dtype=torch.float16)
        c = torch.empty(128, 128, device="cuda")
        for _ in range(2):
            scaled[(1,)](a, b, c, 1024, 128, 64)
        torch.testing.assert_close(c, (a.float() @ b.float()), rtol=1e-2, atol=1e-1)
        import json; print(json.dumps(tessera.triton.summary()))
        """,
        TESSERA_TRITON="verify",
    )
    assert "verified 1 of 1" in text


def test_torch_compile_and_its_caches():
    """A module compiled with tessera and without: same results, and neither takes the other's cached kernels."""
    code = """
        import json, tempfile
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.LayerNorm(512)).cuda().half()
        x = torch.randn(64, 256, device="cuda", dtype=torch.float16)
        y = torch.compile(model)(x)
        torch.testing.assert_close(y, model(x), rtol=1e-2, atol=1e-2)
        from tessera.triton.__main__ import read_cache
        from pathlib import Path
        found = read_cache(Path(os.environ["TRITON_CACHE_DIR"]))
        print(json.dumps([r.compiled_by for r in found]))
    """
    folder = os.path.join(os.environ["TRITON_CACHE_DIR"], "inductor")
    cache = {"TORCHINDUCTOR_CACHE_DIR": folder, "TRITON_CACHE_DIR": os.path.join(folder, "triton")}
    code = "\nimport os\n" + textwrap.dedent(code)
    first = run(code, TESSERA_TRITON="0", **cache)
    second = run(code, TESSERA_TRITON="1", **cache)
    assert first and not any(by.startswith("tessera") for by in first)
    assert any(by.startswith("tessera") for by in second)
