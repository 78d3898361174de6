"""Verify mode, with a driver that stands in for a GPU's: what a "binary" does depends on who loads it, when."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

PROGRAM = """
import torch, triton, triton.language as tl, warnings
import tessera.triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
warnings.simplefilter("ignore")

@triton.jit
def scale(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

class Utils:
    scales = []
    def get_device_properties(self, device):
        return {"max_shared_mem": 1 << 20}
    def load_binary(self, name, binary, shared, device):
        return object(), self.scales.pop(0), 0, 0, 1024

class Driver:
    utils = Utils()
    get_current_device = get_current_stream = lambda *_: 0
    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)
    def launcher_cls(self, src, metadata):
        return lambda x, y, z, stream, scale_of, packed, data, enter, leave, *args: args[0].mul_(scale_of)

driver.set_active(Driver())
Utils.scales = [2, 2]          # tessera's code, and Triton's
x = torch.ones(100)
scale[(1,)](x, 100, B=128)
assert (x == 2).all()
scale[(1,)](x, 100, B=128)
assert (x == 4).all()
Utils.scales = [2, 3]          # they differ: Triton's is kept
x = torch.ones(100)
scale[(1,)](x, 100, B=256)
assert (x == 3).all()
scale[(1,)](x, 100, B=256)
assert (x == 9).all()
assert "not verified" not in tessera.triton.summary()
import tessera.triton._verify as v
v._is_capturing = lambda: True # a third kernel, captured; a fourth, for which nobody calls run
Utils.scales = [5]
scale[(1,)](torch.ones(100), 100, B=512)
scale.warmup(torch.ones(100), 100, B=1024, grid=(1,))
print(tessera.triton.summary())
"""


def test_results_are_compared(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {**os.environ, "TESSERA_TRITON": "verify", "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    for expected in ("compiled 4 of 4", "compiled 0 of 0"):  # then from the cache
        made = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
        assert made.returncode == 0, made.stderr
        assert expected in made.stdout and "verified 1 of 2" in made.stdout
        assert "not verified: 2 kernels" in made.stdout and "static launcher" in made.stdout
        assert "captured into a CUDA graph: scale" in made.stdout
        assert "no launch by Triton's launcher: scale" in made.stdout


FAILING = PROGRAM[: PROGRAM.index("driver.set_active")] + """
class FailingDriver(Driver):
    def launcher_cls(self, src, metadata):
        def launch(x, y, z, stream, scale_of, packed, data, enter, leave, *args):
            if scale_of == "fails":
                args[0].zero_()
                raise RuntimeError("no launch")
            args[0].mul_(scale_of)
        return launch

driver.set_active(FailingDriver())
Utils.scales = [2, "fails"]    # the launch of Triton's code fails: tessera's results stay
x = torch.ones(100)
scale[(1,)](x, 100, B=128)
assert (x == 2).all()
scale[(1,)](x, 100, B=128)
assert (x == 4).all()
import tessera.triton._stages as stages
import tessera.triton._verify as v
def fails(own, module, metadata):
    def stage(*_):
        raise ValueError("no such stage")
    return v_reference({name: stage for name in own}, module, metadata)
v_reference, v.reference = v.reference, fails
Utils.scales = [3]             # Triton's stages fail: there is nothing to load
x = torch.ones(100)
scale[(1,)](x, 100, B=256)
assert (x == 3).all()
print(tessera.triton.summary())
"""


def test_what_cannot_be_compared_is_recorded(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(FAILING)
    environment = {**os.environ, "TESSERA_TRITON": "verify", "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    made = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    assert made.returncode == 0, made.stderr
    assert "the launch of Triton's code fails: no launch" in made.stdout
    assert "Triton's own stages fail: ValueError: no such stage" in made.stdout


def test_differences():
    import torch

    from tessera.triton._verify import difference

    a = torch.tensor([1.0, float("nan"), float("inf"), 1000.0])
    assert difference(a, a.clone()) == ""
    assert difference(a, a + torch.tensor([0.5, 0, 0, 0.5])) == ""  # noise of 1000
    assert "difference" in difference(a, a + torch.tensor([0, 0, 0, 5.0]))
    assert "NaN" in difference(a, torch.tensor([1.0, 2.0, float("inf"), 1000.0]))
    assert "NaN" in difference(torch.tensor([float("inf")]), torch.tensor([1.0]))
    assert difference(torch.arange(4), torch.tensor([0, 1, 2, 4])) == "1 of 4 integers differ"
    assert difference(torch.zeros(4), torch.zeros(4)) == ""
