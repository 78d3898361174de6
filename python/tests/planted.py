"""Kernels with one planted fault each, and beside each the right launch or the right kernel. Run by test_faults.py
through `pytest --tessera-check=TARGET`: the right ones must pass, the wrong ones fail at the marked line."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.ragged_tma import create_ragged_descriptor, load_ragged
from triton.tools.tensor_descriptor import TensorDescriptor

from tessera.triton import HostArray

# ---- races ----


@triton.jit
def exchange(x, tmp, o, BARRIER: tl.constexpr, B: tl.constexpr):
    """Memory that nothing had written, which another thread writes too late, or earlier: a race, whichever it is."""
    i = tl.arange(0, B)
    tl.store(tmp + i, tl.load(x + i))
    if BARRIER:
        tl.debug_barrier()
    v = tl.load(tmp + B - 1 - i)  # exchange
    tl.store(o + i, v)


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
def reverse(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)  # reverse
    tl.store(o + B - 1 - i, v)


@triton.jit
def two_to_one(o, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i // N, i)  # two_to_one


@triton.jit
def histogram(x, o, ATOMIC: tl.constexpr, B: tl.constexpr):
    bins = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    if ATOMIC:
        tl.atomic_add(o + bins, 1)
    else:
        old = tl.load(o + bins)  # histogram
        tl.store(o + bins, old + 1)


@triton.jit
def blur_in_place(x, o, B: tl.constexpr):
    i = 1 + tl.arange(0, B)
    v = tl.load(x + i - 1) + tl.load(x + i + 1)  # blur_in_place
    tl.store(o + i, v)


@triton.jit
def split_k(a, c, K, ATOMIC: tl.constexpr, M: tl.constexpr, B: tl.constexpr):
    k = tl.program_id(0) * B + tl.arange(0, B)
    r = tl.arange(0, M)
    v = tl.sum(tl.load(a + r[:, None] * K + k[None, :]), 1)
    if ATOMIC:
        tl.atomic_add(c + r, v)
    else:
        old = tl.load(c + r)  # split_k
        tl.store(c + r, old + v)


@triton.jit
def through_scratch(x, scratch, o, BARRIER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i))
    if BARRIER:
        tl.debug_barrier()
    v = tl.load(scratch + B - 1 - i)  # through_scratch
    tl.store(o + i, v)


@triton.jit
def inline_barrier(x, scratch, o, CODE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i))
    tl.inline_asm_elementwise(CODE, "=r,r", [i], dtype=tl.int32, is_pure=False, pack=1)
    v = tl.load(scratch + (i + B // 2) % B)  # inline_barrier
    tl.store(o + i, v)


@triton.jit
def table_of_all(table, o, CLEARED: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if CLEARED and tl.program_id(0) == 0:
        tl.store(table + i, -1)
    tl.store(table + i, i * i)  # all programs write the same
    tl.debug_barrier()
    v = tl.load(table + B - 1 - i)  # table_of_all
    tl.store(o + tl.program_id(0) * B + i, v)


@triton.jit
def last_block_adds(x, part, counter, o, SEM: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * B + tl.arange(0, B)), 0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1, sem=SEM) == N - 1:
        v = tl.load(part + tl.arange(0, N))  # last_block_adds
        tl.store(o, tl.sum(v, 0))


@triton.jit
def hand_over(x, o, flag, SEM: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if tl.program_id(0) == 0:
        tl.store(x + i, i)
        tl.atomic_store(flag, 1, sem=SEM)
    else:
        tl.atomic_poll(flag, 1)
        v = tl.load(x + i)  # hand_over
        tl.store(o + i, v)


@triton.jit
def lock_without_barrier(x, o, lock, n, BARRIER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v += tl.load(o + i, mask=i < n)  # lock_without_barrier
    tl.store(o + i, v, mask=i < n)
    if BARRIER:
        tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def look_back(x, o, sums, flags, SEM: tl.constexpr, B: tl.constexpr):
    """A prefix sum over blocks: each waits for the flag of the one before it."""
    pid = tl.program_id(0)
    v = tl.load(x + pid * B + tl.arange(0, B))
    before = 0.0
    if pid > 0:
        while tl.atomic_add(flags + pid - 1, 0, sem=SEM) == 0:
            pass
        before = tl.load(sums + pid - 1)  # look_back
    tl.store(sums + pid, before + tl.sum(v, 0))
    tl.debug_barrier()
    tl.atomic_xchg(flags + pid, 1, sem="release" if SEM == "acquire" else SEM)
    tl.store(o + pid * B + tl.arange(0, B), tl.cumsum(v, 0) + before)


@triton.jit
def descriptor_stores(x, o, ATOMIC: tl.constexpr, B: tl.constexpr):
    v = x.load([tl.program_id(0) * B, 0])
    if ATOMIC:
        o.atomic_add([0, 0], v)
    else:
        o.store([0, 0], v)  # descriptor_stores


@triton.jit
def exchange_thrice(x, scratch, o, BARRIERS: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(3):
        tl.store(scratch + i, v)
        tl.debug_barrier()
        v += tl.load(scratch + B - 1 - i)  # exchange_thrice
        if BARRIERS == 2:
            tl.debug_barrier()  # before the next iteration overwrites it
    tl.store(o + i, v)


@triton.jit
def transpose_in_place(x, n, HALF: tl.constexpr, B: tl.constexpr):
    r, c = tl.program_id(0) // 2, tl.program_id(0) % 2
    if r <= c or not HALF:
        i = tl.arange(0, B)
        upper = x + (r * B + i[:, None]) * n + c * B + i[None, :]
        lower = x + (c * B + i[:, None]) * n + r * B + i[None, :]
        a = tl.load(upper)  # transpose_in_place
        b = tl.load(lower)
        tl.store(upper, tl.trans(b))
        tl.store(lower, tl.trans(a))


@triton.jit
def last_one_resets(x, counter, o, ATOMIC: tl.constexpr, B: tl.constexpr):
    tl.atomic_add(o, tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0))
    ticket = tl.atomic_add(counter, 1)  # last_one_resets
    if ticket == 1:  # of three
        if ATOMIC:
            tl.atomic_xchg(counter, 0)
        else:
            tl.store(counter, 0)


@triton.jit
def tiles_overlap(a, c, M, N, STEP: tl.constexpr, B: tl.constexpr):
    from_a = tl.make_tensor_descriptor(a, [M, N], [N, 1], [B, B])
    to_c = tl.make_tensor_descriptor(c, [M, N], [N, 1], [B, B])
    for tile in range(tl.program_id(0), M // B, tl.num_programs(0)):
        block = from_a.load([tile * B, 0])
        to_c.store([tile * STEP, 0], tl.dot(block, block).to(tl.float16))  # tiles_overlap


@triton.jit
def minus_largest(x, largest, o, OWN: tl.constexpr, B: tl.constexpr):
    """The barrier orders the threads of one program, and not the programs."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    at = largest + tl.program_id(0) if OWN else largest
    tl.atomic_max(at, tl.max(v, 0))
    tl.debug_barrier()
    m = tl.load(at)  # minus_largest
    tl.store(o + i, v - m)


