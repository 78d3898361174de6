"""Operations of ColossalAI."""

from library_operations.inputs import pages_of
from library_packages import Library
from sized_operations import list_of, operation, rand, uniform, variant, zeros

colossalai = Library("colossalai.kernel.triton")
few = dict(lengths=[70, 40], heads=4, kv_heads=2, dim=32)
half = dict(dtype="float16")


def caches(lengths, kv_heads, dim, page):
    pages, table = pages_of(lengths, page)
    return [*[rand(pages, kv_heads, page, dim, **half) for _ in "kv"], table]


@operation(few, lengths=[2048, 1500, 1000, 700], heads=32, kv_heads=8, dim=128)
def colossal_context_attention(lengths, heads, kv_heads, dim, page=64):
    k_cache, v_cache, table = caches(lengths, kv_heads, dim, page)
    q = rand(sum(lengths), heads, dim, **half)
    k, v = [rand(sum(lengths), kv_heads, dim, **half) for _ in "kv"]
    f, used = colossalai("context_attn_unpad").context_attention_unpadded, list_of(lengths)
    return lambda: [f(q, k, v, k_cache, v_cache, used, table, page, max_seq_len=max(lengths)), k_cache, v_cache]


def decoding(lengths, heads, kv_heads, dim, page=64, slopes=False):
    k_cache, v_cache, table = caches(lengths, kv_heads, dim, page)
    q, alibi = rand(len(lengths), heads, dim, **half), uniform(heads) if slopes else None
    f, used = colossalai("flash_decoding").flash_decoding_attention, list_of(lengths)
    return lambda: [f(q, k_cache, v_cache, used, table, page, max(lengths), alibi_slopes=alibi,
                      kv_group_num=heads // kv_heads)]  # fmt: skip


many = dict(lengths=[4096 - 50 * i for i in range(32)], heads=32, kv_heads=8, dim=128)
variant("colossal_flash_decoding", decoding, few, **many)
variant("colossal_flash_decoding_alibi", decoding, few, **many, slopes=True)


def angles(tokens, dim):
    return [rand(tokens, dim // 2, **half) for _ in "cs"]


@operation(dict(tokens=30, heads=4, kv_heads=2, dim=32), tokens=8192, heads=32, kv_heads=8, dim=128)
def colossal_rotary(tokens, heads, kv_heads, dim):
    q, k = rand(tokens, heads, dim, **half), rand(tokens, kv_heads, dim, **half)
    f, (cos, sin) = colossalai("no_pad_rotary_embedding").rotary_embedding, angles(tokens, dim)

    def step():
        a, b = q.clone(), k.clone()
        f(a, b, cos, sin)
        return [a, b]

    return step


@operation(few, lengths=[4096 - 10 * i for i in range(256)], heads=32, kv_heads=8, dim=128)
def colossal_decoding_rotary(lengths, heads, kv_heads, dim, page=16):
    k_cache, v_cache, table = caches(lengths, kv_heads, dim, page)
    n = len(lengths)
    q, k, v = [rand(n, h, dim, **half) for h in (heads, kv_heads, kv_heads)]
    f, (cos, sin) = colossalai("no_pad_rotary_embedding").decoding_fused_rotary_embedding, angles(n, dim)
    used = list_of(lengths)

    def step():
        a, b = q.clone(), k.clone()
        f(a, b, v, cos, sin, k_cache, v_cache, table, used)
        return [a, b, k_cache, v_cache]

    return step


@operation(dict(tokens=9, width=256), tokens=16384, width=4096)
def colossal_rms_norm(tokens, width):
    x, w, residual = rand(tokens, width, **half), rand(width, **half), rand(tokens, width, **half)
    f = colossalai("rms_layernorm").rms_layernorm
    return lambda: [*f(x, w, 1e-6, residual=residual.clone(), norm_output=zeros(tokens, width, **half))]


@operation(dict(batch=2, rows=9, width=100), batch=32, rows=512, width=2048)
def colossal_softmax(batch, rows, width):
    x = rand(batch, rows, width, **half)
    f = colossalai("softmax").softmax
    return lambda: [f(x)]
