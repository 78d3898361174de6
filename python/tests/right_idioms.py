"""Right kernels in idioms of serving and training libraries: as right_elementwise.py."""

import numpy as np
import pytest
import triton
import triton.language as tl

RNG = np.random.default_rng(13)


def f4(*shape):
    return RNG.standard_normal(shape).astype("f4")


def close(found, expected, tolerance=1e-4):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@triton.jit
def linear(decay, value, next_decay, next_value):
    return decay * next_decay, next_decay * value + next_value


@triton.jit
def recurrence(a, b, o, REVERSE: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, N)[:, None] * D + tl.arange(0, D)[None, :]
    _, states = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, linear, reverse=REVERSE)
    tl.store(o + i, states)


@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence(reverse):
    a, b = RNG.random((64, 32), dtype="f4"), f4(64, 32)
    o, expected, state = np.zeros_like(a), np.zeros_like(a), np.zeros(32, "f4")
    recurrence[(1,)](a, b, o, reverse, 64, 32)
    for t in reversed(range(64)) if reverse else range(64):
        state = a[t] * state + b[t]
        expected[t] = state
    close(o, expected)


@triton.jit
def paged(q, pages, table, o, count, PAGE: tl.constexpr, D: tl.constexpr):
    """Attention of one query over keys, which are the values, too, in pages."""
    d, t = tl.arange(0, D), tl.arange(0, PAGE)
    query, total, weights = tl.load(q + d), tl.zeros((D,), tl.float32), 0.0
    for k in range(tl.cdiv(count, PAGE)):
        page = tl.load(table + k).to(tl.int64)
        keys = tl.load(pages + (page * PAGE + t[:, None]) * D + d[None, :])
        weight = tl.where(k * PAGE + t < count, tl.exp(tl.sum(keys * query[None, :], 1)), 0.0)
        total += tl.sum(keys * weight[:, None], 0)
        weights += tl.sum(weight, 0)
    tl.store(o + d, total / weights)


def test_paged_attention():
    pages, q, table, o = f4(8, 16, 32) / 4, f4(32) / 4, np.array([5, 2, 7, 0], "i4"), np.zeros(32, "f4")
    paged[(1,)](q, pages, table, o, 55, 16, 32)
    keys = pages[table].reshape(-1, 32)[:55]
    weights = np.exp(keys @ q)
    close(o, weights @ keys / weights.sum())


@triton.jit
def places(experts, counts, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    expert = tl.load(experts + i, mask=i < n, other=0)
    tl.store(o + i, tl.atomic_add(counts + expert, 1, mask=i < n), mask=i < n)


def test_places_of_experts():
    experts, counts, o = RNG.integers(0, 8, 300).astype("i4"), np.zeros(8, "i4"), np.zeros(300, "i4")
    places[(3,)](experts, counts, o, 300, 128)
    for e in range(8):
        assert sorted(o[experts == e]) == list(range(counts[e]))


@triton.jit
def quantise_fp4(x, packed, scales, R: tl.constexpr):
    """Blocks of 32: a power of two that the largest fits, and two elements of e2m1 in each byte."""
    r, i = tl.arange(0, R), tl.arange(0, R)[:, None] * 32 + tl.arange(0, 32)[None, :]
    v = tl.load(x + i)
    exponent = tl.maximum((tl.max(tl.abs(v), 1).to(tl.int32, bitcast=True) >> 23) - 127 - 2, -127)
    tl.store(scales + r, (exponent + 127).to(tl.uint8))
    scaled = v * tl.exp2(-exponent.to(tl.float32))[:, None]
    a = tl.abs(scaled)
    code = (a > 0.25).to(tl.uint8) + (a >= 0.75).to(tl.uint8) + (a > 1.25).to(tl.uint8) + (a >= 1.75).to(tl.uint8)
    code += (a > 2.5).to(tl.uint8) + (a >= 3.5).to(tl.uint8) + (a > 5).to(tl.uint8)
    low, high = tl.split((code | ((scaled < 0).to(tl.uint8) << 3)).reshape(R, 16, 2))
    tl.store(packed + r[:, None] * 16 + tl.arange(0, 16)[None, :], low | (high << 4))


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], "f4")


def of_fp4(packed):
    return np.stack([E2M1[packed & 15], E2M1[packed >> 4]], -1).reshape(*packed.shape[:-1], -1)


def test_quantise_fp4():
    x, packed, scales = f4(16, 32), np.zeros((16, 16), "u1"), np.zeros(16, "u1")
    quantise_fp4[(1,)](x, packed, scales, 16)
    step = 2.0 ** (scales.astype("i4") - 127)[:, None]
    nearest = np.abs(x[..., None] / step[..., None] - E2M1).min(-1)  # what no other code is closer than
    close(np.abs(x / step - of_fp4(packed)), nearest, 1e-6)


