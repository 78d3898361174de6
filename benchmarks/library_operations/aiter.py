"""Operations of aiter."""

from library_operations.inputs import (
    few_experts, few_sizes, fp8, int8, leaf, long_lengths, pages_of, qwen, small_matmul,
)  # fmt: skip
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import ints, list_of, offsets, operation, permutation, rand, uniform, variant, zeros

aiter = Library("aiter.ops.triton")


def aiter_matmul(m, n, k, activation=None, bias=True):
    x, w, b = rand(m, k), rand(n, k, scale=0.03), rand(n) if bias else None
    f = aiter("gemm.basic.gemm_a16w16").gemm_a16w16
    return lambda: [f(x, w, b, activation=activation)]


variant("aiter_matmul", aiter_matmul, small_matmul, m=4096, n=8192, k=4096, activation="silu")
variant("aiter_matmul_decode", aiter_matmul, small_matmul, m=64, n=8192, k=8192, bias=False)


@operation(small_matmul, m=4096, n=14336, k=4096)
def aiter_matmul_gated(m, n, k):
    x, w = rand(m, k), rand(n, k, scale=0.03)
    g = aiter("gemm.basic.gemm_a16w16_gated")
    config = g._get_config(m, n, k)[0] | dict(BLOCK_SIZE_M=128, num_stages=3)  # those of gfx950 spill on an H100
    return lambda: [g.gemm_a16w16_gated(x, w, activation="silu", config=config)]


@operation(small_matmul, m=32, n=8192, k=4096)
def aiter_feed_forward(m, n, k):
    """Both matmuls of a gated feed-forward layer in one kernel."""
    x, up, down = rand(m, k), rand(2 * n, k, scale=0.03), rand(n, k, scale=0.03)
    f = aiter("gemm.feed_forward.ff_a16w16_fused_gated").ff_a16w16_fused_gated
    return lambda: [f(x, up, down, activation="silu")]


@operation(dict(batch=3, m=20, n=128, k=128), batch=128, m=512, n=512, k=128)
def aiter_batched_matmul(batch, m, n, k):
    x, w = rand(batch, m, k), rand(batch, n, k, scale=0.03)
    f = aiter("gemm.batched.batched_gemm_bf16").batched_gemm_bf16
    return lambda: [f(x, w)]


