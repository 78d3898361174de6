"""vLLM's layers with states (Mamba, Lightning attention, gated delta rules), norms and rotations."""

from serving_operations.inputs import vllm
from sized_operations import SMALL, ints, list_of, offsets, operation, permutation, rand, uniform, variant, zeros


@operation(
    dict(lengths=[96, 40], heads=4, groups=2), lengths=[4096, 2048, 1000], heads=128, groups=8, dim=64, state=128
)
def vllm_mamba_prefill(lengths, heads, groups, dim, state, chunk=256):
    chunk = 32 if SMALL else chunk
    import torch

    n, starts, chunks, sequences = sum(lengths), [0], [], []
    for i, length in enumerate(lengths):
        parts = [min(chunk, length - j) for j in range(0, length, chunk)]
        starts += [starts[-1] + sum(parts[: j + 1]) for j in range(len(parts))]
        sequences += [i] * len(parts)
        chunks.append(len(sequences) - 1)
    x, dt, out = rand(n, heads, dim), rand(n, heads), zeros(n, heads, dim)
    B, C, A, D = rand(n, groups, state), rand(n, groups, state), -uniform(heads) - 0.5, uniform(heads)
    args = offsets(lengths), list_of(starts), list_of(chunks), list_of(sequences), out
    f = vllm("model_executor.layers.mamba.ops.ssd_combined").mamba_chunk_scan_combined_varlen
    options = dict(D=D, dt_bias=uniform(heads), dt_softplus=True, state_dtype=torch.float32)
    return lambda: [f(x, dt, A, B, C, chunk, *args, **options), out]


@operation(dict(batch=3, heads=4, groups=2), batch=256, heads=128, groups=8, dim=64, state=128)
def vllm_mamba_decode(batch, heads, groups, dim, state):
    import torch

    cache, x, z = rand(batch + 1, heads, dim, state), rand(batch, heads, dim), rand(batch, heads, dim)
    dt, A = rand(batch, heads, 1).expand(-1, -1, dim), -uniform(heads, 1, 1).expand(-1, dim, state)
    B, C = rand(batch, groups, state), rand(batch, groups, state)
    D, bias = [uniform(heads, 1).expand(-1, dim) for _ in "Db"]
    places, out = permutation(batch) + 1, torch.empty_like(x)
    f = vllm("model_executor.layers.mamba.ops.mamba_ssm").selective_state_update

    def step():
        f(cache.clone(), x, dt, A, B, C, D, bias, z=z, dt_softplus=True, state_batch_indices=places, out=out)
        return [out]

    return step


@operation(dict(lengths=[20, 9], dim=64), lengths=[4096, 2048, 1000], dim=10240)
def vllm_mamba_convolution(lengths, dim, width=4):
    import torch

    x, w, bias = rand(sum(lengths), dim).t(), rand(dim, width), rand(dim)
    states = rand(len(lengths) + 1, width - 1, dim).transpose(1, 2)
    places, first = list_of(range(1, len(lengths) + 1)), torch.zeros(len(lengths), dtype=torch.bool, device="cuda")
    f = vllm("model_executor.layers.mamba.ops.causal_conv1d").causal_conv1d_fn
    return lambda: [f(x, w, bias, states, offsets(lengths), places, first, "silu")]


@operation(dict(length=300, heads=2), length=4096, heads=32, dim=128)
def vllm_lightning_attention(length, heads, dim):
    q, k, v = [rand(1, heads, length, dim, dtype="float32", scale=0.3) for _ in "qkv"]
    slopes = uniform(heads)
    f = vllm("model_executor.layers.lightning_attn").lightning_attention
    return lambda: list(f(q, k, v, slopes))


def delta_rule(module, function, tokens, heads, value_heads, dim, gates, **options):
    import torch

    q, k = [torch.nn.functional.normalize(rand(1, tokens, heads, dim), dim=-1) for _ in "qk"]
    v, beta = rand(1, tokens, value_heads, dim), uniform(1, tokens, value_heads).bfloat16()
    g = -uniform(1, tokens, value_heads, *gates) * 0.1
    state = rand(1, value_heads, dim, dim, dtype="float32", scale=0.1)
    f = getattr(vllm("third_party.flash_linear_attention.ops." + module), function)
    return lambda: list(f(q, k, v, g, beta, initial_state=state.clone(), output_final_state=True, **options))


small_rule = dict(tokens=100, heads=2, value_heads=2)
variant("vllm_gated_delta_rule", delta_rule, small_rule, module="chunk", function="chunk_gated_delta_rule",
        tokens=8192, heads=16, value_heads=32, dim=128, gates=())  # fmt: skip
variant("vllm_kimi_delta_attention", delta_rule, small_rule, module="kda", function="chunk_kda",
        tokens=8192, heads=32, value_heads=32, dim=128, gates=(128,))  # fmt: skip


@operation(dict(batch=3, heads=2, value_heads=4), batch=128, heads=16, value_heads=32, dim=128)
def vllm_gated_delta_decode(batch, heads, value_heads, dim):
    mixed = rand(batch, (2 * heads + value_heads) * dim)
    a, b, logs, bias = rand(batch, value_heads), rand(batch, value_heads), uniform(value_heads), uniform(value_heads)
    state, places = rand(batch + 1, value_heads, dim, dim, dtype="float32", scale=0.1), permutation(batch) + 1
    out = zeros(batch, 1, value_heads, dim)
    f = vllm("third_party.flash_linear_attention.ops.fused_recurrent").fused_recurrent_gated_delta_rule_packed_decode
    return lambda: [f(mixed, a, b, logs, bias, dim**-0.5, state.clone(), out, places, use_qk_l2norm_in_kernel=True)[0]]


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=4096, heads=64, kv_heads=8, dim=128)
def vllm_mrope(tokens, heads, kv_heads, dim):
    q, k = rand(tokens, heads * dim), rand(tokens, kv_heads * dim)
    cos, sin = [uniform(3, tokens, dim // 2).bfloat16() for _ in "cs"]
    f = vllm("model_executor.layers.rotary_embedding.mrope").triton_mrope
    return lambda: list(f(q.clone(), k.clone(), cos, sin, [16, 24, 24], dim, dim, False, True))


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=8192, heads=16, kv_heads=2, dim=256)
def vllm_norm_rope_gate(tokens, heads, kv_heads, dim):
    q, k, w, u = rand(tokens, heads * 2 * dim), rand(tokens, kv_heads * dim), rand(dim), rand(dim)
    cache, positions = rand(16384, dim // 4), ints(0, 16384, tokens, dtype="int64")
    f = vllm("model_executor.layers.fused_qk_norm_rope").fused_qk_rmsnorm_rope_gate
    return lambda: list(f(q, k, w, u, cache, positions, 1e-6, heads, kv_heads, dim, dim // 4, norm_beta=1.0))
