"""Right kernels with dots and tensor descriptors: as right_elementwise.py."""

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tessera.triton import HostArray

RNG = np.random.default_rng(2)


def f2(*shape):
    return RNG.standard_normal(shape).astype("f2")


def near(a, b, tolerance=2e-2):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@triton.jit
def matmul(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, G: tl.constexpr, ACT: tl.constexpr):
    """The tutorial's: programs in groups of rows, masks on all sides."""
    pid = tl.program_id(0)
    across = tl.cdiv(n, N)
    first = pid // (G * across) * G
    rows = min(tl.cdiv(m, M) - first, G)
    pm = first + pid % (G * across) % rows
    pn = pid % (G * across) // rows
    r = (pm * M + tl.arange(0, M)) % m
    s = (pn * N + tl.arange(0, N)) % n
    i = tl.arange(0, K)
    pa, pb = a + r[:, None] * k + i[None, :], b + i[:, None] * n + s[None, :]
    acc = tl.zeros((M, N), tl.float32)
    for step in range(0, tl.cdiv(k, K)):
        acc = tl.dot(
            tl.load(pa, mask=i[None, :] < k - step * K, other=0.0),
            tl.load(pb, mask=i[:, None] < k - step * K, other=0.0),
            acc,
        )
        pa += K
        pb += K * n
    if ACT == "leaky":
        acc = tl.where(acc >= 0, acc, 0.01 * acc)
    r, s = pm * M + tl.arange(0, M), pn * N + tl.arange(0, N)
    tl.store(c + r[:, None] * n + s[None, :], acc.to(tl.float16), mask=(r[:, None] < m) & (s[None, :] < n))


@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (70, 50, 40), (128, 32, 96)])
@pytest.mark.parametrize("act", ["", "leaky"])
def test_matmul(m, n, k, act):
    a, b, c = f2(m, k), f2(k, n), np.empty((m, n), "f2")
    matmul[(triton.cdiv(m, 32) * triton.cdiv(n, 32),)](a, b, c, m, n, k, 32, 32, 32, 2, act)
    expected = a.astype("f4") @ b.astype("f4")
    near(c, np.where(expected >= 0, expected, 0.01 * expected) if act else expected, 5e-2)


