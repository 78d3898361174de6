"""Right kernels in which programs or threads wait for each other, or share memory: as right_elementwise.py."""

import numpy as np
import pytest
import triton
import triton.language as tl

RNG = np.random.default_rng(3)


def f4(*shape):
    return RNG.random(shape, dtype="f4")


def i4(*shape):
    return np.zeros(shape, "i4")


@triton.jit
def count(o):
    tl.atomic_add(o, 1)


def test_count():
    o = i4(1)
    count[(10,)](o)
    assert o[0] == 10


@triton.jit
def bins(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


def test_bins():
    x, o = RNG.integers(0, 10, 500).astype("i4"), i4(10)
    bins[(4,)](x, o, 500, 128)
    assert (o == np.bincount(x, minlength=10)).all()


@triton.jit
def table_of_all(x, table, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(table + i, tl.histogram(tl.load(x + i), B))  # the same of every program
    tl.debug_barrier()
    k = tl.program_id(0)
    size = tl.load(table + k)
    if size > 0:
        tl.store(o + k * B + i, size + i)


def test_table_of_all():
    x, table, o = RNG.integers(0, 5, 64).astype("i4"), i4(64), i4(6, 64)
    table_of_all[(6,)](x, table, o, 64)
    expected = np.bincount(x, minlength=64).astype("i4")
    assert (table == expected).all()
    assert (o == np.where(expected[:6, None] > 0, expected[:6, None] + np.arange(64), 0)).all()


@triton.jit
def extremes(x, low, high, B: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    tl.atomic_min(low, tl.min(v, 0))
    tl.atomic_max(high, tl.max(v, 0))


def test_extremes():
    x = RNG.integers(-1000, 1000, 256).astype("i4")
    low, high = np.full(1, 9999, "i4"), np.full(1, -9999, "i4")
    extremes[(4,)](x, low, high, 64)
    assert (low[0], high[0]) == (x.min(), x.max())


@triton.jit
def flags(o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_or(o + i // 32, 1 << (i % 32))


def test_bits():
    o = i4(2)
    flags[(3,)](o, 64)
    assert (o == -1).all()


needs_atomic_load = pytest.mark.skipif(not hasattr(tl, "atomic_load"), reason="Triton 3.9 has these operations")


@triton.jit
def relay(flags, o, POLLS: tl.constexpr, B: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, B)
    if pid > 0:
        if POLLS:
            tl.atomic_poll(flags + pid - 1, 1)
        else:
            while tl.atomic_load(flags + pid - 1) == 0:
                pass
    tl.store(o + i, tl.load(o + i) + 1)
    tl.atomic_store(flags + pid, 1)


@needs_atomic_load
@pytest.mark.parametrize("polls", [False, True])
def test_relay(polls):
    """What all threads of a program have written is seen by all of the next one."""
    flags, o = i4(5), i4(256)
    relay[(5,)](flags, o, polls, 256)
    assert (o == 5).all() and (flags == 1).all()


@triton.jit
def found_in_time(x, o, NS: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.atomic_poll(x + i, 1, timeout_ns=NS))


@needs_atomic_load
@pytest.mark.parametrize("block", [32, 512])
@pytest.mark.parametrize("timeout", [0, 1000])
def test_poll_in_vain(block, timeout):
    x, o = (np.arange(block) % 3).astype("i4"), i4(block)
    found_in_time[(1,)](x, o, timeout, block)
    assert (o == (x == 1)).all()


@triton.jit
def locked(lock, o, n):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(o, tl.load(o) + n)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_lock():
    lock, o = i4(1), i4(1)
    locked[(5,)](lock, o, 3)
    assert o[0] == 15


@triton.jit
def layer_norm_dw(x, dw, lock, seen, n, G: tl.constexpr, B: tl.constexpr):
    """The tutorial's sum of partial gradients: a lock for each group of rows, the first of which does not load."""
    row, c = tl.program_id(0), tl.arange(0, B)
    group = row % G
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    while tl.atomic_cas(lock + group, 0, 1) == 1:
        pass
    if tl.load(seen + group) == 0:
        tl.atomic_xchg(seen + group, 1)
    else:
        v += tl.load(dw + group * n + c, mask=c < n)
    tl.store(dw + group * n + c, v, mask=c < n)
    tl.debug_barrier()
    tl.atomic_xchg(lock + group, 0)


def test_layer_norm_backward():
    x, dw, lock, seen = f4(8, 50), np.empty((2, 50), "f4"), i4(2), i4(2)
    layer_norm_dw[(8,)](x, dw, lock, seen, 50, 2, 64)
    np.testing.assert_allclose(dw, np.stack([x[::2].sum(0), x[1::2].sum(0)]), rtol=1e-5)


@triton.jit
def last_block(x, part, counter, o, N: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * B + tl.arange(0, B)), 0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1) == N - 1:
        tl.store(o, tl.sum(tl.load(part + tl.arange(0, N)), 0))


def test_last_block():
    x, o = f4(512), np.empty(1, "f4")
    last_block[(4,)](x, np.empty(4, "f4"), i4(1), o, 4, 128)
    np.testing.assert_allclose(o[0], x.sum(), rtol=1e-5)


@triton.jit
def chained_scan(x, o, carry, flag, B: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, B)
    v = tl.cumsum(tl.load(x + pid * B + i), 0)
    total = tl.sum(tl.load(x + pid * B + i), 0)
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flag + pid - 1, 0) == 0:
            pass
        before = tl.load(carry + pid - 1)
    tl.store(carry + pid, before + total)
    tl.debug_barrier()
    tl.atomic_xchg(flag + pid, 1)
    tl.store(o + pid * B + i, v + before)


def test_chained_scan():
    x, o = f4(256), np.empty(256, "f4")
    chained_scan[(4,)](x, o, np.empty(4, "f4"), i4(4), 64)
    np.testing.assert_allclose(o, x.cumsum(), rtol=1e-4)


@triton.jit
def through_scratch(x, scratch, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i))
    tl.debug_barrier()
    tl.store(o + i, tl.load(scratch + B - 1 - i))


@pytest.mark.parametrize("block", [32, 256])
def test_through_scratch(block):
    x, o = f4(block), np.empty(block, "f4")
    through_scratch[(1,)](x, np.empty(block, "f4"), o, block)
    assert (o == x[::-1]).all()


@triton.jit
def odd_even_sort(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for k in range(n):
        a = 2 * i + k % 2
        inside = a + 1 < n
        low, high = tl.load(x + a, mask=inside), tl.load(x + a + 1, mask=inside)
        tl.debug_barrier()
        tl.store(x + a, tl.minimum(low, high), mask=inside)
        tl.store(x + a + 1, tl.maximum(low, high), mask=inside)
        tl.debug_barrier()


def test_odd_even_sort():
    x = f4(40)
    expected = np.sort(x)
    odd_even_sort[(1,)](x, 40, 64)
    assert (x == expected).all()


@triton.jit
def grid_barrier(x, o, arrived, N: tl.constexpr, B: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, B)
    tl.store(x + pid * B + i, pid + i)
    tl.debug_barrier()
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < N:
        pass
    tl.store(o + pid * B + i, tl.load(x + (pid + 1) % N * B + i))


def test_grid_barrier():
    x, o = i4(4 * 64), i4(4 * 64)
    grid_barrier[(4,)](x, o, i4(1), 4, 64)
    assert (o == np.concatenate([(p + 1) % 4 + np.arange(64) for p in range(4)])).all()


@triton.jit
def work_queue(next_item, x, n):
    item = tl.atomic_add(next_item, 1)
    while item < n:
        tl.store(x + item, item * item)
        item = tl.atomic_add(next_item, 1)


def test_work_queue():
    x = np.empty(20, "i4")
    work_queue[(3,)](i4(1), x, 20)
    assert (x == np.arange(20) ** 2).all()


@triton.jit
def same_value(o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i // 4, 7)


def test_many_threads_write_the_same_value():
    o = i4(16)
    same_value[(2,)](o, 64)
    assert (o == 7).all()


@triton.jit
def stencil(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = (i > 0) & (i < n - 1)
    v = tl.load(x + i - 1, mask=inside) + tl.load(x + i, mask=inside) + tl.load(x + i + 1, mask=inside)
    tl.store(o + i, v, mask=inside)


def test_ping_pong():
    """Launches are in order: the next reads what the one before has written."""
    x, y = f4(100), np.zeros(100, "f4")
    y[[0, -1]] = x[[0, -1]]
    expected = x.copy()
    for _ in range(3):
        stencil[(2,)](x, y, 100, 64)
        expected[1:-1] = expected[:-2] + expected[1:-1] + expected[2:]
        x, y = y, x
    np.testing.assert_allclose(x, expected, rtol=1e-5)


@triton.jit
def exchange(o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_xchg(o + i, i)


def test_exchange():
    o = np.empty(64, "i4")
    exchange[(1,)](o, 64)
    assert (o == np.arange(64)).all()


@triton.jit
def accumulate_float(x, o, B: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    tl.atomic_add(o, tl.sum(v, 0), sem="relaxed")


def test_float_atomics():
    x, o = f4(256), np.zeros(1, "f4")
    accumulate_float[(4,)](x, o, 64)
    np.testing.assert_allclose(o[0], x.sum(), rtol=1e-5)


@triton.jit
def in_place_tiles(x, n, B: tl.constexpr):
    """Two programs share a row, and no element."""
    c = tl.program_id(1) * B + tl.arange(0, B)
    p = x + tl.program_id(0) * n + c
    tl.store(p, tl.load(p, mask=c < n) + 1, mask=c < n)


def test_tiles():
    x = f4(5, 50)
    expected = x + 1
    in_place_tiles[(5, 2)](x, 50, 32)
    np.testing.assert_allclose(x, expected)


@triton.jit
def asserting(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.device_assert((v >= 0) & (v < 100), "out of range", mask=i < n)
    tl.store(o + i, v, mask=i < n)


def test_assertion_that_holds():
    x, o = RNG.integers(0, 100, 50).astype("i4"), np.empty(50, "i4")
    asserting[(1,)](x, o, 50, 64)
    assert (o == x).all()


@triton.jit
def rescaled(x, s, n, B: tl.constexpr, N: tl.constexpr):
    """Each block's scale is loaded, and replaced by what it is reduced to."""
    i = tl.program_id(0) * B * N + tl.arange(0, B * N)
    v = tl.load(x + i, mask=i < n, other=0.0) * tl.load(s + i // B, mask=i < n, other=0.0) + 1.0
    largest = tl.max(tl.abs(v).reshape(N, B), axis=1)
    block = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(s + block, largest, mask=block * B < n)
    tl.store(x + i, v / tl.broadcast_to(largest[:, None], (N, B)).reshape(B * N), mask=i < n)


@pytest.mark.parametrize("block, blocks, warps", [(256, 1, 2), (256, 8, 4), (64, 4, 2), (32, 64, 8), (2048, 1, 4)])
def test_scale_in_place(block, blocks, warps):
    n = block * blocks * 3
    x, s = f4(n), f4(n // block)
    v = x.reshape(-1, block) * s[:, None] + 1
    largest = v.max(1)
    rescaled[(3,)](x, s, n, block, blocks, num_warps=warps)
    np.testing.assert_allclose(s, largest, rtol=1e-6)
    np.testing.assert_allclose(x.reshape(v.shape), v / largest[:, None], rtol=1e-6)
