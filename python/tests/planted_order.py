"""More kernels with one planted fault each, as planted.py: races of programs and of warps, locks, deadlocks."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tessera.triton import HostArray

# ---- races of programs ----


@triton.jit
def next_program(x, scratch, o, AHEAD: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, B)
    tl.store(scratch + pid * B + i, tl.load(x + pid * B + i))
    v = tl.load(scratch + (pid + AHEAD) % N * B + i)  # next_program
    tl.store(o + pid * B + i, v)


@triton.jit
def stencil(x, o, n, B: tl.constexpr):
    """Tiles of a matrix; in place, a tile reads what its neighbours have changed."""
    r, c = tl.program_id(0) * B + tl.arange(0, B)[:, None], tl.program_id(1) * B + tl.arange(0, B)[None, :]
    right = tl.load(x + r * n + c + 1, mask=c + 1 < n, other=0.0)
    below = tl.load(x + (r + 1) * n + c, mask=r + 1 < n, other=0.0)
    tl.store(o + r * n + c, right + below)  # stencil


@triton.jit
def polls(x, flag, o, ATOMIC: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    if tl.program_id(0) == 0:
        tl.store(o + i, tl.load(x + i) * 2)
        tl.debug_barrier()
        tl.atomic_xchg(flag, 1)
    else:
        if ATOMIC:
            while tl.atomic_add(flag, 0) == 0:
                pass
            v = tl.load(o + i)
        else:
            v = tl.load(o + i)  # polls
        tl.store(o + B + i, v)


@triton.jit
def lock_relaxed(x, o, lock, SEM: tl.constexpr, RELEASE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    while tl.atomic_cas(lock, 0, 1, sem=SEM) == 1:
        pass
    tl.debug_barrier()
    v += tl.load(o + i)  # lock_relaxed
    tl.store(o + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem=RELEASE)


@triton.jit
def unlock_relaxed(x, o, lock, SEM: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v += tl.load(o + i)  # unlock_relaxed
    tl.store(o + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem=SEM)


@triton.jit
def unlock_by_store(x, o, lock, ATOMIC: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    while tl.atomic_cas(lock, 0, 1) == 1:  # unlock_by_store
        pass
    v += tl.load(o + i)
    tl.store(o + i, v)
    tl.debug_barrier()
    if ATOMIC:
        tl.atomic_xchg(lock, 0)
    else:
        tl.store(lock, 0)


@triton.jit
def wrong_lock(x, o, locks, GROUPS: tl.constexpr, B: tl.constexpr):
    """Each lock is for one row of sums; the wrong launch has more locks than rows."""
    pid, i = tl.program_id(0), tl.arange(0, B)
    row = pid % 2
    lock = locks + pid % GROUPS
    v = tl.load(x + pid * B + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    v += tl.load(o + row * B + i)  # wrong_lock
    tl.store(o + row * B + i, v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def clears_first(x, o, CLEAR: tl.constexpr, B: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, B)
    if CLEAR and pid == 0:
        tl.store(o, 0.0)
    tl.atomic_add(o, tl.sum(tl.load(x + pid * B + i), 0), sem="relaxed")  # clears_first


@triton.jit
def bit_set(x, words, ATOMIC: tl.constexpr, B: tl.constexpr):
    at = tl.load(x + tl.arange(0, B))
    bit = (1 << (at % 32)).to(tl.int32)
    if ATOMIC:
        tl.atomic_or(words + at // 32, bit)
    else:
        old = tl.load(words + at // 32)
        tl.store(words + at // 32, old | bit)  # bit_set


@triton.jit
def shifted(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)  # shifted
    tl.store(o + i + 1, v, mask=i < n)


@triton.jit
def rows_overlap(x, o, stride, B: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, B)
    tl.store(o + pid * stride + i, tl.load(x + pid * B + i))  # rows_overlap


@triton.jit
def wrong_step(x, tiles, LESS: tl.constexpr, B: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0) - LESS):
        p = x + tile * B + tl.arange(0, B)
        v = tl.load(p)  # wrong_step
        tl.store(p, v * 3.0)


@triton.jit
def two_ends(x, o, n, MIDDLE: tl.constexpr, B: tl.constexpr):
    """Two programs reverse an array in place, from both ends."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n // 2 + MIDDLE
    a = tl.load(x + i, mask=inside)
    b = tl.load(x + n - 1 - i, mask=inside)  # two_ends
    tl.store(x + i, b, mask=inside)
    tl.store(x + n - 1 - i, a, mask=inside)
    tl.store(o + i, a, mask=inside)


