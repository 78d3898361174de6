"""Planted faults: each is found, and named with its line of Python; the right kernels beside them are not reported."""

import pytest

triton = pytest.importorskip("triton")
np = pytest.importorskip("numpy")

import triton.language as tl  # noqa: E402
from tessera.triton import KernelFault, emulate  # noqa: E402


@triton.jit
def blocks_overlap(o, STEP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * STEP + tl.arange(0, B)
    tl.store(o + i, tl.program_id(0))  # blocks_overlap


@triton.jit
def count(o, ATOMIC: tl.constexpr):
    if ATOMIC:
        tl.atomic_add(o, 1)
    else:
        v = tl.load(o)  # count
        tl.store(o, v + 1)


@triton.jit
def index_wraps(x, o, s, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i * s))  # index_wraps


@triton.jit
def left_neighbour(x, o, FIRST: tl.constexpr, B: tl.constexpr):
    i = FIRST + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i - 1))  # left_neighbour


@triton.jit
def reverse(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)  # reverse
    tl.store(o + B - 1 - i, v)


@triton.jit
def locked(lock, o, RELEASE: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:  # locked
        pass
    tl.atomic_add(o, 1)
    if RELEASE:
        tl.atomic_xchg(lock, 0)


@triton.jit
def rows(x, o, n, MASK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x + tl.program_id(0) * n + i
    v = tl.load(p, mask=i < n) if MASK else tl.load(p)  # rows
    tl.store(o + tl.program_id(0) * n + i, v, mask=i < n)


@triton.jit
def last_block(x, o, n, B: tl.constexpr, EXTRA: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v, mask=i < n + EXTRA)  # last_block


def f4(*shape):
    return np.ones(shape, "f4")


def i4(n):
    return np.zeros(n, "i4")


# kernel, blocks, arguments of the right and of the wrong launch, what the fault says, whether it is one of the TTIR too
FAULTS = [
    (blocks_overlap, 4, lambda: (i4(640), 128, 128), lambda: (i4(640), 64, 128), "race", False),
    (count, 2, lambda: (i4(1), True), lambda: (i4(1), False), "race", False),
    (index_wraps, 1, lambda: (f4(512), f4(128), 4, 128),
     lambda: (f4(512), f4(128), 1 << 26, 128), "out of bounds", True),
    (left_neighbour, 1, lambda: (f4(129), f4(129), 1, 128), lambda: (f4(129), f4(129), 0, 128), "out of bounds", True),
    (reverse, 1, lambda: (f4(256), f4(256), 256), lambda: (np.arange(256, dtype="f4"),) * 2 + (256,), "race", False),
    (locked, 2, lambda: (i4(1), i4(1), True), lambda: (i4(1), i4(1), False), "deadlock", False),
    (rows, 4, lambda: (f4(4, 100), f4(4, 100), 100, True, 128),
     lambda: (f4(4, 100), f4(4, 100), 100, False, 128), "out of bounds", True),
    (last_block, 4, lambda: (f4(1000), f4(1000), 1000, 256, 0),
     lambda: (f4(1000), f4(1000), 1000, 256, 1), "out of bounds", True),
]  # fmt: skip


def line_of(name):
    with open(__file__) as f:
        return next(i for i, line in enumerate(f, 1) if line.rstrip().endswith(f"# {name}"))


@pytest.mark.parametrize("target", ["interpreter", "sm_90a", "gfx1100"])
@pytest.mark.parametrize(
    "kernel, blocks, right, wrong, what, in_text", FAULTS, ids=lambda v: getattr(v, "__name__", "")
)
def test_fault(target, kernel, blocks, right, wrong, what, in_text):
    with emulate(target):
        kernel[(blocks,)](*right())
        if target == "interpreter" and not in_text:
            return  # it runs programs one after the other
        if target.startswith("gfx") and kernel is rows:
            return  # the code does not load what it will not store
        with pytest.raises(KernelFault, match=what) as caught:
            kernel[(blocks,)](*wrong())
    assert caught.value.line == line_of(kernel.__name__)
