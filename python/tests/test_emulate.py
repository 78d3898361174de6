"""Triton's kernels without a GPU. Needs Triton and numpy."""

import os
import subprocess
import sys
import types

import pytest

triton = pytest.importorskip("triton")
np = pytest.importorskip("numpy")

import triton.language as tl  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

import tessera  # noqa: E402
from tessera.triton import HostArray, KernelFault, __main__, emulate  # noqa: E402

EMULATED = ["sm_80", "sm_90a", "gfx942", "gfx1100"]
ALL = ["interpreter", *EMULATED]


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def off_by_one(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i <= n)  # off by one
    tl.store(o + i, v, mask=i < n)


@triton.jit
def row_norm(x, weights, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n) * tl.load(weights + i, mask=i < n)  # neither has `other`
    tl.store(o, tl.sum(v * v))


@triton.jit
def race(o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i // 2, i)  # two elements at each address


@triton.jit
def asserting(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.device_assert(v < n, "too large")
    tl.store(x + i, v + 1)


@triton.jit
def printing(n):
    tl.device_print("block", tl.program_id(0) + n)


@triton.jit
def described(d, o, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(o + r[:, None] * B + r[None, :], d.load([0, B]))


@triton.jit
def scalars(o, i, j, f, b, none, B: tl.constexpr):
    if none is None:
        tl.store(o, i + j + f + b)


# 32 warps of 64 threads are more than the blocks of AMD may have: the autotuner leaves this one out.
@triton.autotune(
    [triton.Config({"B": 64}), triton.Config({"B": 128}, num_warps=2), triton.Config({"B": 64}, num_warps=32)],
    key=["n"],
    reset_to_zero=["o"],
)
@triton.jit
def tuned(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + i, tl.load(x + i, mask=i < n), mask=i < n)


def line_of(text):
    with open(__file__) as f:
        return next(i for i, line in enumerate(f, 1) if text in line and "line_of" not in line)


@pytest.mark.parametrize(
    ("target", "shared", "lanes"),
    [("sm_80", 163, 32), ("sm_120a", 99, 32), ("interpreter", 227, 32), ("gfx942", 64, 64), ("gfx950", 160, 64)],
)
def test_limits_are_the_targets(target, shared, lanes):
    """The interpreter stands for sm_90a."""
    with emulate(target) as driver:
        limits = driver.utils.get_device_properties(0)
    assert (limits["max_shared_mem"], limits["warpSize"]) == (shared << 10, lanes)


@pytest.mark.parametrize("target", ALL)
def test_launch(target):
    x, y, o = np.random.rand(1000).astype("f4"), np.random.rand(1000).astype("f4"), np.zeros(1000, "f4")
    with emulate(target) as driver:
        kernel = add[(4,)](x, y, o, 1000, B=256)
        add[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, y, o, 1000, B=128)
    np.testing.assert_array_equal(o, x + y)
    assert driver.launches == 2 and "tessera" in kernel.metadata.compiled_by


@pytest.mark.parametrize("target", ALL)
def test_out_of_bounds_is_found_at_its_line(target):
    x, o = np.ones(1000, "f4"), np.zeros(1000, "f4")
    with emulate(target), pytest.raises(KernelFault, match="out of bounds") as caught:
        off_by_one[(4,)](x, o, 1000, B=256)
    assert os.path.samefile(caught.value.file, __file__)
    assert caught.value.line == line_of("# off by one")
    assert "v = tl.load(x + i, mask=i <= n)" in str(caught.value)
    assert not o.any()


@pytest.mark.parametrize("target", EMULATED)
def test_races_are_found(target):
    with emulate(target), pytest.raises(KernelFault, match="race") as caught:
        race[(1,)](np.zeros(64, "i4"), 64)
    assert caught.value.line == line_of("# two elements at each address")


@pytest.mark.parametrize("target", ALL)
def test_assertions_and_prints(target, capfd):
    x = np.arange(64, dtype="i4")
    with emulate(target):
        asserting[(1,)](x, 64, B=64, debug=True)
        with pytest.raises(KernelFault, match="too large"):
            asserting[(1,)](x, 64, B=64, debug=True)
        printing[(2,)](40)
    assert x[0] == 1
    assert "41" in capfd.readouterr().out


@pytest.mark.parametrize("target", ALL)
def test_masked_off_elements_are_zero(target):
    x, w, o = np.arange(20, dtype="f4"), np.full(20, 2, "f4"), np.zeros(1, "f4")
    with emulate(target):
        row_norm[(1,)](x, w, o, 20, 64)
    assert o[0] == 4 * (x * x).sum()


@pytest.mark.parametrize("target", ALL)
def test_tensor_descriptors(target):
    b, o = np.random.rand(32, 64).astype("f4"), np.zeros((32, 32), "f4")
    with emulate(target):
        described[(1,)](TensorDescriptor.from_tensor(HostArray(b), [32, 32]), o, 32)
    np.testing.assert_array_equal(o, b[:, 32:])


@pytest.mark.parametrize("target", ["interpreter", "sm_90a", "gfx942"])
def test_tensor_descriptors_padded_with_nan(target):
    b, o = np.random.rand(20, 64).astype("f4"), np.zeros((32, 32), "f4")
    with emulate(target):
        described[(1,)](TensorDescriptor(HostArray(b), [20, 64], [64, 1], [32, 32], "nan"), o, 32)
    np.testing.assert_array_equal(o[:20], b[:, 32:])
    assert np.isnan(o[20:]).all()


@pytest.mark.parametrize("target", ["interpreter", "sm_90a", "gfx942"])
@pytest.mark.parametrize(
    "dtype, bits, value", [("bfloat16", 0x4040, 3), ("float16", 0x4200, 3), ("float8_e4m3fn", 0x38, 1)]
)
def test_tensor_descriptors_of_types_that_numpy_lacks(target, dtype, bits, value):
    whole = np.full((32, 64), bits, "u1" if "8" in dtype else "u2")
    o = np.zeros((32, 32), "f4")
    with emulate(target):
        described[(1,)](TensorDescriptor.from_tensor(HostArray(whole, dtype=dtype), [32, 32]), o, 32)
    assert (o == value).all()


@pytest.mark.parametrize("target", ALL)
def test_scalars(target):
    o = np.zeros(1, "f4")
    with emulate(target):
        for i, j, f, b in [(1, 5, 0.5, True), (16, 1 << 40, 2.25, False), (-7, 3, 0.0, True)]:
            scalars[(1,)](o, i, j, f, b, None, B=16)
            assert o[0] == np.float32(i + j) + np.float32(f + b)


@pytest.mark.parametrize("target", ["interpreter", "gfx942"])
def test_autotuned(target):
    x, o = np.random.rand(1000).astype("f4"), np.full(1000, 5, "f4")
    o[:] = 0
    with emulate(target) as driver:
        tuned[lambda meta: (triton.cdiv(1000, meta["B"]),)](x, o, 1000)
    np.testing.assert_array_equal(o, x)
    candidates = 3 if target == "interpreter" else 2
    assert driver.launches == candidates + 1  # then the chosen one
    assert not tuned.cache  # says nothing about a GPU


def test_bfloat16():
    bits = np.full(16, 0x3F80, "u2")
    o = np.zeros(16, "f4")
    with emulate("sm_90a"):
        add[(1,)](HostArray(bits, dtype="bfloat16"), HostArray(bits, dtype="bfloat16"), o, 16, B=16)
    assert (o == 2).all()


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    bits, wide = torch.full((32,), 0x38, dtype=torch.int8)[16:], torch.zeros(16)  # 1 in fp8e4nv
    with emulate("sm_90a"):
        x = triton.reinterpret(bits, tl.float8e4nv)
        add[(1,)](x, x, wide, 16, B=16)
    assert (wide == 2).all()
    x, o = torch.rand(2, 1000), torch.zeros(1000)
    for target in ("sm_90a", "gfx942"):
        with emulate(target):
            add[(4,)](x[0], x[1], o, 1000, B=256)
        torch.testing.assert_close(o, x[0] + x[1])


class Exposing:
    """A tensor's address and type, and of its size what is given."""

    def __init__(self, array, **attributes):
        self.data_ptr = lambda: array.ctypes.data
        self.dtype = f"torch.{array.dtype}"
        self.__dict__.update(attributes)


class Holding:
    def __init__(self, tensor, dtype):
        self.tensor, self.dtype = tensor, dtype

    def data_ptr(self):
        return self.tensor.data_ptr()


def sizes(x):
    strides = tuple(s // x.itemsize for s in x.strides)
    return {
        "bytes": Exposing(x, nbytes=x.nbytes),
        "elements": Exposing(x, numel=lambda: x.size, element_size=lambda: x.itemsize),
        "type": Exposing(x, numel=lambda: x.size),
        "shape": Exposing(x, shape=x.shape),
        "strides": Exposing(x, shape=x.shape, stride=lambda: strides),
        "attribute": Exposing(x, of=x),
        "tensor": Holding(HostArray(x), x.dtype),
        "reinterpreted": triton.reinterpret(HostArray(x.view("i4")), tl.float32),
    }


@pytest.mark.parametrize("target", ["interpreter", "sm_90a"])
@pytest.mark.parametrize("what", sizes(np.zeros(1, "f4")))
def test_objects_with_an_address(target, what):
    x, o = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    with emulate(target):
        add[(1,)](sizes(x)[what], sizes(x)[what], o, 64, B=64)
        assert (o == 2 * x).all()
        with pytest.raises(KernelFault, match=r"4 bytes at byte 256 of (buffer )?'x', which has 256"):
            add[(1,)](sizes(x)[what], x, np.zeros(65, "f4"), 65, B=128)


def test_object_of_unknown_size():
    x = np.zeros(64, "f4")
    with emulate("interpreter"), pytest.raises(tessera.UsageError, match="neither nbytes, shape, numel"):
        add[(1,)](Exposing(x), x, x, 64, B=64)


@pytest.mark.parametrize("target", ALL)
def test_no_stages(target):
    """num_stages=0 is Triton's way to turn pipelining off, as 1 is."""
    x, o = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    with emulate(target):
        add[(1,)](x, x, o, 64, B=64, num_stages=0)
    assert (o == 2 * x).all()


def test_everything_is_restored():
    from triton.runtime import driver
    from triton.runtime.jit import KernelInterface

    before = driver._active, KernelInterface.__getitem__
    with pytest.raises(tessera.UsageError), emulate("sm_1"):
        pass
    with pytest.raises(ZeroDivisionError), emulate("gfx942"):
        with emulate("sm_80"):
            pass
        raise ZeroDivisionError
    assert (driver._active, KernelInterface.__getitem__) == before


@pytest.mark.parametrize("cuda, hip", [("13.0", None), (None, None), (None, "6.4.1")])
def test_what_torch_was_built_for(monkeypatch, cuda, hip):
    """Programs test torch.version.hip for AMD."""
    version = types.SimpleNamespace(cuda=cuda, hip=hip)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(version=version))
    says = lambda: (version.cuda is not None, version.hip is not None)
    with emulate("gfx942") as driver:
        assert says() == (False, True) and driver.get_device_capability() == (9, 4)
        with emulate("gfx1201") as inner:
            assert says() == (False, True) and inner.get_device_capability(0) == (12, 0)
        with emulate("sm_90a"):
            assert says() == (True, False)
            assert cuda is None or version.cuda == cuda
        assert says() == (False, True)
        assert hip is None or version.hip == hip
    with emulate("interpreter"):
        assert says() == (True, False)
    assert vars(version) == {"cuda": cuda, "hip": hip}


PROGRAM = """
import sys
import numpy as np, triton, triton.language as tl

@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

x = np.ones(100, "f4")
double[(1,)](x, 100 + int(sys.argv[1]), 256)
print("sum", x.sum())
"""


def check(tmp_path, *arguments, text=PROGRAM):
    program = tmp_path / "program.py"
    program.write_text(text)
    command = [sys.executable, "-m", "tessera.triton", "check", *arguments]
    command = [str(program) if a == "PROGRAM" else a for a in command]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)


def test_check_of_a_program_that_emulates(tmp_path):
    """Its own blocks choose the target of their launches: those are not the checked target's."""
    launch = "double[(1,)](x, 100 + int(sys.argv[1]), 256)\n"
    block = 'import tessera.triton\nwith tessera.triton.emulate("gfx942"):\n    ' + launch
    own = check(tmp_path, "--target", "sm_90a", "PROGRAM", "0", text=PROGRAM.replace(launch, block))
    assert own.returncode == 0 and "sm_90a: nothing was checked" in own.stderr, own.stderr
    assert "of its 1 launch\n" in own.stderr, own.stderr
    both = check(tmp_path, "--target", "sm_90a", "PROGRAM", "0", text=PROGRAM.replace(launch, launch + block))
    assert "sm_90a: no faults in 1 launch" in both.stderr, both.stderr


def test_check_of_a_program(tmp_path):
    good = check(tmp_path, "PROGRAM", "0")
    assert good.returncode == 0, good.stderr
    assert good.stdout.count("sum 200.0") == 3
    assert "sm_90a: no faults in 1 launch" in good.stderr and "gfx942: no faults in 1 launch" in good.stderr
    bad = check(tmp_path, "--target", "gfx1100", "PROGRAM", "1")
    assert bad.returncode == 1 and "program.py:8" in bad.stderr and "out of bounds" in bad.stderr
    assert check(tmp_path, "--target", "nothing", "PROGRAM", "0").returncode == 2
    missing = check(tmp_path, "missing.py")
    assert missing.returncode == 2 and missing.stderr == "missing.py: No such file or directory\n"
    assert "usage" in check(tmp_path, "--help").stdout
    (tmp_path / "as_module.py").write_text(PROGRAM)
    module = check(tmp_path, "--target=sm_80", "-m", "as_module", "1")
    assert module.returncode == 1 and "as_module.py:8" in module.stderr


@pytest.mark.parametrize(
    "arguments, says",
    [
        ([], "a program is needed: SCRIPT, or -m MODULE"),
        (["-m"], "a program is needed: SCRIPT, or -m MODULE"),
        (["--target"], "--target needs a name"),
        (["--steps", "1", "train.py"], "unknown option '--steps'; options of the program follow it"),
    ],
)
def test_wrong_usage_of_check(capsys, arguments, says):
    assert __main__.check(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.endswith(f"check: error: {says}\n")