@triton.jit
def integers(a, b, c, B: tl.constexpr):
    r = tl.arange(0, B)
    at = r[:, None] * B + r[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def test_int8():
    a, b = (RNG.integers(-8, 8, (32, 32)).astype("i1") for _ in range(2))
    c = np.empty((32, 32), "i4")
    integers[(1,)](a, b, c, 32)
    assert (c == a.astype("i4") @ b.astype("i4")).all()


@triton.jit
def split_k(a, b, c, k, M: tl.constexpr, K: tl.constexpr):
    r, i = tl.arange(0, M), tl.program_id(0) * K + tl.arange(0, K)
    acc = tl.dot(tl.load(a + r[:, None] * k + i[None, :]), tl.load(b + i[:, None] * M + r[None, :]))
    tl.atomic_add(c + r[:, None] * M + r[None, :], acc)


def test_split_k():
    a, b, c = f2(32, 128), f2(128, 32), np.zeros((32, 32), "f4")
    split_k[(4,)](a, b, c, 128, 32, 32)
    near(c, a.astype("f4") @ b.astype("f4"))


@triton.jit
def attention(q, k, v, o, n, scale, CAUSAL: tl.constexpr, M: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(0) * M
    r, c, d = first + tl.arange(0, M), tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + r[:, None] * D + d[None, :], mask=r[:, None] < n, other=0.0)
    largest = tl.full((M,), -1e30, tl.float32)
    total, acc = tl.zeros((M,), tl.float32), tl.zeros((M, D), tl.float32)
    for start in range(0, first + M if CAUSAL else n, M):
        at = start + c
        keys = tl.load(k + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        score = tl.dot(query, tl.trans(keys)) * scale
        seen = at[None, :] < n
        if CAUSAL:
            seen = seen & (at[None, :] <= r[:, None])
        score = tl.where(seen, score, -1e30)
        new = tl.maximum(largest, tl.max(score, 1))
        p = tl.exp(score - new[:, None])
        shrink = tl.exp(largest - new)
        total = total * shrink + tl.sum(p, 1)
        values = tl.load(v + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        acc = tl.dot(p.to(tl.float16), values, acc * shrink[:, None])
        largest = new
    tl.store(o + r[:, None] * D + d[None, :], acc / total[:, None], mask=r[:, None] < n)


@pytest.mark.parametrize("n", [64, 50])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(n, causal):
    q, k, v, o = f2(n, 32), f2(n, 32), f2(n, 32), np.empty((n, 32), "f4")
    attention[(triton.cdiv(n, 32),)](q, k, v, o, n, 0.2, causal, 32, 32)
    s = q.astype("f4") @ k.astype("f4").T * 0.2
    s = np.where(np.tril(np.ones((n, n), bool)), s, -1e30) if causal else s
    e = np.exp(s - s.max(1, keepdims=True))
    near(o, e / e.sum(1, keepdims=True) @ v.astype("f4"), 3e-2)


@triton.jit
def described(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    pm, pn = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        acc = tl.dot(a.load([pm, i]), b.load([i, pn]), acc)
    c.store([pm, pn], acc.to(tl.float16))


@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (72, 40, 56)])
def test_descriptors_of_the_host(m, n, k):
    a, b, c = f2(m, k), f2(k, n), np.empty((m, n), "f2")
    given = [TensorDescriptor.from_tensor(HostArray(x), [32, 32]) for x in (a, b, c)]
    described[(triton.cdiv(m, 32), triton.cdiv(n, 32))](*given, m, n, k, 32, 32, 32)
    near(c, a.astype("f4") @ b.astype("f4"), 5e-2)


@triton.jit
def made_descriptors(a, c, m, n, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(a, [m, n], [n, 1], [M, N])
    sink = tl.make_tensor_descriptor(c, [m, n], [n, 1], [M, N])
    at = [tl.program_id(0) * M, tl.program_id(1) * N]
    sink.store(at, source.load(at) * 2)


def test_descriptors_of_the_device():
    a, c = f2(40, 64), np.empty((40, 64), "f2")
    made_descriptors[(3, 4)](a, c, 40, 64, 16, 16)
    near(c, 2 * a)


@triton.jit
def persistent(a, b, c, m, n, k, M: tl.constexpr, K: tl.constexpr):
    i, r = tl.arange(0, K), tl.arange(0, M)
    across = tl.cdiv(n, M)
    for tile in range(tl.program_id(0), tl.cdiv(m, M) * across, tl.num_programs(0)):
        rows, columns = tile // across * M + r, tile % across * M + r
        acc = tl.zeros((M, M), tl.float32)
        for at in range(0, k, K):
            acc = tl.dot(tl.load(a + rows[:, None] * k + at + i), tl.load(b + (at + i)[:, None] * n + columns), acc)
        tl.store(c + rows[:, None] * n + columns, acc)


def test_persistent():
    a, b, c = f2(64, 64), f2(64, 96), np.empty((64, 96), "f4")
    persistent[(4,)](a, b, c, 64, 96, 64, 32, 32)
    near(c, a.astype("f4") @ b.astype("f4"))


@triton.autotune([triton.Config({"B": b}, num_warps=w) for b, w in [(16, 1), (32, 4), (64, 8)]], key=["n"])
@triton.jit
def tuned(a, c, n, B: tl.constexpr):
    r = tl.arange(0, B)
    p = (tl.program_id(0) * B + r)[:, None] * n + (tl.program_id(1) * B + r)[None, :]
    tl.store(c + p, tl.dot(tl.load(a + p), tl.load(a + p)).to(tl.float32))


def test_autotuned():
    a, c = f2(64, 64), np.empty((64, 64), "f4")
    tuned[lambda meta: (64 // meta["B"], 64 // meta["B"])](a, c, 64)
    assert np.isfinite(c).all()


@triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@triton.jit
def heuristic(x, o, n, EVEN: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if EVEN:
        tl.store(o + i, tl.load(x + i) + 1)
    else:
        tl.store(o + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@pytest.mark.parametrize("n", [64, 50])
def test_heuristics(n):
    x, o = f2(n), np.empty(n, "f2")
    heuristic[(2,)](x, o, n, B=32)
    near(o, x + 1)


@triton.autotune([triton.Config({"B": 32}), triton.Config({"B": 64})], key=["n"], restore_value=["x"])
@triton.heuristics({"TWICE": lambda args: args["n"] > 10})
@triton.jit
def both(x, n, TWICE: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i, v * 2 if TWICE else v, mask=i < n)


def test_autotuned_with_heuristics():
    x = f2(100)
    expected = x * 2
    both[lambda meta: (triton.cdiv(100, meta["B"]),)](x, 100)
    near(x, expected)


@triton.jit
def batched(a, b, c, B: tl.constexpr, M: tl.constexpr):
    z, r = tl.arange(0, B), tl.arange(0, M)
    p = z[:, None, None] * M * M + r[None, :, None] * M + r[None, None, :]
    tl.store(c + p, tl.dot(tl.load(a + p), tl.load(b + p)))


def test_batched():
    a, b, c = f2(2, 16, 16), f2(2, 16, 16), np.empty((2, 16, 16), "f4")
    batched[(1,)](a, b, c, 2, 16)
    near(c, a.astype("f4") @ b.astype("f4"))


@triton.jit
def convolve(x, w, o, n, K: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for j in tl.static_range(K):
        total += tl.load(x + i + j, mask=i + j < n, other=0.0) * tl.load(w + j)
    tl.store(o + i, total, mask=i < n)


def test_convolution():
    x, w, o = RNG.random(100, "f4"), RNG.random(3, "f4"), np.empty(100, "f4")
    convolve[(2,)](x, w, o, 100, 3, 64)
    near(o, np.convolve(x, w[::-1])[2:], 1e-4)
