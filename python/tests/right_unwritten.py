"""Right kernels that read memory that nothing has written, and drop what they read: as right_elementwise.py."""

import numpy as np
import pytest
import triton
import triton.language as tl


def f4(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype("f4")


def padded(rows, columns, padding, dtype="f4"):
    """Rows of numbers, and rows of memory that nothing has written."""
    x = np.empty((rows + padding, columns), dtype)
    x[:rows] = f4(rows, columns)
    return x


@triton.jit
def sums(x, o, n, ROWS: tl.constexpr, B: tl.constexpr):
    r, i = tl.arange(0, ROWS), tl.arange(0, B)
    v = tl.load(x + r[:, None] * B + i[None, :])
    v = tl.where(r[:, None] < n, v, 0.0)
    tl.store(o + i, tl.sum(v, 0))


def test_where_before_a_sum():
    x, o = padded(5, 64, 3), np.zeros(64, "f4")
    sums[(1,)](x, o, 5, 8, 64)
    np.testing.assert_allclose(o, x[:5].sum(0), rtol=1e-5)


@triton.jit
def double(x, o, n, ROWS: tl.constexpr, B: tl.constexpr):
    r, i = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, B)
    at = r[:, None] * B + i[None, :]
    tl.store(o + at, tl.load(x + at) * 2, mask=r[:, None] < n)


def test_store_masked_off():
    x, o = padded(11, 32, 5), np.zeros((16, 32), "f4")
    double[(2,)](x, o, 11, 8, 32)
    assert (o[:11] == x[:11] * 2).all() and not o[11:].any()


@triton.jit
def largest(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o, tl.max(tl.where(i < n, v, float("-inf")), 0))
    tl.store(o + 1, tl.argmax(tl.where(i < n, v, float("-inf")), 0))


def test_largest():
    x, o = padded(1, 200, 0), np.zeros(2, "f4")
    x = np.concatenate([x[0], np.empty(56, "f4")])
    largest[(1,)](x, o, 200, 256)
    assert o[0] == x[:200].max() and o[1] == x[:200].argmax()


@triton.jit
def dot(a, b, o, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, i = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + i[None, :])
    y = tl.load(b + i[:, None] * N + n[None, :])
    x = tl.where(i[None, :] < k, x, 0.0)
    y = tl.where(i[:, None] < k, y, 0.0)
    tl.store(o + m[:, None] * N + n[None, :], tl.dot(x, y))


@pytest.mark.parametrize("size", [32, 64])
def test_dot_of_zeroed_elements(size):
    """Both operands: zero times what may be NaN is no zero."""
    a, b, o = np.empty((size, 64), "f2"), np.empty((64, size), "f2"), np.zeros((size, size), "f4")
    a[:, :50], b[:50] = f4(size, 50), f4(50, size)
    dot[(1,)](a, b, o, 50, size, size, 64)
    np.testing.assert_allclose(o, a[:, :50].astype("f4") @ b[:50].astype("f4"), rtol=1e-2, atol=1e-2)


@triton.jit
def chunks(x, o, n, B: tl.constexpr):
    """A state over chunks, of which the last is not full."""
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        v = tl.load(x + start + i)
        keep = (start + i < n).to(tl.float32)
        total += tl.where(keep > 0, v, 0.0)
    tl.store(o + i, total)


def test_chunks():
    x, o = np.empty(256, "f4"), np.zeros(64, "f4")
    x[:200] = f4(200)
    chunks[(1,)](x, o, 200, 64)
    expected = np.concatenate([x[:200], np.zeros(56, "f4")]).reshape(4, 64).sum(0)
    np.testing.assert_allclose(o, expected, rtol=1e-5, atol=1e-5)


@triton.jit
def gather(table, x, o, n, B: tl.constexpr):
    """Indices that nobody wrote are replaced before they are used."""
    i = tl.arange(0, B)
    index = tl.load(table + i)
    index = tl.where(i < n, index, 0)
    tl.store(o + i, tl.load(x + index), mask=i < n)


def test_indices():
    table, x, o = np.empty(128, "i4"), f4(100), np.zeros(128, "f4")
    table[:90] = np.arange(90)[::-1]
    gather[(1,)](table, x, o, 90, 128)
    assert (o[:90] == x[:90][::-1]).all() and not o[90:].any()


@triton.jit
def exclusive(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, tl.cumsum(tl.where(i < n, v, 0), 0), mask=i < n)


def test_scan():
    x, o = np.empty(64, "i4"), np.zeros(64, "i4")
    x[:40] = np.arange(40)
    exclusive[(1,)](x, o, 40, 64)
    assert (o[:40] == np.arange(40).cumsum()).all()


@triton.jit
def two_blocks(x, o, n, B: tl.constexpr):
    """What nothing wrote stays so: the store of the first half is all that is written."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(o + i, v, mask=i < n)


def test_memory_that_stays_unwritten():
    x, o = np.empty(128, "f4"), np.empty(128, "f4")
    x[:64] = f4(64)
    two_blocks[(2,)](x, o, 64, 64)
    two_blocks[(2,)](o, x, 64, 64)
    assert (o[:64] == x[:64]).all()
    again = np.zeros(128, "f4")
    two_blocks[(2,)](o, again, 64, 64)
    assert (again[:64] == x[:64]).all() and not again[64:].any()
