"""Attention of vLLM, and its caches of keys and values."""

from serving_operations.inputs import vllm
from sized_operations import ints, list_of, offsets, operation, permutation, rand, uniform, variant, zeros


def paged(lengths, heads, dim, page, dtype="bfloat16", value_dim=None):
    """Caches of keys and values in pages, and the pages of each sequence in any order."""
    longest = -(-max(lengths) // page)
    pages = len(lengths) * longest
    k, v = [rand(pages, page, heads, d, scale=0.5).to(rand(1, dtype=dtype).dtype) for d in (dim, value_dim or dim)]
    table = zeros(len(lengths), longest + 8, dtype="int32")  # tables are for longer sequences, and kernels read on
    table[:, :longest] = permutation(pages).view(len(lengths), longest)
    return k, v, table


def unified(queries, contexts, heads, kv_heads, dim, page=16, window=-1, softcap=0.0, cache="bfloat16", sinks=False):
    """Attention of chunks of so many queries, which are the last of so many keys each."""
    k, v, table = paged(contexts, kv_heads, dim, page, cache)
    q, mode, scales = rand(sum(queries), heads, dim), 0, {}
    if cache == "float8_e4m3fn":
        mode, one = 1, list_of([0.9], "float32")
        scales = dict(k_descale=one, v_descale=one)
    elif cache == "int8":
        mode = 2
        k, v = [ints(-127, 128, *k.shape, dtype="int8") for _ in "kv"]
        scales = {s: uniform(*k.shape[:3]) * 0.02 for s in ("k_scale_cache", "v_scale_cache")}
    segments = 16  # of the keys of a sequence, for few queries
    partial = zeros(len(q), heads, segments, dim, dtype="float32")
    most, sums = [zeros(len(q), heads, segments, dtype="float32") for _ in "ms"]
    starts, lengths, out = offsets(queries), list_of(contexts), zeros(*q.shape)
    sinks = rand(heads) if sinks else None
    scales = dict(k_descale=None, v_descale=None) | scales
    f = vllm("v1.attention.ops.triton_unified_attention").unified_attention

    def step():
        f(q, k, v, out, starts, max(queries), lengths, max(contexts), dim**-0.5, True, (window, 0), table, softcap,
          None, seq_threshold_3D=128 // kv_heads, num_par_softmax_segments=segments, softmax_segm_output=partial,
          softmax_segm_max=most, softmax_segm_expsum=sums, kv_quant_mode=mode,
          sinks=sinks, **scales)  # fmt: skip
        return [out]

    return step


few = dict(queries=[20, 7], contexts=[36, 40], heads=4, kv_heads=2)
one_each = dict(queries=[1, 1], contexts=[36, 70], heads=4, kv_heads=2)
variant("vllm_prefill_llama8b", unified, few,
        queries=[2048, 1024], contexts=[2048, 3072], heads=32, kv_heads=8, dim=128)  # fmt: skip
variant("vllm_prefill_gemma_window_softcap", unified, few | dict(window=15),
        queries=[2048], contexts=[4096], heads=16, kv_heads=8, dim=256, window=4095, softcap=50.0)  # fmt: skip
variant("vllm_prefill_gptoss_sinks", unified, few | dict(window=15),
        queries=[4096], contexts=[4096], heads=64, kv_heads=8, dim=64, window=127, sinks=True)  # fmt: skip
variant("vllm_decode_llama70b", unified, one_each,
        queries=[1] * 64, contexts=[4096 - 37 * i for i in range(64)], heads=64, kv_heads=8, dim=128)  # fmt: skip
variant("vllm_decode_llama8b_segments", unified, one_each,
        queries=[1] * 8, contexts=[8192 - 300 * i for i in range(8)], heads=32, kv_heads=8, dim=128)  # fmt: skip
variant("vllm_decode_fp8_cache", unified, one_each, queries=[1] * 64, contexts=[4096 - 37 * i for i in range(64)],
        heads=32, kv_heads=8, dim=128, cache="float8_e4m3fn", page=32)  # fmt: skip
variant("vllm_decode_int8_cache", unified, one_each, queries=[1] * 64, contexts=[4096 - 37 * i for i in range(64)],
        heads=32, kv_heads=8, dim=128, cache="int8", page=32)  # fmt: skip


@operation(dict(queries=[20, 7], contexts=[36, 40], heads=4, kv_heads=2),
           queries=[1024, 512, 512], contexts=[4096, 2048, 3000], heads=32, kv_heads=8, dim=128)  # fmt: skip
def vllm_prefix_prefill(queries, contexts, heads, kv_heads, dim):
    page, x, pages = 16, 8, sum(-(-c // 16) for c in contexts)
    q, k, v = [rand(sum(queries), h, dim) for h in (heads, kv_heads, kv_heads)]
    keys, values = rand(pages, kv_heads, dim // x, page, x), rand(pages, kv_heads, dim, page)
    longest = -(-max(contexts) // page) + 8
    table, out, one = ints(0, pages, len(queries), longest), zeros(*q.shape), list_of([1.0], "float32")
    starts, lengths = offsets(queries), list_of(contexts)
    f = vllm("v1.attention.ops.prefix_prefill").context_attention_fwd

    def step():
        f(q, k, v, out, "auto", keys, values, table, starts, lengths, max(contexts), max(queries), one, one)
        return [out]

    return step


def vllm_decode(batch, length, heads, kv_heads, dim, value_dim, page=16, splits=8):
    """Decode in two kernels; with one head of keys, its values are a part of them (MLA)."""
    pages = batch * length // page
    q, k = rand(batch, heads, dim), rand(pages, page, kv_heads, dim)
    v = k[..., :value_dim] if kv_heads == 1 else rand(pages, page, kv_heads, value_dim)
    table, lengths = permutation(pages).view(batch, -1), ints(length // 2, length, batch)
    out, lse = zeros(batch, heads, value_dim), zeros(batch, heads)
    partial = zeros(batch, heads, splits, value_dim + 1, dtype="float32")
    f = vllm("v1.attention.ops.triton_decode_attention").decode_attention_fwd

    def step():
        f(q, k, v, out, lse, table, lengths, partial, splits, dim**-0.5, page, is_mla=kv_heads == 1)
        return [out, lse]

    return step


small_decode = dict(batch=2, length=64, splits=2)
variant("vllm_split_decode_gqa", vllm_decode, small_decode | dict(heads=8, kv_heads=2),
        batch=64, length=4096, heads=32, kv_heads=8, dim=128, value_dim=128)  # fmt: skip
variant("vllm_split_decode_mla", vllm_decode, small_decode | dict(heads=16),
        batch=32, length=4096, heads=128, kv_heads=1, dim=576, value_dim=512)  # fmt: skip


@operation(dict(lengths=[40, 9], heads=2, kv_heads=1), lengths=[2048, 1500, 500], heads=32, kv_heads=8, dim=128)
def vllm_attention_without_cache(lengths, heads, kv_heads, dim):
    q, k, v = [rand(sum(lengths), h, dim) for h in (heads, kv_heads, kv_heads)]
    out, starts, sizes = zeros(*q.shape), offsets(lengths)[:-1], list_of(lengths)
    f = vllm("v1.attention.ops.triton_prefill_attention").context_attention_fwd

    def step():
        f(q, k, v, out, starts, sizes, max(lengths), True)
        return [out]

    return step


@operation(dict(tokens=20, heads=3), tokens=4096, heads=128, dim=128)
def vllm_merge_attention(tokens, heads, dim):
    a, b, out = rand(tokens, heads, dim), rand(tokens, heads, dim), zeros(tokens, heads, dim)
    x, y, lse = [rand(heads, tokens, dtype="float32") for _ in "xyl"]
    f = vllm("v1.attention.ops.triton_merge_attn_states").merge_attn_states

    def step():
        f(out, a, x, b, y, lse)
        return [out, lse]

    return step


@operation(dict(tokens=20, heads=2), tokens=8192, heads=8, dim=128, page=16)
def vllm_store_fp8_cache(tokens, heads, dim, page):
    k, v, places = rand(tokens, heads, dim), rand(tokens, heads, dim), permutation(2 * tokens, "int64")[:tokens]
    keys, values = [zeros(2 * tokens // page + 1, page, heads, dim, dtype="float8_e4m3fn") for _ in "kv"]
    one = list_of([1.0], "float32")
    f = vllm("v1.attention.ops.triton_reshape_and_cache_flash").triton_reshape_and_cache_flash

    def step():
        f(k, v, keys, values, places, "fp8", one, one)
        return [keys, values]

    return step
