#!/usr/bin/env python3
"""Times operations of libraries of attention, quantised matmuls, mixtures of experts, norms and losses on one NVIDIA
GPU, forward and backward where they have both, and compares what two compilers made of their Triton kernels, at the
shapes of Llama 3, Qwen3, DeepSeek V3, Mixtral and Flux, prefill and decode. Needs torch, triton, einops and, in one
folder, the packages xformers (ca6d2aa0), mslk (2a3c897), flash_attn (0251105a), sageattention (d1a57a5),
transformer_engine (d0067d0da), native_sparse_attention (bd67af5), minference (fb56c91), applied_ai (2391954, its folder
kernels), gptqmodel (f4c327a17), conch (e2c5ecf), gemlite (1a6815d), lightllm (fc72ffab) and aiter (e4048607a5). Their
Python files are enough, with the JSON files of tuned configurations; nothing of them is installed. flash_attn's kernels
are for older versions of Triton: in its files `tl.dot(a, b, trans_b=True)` must be written `tl.dot(a, tl.trans(b))`,
and `tl.libdevice` `tl.math`.

    export PUBLIC=FOLDER
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t library_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s library_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    library_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

What it prints, SMALL=1 and MODULES=FILE: as serving_kernels.py. PART=I/N runs each N-th operation of the list, from the
I-th, so that several processes can compile with one TRITON_CACHE_DIR before the times are taken; LIMIT=SECONDS ends an
operation that takes longer, its compilation included.

    SMALL=1 python -m tessera.triton check --target interpreter library_kernels.py
"""

import importlib
import importlib.machinery
import os
import sys
import types

import profiled_operations
from library_packages import bare, no, same, stub, yes
from profiled_operations import with_gradients
from sized_operations import (
    OPERATIONS, SMALL, ints, list_modules, list_of, make, offsets, operation, permutation, rand, small_run, uniform,
    variant, zeros,
)  # fmt: skip

GPU = "NVIDIA H200"  # whose tuned configurations are used, and those of gfx950 by aiter
PACKAGES = (
    "xformers mslk flash_attn sageattention transformer_engine native_sparse_attention minference applied_ai "
    "gptqmodel conch gemlite lightllm aiter"
).split()


def units(*_):
    import torch

    return torch.cuda.get_device_properties(0).multi_processor_count


class Log:
    def __getattr__(self, name):
        return no


class Library:
    """The modules of a package, by their names in it."""

    def __init__(self, name):
        self.name = name

    def __call__(self, module):
        return importlib.import_module(f"{self.name}.{module}")


def prepare(folder):
    for name in PACKAGES:
        bare(name, f"{folder}/{name}", whole=["gemlite.triton_kernels"])
    prepare_training()
    prepare_quantised()
    prepare_serving()


def leaf(*shape, **options):
    return rand(*shape, **options).requires_grad_()


def int8(*shape):
    return ints(-127, 128, *shape, dtype="int8")


def fp8(*shape, scale=1.0):
    return rand(*shape, dtype="float8_e4m3fn", scale=scale)


def words(*shape):
    """Packed integers of few bits."""
    return ints(-(2**31), 2**31 - 1, *shape)


def experts_of(tokens, experts, topk):
    """The weights of the best experts of each token, and which they are."""
    import torch

    weights, ids = torch.softmax(rand(tokens, experts, dtype="float32"), -1).topk(topk, -1)
    return weights, ids.int()


def prepare_training():
    stub("transformer_engine.pytorch.cpp_extensions", general_gemm=general_gemm)
    stub("triton.ops", "xformers.ops._triton.matmul_perf_model", "mslk.gemm.triton.matmul_perf_model",
         early_config_prune=lambda configs, *_, **__: configs, estimate_matmul_time=lambda **_: 1.0)  # fmt: skip
    stub("xformers.ops.fmha")
    stub("fla", mean_pooling=mean_pooling, autocast_custom_fwd=same, autocast_custom_bwd=same, contiguous=same)
    stub("minference.cuda")


def general_gemm(a, b, out_dtype=None, out=None, layout="TN", **_):
    """TransformerEngine's call of cuBLAS: b @ a, either transposed as its letter says."""
    made = (b if layout[1] == "N" else b.t()).float() @ (a if layout[0] == "N" else a.t()).float()
    return (made.to(out_dtype or a.dtype),)


def prepare_quantised():
    stub("gptqmodel.utils.logger", setup_logger=Log)
    stub("gptqmodel.utils.torch", HAS_XPU=False)
    stub("gptqmodel.nn_modules.qlinear.gguf", "gptqmodel.adapter", "gptqmodel.models", "gptqmodel.utils.backend",
         "gptqmodel.utils.python", "gptqmodel.quantization.config")  # fmt: skip
    stub("mslk.moe._meta", "mslk.attention.fmha.utils.cpp_lib")
    platform = types.SimpleNamespace(is_nvidia=yes, is_amd=no, has_cuda=yes, supports_fp8=yes, device="cuda",
                                     get_device_name=lambda: "NVIDIA H100")  # fmt: skip
    stub("conch.platforms", current_platform=platform)
    stub("tqdm")


class FrozenDict(dict):
    """A key of a cache."""

    def __hash__(self):
        return hash(str(self))


def prepare_serving():
    stub("frozendict", frozendict=FrozenDict)
    count = lambda *_, **__: 2 * units()  # blocks of its persistent kernels
    stub("lightllm.utils", HAS_LIGHTLLM_KERNEL=False, sgl_ops=None, vllm_ops=None, HAS_SGL_KERNEL=False,
         init_logger=lambda *_: Log(), is_tesla=no, is_hopper=yes,
         get_device_sm_count=units, calcu_kernel_best_vsm_count=count, get_current_device_name=lambda: GPU)  # fmt: skip
    stub("aiter.jit", "aiter.ops.triton.comms", torch_compile_guard=same, get_cu_num=units)
    stub("aiter.ops.triton._gluon_kernels", "aiter.ops.triton.gluon",
         "aiter.ops.triton._triton_kernels.flash_attn_triton_amd")  # fmt: skip
    stub("aiter.ops.triton.utils._triton.arch_info", get_arch=lambda: "gfx950", is_fp4_avail=yes, is_fp8_avail=yes,
         is_gluon_avail=no, is_tdm_avail=no, is_mx_scale_preshuffling_avail=no, _LDS_CAP_BYTES={})  # fmt: skip
    ignore_amd_options()


def ignore_amd_options():
    """Launches of kernels that are written for AMD's GPUs name options that others do not have."""
    from triton.runtime.jit import JITFunction

    run, names = JITFunction.run, ("waves_per_eu", "matrix_instr_nonkdim", "kpack")

    def without(self, *args, **options):
        kept = {k: v for k, v in options.items() if k in self.arg_names or k not in names}
        return run(self, *args, **kept)

    JITFunction.run = without


def mean_pooling(x, block, _=None):
    """The means of blocks of keys or values (B, T, H, D), (B, T / block, H, D)."""
    return x.unflatten(1, (-1, block)).mean(2)


# ---- xformers and MSLK, where its attention lives ----

xformers, mslk = Library("xformers.ops._triton"), Library("mslk")


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


# ---- flash_attn ----

flash = Library("flash_attn")


def flash_attention(batch, length, heads, dim, causal, bias=None):
    q, k, v = [leaf(batch, length, heads, dim) for _ in "qkv"]
    b = rand(batch if bias == "vector" else 1, heads, 1 if bias == "vector" else length, length) if bias else None
    f = flash("flash_attn_triton").flash_attn_func
    return with_gradients(lambda: f(q, k, v, b, causal, dim**-0.5), [q, k, v])


small_attention = dict(batch=1, length=130, heads=2)
variant("flash_attention_causal", flash_attention, small_attention, batch=2, length=4096, heads=16, dim=128,
        causal=True)  # fmt: skip
variant("flash_attention_sd", flash_attention, small_attention, batch=2, length=4096, heads=10, dim=64, causal=False)
variant("flash_attention_bias", flash_attention, small_attention, batch=2, length=2048, heads=16, dim=64, causal=False,
        bias="matrix")  # fmt: skip


