"""Right kernels that reduce, scan, sort and normalise: as right_elementwise.py."""

import numpy as np
import pytest
import triton
import triton.language as tl

RNG = np.random.default_rng(1)


def f4(*shape):
    return RNG.random(shape, dtype="f4")


def near(a, b, tolerance=1e-4):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@triton.jit
def reduce_row(x, o, n, REDUCTION: tl.constexpr, OTHER: tl.constexpr, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=OTHER)
    tl.store(o + row, REDUCTION(v, 0))


ROWS = {
    "sum": (tl.sum, 0.0, lambda x: x.sum(1)),
    "max": (tl.max, -float("inf"), lambda x: x.max(1)),
    "min": (tl.min, float("inf"), lambda x: x.min(1)),
    "argmax": (tl.argmax, -float("inf"), lambda x: x.argmax(1)),
    "argmin": (tl.argmin, float("inf"), lambda x: x.argmin(1)),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("n", [100, 16])
def test_rows(name, n):
    reduction, other, expected = ROWS[name]
    x, o = f4(5, n), np.empty(5, "f4")
    reduce_row[(5,)](x, o, n, reduction, other, triton.next_power_of_2(n))
    near(o, expected(x))


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def multiply_all(x, o, B: tl.constexpr):
    tl.store(o, tl.reduce(tl.load(x + tl.arange(0, B)) + 0.5, 0, multiply))


def test_own_reduction():
    x, o = f4(64), np.empty(1, "f4")
    multiply_all[(1,)](x, o, 64)
    near(o[0], np.prod(x + 0.5, dtype="f8"), 1e-3)


@triton.jit
def columns(x, o, m, n, M: tl.constexpr, N: tl.constexpr):
    c = tl.program_id(0) * N + tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    for first in range(0, m, M):
        r = first + tl.arange(0, M)
        mask = (r < m)[:, None] & (c < n)[None, :]
        total += tl.sum(tl.load(x + r[:, None] * n + c[None, :], mask=mask, other=0.0), 0)
    tl.store(o + c, total, mask=c < n)


def test_columns():
    x, o = f4(70, 50), np.empty(50, "f4")
    columns[(2,)](x, o, 70, 50, 16, 32)
    near(o, x.sum(0))


@triton.jit
def softmax(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + c, e / tl.sum(e, 0), mask=c < n)


def numpy_softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("n", [10, 128, 781])
@pytest.mark.parametrize("in_place", [False, True])
def test_softmax(n, in_place):
    x = f4(4, n)
    expected, o = numpy_softmax(x), x if in_place else np.empty((4, n), "f4")
    softmax[(4,)](x, o, n, triton.next_power_of_2(n))
    near(o, expected)


@triton.jit
def online_softmax(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    largest, total = -float("inf"), 0.0
    for first in range(0, n, B):
        v = tl.load(x + row * n + first + c, mask=first + c < n, other=-float("inf"))
        m = tl.maximum(largest, tl.max(v, 0))
        total = total * tl.exp(largest - m) + tl.sum(tl.exp(v - m), 0)
        largest = m
    for first in range(0, n, B):
        v = tl.load(x + row * n + first + c, mask=first + c < n, other=-float("inf"))
        tl.store(o + row * n + first + c, tl.exp(v - largest) / total, mask=first + c < n)


def test_online_softmax():
    x, o = f4(3, 300), np.empty((3, 300), "f4")
    online_softmax[(3,)](x, o, 300, 64)
    near(o, numpy_softmax(x))


@triton.jit
def layer_norm(x, w, b, o, mean, rstd, n, eps, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    mask = c < n
    v = tl.load(x + row * n + c, mask=mask, other=0.0)
    m = tl.sum(v, 0) / n
    d = tl.where(mask, v - m, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    tl.store(o + row * n + c, d * r * tl.load(w + c, mask=mask) + tl.load(b + c, mask=mask), mask=mask)


def test_layer_norm():
    x, w, b, o = f4(4, 100), f4(100), f4(100), np.empty((4, 100), "f4")
    mean, rstd = np.empty(4, "f4"), np.empty(4, "f4")
    layer_norm[(4,)](x, w, b, o, mean, rstd, 100, 1e-5, 128)
    near(o, (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b, 1e-3)
    near(mean, x.mean(1))


@triton.jit
def rms_norm(x, w, n, eps, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    v *= tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(x + row * n + c, v * tl.load(w + c, mask=c < n, other=0.0), mask=c < n)


def test_rms_norm_in_place():
    x, w = f4(4, 60), f4(60)
    expected = x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w
    rms_norm[(4,)](x, w, 60, 1e-5, 64)
    near(x, expected)


@triton.jit
def scan(x, o, n, REVERSE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, tl.cumsum(v, 0, reverse=REVERSE), mask=i < n)


@pytest.mark.parametrize("n", [50, 1000])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumsum(n, reverse):
    x, o = f4(n), np.empty(n, "f4")
    scan[(1,)](x, o, n, reverse, triton.next_power_of_2(n))
    near(o, x[::-1].cumsum()[::-1] if reverse else x.cumsum(), 1e-3)


@triton.jit
def step(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(a, b, o, T: tl.constexpr):
    i = tl.arange(0, T)
    _, h = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, step)
    tl.store(o + i, h)


def test_associative_scan():
    a, b, o = f4(64), f4(64), np.empty(64, "f4")
    recurrence[(1,)](a, b, o, 64)
    h, expected = 0.0, []
    for x, y in zip(a, b):
        h = x * h + y
        expected.append(h)
    near(o, expected)


@triton.jit
def sort(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.sort(tl.load(x + i)))


def test_sort():
    x, o = f4(64), np.empty(64, "f4")
    sort[(1,)](x, o, 64)
    near(o, np.sort(x))


@triton.jit
def flip(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.flip(tl.load(x + i), 0))


def test_flip():
    x, o = f4(64), np.empty(64, "f4")
    flip[(1,)](x, o, 64)
    near(o, x[::-1])


@triton.jit
def histogram(x, o, N: tl.constexpr, B: tl.constexpr):
    tl.store(o + tl.arange(0, N), tl.histogram(tl.load(x + tl.arange(0, B)), N))


def test_histogram():
    x, o = RNG.integers(0, 16, 256).astype("i4"), np.empty(16, "i4")
    histogram[(1,)](x, o, 16, 256)
    assert (o == np.bincount(x, minlength=16)).all()


@triton.jit
def pick(x, index, o, B: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    i = tl.arange(0, N)
    tl.store(o + i, tl.gather(v, tl.load(index + i), 0))


def test_gather_in_registers():
    x, index, o = f4(64), RNG.integers(0, 64, 32).astype("i4"), np.empty(32, "f4")
    pick[(1,)](x, index, o, 64, 32)
    near(o, x[index])


@triton.jit
def cross_entropy(logits, labels, loss, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(logits + row * n + c, mask=c < n, other=-float("inf"))
    label = tl.load(labels + row)
    m = tl.max(v, 0)
    total = tl.log(tl.sum(tl.exp(v - m), 0)) + m
    tl.store(loss + row, total - tl.load(logits + row * n + label))


def test_cross_entropy():
    x, labels, o = f4(6, 40), RNG.integers(0, 40, 6), np.empty(6, "f4")
    cross_entropy[(6,)](x, labels, o, 40, 64)
    near(o, -np.log(numpy_softmax(x)[np.arange(6), labels]))


@triton.jit
def welford(mean1, m21, n1, mean2, m22, n2):
    delta, n = mean2 - mean1, n1 + n2
    weight = tl.where(n == 0.0, 0.0, n2 / n)
    return mean1 + delta * weight, m21 + m22 + delta * delta * n1 * weight, n


@triton.jit
def variance(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    _, m2, count = tl.reduce((v, tl.zeros_like(v), (i < n).to(tl.float32)), 0, welford)
    tl.store(o, m2 / count)


def test_welford():
    x, o = f4(100), np.empty(1, "f4")
    variance[(1,)](x, o, 100, 128)
    near(o[0], x.var())


@triton.jit
def top_two(x, values, at, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    for k in tl.static_range(2):
        best = tl.argmax(v, 0)
        tl.store(values + row * 2 + k, tl.max(v, 0))
        tl.store(at + row * 2 + k, best)
        v = tl.where(c == best, -float("inf"), v)


def test_top_two():
    x, values, at = f4(5, 20), np.empty((5, 2), "f4"), np.empty((5, 2), "i4")
    top_two[(5,)](x, values, at, 20, 32)
    near(values, np.sort(x, 1)[:, :-3:-1])


@triton.jit
def two_stages(x, part, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


def test_two_launches():
    """What one kernel wrote, the next may read."""
    x, part, o = f4(1000), np.empty(4, "f4"), np.empty(1, "f4")
    two_stages[(4,)](x, part, 1000, 256)
    two_stages[(1,)](part, o, 4, 4)
    near(o[0], x.sum(), 1e-3)


@triton.jit
def rows_of_ones(x, o, B: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + r[:, None] * C + c[None, :])
    tl.store(o + r[:, None] * C + c[None, :], v - tl.max(v, 1, keep_dims=True))


def test_keep_dims():
    x, o = f4(8, 64), np.empty((8, 64), "f4")
    rows_of_ones[(1,)](x, o, 8, 64)
    near(o, x - x.max(1, keepdims=True))
