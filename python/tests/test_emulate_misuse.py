"""Random wrong launches through `emulate`, from a fixed seed: each works, or raises an error that says why, and Triton
is as before. What this package raises is an error of its own; Triton's front end raises what it does on a GPU."""

import random
import threading
import traceback
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")
np = pytest.importorskip("numpy")

import triton.language as tl  # noqa: E402
from triton.runtime.errors import OutOfResources  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

import tessera  # noqa: E402
from tessera.triton import HostArray, emulate  # noqa: E402

PACKAGE = Path(tessera.__file__).parent


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def described(d, o, B: tl.constexpr):
    r = tl.arange(0, B)
    tl.store(o + r[:, None] * B + r[None, :], d.load([0, 0]))


@triton.jit
def of_tuple(t, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(t[0] + i) + t[1])


def ones(n=64, dtype="f4"):
    return np.ones(n, dtype)


def assert_launches(target):
    x, o = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    with emulate(target):
        add[(1,)](x, x, o, 64, B=64)
    assert (o == 2 * x).all()


def state():
    """What an emulation changes of Triton."""
    from triton.runtime import driver
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction, KernelInterface

    from tessera.triton._mode import emulation

    return driver._active, emulation.spec, KernelInterface.__getitem__, Autotuner.run, JITFunction.run


