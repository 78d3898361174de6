"""Right kernels, element by element: pytest's plug-in must be silent about them (test_faults.py), and they compute what
numpy does."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.language.extra import libdevice

RNG = np.random.default_rng(0)


def f4(*shape):
    return RNG.random(shape, dtype="f4") + np.float32(0.25)


def near(a, b, tolerance=1e-5):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(o + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@pytest.mark.parametrize("n, block", [(1000, 256), (1024, 1024), (1, 16), (3, 1024), (129, 64)])
def test_add(n, block):
    x, y, o = f4(n), f4(n), np.empty(n, "f4")
    add[(triton.cdiv(n, block),)](x, y, o, n, block)
    near(o, x + y)


# ---- one operation each, in one kernel that takes it as a function ----


@triton.jit
def apply(x, y, o, n, OPERATION: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    v = OPERATION(tl.load(x + i, mask=mask, other=1.0), tl.load(y + i, mask=mask, other=1.0))
    tl.store(o + i, v, mask=mask)


@triton.jit
def op_relu(a, b):
    return tl.maximum(a - b, 0.0)


@triton.jit
def op_leaky(a, b):
    return tl.where(a > b, a, a * 0.1)


@triton.jit
def op_gelu(a, b):
    return 0.5 * a * (1 + tl.erf(a * 0.70710678))


@triton.jit
def op_silu(a, b):
    return a * tl.sigmoid(a) * b


@triton.jit
def op_hypot(a, b):
    return tl.sqrt(a * a + b * b)


@triton.jit
def op_log_ratio(a, b):
    return tl.log(a / b)


@triton.jit
def op_power(a, b):
    return tl.exp2(b * tl.log2(a))


@triton.jit
def op_rotate(a, b):
    return a * tl.cos(b) - b * tl.sin(a)


@triton.jit
def op_fma(a, b):
    return tl.fma(a, b, a)


@triton.jit
def op_clamp(a, b):
    return tl.clamp(a, 0.3, 0.9) + tl.abs(b - a)


@triton.jit
def op_floor(a, b):
    return tl.floor(a * 4) + tl.ceil(b * 4)


@triton.jit
def op_half(a, b):
    return (a.to(tl.float16) + b.to(tl.float16)).to(tl.float32)


@triton.jit
def op_bfloat(a, b):
    return a.to(tl.bfloat16).to(tl.float32) * b


@triton.jit
def op_bits(a, b):
    return (a.to(tl.int32, bitcast=True) ^ 0).to(tl.float32, bitcast=True) + b


@triton.jit
def op_tanh(a, b):
    return libdevice.tanh(a) + b


@triton.jit
def op_rsqrt(a, b):
    return tl.rsqrt(a + b)


OPERATIONS = {
    op_relu: lambda a, b: np.maximum(a - b, 0),
    op_leaky: lambda a, b: np.where(a > b, a, a * np.float32(0.1)),
    op_gelu: lambda a, b: 0.5 * a * (1 + np.vectorize(__import__("math").erf)(a * 0.70710678)),
    op_silu: lambda a, b: a / (1 + np.exp(-a)) * b,
    op_hypot: lambda a, b: np.sqrt(a * a + b * b),
    op_log_ratio: lambda a, b: np.log(a / b),
    op_power: lambda a, b: a**b,
    op_rotate: lambda a, b: a * np.cos(b) - b * np.sin(a),
    op_fma: lambda a, b: a * b + a,
    op_clamp: lambda a, b: np.clip(a, 0.3, 0.9) + np.abs(b - a),
    op_floor: lambda a, b: np.floor(a * 4) + np.ceil(b * 4),
    op_half: lambda a, b: (a.astype("f2") + b.astype("f2")).astype("f4"),
    op_bfloat: lambda a, b: a * b,
    op_bits: lambda a, b: a + b,
    op_tanh: lambda a, b: np.tanh(a) + b,
    op_rsqrt: lambda a, b: 1 / np.sqrt(a + b),
}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda f: f.__name__)
def test_operation(operation):
    x, y, o = f4(300), f4(300), np.empty(300, "f4")
    apply[(3,)](x, y, o, 300, operation, 128)
    near(o, OPERATIONS[operation](x, y), 2e-2 if operation in (op_half, op_bfloat) else 1e-4)


# ---- in place, strides, shapes ----


@triton.jit
def scale_in_place(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@pytest.mark.parametrize("n, block, warps", [(50, 64, 4), (100, 128, 8), (5, 16, 4), (1000, 1024, 4), (64, 64, 1)])
def test_in_place(n, block, warps):
    """Fewer elements than threads: threads load copies of what others have stored."""
    x = f4(n)
    expected = x * 2
    scale_in_place[(1,)](x, n, block, num_warps=warps)
    near(x, expected)


@triton.jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


def test_scalar_in_place():
    x = np.zeros(1, "i4")
    increment[(1,)](x)
    assert x[0] == 1


@triton.jit
def repeatedly(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _ in range(n):
        tl.store(x + i, tl.load(x + i) + 1)


def test_in_place_in_a_loop():
    x = np.zeros(32, "i4")
    repeatedly[(1,)](x, 5, 32)
    assert (x == 5).all()


@triton.jit
def swap(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(x + i, b)
    tl.store(y + i, a)


def test_swap():
    x, y = f4(128), f4(128)
    a, b = x.copy(), y.copy()
    swap[(2,)](x, y, 64)
    near(x, b), near(y, a)


@triton.jit
def negative_only(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(x + i, -v, mask=v < 0)


def test_mask_of_values():
    x = f4(50) - 0.7
    expected = np.abs(x)
    negative_only[(1,)](x, 50, 64)
    near(x, expected)


@triton.jit
def strided(x, o, n, xs, os, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i * os, tl.load(x + i * xs, mask=i < n), mask=i < n)


def test_strided():
    x, o = f4(300), np.zeros(500, "f4")
    strided[(2,)](x, o, 100, 3, 5, 64)
    near(o[::5], x[::3])


def test_views():
    base = f4(10, 40)
    x, o = base[3, 5:], np.empty(35, "f4")
    add[(1,)](x, x, o, 35, 64)
    near(o, 2 * x)


@triton.jit
def grid_stride(x, o, n, B: tl.constexpr):
    for first in range(tl.program_id(0) * B, n, tl.num_programs(0) * B):
        i = first + tl.arange(0, B)
        tl.store(o + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


def test_grid_stride():
    x, o = f4(1000), np.empty(1000, "f4")
    grid_stride[(3,)](x, o, 1000, 64)
    near(o, x + 1)


@triton.jit
def transpose(x, o, m, n, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    mask = (r < m)[:, None] & (c < n)[None, :]
    v = tl.load(x + r[:, None] * n + c[None, :], mask=mask)
    tl.store(o + c[:, None] * m + r[None, :], tl.trans(v), mask=tl.trans(mask))


@pytest.mark.parametrize("m, n", [(32, 32), (50, 70), (1, 64)])
def test_transpose(m, n):
    x, o = f4(m, n), np.empty((n, m), "f4")
    transpose[(triton.cdiv(m, 32), triton.cdiv(n, 32))](x, o, m, n, 32)
    near(o, x.T)


@triton.jit
def copy_block(x, o, m, n, M: tl.constexpr, N: tl.constexpr):
    at = (tl.program_id(0) * M, tl.program_id(1) * N)
    p = tl.make_block_ptr(x, (m, n), (n, 1), at, (M, N), (1, 0))
    q = tl.make_block_ptr(o, (m, n), (n, 1), at, (M, N), (1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1)), boundary_check=(0, 1))


@pytest.mark.skipif(tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9), reason="Triton 3.9 has none")
def test_block_pointers():
    x, o = f4(40, 50), np.empty((40, 50), "f4")
    copy_block[(3, 4)](x, o, 40, 50, 16, 16)
    near(o, x)


@triton.jit
def deinterleave(x, even, odd, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.split(tl.reshape(tl.load(x + tl.arange(0, 2 * B)), (B, 2)))
    tl.store(even + i, a)
    tl.store(odd + i, b)


def test_split():
    x, a, b = f4(128), np.empty(64, "f4"), np.empty(64, "f4")
    deinterleave[(1,)](x, a, b, 64)
    near(a, x[::2]), near(b, x[1::2])


@triton.jit
def interleave(a, b, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + tl.arange(0, 2 * B), tl.interleave(tl.load(a + i), tl.load(b + i)))


def test_interleave():
    a, b, o = f4(64), f4(64), np.empty(128, "f4")
    interleave[(1,)](a, b, o, 64)
    near(o[::2], a), near(o[1::2], b)


@triton.jit
def outer(a, b, o, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    tl.store(o + r[:, None] * N + c[None, :], tl.load(a + r)[:, None] * tl.load(b + c)[None, :])


def test_outer():
    a, b, o = f4(16), f4(64), np.empty((16, 64), "f4")
    outer[(1,)](a, b, o, 16, 64)
    near(o, np.outer(a, b))


@triton.jit
def gather_rows(x, index, o, n, B: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n)
    tl.store(o + tl.program_id(0) * n + c, v, mask=c < n)


def test_gather():
    x, index, o = f4(10, 30), np.array([9, 0, 3, 3], "i8"), np.empty((4, 30), "f4")
    gather_rows[(4,)](x, index, o, 30, 32)
    near(o, x[index])


@triton.jit
def hashed(x, o, seed, B: tl.constexpr):
    i = tl.arange(0, B)
    h = (tl.load(x + i) ^ seed) * 0x5BD1E995  # wraps on purpose
    h = (h ^ (h >> 13)) * 0x27D4EB2F
    tl.store(o + i, h & 255)


def test_hash():
    x, o = np.arange(256, dtype="i4"), np.full(256, -1, "i4")
    hashed[(1,)](x, o, 12345, 256)
    assert (o >= 0).all() and (o < 256).all() and len(set(o)) > 64


@triton.jit
def dropout(x, o, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, tl.where(tl.rand(seed, i) > p, v / (1 - p), 0.0), mask=i < n)


def test_dropout():
    x, o, again = f4(500), np.empty(500, "f4"), np.empty(500, "f4")
    dropout[(2,)](x, o, 500, 0.5, 7, 256)
    dropout[(2,)](x, again, 500, 0.5, 7, 256)
    assert (o == again).all() and 150 < (o == 0).sum() < 350


@triton.jit
def wide_index(x, o, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i.to(tl.int64) * stride % 1000
    tl.store(o + i, tl.load(x + at))


def test_wide_index():
    x, o = f4(1000), np.empty(64, "f4")
    wide_index[(1,)](x, o, 1 << 40, 64)
    near(o, x[np.arange(64) * (1 << 40) % 1000])


@triton.jit
def previous(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    before = tl.load(x + i - 1, mask=(i > 0) & (i < n), other=0.0)
    tl.store(o + i, tl.load(x + i, mask=i < n) - before, mask=i < n)


def test_difference():
    x, o = f4(200), np.empty(200, "f4")
    previous[(2,)](x, o, 200, 128)
    near(o, np.diff(x, prepend=np.float32(0)))


@triton.jit
def tuples(pair, o, B: tl.constexpr):
    x, times = pair
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * times)


def test_tuple():
    x, o = f4(64), np.empty(64, "f4")
    tuples[(1,)]((x, 3), o, 64)
    near(o, 3 * x)


@triton.jit
def unrolled(x, o, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in tl.static_range(N):
        total += tl.load(x + k * B + i)
    tl.store(o + i, total)


def test_static_range():
    x, o = f4(4, 32), np.empty(32, "f4")
    unrolled[(1,)](x, o, 4, 32)
    near(o, x.sum(0))


@triton.jit
def branches(x, o, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    if pid % 2 == 0:
        v = tl.load(x + i, mask=i < n) + 1
    else:
        v = tl.load(x + i, mask=i < n) * 2
    tl.store(o + i, v, mask=i < n)


def test_branches():
    x, o = f4(100), np.empty(100, "f4")
    branches[(4,)](x, o, 100, 32)
    near(o, np.where(np.arange(100) // 32 % 2 == 0, x + 1, x * 2))


@triton.jit
def converts(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i).to(o.dtype.element_ty))


@pytest.mark.parametrize("source, target", [("f4", "f2"), ("i4", "f4"), ("u1", "i8"), ("f8", "f4"), ("i2", "i4")])
def test_conversions(source, target):
    x, o = np.arange(64).astype(source), np.empty(64, target)
    converts[(1,)](x, o, 64)
    assert (o == np.arange(64)).all()


@triton.jit
def halves_from(q, o, n, first, B: tl.constexpr):
    for start in range(first, n, B):
        k = start + tl.arange(0, B)
        inside = (k >= 0) & (k < n)
        tl.store(o + k, tl.load(q + k // 2, mask=inside, other=0) >> (k % 2 * 4), mask=inside)


@pytest.mark.parametrize("first", [-64, -13, 0, 5])
def test_loop_from_negative_indices(first):
    q, o, k = RNG.integers(0, 256, 102).astype("u1"), np.zeros(203, "u1"), np.arange(203)
    halves_from[(1,)](q, o, 203, first, 32)
    assert (o == np.where(k >= first, q[k // 2] >> (k % 2 * 4), 0)).all()