def aiter_matmul_8bit(m, n, k, kind, scales):
    x, w = (int8(m, k), int8(n, k)) if kind == "int8" else (fp8(m, k), fp8(n, k, scale=0.1))
    if scales == "blocks":
        s, t = uniform(m, k // 128), uniform(n // 128, k // 128)
        f = aiter("gemm.basic.gemm_a8w8_blockscale").gemm_a8w8_blockscale
    elif scales == "rows":
        s, t, f = uniform(m, 1), uniform(n, 1), aiter("gemm.basic.gemm_a8w8_per_token_scale").gemm_a8w8_per_token_scale
    else:
        s, t, f = uniform(m, 1), uniform(1, n), aiter("gemm.basic.gemm_a8w8").gemm_a8w8
    return lambda: [f(x, w, s, t)]


variant("aiter_matmul_fp8", aiter_matmul_8bit, small_matmul, m=4096, n=8192, k=4096, kind="fp8", scales="columns")
variant("aiter_matmul_int8", aiter_matmul_8bit, small_matmul, m=4096, n=8192, k=4096, kind="int8", scales="columns")
variant("aiter_matmul_fp8_rows", aiter_matmul_8bit, small_matmul, m=1024, n=8192, k=4096, kind="fp8", scales="rows")
variant("aiter_matmul_fp8_blocks", aiter_matmul_8bit, small_matmul, m=4096, n=7168, k=2048, kind="fp8", scales="blocks")
variant("aiter_matmul_fp8_blocks_decode", aiter_matmul_8bit, small_matmul, m=32, n=7168, k=2048, kind="fp8",
        scales="blocks")  # fmt: skip


@operation(small_matmul, m=64, n=7168, k=2048)
def aiter_matmul_fp8_weights(m, n, k):
    x, w, t = rand(m, k), fp8(n, k, scale=0.1), uniform(n // 128, k // 128)
    f = aiter("gemm.basic.gemm_a16w8_blockscale").gemm_a16w8_blockscale
    return lambda: [f(x, w, t), f(x, w, t, prequant=True)]


def aiter_fp4(m, n, k, x_kind):
    """Weights of 4 bits with a power of two for 32 of them."""
    w, t = ints(0, 256, n, k // 2, dtype="uint8"), ints(122, 128, n, k // 32, dtype="uint8")
    if x_kind == "bf16":
        x, f = rand(m, k), aiter("gemm.basic.gemm_a16wfp4").gemm_a16wfp4
        return lambda: [f(x, w, t)]
    x, s = ints(0, 256, m, k // 2, dtype="uint8"), ints(122, 128, m, k // 32, dtype="uint8")
    g = aiter("gemm.basic.gemm_afp4wfp4")
    fits = dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, num_warps=8)  # into an H100's shared memory
    config = g._get_config(m, n, k)[0] | fits
    return lambda: [g.gemm_afp4wfp4(x, w, s, t, config=config)]


variant("aiter_matmul_fp4", aiter_fp4, small_matmul, m=1024, n=8192, k=4096, x_kind="fp4")
variant("aiter_matmul_fp4_weights", aiter_fp4, small_matmul, m=64, n=8192, k=4096, x_kind="bf16")


@operation(few_sizes | dict(k=128), sizes=[512] * 16, n=4096, k=2048)
def aiter_grouped_matmul(sizes, n, k):
    """The matmul of each expert's tokens, and the gradient of the weights."""
    g, m_sizes, m = aiter("gmm"), list_of(sizes), sum(sizes)
    x, w, grad = rand(m, k), rand(len(sizes), k, n, scale=0.03), rand(m, n)
    config = dict(BLOCK_SIZE_M=128, BLOCK_SIZE_K=64, BLOCK_SIZE_N=128, GROUP_SIZE=1, GRID_DIM=132, num_warps=8,
                  num_stages=3)  # fmt: skip
    return lambda: [g.gmm(x, w, m_sizes, config=config), g.ptgmm(x.t(), grad, m_sizes, config=config)]


def aiter_attention(batch, length, heads, kv_heads, dim, causal=True, **options):
    q, k, v = [leaf(batch, length, h, dim) for h in (heads, kv_heads, kv_heads)]
    f = aiter("attention.mha").flash_attn_func
    return with_gradients(lambda: f(q, k, v, causal=causal, **options), [q, k, v])


small_heads = dict(batch=1, length=130, heads=2, kv_heads=1)
variant("aiter_attention", aiter_attention, small_heads, batch=2, length=4096, heads=32, kv_heads=8, dim=128)
variant("aiter_attention_dropout", aiter_attention, small_heads, batch=2, length=2048, heads=16, kv_heads=16, dim=64,
        dropout_p=0.1)  # fmt: skip


@operation(dict(queries=[20, 7], lengths=[36, 40], heads=4, kv_heads=2), queries=[2048, 1024], lengths=[4096, 3072],
           heads=32, kv_heads=8, dim=128)  # fmt: skip
def aiter_extend_attention(queries, lengths, heads, kv_heads, dim):
    before = [n - m for n, m in zip(lengths, queries)]
    q, k, v = [rand(sum(queries), h, dim) for h in (heads, kv_heads, kv_heads)]
    keys, values, out = rand(sum(before), kv_heads, dim), rand(sum(before), kv_heads, dim), zeros(*q.shape)
    places = offsets(queries), offsets(before), permutation(sum(before))
    f = aiter("attention.extend_attention").extend_attention_fwd

    def step():
        f(q, k, v, out, keys, values, *places, None, True, None, max(queries))
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=16), lengths=long_lengths[:32], heads=128, rank=512, rope=64)
def aiter_mla_decode(lengths, heads, rank, rope):
    pages, table = pages_of(lengths, 64)
    q, cache = rand(len(lengths), heads, rank + rope), rand(pages, 64, 1, rank + rope)
    out, starts, used = zeros(len(lengths), heads, rank), offsets([1] * len(lengths)), list_of(lengths)
    f = aiter("attention.mla").mla_decode_fwd

    def step():
        f(q, cache, out, starts, used, max(lengths), table, 192**-0.5, rank, rope, True, None, None)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=4, kv_heads=2), lengths=long_lengths, heads=32, kv_heads=8, dim=128)
def aiter_paged_decode(lengths, heads, kv_heads, dim, page=16):
    import triton.language as tl

    pages, table = pages_of(lengths, page)
    q, out = rand(len(lengths), heads, dim), zeros(len(lengths), heads, dim)
    k, v = [rand(pages, kv_heads, page, dim) for _ in "kv"]
    one, used, f = list_of([1.0], "float32"), list_of(lengths), aiter("attention.pa_decode").paged_attention_decode

    def step():
        f(out, q, k, v, used, table, dim**-0.5, max(lengths), tl.bfloat16, one, one)
        return [out]

    return step


@operation(dict(tokens=20, keys=300), tokens=2048, keys=8192, heads=64, dim=128)
def aiter_indexer_logits(tokens, keys, heads, dim):
    """Scores of DeepSeek's sparse attention: which keys a query attends to."""
    q, k, scales, weights = fp8(tokens, heads, dim), fp8(keys, dim), uniform(keys), rand(tokens, heads, dtype="float32")
    ends = list_of([keys - tokens + i + 1 for i in range(tokens)])
    f = aiter("attention.fp8_mqa_logits").fp8_mqa_logits
    return lambda: [f(q, k, scales, weights, ends * 0, ends).clamp(min=-100)]


@operation(dict(tokens=20, width=512), tokens=8192, width=8192)
def aiter_norms(tokens, width):
    x, w, b = leaf(tokens, width), leaf(width), leaf(width)
    f, g = aiter("normalization.rmsnorm").rms_norm, aiter("normalization.norm").layer_norm
    return with_gradients(lambda: f(x, w, 1e-6) + g(x, w, b), [x, w, b])