class Launcher:
    """Picks what a user could pass to `kernel[grid](...)`."""

    def __init__(self, seed, target):
        self.random, self.target = random.Random(seed), target
        self.worked = 0

    def pick(self, *values):
        return self.random.choice(values)

    def one_in(self, n):
        return not self.random.randrange(n)

    def anything(self):
        return self.pick(
            *[None, True, 0, -1, 3, 1 << 31, 1 << 63, 1 << 64, -(1 << 70), 1.5, float("nan"), 2j, "", "4", b"\xff"],
            *[(), [], {}, (1, 2), [None], object(), len, ..., np.float32(2), np.array(3), np.ones((2, 2)), (ones(), 1)],
            *[memoryview(ones()), bytearray(256), HostArray(ones()), lambda meta: (1,), int],
        )

    def array(self):
        if not self.one_in(4):
            return ones()
        types = ["f4", "f2", "f8", "i1", "i8", "u4", "?", "c8", "O", "U1", ">f4", "g", "M8[s]", "V4", [("a", "f4")]]
        a = self.pick(
            *[np.zeros(64, t) for t in types],
            *[ones(0), ones(63), ones(128)[:64][::-1], ones(128)[::-2], ones((64, 2))[:, 1], ones((8, 8)).T],
            *[np.broadcast_to(np.float32(1), 64), np.ma.masked_array(ones()), HostArray(ones(64, "u2"), "bfloat16")],
            *[np.lib.stride_tricks.as_strided(ones(), (1 << 40,), (0,))],
        )
        if isinstance(a, np.ndarray) and a.base is None and self.one_in(6):
            a.flags.writeable = False
        return a

    def grid(self):
        if not self.one_in(3):
            return (1,)
        if self.one_in(3):
            return self.anything()
        sizes = (0, 1, 1, 2, -1, 1 << 31, 1 << 40, 1 << 70, 1.0, "1", None, np.int64(1), float("inf"))
        grid = tuple(self.pick(*sizes) for _ in range(self.random.randrange(5)))
        return self.pick((1,), grid, list(grid), lambda meta: grid, lambda meta: (meta["B"] // 64,), lambda: grid)

    def options(self):
        names = ["num_warps", "num_stages", "num_ctas", "debug", "maxnreg", "waves_per_eu", "B", "x", "grid", "warmup"]
        names += ["enable_fp_fusion", "matrix_instr_nonkdim", "no_such", "arch", "cluster_dims", "sanitize_overflow"]
        values = (self.anything(), 1, 2, 8, 64, 1 << 20)
        return {self.pick(*names): self.pick(*values)} if self.one_in(4) else {}

    def launch(self):
        given = [self.array(), self.array(), self.array(), self.pick(64, 10, 0)]
        if self.one_in(3):
            given[self.random.randrange(4)] = self.anything()
        if self.one_in(8):
            given = given[: self.random.randrange(5)]
        add[self.grid()](*given, **{"B": self.anything() if self.one_in(6) else 64, **self.options()})

    def launch_descriptor(self):
        def numbers(*right):
            return self.pick(right, right, list(right), (0, 0), (-16, 16), (1 << 40, 16), (1.5, 16), (16,), None)

        base = self.pick(ones((16, 16)), HostArray(ones((16, 16))), self.array(), self.anything())
        shape, strides, block = numbers(16, 16), numbers(16, 1), numbers(16, 16)
        if self.one_in(2):
            d = TensorDescriptor.from_tensor(base, block, self.pick("zero", "nan", "x", None))
        else:
            d = TensorDescriptor(base, shape, strides, block, self.pick("zero", "nan", "x", None))
        described[(1,)](self.pick(d, d, d, self.anything()), ones((16, 16)), B=self.pick(16, 16, 32))

    def launch_tuple(self):
        t = self.pick((ones(), 1), (self.array(), self.anything()), (ones(),), ((ones(),), 1), [ones(), 1], (None, 1))
        of_tuple[(1,)](t, ones(), B=64)

    def in_a_block(self, call):
        block = emulate(self.target)
        if self.one_in(4):  # nested; the outer target may not take the kernel
            with emulate("interpreter"), block:
                call()
        else:
            with block:
                call()

    def work(self, launches):
        before = state()
        for i in range(launches):
            call = self.pick(self.launch, self.launch, self.launch, self.launch_descriptor, self.launch_tuple)
            try:
                self.in_a_block(call)
                self.worked += 1
            except Exception as e:
                where = traceback.extract_tb(e.__traceback__)[-1]
                ours = PACKAGE in Path(where.filename).parents
                is_documented = isinstance(e, (tessera.Error, OutOfResources))  # the latter as on a GPU, for autotuners
                assert not ours or is_documented, f"{i}: {where}: {type(e).__name__}: {e}"
                assert str(e).strip() or not ours, f"{i}: {where}: {type(e).__name__}"
            assert state() == before, i
            if i % 50 == 0:
                assert_launches(self.target)


@pytest.mark.parametrize("target, launches", [("interpreter", 600), ("gfx942", 200), ("sm_90a", 200)])
def test_random_launches(target, launches):
    """Most arguments are refused before the target matters."""
    launcher = Launcher(1, target)
    launcher.work(launches)
    assert launcher.worked > launches // 10
    assert_launches(target)


@pytest.mark.parametrize("grid", [("1",), (None,), (1.5,), (0, -1), (-1,), (1, 1 << 70)])
def test_grids_that_are_none(grid):
    with emulate("interpreter"), pytest.raises((tessera.UsageError, TypeError), match="grid|unsupported operand"):
        add[grid](ones(), ones(), ones(), 64, B=64)


@pytest.mark.parametrize("count", [0, -1, None, "8", 1.5, 1 << 70])
def test_multiprocessors(count):
    before = state()
    with pytest.raises(tessera.UsageError, match="multiprocessors must be"), emulate("gfx942", multiprocessors=count):
        pass
    assert state() == before


def test_blocks_left_in_another_order():
    """ExitStacks, fixtures and threads do that. The last one that is entered holds."""
    before = state()
    first, second = emulate("gfx942"), emulate("sm_80")
    first.__enter__()
    driver = second.__enter__()
    first.__exit__(None, None, None)
    o = ones()
    add[(1,)](ones(), ones(), o, 64, B=64)
    assert (o == 2).all() and driver.launches == 1
    second.__exit__(None, None, None)
    assert state() == before


@pytest.mark.parametrize("first, then", [("gfx942", "sm_90a"), ("interpreter", "gfx942"), ("sm_90a", "interpreter")])
def test_kernels_kept_from_another_target(first, then):
    """As libraries keep them in tables of their own: they would run as the first target's, without notice."""
    before, o = state(), ones()
    with emulate(first):
        kernel = add[(1,)](ones(), ones(), o, 64, B=64)
        kernel[(1, 1, 1)](ones(), ones(), o, 64, 64)
    with emulate(then), pytest.raises(tessera.UsageError, match=f"compiled for {first} and is launched on {then}"):
        kernel[(1, 1, 1)](ones(), ones(), o, 64, 64)
    with emulate(first):
        kernel[(1, 1, 1)](ones(), ones(), o, 64, 64)
    assert (o == 2).all() and state() == before


def test_threads_that_emulate_at_once():
    """The same target is fine; another one is an error, not kernels on the wrong device."""
    before, failed = state(), []
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with emulate("gfx942"):
            entered.set()
            leave.wait(60)

    def work(target):
        try:
            for _ in range(3):
                assert_launches(target)
        except BaseException as e:
            failed.append(e)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(60)
    with pytest.raises(tessera.UsageError, match="another thread emulates gfx942"), emulate("sm_80"):
        pass
    threads = [threading.Thread(target=work, args=("gfx942",)) for _ in range(4)]
    for t in threads:
        t.start()
    leave.set()  # while the others run
    for t in [*threads, holder]:
        t.join()
    assert not failed, failed
    assert state() == before


def test_an_exception_in_the_block():
    """Passes through, and a kernel that failed does not stay: its arrays keep their contents."""
    before, o = state(), np.zeros(64, "f4")
    for raised in (ZeroDivisionError, KeyboardInterrupt, SystemExit, GeneratorExit):
        with pytest.raises(raised), emulate("gfx942"):
            raise raised
    with pytest.raises(tessera.FailedError, match="out of bounds"), emulate("gfx942"):
        add[(2,)](ones(), ones(), o, 128, B=64)
    assert not o.any() and state() == before
    assert_launches("gfx942")


def test_tensors_without_memory():
    torch = pytest.importorskip("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(64)
    for x in (torch.ones(64, device="meta"), fake):
        with emulate("interpreter"), pytest.raises(tessera.UsageError, match="has a shape and no memory"):
            add[(1,)](torch.ones(64), x, torch.ones(64), 64, B=64)
