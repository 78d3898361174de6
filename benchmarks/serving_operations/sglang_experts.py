"""SGLang's mixtures of experts, quantisation, matmuls, adapters, norms and sampling."""

import types

from serving_operations.inputs import aligned, experts_of, few_experts, mixtral, qwen, sglang, small_matmul
from sized_operations import ints, list_of, offsets, operation, permutation, rand, uniform, variant, zeros


def sglang_experts(tokens, experts, topk, hidden, width, tma=False, kind="bfloat16"):
    import triton.language as tl

    g = sglang("moe.fused_moe_triton_kernels")
    weights, ids = experts_of(tokens, experts, topk)
    x, w, out = rand(tokens, hidden), rand(experts, 2 * width, hidden, scale=0.03), zeros(tokens, topk, 2 * width)
    config = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=16, num_warps=4, num_stages=4)
    scales, block = (None, None), None
    if kind == "blocks":
        x, w = rand(tokens, hidden, dtype="float8_e4m3fn"), rand(*w.shape, dtype="float8_e4m3fn", scale=0.1)
        scales, block = (uniform(tokens, hidden // 128), uniform(experts, 2 * width // 128, hidden // 128)), [128, 128]
        config |= dict(BLOCK_SIZE_K=128, num_stages=3)
    rows = aligned(ids, config["BLOCK_SIZE_M"], experts)

    def step():
        g.invoke_fused_moe_kernel(x, w, None, out, *scales, None, weights, ids, *rows, False, topk, config, tl.bfloat16,
                                  kind == "blocks", False, False, False, False, block, b_use_tma=tma)  # fmt: skip
        return [out]

    return step


variant("sglang_experts_qwen_descriptors", sglang_experts, few_experts, tokens=4096, tma=True, **qwen)
variant("sglang_experts_fp8_descriptors", sglang_experts, few_experts, tokens=2048, kind="blocks", tma=True, **mixtral)


@operation(dict(tokens=9), tokens=16384)
def sglang_deepseek_gate(tokens):
    scores, bias = rand(tokens, 256, dtype="float32"), uniform(256)
    f = sglang("moe.moe_fused_gate").moe_fused_gate
    return lambda: list(f(scores, bias, 8, num_expert_group=8, topk_group=4, routed_scaling_factor=2.5))


@operation(dict(tokens=9), tokens=16384, experts=256, k=6)
def sglang_gate_topk(tokens, experts, k):
    x, f = rand(tokens, experts, dtype="float32"), sglang("moe.gate_topk").gate_topk
    return lambda: list(f(x, k))


@operation(dict(most=16, experts=2, width=128), experts=32, most=512, width=2048)
def sglang_masked_silu_quantise(experts, most, width):
    x, counts = rand(experts, most, 2 * width), ints(most // 4, most, experts)
    out = zeros(experts, most, width, dtype="float8_e4m3fn")
    scales = zeros(experts, most, width // 128, dtype="float32")
    f = sglang("moe.ep_moe_kernels").silu_and_mul_masked_post_quant_fwd

    def step():
        f(x, out, scales, 128, counts)
        return [out, scales]

    return step


@operation(dict(tokens=8, heads=2), tokens=2048, heads=128)
def sglang_quantise_mla_tensor(tokens, heads):
    x, f = rand(heads, tokens, 512), sglang("quantization.fp8_kernel").per_tensor_quant_mla_fp8
    return lambda: list(f(x, zeros(1, dtype="float32")))


@operation(dict(tokens=8, hidden=256), tokens=8192, hidden=7168)
def sglang_quantise_rounded_scales(tokens, hidden):
    x, f = rand(tokens, hidden), sglang("quantization.act_quant_triton").act_quant
    return lambda: list(f(x, 128, "ue8m0"))


@operation(dict(tokens=64, hidden=256), tokens=8192, hidden=7168)
def sglang_quantise_mxfp8(tokens, hidden):
    x, f = rand(tokens, hidden), sglang("quantization.mxfp8_quant").to_mxfp8

    def step():
        made = f(x)
        return [made.data, made.scale]

    return step


@operation(dict(tokens=9), tokens=65536)
def sglang_quantise_fp4_indexer(tokens):
    x, f = rand(tokens, 128), sglang("quantization.fp4_indexer_quant").quantize_fp4_indexer_tensor
    return lambda: list(f(x))


def sglang_block_matmul(m, n, k, dtype="float8_e4m3fn"):
    import torch

    make = (lambda *s: ints(-127, 128, *s, dtype="int8")) if dtype == "int8" else (lambda *s: rand(*s, dtype=dtype))
    a, b, s, t = make(m, k), make(n, k), uniform(m, k // 128), uniform(n // 128, k // 128)
    g = sglang("gemm.int8_kernel" if dtype == "int8" else "gemm.fp8_kernel")
    f = g.w8a8_block_int8_matmul if dtype == "int8" else g.w8a8_block_fp8_matmul_triton
    return lambda: [f(a, b, s, t, [128, 128], torch.bfloat16)]


variant("sglang_matmul_fp8_blocks_4096", sglang_block_matmul, small_matmul, m=4096, n=7168, k=2048)
variant("sglang_matmul_fp8_blocks_16", sglang_block_matmul, small_matmul, m=16, n=7168, k=2048)
variant("sglang_matmul_int8_blocks_1024", sglang_block_matmul, small_matmul, m=1024, n=4096, k=7168, dtype="int8")


def sglang_lora(lengths, hidden, q, kv, rank=16, adapters=8):
    n = len(lengths)
    batch = types.SimpleNamespace(
        use_cuda_graph=False, bs=n, num_segments=n, seg_indptr=offsets(lengths), weight_indices=ints(0, adapters, n),
        lora_ranks=list_of([rank] * adapters), scalings=uniform(adapters), max_len=max(lengths),
        seg_lens=list_of(lengths), permutation=None,
    )  # fmt: skip
    x, a = rand(sum(lengths), hidden), rand(adapters, 3 * rank, hidden, scale=0.02)
    b, starts = rand(adapters, q + 2 * kv, rank), list_of([0, q, q + kv, q + 2 * kv])
    shrink, expand = sglang("lora.dense.sgemm_lora_a"), sglang("lora.dense.qkv_lora_b")

    def step():
        inner = shrink.sgemm_lora_a_fwd(x, a, batch, 3)
        return [inner, expand.qkv_lora_b_fwd(inner, b, batch, starts, max(q, kv))]

    return step


small_lora = dict(lengths=[20, 9], hidden=256, q=128, kv=64, adapters=2)
variant("sglang_lora_prefill", sglang_lora, small_lora, lengths=[1024, 800, 1500, 700], hidden=4096, q=4096, kv=1024)


def segment_attention(lengths, heads, dim):
    n = sum(lengths)
    q, k, v = [rand(n, heads, dim, scale=0.3) for _ in "qkv"]
    state, decay = rand(len(lengths), heads, dim, dim, dtype="float32", scale=0.1), uniform(heads)
    meta = types.SimpleNamespace(
        batch_size=len(lengths), max_q_length=max(lengths), q_offsets=offsets(lengths), q_lengths=list_of(lengths),
        s_offsets=permutation(len(lengths)), s_scales=list_of([1] * len(lengths)), mask=None,
    )  # fmt: skip
    f = sglang("attention.linear.seg_la").seg_la_fwd

    def step():
        kept = state.clone()
        return [f(q, k, v, kept, decay, meta), kept]

    return step


variant("sglang_segment_attention_prefill", segment_attention, dict(lengths=[40, 30], heads=2),
        lengths=[4096, 2048, 1000, 1048], heads=32, dim=128)  # fmt: skip


@operation(dict(tokens=9, hidden=300), tokens=8192, hidden=6144)
def sglang_two_norms(tokens, hidden):
    x, r, w, u = rand(tokens, hidden), rand(tokens, hidden), rand(hidden), rand(hidden)
    f = sglang("layernorm.fused_rmsnorm").fused_dual_residual_rmsnorm
    return lambda: list(f(x, r, w, u, 1e-6))


@operation(dict(tokens=3, vocabulary=2500), tokens=128, vocabulary=256000)
def sglang_softcap(tokens, vocabulary):
    x, f = rand(tokens, vocabulary, dtype="float32", scale=20.0), sglang("activation.softcap").softcap_inplace_logits

    def step():
        made = x.clone()
        f(made, 30.0)
        return [made]

    return step


@operation(dict(tokens=66, vocabulary=5000), tokens=256, vocabulary=151936)
def sglang_argmax(tokens, vocabulary):
    x, f = rand(tokens, vocabulary, dtype="float32"), sglang("speculative.row_argmax").row_argmax
    return lambda: [f(x)]


@operation(dict(batch=2, vocabulary=3000), batch=64, vocabulary=151936, drafts=4)
def sglang_accept_drafts(batch, vocabulary, drafts):
    import torch

    target, draft = [torch.softmax(rand(batch, drafts, vocabulary, dtype="float32", scale=2.0), -1) for _ in "td"]
    ids, order = ints(0, vocabulary, batch, drafts), ints(0, 1, batch, drafts) + list_of(range(drafts))
    coins, last = uniform(batch, drafts), uniform(batch)
    out, index, count = [zeros(*s, dtype="int32") for s in [(batch * drafts,), (batch, drafts), (batch,)]]
    f = sglang("speculative.reject_sampling").chain_speculative_sampling_triton

    def step():
        at = order + drafts * list_of(range(batch)).view(-1, 1)
        args = ids.long(), at.long(), None, None, coins, last, target, draft[:, : drafts - 1].contiguous()
        f(out, index, count, *args, 1.0, 1.0, True)
        return [out, index, count]

    return step


@operation(dict(words=20000), words=64 * 1024 * 1024)
def sglang_tensor_hash(words):
    x, f = ints(-(2**31), 2**31 - 1, words), sglang("memory.gpu_tensor_hash").gpu_tensor_hash
    return lambda: [list_of([f(x) % 2**40], "float64")]