@triton.jit
def append(x, o, count, ATOMIC: tl.constexpr, B: tl.constexpr):
    """Programs append blocks of a length that a counter without atomics hands out."""
    i = tl.arange(0, B)
    if ATOMIC:
        at = tl.atomic_add(count, B)
    else:
        at = tl.load(count)  # append
        tl.store(count, at + B)
    tl.store(o + at + i, tl.load(x + tl.program_id(0) * B + i))


@triton.jit
def experts(x, index, o, ATOMIC: tl.constexpr, B: tl.constexpr):
    """Rows are added to the rows that an index names, two of them to the same."""
    pid, i = tl.program_id(0), tl.arange(0, B)
    to = o + tl.load(index + pid) * B + i
    v = tl.load(x + pid * B + i)
    if ATOMIC:
        tl.atomic_add(to, v)
    else:
        old = tl.load(to)  # experts
        tl.store(to, old + v)


@triton.jit
def atomic_and_plain(x, o, PLAIN: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if tl.program_id(0) == 0 and PLAIN:
        tl.store(o + i, v)
    else:
        tl.atomic_max(o + i, v)  # atomic_and_plain


@triton.jit
def descriptors_in_place(x, o, B: tl.constexpr):
    """In place, a program reads the row after its own."""
    pid = tl.program_id(0)
    v = x.load([pid + 1, 0])  # descriptors_in_place
    o.store([pid, 0], v)


# ---- races of warps ----


@triton.jit
def every_second(x, scratch, o, EVERY: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for k in range(4):
        tl.store(scratch + k * B + i, v)
        if k % EVERY == 0:
            tl.debug_barrier()
        v += tl.load(scratch + k * B + (i + B // 2) % B)  # every_second
    tl.store(o + i, v)


@triton.jit
def barrier_if(x, scratch, o, flag, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + i, tl.load(x + i))
    if flag > 0:
        tl.debug_barrier()
    v = tl.load(scratch + i // 64 * 64 + 63 - i % 64 + tl.where(i < B // 2, B // 2, -(B // 2)))  # barrier_if
    tl.store(o + i, v)


@triton.jit
def counts_then_reads(x, bins, o, BARRIER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(bins + tl.load(x + i), 1)
    if BARRIER:
        tl.debug_barrier()
    n = tl.load(bins + i)  # counts_then_reads
    tl.store(o + i, n)


@triton.jit
def store_by_ptx(x, scratch, o, STORE: tl.constexpr, BARRIER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if STORE:
        tl.store(scratch + i, v)
    else:
        code: tl.constexpr = "st.global.b32 [$1], $2; mov.b32 $0, 0;"
        words = v.to(tl.int32, bitcast=True)
        tl.inline_asm_elementwise(code, "=r,l,r", [(scratch + i).to(tl.int64), words], tl.int32, is_pure=False, pack=1)
    if BARRIER:
        tl.debug_barrier()
    v = tl.load(scratch + B - 1 - i)  # store_by_ptx
    tl.store(o + i, v)


@triton.jit
def permute(x, index, scratch, o, BARRIER: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(scratch + tl.load(index + i), tl.load(x + i))
    if BARRIER:
        tl.debug_barrier()
    v = tl.load(scratch + i)  # permute
    tl.store(o + i, tl.cumsum(v, 0))


@triton.jit
def transposed(x, scratch, o, BARRIER: tl.constexpr, B: tl.constexpr):
    r, c = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    tl.store(scratch + r * B + c, tl.load(x + r * B + c))
    if BARRIER:
        tl.debug_barrier()
    v = tl.load(scratch + (B - 1 - c) * B + r)  # transposed
    tl.store(o + r * B + c, v)


# ---- deadlocks ----


@triton.jit
def two_locks(locks, arrived, o, CROSSED: tl.constexpr):
    """Both programs hold their first lock when they ask for the second."""
    pid = tl.program_id(0)
    first = pid if CROSSED else pid * 2
    second = 1 - pid if CROSSED else pid * 2 + 1
    while tl.atomic_cas(locks + first, 0, 1) == 1:
        pass
    tl.atomic_add(arrived, 1)
    while tl.atomic_add(arrived, 0) < 2:
        pass
    while tl.atomic_cas(locks + second, 0, 1) == 1:  # two_locks
        pass
    tl.atomic_add(o, 1)
    tl.atomic_xchg(locks + second, 0)
    tl.atomic_xchg(locks + first, 0)


@triton.jit
def all_arrive(counter, o, EXPECTED: tl.constexpr):
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < EXPECTED:  # all_arrive
        pass
    tl.store(o + tl.program_id(0), 1)


@triton.jit
def returns_early(counter, o, n, N: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    tl.atomic_add(counter, 1)
    while tl.atomic_add(counter, 0) < N:  # returns_early
        pass
    tl.store(o + pid, 1)


@triton.jit
def waits_for_itself(flags, o, FIRST: tl.constexpr):
    pid = tl.program_id(0)
    if FIRST:
        tl.atomic_xchg(flags + pid, 1)
    while tl.atomic_add(flags + pid, 0) == 0:  # waits_for_itself
        pass
    tl.atomic_xchg(flags + pid, 1)
    tl.store(o + pid, 1)


@triton.jit
def tickets(next, serving, o, STEP: tl.constexpr):
    mine = tl.atomic_add(next, 1)
    while tl.atomic_add(serving, 0) != mine:  # tickets
        pass
    tl.atomic_add(o, 1)
    tl.atomic_add(serving, STEP)


@triton.jit
def lock_kept(lock, x, o, n, KEEP: tl.constexpr):
    """A program that has nothing to do leaves with the lock."""
    while tl.atomic_cas(lock, 0, 1) == 1:  # lock_kept
        pass
    if KEEP:
        if tl.load(x + tl.program_id(0)) == 0:
            return
    tl.atomic_add(o, 1)
    tl.atomic_xchg(lock, 0)


def f4(*shape):
    return np.arange(np.prod(shape), dtype="f4").reshape(shape)


def zeros(*shape):
    return np.zeros(shape, "f4")


def i4(*values):
    return np.array(values, "i4")


def none(n):
    return np.zeros(n, "i4")


def rows(n):
    """Of a matrix: as descriptors of input and output, which are the same or not."""
    return TensorDescriptor.from_tensor(HostArray(n), [1, 64])


def in_place(n):
    x = f4(n, 64)
    return rows(x), rows(x), 64


R, W = "right", "wrong"
TEXT = ("interpreter",)  # which runs programs, and the elements of one operation, one after the other
PTX = ("interpreter", "gfx942")
ends = np.arange(128, dtype="i4")[::-1].copy()

# As CASES of planted.py.
CASES = {
    "next_program": (next_program, 4, lambda: (f4(256), zeros(256), zeros(256), 0, 4, 64),
             lambda: (f4(256), zeros(256), zeros(256), 1, 4, 64), "race", TEXT),
    "stencil": (stencil, (2, 2), lambda: (f4(32, 32), zeros(32, 32), 32, 16), lambda: (x := f4(32, 32), x, 32, 16),
                "race", TEXT),
    "polls": (polls, 2, lambda: (f4(64), none(1), zeros(128), True, 64),
              lambda: (f4(64) + 1, none(1), zeros(128), False, 64), "race", TEXT),
    "lock_relaxed": (lock_relaxed, 2, lambda: (f4(256), zeros(128), none(1), "acquire", "release", 128),
                     lambda: (f4(256) + 1, zeros(128), none(1), "relaxed", "release", 128), "race", TEXT),
    "unlock_relaxed": (unlock_relaxed, 2, lambda: (f4(256), zeros(128), none(1), "release", 128),
                       lambda: (f4(256) + 1, zeros(128), none(1), "relaxed", 128), "race", TEXT),
    "unlock_by_store": (unlock_by_store, 2, lambda: (f4(256), zeros(128), none(1), True, 128),
                        lambda: (f4(256), zeros(128), none(1), False, 128), "race", TEXT),
    "wrong_lock": (wrong_lock, 4, lambda: (f4(512), zeros(256), none(4), 2, 128),
                   lambda: (f4(512) + 1, zeros(256), none(4), 4, 128), "race", TEXT),
    "clears_first": (clears_first, 3, lambda: (f4(384), zeros(1), False, 128),
                     lambda: (f4(384), zeros(1) + 5, True, 128), "race", TEXT),
    "bit_set": (bit_set, 1, lambda: (ends, none(4), True, 128), lambda: (ends, none(4), False, 128), "race", TEXT),
    "shifted": (shifted, 4, lambda: (f4(500), zeros(501), 500, 128), lambda: (x := f4(501), x, 500, 128), "race",
                TEXT),
    "rows_overlap": (rows_overlap, 4, lambda: (f4(512), zeros(512), 128, 128),
                     lambda: (f4(512), zeros(512), 127, 128), "race", TEXT),
    "wrong_step": (wrong_step, 3, lambda: (f4(768) + 1, 6, 0, 128), lambda: (f4(768) + 1, 6, 1, 128), "race", TEXT),
    "two_ends": (two_ends, 2, lambda: (f4(400), zeros(256), 400, 0, 128),
                 lambda: (f4(400), zeros(256), 400, 20, 128), "race", TEXT),
    "append": (append, 3, lambda: (f4(384), zeros(384), none(1), True, 128),
               lambda: (f4(384), zeros(384), none(1), False, 128), "race", TEXT),
    "experts": (experts, 4, lambda: (f4(512), i4(0, 2, 1, 2), zeros(384), True, 128),
                lambda: (f4(512) + 1, i4(0, 2, 1, 2), zeros(384), False, 128), "race", TEXT),
    "atomic_and_plain": (atomic_and_plain, 2, lambda: (f4(128) + 1, zeros(128), False, 128),
                         lambda: (f4(128) + 1, zeros(128), True, 128), "race", TEXT),
    "descriptors_in_place": (descriptors_in_place, 4, lambda: (rows(f4(5, 64)), rows(f4(5, 64)), 64),
                             lambda: in_place(5), "race", TEXT),
    "every_second": (every_second, 1, lambda: (f4(256), zeros(1024), zeros(256), 1, 256),
                     lambda: (f4(256) + 1, zeros(1024), zeros(256), 2, 256), "race", TEXT),
    "barrier_if": (barrier_if, 1, lambda: (f4(256), zeros(256), zeros(256), 3, 256),
                   lambda: (f4(256) + 1, zeros(256), zeros(256), 0, 256), "race", TEXT),
    "counts_then_reads": (counts_then_reads, 1, lambda: (ends, none(128), none(128), True, 128),
                          lambda: (ends, none(128), none(128), False, 128), "race", TEXT),
    "store_by_ptx": (store_by_ptx, 1, lambda: (f4(256), zeros(256), zeros(256), True, True, 256),
                     lambda: (f4(256) + 1, zeros(256), zeros(256), False, False, 256), "race", PTX),
    "permute": (permute, 1, lambda: (f4(128), ends, zeros(128), zeros(128), True, 128),
                lambda: (f4(128) + 1, ends, zeros(128), zeros(128), False, 128), "race", TEXT),
    "transposed": (transposed, 1, lambda: (f4(32, 32), zeros(1024), zeros(1024), True, 32),
                   lambda: (f4(32, 32) + 1, zeros(1024), zeros(1024), False, 32), "race", TEXT),
    "two_locks": (two_locks, 2, lambda: (none(4), none(1), none(1), False), lambda: (none(4), none(1), none(1), True),
                  "deadlock", ()),
    "all_arrive": (all_arrive, 3, lambda: (none(1), none(3), 3), lambda: (none(1), none(3), 4), "deadlock", ()),
    "returns_early": (returns_early, 4, lambda: (none(1), none(4), 4, 4), lambda: (none(1), none(4), 3, 4),
                      "deadlock", ()),
    "waits_for_itself": (waits_for_itself, 2, lambda: (none(2), none(2), True), lambda: (none(2), none(2), False),
                         "deadlock", ()),
    "tickets": (tickets, 3, lambda: (none(1), none(1), none(1), 1), lambda: (none(1), none(1), none(1), 2),
                "deadlock", ()),
    "lock_kept": (lock_kept, 3, lambda: (none(1), i4(1, 0, 1), none(1), 3, False),
                  lambda: (none(1), i4(1, 0, 1), none(1), 3, True), "deadlock", ()),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", [R, W])
def test_planted(name, which):
    kernel, blocks, right, wrong, _, _ = CASES[name]
    grid = blocks if isinstance(blocks, tuple) else (blocks,)
    kernel[grid](*(right if which == R else wrong)())
