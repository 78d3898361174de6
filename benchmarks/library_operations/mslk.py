"""Operations of MSLK: matmuls, attention of few queries, mixtures of experts."""

from library_operations.inputs import few_sizes, fp8, int8, pages_of, small_matmul
from library_packages import Library
from sized_operations import ints, list_of, offsets, operation, rand, uniform, variant

mslk = Library("mslk")


@operation(dict(lengths=[70, 40], heads=4, kv_heads=2), lengths=[8192 - 100 * i for i in range(32)], heads=64,
           kv_heads=8, dim=128)  # fmt: skip
def xformers_split_k_attention(lengths, heads, kv_heads, dim):
    """A query each, keys of sequences one after the other with gaps."""
    most = max(lengths)
    q = rand(1, len(lengths), kv_heads, heads // kv_heads, dim)
    n = len(lengths) * most
    k, v = [rand(1, n, kv_heads, 1, dim).expand(-1, -1, -1, heads // kv_heads, -1) for _ in "kv"]
    bias = mslk("attention.fmha.attn_bias").BlockDiagonalCausalWithOffsetPaddedKeysMask.from_seqlens(
        q_seqlen=[1] * len(lengths), kv_padding=most, kv_seqlen=lengths)  # fmt: skip
    bias.k_seqinfo.to("cuda"), bias.q_seqinfo.to("cuda")
    inputs = mslk("attention.fmha.common").Inputs(query=q, key=k, value=v, attn_bias=bias, scale=dim**-0.5)
    f = mslk("attention.fmha.triton_splitk").FwOp
    return lambda: [f.apply(inputs, False)[0]]


def mslk_grouped(sizes, n, k, kind):
    """The matmul of each expert's tokens."""
    f, m_sizes, m, g = mslk("gemm.triton.grouped_gemm"), list_of(sizes), sum(sizes), len(sizes)
    if kind == "fp8":
        x, w, s, t = fp8(m, k), fp8(g * n, k, scale=0.1), uniform(m), uniform(g * n)
        return lambda: [f.grouped_gemm_fp8_rowwise(x, w, m_sizes, s, t, _use_warp_specialization=False)]
    x, w = rand(m, k), rand(g * n, k, scale=0.03)
    return lambda: [f.grouped_gemm(x, w, m_sizes, _use_warp_specialization=False)]


variant("mslk_grouped_bf16", mslk_grouped, few_sizes, sizes=[512] * 16, n=2048, k=5120, kind="bf16")
variant("mslk_grouped_fp8", mslk_grouped, few_sizes, sizes=[512] * 16, n=2048, k=5120, kind="fp8")
variant("mslk_grouped_fp8_decode", mslk_grouped, few_sizes, sizes=[4, 7, 0, 9] * 4, n=2048, k=5120, kind="fp8")


@operation(few_sizes, sizes=[512] * 16, n=2048, k=5120)
def mslk_grouped_gradients(sizes, n, k):
    f, m_sizes, m = mslk("gemm.triton.grouped_gemm"), list_of(sizes, "int64"), sum(sizes)
    x, grad, w = rand(m, k), rand(m, n), rand(len(sizes), n, k, scale=0.03)
    return lambda: [f.grouped_gemm_dgrad(grad, w.transpose(1, 2), m_sizes), f.grouped_gemm_wgrad(grad, x, m_sizes)]


def mslk_rowwise(m, n, k, **options):
    a, b, s, t = fp8(m, k), fp8(n, k, scale=0.1), uniform(m), uniform(n)
    f = mslk("gemm.triton.fp8_gemm").matmul_fp8_row
    return lambda: [f(a, b, s, t, **options)]


variant("mslk_fp8_rows_persistent", mslk_rowwise, small_matmul, m=8192, n=8192, k=4096, tma_persistent=True)
variant("mslk_fp8_rows", mslk_rowwise, small_matmul, m=4096, n=8192, k=4096, tma_persistent=False)
variant("mslk_fp8_rows_slow_sum", mslk_rowwise, small_matmul, m=4096, n=8192, k=4096, tma_persistent=False,
        fp8_fast_accum=False)  # fmt: skip


@operation(small_matmul, m=4096, n=7168, k=2048)
def mslk_fp8_groups(m, n, k):
    a, b = fp8(m, k), fp8(n, k, scale=0.1)
    s, t = uniform(k // 128, m), uniform(k // 128, n // 128)
    f = mslk("gemm.triton.fp8_groupwise_gemm").matmul_f8f8bf16_groupwise
    return lambda: [f(a, b, s, t)]


def mslk_int4(m, n, k):
    """Weights of 4 bits with a scale and a zero point for 128 of them."""
    x, w = rand(m, k), int8(n, k // 2)
    scale, zero = uniform(k // 128, n).bfloat16(), rand(k // 128, n)
    f = mslk("gemm.triton.int4_gemm").matmul_bf16i4_rowwise
    return lambda: [f(x, w, scale, zero)]


variant("mslk_int4_decode", mslk_int4, small_matmul, m=32, n=14336, k=4096)
variant("mslk_int4_prefill", mslk_int4, small_matmul, m=2048, n=14336, k=4096)


@operation(small_matmul, m=4096, n=8192, k=4096)
def mslk_int8(m, n, k):
    a, b = int8(m, k), int8(n, k)
    f = mslk("gemm.triton.int8_gemm").i8i8bf16_triton
    return lambda: [f(a, b, 0.01)]


@operation(small_matmul, m=2048, n=8192, k=4096)
def mslk_mx8_mx4(m, n, k):
    """fp8 by fp4, with a power of two for 32 of them."""
    import torch

    a, b = fp8(m, k), ints(0, 256, n, k // 2, dtype="uint8")
    s, t = [ints(120, 130, -(-r // 128) * 128, k // 32, dtype="uint8") for r in (m, n)]
    f = mslk("gemm.triton.mx8mx4_gemm").matmul_mx8mx4bf16
    return lambda: [f(a, b.view(torch.uint8), s, t)]


@operation(dict(tokens=9, width=512), tokens=8192, width=8192)
def mslk_quantise_fp8(tokens, width):
    x, f = rand(tokens, width), mslk("quantize.triton.fp8_quantize")

    return lambda: [*f.triton_quantize_fp8_row(x), *f.triton_quantize_fp8_tensor(x)]


@operation(dict(lengths=[70, 40], heads=16), lengths=[4096 - 60 * i for i in range(32)], heads=128, rank=512, rope=64)
def mslk_mla_decode(lengths, heads, rank, rope):
    pages, table = pages_of(lengths, 16)
    q, cache = rand(len(lengths), heads, rank + rope), rand(pages, 16, 1, rank + rope)
    starts, used = offsets([1] * len(lengths)), list_of(lengths)
    f = mslk("attention.mla._triton.mla_kernels").mla_decode_forward
    return lambda: [f(q, cache, table, starts, used, 192**-0.5)]