@triton.jit
def flag_before_data(x, part, flag, o, EARLY: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if tl.program_id(0) == 0:
        v = tl.load(x + i) * 2
        if EARLY:
            tl.atomic_xchg(flag, 1, sem="release")
        tl.store(part + i, v)
        tl.debug_barrier()
        if not EARLY:
            tl.atomic_xchg(flag, 1, sem="release")
    else:
        while tl.atomic_add(flag, 0, sem="acquire") != 1:
            pass
        v = tl.load(part + i)  # flag_before_data
        tl.store(o + i, v)


@triton.jit
def relax_twice(u, v, n, STEPS: tl.constexpr, B: tl.constexpr):
    """The second step reads what the neighbouring program may not have written."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = (i > 0) & (i < n - 1)
    for _ in tl.static_range(STEPS):
        before = tl.load(u + i - 1, mask=inside, other=0.0)  # relax_twice
        after = tl.load(u + i + 1, mask=inside, other=0.0)
        tl.store(v + i, 0.5 * (before + after), mask=inside)
        u, v = v, u
        tl.debug_barrier()


@triton.jit
def sums_in_place(x, BARRIER: tl.constexpr, B: tl.constexpr, LOG: tl.constexpr):
    i = tl.arange(0, B)
    for d in tl.static_range(LOG):
        v = tl.load(x + i)
        w = tl.load(x + i - (1 << d), mask=i >= (1 << d), other=0.0)  # sums_in_place
        if BARRIER:
            tl.debug_barrier()
        tl.store(x + i, v + w)
        tl.debug_barrier()


@triton.jit
def ticket_of_block(x, part, counter, o, SCOPE: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part + pid, tl.sum(tl.load(x + pid * B + tl.arange(0, B)), 0))
    tl.debug_barrier()
    ticket = tl.atomic_add(counter, 1, sem="acq_rel", scope=SCOPE)  # ticket_of_block
    if ticket == N - 1:
        tl.store(o, tl.sum(tl.load(part + tl.arange(0, N)), 0))


@triton.jit
def tiles_of_wrong_axis(x, tiles, AXIS: tl.constexpr, B: tl.constexpr):
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(AXIS)):
        p = x + tile * B + tl.arange(0, B)
        v = tl.load(p)  # tiles_of_wrong_axis
        tl.store(p, v + 1.0)


# ---- deadlock ----


@triton.jit
def locked(lock, o, RELEASE: tl.constexpr):
    while tl.atomic_cas(lock, 0, 1) == 1:  # locked
        pass
    tl.atomic_add(o, 1)
    if RELEASE:
        tl.atomic_xchg(lock, 0)


@triton.jit
def waits_for_next(flags, o, AHEAD: tl.constexpr):
    pid = tl.program_id(0)
    tl.atomic_xchg(flags + pid, 1)
    while tl.atomic_add(flags + pid + AHEAD, 0) == 0:  # waits_for_next
        pass
    tl.store(o + pid, 1)


# ---- out of bounds ----


@triton.jit
def left_neighbour(x, o, FIRST: tl.constexpr, B: tl.constexpr):
    i = FIRST + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i - 1))  # left_neighbour


@triton.jit
def mask_reads_one_more(x, o, n, EXTRA: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n + EXTRA, other=0.0)  # mask_reads_one_more
    tl.store(o + i, v, mask=i < n)


@triton.jit
def mask_writes_one_more(x, o, n, B: tl.constexpr, EXTRA: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + i, v, mask=i < n + EXTRA)  # mask_writes_one_more


@triton.jit
def row_sums(x, o, n, MASK: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x + tl.program_id(0) * n + i
    v = tl.load(p, mask=i < n, other=0.0) if MASK else tl.load(p)  # row_sums
    tl.store(o + tl.program_id(0), tl.sum(v, 0))


@triton.jit
def one_dimension_masked(x, o, m, n, BOTH: tl.constexpr, B: tl.constexpr):
    r, c = tl.program_id(0) * B + tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    mask = (r < m) & (c < n) if BOTH else c < n
    tl.store(o + r * n + c, tl.load(x + r * n + c, mask=mask, other=0.0) + 1, mask=mask)  # one_dimension_masked


@triton.jit
def gather(x, index, o, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.load(index + i)
    tl.store(o + i, tl.load(x + at))  # gather


@triton.jit
def block_pointer(x, o, n, CHECKED: tl.constexpr, B: tl.constexpr):
    p = tl.make_block_ptr(x, (n,), (1,), (tl.program_id(0) * B,), (B,), (0,))
    if CHECKED:
        v = tl.load(p, boundary_check=(0,), padding_option="zero")
    else:
        v = tl.load(p)  # block_pointer
    tl.atomic_add(o, tl.sum(v, 0))


@triton.jit
def stride_of_another(a, b, o, stride, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(a + r * N + c) + tl.load(b + r * stride + c)  # stride_of_another
    tl.store(o + r * N + c, v)


@triton.jit
def described_size(x, o, n, B: tl.constexpr):
    from_x = tl.make_tensor_descriptor(x, [n], [1], [B])
    to_o = tl.make_tensor_descriptor(o, [n], [1], [B])
    for k in range(0, n, B):
        v = from_x.load([k])  # described_size
        to_o.store([k], v)


@triton.jit
def page_table(pages, table, o, count, PAGE: tl.constexpr, D: tl.constexpr):
    d, t = tl.arange(0, D)[None, :], tl.arange(0, PAGE)[:, None]
    total = tl.zeros((D,), tl.float32)
    for k in range(count):
        page = tl.load(table + k)
        total += tl.sum(tl.load(pages + (page * PAGE + t) * D + d), 0)  # page_table
    tl.store(o + tl.arange(0, D), total)


@triton.jit
def past_last_batch(x, o, start, size, B: tl.constexpr):
    v = load_ragged(x, start, size, [0, 0])  # past_last_batch
    r, c = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tl.store(o + r * B + c, v)


# ---- overflow ----


@triton.jit
def roll(x, o, n, shift, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + (i - shift) % n, mask=i < n)  # roll
    tl.store(o + i, v, mask=i < n)


@triton.jit
def compact(x, o, EXCLUSIVE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    keep = (v > 0).to(tl.int32)
    place = tl.cumsum(keep, 0)
    if EXCLUSIVE:
        place -= keep
    tl.store(o + place, v, mask=keep != 0)  # compact


@triton.jit
def index_wraps(x, o, s, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i * s))  # index_wraps


@triton.jit
def wraps_into_bounds(x, o, s, WIDE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = 4 * i.to(tl.int64) * s % 64 if WIDE else 4 * i * s  # multiples of 2^32
    tl.store(o + i, tl.load(x + at))  # wraps_into_bounds


@triton.jit
def narrow_index(x, o, TYPE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    row = i.to(TYPE) * 300
    v = tl.load(x + row)  # narrow_index
    tl.store(o + i, v)


@triton.jit
def bin_of_largest(x, o, low, width, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    b = ((v - low) / width).to(tl.int32)
    tl.atomic_add(o + b, 1, mask=i < n)  # bin_of_largest


@triton.jit
def columns_by_rows(x, o, xm, xn, M, N, B: tl.constexpr):
    r, c = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    v = tl.load(x + r * xm + c * xn, mask=(r < M) & (c < N))  # columns_by_rows
    tl.store(o + r * N + c, v, mask=(r < M) & (c < N))


# ---- values without a meaning ----


@triton.jit
def mean(sums, counts, o, B: tl.constexpr):
    i = tl.arange(0, B)
    k = tl.load(counts + i)
    m = tl.load(sums + i) // k  # mean
    tl.store(o + i, m)


@triton.jit
def wrap_around(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    j = i % n  # wrap_around
    tl.store(o + i, tl.load(x + j))


@triton.jit
def unpack_bits(x, shifts, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i) >> tl.load(shifts + i)  # unpack_bits
    tl.store(o + i, v)


@triton.jit
def to_pixels(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = (tl.load(x + i) * 255).to(tl.uint8)  # to_pixels
    tl.store(o + i, v)


# ---- what nobody wrote ----


@triton.jit
def accumulate(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(o + i) + tl.load(x + i)  # accumulate
    tl.store(o + i, v)


@triton.jit
def write_partial(x, part, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(part + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0), 0))


@triton.jit
def sum_partial(part, o, N: tl.constexpr):
    v = tl.load(part + tl.arange(0, N))  # sum_partial
    tl.store(o, tl.sum(v, 0))


# ---- promises ----


@triton.jit
def wrong_hint(x, o, offset, HINT: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = tl.max_contiguous(tl.multiple_of(offset + i, HINT), HINT)
    v = tl.load(x + at)  # wrong_hint
    tl.store(o + i, v)


@triton.jit
def asserts(x, o, limit, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.device_assert(v < limit, "too large")  # asserts
    tl.store(o + i, v)


def f4(*shape):
    return np.ones(shape, "f4")


def i4(*shape):
    return np.zeros(shape, "i4")


def batches():
    """40 rows, as a descriptor of batches of any length."""
    return create_ragged_descriptor(HostArray(f4(40, 16)), [16, 16])


def blocks_of(rows, block):
    """A matrix of different rows, and a block of zeros, as descriptors."""
    x = np.repeat(np.array(rows, "f4")[:, None], 32, 1)
    o = np.zeros((block, 32), "f4")
    return (TensorDescriptor.from_tensor(HostArray(a), [block, 32]) for a in (x, o))


def matrix():
    """Different elements: writes of what is there already are no race."""
    return np.arange(1024, dtype="f4").reshape(32, 32)


def squares(n):
    return np.arange(n, dtype="f4") ** 2


def tenths(n):
    """n numbers from 0.0 to 0.99, and 1.0 as the hundredth."""
    x = np.arange(n, dtype="f4") / 101
    x[99:] = 1.0
    return x


def tiles():
    return np.random.default_rng(1).random((128, 32)).astype("f2"), np.zeros((128, 32), "f2")


def pages(last):
    return np.array([1, last, 0], "i4")


def bins(different):
    return (np.arange(128) if different else np.arange(128) // 2 * 2).astype("i4")


def index(last):
    made = np.arange(64, dtype="i4")
    made[-1] = last
    return made


BARRIER, NO_BARRIER = "bar.sync 0; mov.b32 $0, $1;", "mov.b32 $0, $1;"
in_place = np.arange(256, dtype="f4")
R, W = "right", "wrong"


def arrays(n, *more):
    """The same array twice: a kernel that works in place."""
    x = np.arange(n, dtype="f4")
    return (x, x, *more)


def partials(blocks):
    """The sums of the first blocks only."""
    x, part = f4(400), np.empty(4, "f4")
    write_partial[(blocks,)](x, part, 400, 128)
    return part


def wraps(step):
    return np.arange(64, dtype="f4"), f4(4), step


# Name: kernel, blocks, arguments of the right launch, of the wrong one, what is said of it, where it cannot be seen.
TEXT = ("interpreter",)  # which runs programs, and the elements of one operation, one after the other
INLINE_PTX = ("interpreter", "gfx942")
LOWERED = ("sm_90a", "gfx942")  # which give a value to what the text leaves open
VECTORS = ("interpreter", "gfx942")  # loads of gfx942 need no more than the alignment of an element of 4 bytes
MODULO = ("interpreter", "gfx942")  # the latter computes offsets into arrays below 2 GiB modulo 2^32
CASES = {
    "blocks_overlap": (blocks_overlap, 4, lambda: (i4(640), 128, 128), lambda: (i4(640), 64, 128), "race", TEXT),
    "count": (count, 2, lambda: (i4(1), True), lambda: (i4(1), False), "race", TEXT),
    "exchange": (exchange, 1, lambda: (f4(256), np.empty(256, "f4"), f4(256), True, 256),
                 lambda: (f4(256), np.empty(256, "f4"), f4(256), False, 256), "race", TEXT),
    "reverse": (reverse, 1, lambda: (f4(256), f4(256), 256), lambda: arrays(256, 256), "race", TEXT),
    "two_to_one": (two_to_one, 1, lambda: (i4(64), 1, 64), lambda: (i4(64), 2, 64), "race", TEXT),
    "histogram": (histogram, 2, lambda: (i4(256), i4(256), True, 128), lambda: (i4(256), i4(256), False, 128),
                  "race", TEXT),
    "blur_in_place": (blur_in_place, 1, lambda: (f4(258), f4(258), 256), lambda: arrays(258, 256), "race", TEXT),
    "split_k": (split_k, 4, lambda: (f4(16, 256), np.zeros(16, "f4"), 256, True, 16, 64),
                lambda: (f4(16, 256), np.zeros(16, "f4"), 256, False, 16, 64), "race", TEXT),
    "through_scratch": (through_scratch, 1, lambda: (*arrays(256)[:1], np.zeros(256, "f4"), f4(256), True, 256),
                        lambda: (*arrays(256)[:1], np.zeros(256, "f4"), f4(256), False, 256), "race", TEXT),
    "table_of_all": (table_of_all, 3, lambda: (i4(256), i4(768), False, 256), lambda: (i4(256), i4(768), True, 256),
                     "race", TEXT),
    "inline_barrier": (inline_barrier, 1, lambda: (in_place, np.zeros(256, "f4"), f4(256), BARRIER, 256),
                       lambda: (in_place, np.zeros(256, "f4"), f4(256), NO_BARRIER, 256), "race", INLINE_PTX),
    "last_block_adds": (last_block_adds, 4, lambda: (f4(512), np.zeros(4, "f4"), i4(1), f4(1), "acq_rel", 4, 128),
                        lambda: (f4(512), np.zeros(4, "f4"), i4(1), f4(1), "relaxed", 4, 128), "race", TEXT),
    "hand_over": (hand_over, 2, lambda: (i4(128), i4(128), i4(1), "release", 128),
                  lambda: (i4(128), i4(128), i4(1), "relaxed", 128), "race", TEXT),
    "lock_without_barrier": (lock_without_barrier, 4,
                             lambda: (f4(4, 1000), np.zeros(1000, "f4"), i4(1), 1000, True, 1024),
                             lambda: (f4(4, 1000), np.zeros(1000, "f4"), i4(1), 1000, False, 1024), "race", TEXT),
    "look_back": (look_back, 4, lambda: (f4(256), f4(256), np.zeros(4, "f4"), i4(4), "acquire", 64),
                  lambda: (f4(256), f4(256), np.zeros(4, "f4"), i4(4), "relaxed", 64), "race", TEXT),
    "descriptor_stores": (descriptor_stores, 4, lambda: (*blocks_of(range(64), 16), True, 16),
                          lambda: (*blocks_of(range(64), 16), False, 16), "race", TEXT),
    "tiles_overlap": (tiles_overlap, 2, lambda: (*tiles(), 128, 32, 32, 32), lambda: (*tiles(), 128, 32, 16, 32),
                      "race", TEXT),
    "exchange_thrice": (exchange_thrice, 1, lambda: (f4(256), np.zeros(256, "f4"), f4(256), 2, 256),
                        lambda: (f4(256), np.zeros(256, "f4"), f4(256), 1, 256), "race", TEXT),
    "transpose_in_place": (transpose_in_place, 4, lambda: (matrix(), 32, True, 16),
                           lambda: (matrix(), 32, False, 16), "race", TEXT),
    "last_one_resets": (last_one_resets, 3, lambda: (f4(384), i4(1), np.zeros(1, "f4"), True, 128),
                        lambda: (f4(384), i4(1), np.zeros(1, "f4"), False, 128), "race", TEXT),
    "minus_largest": (minus_largest, 4, lambda: (squares(512), f4(4), f4(512), True, 128),
                      lambda: (squares(512), f4(4), f4(512), False, 128), "race", TEXT),
    "flag_before_data": (flag_before_data, 2, lambda: (f4(128), f4(128), i4(1), f4(128), False, 128),
                         lambda: (f4(128), f4(128) * 3, i4(1), f4(128), True, 128), "race", TEXT),
    "relax_twice": (relax_twice, 2, lambda: (squares(256), f4(256), 256, 1, 128),
                    lambda: (squares(256), f4(256), 256, 2, 128), "race", TEXT),
    "sums_in_place": (sums_in_place, 1, lambda: (f4(256), True, 256, 8), lambda: (f4(256), False, 256, 8), "race",
                      TEXT),
    "ticket_of_block": (ticket_of_block, 4, lambda: (f4(512), f4(4), i4(1), f4(1), "gpu", 4, 128),
                        lambda: (f4(512), f4(4), i4(1), f4(1), "cta", 4, 128), "race.*in the scope of its block", TEXT),
    "tiles_of_wrong_axis": (tiles_of_wrong_axis, 3, lambda: (f4(512), 8, 0, 64), lambda: (f4(512), 8, 1, 64), "race",
                            TEXT),
    "narrow_index": (narrow_index, 1, lambda: (f4(128 * 300), f4(128), tl.int32, 128),
                     lambda: (f4(128 * 300), f4(128), tl.int16, 128), "out of bounds", ()),
    "bin_of_largest": (bin_of_largest, 2, lambda: (tenths(99), i4(10), 0.0, 0.1, 99, 64),
                       lambda: (tenths(100), i4(10), 0.0, 0.1, 100, 64), "out of bounds", ()),
    "columns_by_rows": (columns_by_rows, 1, lambda: (f4(10, 30), f4(10, 30), 30, 1, 10, 30, 32),
                        lambda: (f4(10, 30), f4(10, 30), 1, 30, 10, 30, 32), "out of bounds", ()),
    "mean": (mean, 1, lambda: (index(0), i4(64) + 3, i4(64), 64), lambda: (index(0), index(1), i4(64), 64),
             "division by zero", LOWERED),
    "wrap_around": (wrap_around, 1, lambda: (f4(64), f4(64), 7, 64), lambda: (f4(64), f4(64), 0, 64),
                    "remainder of a division by zero", LOWERED),
    "unpack_bits": (unpack_bits, 1, lambda: (index(0), i4(64) + 31, i4(64), 64),
                    lambda: (index(0), i4(64) + 32, i4(64), 64), "shift of 32 bits by 32", LOWERED),
    "to_pixels": (to_pixels, 1, lambda: (f4(64), np.zeros(64, "u1"), 64),
                  lambda: (f4(64) * 1.5, np.zeros(64, "u1"), 64),
                  "conversion of 382.5 to an unsigned integer of 8 bits", LOWERED),
    "locked": (locked, 2, lambda: (i4(1), i4(1), True), lambda: (i4(1), i4(1), False), "deadlock", TEXT),
    "waits_for_next": (waits_for_next, 3, lambda: (i4(4), i4(4), 0), lambda: (i4(4), i4(4), 1), "deadlock", TEXT),
    "left_neighbour": (left_neighbour, 1, lambda: (f4(129), f4(129), 1, 128), lambda: (f4(129), f4(129), 0, 128),
                       "out of bounds", ()),
    "mask_reads_one_more": (mask_reads_one_more, 4, lambda: (f4(1000), f4(1000), 1000, 0, 256),
                            lambda: (f4(1000), f4(1000), 1000, 1, 256), "out of bounds", ()),
    "mask_writes_one_more": (mask_writes_one_more, 4, lambda: (f4(1000), f4(1000), 1000, 256, 0),
                             lambda: (f4(1000), f4(1000), 1000, 256, 1), "out of bounds", ()),
    "row_sums": (row_sums, 4, lambda: (f4(4, 100), f4(4), 100, True, 128),
                 lambda: (f4(4, 100), f4(4), 100, False, 128), "out of bounds", ()),
    "one_dimension_masked": (one_dimension_masked, 2, lambda: (f4(24, 10), f4(24, 10), 24, 10, True, 16),
                             lambda: (f4(24, 10), f4(24, 10), 24, 10, False, 16), "out of bounds", ()),
    "gather": (gather, 1, lambda: (f4(100), index(99), f4(64), 64), lambda: (f4(100), index(100), f4(64), 64),
               "out of bounds", ()),
    "block_pointer": (block_pointer, 4, lambda: (f4(500), f4(1), 500, True, 128),
                      lambda: (f4(500), f4(1), 500, False, 128), "out of bounds", ()),
    "stride_of_another": (stride_of_another, 1, lambda: (f4(16, 16), f4(16, 32), f4(16, 16), 32, 16, 16),
                          lambda: (f4(16, 16), f4(16, 16), f4(16, 16), 32, 16, 16), "out of bounds", ()),
    "described_size": (described_size, 1, lambda: (f4(1000), f4(1000), 1000, 64),
                       lambda: (f4(1000), f4(1000), 1008, 64), "out of bounds", ()),
    "page_table": (page_table, 1, lambda: (f4(8, 16, 32), pages(7), f4(32), 3, 16, 32),
                   lambda: (f4(8, 16, 32), pages(8), f4(32), 3, 16, 32), "out of bounds", ()),
    "past_last_batch": (past_last_batch, 1, lambda: (batches(), f4(16, 16), 30, 10, 16),
                        lambda: (batches(), f4(16, 16), 30, 12, 16), "out of bounds", ()),
    "roll": (roll, 1, lambda: (f4(100), f4(100), 100, -3, 128), lambda: (f4(100), f4(100), 100, 3, 128),
             "out of bounds", ()),
    "compact": (compact, 1, lambda: (np.arange(64, dtype="f4"), f4(63), True, 64),
                lambda: (np.arange(64, dtype="f4"), f4(63), False, 64), "out of bounds", ()),
    "index_wraps": (index_wraps, 1, lambda: (f4(512), f4(128), 4, 128), lambda: (f4(512), f4(128), 1 << 26, 128),
                    "out of bounds|overflow", ()),
    "wraps_into_bounds": (wraps_into_bounds, 1, lambda: (*wraps(1 << 30), True, 4), lambda: (*wraps(1 << 30), False, 4),
                          "overflowed 32 bits", MODULO),
    "accumulate": (accumulate, 2, lambda: (f4(256), np.zeros(256, "f4"), 128),
                   lambda: (f4(256), np.empty(256, "f4"), 128), "nothing ever wrote", ()),
    "sum_partial": (sum_partial, 1, lambda: (partials(4), f4(1), 4), lambda: (partials(3), f4(1), 4),
                    "nothing ever wrote", ()),
    "wrong_hint": (wrong_hint, 1, lambda: (f4(512), f4(256), 16, 16, 256), lambda: (f4(512), f4(256), 3, 16, 256),
                   "misaligned", VECTORS),
    "asserts": (asserts, 1, lambda: (i4(64), i4(64), 1, 64), lambda: (i4(64), i4(64), 0, 64),
                "too large|assertion", ()),
}  # fmt: skip
if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 9):
    del CASES["block_pointer"]  # Triton 3.9 has no block pointers
else:
    del CASES["hand_over"]  # older ones have no atomic stores


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", [R, W])
def test_planted(name, which):
    kernel, blocks, right, wrong, _, _ = CASES[name]
    kernel[(blocks,)](*(right if which == R else wrong)())