@triton.jit
def scaled_dot(a, a_scales, b, b_scales, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, s = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, K // 2), tl.arange(0, K // 32)[None, :]
    x = tl.load(a + m * (K // 2) + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    x_scales, y_scales = tl.load(a_scales + m * (K // 32) + s), tl.load(b_scales + n[:, None] * (K // 32) + s)
    tl.store(o + m * N + n[None, :], tl.dot_scaled(x, x_scales, "e2m1", y, y_scales, "e2m1"))


def test_scaled_dot():
    m, n, k = 32, 64, 128
    a, b = RNG.integers(0, 256, (m, k // 2)).astype("u1"), RNG.integers(0, 256, (n, k // 2)).astype("u1")
    scales = [RNG.integers(124, 130, (rows, k // 32)).astype("u1") for rows in (m, n)]
    o = np.zeros((m, n), "f4")
    scaled_dot[(1,)](a, scales[0], np.ascontiguousarray(b.T), scales[1], o, m, n, k)
    x, y = (of_fp4(v) * np.repeat(2.0 ** (s.astype("i4") - 127), 32, 1) for v, s in zip((a, b), scales))
    close(o, x @ y.T)


@triton.jit
def chunk(decays, x, b, c, o, L: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    """One chunk of a state space model: dots with decays between the steps."""
    t, d, n = tl.arange(0, L), tl.arange(0, D)[None, :], tl.arange(0, N)[None, :]
    total = tl.cumsum(tl.load(decays + t), 0)
    between = tl.where(t[:, None] >= t[None, :], tl.exp(total[:, None] - total[None, :]), 0.0)
    inputs, outputs = tl.load(b + t[:, None] * N + n), tl.load(c + t[:, None] * N + n)
    scores = tl.dot(outputs, tl.trans(inputs), input_precision="ieee") * between
    tl.store(o + t[:, None] * D + d, tl.dot(scores, tl.load(x + t[:, None] * D + d), input_precision="ieee"))


def test_chunk():
    decays, x, b, c, o = -RNG.random(32, dtype="f4"), f4(32, 16), f4(32, 16), f4(32, 16), np.zeros((32, 16), "f4")
    chunk[(1,)](decays, x, b, c, o, 32, 16, 16)
    total = np.cumsum(decays)
    between = np.tril(np.exp(np.minimum(total[:, None] - total[None, :], 0)))
    close(o, (c @ b.T * between) @ x, 1e-3)


@triton.jit
def unit_inverse(a, o, N: tl.constexpr):
    """(1 + lower triangle)^-1, row by row, of registers that each row changes."""
    r = tl.arange(0, N)
    i = r[:, None] * N + r[None, :]
    inverse = -tl.where(r[:, None] > r[None, :], tl.load(a + i), 0.0)
    for k in range(1, N):
        row = tl.where(r < k, -tl.load(a + k * N + r), 0.0)
        row += tl.sum(row[:, None] * inverse, 0) * (r < k)
        inverse = tl.where((r == k)[:, None], row[None, :], inverse)
    tl.store(o + i, inverse + (r[:, None] == r[None, :]))


def test_unit_inverse():
    a, o = f4(16, 16) / 4, np.zeros((16, 16), "f4")
    unit_inverse[(1,)](a, o, 16)
    close(o, np.linalg.inv(np.eye(16) + np.tril(a, -1)), 1e-3)


@triton.jit
def power(x, N: tl.constexpr):
    if N == 0:
        return tl.full(x.shape, 1.0, tl.float32)
    else:
        return x * power(x, N - 1)


@triton.jit
def early_return(x, o, n, N: tl.constexpr, B: tl.constexpr):
    first = tl.program_id(0) * B
    if first >= n:
        return
    i = first + tl.arange(0, B)
    tl.store(o + i, power(tl.load(x + i, mask=i < n), N), mask=i < n)


def test_early_return_and_recursion():
    x, o = f4(200), np.zeros(200, "f4")
    early_return[(5,)](x, o, 200, 3, 128)
    close(o, x**3)


@triton.jit
def order(a, b):
    if a < b:
        return -1
    elif a == b:
        return 0
    else:
        return 1


@triton.jit
def compare(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.map_elementwise(order, tl.load(x + i), tl.load(y + i)))


def test_map_elementwise():
    x, y = (RNG.integers(0, 4, 128).astype("i4") for _ in "xy")
    o = np.zeros(128, "i4")
    compare[(1,)](x, y, o, 128)
    assert (o == np.sign(x - y)).all()


@triton.jit
def wide_atomics(x, largest, sums, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_max(largest + i * 0, v.to(tl.int64) << 32)
    tl.atomic_add(sums + i % 8, (v % 3).to(tl.float16))


def test_wide_and_narrow_atomics():
    x, largest, sums = RNG.integers(0, 1000, 128).astype("i4"), np.zeros(1, "i8"), np.zeros(8, "f2")
    wide_atomics[(1,)](x, largest, sums, 128)
    assert largest[0] == int(x.max()) << 32
    assert (sums == (x % 3).reshape(-1, 8).sum(0)).all()


@triton.jit
def doubled_until(x, o, TWICE: tl.constexpr):
    v, steps = tl.load(x), 0
    while v < 100:
        v = v * 2 if TWICE else v + 1
        steps += 1
    tl.store(o, v)
    tl.store(o + 1, steps)


@pytest.mark.parametrize("twice, expected", [(True, [192, 6]), (False, [100, 97])])
def test_while(twice, expected):
    o = np.zeros(2, "i4")
    doubled_until[(1,)](np.array([3], "i4"), o, twice)
    assert o.tolist() == expected


@triton.jit
def add_under_lock(x, o, lock, VOLATILE: tl.constexpr, B: tl.constexpr):
    """Partial results that programs add up one after the other. The block has more threads than elements: other threads
    load them, too, and nothing comes of it."""
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.debug_barrier()
    tl.store(o + i, tl.load(o + i, volatile=VOLATILE) + v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@pytest.mark.parametrize("volatile", [False, True])
def test_add_under_lock(volatile):
    x, o = f4(5, 32), np.zeros(32, "f4")
    add_under_lock[(5,)](x, o, np.zeros(1, "i4"), volatile, 32)
    close(o, x.sum(0))
