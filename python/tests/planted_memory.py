"""More kernels with one planted fault each, as planted.py: masks, strides, overflow, and memory that nothing wrote."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tessera.triton import HostArray

# ---- masks and grids ----


@triton.jit
def last_row(x, o, m, n, EXTRA: tl.constexpr, B: tl.constexpr):
    r, c = tl.program_id(0) * B + tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    v = tl.load(x + r * n + c, mask=(r < m) & (c < n), other=0.0)
    tl.store(o + r * n + c, v, mask=(r < m + EXTRA) & (c < n))  # last_row


@triton.jit
def one_dimension_checked(x, o, m, n, CHECKED: tl.constexpr, B: tl.constexpr):
    p = tl.make_block_ptr(x, (m, n), (n, 1), (tl.program_id(0) * B, 0), (B, B), (1, 0))
    q = tl.make_block_ptr(o, (m, n), (n, 1), (tl.program_id(0) * B, 0), (B, B), (1, 0))
    tl.store(q, tl.load(p, boundary_check=CHECKED), boundary_check=(0, 1))  # one_dimension_checked


@triton.jit
def described_columns(x, o, m, n, EXTRA: tl.constexpr, B: tl.constexpr):
    from_x = tl.make_tensor_descriptor(x, [m + EXTRA, n], [n, 1], [B, B])
    to_o = tl.make_tensor_descriptor(o, [m + EXTRA, n], [n, 1], [B, B])
    for r in range(0, m, B):
        v = from_x.load([r, 0])  # described_columns
        to_o.store([r, 0], v)


@triton.jit
def full_blocks(x, o, n, BOUND: tl.constexpr, B: tl.constexpr):
    """The wrong mask is that of the block, not of the array."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n if BOUND else i < (tl.program_id(0) + 1) * B
    v = tl.load(x + i, mask=mask)  # full_blocks
    tl.store(o + i, v, mask=i < n)


@triton.jit
def reversed_index(x, o, n, LAST: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + n - LAST - i, mask=i < n)  # reversed_index
    tl.store(o + i, v, mask=i < n)


@triton.jit
def grid_of_floor(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)  # grid_of_floor
    tl.store(o + i, v)


@triton.jit
def window(x, o, n, LOWER: tl.constexpr, B: tl.constexpr):
    """A causal window: the row before the first one does not exist."""
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in tl.static_range(3):
        mask = (i - k >= 0) & (i < n) if LOWER else i < n
        total += tl.load(x + i - k, mask=mask, other=0.0)  # window
    tl.store(o + i, total, mask=i < n)


@triton.jit
def or_for_and(x, o, m, n, AND: tl.constexpr, B: tl.constexpr):
    r, c = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    mask = (r < m) & (c < n) if AND else (r < m) | (c < n)
    v = tl.load(x + r * n + c, mask=mask, other=0.0)  # or_for_and
    tl.store(o + r * n + c, v, mask=(r < m) & (c < n))


