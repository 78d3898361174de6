"""The kernels of `emulation.py`. `CASES[name]()` gives a launch, its result, and what that should be."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def layer_norm(x, w, b, o, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    d = tl.where(c < n, v - tl.sum(v, 0) / n, 0.0)
    v = d / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
    tl.store(o + row * n + c, v * tl.load(w + c, mask=c < n) + tl.load(b + c, mask=c < n), mask=c < n)


@triton.jit
def layer_norm_backward(x, w, dy, dx, dw, db, m, n, ROWS: tl.constexpr, B: tl.constexpr):
    """ROWS rows a program; the gradients of weight and bias are added up with atomic operations."""
    c = tl.arange(0, B)
    weight = tl.load(w + c, mask=c < n, other=0.0)
    weights, biases = tl.zeros((B,), tl.float32), tl.zeros((B,), tl.float32)
    for row in range(tl.program_id(0) * ROWS, min(tl.program_id(0) * ROWS + ROWS, m)):
        v = tl.load(x + row * n + c, mask=c < n, other=0.0)
        g = tl.load(dy + row * n + c, mask=c < n, other=0.0)
        d = tl.where(c < n, v - tl.sum(v, 0) / n, 0.0)
        scale = 1 / tl.sqrt(tl.sum(d * d, 0) / n + 1e-5)
        normal, t = d * scale, g * weight
        made = (t - tl.sum(t, 0) / n - normal * tl.sum(t * normal, 0) / n) * scale
        tl.store(dx + row * n + c, made, mask=c < n)
        weights += g * normal
        biases += g
    tl.atomic_add(dw + c, weights, mask=c < n)
    tl.atomic_add(db + c, biases, mask=c < n)


@triton.jit
def matmul(a, b, c, m, n, k, B: tl.constexpr):
    r, s, i = tl.program_id(0) * B + tl.arange(0, B), tl.program_id(1) * B + tl.arange(0, B), tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for at in range(0, k, B):
        acc = tl.dot(tl.load(a + r[:, None] * k + at + i), tl.load(b + (at + i)[:, None] * n + s[None, :]), acc)
    tl.store(c + r[:, None] * n + s[None, :], acc)


@triton.jit
def persistent_matmul(a, b, c, m, n, k, PROGRAMS: tl.constexpr, B: tl.constexpr):
    """As in Triton's tutorial 09: PROGRAMS programs for all tiles, tensor descriptors."""
    da = tl.make_tensor_descriptor(a, [m, k], [k, 1], [B, B])
    db = tl.make_tensor_descriptor(b, [k, n], [n, 1], [B, B])
    dc = tl.make_tensor_descriptor(c, [m, n], [n, 1], [B, B])
    columns = tl.cdiv(n, B)
    for tile in range(tl.program_id(0), tl.cdiv(m, B) * columns, PROGRAMS):
        row, column = tile // columns * B, tile % columns * B
        acc = tl.zeros((B, B), tl.float32)
        for at in range(0, k, B):
            acc = tl.dot(da.load([row, at]), db.load([at, column]), acc)
        dc.store([row, column], acc)


@triton.jit
def attention(q, k, v, o, n, M: tl.constexpr, D: tl.constexpr):
    r, c, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + r[:, None] * D + d)
    largest, total = tl.full((M,), -1e30, tl.float32), tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for at in range(0, n, M):
        score = tl.dot(query, tl.trans(tl.load(k + (at + c)[:, None] * D + d)))
        new = tl.maximum(largest, tl.max(score, 1))
        p, shrink = tl.exp(score - new[:, None]), tl.exp(largest - new)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + (at + c)[:, None] * D + d), acc * shrink[:, None])
        largest = new
    tl.store(o + r[:, None] * D + d, acc / total[:, None])


@triton.jit
def cross_entropy(x, target, o, n, B: tl.constexpr):
    """The classes of a row in blocks of B, with a running maximum."""
    row = tl.program_id(0)
    largest, total = -float("inf"), 0.0
    for at in range(0, n, B):
        c = at + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
        new = tl.maximum(largest, tl.max(v, 0))
        total = total * tl.exp(largest - new) + tl.sum(tl.exp(v - new), 0)
        largest = new
    tl.store(o + row, largest + tl.log(total) - tl.load(x + row * n + tl.load(target + row)))


@triton.jit
def quantise(x, o, scales, n, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(v), 0), 1e-6) / 127.0
    v = v / scale
    tl.store(o + row * n + c, (v + tl.where(v < 0, -0.5, 0.5)).to(tl.int8), mask=c < n)
    tl.store(scales + row, scale)


@triton.jit
def sort(x, o, B: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, B)
    tl.store(o + row * B + c, tl.sort(tl.load(x + row * B + c)))


