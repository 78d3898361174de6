"""Right kernels that compute values without a meaning and drop them, and that wrap on purpose: as
right_elementwise.py."""

import numpy as np
import triton
import triton.language as tl

RNG = np.random.default_rng(17)


@triton.jit
def guarded_division(x, counts, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v, k = tl.load(x + i, mask=i < n, other=0), tl.load(counts + i, mask=i < n, other=0)
    tl.store(o + i, tl.where(k != 0, v // k, -1), mask=i < n)
    tl.store(o + i, v % k, mask=(i < n) & (k > 2))


def test_guarded_division():
    x, counts, o = (RNG.integers(0, m, 50).astype("i4") for m in (100, 5, 1))
    guarded_division[(1,)](x, counts, o, 50, 64)
    divisor = np.maximum(counts, 1)
    assert (o == np.where(counts > 2, x % divisor, np.where(counts != 0, x // divisor, -1))).all()


@triton.jit
def guarded_shift(x, shifts, o, B: tl.constexpr):
    i = tl.arange(0, B)
    n = tl.load(shifts + i)
    tl.store(o + i, tl.where(n < 32, tl.load(x + i) >> n, 0))


def test_guarded_shift():
    x, shifts, o = (RNG.integers(0, m, 64).astype("i4") for m in (1 << 30, 40, 1))
    guarded_shift[(1,)](x, shifts, o, 64)
    assert (o == np.where(shifts < 32, x >> np.minimum(shifts, 31), 0)).all()


@triton.jit
def masked_conversion(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=float("inf"))
    tl.store(o + i, v.to(tl.int32), mask=i < n)


def test_masked_conversion():
    x, o = RNG.random(50, dtype="f4") * 100, np.zeros(50, "i4")
    masked_conversion[(1,)](x, o, 50, 64)
    assert (o == x.astype("i4")).all()


@triton.jit
def mixed_bits(x, counts, B: tl.constexpr):
    """A hash that overflows 32 bits on purpose, as the index of a bin."""
    i = tl.arange(0, B)
    h = tl.load(x + i).to(tl.uint32, bitcast=True)
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    h ^= h >> 16
    tl.atomic_add(counts + (h % 37).to(tl.int32), 1)


def test_mixed_bits():
    x, counts = RNG.integers(-(1 << 31), 1 << 31, 64).astype("i4"), np.zeros(37, "i4")
    mixed_bits[(1,)](x, counts, 64)
    h = x.view("u4").copy()
    for shift, odd in (16, 0x85EBCA6B), (13, 0xC2B2AE35):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(odd)
    assert (counts == np.bincount((h ^ (h >> np.uint32(16))) % 37, minlength=37)).all()


@triton.jit
def one_hot(labels, o, ROWS: tl.constexpr, B: tl.constexpr):
    row, c = tl.arange(0, ROWS), tl.arange(0, B)
    label = tl.load(labels + row)
    for first in range(0, 4 * B, B):
        index = (first + c).to(tl.int64)
        same = label[:, None] == index[None, :]
        other = tl.load(labels) != index
        tl.store(o + row[:, None] * 4 * B + first + c[None, :], same.to(tl.int8) + 2 * other[None, :])


def test_one_hot():
    """Labels of 64 bits, of which some are in no 32 bits, with the indices of 32 bits that they would be cut to."""
    labels = np.array([3, 77, -1, 1 << 32, (1 << 32) + 5, -(1 << 31), (1 << 31) + 9, -(1 << 63)], "i8")
    for first in 3, 1 << 32:
        labels[0], o = first, np.zeros((8, 128), "i1")
        one_hot[(1,)](labels, o, 8, 32)
        index = np.arange(128)
        assert (o == (labels[:, None] == index) + 2 * (labels[0] != index)).all()


@triton.jit
def combined(mean, squares, count, other_mean, other_squares, other_count):
    n = count + other_count
    share = tl.where(n == 0, 0.0, other_count / n)
    d = other_mean - mean
    return mean + d * share, squares + other_squares + d * d * count * share, n


@triton.jit
def variance(x, means, variances, n, B: tl.constexpr):
    """Welford's, by pairs: two masked elements make 0 / 0, which is dropped."""
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    mean, squares, count = tl.reduce((v, tl.zeros_like(v), (c < n).to(tl.float32)), 0, combined)
    tl.store(means + row, mean)
    tl.store(variances + row, squares / count)


def test_variance():
    x, means, variances = RNG.random((6, 100), dtype="f4"), np.zeros(6, "f4"), np.zeros(6, "f4")
    variance[(6,)](x, means, variances, 100, 128)
    np.testing.assert_allclose(means, x.mean(1), rtol=1e-5)
    np.testing.assert_allclose(variances, x.var(1), rtol=1e-4)


@triton.jit
def packed_look_back(x, o, state, n, B: tl.constexpr):
    """A prefix sum over blocks, in which sum and state are one word: 1 for the block's own sum, 2 for all before it."""
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    total = tl.sum(v, 0)
    before = 0
    if pid > 0:
        tl.atomic_xchg(state + pid, total.to(tl.int64) << 2 | 1)
        k = pid - 1
        while k >= 0:
            word = tl.atomic_add(state + k, 0)
            if word & 3 == 2:
                before += (word >> 2).to(tl.int32)
                k = -1
            elif word & 3 == 1:
                before += (word >> 2).to(tl.int32)
                k -= 1
    tl.atomic_xchg(state + pid, (before + total).to(tl.int64) << 2 | 2)
    tl.store(o + i, tl.cumsum(v, 0) + before, mask=i < n)


def test_packed_look_back():
    x, o = RNG.integers(0, 9, 500).astype("i4"), np.zeros(500, "i4")
    packed_look_back[(4,)](x, o, np.zeros(4, "i8"), 500, 128)
    assert (o == x.cumsum()).all()


@triton.jit
def largest_by_exchange(x, o, B: tl.constexpr):
    """The maximum of floats by compare and swap of their bits."""
    v = tl.max(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
    old = tl.load(o, volatile=True)
    done = False
    while not done:
        new = tl.maximum(old.to(tl.float32, bitcast=True), v).to(tl.int32, bitcast=True)
        found = tl.atomic_cas(o, old, new)
        done = found == old
        old = found


def test_largest_by_exchange():
    x, o = RNG.standard_normal(512).astype("f4"), np.full(1, -1e30, "f4")
    largest_by_exchange[(4,)](x, o.view("i4"), 128)
    assert o[0] == x.max()