def flash_norm(tokens, width, rms=False, **options):
    """A norm of the sum with the residual, which is returned, too, with dropout or with a second weight."""
    import torch

    x, r, w = leaf(tokens, width), leaf(tokens, width, dtype="float32"), leaf(width, dtype="float32")
    leaves = [x, r, w]
    if not rms:
        options["bias"] = leaf(width, dtype="float32")
        leaves.append(options["bias"])
    f = flash("ops.triton.layer_norm")
    function = f.rms_norm_fn if rms else f.layer_norm_fn
    options = dict(bias=None) | options

    def forward():
        torch.manual_seed(2)
        return function(x, w, residual=r, prenorm=True, residual_in_fp32=True, **options)

    return with_gradients(forward, leaves)


small_norm = dict(tokens=20, width=256)
variant("flash_layer_norm_residual", flash_norm, small_norm, tokens=8192, width=4096)
variant("flash_rms_norm_residual", flash_norm, small_norm, tokens=8192, width=8192, rms=True)
variant("flash_layer_norm_dropout", flash_norm, small_norm, tokens=8192, width=2048, dropout_p=0.1)


def flash_rotary(lengths, heads, dim, interleaved):
    x = rand(sum(lengths), heads, dim)
    cos, sin = [rand(max(lengths), dim // 2) for _ in "cs"]
    starts, f = offsets(lengths), flash("ops.triton.rotary").apply_rotary
    options = dict(cu_seqlens=starts, max_seqlen=max(lengths), interleaved=interleaved)
    return lambda: [f(x, cos, sin, **options), f(x, cos, sin, conjugate=True, **options)]


small_rotary = dict(lengths=[30, 9], heads=3, dim=64)
variant("flash_rotary", flash_rotary, small_rotary, lengths=[8192, 4000, 4192], heads=32, dim=128, interleaved=False)
variant("flash_rotary_interleaved", flash_rotary, small_rotary, lengths=[8192, 4000, 4192], heads=32, dim=128,
        interleaved=True)  # fmt: skip


@operation(dict(tokens=9, vocabulary=3000), tokens=4096, vocabulary=128256)
def flash_cross_entropy(tokens, vocabulary):
    logits, labels = leaf(tokens, vocabulary), ints(0, vocabulary, tokens, dtype="int64")
    f = flash("ops.triton.cross_entropy").cross_entropy_loss
    return with_gradients(lambda: f(logits, labels, label_smoothing=0.1, lse_square_scale=1e-4), [logits])


def flash_linear(m, n, k, activation):
    """A linear layer with its activation, and the gradient of its input with that of the activation."""
    x, w, bias, grad = rand(m, k), rand(n, k, scale=0.03), rand(n), rand(m, k)
    f = flash("ops.triton.linear")

    def step():
        y, before = f.triton_linear_act(x, w, bias, activation=activation, save_act_input=True)
        return [y, f.triton_dgrad_act(grad, w.t().contiguous(), activation=activation, act_input=before)]

    return step


small_matmul = dict(m=128, n=256, k=256)
variant("flash_linear_gelu", flash_linear, small_matmul, m=8192, n=8192, k=2048, activation="gelu_approx")
variant("flash_linear_squared_relu", flash_linear, small_matmul, m=8192, n=8192, k=2048, activation="squared_relu")


# ---- SageAttention ----

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


# ---- TransformerEngine ----

te = Library("transformer_engine.pytorch.triton")


def routing_map(tokens, experts, topk):
    """A row per token, 1 at its experts, and the weights in the same places."""
    weights, ids = experts_of(tokens, experts, topk)
    where = zeros(tokens, experts, dtype="int32").scatter_(1, ids.long(), 1)
    return where, zeros(tokens, experts, dtype="float32").scatter_(1, ids.long(), weights)


small_experts = dict(tokens=40, experts=8, topk=2, hidden=256)


@operation(small_experts, tokens=8192, experts=256, topk=8, hidden=7168)
def te_permute(tokens, experts, topk, hidden):
    """Tokens sorted by expert, and back, merged by weight, with the gradients of the merge."""
    where, weights = routing_map(tokens, experts, topk)
    x, grad, n, f = rand(tokens, hidden), rand(tokens, hidden), tokens * topk, te("permutation")

    def step():
        rows = f.make_row_id_map(where, tokens, experts)
        sizes = tokens, experts, n, hidden
        made, _, probs = f.permute_with_mask_map(x, rows, weights, None, None, *sizes, None)
        back, _ = f.unpermute_with_mask_map(made, rows, weights, None, None, tokens, experts, hidden)
        grads = f.unpermute_with_mask_map_bwd_with_merging_probs(grad, rows, made, weights, None, *sizes)
        return [made, probs, back, *grads]

    return step


@operation(small_experts, tokens=65536, experts=32, topk=8, hidden=7168)
def te_sort_chunks(tokens, experts, topk, hidden):
    """The order of chunks from ranks by experts is changed to experts by ranks."""
    import torch

    splits = list_of([tokens // (experts * topk)] * (experts * topk))
    order = torch.arange(experts * topk, device="cuda").view(topk, experts).t().flatten().int().contiguous()
    n, f = int(splits.sum()), te("permutation")
    x, probs = rand(n, hidden), uniform(n)

    def step():
        rows = f.make_chunk_sort_map(splits, order, n, experts * topk)
        return list(f.sort_chunks_by_map(x, rows, probs, n, hidden, True))

    return step


@operation(dict(tokens=9, vocabulary=3000), tokens=4096, vocabulary=128256)
def te_cross_entropy(tokens, vocabulary):
    logits, target = rand(1, tokens, vocabulary), ints(0, vocabulary, 1, tokens, dtype="int64")
    f, weights = te("cross_entropy"), uniform(1, tokens)

    def step():
        loss, grad = f.cross_entropy_forward(logits.clone(), target, 0.1, False, None, -100)[:2]
        return [loss, f.cross_entropy_backward(grad, weights)]

    return step


small_streams = dict(tokens=40, width=64)


@operation(small_streams, tokens=4096, width=7168)
def te_mhc_projection(tokens, width, n=4):
    """The mixes of n residual streams (hyper-connections) from a projection of all of them."""
    x, phi = leaf(tokens, n * width), leaf(n * n + 2 * n, n * width, dtype="float32", scale=0.01)
    f = te("mhc").mhc_fused_projection
    return with_gradients(lambda: f(x, phi), [x, phi])


@operation(small_streams, tokens=4096, width=7168)
def te_mhc_aggregate(tokens, width, n=4):
    x, h = leaf(tokens, 1, width, n), leaf(tokens, 1, n, dtype="float32")
    f = te("mhc").mhc_fused_aggregate
    return with_gradients(lambda: f(x, h, n), [x, h])


@operation(small_streams, tokens=4096, width=7168)
def te_mhc_expand(tokens, width, n=4):
    x, y, bias = leaf(tokens, 1, width, n), leaf(tokens, 1, width), leaf(width)
    post, res = leaf(tokens, 1, n, dtype="float32"), leaf(tokens, 1, n, n, dtype="float32")
    f = te("mhc").mhc_fused_expand_combine
    return with_gradients(lambda: f(y, bias, post, x, res, n), [x, y, bias, post, res])


@operation(dict(tokens=40), tokens=65536)
def te_mhc_sinkhorn(tokens, n=4):
    h, f = leaf(tokens, 1, n, n, dtype="float32"), te("mhc").mhc_fused_sinkhorn
    return with_gradients(lambda: f(h, n), [h])


# ---- native-sparse-attention ----


@operation(dict(tokens=256, kv_heads=1), batch=1, tokens=8192, heads=16, kv_heads=4, dim=128, blocks=16)
def nsa_attention(batch, tokens, heads, kv_heads, dim, blocks):
    """Attention to means of blocks, and to the blocks that they choose; 16 query heads a head of keys."""
    q, k, v = [leaf(batch, tokens, h, dim) for h in (16 * kv_heads, kv_heads, kv_heads)]
    gates = [uniform(batch, tokens, 16 * kv_heads).bfloat16() for _ in "csw"]
    f = Library("native_sparse_attention.ops")("parallel").parallel_nsa
    return with_gradients(lambda: f(q, k, v, *gates, block_counts=blocks, block_size=64), [q, k, v])


# ---- MInference ----

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


# ---- applied-ai ----

applied = Library("applied_ai.triton")


def applied_split_k(m, n, k, scaled):
    a, b = fp8(m, k), fp8(n, k, scale=0.1).t()
    if scaled:
        f = applied("inference.fp8.scaled_fp8_gemm").scaled_mm_splitk
        return lambda: [f(a, b, 0.5, 2.0)]
    f = applied("inference.fp8.splitk_gemm_fp8").gemm_split_k
    return lambda: [f(a, b)]


decode_matmul = dict(m=64, n=128, k=2048)
variant("applied_fp8_split_k", applied_split_k, decode_matmul, m=64, n=8192, k=14336, scaled=False)
variant("applied_fp8_split_k_scaled", applied_split_k, decode_matmul, m=128, n=14336, k=8192, scaled=True)


@operation(dict(tokens=20, width=256), tokens=8192, width=8192)
def applied_rms_norm(tokens, width):
    x, w = leaf(tokens, width), leaf(width)
    f = applied("training.rms_norm.fused_rms_norm").fused_rms_norm_fn
    return with_gradients(lambda: f(x, w), [x, w])


@operation(dict(rows=20, columns=300), rows=32768, columns=4096)
def applied_softmax(rows, columns):
    x, f = leaf(rows, columns), applied("training.fused_softmax.softmax").triton_softmax
    return with_gradients(lambda: f.apply(x), [x])


@operation(dict(batch=2, width=64, length=100), batch=8, width=4096, length=2048)
def applied_causal_convolution(batch, width, length, taps=4):
    x, w, bias = rand(batch, length, width).transpose(1, 2), rand(width, taps), rand(width)
    f = applied("inference.mamba.causal_1d_conv.causal_1d_conv.causal_1d_conv").causal_conv1d_fwd
    return lambda: [f(x, w, bias, activation="silu")]


def scaled_int4(rows, columns, groups):
    """Scales of groups of weights along the rows, float16."""
    return (uniform(rows // groups, columns) * 0.01).half()


@operation(dict(m=16, n=128, k=512), m=16, n=14336, k=4096)
def applied_int4_split_k(m, n, k):
    import triton

    a, b, c = rand(m, k, dtype="float16"), words(k // 8, n), zeros(m, n, dtype="float16")
    scales, zero = scaled_int4(k, n, 128), words(k // 128, n // 8)
    f = applied("inference.gptq.splitk_dequant_gemm").matmul_split_k_kernel
    grid = triton.cdiv(m, 16) * triton.cdiv(n, 32), 4
    strides = [s for t in (a, b, c, scales, zero) for s in t.stride()]

    def step():
        f[grid](a, b, c.zero_(), scales, zero, *strides, 128, m, n, k, 16, 32, 128, 8, 4, num_stages=3, num_warps=4)
        return [c]

    return step


# ---- MSLK: matmuls, attention of few queries, mixtures of experts ----


@operation(dict(lengths=[70, 40], heads=4, kv_heads=2), lengths=[8192 - 100 * i for i in range(32)], heads=64,
           kv_heads=8, dim=128)  # fmt: skip
def xformers_split_k_attention(lengths, heads, kv_heads, dim):
    """A query each, keys of sequences one after the other with gaps."""
    most = max(lengths)
    q = rand(1, len(lengths), kv_heads, heads // kv_heads, dim)
    n = len(lengths) * most
    k, v = [rand(1, n, kv_heads, 1, dim).expand(-1, -1, -1, heads // kv_heads, -1) for _ in "kv"]
    bias = mslk("attention.fmha.attn_bias").BlockDiagonalCausalWithOffsetPaddedKeysMask.from_seqlens(
        q_seqlen=[1] * len(lengths), kv_padding=most, kv_seqlen=lengths)  # fmt: skip
    bias.k_seqinfo.to("cuda"), bias.q_seqinfo.to("cuda")
    inputs = mslk("attention.fmha.common").Inputs(query=q, key=k, value=v, attn_bias=bias, scale=dim**-0.5)
    f = mslk("attention.fmha.triton_splitk").FwOp
    return lambda: [f.apply(inputs, False)[0]]


def mslk_grouped(sizes, n, k, kind):
    """The matmul of each expert's tokens."""
    f, m_sizes, m, g = mslk("gemm.triton.grouped_gemm"), list_of(sizes), sum(sizes), len(sizes)
    if kind == "fp8":
        x, w, s, t = fp8(m, k), fp8(g * n, k, scale=0.1), uniform(m), uniform(g * n)
        return lambda: [f.grouped_gemm_fp8_rowwise(x, w, m_sizes, s, t, _use_warp_specialization=False)]
    x, w = rand(m, k), rand(g * n, k, scale=0.03)
    return lambda: [f.grouped_gemm(x, w, m_sizes, _use_warp_specialization=False)]


few_sizes = dict(sizes=[64, 0, 128], n=256, k=256)
variant("mslk_grouped_bf16", mslk_grouped, few_sizes, sizes=[512] * 16, n=2048, k=5120, kind="bf16")
variant("mslk_grouped_fp8", mslk_grouped, few_sizes, sizes=[512] * 16, n=2048, k=5120, kind="fp8")
variant("mslk_grouped_fp8_decode", mslk_grouped, few_sizes, sizes=[4, 7, 0, 9] * 4, n=2048, k=5120, kind="fp8")


@operation(few_sizes, sizes=[512] * 16, n=2048, k=5120)
def mslk_grouped_gradients(sizes, n, k):
    f, m_sizes, m = mslk("gemm.triton.grouped_gemm"), list_of(sizes, "int64"), sum(sizes)
    x, grad, w = rand(m, k), rand(m, n), rand(len(sizes), n, k, scale=0.03)
    return lambda: [f.grouped_gemm_dgrad(grad, w.transpose(1, 2), m_sizes), f.grouped_gemm_wgrad(grad, x, m_sizes)]


def mslk_rowwise(m, n, k, **options):
    a, b, s, t = fp8(m, k), fp8(n, k, scale=0.1), uniform(m), uniform(n)
    f = mslk("gemm.triton.fp8_gemm").matmul_fp8_row
    return lambda: [f(a, b, s, t, **options)]


three = dict(m=70, n=128, k=256)
variant("mslk_fp8_rows_persistent", mslk_rowwise, three, m=8192, n=8192, k=4096, tma_persistent=True)
variant("mslk_fp8_rows", mslk_rowwise, three, m=4096, n=8192, k=4096, tma_persistent=False)
variant("mslk_fp8_rows_slow_sum", mslk_rowwise, three, m=4096, n=8192, k=4096, tma_persistent=False,
        fp8_fast_accum=False)  # fmt: skip


@operation(three, m=4096, n=7168, k=2048)
def mslk_fp8_groups(m, n, k):
    a, b = fp8(m, k), fp8(n, k, scale=0.1)
    s, t = uniform(k // 128, m), uniform(k // 128, n // 128)
    f = mslk("gemm.triton.fp8_groupwise_gemm").matmul_f8f8bf16_groupwise
    return lambda: [f(a, b, s, t)]


def mslk_int4(m, n, k):
    """Weights of 4 bits with a scale and a zero point for 128 of them."""
    x, w = rand(m, k), int8(n, k // 2)
    scale, zero = uniform(k // 128, n).bfloat16(), rand(k // 128, n)
    f = mslk("gemm.triton.int4_gemm").matmul_bf16i4_rowwise
    return lambda: [f(x, w, scale, zero)]


variant("mslk_int4_decode", mslk_int4, three, m=32, n=14336, k=4096)
variant("mslk_int4_prefill", mslk_int4, three, m=2048, n=14336, k=4096)


@operation(three, m=4096, n=8192, k=4096)
def mslk_int8(m, n, k):
    a, b = int8(m, k), int8(n, k)
    f = mslk("gemm.triton.int8_gemm").i8i8bf16_triton
    return lambda: [f(a, b, 0.01)]


@operation(three, m=2048, n=8192, k=4096)
def mslk_mx8_mx4(m, n, k):
    """fp8 by fp4, with a power of two for 32 of them."""
    import torch

    a, b = fp8(m, k), ints(0, 256, n, k // 2, dtype="uint8")
    s, t = [ints(120, 130, -(-r // 128) * 128, k // 32, dtype="uint8") for r in (m, n)]
    f = mslk("gemm.triton.mx8mx4_gemm").matmul_mx8mx4bf16
    return lambda: [f(a, b.view(torch.uint8), s, t)]


@operation(dict(tokens=9, width=512), tokens=8192, width=8192)
def mslk_quantise_fp8(tokens, width):
    x, f = rand(tokens, width), mslk("quantize.triton.fp8_quantize")

    return lambda: [*f.triton_quantize_fp8_row(x), *f.triton_quantize_fp8_tensor(x)]


def pages_of(lengths, page):
    """How many pages there are, and the pages of each sequence in any order."""
    longest = -(-max(lengths) // page)
    return len(lengths) * longest, permutation(len(lengths) * longest).view(len(lengths), longest)


@operation(dict(lengths=[70, 40], heads=16), lengths=[4096 - 60 * i for i in range(32)], heads=128, rank=512, rope=64)
def mslk_mla_decode(lengths, heads, rank, rope):
    pages, table = pages_of(lengths, 16)
    q, cache = rand(len(lengths), heads, rank + rope), rand(pages, 16, 1, rank + rope)
    starts, used = offsets([1] * len(lengths)), list_of(lengths)
    f = mslk("attention.mla._triton.mla_kernels").mla_decode_forward
    return lambda: [f(q, cache, table, starts, used, 192**-0.5)]


# ---- GPTQModel ----

gptq = Library("gptqmodel")


def gptq_matmul(m, n, k, bits):
    x, w = rand(m, k, dtype="float16"), words(k * bits // 32, n)
    scales, zero = scaled_int4(k, n, 128), words(k // 128, n * bits // 32)
    index = list_of([i // 128 for i in range(k)])
    f = gptq("nn_modules.triton_utils.kernels").quant_matmul_248
    return lambda: [f(x, w, scales, zero, index, bits, 2**bits - 1)]


variant("gptq_matmul_int4", gptq_matmul, three, m=1024, n=4096, k=4096, bits=4)
variant("gptq_matmul_int8", gptq_matmul, three, m=256, n=4096, k=4096, bits=8)


@operation(dict(n=128, k=256), n=14336, k=4096)
def gptq_dequantise(n, k, bits=4):
    import torch

    w, scales, zero = words(k * bits // 32, n), scaled_int4(k, n, 128), words(k // 128, n * bits // 32)
    index, f = list_of([i // 128 for i in range(k)]), gptq("nn_modules.triton_utils.dequant").dequant
    return lambda: [f(torch.float16, w, scales, zero, index, bits, 32, 15)]


def gptq_awq(m, n, k, split):
    x, w = rand(m, k, dtype="float16"), words(k, n // 8)
    scales, zero = scaled_int4(k, n, 128), words(k // 128, n // 8)
    g = gptq("quantization.awq.modules.triton.gemm")
    return lambda: [g.awq_gemm_triton(x, w, scales, zero, split), g.awq_dequantize_triton(w, scales, zero)]


variant("gptq_awq_decode", gptq_awq, three, m=16, n=14336, k=4096, split=8)


def gptq_paroquant(m, n, k, part):
    x, w = rand(m, k, dtype="float16"), words(k, n // 8)
    scales, zero = scaled_int4(k, n, 128), words(k // 128, n // 8)
    f = getattr(gptq("quantization.paroquant.modules.triton.gemm"), "paroquant_gemm_triton_" + part)
    return lambda: [f(x, w, scales, zero)]


variant("gptq_paroquant_prefill", gptq_paroquant, three, m=512, n=4096, k=4096, part="prefill")


def gptq_gguf(m, n, k, bits):
    """llama.cpp's formats Q4_K and Q6_K: 256 weights in blocks of 32, or of 16, with a scale each."""
    x, blocks = rand(m, k, dtype="float16"), k // 256
    byte = lambda rows: ints(0, 256, blocks, rows, n, dtype="uint8")
    scale = lambda rows: (uniform(blocks, rows, n) * 0.01).half()
    g = gptq("nn_modules.qlinear.gguf_triton")
    if bits == 4:
        weights, scales, least = byte(128), scale(8), scale(8)
        return lambda: [g.fused_q4_k_matmul(x, weights, scales, least)]
    low, high, scales = byte(128), byte(64), scale(16)
    return lambda: [g.fused_q6_k_matmul(x, low, high, scales)]


variant("gptq_gguf_q4", gptq_gguf, dict(m=9, n=64, k=512), m=8, n=14336, k=4096, bits=4)
variant("gptq_gguf_q6", gptq_gguf, dict(m=9, n=64, k=512), m=8, n=14336, k=4096, bits=6)


# ---- gemlite ----

gemlite = Library("gemlite")


def gemlite_linear(m, n, k, kind, bits=4, group=128):
    """A linear layer of the library, with its choice of kernel for m rows."""
    import torch

    g, x = gemlite("helper"), rand(m, k, dtype="float16")
    half = torch.float16
    if kind == "weights":
        w, scales = ints(0, 2**bits, n, k, dtype="uint8"), uniform(n, k // group).half() * 0.01
        layer = g.A16Wn(device="cuda", dtype=half).from_weights(w, scales.view(-1, 1), scales.view(-1, 1), bits, group)
    elif kind == "mxfp4":
        layer = gemlite_mxfp4(g, n, k)
    else:
        make_layer = g.A8W8_int8_dynamic if kind == "int8" else g.A8W8_fp8_dynamic
        layer = make_layer(device="cuda", dtype=half).from_weights(rand(n, k, dtype="float16", scale=0.1))
    return lambda: [layer(x)]


def gemlite_mxfp4(g, n, k):
    import torch

    w, scales = ints(0, 16, n, k, dtype="uint8"), ints(120, 126, n, k // 32, dtype="uint8")
    maker = g.A16Wn(device="cuda", dtype=torch.float16)
    return maker.from_weights(w, scales.view(torch.float8_e8m0fnu), None, 4, 32, quant_type="MXFP")


variant("gemlite_int4_vector", gemlite_linear, dict(m=1, n=128, k=512), m=1, n=14336, k=4096, kind="weights")
variant("gemlite_int4_decode", gemlite_linear, three, m=32, n=14336, k=4096, kind="weights")
variant("gemlite_int4_prefill", gemlite_linear, three, m=2048, n=14336, k=4096, kind="weights")
variant("gemlite_int2_decode", gemlite_linear, three, m=16, n=14336, k=4096, kind="weights", bits=2, group=64)
variant("gemlite_int8_vector", gemlite_linear, dict(m=1, n=128, k=512), m=1, n=14336, k=4096, kind="weights", bits=8)
variant("gemlite_int8_prefill", gemlite_linear, three, m=4096, n=14336, k=4096, kind="int8")
variant("gemlite_fp8_prefill", gemlite_linear, three, m=4096, n=14336, k=4096, kind="fp8")
variant("gemlite_mxfp4_decode", gemlite_linear, three, m=32, n=14336, k=4096, kind="mxfp4")


# ---- conch ----

conch = Library("conch.ops")


@operation(dict(lengths=[70, 40], heads=4, kv_heads=2), lengths=[4096 - 50 * i for i in range(32)], heads=32,
           kv_heads=8, dim=128)  # fmt: skip
def conch_paged_attention(lengths, heads, kv_heads, dim, page=16):
    pages, table = pages_of(lengths, page)
    q, k, v = rand(len(lengths), heads, dim), rand(pages, page, kv_heads, dim), rand(pages, page, kv_heads, dim)
    f, used = conch("attention.paged_attention").paged_attention, list_of(lengths)
    return lambda: [f(q, k, v, table, used, scale=dim**-0.5)]


@operation(dict(queries=[20, 7], lengths=[36, 40], heads=4, kv_heads=2), queries=[2048, 1024], lengths=[4096, 3072],
           heads=32, kv_heads=8, dim=128)  # fmt: skip
def conch_varlen_attention(queries, lengths, heads, kv_heads, dim, page=16):
    pages, table = pages_of(lengths, page)
    q, k, v = rand(sum(queries), heads, dim), rand(pages, page, kv_heads, dim), rand(pages, page, kv_heads, dim)
    args = offsets(queries), max(queries), list_of(lengths), max(lengths), table
    f = conch("attention.varlen_attention").varlen_attention
    return lambda: [f(q, k, v, *args, causal=True, scale=dim**-0.5)]


def conch_mixed_matmul(m, n, k, bits):
    x, w, scales = rand(m, k, dtype="float16"), words(k * bits // 32, n), scaled_int4(k, n, 128)
    f = conch("quantization.gemm").mixed_precision_gemm
    return lambda: [f(x, w, scales, None, bits, 2 ** (bits - 1), 128)]


variant("conch_int4_decode", conch_mixed_matmul, three, m=16, n=14336, k=4096, bits=4)
variant("conch_int4_prefill", conch_mixed_matmul, three, m=1024, n=14336, k=4096, bits=4)
variant("conch_int8_prefill", conch_mixed_matmul, three, m=1024, n=14336, k=4096, bits=8)


def conch_scaled_matmul(m, n, k, kind):
    import torch

    a, b = (int8(m, k), int8(n, k).t()) if kind == "int8" else (fp8(m, k), fp8(n, k, scale=0.1).t())
    s, t, f = uniform(m, 1), uniform(n, 1), conch("quantization.gemm").scaled_gemm
    return lambda: [f(a, b.contiguous(), s, t, torch.bfloat16)]


variant("conch_scaled_int8", conch_scaled_matmul, three, m=2048, n=4096, k=4096, kind="int8")
variant("conch_scaled_fp8", conch_scaled_matmul, three, m=2048, n=4096, k=4096, kind="fp8")


@operation(dict(tokens=9, width=256), tokens=16384, width=4096)
def conch_norms(tokens, width):
    import torch

    x, r, w = rand(tokens, width), rand(tokens, width), rand(width)
    f, g = conch("normalization.rms_norm"), conch("normalization.gemma_rms_norm")

    def step():
        y, z = x.clone(), x.clone()
        made = g.gemma_rms_norm(z, w, 1e-6)
        return [f.rms_norm(x, w, 1e-6), *f.fused_add_rms_norm(y, r.clone(), w, 1e-6), torch.as_tensor(made)]

    return step


@operation(dict(tokens=9, width=256), tokens=16384, width=14336)
def conch_gelu(tokens, width):
    x, f = rand(tokens, 2 * width, dtype="float32"), conch("activation.gelu_tanh_and_mul").gelu_tanh_and_mul
    return lambda: [f(x)]


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=16384, heads=32, kv_heads=8, dim=128)
def conch_rotary(tokens, heads, kv_heads, dim):
    q, k, cache = rand(tokens, heads * dim), rand(tokens, kv_heads * dim), rand(16384, dim)
    at, f = ints(0, 16384, tokens, dtype="int64"), conch("embedding.rotary_embedding").rotary_embedding
    return lambda: list(f(at, q.clone(), k.clone(), dim, cache))


@operation(dict(rows=16, columns=256), rows=4096, columns=14336)
def conch_nf4(rows, columns):
    x, g = rand(rows * columns), conch("quantization.bitsandbytes.functional")

    def step():
        made, state = g.quantize_4bit(x, quant_type="nf4")
        return [made, state.absmax, g.dequantize_4bit(made, state, quant_type="nf4")]

    return step


@operation(dict(boxes=100), boxes=4096)
def conch_nms(boxes):
    """Which boxes of a detector stay."""
    import torch

    corner = uniform(boxes, 2) * 1000
    at, scores = torch.cat([corner, corner + uniform(boxes, 2) * 100 + 1], 1), uniform(boxes)
    f = conch("vision.nms").nms
    return lambda: [f(at, scores, 0.5)]


@operation(dict(points=500, channels=16, cells=20), points=400000, channels=80, cells=128)
def conch_bev_pool(points, channels, cells):
    """Features of cameras, summed in the cells of a bird's-eye view, and their gradients."""
    import torch

    x = rand(points, channels, dtype="float32")
    at = ints(0, cells, points, 4)
    at[:, 2:] = 0
    order = (at[:, 0] * cells + at[:, 1]).long()
    at, order = at[order.argsort()].contiguous(), order.sort().values
    starts = torch.cat([list_of([0]).long(), (order[1:] != order[:-1]).nonzero().flatten() + 1]).int()
    lengths = torch.diff(starts, append=list_of([points]))
    f = conch("vision.bev_pool")

    def step():
        made = f.bev_pool(x, at, starts, lengths, 1, 1, cells, cells)
        return [made, f.bev_pool_backward(made, at, starts, lengths)]

    return step


# ---- lightllm ----

lightllm = Library("lightllm")


def requests(lengths):
    """The places of each sequence's keys in a pool, a row a sequence, and which row is whose."""
    table = zeros(len(lengths), max(lengths) + 8, dtype="int32")
    places = permutation(sum(lengths))
    for row, start, n in zip(table, offsets(lengths).tolist(), lengths):
        row[:n] = places[start : start + n]
    return table, list_of(range(len(lengths)))


@operation(dict(queries=[20, 7], lengths=[36, 40], heads=4, kv_heads=2), queries=[2048, 1024], lengths=[4096, 3072],
           heads=32, kv_heads=8, dim=128)  # fmt: skip
def lightllm_prefill(queries, lengths, heads, kv_heads, dim):
    table, rows = requests(lengths)
    q, out = rand(sum(queries), heads, dim), zeros(sum(queries), heads, dim)
    k, v = [rand(sum(lengths), kv_heads, dim) for _ in "kv"]
    cached = list_of([n - m for n, m in zip(lengths, queries)])
    f = lightllm("models.llama.triton_kernel.context_flashattention_nopad").context_attention_fwd

    def step():
        f(q, k, v, out, rows, offsets(queries)[:-1], list_of(lengths), cached, max(queries), table)
        return [out]

    return step


def lightllm_state(lengths):
    """What its functions query of a batch."""
    table, rows = requests(lengths)
    manager = types.SimpleNamespace(req_to_token_indexs=table)
    return types.SimpleNamespace(batch_size=len(lengths), max_len_in_batch=max(lengths), total_token_num=sum(lengths),
                                 req_manager=manager, b_req_idx=rows, b_seq_len=list_of(lengths))  # fmt: skip


def lightllm_decode(lengths, heads, kv_heads, dim, persistent):
    state = lightllm_state(lengths)
    q, k, v = rand(len(lengths), heads, dim), *(rand(sum(lengths), kv_heads, dim) for _ in "kv")
    if persistent:
        f = lightllm("models.llama.triton_kernel.gqa_flash_decoding_vsm").gqa_token_decode_attention_flash_decoding_vsm
        return lambda: [f(q, k, v, state)]
    f = lightllm("models.llama.triton_kernel.gqa_flash_decoding").gqa_token_decode_attention_flash_decoding
    out = zeros(*q.shape)
    return lambda: [f(q, state, heads, dim, k, v, out)]


two = dict(lengths=[70, 33], heads=8, kv_heads=2)
long = [4096 - 50 * i for i in range(64)]
variant("lightllm_decode", lightllm_decode, two, lengths=long, heads=32, kv_heads=8, dim=128, persistent=False)
variant("lightllm_decode_persistent", lightllm_decode, two, lengths=long, heads=64, kv_heads=8, dim=128,
        persistent=True)  # fmt: skip


@operation(dict(lengths=[70, 33], heads=16), lengths=long[:32], heads=128, rank=512, rope=64)
def lightllm_mla_decode(lengths, heads, rank, rope):
    state, n = lightllm_state(lengths), sum(lengths)
    q, p = rand(len(lengths), heads, rank), rand(len(lengths), heads, rope)
    k, r = rand(n, 1, rank), rand(n, 1, rope)
    f = lightllm("models.deepseek2.triton_kernel.gqa_flash_decoding").gqa_token_decode_attention_flash_decoding
    return lambda: [f(q, p, k, r, state, heads, rank, rope, 128, 192**-0.5, zeros(*q.shape))]


@operation(dict(lengths=[70, 33], heads=2), lengths=[4096, 2048], heads=16, dim=128, rope=64)
def lightllm_mla_prefill(lengths, heads, dim, rope):
    """Keys of each head, with a part that all of them share."""
    n, starts, used = sum(lengths), offsets(lengths)[:-1], list_of(lengths)
    q, p, k, r = rand(n, heads, dim), rand(n, heads, rope), rand(n, heads, dim), rand(n, 1, rope)
    v, out = rand(n, heads, dim), zeros(n, heads, dim)
    f = lightllm("models.deepseek2.triton_kernel.context_flashattention_nopad_with_v").context_attention_fwd_with_v

    def step():
        f(q, p, k, r, v, out, starts, starts, used, list_of([0] * len(lengths)), max(lengths), 192**-0.5)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=2), lengths=[2048, 1024], heads=128, rank=512, rope=64)
def lightllm_mla_prefill_absorbed(lengths, heads, rank, rope):
    """All heads with the same compressed keys, which are the values, too."""
    table, rows = requests(lengths)
    n, starts, used = sum(lengths), offsets(lengths)[:-1], list_of(lengths)
    q, p, k, r = rand(n, heads, rank), rand(n, heads, rope), rand(n, 1, rank), rand(n, 1, rope)
    out, none = zeros(n, heads, rank), list_of([0] * len(lengths))
    f = lightllm("models.deepseek2.triton_kernel.context_flashattention_nopad").context_attention_fwd

    def step():
        f(q, p, k, r, out, rows, starts, used, none, max(lengths), table, 192**-0.5)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=2), lengths=[2048, 1024, 777], heads=32, dim=128)
def lightllm_alibi_prefill(lengths, heads, dim):
    table, rows = requests(lengths)
    n, starts, used = sum(lengths), offsets(lengths)[:-1], list_of(lengths)
    q, k, v = [rand(n, heads, dim) for _ in "qkv"]
    out, slopes, none = zeros(n, heads, dim), uniform(heads), list_of([0] * len(lengths))
    f = lightllm("models.bloom.triton_kernel.context_flashattention_nopad").context_attention_fwd

    def step():
        f(q, k, v, out, rows, slopes, starts, used, none, max(lengths), table)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=2), lengths=[1024] * 16, heads=16, dim=80)
def lightllm_vision_attention(lengths, heads, dim):
    q, k, v = [rand(sum(lengths), heads, dim) for _ in "qkv"]
    out, starts = zeros(sum(lengths), heads, dim), offsets(lengths)
    f = lightllm("models.vit.triton_kernel.flashattention_nopad")._flash_attention_triton_fwd

    def step():
        f(q, k, v, out, starts, max(lengths))
        return [out]

    return step


def lightllm_experts(tokens, experts, topk, hidden, width, kind):
    x, (weights, ids) = rand(tokens, hidden), experts_of(tokens, experts, topk)
    f = lightllm("common.fused_moe.grouped_fused_moe").fused_experts_impl
    if kind == "bf16":
        up, down = rand(experts, 2 * width, hidden, scale=0.03), rand(experts, hidden, width, scale=0.03)
        return lambda: [f(x, up, down, weights, ids)]
    up, down = fp8(experts, 2 * width, hidden, scale=0.1), fp8(experts, hidden, width, scale=0.1)
    s, t = [uniform(experts, w.shape[1] // 128, w.shape[2] // 128) for w in (up, down)]
    return lambda: [f(x, up, down, weights, ids, use_fp8_w8a8=True, w1_scale=s, w2_scale=t)]


few_experts = dict(tokens=12, experts=4, topk=2, hidden=256, width=128)
qwen = dict(experts=128, topk=8, hidden=2048, width=768)  # Qwen3-30B-A3B
deepseek = dict(experts=256, topk=8, hidden=7168, width=256)  # V3, an eighth of each expert
variant("lightllm_experts_bf16", lightllm_experts, few_experts, tokens=4096, kind="bf16", **qwen)
variant("lightllm_experts_fp8", lightllm_experts, few_experts, tokens=2048, kind="fp8", **deepseek)
variant("lightllm_experts_fp8_decode", lightllm_experts, few_experts, tokens=32, kind="fp8", **deepseek)


@operation(dict(tokens=9), tokens=8192, experts=256, topk=8, groups=8, chosen=4)
def lightllm_grouped_topk(tokens, experts, topk, groups, chosen):
    x, bias = rand(tokens, experts), rand(experts)
    f = lightllm("common.fused_moe.grouped_topk").triton_grouped_topk
    return lambda: list(f(None, x, bias, topk, True, groups, chosen, "sigmoid"))


@operation(three, m=4096, n=7168, k=2048)
def lightllm_matmul_fp8_blocks(m, n, k):
    a, b, c = fp8(m, k), fp8(n, k, scale=0.1).t(), zeros(m, n)
    s, t = uniform(m, k // 128), uniform(n // 128, k // 128).t()
    f = lightllm("common.quantization.triton_quant.fp8.fp8w8a8_block_gemm_kernel").w8a8_block_fp8_matmul
    return lambda: [f(a, b, s, t, c, (128, 128))]


@operation(dict(heads=3, m=128, n=256, k=128), heads=128, m=512, n=512, k=128)
def lightllm_matmul_fp8_heads(heads, m, n, k):
    a, b, c = fp8(heads, m, k), fp8(heads, n, k).transpose(1, 2), zeros(heads, m, n)
    s, t = uniform(heads, m), uniform(heads, n)
    f = lightllm("common.basemodel.triton_kernel.bmm_scaled_fp8").bmm_scaled_fp8
    return lambda: [f(a, s, b, t, c)]


@operation(dict(m=70, n=128, k=256), m=2048, n=4096, k=4096)
def lightllm_matmul_int8(m, n, k):
    x, w, scale = rand(m, k, dtype="float16"), int8(n, k).t(), (uniform(n) * 0.01).half()
    f = lightllm("common.basemodel.triton_kernel.quantize_gemm_int8").matmul_quantize_int8
    return lambda: [f(x, w, scale)]


def lightllm_int4(m, n, k, part):
    x, scales = rand(m, k, dtype="float16"), scaled_int4(k, n, 128)
    w, zero = words(k // 8, n), words(k // 128, n // 8)
    g = lightllm("common.basemodel.triton_kernel.dequantize_gemm_int4")
    if part == "gptq":
        return lambda: [g.matmul_dequantize_int4_gptq(x, w, scales, zero, 128)]
    if part == "decode":
        return lambda: [g.matmul_dequantize_int4_s2(x, w, scales, zero, 128)]
    return lambda: [g.dequantize_int4(w, scales, zero, x.device, x.dtype, 128)]


few_words = dict(m=32, n=256, k=1024)
variant("lightllm_int4_gptq", lightllm_int4, few_words, m=32, n=4096, k=4096, part="gptq")
variant("lightllm_int4_decode", lightllm_int4, few_words, m=32, n=4096, k=4096, part="decode")
variant("lightllm_int4_dequantise", lightllm_int4, few_words, m=32, n=14336, k=4096, part="prefill")


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=8192, heads=28, kv_heads=4, dim=128)
def lightllm_mrope(tokens, heads, kv_heads, dim):
    q, k = rand(1, heads, tokens, dim), rand(1, kv_heads, tokens, dim)
    cos, sin = [rand(3, 1, tokens, dim) for _ in "cs"]
    axes = list_of(([0] * 16 + [1] * 24 + [2] * 24) * 2)
    f = lightllm("models.qwen2_vl.triton_kernel.mrope").mrope_triton
    return lambda: list(f(q, k, cos, sin, axes))


@operation(dict(tokens=9), tokens=16384, heads=8, dim=128)
def lightllm_quantise_cache(tokens, heads, dim):
    x, places = rand(tokens, heads, dim, dtype="float16"), permutation(tokens)
    out, scales = zeros(tokens, heads, dim, dtype="int8"), zeros(tokens, heads, dim // 8, dtype="float16")
    f = lightllm("models.llama.triton_kernel.ppl_quant_copy_kv").destindex_copy_quantize_kv

    def step():
        f(x, places, out, scales)
        return [out, scales]

    return step


# ---- aiter ----

aiter = Library("aiter.ops.triton")


def aiter_matmul(m, n, k, activation=None, bias=True):
    x, w, b = rand(m, k), rand(n, k, scale=0.03), rand(n) if bias else None
    f = aiter("gemm.basic.gemm_a16w16").gemm_a16w16
    return lambda: [f(x, w, b, activation=activation)]


variant("aiter_matmul", aiter_matmul, three, m=4096, n=8192, k=4096, activation="silu")
variant("aiter_matmul_decode", aiter_matmul, three, m=64, n=8192, k=8192, bias=False)


@operation(three, m=4096, n=14336, k=4096)
def aiter_matmul_gated(m, n, k):
    x, w = rand(m, k), rand(n, k, scale=0.03)
    g = aiter("gemm.basic.gemm_a16w16_gated")
    config = g._get_config(m, n, k)[0] | dict(BLOCK_SIZE_M=128, num_stages=3)  # those of gfx950 spill on an H100
    return lambda: [g.gemm_a16w16_gated(x, w, activation="silu", config=config)]


@operation(three, m=32, n=8192, k=4096)
def aiter_feed_forward(m, n, k):
    """Both matmuls of a gated feed-forward layer in one kernel."""
    x, up, down = rand(m, k), rand(2 * n, k, scale=0.03), rand(n, k, scale=0.03)
    f = aiter("gemm.feed_forward.ff_a16w16_fused_gated").ff_a16w16_fused_gated
    return lambda: [f(x, up, down, activation="silu")]


@operation(dict(batch=3, m=20, n=128, k=128), batch=128, m=512, n=512, k=128)
def aiter_batched_matmul(batch, m, n, k):
    x, w = rand(batch, m, k), rand(batch, n, k, scale=0.03)
    f = aiter("gemm.batched.batched_gemm_bf16").batched_gemm_bf16
    return lambda: [f(x, w)]


def aiter_matmul_8bit(m, n, k, kind, scales):
    x, w = (int8(m, k), int8(n, k)) if kind == "int8" else (fp8(m, k), fp8(n, k, scale=0.1))
    if scales == "blocks":
        s, t = uniform(m, k // 128), uniform(n // 128, k // 128)
        f = aiter("gemm.basic.gemm_a8w8_blockscale").gemm_a8w8_blockscale
    elif scales == "rows":
        s, t, f = uniform(m, 1), uniform(n, 1), aiter("gemm.basic.gemm_a8w8_per_token_scale").gemm_a8w8_per_token_scale
    else:
        s, t, f = uniform(m, 1), uniform(1, n), aiter("gemm.basic.gemm_a8w8").gemm_a8w8
    return lambda: [f(x, w, s, t)]


variant("aiter_matmul_fp8", aiter_matmul_8bit, three, m=4096, n=8192, k=4096, kind="fp8", scales="columns")
variant("aiter_matmul_int8", aiter_matmul_8bit, three, m=4096, n=8192, k=4096, kind="int8", scales="columns")
variant("aiter_matmul_fp8_rows", aiter_matmul_8bit, three, m=1024, n=8192, k=4096, kind="fp8", scales="rows")
variant("aiter_matmul_fp8_blocks", aiter_matmul_8bit, three, m=4096, n=7168, k=2048, kind="fp8", scales="blocks")
variant("aiter_matmul_fp8_blocks_decode", aiter_matmul_8bit, three, m=32, n=7168, k=2048, kind="fp8", scales="blocks")


@operation(three, m=64, n=7168, k=2048)
def aiter_matmul_fp8_weights(m, n, k):
    x, w, t = rand(m, k), fp8(n, k, scale=0.1), uniform(n // 128, k // 128)
    f = aiter("gemm.basic.gemm_a16w8_blockscale").gemm_a16w8_blockscale
    return lambda: [f(x, w, t), f(x, w, t, prequant=True)]


def aiter_fp4(m, n, k, x_kind):
    """Weights of 4 bits with a power of two for 32 of them."""
    w, t = ints(0, 256, n, k // 2, dtype="uint8"), ints(122, 128, n, k // 32, dtype="uint8")
    if x_kind == "bf16":
        x, f = rand(m, k), aiter("gemm.basic.gemm_a16wfp4").gemm_a16wfp4
        return lambda: [f(x, w, t)]
    x, s = ints(0, 256, m, k // 2, dtype="uint8"), ints(122, 128, m, k // 32, dtype="uint8")
    g = aiter("gemm.basic.gemm_afp4wfp4")
    fits = dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, num_warps=8)  # into an H100's shared memory
    config = g._get_config(m, n, k)[0] | fits
    return lambda: [g.gemm_afp4wfp4(x, w, s, t, config=config)]


variant("aiter_matmul_fp4", aiter_fp4, three, m=1024, n=8192, k=4096, x_kind="fp4")
variant("aiter_matmul_fp4_weights", aiter_fp4, three, m=64, n=8192, k=4096, x_kind="bf16")


@operation(few_sizes | dict(k=128), sizes=[512] * 16, n=4096, k=2048)
def aiter_grouped_matmul(sizes, n, k):
    """The matmul of each expert's tokens, and the gradient of the weights."""
    g, m_sizes, m = aiter("gmm"), list_of(sizes), sum(sizes)
    x, w, grad = rand(m, k), rand(len(sizes), k, n, scale=0.03), rand(m, n)
    config = dict(BLOCK_SIZE_M=128, BLOCK_SIZE_K=64, BLOCK_SIZE_N=128, GROUP_SIZE=1, GRID_DIM=132, num_warps=8,
                  num_stages=3)  # fmt: skip
    return lambda: [g.gmm(x, w, m_sizes, config=config), g.ptgmm(x.t(), grad, m_sizes, config=config)]


def aiter_attention(batch, length, heads, kv_heads, dim, causal=True, **options):
    q, k, v = [leaf(batch, length, h, dim) for h in (heads, kv_heads, kv_heads)]
    f = aiter("attention.mha").flash_attn_func
    return with_gradients(lambda: f(q, k, v, causal=causal, **options), [q, k, v])


small_heads = dict(batch=1, length=130, heads=2, kv_heads=1)
variant("aiter_attention", aiter_attention, small_heads, batch=2, length=4096, heads=32, kv_heads=8, dim=128)
variant("aiter_attention_dropout", aiter_attention, small_heads, batch=2, length=2048, heads=16, kv_heads=16, dim=64,
        dropout_p=0.1)  # fmt: skip


@operation(dict(queries=[20, 7], lengths=[36, 40], heads=4, kv_heads=2), queries=[2048, 1024], lengths=[4096, 3072],
           heads=32, kv_heads=8, dim=128)  # fmt: skip
def aiter_extend_attention(queries, lengths, heads, kv_heads, dim):
    before = [n - m for n, m in zip(lengths, queries)]
    q, k, v = [rand(sum(queries), h, dim) for h in (heads, kv_heads, kv_heads)]
    keys, values, out = rand(sum(before), kv_heads, dim), rand(sum(before), kv_heads, dim), zeros(*q.shape)
    places = offsets(queries), offsets(before), permutation(sum(before))
    f = aiter("attention.extend_attention").extend_attention_fwd

    def step():
        f(q, k, v, out, keys, values, *places, None, True, None, max(queries))
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=16), lengths=long[:32], heads=128, rank=512, rope=64)
def aiter_mla_decode(lengths, heads, rank, rope):
    pages, table = pages_of(lengths, 64)
    q, cache = rand(len(lengths), heads, rank + rope), rand(pages, 64, 1, rank + rope)
    out, starts, used = zeros(len(lengths), heads, rank), offsets([1] * len(lengths)), list_of(lengths)
    f = aiter("attention.mla").mla_decode_fwd

    def step():
        f(q, cache, out, starts, used, max(lengths), table, 192**-0.5, rank, rope, True, None, None)
        return [out]

    return step


@operation(dict(lengths=[70, 33], heads=4, kv_heads=2), lengths=long, heads=32, kv_heads=8, dim=128)
def aiter_paged_decode(lengths, heads, kv_heads, dim, page=16):
    import triton.language as tl

    pages, table = pages_of(lengths, page)
    q, out = rand(len(lengths), heads, dim), zeros(len(lengths), heads, dim)
    k, v = [rand(pages, kv_heads, page, dim) for _ in "kv"]
    one, used, f = list_of([1.0], "float32"), list_of(lengths), aiter("attention.pa_decode").paged_attention_decode

    def step():
        f(out, q, k, v, used, table, dim**-0.5, max(lengths), tl.bfloat16, one, one)
        return [out]

    return step


@operation(dict(tokens=20, keys=300), tokens=2048, keys=8192, heads=64, dim=128)
def aiter_indexer_logits(tokens, keys, heads, dim):
    """Scores of DeepSeek's sparse attention: which keys a query attends to."""
    q, k, scales, weights = fp8(tokens, heads, dim), fp8(keys, dim), uniform(keys), rand(tokens, heads, dtype="float32")
    ends = list_of([keys - tokens + i + 1 for i in range(tokens)])
    f = aiter("attention.fp8_mqa_logits").fp8_mqa_logits
    return lambda: [f(q, k, scales, weights, ends * 0, ends).clamp(min=-100)]


@operation(dict(tokens=20, width=512), tokens=8192, width=8192)
def aiter_norms(tokens, width):
    x, w, b = leaf(tokens, width), leaf(width), leaf(width)
    f, g = aiter("normalization.rmsnorm").rms_norm, aiter("normalization.norm").layer_norm
    return with_gradients(lambda: f(x, w, 1e-6) + g(x, w, b), [x, w, b])


@operation(dict(tokens=20, width=512), tokens=8192, width=7168)
def aiter_norm_quantise(tokens, width):
    import torch

    x, r, w = rand(tokens, width), rand(tokens, width), rand(width)
    f = aiter("quant.fused_fp8_quant").fused_rms_fp8_group_quant
    kind = torch.float8_e4m3fn

    def step():
        (made, scales), _, _, residual = f(x, w, 1e-6, dtype_quant=kind, res1=r)
        return [made, scales, residual]

    return step


@operation(dict(tokens=20, width=512), tokens=8192, width=4096)
def aiter_quantise(tokens, width):
    import torch

    x, y, f = rand(tokens, width), rand(tokens, 2 * width), aiter("quant.quant")
    out, scale = zeros(tokens, width, dtype="float8_e4m3fn"), zeros(tokens, dtype="float32")
    act = aiter("activation").act_mul_and_fp8_group_quant

    def step():
        f.dynamic_per_token_quant_fp8_i8(out, x, scale)
        return [out, scale, *f.dynamic_mxfp4_quant(x), *act(y, "silu", 128, torch.float8_e4m3fn)]

    return step


@operation(dict(tokens=9, heads=4, kv_heads=2), tokens=8192, heads=32, kv_heads=8, dim=128)
def aiter_split_rope(tokens, heads, kv_heads, dim):
    x, at = rand(tokens, (heads + 2 * kv_heads) * dim), ints(0, 16384, tokens, dtype="int64")
    cos, sin = [rand(16384, dim // 2) for _ in "cs"]
    f = aiter("rope.fused_qkv_split_qk_rope").fused_qkv_split_qk_rope
    return lambda: list(f(x, cos, sin, at, heads, kv_heads, dim))


@operation(dict(tokens=20, batch=2, heads=2), tokens=4096, batch=2, heads=32, dim=128)
def aiter_rope(tokens, batch, heads, dim):
    x, angles, f = rand(tokens, batch, heads, dim), rand(tokens, 1, 1, dim // 2), aiter("rope.rope")
    return lambda: [g(x, angles, 0, True, False) for g in (f.rope_fwd, f.rope_bwd)]


@operation(dict(rows=3, columns=2000, k=16), rows=256, columns=128256, k=64)
def aiter_topk(rows, columns, k):
    x, f = rand(rows, columns, dtype="float32"), aiter("topk").topk
    return lambda: [f(x, k)[0]]


@operation(dict(batch=1, channels=32, size=16), batch=2, channels=512, size=64)
def aiter_convolution(batch, channels, size):
    """3x3, as in the decoder of Stable Diffusion: by Winograd's transform, and 1x1."""
    x, w, bias = rand(batch, channels, size, size), rand(channels, channels, 3, 3, scale=0.03), rand(channels)
    one, g = rand(channels, channels, 1, 1, scale=0.03), aiter("conv.conv2d")
    options = dict(padding=(1, 1), layout="nhwc")
    return lambda: [g.conv2d_winograd_f4x3(x, w, bias, padding=(1, 1)), g.conv2d(x, w, bias, **options),
                    g.conv2d(x, one, bias)]  # fmt: skip


@operation(dict(tokens=33, experts=8, topk=2), tokens=8192, experts=128, topk=8)
def aiter_routing(tokens, experts, topk):
    x, f = rand(tokens, experts), aiter("moe.moe_routing.routing").routing

    def step():
        made, gather, scatter = f(x, topk)
        return [made.gate_scal, gather, scatter]

    return step


def aiter_experts(tokens, experts, topk, hidden, width, kind):
    """Both matmuls of a mixture of experts in fp8 or int8 with a scale a block, or bf16 by 4 bits."""
    routing, gather, scatter = aiter("moe.moe_routing.routing").routing(rand(tokens, experts), topk)
    if kind == "fp8":
        x, w = fp8(tokens, hidden), fp8(experts, 2 * width, hidden, scale=0.1).transpose(1, 2)
        s, t = uniform(tokens, hidden // 128), uniform(experts, hidden // 128, 2 * width // 128)
        f = aiter("moe.moe_op_gemm_a8w8_blockscale").moe_gemm_a8w8_blockscale
        return lambda: [f(x, w, s, t, routing_data=routing, gather_indx=gather, per_row_x_scale=True)]
    x, w = rand(tokens, hidden), ints(0, 256, experts, 2 * width, hidden // 2, dtype="uint8").transpose(1, 2)
    t = ints(122, 126, experts, 2 * width, hidden // 32, dtype="uint8").transpose(1, 2)
    f = aiter("moe.moe_op_gemm_a16w4").moe_gemm_a16w4
    return lambda: [f(x, w, None, t, routing_data=routing, gather_indx=gather, apply_swiglu=True)]


variant("aiter_experts_fp8", aiter_experts, few_experts, tokens=4096, kind="fp8", **qwen)
variant("aiter_experts_fp4", aiter_experts, few_experts, tokens=1024, kind="fp4", **qwen)


def part(names):
    """Those that PART chooses."""
    first, step = map(int, os.environ.get("PART", "0/1").split("/"))
    return names[first::step]


def main():
    parser, options = profiled_operations.arguments(__doc__)
    if "PUBLIC" not in os.environ:
        parser.error("PUBLIC must name a folder with the packages")
    folder = os.path.abspath(os.environ["PUBLIC"])
    prepare(folder)
    profiled_operations.keep_few_configurations(3, after_pruning=True)
    names = part(profiled_operations.chosen(OPERATIONS, options.operations))
    if SMALL:
        failed = small_run(names)
    else:
        failed = profiled_operations.run(names, make, options.save)
    if os.environ.get("MODULES"):
        list_modules(folder, os.environ["MODULES"])
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
