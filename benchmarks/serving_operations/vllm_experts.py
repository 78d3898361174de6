"""vLLM's mixtures of experts."""

from serving_operations.inputs import aligned, experts_of, few_experts, mixtral, qwen, vllm
from sized_operations import ints, operation, rand, uniform, variant, zeros

WEIGHTS = dict(fp8="fp8_w8a8", blocks="fp8_w8a8", int8_weights="int8_w8a16", int4="int4_w4a16")  # names in vLLM


def mixture(tokens, experts, topk, hidden, width, kind="bfloat16"):
    """Both matmuls of a mixture of experts, by vLLM's kernel for weights of this kind."""
    import triton.language as tl

    g = vllm("model_executor.layers.fused_moe.fused_moe")
    weights, ids = experts_of(tokens, experts, topk)
    block = [128, 128] if kind == "blocks" else [0, 128] if "int8_w" in kind or kind == "int4" else None
    name = WEIGHTS.get(kind)
    tuned = g.get_moe_configs(experts, width, name, *(block or (0, 0)))
    if tuned and kind not in ("int4", "int8_weights"):
        config = tuned[min(tuned, key=lambda m: abs(m - tokens))]
    else:
        config = g.get_default_config(tokens, experts, width, hidden, topk, name, block)
    rows, owners, count = aligned(ids, config["BLOCK_SIZE_M"], experts)

    def matmul(m, repeats, n, k, weighted):
        options = dict(use_fp8_w8a8=kind in ("fp8", "blocks"), use_int8_w8a8=kind == "int8", use_int8_w8a16=False,
                       use_int4_w4a16=False, per_channel_quant=kind == "int8", block_shape=block)  # fmt: skip
        x, w, scales, f = rand(m, k), None, [None, None], g.invoke_fused_moe_triton_kernel
        if kind in ("int8_weights", "int4"):
            w = ints(0, 256, experts, n, k // (2 if kind == "int4" else 1), dtype="uint8")
            scales, f = [uniform(experts, n, k // 128) * 0.01, None], g.invoke_fused_moe_wna16_triton_kernel
            options = dict(use_int8_w8a16=kind != "int4", use_int4_w4a16=kind == "int4", block_shape=block)
            scales[0] = scales[0].bfloat16()
        elif kind == "int8":
            x, w = ints(-127, 128, m, k, dtype="int8"), ints(-127, 128, experts, n, k, dtype="int8")
            scales = [uniform(m, 1) * 0.01, uniform(experts, n, 1) * 0.01]
        elif kind == "bfloat16":
            w = rand(experts, n, k, scale=0.03)
        else:
            x, w = rand(m, k, dtype="float8_e4m3fn"), rand(experts, n, k, dtype="float8_e4m3fn", scale=0.1)
            scales = [uniform(1), uniform(experts)]
            if kind == "blocks":
                scales = [uniform(m, k // 128), uniform(experts, n // 128, k // 128)]
        out = zeros(tokens, topk, n)

        def run():
            f(x, w, out, *scales, weights, rows, owners, count, weighted, repeats, config, tl.bfloat16, **options)
            return out

        return run

    up = matmul(tokens, topk, 2 * width, hidden, False)
    down = matmul(tokens * topk, 1, hidden, width, True)
    return lambda: [up(), down()]


deepseek = dict(experts=256, topk=8, hidden=7168, width=256)  # V3, an eighth of each expert
for kind, model, tokens in [
    ("bfloat16", qwen, 4096), ("bfloat16", qwen, 32), ("fp8", mixtral, 2048),
    ("blocks", deepseek, 4096), ("blocks", deepseek, 32), ("int8", mixtral, 2048), ("int8_weights", mixtral, 64),
    ("int4", qwen, 1024), ("int4", mixtral, 64),
]:  # fmt: skip
    variant(f"vllm_experts_{kind}_{tokens}", mixture, few_experts, tokens=tokens, kind=kind, **model)


@operation(few_experts | dict(most=16), tokens=512, experts=32, topk=8, hidden=4096, width=1536, most=256)
def vllm_batched_experts(tokens, experts, topk, hidden, width, most):
    import torch
    import triton.language as tl

    _, ids = experts_of(tokens, experts, topk)
    counts = torch.bincount(ids.flatten(), minlength=experts).clamp(max=most).int()
    x, w = rand(experts, most, hidden), rand(experts, 2 * width, hidden, scale=0.03)
    out, f = zeros(experts, most, 2 * width), vllm("model_executor.layers.fused_moe.experts.fused_batched_moe")
    config = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=1, num_warps=4, num_stages=3)

    def step():
        args = x, w, out, counts, tl.bfloat16, None, None, None, False, False, False, config, False
        f.invoke_moe_batched_triton_kernel(*args)
        return [out]

    return step


@operation(dict(tokens=12, hidden=256), tokens=8192, topk=8, hidden=7168)
def vllm_sum_experts(tokens, topk, hidden):
    x, weights = rand(tokens, topk, hidden), uniform(tokens, topk)
    f = vllm("model_executor.layers.fused_moe.moe_fused_mul_sum").moe_fused_mul_sum
    return lambda: [f(x, weights)]
