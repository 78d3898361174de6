"""Attention of SGLang, and its caches."""

from serving_operations.inputs import sglang
from sized_operations import ints, list_of, offsets, operation, permutation, rand, variant, zeros


def places_of(lengths):
    """Where the places of each sequence begin in a list of them, and this list, in any order."""
    return offsets(lengths), permutation(sum(lengths), "int64")


def sglang_decode(lengths, heads, kv_heads, dim, value_dim, softcap=0.0, splits=8, cache="bfloat16"):
    starts, places = places_of(lengths)
    q, k = rand(len(lengths), heads, dim), rand(sum(lengths), kv_heads, dim, dtype=cache)
    v = k[..., :value_dim] if kv_heads == 1 else rand(sum(lengths), kv_heads, value_dim, dtype=cache)
    out, partial = zeros(len(lengths), heads, value_dim), zeros(len(lengths), heads, splits, value_dim, dtype="float32")
    lse, used = zeros(len(lengths), heads, splits, dtype="float32"), list_of([splits] * len(lengths))
    f = sglang("attention.decode_attention").decode_attention_fwd

    def step():
        f(q, k, v, out, starts, places, partial, lse, used, splits, dim**-0.5, 1.0, 1.0, softcap, has_mla=kv_heads == 1)
        return [out]

    return step


two_lengths = dict(lengths=[70, 33], splits=2)
variant("sglang_decode_llama70b", sglang_decode, two_lengths | dict(heads=8, kv_heads=2),
        lengths=[4096 - 37 * i for i in range(64)], heads=64, kv_heads=8, dim=128, value_dim=128)  # fmt: skip
variant("sglang_decode_softcap", sglang_decode, two_lengths | dict(heads=4, kv_heads=2),
        lengths=[4096 - 60 * i for i in range(32)], heads=16, kv_heads=8, dim=256, value_dim=256,
        softcap=50.0)  # fmt: skip
variant("sglang_decode_mla", sglang_decode, two_lengths | dict(heads=16),
        lengths=[4096 - 60 * i for i in range(32)], heads=128, kv_heads=1, dim=576, value_dim=512)  # fmt: skip


def sglang_extend(new, before, heads, kv_heads, dim, value_dim, window=-1, softcap=0.0):
    n, total = sum(new), sum(before)
    q, k, v = rand(n, heads, dim), rand(n, kv_heads, dim), rand(n, kv_heads, value_dim)
    keys, values, out = rand(total, kv_heads, dim), rand(total, kv_heads, value_dim), zeros(n, heads, value_dim)
    starts, places = places_of(before)
    f = sglang("attention.extend_attention").extend_attention_fwd

    def step():
        f(q, k, v, out, keys, values, offsets(new), starts, places, None, True, None, max(new), 1.0, 1.0, dim**-0.5,
          softcap, sliding_window_size=window)  # fmt: skip
        return [out]

    return step


two_new = dict(new=[20, 9], before=[30, 40], heads=4, kv_heads=2)
variant("sglang_extend_llama8b", sglang_extend, two_new,
        new=[1024, 512, 512], before=[2048, 4096, 1000], heads=32, kv_heads=8, dim=128, value_dim=128)  # fmt: skip
variant("sglang_extend_window_softcap", sglang_extend, two_new | dict(window=20),
        new=[2048], before=[2048], heads=16, kv_heads=8, dim=256, value_dim=256, window=1024, softcap=50.0)  # fmt: skip
variant("sglang_extend_deepseek", sglang_extend, two_new | dict(kv_heads=4),
        new=[2048], before=[1024], heads=16, kv_heads=16, dim=192, value_dim=128)  # fmt: skip


@operation(dict(lengths=[600, 500], heads=4, kv_heads=2),
           lengths=[4096 - 60 * i for i in range(32)], heads=32, kv_heads=8, dim=128, drafts=4)  # fmt: skip
def sglang_verify_drafts(lengths, heads, kv_heads, dim, drafts):
    n = len(lengths) * drafts
    q, k, v = [rand(n, h, dim) for h in (heads, kv_heads, kv_heads)]
    keys, values, out = rand(sum(lengths), kv_heads, dim), rand(sum(lengths), kv_heads, dim), zeros(n, heads, dim)
    starts, places = places_of(lengths)
    f = sglang("attention.verify_splitkv").verify_splitkv_fwd

    def step():
        new = offsets([drafts] * len(lengths))
        assert f(q, k, v, out, keys, values, new, starts, places, None, True, None, drafts, 1.0, 1.0, dim**-0.5)
        return [out]

    return step


def sparse_mla(tokens, heads, context, picked, module, function):
    q, kv = rand(tokens, heads, 576, scale=0.3), rand(context, 1, 576, scale=0.3)
    picks = ints(0, context, tokens, 1, picked)
    f = getattr(sglang("attention.dsa." + module), function)
    if function == "sparse_mla_prefill":
        return lambda: [f(q, kv, picks, 576**-0.5)]
    return lambda: [f(q[..., :512].contiguous(), q[..., 512:].contiguous(), kv, picks, 576**-0.5)]


few_picked = dict(tokens=3, heads=16, context=200, picked=64)
variant("sglang_sparse_mla_decode", sparse_mla, few_picked, tokens=32, heads=16, context=32768, picked=2048,
        module="triton_sparse_mla", function="triton_sparse_mla_fwd")  # fmt: skip
variant("sglang_sparse_mla_prefill", sparse_mla, few_picked, tokens=1024, heads=16, context=8192, picked=2048,
        module="triton_sparse_mla_prefill", function="sparse_mla_prefill")  # fmt: skip


@operation(dict(tokens=9, blocks=1), tokens=16384, blocks=256)
def sglang_quantised_mla_cache(tokens, blocks):
    x, picks = rand(blocks, 64, 1, 576), ints(0, blocks * 64, tokens)
    quantise = sglang("quantization.dsa_quant_k_cache").quantize_k_cache
    back = sglang("attention.dsa.dequant_k_cache").dequantize_k_cache_paged_dsa

    def step():
        made = quantise(x)
        return [back(made.view(-1, 1, made.shape[-1]), picks)]

    return step


@operation(dict(tokens=9, heads=2), tokens=4096, heads=128)
def sglang_pack_mla_fp8(tokens, heads):
    k, rope, v = rand(tokens, heads, 128), rand(tokens, 1, 64), rand(tokens, heads, 128)
    f = sglang("attention.mla_kv_pack_quantize_fp8").mla_kv_pack_quantize_fp8
    return lambda: list(f(k, rope, v))
