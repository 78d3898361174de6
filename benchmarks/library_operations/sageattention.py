"""Operations of SageAttention."""

from library_packages import Library
from sized_operations import offsets, operation, rand, variant

sage = Library("sageattention.triton")


def sage_attention(batch, length, heads, kv_heads, dim, causal):
    """Quantises queries and keys to int8 by block, then attention."""
    import torch

    q, k = [rand(batch, h, length, dim) for h in (heads, kv_heads)]
    v = rand(batch, kv_heads, length, dim, dtype="float16")
    quantise = sage("quant_per_block").per_block_int8
    f = sage("attn_qk_int8_per_block_causal" if causal else "attn_qk_int8_per_block").forward

    def step():
        a, s, b, t = quantise(q, k)
        return [f(a, b, v, s, t, output_dtype=torch.bfloat16)[0], s, t]

    return step


few = dict(batch=1, length=256, heads=2, kv_heads=1)
variant("sage_attention_flux", sage_attention, few, batch=1, length=4608, heads=24, kv_heads=24, dim=128, causal=False)
variant("sage_attention_sd", sage_attention, few, batch=4, length=4096, heads=10, kv_heads=10, dim=64, causal=False)
variant("sage_attention_causal", sage_attention, few, batch=1, length=8192, heads=32, kv_heads=8, dim=128, causal=True)


@operation(dict(lengths=[256, 128], heads=2, kv_heads=1), lengths=[4096, 2560, 1024], heads=32, kv_heads=8, dim=128)
def sage_attention_varlen(lengths, heads, kv_heads, dim):
    import torch

    n, most, starts = sum(lengths), max(lengths), offsets(lengths)
    q, k, v = rand(n, heads, dim), rand(n, kv_heads, dim), rand(n, kv_heads, dim, dtype="float16")
    quantise = sage("quant_per_block_varlen").per_block_int8
    f = sage("attn_qk_int8_per_block_causal_varlen").forward

    def step():
        a, s, b, t, *blocks = quantise(q, k, starts, starts, most, most)
        return [f(a, b, v, starts, starts, most, s, t, *blocks, output_dtype=torch.bfloat16)]

    return step


@operation(few, batch=1, length=32768, heads=24, kv_heads=24, dim=128)
def sage_quantise_per_thread(batch, length, heads, kv_heads, dim):
    q, k, f = rand(batch, heads, length, dim), rand(batch, kv_heads, length, dim), sage("quant_per_thread")
    return lambda: list(f.per_thread_int8(q, k))
