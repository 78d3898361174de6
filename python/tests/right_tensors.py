"""Right kernels: tensors of several dimensions, narrow and wide integers, NaN, and loops: as right_elementwise.py."""

import math
from typing import NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl

RNG = np.random.default_rng(29)


def f4(*shape):
    return RNG.standard_normal(shape).astype("f4")


def close(found, expected, tolerance=1e-4):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


class Rows(NamedTuple):
    base: tl.tensor
    stride: tl.tensor


@triton.constexpr_function
def log2(n):
    return n.bit_length() - 1


@triton.jit
def places(rows, r, c):
    return rows.base + r * rows.stride + c


@triton.jit
def copy_scaled(source, target, numbers, o, R: tl.constexpr, C: tl.constexpr):
    bits: tl.constexpr = log2(C)
    r, c = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    v = tl.load(places(source, r, c)) * numbers[0][0] + numbers[0][1] + numbers[1] + bits
    tl.store(places(target, r, c), v)
    tl.store(o + tl.arange(0, R), tl.sum(v, 1))


def test_tuples_with_names():
    x, y, o = f4(16, 48), np.zeros((16, 64), "f4"), np.zeros(16, "f4")
    copy_scaled[(1,)](Rows(x, 48), Rows(y, 64), ((2, 0.5), 3), o, 16, 32)
    expected = x[:, :32] * 2 + 8.5
    close(y[:, :32], expected)
    close(o, expected.sum(1), 1e-3)
    assert not y[:, 32:].any()


@triton.jit
def exclusive_or(a, b):
    return a ^ b


@triton.jit
def first(a, b):
    return a


@triton.jit
def scans(x, sums, xors, firsts, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr,
          REVERSE: tl.constexpr):
    i = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C + tl.arange(0, C)[None, None, :]
    v = tl.load(x + i)
    tl.store(sums + i, tl.cumsum(v, AXIS, reverse=REVERSE, dtype=tl.int32))
    tl.store(xors + i, tl.associative_scan(v, AXIS, exclusive_or, reverse=REVERSE))
    tl.store(firsts + i, tl.associative_scan(v, AXIS, first, reverse=REVERSE))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape, axis", [((4, 8, 16), 1), ((32, 1, 4), 0), ((2, 2, 64), 2), ((1, 64, 2), 1)])
def test_scans_of_bytes(shape, axis, reverse):
    x = RNG.integers(-128, 128, shape, "i1")
    sums, xors, firsts = np.zeros(shape, "i4"), np.zeros_like(x), np.zeros_like(x)
    scans[(1,)](x, sums, xors, firsts, *shape, axis, reverse)
    order = (lambda a: np.flip(a, axis)) if reverse else (lambda a: a)
    np.testing.assert_array_equal(sums, order(order(x).cumsum(axis, "i4")))
    np.testing.assert_array_equal(xors, order(np.bitwise_xor.accumulate(order(x), axis)))
    np.testing.assert_array_equal(firsts, np.broadcast_to(order(x).take([0], axis), shape))


@triton.jit
def reduce_all(x, o, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    """Reductions of all elements of what two reductions along dimensions have left."""
    i = (tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])[:, :, None] * C + tl.arange(0, C)[None, None, :]
    v = tl.load(x + i[:, :, :, None] * D + tl.arange(0, D)[None, None, None, :])
    tl.store(o, tl.min(tl.sum(tl.sum(v, 1), 2)))
    tl.store(o + 1, tl.max(tl.sum(tl.max(v, 3), 0)))
    tl.store(o + 2, tl.sum(v))
    k = (tl.arange(0, C)[:, None, None] * A + tl.arange(0, A)[None, :, None]) * B + tl.arange(0, B)[None, None, :]
    tl.store(o + 3 + k, tl.sum(tl.permute(v, (2, 0, 3, 1)), 2))


@pytest.mark.parametrize("warps", [1, 8])
@pytest.mark.parametrize("shape", [(2, 4, 8, 2), (16, 2, 2, 1), (8, 1, 2, 16), (1, 1, 1, 64)])
def test_reduce_all(shape, warps):
    x, o = f4(*shape), np.zeros(3 + math.prod(shape[:3]), "f4")
    reduce_all[(1,)](x, o, *shape, num_warps=warps)
    close(o[:3], [x.sum(1).sum(2).min(), x.max(3).sum(0).max(), x.sum()])
    close(o[3:], x.sum(3).transpose(2, 0, 1).ravel())


