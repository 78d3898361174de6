"""Right kernels with tensor descriptors whose shape is not that of the array: as right_elementwise.py."""

import numpy as np
import pytest
import triton
import triton.language as tl

from tessera.triton import HostArray

ragged = pytest.importorskip("triton.tools.ragged_tma")
load_ragged, store_ragged = ragged.load_ragged, ragged.store_ragged
atomic_add_ragged = ragged.atomic_add_ragged

RNG = np.random.default_rng(11)
BATCHES = [(0, 40, 0), (10, 7, 0), (10, 7, 4), (33, 7, 0), (0, 5, 0), (30, 10, 8)]  # start, rows, first row


@triton.jit
def copy_batch(x, o, start, size, row):
    store_ragged(o, start, size, [row, 0], load_ragged(x, start, size, [row, 0]))


@triton.jit
def add_batch(x, o, start, size, row):
    atomic_add_ragged(o, start, size, [row, 0], load_ragged(x, start, size, [row, 0]))


@triton.jit
def copy_of_batches(x, o, start, size, row):
    v = load_ragged(x, start, size, [0, row, 0], ragged_dim=1)
    store_ragged(o, start, size, [0, row, 0], v, ragged_dim=1)


def described(array, *arguments):
    return ragged.create_ragged_descriptor(HostArray(array), *arguments)


def expected(x, start, size, row, rows=8):
    o = np.zeros_like(x)
    part = np.s_[..., start + row : min(start + size, start + row + rows), :]
    o[part] = x[part]
    return o


@pytest.mark.parametrize("batch", BATCHES)
def test_ragged(batch):
    x = RNG.random((40, 16), dtype="f4")
    o = np.zeros_like(x)
    copy_batch[(1,)](described(x, [8, 16]), described(o, [8, 16]), *batch)
    assert (o == expected(x, *batch)).all()
    add_batch[(1,)](described(x, [8, 16]), described(o, [8, 16]), *batch)
    assert (o == 2 * expected(x, *batch)).all()


@pytest.mark.parametrize("batch", BATCHES)
def test_ragged_middle(batch):
    x = RNG.random((2, 40, 16), dtype="f4")
    o = np.zeros_like(x)
    copy_of_batches[(1,)](described(x, [2, 8, 16], 1), described(o, [2, 8, 16], 1), *batch)
    assert (o == expected(x, *batch)).all()