@triton.jit
def one_iteration_more(x, o, n, EXTRA: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for start in range(0, n + EXTRA, B):
        total += tl.load(x + start + i)  # one_iteration_more
    tl.store(o + i, total)


@triton.jit
def atomic_out(x, o, n, EXTRA: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(o + i, tl.load(x + i), mask=i < n + EXTRA)  # atomic_out


@triton.jit
def gathered_rows(x, index, o, B: tl.constexpr, D: tl.constexpr):
    r, d = tl.arange(0, B)[:, None], tl.arange(0, D)[None, :]
    v = tl.load(x + tl.load(index + r) * D + d)  # gathered_rows
    tl.store(o + r * D + d, v)


# ---- strides ----


@triton.jit
def batch_stride(x, o, stride, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * stride + i, mask=i < n)  # batch_stride
    tl.store(o + tl.program_id(0) * n + i, v, mask=i < n)


@triton.jit
def strides_swapped(x, o, sm, sn, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + r * N + c)
    tl.store(o + r * sm + c * sn, v)  # strides_swapped


@triton.jit
def heads(q, o, sb, sh, H: tl.constexpr, D: tl.constexpr):
    """The wrong launch takes the stride of heads for that of batches, and the other way round."""
    b, h, d = tl.program_id(0), tl.program_id(1), tl.arange(0, D)
    v = tl.load(q + b * sb + h * sh + d)  # heads
    tl.store(o + (b * H + h) * D + d, v)


# ---- overflow ----


@triton.jit
def program_times_stride(x, o, stride, WIDE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    pid = tl.program_id(0)
    at = pid.to(tl.int64) * stride % 512 if WIDE else pid * stride
    v = tl.load(x + at + i)  # program_times_stride
    tl.store(o + pid * B + i, v)


@triton.jit
def two_programs(x, o, n, WIDE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    row = tl.program_id(0) * 8 + tl.program_id(1)
    at = row.to(tl.int64) * n % 512 if WIDE else row * n
    v = tl.load(x + at + i)  # two_programs
    tl.store(o + row * B + i, v)


@triton.jit
def negative_index(x, o, rows, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + (rows - 1) * stride + i)  # negative_index
    tl.store(o + i, v)


@triton.jit
def byte_index(x, o, n, B: tl.constexpr):
    """Indices of 8 bits: from 128 on they are negative."""
    i = (tl.arange(0, B)).to(tl.int8)
    v = tl.load(x + i, mask=tl.arange(0, B) < n)  # byte_index
    tl.store(o + tl.arange(0, B), v, mask=tl.arange(0, B) < n)


# ---- what nobody wrote ----


@triton.jit
def copy(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # copy
    tl.store(o + i, v, mask=i < n)


@triton.jit
def by_flag(flag, o, B: tl.constexpr):
    f = tl.load(flag)  # by_flag
    if f == 1:
        tl.store(o + tl.arange(0, B), 1.0)


@triton.jit
def as_index(index, x, o, n, REPLACED: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(index + i)  # as_index
    if REPLACED:
        at = tl.where(i < n, at, 0)
    tl.store(o + i, tl.load(x + at))


@triton.jit
def half_zeroed(a, b, o, k, BOTH: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    """Zero times what may be NaN or infinite."""
    m, i = tl.arange(0, M), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + i[None, :])
    x = tl.where(i[None, :] < k, x, 0.0)
    y = tl.load(b + i[:, None] * M + m[None, :])  # half_zeroed
    if BOTH:
        y = tl.where(i[:, None] < k, y, 0.0)
    tl.store(o + m[:, None] * M + m[None, :], tl.dot(x, y))


@triton.jit
def largest(x, o, n, DROP: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)  # largest
    if DROP:
        v = tl.where(i < n, v, float("-inf"))
    tl.store(o, tl.max(v, 0))


@triton.jit
def inverted(x, o, n, SIGN: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)  # inverted
    keep = i * SIGN < n * SIGN
    tl.store(o, tl.sum(tl.where(keep, v, 0.0), 0))


@triton.jit
def adds_to(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(o + i, tl.load(x + i))  # adds_to


@triton.jit
def old_value(place, o, USED: tl.constexpr):
    old = tl.atomic_xchg(place, 7)  # old_value
    if USED:
        tl.store(o, old)


@triton.jit
def variance(x, o, n, DROP: tl.constexpr, B: tl.constexpr):
    """The mean drops the padding, the squares do not."""
    i = tl.arange(0, B)
    v = tl.load(x + i)  # variance
    mean = tl.sum(tl.where(i < n, v, 0.0), 0) / n
    d = v - mean
    if DROP:
        d = tl.where(i < n, d, 0.0)
    tl.store(o, tl.sum(d * d, 0) / n)


@triton.jit
def first_harmless(x, y, o, n, DROP: tl.constexpr, B: tl.constexpr):
    """Both loads read padding; what the second one reads is stored."""
    i = tl.arange(0, B)
    a = tl.where(i < n, tl.load(x + i), 0.0)
    b = tl.load(y + i)  # first_harmless
    if DROP:
        b = tl.where(i < n, b, 0.0)
    tl.store(o + i, a + b)


@triton.jit
def lock_of_empty(lock, o):
    while tl.atomic_cas(lock, 0, 1) == 1:  # lock_of_empty
        pass
    tl.atomic_add(o, 1)
    tl.atomic_xchg(lock, 0)


@triton.jit
def returns_without(x, o, n, B: tl.constexpr):
    """A program beyond `n` returns, and its part of the output is never written."""
    pid = tl.program_id(0)
    if pid >= n:
        return
    i = pid * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * 2)


@triton.jit
def loop_to(count, x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    n = tl.load(count)  # loop_to
    for k in range(n):
        total += tl.load(x + k * B + i)
    tl.store(o + i, total)


def f4(*shape):
    return np.arange(np.prod(shape), dtype="f4").reshape(shape)


def zeros(*shape):
    return np.zeros(shape, "f4")


def none(n):
    return np.zeros(n, "i4")


def index(n, last):
    made = np.arange(n, dtype="i4")
    made[-1] = last
    return made


def padded(n, size, dtype="f4", shape=None):
    x = np.empty(size, dtype)
    x[:n] = np.arange(n) % 7
    return x if shape is None else x.reshape(shape)


def operands(both):
    """Of 40 of 64 rows of B; the columns of A, too."""
    a = np.empty((32, 64), "f2")
    a[:, :40] = 1
    return a, padded(40 * 32, 64 * 32, "f2"), zeros(32, 32), 40, both, 32, 64


def doubled(programs):
    x, o = f4(256), np.empty(256, "f4")
    returns_without[(4,)](x, o, programs, 64)
    return o, zeros(256), 256, 64


def counted(n):
    count = np.empty(1, "i4")
    if n:
        count[:] = n
    return count, f4(128), zeros(64), 64


R, W = "right", "wrong"
MODULO = ("gfx942",)  # which computes offsets into arrays below 2 GiB modulo 2^32

# As CASES of planted.py.
CASES = {
    "last_row": (last_row, 2, lambda: (f4(20, 10), zeros(20, 10), 20, 10, 0, 16),
                 lambda: (f4(20, 10), zeros(20, 10), 20, 10, 1, 16), "out of bounds", ()),
    "one_dimension_checked": (one_dimension_checked, 2, lambda: (f4(20, 16), zeros(20, 16), 20, 16, (0, 1), 16),
                              lambda: (f4(20, 16), zeros(20, 16), 20, 16, (1,), 16), "out of bounds", ()),
    "described_columns": (described_columns, 1, lambda: (f4(36, 16), zeros(36, 16), 36, 16, 0, 16),
                          lambda: (f4(36, 16), zeros(37, 16), 36, 16, 1, 16), "out of bounds", ()),
    "full_blocks": (full_blocks, 4, lambda: (f4(500), zeros(500), 500, True, 128),
                    lambda: (f4(500), zeros(500), 500, False, 128), "out of bounds", ()),
    "reversed_index": (reversed_index, 1, lambda: (f4(100), zeros(100), 100, 1, 128),
                       lambda: (f4(100), zeros(100), 100, 0, 128), "out of bounds", ()),
    "grid_of_floor": (grid_of_floor, 4, lambda: (f4(512), zeros(512), 128), lambda: (f4(500), zeros(512), 128),
                      "out of bounds", ()),
    "window": (window, 1, lambda: (f4(100), zeros(100), 100, True, 128), lambda: (f4(100), zeros(100), 100, False, 128),
               "out of bounds", ()),
    "or_for_and": (or_for_and, 1, lambda: (f4(10, 12), zeros(10, 12), 10, 12, True, 16),
                   lambda: (f4(10, 12), zeros(10, 12), 10, 12, False, 16), "out of bounds", ()),
    "one_iteration_more": (one_iteration_more, 1, lambda: (f4(512), zeros(128), 512, 0, 128),
                           lambda: (f4(512), zeros(128), 512, 1, 128), "out of bounds", ()),
    "atomic_out": (atomic_out, 1, lambda: (f4(128), zeros(100), 100, 0, 128),
                   lambda: (f4(128), zeros(100), 100, 1, 128), "out of bounds", ()),
    "gathered_rows": (gathered_rows, 1, lambda: (f4(20, 16), index(16, 19), zeros(16, 16), 16, 16),
                      lambda: (f4(20, 16), index(16, -1), zeros(16, 16), 16, 16), "out of bounds", ()),
    "batch_stride": (batch_stride, 4, lambda: (f4(4, 100), zeros(4, 100), 100, 100, 128),
                     lambda: (f4(4, 100), zeros(4, 100), 400, 100, 128), "out of bounds", ()),
    "strides_swapped": (strides_swapped, 1, lambda: (f4(16, 32), zeros(16, 32), 32, 1, 16, 32),
                        lambda: (f4(16, 32), zeros(16, 32), 1, 32, 16, 32), "out of bounds", ()),
    "heads": (heads, (4, 2), lambda: (f4(4, 2, 64), zeros(4, 2, 64), 128, 64, 2, 64),
              lambda: (f4(4, 2, 64), zeros(4, 2, 64), 64, 512, 2, 64), "out of bounds", ()),
    "program_times_stride": (program_times_stride, 5, lambda: (f4(512), zeros(640), 1 << 30, True, 128),
                             lambda: (f4(512), zeros(640), (1 << 30) + 16, False, 128), "out of bounds|overflow",
                             MODULO),
    "two_programs": (two_programs, (2, 8), lambda: (f4(512), zeros(2048), 1 << 29, True, 128),
                     lambda: (f4(512), zeros(2048), 1 << 29, False, 128), "out of bounds|overflow", ()),
    "negative_index": (negative_index, 1, lambda: (f4(512), zeros(128), 2, 128, 128),
                         lambda: (f4(512), zeros(128), 70000, 70000, 128), "out of bounds|overflow", ()),
    "byte_index": (byte_index, 1, lambda: (f4(200), zeros(256), 128, 256), lambda: (f4(200), zeros(256), 140, 256),
                   "out of bounds", ()),
    "copy": (copy, 4, lambda: doubled(4), lambda: doubled(3), "nothing ever wrote", ()),
    "by_flag": (by_flag, 1, lambda: (none(1), zeros(64), 64), lambda: (np.empty(1, "i4"), zeros(64), 64),
                "nothing ever wrote", ()),
    "as_index": (as_index, 1, lambda: (padded(100, 128, "i4"), f4(64), zeros(128), 100, True, 128),
                 lambda: (padded(100, 128, "i4"), f4(64), zeros(128), 100, False, 128), "nothing ever wrote", ()),
    "half_zeroed": (half_zeroed, 1, lambda: operands(True), lambda: operands(False), "nothing ever wrote", ()),
    "largest": (largest, 1, lambda: (padded(100, 128), zeros(1), 100, True, 128),
                lambda: (padded(100, 128), zeros(1), 100, False, 128), "nothing ever wrote", ()),
    "inverted": (inverted, 1, lambda: (padded(100, 128), zeros(1), 100, 1, 128),
                 lambda: (padded(100, 128), zeros(1), 100, -1, 128), "nothing ever wrote", ()),
    "adds_to": (adds_to, 1, lambda: (f4(128), zeros(128), 128), lambda: (f4(128), np.empty(128, "f4"), 128),
                "nothing ever wrote", ()),
    "old_value": (old_value, 1, lambda: (np.empty(1, "i4"), none(1), False),
                  lambda: (np.empty(1, "i4"), none(1), True), "nothing ever wrote", ()),
    "variance": (variance, 1, lambda: (padded(100, 128), zeros(1), 100, True, 128),
                 lambda: (padded(100, 128), zeros(1), 100, False, 128), "nothing ever wrote", ()),
    "first_harmless": (first_harmless, 1, lambda: (padded(100, 128), padded(100, 128), zeros(128), 100, True, 128),
                       lambda: (padded(100, 128), padded(100, 128), zeros(128), 100, False, 128),
                       "nothing ever wrote", ()),
    "lock_of_empty": (lock_of_empty, 2, lambda: (none(1), none(1)), lambda: (np.empty(1, "i4"), none(1)),
                      "nothing ever wrote", ()),
    "loop_to": (loop_to, 1, lambda: counted(2), lambda: counted(None), "nothing ever wrote", ()),
}  # fmt: skip
if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9):
    del CASES["one_dimension_checked"]  # Triton 3.9 has no block pointers


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", [R, W])
def test_planted(name, which):
    kernel, blocks, right, wrong, _, _ = CASES[name]
    grid = blocks if isinstance(blocks, tuple) else (blocks,)
    kernel[grid](*(right if which == R else wrong)())
