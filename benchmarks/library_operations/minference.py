"""Operations of MInference."""

from library_packages import Library
from sized_operations import ints, list_of, operation, rand, uniform

minference = Library("minference")


@operation(dict(length=256, heads=2, top=3), length=16384, heads=32, dim=128, top=64)
def minference_block_sparse(length, heads, dim, top):
    q, k, v = [rand(1, heads, length, dim, dtype="float16") for _ in "qkv"]
    g = minference("ops.block_sparse_flash_attention")
    index, lengths = g._build_block_index(q, k, top, 64, 64), list_of([length])
    return lambda: [g._triton_block_sparse_attention(q, k, v, lengths, index, dim**-0.5)]


@operation(dict(length=256, heads=2, blocks=1, columns=70), length=16384, heads=32, dim=128, blocks=24, columns=1000)
def minference_vertical_slash(length, heads, dim, blocks, columns):
    """Attention to the last blocks and to a list of single columns before them."""
    import torch

    q, k, v = [rand(1, heads, length, dim, dtype="float16") for _ in "qkv"]
    rows = length // 64
    at = torch.arange(rows, device="cuda").int()
    count = (at + 1).clamp(max=blocks)[None, None].expand(1, heads, rows).contiguous()
    ends = (at - count + 1)[..., None] + torch.arange(blocks, device="cuda").int()
    before = (ends[..., 0] * 64).clamp(max=columns)
    index = ints(0, length, 1, heads, rows, columns) % (ends[..., :1] * 64).clamp(min=1)
    args = [t.int().contiguous() for t in (count, ends * 64, before, index.sort(-1).values)]
    f, lengths = minference("ops.pit_sparse_flash_attention_v2")._triton_mixed_sparse_attention, list_of([length])
    return lambda: [f(q, k, v, lengths, *args, dim**-0.5)]


@operation(dict(length=300, heads=2, first=16, window=100), length=16384, heads=32, dim=128, first=128, window=4096)
def minference_streaming(length, heads, dim, first, window):
    """Attention to the first keys and to those in a window."""
    q, k, v = [rand(1, heads, length, dim, dtype="float16") for _ in "qkv"]
    f = minference("ops.streaming_kernel").streaming_forward
    return lambda: [f(q, k, v, first, window)]


@operation(dict(length=2048, heads=2, stride=16), length=16384, heads=32, dim=128, stride=8)
def minference_xattention(length, heads, dim, stride):
    """Which blocks matter, from antidiagonals: a matmul of strided queries and keys, and sums of its softmax."""
    import torch

    q, k = [rand(1, heads, length, dim) for _ in "qk"]
    f, n, size = minference("ops.xattention_fa"), length // stride, 128 // stride
    scale = 1.4426950408889634 * dim**-0.5 / stride

    def step():
        scores = f.flat_group_gemm_fuse_reshape(q, k, stride, 0, n, True)
        sums = f.softmax_fuse_block_sum(scores, size, min(4096, n), 0, n, n, scale, True)
        return [torch.tril(scores), sums]

    return step


@operation(dict(length=512, heads=2, kv_heads=1, count=4), length=16384, heads=32, kv_heads=8, dim=128, count=2000)
def minference_flexprefill(length, heads, kv_heads, dim, count, block=128):
    """Attention to a list of blocks of the grid, drawn below its diagonal, and those on it."""
    import torch

    q, k, v = [rand(1, length, h, dim) for h in (heads, kv_heads, kv_heads)]
    n = length // block
    row = ints(0, n, 1, heads, count)
    chosen = row * n + (uniform(1, heads, count) * row).int()
    diagonal = (torch.arange(n, device="cuda").int() * (n + 1)).expand(1, heads, n)
    index = torch.cat([diagonal, chosen], -1).sort(-1).values
    index[..., 1:] = index[..., 1:].where(index[..., 1:] != index[..., :-1], n * (n + 1))
    f = minference("modules.flexprefill").triton_block_wise_prefill_attention
    return lambda: [f(q, k, v, index.sort(-1).values, block)]
