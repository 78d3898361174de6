"""Operations of FlagAttention."""

from library_operations.inputs import leaf, pages_of
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import list_of, operation, rand, variant

flag_attn = Library("flag_attn")
few_heads = dict(batch=1, heads=2, kv_heads=1, length=96, dim=32)


def flash(batch, heads, kv_heads, length, dim, causal=True, **options):
    half = dict(dtype="float16")
    q = leaf(batch, heads, length, dim, **half)
    k, v = [leaf(batch, kv_heads, length, dim, **half) for _ in "kv"]
    f = flag_attn("flash").attention
    return with_gradients(lambda: f(q, k, v, causal=causal, **options), [q, k, v])


heads_of_llama = dict(batch=2, heads=32, kv_heads=8, length=2048, dim=128)
variant("flagattn_flash", flash, few_heads, **heads_of_llama)
variant("flagattn_flash_d64", flash, few_heads, batch=4, heads=32, kv_heads=32, length=2048, dim=64, causal=False)
variant("flagattn_total", flash, few_heads, **heads_of_llama, return_total_attention=True)


@operation(few_heads, batch=2, heads=32, kv_heads=32, length=2048, dim=128)
def flagattn_piecewise(batch, heads, kv_heads, length, dim):
    qkv = [leaf(batch, heads, length, dim, dtype="float16") for _ in range(5)]
    f = flag_attn("piecewise").attention
    return with_gradients(lambda: f(*qkv, length // 2, causal=True), qkv)


@operation(few_heads | dict(length=300), batch=2, heads=32, kv_heads=8, length=16384, dim=128)
def flagattn_split_kv(batch, heads, kv_heads, length, dim):
    q = rand(batch, heads, 16, dim, dtype="float16")
    k, v = [rand(batch, kv_heads, length, dim, dtype="float16") for _ in "kv"]
    f = flag_attn("split_kv").attention
    return lambda: [f(q, k, v)]


def paged(lengths, heads, kv_heads, dim, page, splits=0):
    pages, table = pages_of(lengths, page)
    half = dict(dtype="float16")
    q, k, v = rand(len(lengths), heads, dim, **half), *[rand(pages, kv_heads, page, dim, **half) for _ in "kv"]
    f, used = flag_attn("paged").attention, list_of(lengths)
    return lambda: [f(q, k, v, used, table, dim**-0.5, max(lengths), splits)]


few_lengths = dict(lengths=[70, 40], heads=4, kv_heads=2, dim=32)
variant("flagattn_paged", paged, few_lengths, lengths=[4096 - 50 * i for i in range(32)], heads=32, kv_heads=8, dim=128,
        page=16)  # fmt: skip
variant("flagattn_paged_mha", paged, few_lengths | dict(kv_heads=4), lengths=[2048 - 30 * i for i in range(32)],
        heads=32, kv_heads=32, dim=128, page=32, splits=1)  # fmt: skip