@triton.jit
def top_k(x, o, B: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    tl.store(o + row * K + tl.arange(0, K), tl.topk(tl.load(x + row * B + tl.arange(0, B)), K))


@triton.jit
def combine(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def scans(x, o, sums, n, B: tl.constexpr):
    """A linear recurrence h = a h + x by an associative scan, and sums."""
    row, c = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=0.0)
    _, h = tl.associative_scan((tl.full((B,), 0.5, tl.float32), v), 0, combine)
    tl.store(o + row * n + c, h, mask=c < n)
    tl.store(sums + row * n + c, tl.cumsum(v, 0), mask=c < n)


@triton.jit
def histogram(x, o, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(o + tl.arange(0, BINS), tl.histogram(tl.load(x + i), BINS))


def normalised():
    x, w, b = torch.rand(256, 1000), torch.rand(1000, requires_grad=True), torch.rand(1000, requires_grad=True)
    return x.requires_grad_(), w, b, torch.nn.functional.layer_norm(x, (1000,), w, b, 1e-5)


def forward():
    x, w, b, expected = (t.detach() for t in normalised())
    o = torch.zeros_like(x)
    return lambda: layer_norm[(256,)](x, w, b, o, 1000, 1024), o, expected


def backward():
    x, w, b, y = normalised()
    dy = torch.rand(256, 1000)
    y.backward(dy)
    dx, sums = torch.zeros(256, 1000), torch.zeros(2, 1000)

    def launch():
        sums.zero_()
        layer_norm_backward[(32,)](x.detach(), w.detach(), dy, dx, sums[0], sums[1], 256, 1000, 8, 1024)

    return launch, (dx, sums), (x.grad, torch.stack([w.grad, b.grad]))


def dots(launch):
    a, b, c = torch.randn(512, 512).half(), torch.randn(512, 512).half(), torch.zeros(512, 512)
    return lambda: launch(a, b, c), c, a.float() @ b.float()


def attended():
    q, k, v, o = (torch.randn(512, 64).half() * 0.3 for _ in range(4))
    o = o.float()
    expected = (q.float() @ k.float().T).softmax(1) @ v.float()
    return lambda: attention[(8,)](q, k, v, o, 512, 64, 64), o, expected


def rows(launch, expected, width=1000, out=None):
    x = torch.rand(256, width) - 0.25
    o = torch.zeros_like(x) if out is None else out
    return lambda: launch(x, o), o, expected(x)


def summed():
    x, y, o = torch.rand(1 << 18), torch.rand(1 << 18), torch.zeros(1 << 18)
    return lambda: add[(256,)](x, y, o, 1 << 18, 1024), o, x + y


def classified():
    target = torch.randint(0, 8000, (256,))
    return rows(
        lambda x, o: cross_entropy[(256,)](x, target, o, 8000, 1024),
        lambda x: torch.nn.functional.cross_entropy(x, target, reduction="none"),
        8000,
        torch.zeros(256),
    )


def quantised():
    scales = torch.zeros(256)
    return rows(lambda x, o: quantise[(256,)](x, o, scales, 1000, 1024),
                lambda x: (x * 127 / x.abs().amax(1, keepdim=True)).round().to(torch.int8),
                out=torch.zeros(256, 1000, dtype=torch.int8))  # fmt: skip


def scanned():
    sums = torch.zeros(256, 1000)

    def recurrence(x):
        h, made = torch.zeros(256), []
        for v in x.unbind(1):
            h = h * 0.5 + v
            made.append(h)
        return torch.stack(made, 1)

    return rows(lambda x, o: scans[(256,)](x, o, sums, 1000, 1024), recurrence)


def counted():
    x, o = torch.randint(0, 64, (1 << 16,), dtype=torch.int32), torch.zeros(64, dtype=torch.int32)

    def launch():
        o.zero_()
        histogram[(64,)](x, o, 1 << 16, 1024, 64)

    return launch, o, torch.bincount(x, minlength=64).int()


CASES = {
    "vector addition, 2^18": summed,
    "softmax, 256 x 1000": lambda: rows(lambda x, o: softmax[(256,)](x, o, 1000, 1024), lambda x: x.softmax(1)),
    "layer norm, 256 x 1000": forward,
    "layer norm backward, 256 x 1000": backward,
    "matmul, 512^3": lambda: dots(lambda *t: matmul[(8, 8)](*t, 512, 512, 512, 64)),
    "persistent matmul by descriptors, 512^3": lambda: dots(
        lambda *t: persistent_matmul[(8,)](*t, 512, 512, 512, 8, 64)
    ),
    "attention, 512 x 64": attended,
    "cross entropy, 256 x 8000": classified,
    "quantise to int8, 256 x 1000": quantised,
    "sort, 256 x 1024": lambda: rows(lambda x, o: sort[(256,)](x, o, 1024), lambda x: x.sort(1).values, 1024),
    "top 16 of 256 x 1024": lambda: rows(
        lambda x, o: top_k[(256,)](x, o, 1024, 16), lambda x: x.topk(16, 1).values, 1024, torch.zeros(256, 16)
    ),
    "recurrence and sums, 256 x 1000": scanned,
    "histogram, 2^16": counted,
}
