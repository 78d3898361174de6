"""Operations of lightllm."""

import types

from library_operations.inputs import (
    experts_of, few_experts, fp8, int8, long_lengths, qwen, scaled_int4, small_matmul, words,
)  # fmt: skip
from library_packages import Library
from sized_operations import list_of, offsets, operation, permutation, rand, uniform, variant, zeros

lightllm = Library("lightllm")


def requests(lengths):
    """The places of each sequence's keys in a pool, a row a sequence, and which row is whose."""
    table = zeros(len(lengths), max(lengths) + 8, dtype="int32")
    places = permutation(sum(lengths))
    for row, start, n in zip(table, offsets(lengths).tolist(), lengths):
        row[:n] = places[start : start + n]
    return table, list_of(range(len(lengths)))


@operation(dict(queries=[20, 7], lengths=[36, 40], heads=4, kv_heads=2), queries=[2048, 1024], lengths=[4096, 3072],
           heads=32, kv_heads=8, dim=128)  # fmt: skip
def lightllm_prefill(queries, lengths, heads, kv_heads, dim):
    table, rows = requests(lengths)
    q, out = rand(sum(queries), heads, dim), zeros(sum(queries), heads, dim)
    k, v = [rand(sum(lengths), kv_heads, dim) for _ in "kv"]
    cached = list_of([n - m for n, m in zip(lengths, queries)])
    f = lightllm("models.llama.triton_kernel.context_flashattention_nopad").context_attention_fwd

    def step():
        f(q, k, v, out, rows, offsets(queries)[:-1], list_of(lengths), cached, max(queries), table)
        return [out]

    return step


def lightllm_state(lengths):
    """What its functions query of a batch."""
    table, rows = requests(lengths)
    manager = types.SimpleNamespace(req_to_token_indexs=table)
    return types.SimpleNamespace(batch_size=len(lengths), max_len_in_batch=max(lengths), total_token_num=sum(lengths),
                                 req_manager=manager, b_req_idx=rows, b_seq_len=list_of(lengths))  # fmt: skip


def lightllm_decode(lengths, heads, kv_heads, dim, persistent):
    state = lightllm_state(lengths)
    q, k, v = rand(len(lengths), heads, dim), *(rand(sum(lengths), kv_heads, dim) for _ in "kv")
    if persistent:
        f = lightllm("models.llama.triton_kernel.gqa_flash_decoding_vsm").gqa_token_decode_attention_flash_decoding_vsm
        return lambda: [f(q, k, v, state)]
    f = lightllm("models.llama.triton_kernel.gqa_flash_decoding").gqa_token_decode_attention_flash_decoding
    out = zeros(*q.shape)
    return lambda: [f(q, state, heads, dim, k, v, out)]


two = dict(lengths=[70, 33], heads=8, kv_heads=2)
variant("lightllm_decode", lightllm_decode, two, lengths=long_lengths, heads=32, kv_heads=8, dim=128, persistent=False)
variant("lightllm_decode_persistent", lightllm_decode, two, lengths=long_lengths, heads=64, kv_heads=8, dim=128,
        persistent=True)  # fmt: skip


@operation(dict(lengths=[70, 33], heads=16), lengths=long_lengths[:32], heads=128, rank=512, rope=64)
def lightllm_mla_decode(lengths, heads, rank, rope):
    state, n = lightllm_state(lengths), sum(lengths)
    q, p = rand(len(lengths), heads, rank), rand(len(lengths), heads, rope)
    k, r = rand(n, 1, rank), rand(n, 1, rope)
    f = lightllm("models.deepseek2.triton_kernel.gqa_flash_decoding").gqa_token_decode_attention_flash_decoding
    return lambda: [f(q, p, k, r, state, heads, rank, rope, 128, 192**-0.5, zeros(*q.shape))]


