"""Operations of conch."""

from library_operations.inputs import fp8, int8, pages_of, scaled_int4, small_matmul, words
from library_packages import Library
from sized_operations import ints, list_of, offsets, operation, rand, uniform, variant

conch = Library("conch.ops")


@operation(dict(lengths=[70, 40], heads=4, kv_heads=2), lengths=[4096 - 50 * i for i in range(32)], heads=32,
           kv_heads=8, dim=128)  # fmt: skip
def conch_paged_attention(lengths, heads, kv_heads, dim, page=16):
    pages, table = pages_of(lengths, page)
    q, k, v = rand(len(lengths), heads, dim), rand(pages, page, kv_heads, dim), rand(pages, page, kv_heads, dim)
    f, used = conch("attention.paged_attention").paged_attention, list_of(lengths)
    return lambda: [f(q, k, v, table, used, scale=dim**-0.5)]


@operation(dict(queries=[20, 7], lengths=[36, 40], heads=4, kv_heads=2), queries=[2048, 1024], lengths=[4096, 3072],
           heads=32, kv_heads=8, dim=128)  # fmt: skip
def conch_varlen_attention(queries, lengths, heads, kv_heads, dim, page=16):
    pages, table = pages_of(lengths, page)
    q, k, v = rand(sum(queries), heads, dim), rand(pages, page, kv_heads, dim), rand(pages, page, kv_heads, dim)
    args = offsets(queries), max(queries), list_of(lengths), max(lengths), table
    f = conch("attention.varlen_attention").varlen_attention
    return lambda: [f(q, k, v, *args, causal=True, scale=dim**-0.5)]


def conch_mixed_matmul(m, n, k, bits):
    x, w, scales = rand(m, k, dtype="float16"), words(k * bits // 32, n), scaled_int4(k, n, 128)
    f = conch("quantization.gemm").mixed_precision_gemm
    return lambda: [f(x, w, scales, None, bits, 2 ** (bits - 1), 128)]


variant("conch_int4_decode", conch_mixed_matmul, small_matmul, m=16, n=14336, k=4096, bits=4)
variant("conch_int4_prefill", conch_mixed_matmul, small_matmul, m=1024, n=14336, k=4096, bits=4)
variant("conch_int8_prefill", conch_mixed_matmul, small_matmul, m=1024, n=14336, k=4096, bits=8)


def conch_scaled_matmul(m, n, k, kind):
    import torch

    a, b = (int8(m, k), int8(n, k).t()) if kind == "int8" else (fp8(m, k), fp8(n, k, scale=0.1).t())
    s, t, f = uniform(m, 1), uniform(n, 1), conch("quantization.gemm").scaled_gemm
    return lambda: [f(a, b.contiguous(), s, t, torch.bfloat16)]


variant("conch_scaled_int8", conch_scaled_matmul, small_matmul, m=2048, n=4096, k=4096, kind="int8")
variant("conch_scaled_fp8", conch_scaled_matmul, small_matmul, m=2048, n=4096, k=4096, kind="fp8")


@operation(dict(tokens=9, width=256), tokens=16384, width=4096)
def conch_norms(tokens, width):
    import torch

    x, r, w = rand(tokens, width), rand(tokens, width), rand(width)
    f, g = conch("normalization.rms_norm"), conch("normalization.gemma_rms_norm")

    def step():
        y, z = x.clone(), x.clone()
        made = g.gemma_rms_norm(z, w, 1e-6)
        return [f.rms_norm(x, w, 1e-6), *f.fused_add_rms_norm(y, r.clone(), w, 1e-6), torch.as_tensor(made)]

    return step


@operation(dict(tokens=9, width=256), tokens=16384, width=14336)
def conch_gelu(tokens, width):
    x, f = rand(tokens, 2 * width, dtype="float32"), conch("activation.gelu_tanh_and_mul").gelu_tanh_and_mul
    return lambda: [f(x)]


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=16384, heads=32, kv_heads=8, dim=128)
def conch_rotary(tokens, heads, kv_heads, dim):
    q, k, cache = rand(tokens, heads * dim), rand(tokens, kv_heads * dim), rand(16384, dim)
    at, f = ints(0, 16384, tokens, dtype="int64"), conch("embedding.rotary_embedding").rotary_embedding
    return lambda: list(f(at, q.clone(), k.clone(), dim, cache))


@operation(dict(rows=16, columns=256), rows=4096, columns=14336)
def conch_nf4(rows, columns):
    x, g = rand(rows * columns), conch("quantization.bitsandbytes.functional")

    def step():
        made, state = g.quantize_4bit(x, quant_type="nf4")
        return [made, state.absmax, g.dequantize_4bit(made, state, quant_type="nf4")]

    return step


@operation(dict(boxes=100), boxes=4096)
def conch_nms(boxes):
    """Which boxes of a detector stay."""
    import torch

    corner = uniform(boxes, 2) * 1000
    at, scores = torch.cat([corner, corner + uniform(boxes, 2) * 100 + 1], 1), uniform(boxes)
    f = conch("vision.nms").nms
    return lambda: [f(at, scores, 0.5)]


@operation(dict(points=500, channels=16, cells=20), points=400000, channels=80, cells=128)
def conch_bev_pool(points, channels, cells):
    """Features of cameras, summed in the cells of a bird's-eye view, and their gradients."""
    import torch

    x = rand(points, channels, dtype="float32")
    at = ints(0, cells, points, 4)
    at[:, 2:] = 0
    order = (at[:, 0] * cells + at[:, 1]).long()
    at, order = at[order.argsort()].contiguous(), order.sort().values
    starts = torch.cat([list_of([0]).long(), (order[1:] != order[:-1]).nonzero().flatten() + 1]).int()
    lengths = torch.diff(starts, append=list_of([points]))
    f = conch("vision.bev_pool")

    def step():
        made = f.bev_pool(x, at, starts, lengths, 1, 1, cells, cells)
        return [made, f.bev_pool_backward(made, at, starts, lengths)]

    return step