@triton.jit
def integers(x, y, o, OPERATION: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    if OPERATION == "quotient":
        r = a // b
    elif OPERATION == "remainder":
        r = a % b
    elif OPERATION == "shift":
        r = a >> (b & 7)
    else:
        r = tl.minimum(a, b) - tl.maximum(a, b)
    tl.store(o + i, r)


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
@pytest.mark.parametrize("operation, exact", [
    ("quotient", truncated),
    ("remainder", lambda a, b: a - truncated(a, b) * b),
    ("shift", lambda a, b: a >> (b & 7)),
    ("extremes", lambda a, b: -abs(a - b)),
])
def test_integers(dtype, operation, exact):
    info = np.iinfo(dtype)
    x, y = (RNG.integers(info.min, info.max, 128, dtype, endpoint=True) for _ in range(2))
    x[:4], y[:4] = [info.min, info.max, 0, info.min + 1], [info.max, 3, 7, 2]
    y[(y == 0) | (y.astype("i8") == -1)] = 5
    o = np.zeros(128, dtype)
    integers[(1,)](x, y, o, operation, 128)
    wrap = 1 << info.bits
    expected = [(exact(int(a), int(b)) - info.min) % wrap + info.min for a, b in zip(x, y)]
    np.testing.assert_array_equal(o, np.array(expected, dtype))


@triton.jit
def with_nan(x, y, o, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, tl.clamp(a, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o + B + i, tl.clamp(a, -1.0, 1.0))
    tl.store(o + 2 * B + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(o + 3 * B + i, tl.minimum(a, b))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_nan(dtype):
    x, y, o = (f4(64) * 2).astype(dtype), (f4(64) * 2).astype(dtype), np.zeros((4, 64), dtype)
    x[::5], y[::7], x[3], y[4] = np.nan, np.nan, np.inf, -np.inf
    with_nan[(1,)](x, y, o, 64)
    expected = [np.clip(x, -1, 1), np.fmin(np.fmax(x, -1), 1), np.maximum(x, y), np.fmin(x, y)]
    np.testing.assert_array_equal(o, np.array(expected, dtype))


@triton.jit
def collatz(x, o, rounds, B: tl.constexpr):
    """Both loops end when the data say so."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v, n, k = tl.load(x + i), tl.zeros((B,), tl.int32), 0
    while tl.max((v > 1).to(tl.int32), 0) > 0:
        j = 0
        while (j < 3) & (tl.sum((v > 1).to(tl.int32), 0) > 0):
            runs = v > 1
            n += runs.to(tl.int32)
            v = tl.where(runs, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
            j += 1
        k += 1
    tl.store(o + i, n)
    tl.store(rounds + tl.program_id(0), k)


def test_collatz():
    o, rounds, expected = np.zeros(64, "i4"), np.zeros(2, "i4"), []
    collatz[(2,)](np.arange(1, 65, dtype="i4"), o, rounds, 32)
    for n in range(1, 65):
        expected.append(0)
        while n > 1:
            n, expected[-1] = n // 2 if n % 2 == 0 else 3 * n + 1, expected[-1] + 1
    np.testing.assert_array_equal(o, expected)
    np.testing.assert_array_equal(rounds, -(-np.reshape(expected, (2, 32)).max(1) // 3))


@triton.jit
def padded_blocks(x, o, m, n, M: tl.constexpr, N: tl.constexpr, PADDING: tl.constexpr):
    p = tl.advance(tl.make_block_ptr(x, (m, n), (n, 1), (-3, 5), (M, N), (1, 0)), (tl.program_id(0) * M, -6))
    q = tl.make_block_ptr(o, (m + 8, n + 8), (n + 8, 1), (tl.program_id(0) * M, 0), (M, N), (1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1), padding_option=PADDING), boundary_check=(0, 1))


@pytest.mark.skipif(tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9), reason="Triton 3.9 has none")
@pytest.mark.parametrize("padding, value", [("nan", np.nan), ("zero", 0)])
def test_padded_blocks(padding, value):
    x, o, expected = f4(37, 21), np.full((45, 29), 9, "f4"), np.full((45, 29), value, "f4")
    padded_blocks[(3,)](x, o, 37, 21, 16, 32, padding)
    expected[3:40, 1:22] = x
    np.testing.assert_array_equal(o, expected)


@triton.jit
def compact(x, o, count, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=-1)
    keep = v > 0
    first_place = tl.atomic_add(count, tl.sum(keep.to(tl.int32), 0))
    tl.store(o + first_place + tl.cumsum(keep.to(tl.int32), 0) - 1, v, mask=keep)


@pytest.mark.parametrize("block, warps", [(16, 1), (256, 8)])
def test_compact(block, warps):
    x, o, count = RNG.integers(-100, 100, 500, "i4"), np.zeros(500, "i4"), np.zeros(1, "i4")
    compact[(triton.cdiv(500, block),)](x, o, count, 500, block, num_warps=warps)
    np.testing.assert_array_equal(np.sort(o[:count[0]]), np.sort(x[x > 0]))


@triton.jit
def unpacked_dot(a, packed, scales, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, B: tl.constexpr):
    """Weights of four bits, two in a byte along K, with a scale for every block of B."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, B)
    total = tl.zeros((M, N), tl.float32)
    for first_k in range(0, K, B):
        w = tl.load(packed + (first_k // 2 + tl.arange(0, B // 2))[:, None] * N + n[None, :])
        w = tl.join(w & 15, w >> 4).permute(0, 2, 1).reshape(B, N).to(tl.float16) - 8
        w *= tl.load(scales + first_k // B * N + n)[None, :]
        total += tl.dot(tl.load(a + m[:, None] * K + first_k + k[None, :]), w)
    tl.store(c + m[:, None] * N + n[None, :], total)


def test_unpacked_dot():
    a, codes = f4(16, 128).astype("f2"), RNG.integers(0, 16, (128, 64), "u1")
    scales, c = (RNG.random((4, 64)) + 0.5).astype("f2"), np.zeros((16, 64), "f4")
    unpacked_dot[(1,)](a, codes[0::2] | codes[1::2] << 4, scales, c, 16, 64, 128, 32)
    weights = (codes.astype("f2") - 8) * scales.repeat(32, 0)
    close(c, a.astype("f4") @ weights.astype("f4"), 2e-2)