@operation(dict(lengths=[70, 33], heads=2), lengths=[4096, 2048], heads=16, dim=128, rope=64)
def lightllm_mla_prefill(lengths, heads, dim, rope):
    """Keys of each head, with a part that all of them share."""
    n, starts, used = sum(lengths), offsets(lengths)[:-1], list_of(lengths)
    q, p, k, r = rand(n, heads, dim), rand(n, heads, rope), rand(n, heads, dim), rand(n, 1, rope)
    v, out = rand(n, heads, dim), zeros(n, heads, dim)
    f = lightllm("models.deepseek2.triton_kernel.context_flashattention_nopad_with_v").context_attention_fwd_with_v

    def step():
        f(q, p, k, r, v, out, starts, starts, used, list_of([0] * len(lengths)), max(lengths), 192**-0.5)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=2), lengths=[2048, 1024], heads=128, rank=512, rope=64)
def lightllm_mla_prefill_absorbed(lengths, heads, rank, rope):
    """All heads with the same compressed keys, which are the values, too."""
    table, rows = requests(lengths)
    n, starts, used = sum(lengths), offsets(lengths)[:-1], list_of(lengths)
    q, p, k, r = rand(n, heads, rank), rand(n, heads, rope), rand(n, 1, rank), rand(n, 1, rope)
    out, none = zeros(n, heads, rank), list_of([0] * len(lengths))
    f = lightllm("models.deepseek2.triton_kernel.context_flashattention_nopad").context_attention_fwd

    def step():
        f(q, p, k, r, out, rows, starts, used, none, max(lengths), table, 192**-0.5)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=2), lengths=[2048, 1024, 777], heads=32, dim=128)
def lightllm_alibi_prefill(lengths, heads, dim):
    table, rows = requests(lengths)
    n, starts, used = sum(lengths), offsets(lengths)[:-1], list_of(lengths)
    q, k, v = [rand(n, heads, dim) for _ in "qkv"]
    out, slopes, none = zeros(n, heads, dim), uniform(heads), list_of([0] * len(lengths))
    f = lightllm("models.bloom.triton_kernel.context_flashattention_nopad").context_attention_fwd

    def step():
        f(q, k, v, out, rows, slopes, starts, used, none, max(lengths), table)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=2), lengths=[1024] * 16, heads=16, dim=80)
def lightllm_vision_attention(lengths, heads, dim):
    q, k, v = [rand(sum(lengths), heads, dim) for _ in "qkv"]
    out, starts = zeros(sum(lengths), heads, dim), offsets(lengths)
    f = lightllm("models.vit.triton_kernel.flashattention_nopad")._flash_attention_triton_fwd

    def step():
        f(q, k, v, out, starts, max(lengths))
        return [out]

    return step