@operation(dict(tokens=20, width=512), tokens=8192, width=7168)
def aiter_norm_quantise(tokens, width):
    import torch

    x, r, w = rand(tokens, width), rand(tokens, width), rand(width)
    f = aiter("quant.fused_fp8_quant").fused_rms_fp8_group_quant
    kind = torch.float8_e4m3fn

    def step():
        (made, scales), _, _, residual = f(x, w, 1e-6, dtype_quant=kind, res1=r)
        return [made, scales, residual]

    return step


@operation(dict(tokens=20, width=512), tokens=8192, width=4096)
def aiter_quantise(tokens, width):
    import torch

    x, y, f = rand(tokens, width), rand(tokens, 2 * width), aiter("quant.quant")
    out, scale = zeros(tokens, width, dtype="float8_e4m3fn"), zeros(tokens, dtype="float32")
    act = aiter("activation").act_mul_and_fp8_group_quant

    def step():
        f.dynamic_per_token_quant_fp8_i8(out, x, scale)
        return [out, scale, *f.dynamic_mxfp4_quant(x), *act(y, "silu", 128, torch.float8_e4m3fn)]

    return step


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=8192, heads=32, kv_heads=8, dim=128)
def aiter_split_rope(tokens, heads, kv_heads, dim):
    x, at = rand(tokens, (heads + 2 * kv_heads) * dim), ints(0, 16384, tokens, dtype="int64")
    cos, sin = [rand(16384, dim // 2) for _ in "cs"]
    f = aiter("rope.fused_qkv_split_qk_rope").fused_qkv_split_qk_rope
    return lambda: list(f(x, cos, sin, at, heads, kv_heads, dim))


@operation(dict(tokens=20, batch=2, heads=2), tokens=4096, batch=2, heads=32, dim=128)
def aiter_rope(tokens, batch, heads, dim):
    x, angles, f = rand(tokens, batch, heads, dim), rand(tokens, 1, 1, dim // 2), aiter("rope.rope")
    return lambda: [g(x, angles, 0, True, False) for g in (f.rope_fwd, f.rope_bwd)]


@operation(dict(rows=3, columns=2000, k=16), rows=256, columns=128256, k=64)
def aiter_topk(rows, columns, k):
    x, f = rand(rows, columns, dtype="float32"), aiter("topk").topk
    return lambda: [f(x, k)[0]]


@operation(dict(batch=1, channels=32, size=16), batch=2, channels=512, size=64)
def aiter_convolution(batch, channels, size):
    """3x3, as in the decoder of Stable Diffusion: by Winograd's transform, and 1x1."""
    x, w, bias = rand(batch, channels, size, size), rand(channels, channels, 3, 3, scale=0.03), rand(channels)
    one, g = rand(channels, channels, 1, 1, scale=0.03), aiter("conv.conv2d")
    options = dict(padding=(1, 1), layout="nhwc")
    return lambda: [g.conv2d_winograd_f4x3(x, w, bias, padding=(1, 1)), g.conv2d(x, w, bias, **options),
                    g.conv2d(x, one, bias)]  # fmt: skip


@operation(dict(tokens=33, experts=8, topk=2), tokens=8192, experts=128, topk=8)
def aiter_routing(tokens, experts, topk):
    x, f = rand(tokens, experts), aiter("moe.moe_routing.routing").routing

    def step():
        made, gather, scatter = f(x, topk)
        return [made.gate_scal, gather, scatter]

    return step


def aiter_experts(tokens, experts, topk, hidden, width, kind):
    """Both matmuls of a mixture of experts in fp8 or int8 with a scale a block, or bf16 by 4 bits."""
    routing, gather, scatter = aiter("moe.moe_routing.routing").routing(rand(tokens, experts), topk)
    if kind == "fp8":
        x, w = fp8(tokens, hidden), fp8(experts, 2 * width, hidden, scale=0.1).transpose(1, 2)
        s, t = uniform(tokens, hidden // 128), uniform(experts, hidden // 128, 2 * width // 128)
        f = aiter("moe.moe_op_gemm_a8w8_blockscale").moe_gemm_a8w8_blockscale
        return lambda: [f(x, w, s, t, routing_data=routing, gather_indx=gather, per_row_x_scale=True)]
    x, w = rand(tokens, hidden), ints(0, 256, experts, 2 * width, hidden // 2, dtype="uint8").transpose(1, 2)
    t = ints(122, 126, experts, 2 * width, hidden // 32, dtype="uint8").transpose(1, 2)
    f = aiter("moe.moe_op_gemm_a16w4").moe_gemm_a16w4
    return lambda: [f(x, w, None, t, routing_data=routing, gather_indx=gather, apply_swiglu=True)]


variant("aiter_experts_fp8", aiter_experts, few_experts, tokens=4096, kind="fp8", **qwen)
variant("aiter_experts_fp4", aiter_experts, few_experts, tokens=1024, kind="fp4", **qwen)
