"""Right kernels of algorithms beyond dense arrays: a hash table, sparse rows, a butterfly, images, connected parts."""

import numpy as np
import triton
import triton.language as tl


def f4(*shape):
    return np.random.default_rng(7).random(shape).astype("f4")


# ---- a hash table: a place is claimed by compare-and-swap, and counts how often its key comes ----


@triton.jit
def insert(keys, table, counts, SIZE: tl.constexpr):
    key = tl.load(keys + tl.program_id(0))
    place = (key * 7) % SIZE
    found = tl.atomic_cas(table + place, -1, key)
    while (found != -1) & (found != key):
        place = (place + 1) % SIZE
        found = tl.atomic_cas(table + place, -1, key)
    tl.atomic_add(counts + place, 1)


def test_hash_table():
    keys = np.array([3, 19, 3, 35, 4, 19, 3, 51], "i4")
    table, counts = np.full(16, -1, "i4"), np.zeros(16, "i4")
    insert[(8,)](keys, table, counts, 16)
    found = {int(k): int(c) for k, c in zip(table, counts) if k != -1}
    assert found == {3: 3, 19: 2, 35: 1, 4: 1, 51: 1} and counts.sum() == 8


# ---- a sparse matrix by rows: lengths of loops that come from memory ----


@triton.jit
def sparse_rows(starts, columns, values, x, y, B: tl.constexpr):
    row = tl.program_id(0)
    first, last = tl.load(starts + row), tl.load(starts + row + 1)
    total = tl.zeros((B,), tl.float32)
    for at in range(first, last, B):
        i = at + tl.arange(0, B)
        column = tl.load(columns + i, mask=i < last, other=0)
        total += tl.load(values + i, mask=i < last, other=0.0) * tl.load(x + column)
    tl.store(y + row, tl.sum(total, 0))


def test_sparse_rows():
    random = np.random.default_rng(5)
    dense = np.where(random.random((6, 100)) < 0.3, random.random((6, 100)), 0).astype("f4")
    dense[2] = 0
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(7)).astype("i4")
    x, y = f4(100), np.zeros(6, "f4")
    sparse_rows[(6,)](starts, columns.astype("i4"), dense[rows, columns], x, y, 16)
    assert np.allclose(y, dense @ x, atol=1e-4)


# ---- a Hadamard transform: the halves of ever larger groups ----


@triton.jit
def hadamard(x, o, LOG: tl.constexpr):
    B: tl.constexpr = 1 << LOG
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * B + i)
    for step in tl.static_range(LOG):
        groups = tl.reshape(v, (B >> (step + 1), 2, 1 << step))
        low, high = tl.split(tl.permute(groups, (0, 2, 1)))
        v = tl.reshape(tl.permute(tl.join(low + high, low - high), (0, 2, 1)), (B,))
    tl.store(o + tl.program_id(0) * B + i, v)


def test_hadamard():
    x, o = f4(3, 64), np.zeros((3, 64), "f4")
    hadamard[(3,)](x, o, 6)
    matrix = np.array([[(-1) ** bin(i & j).count("1") for j in range(64)] for i in range(64)], "f4")
    assert np.allclose(o, x @ matrix, atol=1e-3)


# ---- an image at another size: bilinear, indices clamped to its edge ----


@triton.jit
def resize(x, o, h, w, oh, ow, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    sy = tl.maximum((row + 0.5) * h / oh - 0.5, 0.0)
    sx = tl.maximum((i + 0.5) * w / ow - 0.5, 0.0)
    y0, x0 = tl.floor(sy).to(tl.int32), tl.floor(sx).to(tl.int32)
    y1, x1 = tl.minimum(y0 + 1, h - 1), tl.minimum(x0 + 1, w - 1)
    fy, fx = sy - y0, sx - x0
    inside = i < ow
    top = tl.load(x + y0 * w + x0, mask=inside) * (1 - fx) + tl.load(x + y0 * w + x1, mask=inside) * fx
    low = tl.load(x + y1 * w + x0, mask=inside) * (1 - fx) + tl.load(x + y1 * w + x1, mask=inside) * fx
    tl.store(o + row * ow + i, top * (1 - fy) + low * fy, mask=inside)


def test_resize():
    x, o = f4(5, 7), np.zeros((10, 14), "f4")
    resize[(10,)](x, o, 5, 7, 10, 14, 16)
    at = [np.clip((np.arange(n * 2) + 0.5) / 2 - 0.5, 0, n - 1) for n in (5, 7)]
    rows = np.array([[np.interp(c, np.arange(7), line) for c in at[1]] for line in x])
    expected = np.array([np.interp(at[0], np.arange(5), column) for column in rows.T]).T
    assert np.allclose(o, expected, atol=1e-5)


# ---- connected parts of a graph: the smallest label of both ends, by atomic minima, until nothing changes ----


@triton.jit
def smallest_label(a, b, labels, changed, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    inside = i < n
    from_, to = tl.load(a + i, mask=inside, other=0), tl.load(b + i, mask=inside, other=0)
    # Other programs lower labels meanwhile: they are read by an atomic operation, too.
    la = tl.atomic_min(labels + from_, 1 << 30, mask=inside)
    lb = tl.atomic_min(labels + to, 1 << 30, mask=inside)
    tl.atomic_min(labels + from_, lb, mask=inside & (lb < la))
    tl.atomic_min(labels + to, la, mask=inside & (la < lb))
    tl.atomic_max(changed + tl.zeros_like(i), 1, mask=inside & (la != lb))


def test_connected_parts():
    edges = np.array([[0, 1], [1, 2], [2, 3], [5, 6], [6, 7], [9, 4]], "i4")
    labels, changed = np.arange(10, dtype="i4"), np.ones(1, "i4")
    while changed[0]:
        changed[0] = 0
        smallest_label[(2,)](edges[:, 0].copy(), edges[:, 1].copy(), labels, changed, len(edges), 4)
    assert labels.tolist() == [0, 0, 0, 0, 4, 5, 5, 5, 8, 4]