def lightllm_experts(tokens, experts, topk, hidden, width, kind):
    x, (weights, ids) = rand(tokens, hidden), experts_of(tokens, experts, topk)
    f = lightllm("common.fused_moe.grouped_fused_moe").fused_experts_impl
    if kind == "bf16":
        up, down = rand(experts, 2 * width, hidden, scale=0.03), rand(experts, hidden, width, scale=0.03)
        return lambda: [f(x, up, down, weights, ids)]
    up, down = fp8(experts, 2 * width, hidden, scale=0.1), fp8(experts, hidden, width, scale=0.1)
    s, t = [uniform(experts, w.shape[1] // 128, w.shape[2] // 128) for w in (up, down)]
    return lambda: [f(x, up, down, weights, ids, use_fp8_w8a8=True, w1_scale=s, w2_scale=t)]


deepseek = dict(experts=256, topk=8, hidden=7168, width=256)  # V3, an eighth of each expert
variant("lightllm_experts_bf16", lightllm_experts, few_experts, tokens=4096, kind="bf16", **qwen)
variant("lightllm_experts_fp8", lightllm_experts, few_experts, tokens=2048, kind="fp8", **deepseek)
variant("lightllm_experts_fp8_decode", lightllm_experts, few_experts, tokens=32, kind="fp8", **deepseek)


@operation(dict(tokens=9), tokens=8192, experts=256, topk=8, groups=8, chosen=4)
def lightllm_grouped_topk(tokens, experts, topk, groups, chosen):
    x, bias = rand(tokens, experts), rand(experts)
    f = lightllm("common.fused_moe.grouped_topk").triton_grouped_topk
    return lambda: list(f(None, x, bias, topk, True, groups, chosen, "sigmoid"))


@operation(small_matmul, m=4096, n=7168, k=2048)
def lightllm_matmul_fp8_blocks(m, n, k):
    a, b, c = fp8(m, k), fp8(n, k, scale=0.1).t(), zeros(m, n)
    s, t = uniform(m, k // 128), uniform(n // 128, k // 128).t()
    f = lightllm("common.quantization.triton_quant.fp8.fp8w8a8_block_gemm_kernel").w8a8_block_fp8_matmul
    return lambda: [f(a, b, s, t, c, (128, 128))]


@operation(dict(heads=3, m=128, n=256, k=128), heads=128, m=512, n=512, k=128)
def lightllm_matmul_fp8_heads(heads, m, n, k):
    a, b, c = fp8(heads, m, k), fp8(heads, n, k).transpose(1, 2), zeros(heads, m, n)
    s, t = uniform(heads, m), uniform(heads, n)
    f = lightllm("common.basemodel.triton_kernel.bmm_scaled_fp8").bmm_scaled_fp8
    return lambda: [f(a, s, b, t, c)]


@operation(dict(m=70, n=128, k=256), m=2048, n=4096, k=4096)
def lightllm_matmul_int8(m, n, k):
    x, w, scale = rand(m, k, dtype="float16"), int8(n, k).t(), (uniform(n) * 0.01).half()
    f = lightllm("common.basemodel.triton_kernel.quantize_gemm_int8").matmul_quantize_int8
    return lambda: [f(x, w, scale)]


def lightllm_int4(m, n, k, part):
    x, scales = rand(m, k, dtype="float16"), scaled_int4(k, n, 128)
    w, zero = words(k // 8, n), words(k // 128, n // 8)
    g = lightllm("common.basemodel.triton_kernel.dequantize_gemm_int4")
    if part == "gptq":
        return lambda: [g.matmul_dequantize_int4_gptq(x, w, scales, zero, 128)]
    if part == "decode":
        return lambda: [g.matmul_dequantize_int4_s2(x, w, scales, zero, 128)]
    return lambda: [g.dequantize_int4(w, scales, zero, x.device, x.dtype, 128)]


few_words = dict(m=32, n=256, k=1024)
variant("lightllm_int4_gptq", lightllm_int4, few_words, m=32, n=4096, k=4096, part="gptq")
variant("lightllm_int4_decode", lightllm_int4, few_words, m=32, n=4096, k=4096, part="decode")
variant("lightllm_int4_dequantise", lightllm_int4, few_words, m=32, n=14336, k=4096, part="prefill")


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=8192, heads=28, kv_heads=4, dim=128)
def lightllm_mrope(tokens, heads, kv_heads, dim):
    q, k = rand(1, heads, tokens, dim), rand(1, kv_heads, tokens, dim)
    cos, sin = [rand(3, 1, tokens, dim) for _ in "cs"]
    axes = list_of(([0] * 16 + [1] * 24 + [2] * 24) * 2)
    f = lightllm("models.qwen2_vl.triton_kernel.mrope").mrope_triton
    return lambda: list(f(q, k, cos, sin, axes))


@operation(dict(tokens=9), tokens=16384, heads=8, dim=128)
def lightllm_quantise_cache(tokens, heads, dim):
    x, places = rand(tokens, heads, dim, dtype="float16"), permutation(tokens)
    out, scales = zeros(tokens, heads, dim, dtype="int8"), zeros(tokens, heads, dim // 8, dtype="float16")
    f = lightllm("models.llama.triton_kernel.ppl_quant_copy_kv").destindex_copy_quantize_kv

    def step():
        f(x, places, out, scales)
        return [out, scales]

    return step
