"""Operations of xformers; its attention is in mslk.py, as MSLK has it."""

import types

from library_packages import Library
from sized_operations import list_of, offsets, operation, permutation, rand, zeros

xformers = Library("xformers.ops._triton")


@operation(dict(tokens=24, width=256), tokens=16384, width=4096)
def xformers_rms_norm(tokens, width):
    x, y, w, f = rand(tokens, width), rand(tokens, width), rand(width), xformers("rmsnorm_kernels")
    return lambda: [f._rms_norm_forward(x, w, 1e-6), f._rms_norm_add_forward(x.clone(), y, w, 1e-6)]


@operation(dict(rows=12, width=256, parts=3), rows=4096, width=4096, parts=4)
def xformers_index_select_cat(rows, width, parts):
    """Chosen rows of several tensors in one, and the gradients of the tensors."""
    import torch

    f = xformers("k_index_select_cat")
    sources = [rand(rows, width) for _ in range(parts)]
    index = [permutation(rows)[: rows * 3 // 4].long() for _ in range(parts)]

    def step():
        out = torch.empty(sum(len(i) for i in index) * width, device="cuda", dtype=sources[0].dtype)
        back, at = [torch.empty_like(s) for s in sources], 0
        for s, i, b in zip(sources, index, back):
            part = out[at : at + len(i) * width].view(-1, width)
            f.index_select_cat_fwd(part, s, i)
            f.index_select_cat_bwd(b.zero_(), i, part)
            at += len(i) * width
        return [out, *back]

    return step


@operation(dict(images=6, tokens=9, width=128), images=64, tokens=256, width=1536)
def xformers_scaled_index_add(images, tokens, width):
    """The residual of stochastic depth: a part of the images is added, each scaled by channel."""
    import torch

    f = xformers("k_scaled_index_add")
    x, source, scale = rand(images, tokens, width), rand(images * 3 // 4, tokens, width), rand(width)
    index, grad = permutation(images)[: len(source)].long(), rand(images, tokens, width)

    def step():
        out = x.clone()
        f.scaled_index_add_fwd(out, index, source, scale, 0.5)
        grad_source = torch.empty_like(source)
        partial = torch.empty(*source.shape, device="cuda", dtype=torch.float32)
        f.scaled_index_add_bwd(grad, grad_source, partial, source, scale, index, 0.5)
        return [out, grad_source, partial]

    return step


@operation(dict(m=70, n=96, k=128), m=4096, n=2048, k=4096)
def xformers_tiled_matmul(m, n, k):
    """Three projections of one input in one launch: weights of queries, keys and values."""
    import torch

    a, b = [[rand(m, k)]], [[rand(k, n, scale=0.03) for n in (2 * n, n, n)]]
    f = xformers("tiled_matmul_kernels")._launch_triton_matmul

    def step():
        c = [[torch.empty(m, w.shape[1], device="cuda", dtype=w.dtype) for w in b[0]]]
        f(a, b, c, [m], [w.shape[1] for w in b[0]], [k])
        return c[0]

    return step


@operation(dict(queries=[20, 3], keys=[40, 64], heads=4, kv_heads=2, dim=64),
           queries=[4096, 2048, 1000], keys=[4096, 4096, 4096], heads=32, kv_heads=8, dim=128)  # fmt: skip
def xformers_rope_padded(queries, keys, heads, kv_heads, dim):
    n, m = sum(queries), sum(keys)
    q, k, v = [rand(1, n, h, dim) for h in (heads, kv_heads, kv_heads)]
    starts, key_starts = offsets(queries), offsets(keys)
    about = types.SimpleNamespace
    of_queries = about(seqstart_py=starts.tolist(), seqstart=starts, max_seqlen=max(queries))
    of_keys = about(seqstart_py=key_starts.tolist(), seqstart=key_starts, seqlen=list_of(keys))
    bias = about(q_seqinfo=of_queries, k_seqinfo=of_keys)
    f = Library("xformers.ops")("rope_padded").rope_padded

    def step():
        caches = [zeros(1, m, kv_heads, dim) for _ in "kv"]
        return [f(q, k, v, *caches, bias), *caches]

    return step
