"""Compiling through the C library."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import KERNELS, ROOT

import tessera


def test_import_loads_nothing():
    code = "import sys, tessera; print([m for m in ('torch', 'numpy', 'triton', 'ctypes') if m in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "[]"


def test_version_and_targets():
    assert tessera.version().count(".") == 2
    assert {"sm_80", "sm_90a", "gfx942", "gfx1100"} <= set(tessera.targets())


@pytest.mark.parametrize(
    "target, stages", [("sm_90a", ["ttgir", "llir", "ptx"]), ("gfx942", ["ttgir", "llir", "amdgcn", "hsaco"])]
)
def test_one_compilation_gives_all_stages(vecadd, target, stages):
    kernel = tessera.compile(vecadd, target, stage=stages[-1], num_warps=2)
    assert list(kernel.asm) == stages
    assert (kernel.name, kernel.target, kernel.stage) == ("vecadd", target, stages[-1])
    assert kernel.object is kernel.asm[stages[-1]]
    assert "#ttg.blocked" in kernel.asm["ttgir"] and "define" in kernel.asm["llir"]
    assert kernel.metadata["num_warps"] == 2
    assert [a["name"] for a in kernel.metadata["args"]] == ["x", "y", "o", "n"]
    for stage in stages[1:3]:  # an object that was assembled from text has more local symbols
        assert tessera.compile(vecadd, target, stage=stage, num_warps=2, texts=False).object == kernel.asm[stage]


def test_dots_without_tensor_memory():
    matmul = KERNELS / "mm_f16" / "mm_f16.ttir"
    ptx = {no: tessera.compile(matmul, "sm_100a", stage="ptx", no_tensor_memory=no).asm["ptx"] for no in (False, True)}
    assert "tcgen05.mma" in ptx[False] and "mma.sync" not in ptx[False]
    assert "tcgen05" not in ptx[True] and "mma.sync" in ptx[True]


def test_path_is_read():
    path = KERNELS / "vecadd" / "vecadd.ttir"
    assert tessera.compile(path, "gfx942").asm == tessera.compile(str(path), "gfx942").asm


def test_path_with_another_suffix(tmp_path):
    path = tmp_path / "kernel.txt"
    path.write_bytes((KERNELS / "vecadd" / "vecadd.ttir").read_bytes())
    with pytest.raises(tessera.UsageError, match="a path ends in .ttir, .ttgir or .mlir, or is a pathlib.Path"):
        tessera.compile(str(path), "gfx942")
    assert tessera.compile(path, "gfx942").name == "vecadd"


def test_errors_have_places():
    with pytest.raises(tessera.InputError) as caught:
        tessera.compile("module {\n  tt.func @k(%x\n}", "sm_80", file_name="k.ttir")
    assert caught.value.place == "k.ttir:2" or caught.value.place == "k.ttir:3"
    assert caught.value.diagnostics[0].severity == "error"
    assert "k.ttir" in str(caught.value)
    assert isinstance(caught.value, (tessera.Error, ValueError))


def test_wrong_options(vecadd):
    for options in ({"num_warps": 3}, {"opt_level": 7}, {"warps": 4}):
        with pytest.raises(tessera.UsageError):
            tessera.compile(vecadd, "sm_80", **options)
    with pytest.raises(tessera.UsageError, match="unknown target"):
        tessera.compile(vecadd, "sm_1")
    with pytest.raises(tessera.UsageError):
        tessera.compile(vecadd, "gfx942", stage="ptx")


def test_remarks_and_warnings(vecadd):
    kernel = tessera.compile(vecadd, "gfx942", remarks=True)
    assert any("codegen:Resources" in r.message for r in kernel.remarks)
    assert not tessera.compile(vecadd, "gfx942").remarks
    kernel = tessera.compile(vecadd, "sm_90a", stage="ptx", num_ctas=2)
    assert "num-ctas" in kernel.warnings[0].message


def test_remarks_name_the_version_of_the_kernel():
    text = ROOT / "tests/golden/ttgir/remarks_of_versions.mlir"
    kernel = tessera.compile(text, "sm_90a", stage="ptx", remarks=True)
    assert {r.version for r in kernel.remarks if "LoopPipelined" in r.message} == {"aligned", "general"}
    assert all((" version)" in r.message) == bool(r.version) for r in kernel.remarks)
    assert any(not r.version for r in kernel.remarks)


def test_threads_have_their_own_diagnostics(vecadd):
    def work(i):
        if i % 2:
            return tessera.compile(vecadd, "gfx942", num_warps=1 << i % 3, stage="llir", texts=False).object
        with pytest.raises(tessera.InputError) as caught:
            tessera.compile(f"error{i}", "sm_80", file_name=f"file{i}")
        assert {d.file for d in caught.value.diagnostics} <= {f"file{i}", ""}
        return None

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(24)))
    assert results[1] == results[7] and results[1] != results[3]


def test_layout():
    shown = tessera.layout(
        "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>",
        "tensor<128xf32>",
    )
    assert "T31:3" in str(shown) and "<svg" in shown._repr_svg_() and "<html" in shown.html()
    assert "Warp0" in shown.hardware_view()
    with pytest.raises(tessera.InputError):
        tessera.layout("#ttg.nothing", "tensor<128xf32>")


def test_missing_library():
    code = (
        "import os; os.environ['TESSERA_LIBRARY'] = '/no/lib.so'\nimport tessera\n"
        "try: tessera.version()\nexcept tessera.FailedError as e: print(e)"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "/no/lib.so" in made.stdout and "TESSERA_LIBRARY" in made.stdout
