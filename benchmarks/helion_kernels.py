#!/usr/bin/env python3
"""Times kernels of Helion's examples on one NVIDIA GPU in several configurations, and compares what two compilers made
of the Triton code that Helion generates: the default, one of Helion's heuristics, and some that are drawn from what its
autotuner searches (blocks, orders of loops, persistent kernels, tensor descriptors, `tl.range` with its attributes,
eviction policies). Needs torch, triton, helion (1.5.1 with filecheck, psutil, rich and scikit-learn) and the folder
`examples` of a checkout of pytorch/helion (ef091f41).

    export HELION=CHECKOUT
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t helion_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s helion_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    helion_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

A case is KERNEL/NUMBER; its line has the configuration, and the difference to PyTorch's result where there is one.
CONFIGURATIONS=N (4) takes so many of each kernel, SEED=N draws others, PART=I/N and LIMIT=SECONDS are as in
library_kernels.py. SMALL=1 runs each case once, at a size that emulators can bear:

    SMALL=1 python -m tessera.triton check --target interpreter helion_kernels.py
"""

import importlib
import math
import os
import random
import sys
import zlib

import profiled_operations
from sized_operations import (OPERATIONS, SMALL, ints, offsets, operation, permutation, rand, run_cases, thinned,
                              uniform, variant)

CONFIGURATIONS = int(os.environ.get("CONFIGURATIONS", 4))


class Kernel:
    """A kernel of Helion with arguments, and what PyTorch computes from them, if that is compared."""

    def __init__(self, kernel, *arguments, expected=None):
        self.kernel, self.arguments, self.expected = kernel, arguments, expected


def example(module):
    return importlib.import_module(f"examples.{module}")


def int16(*shape):
    return ints(-(2**15), 2**15, *shape, dtype="int16")


def fp8(*shape, scale=1.0):
    return rand(*shape, dtype="float8_e4m3fn", scale=scale)


def f32(t):
    """In f32, as references compute."""
    return t.float()


def matmul_of(x, y):
    return lambda: f32(x) @ f32(y)


# ---- matmuls ----

tiles = dict(m=100, n=96, k=80)


def plain_matmul(m, n, k, module="matmul", name="matmul", dtype="bfloat16"):
    x, y = rand(m, k, dtype=dtype), rand(k, n, dtype=dtype, scale=0.05)
    return Kernel(getattr(example(module), name), x, y, expected=matmul_of(x, y))


variant("matmul", plain_matmul, tiles, m=4096, n=4096, k=4096)
variant("matmul_f32", plain_matmul, tiles, m=2048, n=2048, k=2048, dtype="float32")
variant("matmul_split_k", plain_matmul, dict(m=32, n=48, k=512), m=64, n=4096, k=16384, module="matmul_split_k",
        name="matmul_split_k", dtype="float16")  # fmt: skip


@operation(tiles, m=4096, n=4096, k=4096)
def matmul_epilogue(m, n, k):
    x, y, bias = rand(m, k), rand(k, n, scale=0.05), rand(1, n)
    epilogue = lambda acc, tile: (acc + bias[tile]).relu()
    return Kernel(example("matmul").matmul, x, y, epilogue, expected=lambda: (f32(x) @ f32(y) + bias).relu())


@operation(tiles, m=4096, n=4096, k=4096)
def epilogue_residual_gelu(m, n, k):
    x, w, bias, residual = rand(m, k), rand(k, n, scale=0.05), rand(n), rand(m, n)
    return Kernel(example("epilogue_subtiling").matmul_bias_residual_gelu_cast, x, w, bias, residual)


@operation(dict(b=3, m=48, n=64, k=80), b=32, m=1024, n=1024, k=1024)
def bmm(b, m, n, k):
    x, y = rand(b, m, k, dtype="float16"), rand(b, k, n, dtype="float16", scale=0.05)
    return Kernel(example("bmm").bmm, x, y, expected=matmul_of(x, y))


@operation(dict(b=3, m=48, n=64, k=80), b=16, m=1024, n=1024, k=1024)
def broadcast_matmul(b, m, n, k):
    x, w = rand(b, m, k, dtype="float16"), rand(k, n, dtype="float16", scale=0.05)
    return Kernel(example("broadcast_matmul").broadcast_matmul, x, w, expected=matmul_of(x, w))


@operation(tiles, m=4096, n=2048, k=2048)
def bf16xint16(m, n, k):
    x, w = rand(m, k, scale=0.01), int16(k, n)
    return Kernel(example("bf16xint16_gemm")._bf16xint16_gemm, x, w)


@operation(tiles, m=4096, n=2048, k=2048)
def int16xbf16(m, n, k):
    x, w = int16(m, k), rand(k, n, scale=0.01)
    return Kernel(example("bf16xint16_gemm")._int16xbf16_gemm, x, w)


@operation(dict(m=100, n=96, k=128), m=1024, n=4096, k=4096)
def int4_matmul(m, n, k):
    x, w = rand(m, k), ints(-128, 128, k // 2, n, dtype="int8")
    return Kernel(example("int4_gemm").matmul_bf16_int4, x, w)


@operation(tiles, m=4096, n=4096, k=4096)
def fp8_gemm(m, n, k):
    x, y = fp8(m, k), fp8(n, k).T
    return Kernel(example("fp8_gemm").fp8_gemm, x, y, expected=matmul_of(x, y))


@operation(dict(m=64, n=128, k=96), m=4096, n=1024, k=2048)
def matmul_layer_norm(m, n, k):
    import torch

    x, y, w, b = rand(m, k, dtype="float16"), rand(k, n, dtype="float16", scale=0.05), rand(n), rand(n)
    w, b = w.half(), b.half()
    norm = torch.nn.functional.layer_norm
    return Kernel(example("matmul_layernorm").matmul_layernorm, x, y, w, b,
                  expected=lambda: norm(f32(x) @ f32(y), [n], f32(w), f32(b)))  # fmt: skip


def grouped(lengths, n, k, name):
    import torch

    x, y, starts = rand(sum(lengths), k), rand(k, n, scale=0.05), offsets(lengths)
    return Kernel(getattr(example("grouped_gemm"), name), x, y, starts,
                  expected=lambda: torch.mm(f32(x), f32(y)))  # fmt: skip


many = [512, 64, 1000, 2048, 300, 700, 1536, 128]
variant("grouped_matmul", grouped, dict(lengths=[20, 40, 5], n=64, k=64), lengths=many, n=4096, k=2048,
        name="grouped_gemm_jagged")  # fmt: skip
variant("grouped_matmul_persistent", grouped, dict(lengths=[20, 40, 5], n=64, k=64), lengths=many, n=4096, k=2048,
        name="grouped_gemm_jagged_persistent")  # fmt: skip


@operation(dict(tokens=60, experts=4, n=64, k=64), tokens=4096, experts=32, n=2048, k=2048)
def mixture_of_experts(tokens, experts, n, k):
    e = example("moe_matmul_ogs")
    x, w = rand(tokens, k, dtype="float16"), rand(experts, k, n, dtype="float16", scale=0.05)
    chosen = permutation(tokens) % experts  # as many for each: the example's blocks for fewer tokens have races
    return Kernel(e.moe_matmul_ogs, *e.moe_matmul_ogs_helion_kernel_args_gen(x, w, chosen))


@operation(dict(b=3, n=64), b=8, n=4096)
def gather_gemv(b, n):
    w, i, x = rand(b, n, n, dtype="float16"), ints(0, b, 2), rand(n, dtype="float16", scale=0.05)
    return Kernel(example("gather_gemv").gather_gemv, w, i, x)


# ---- attention ----


def attention_of(q, k, v, bias=0.0, causal=False):
    scores = f32(q) @ f32(k).transpose(-1, -2) * q.shape[-1] ** -0.5 + bias
    if causal:
        scores.masked_fill_(scores.new_ones(scores.shape[-2:], dtype=bool).triu(1), -math.inf)
    return scores.softmax(-1) @ f32(v)


def attention(batch, heads, n, dim, name="attention", dtype="float16", module="attention", causal=False):
    q, k, v = [rand(batch, heads, n, dim, dtype=dtype) for _ in "qkv"]
    return Kernel(getattr(example(module), name), q, k, v, expected=lambda: attention_of(q, k, v, causal=causal))


few = dict(batch=1, heads=2, n=128, dim=32)
sizes = dict(batch=2, heads=32, n=2048, dim=64)
variant("attention", attention, few, **sizes)
variant("attention_d128", attention, few, batch=2, heads=16, n=2048, dim=128, dtype="bfloat16")
variant("attention_causal", attention, few, **sizes, name="causal_attention", causal=True)
variant("attention_output", attention, few, **sizes, name="attention_output", dtype="bfloat16")
variant("attention_f32", attention, few, batch=2, heads=8, n=2048, dim=64, dtype="float32")


@operation(few, **sizes)
def attention_biased(batch, heads, n, dim):
    q, k, v = [rand(batch, heads, n, dim, dtype="float16") for _ in "qkv"]
    bias = rand(batch, heads, n, n, dtype="float16")
    return Kernel(example("attention").biased_attention_output, q, k, v, bias,
                  expected=lambda: attention_of(q, k, v, f32(bias)))  # fmt: skip


@operation(few, **sizes)
def attention_gradients(batch, heads, n, dim):
    q, k, v, o, do = [rand(batch, heads, n, dim, dtype="float16") for _ in range(5)]
    lse, delta = uniform(batch, heads, n) + 8, uniform(batch, heads, n)
    return Kernel(example("attention").attention_backward, q, k, v, o, lse, do, delta, dim**-0.5)


@operation(few, batch=2, heads=16, n=2048, dim=128)
def attention_without_own_value(batch, heads, n, dim):
    e = example("xsa")
    q, k, v = [rand(batch, heads, n, dim, dtype="float16") for _ in "qkv"]
    return Kernel(e.xsa_kernel, q, k, v, expected=lambda: e.ref_xsa(q, k, v))


@operation(few, **sizes)
def fp8_attention(batch, heads, n, dim):
    e = example("fp8_attention")
    q, k, v = [rand(batch, heads, n, dim, dtype="float16") for _ in "qkv"]
    return Kernel(e.fp8_attention_kernel, *e.preprocess_fp8_attention_inputs(q, k, v), batch, heads)


@operation(dict(batch=1, heads=2, n=256, dim=32), **sizes)
def flex_attention(batch, heads, n, dim):
    e = example("flex_attention")
    q, k, v = [rand(batch, heads, n, dim, dtype="float16") for _ in "qkv"]
    m = e._create_empty_block_mask(q, k)
    blocks = [t if t is None else t.expand(batch, heads, *t.shape[2:]).contiguous()
              for t in (m.kv_num_blocks, m.kv_indices, m.full_kv_num_blocks, m.full_kv_indices)]  # fmt: skip
    return Kernel(e.helion_flex_attention_kernel, q, k, v, e._identity, *blocks, m.mask_mod, *m.BLOCK_SIZE, dim**-0.5,
                  False, expected=lambda: attention_of(q, k, v))  # fmt: skip


@operation(dict(lengths=[40, 64, 9], heads=2, dim=32), lengths=[512, 300, 480, 256] * 8, heads=16, dim=64)
def hstu_attention(lengths, heads, dim):
    q, k, v = [rand(sum(lengths), heads, dim) for _ in "qkv"]
    longest = max(lengths)
    return Kernel(example("jagged_hstu_attn_2").jagged_hstu_attention, longest, 1 / dim, 1 / longest, q, k, v,
                  offsets(lengths))  # fmt: skip


# ---- state space models, linear attention ----

small_states = dict(batch=1, heads=2, length=128, chunk=64, dim=32, state=32)


@operation(small_states, batch=8, heads=64, length=4096, chunk=256, dim=64, state=64)
def mamba_chunk_scan(batch, heads, length, chunk, dim, state):
    e, chunks = example("mamba2_chunk_scan"), length // chunk
    half = dict(dtype="float16", scale=0.1)
    args = (rand(batch, chunks, 1, chunk, chunk, **half), rand(batch, length, heads, dim, **half),
            uniform(batch, heads, chunks, chunk).half(), -uniform(batch, heads, chunks, chunk).half(),
            rand(batch, length, 1, state, **half), rand(batch, chunks, heads, dim, state, **half),
            rand(heads, **half))  # fmt: skip
    return Kernel(e.helion_mamba2_chunk_scan_kernel, *args, expected=lambda: e.ref_chunk_scan(*args))


@operation(small_states, batch=8, heads=64, length=4096, chunk=256, dim=64, state=128)
def mamba_chunk_state(batch, heads, length, chunk, dim, state):
    e, chunks = example("mamba2_chunk_state"), length // chunk
    half = dict(dtype="float16", scale=0.1)
    args = (rand(batch, length, 1, state, **half), rand(batch, length, heads, dim, **half),
            uniform(batch, heads, chunks, chunk).half(), -uniform(batch, heads, chunks, chunk).half())  # fmt: skip
    return Kernel(e.helion_mamba2_chunk_state_kernel, *args, expected=lambda: e.ref_chunk_state(*args))


@operation(small_states, batch=8, heads=80, length=4096, chunk=256, dim=64, state=128)
def gated_delta_states(batch, heads, length, chunk, dim, state):
    e = example("gdn_fwd_h")
    k, w = [rand(batch, length, heads, dim, scale=0.1) for _ in "kw"]
    u, g = rand(batch, length, heads, state), (-uniform(batch, length, heads) * 0.1).cumsum(1)
    return Kernel(e.helion_gdn_fwd_h, k, w, u, g, chunk)


# ---- rows ----

rows = dict(tokens=24, width=200)


def row_kernel(tokens, width, module, name, dtype="float16", expected=None, more=lambda *_: ()):
    x = rand(tokens, width, dtype=dtype)
    rest = more(tokens, width)
    return Kernel(getattr(example(module), name), x, *rest, expected=expected and (lambda: expected(f32(x))))


def add_row_kernel(case, tokens=8192, width=4096, **options):
    variant(case, row_kernel, rows, tokens=tokens, width=width, **options)


def softmax(x):
    return x.softmax(-1)


add_row_kernel("softmax", module="softmax", name="softmax", expected=softmax)
add_row_kernel("softmax_decomposed", module="softmax", name="softmax_decomposed", expected=softmax)
add_row_kernel("softmax_two_pass", width=16384, module="softmax", name="softmax_two_pass", expected=softmax)
add_row_kernel("sum", module="sum", name="sum_kernel", dtype="float32", expected=lambda x: x.sum(-1))
add_row_kernel("long_sum", tokens=16, width=131072, module="long_sum", name="longsum", dtype="float32",
               expected=lambda x: x.sum(-1))  # fmt: skip
add_row_kernel("long_sum_loop", tokens=16, width=131072, module="long_sum", name="longsum_w_red_loop", dtype="float32",
               expected=lambda x: x.sum(-1))  # fmt: skip
add_row_kernel("cross_entropy", tokens=4096, width=32000, module="cross_entropy", name="cross_entropy", dtype="float32",
               more=lambda n, width: (ints(0, width, n, dtype="int64"),))  # fmt: skip
add_row_kernel("rms_norm", module="rms_norm", name="rms_norm_fwd", more=lambda _, n: (rand(n, dtype="float16"),))
add_row_kernel("layer_norm", module="layer_norm", name="layer_norm_fwd",
               more=lambda _, n: ([n], rand(n, dtype="float16"), rand(n, dtype="float16")))  # fmt: skip
add_row_kernel("se_block", tokens=4096, width=1024, module="se_block", name="se_block_fwd",
               more=lambda _, n: (rand(n, n, dtype="float16", scale=0.05),))  # fmt: skip


@operation(dict(batch=4, tokens=24, width=200), batch=16, tokens=512, width=4096)
def batch_softmax(batch, tokens, width):
    x = rand(batch, tokens, width, dtype="float16")
    return Kernel(example("batch_softmax").batch_softmax, x, expected=lambda: f32(x).softmax(-1))


@operation(rows, tokens=8192, width=4096)
def softmax_gradients(tokens, width):
    g, y = rand(tokens, width, dtype="float16"), uniform(tokens, width).half()
    return Kernel(example("softmax").softmax_bwd, g, y)


@operation(rows, tokens=4096, width=4096)
def rms_norm_gradients(tokens, width):
    g, x, w = [rand(*shape, dtype="float16") for shape in ((tokens, width), (tokens, width), (width,))]
    return Kernel(example("rms_norm").rms_norm_bwd, g, x, w, uniform(tokens, 1) + 0.5)


@operation(rows, tokens=4096, width=4096)
def layer_norm_gradients(tokens, width):
    g, x, w = [rand(*shape, dtype="float16") for shape in ((tokens, width), (tokens, width), (width,))]
    return Kernel(example("layer_norm").layer_norm_bwd, g, x, uniform(tokens), uniform(tokens) + 0.5, w, True)


@operation(rows, tokens=8192, width=4096)
def welford(tokens, width):
    import torch

    w, b, x = rand(width, dtype="float32"), rand(width, dtype="float32"), rand(tokens, width, dtype="float32")
    norm = torch.nn.functional.layer_norm
    return Kernel(example("welford").welford, w, b, x, expected=lambda: norm(x, [width], w, b))


@operation(dict(tokens=6, vocabulary=1000), tokens=4096, vocabulary=32000)
def jensen_shannon(tokens, vocabulary):
    q, p = [rand(tokens, vocabulary, dtype="float32").log_softmax(-1) for _ in "qp"]
    return Kernel(example("jsd").jsd_forward, q, p)


@operation(dict(tokens=6, vocabulary=1000), tokens=4096, vocabulary=32000)
def kl_divergence(tokens, vocabulary):
    q, p = [rand(tokens, vocabulary, dtype="float32") for _ in "qp"]
    return Kernel(example("kl_div").kl_div_forward, q.log_softmax(-1), p.softmax(-1))


@operation(dict(batch=2, length=9, vocabulary=500), batch=4, length=1024, vocabulary=32000)
def grpo_loss(batch, length, vocabulary):
    logits, chosen = rand(batch, length, vocabulary), rand(batch, length, dtype="float32")
    old, ref, advantages = uniform(batch, length), uniform(batch, length), uniform(batch)
    mask = (uniform(batch, length) > 0.1).float()
    return Kernel(example("grpo_loss").grpo_loss_forward, logits, chosen, old, ref, advantages, mask, 0.9, 0.04, 0.2,
                  0.4)  # fmt: skip


# ---- elements, gathers, sequences of several lengths ----


@operation(dict(n=5000), n=1 << 26)
def geglu(n):
    import torch

    a, b = rand(n), rand(n)
    gelu = torch.nn.functional.gelu
    return Kernel(example("geglu")._geglu, a, b, expected=lambda: gelu(f32(a), approximate="tanh") * f32(b))


@operation(dict(n=5000), n=1 << 26)
def swiglu_gradients(n):
    return Kernel(example("swiglu").swiglu_bwd, rand(n), rand(n), rand(n))


@operation(rows, tokens=8192, width=4096)
def add_in_two_types(tokens, width):
    x, y = rand(tokens, width, dtype="float32"), rand(tokens, width, dtype="float16")
    return Kernel(example("add").add, x, y, expected=lambda: x + y)


@operation(dict(tokens=20, left=50, right=64), tokens=8192, left=3000, right=4096)
def concatenate(tokens, left, right):
    import torch

    x, y = rand(tokens, left, dtype="float32"), rand(tokens, right, dtype="float32")
    return Kernel(example("concatenate").concat2d_dim1, x, y, expected=lambda: torch.cat([x, y], 1))


@operation(dict(tokens=20, vocabulary=100, width=64), tokens=32768, vocabulary=32000, width=1024)
def embedding(tokens, vocabulary, width):
    i, w = ints(0, vocabulary, tokens), rand(vocabulary, width, dtype="float16")
    return Kernel(example("embedding").embedding, i, w, expected=lambda: w[i.long()])


@operation(dict(n=5000), n=1 << 26)
def dropout(n):
    return Kernel(example("low_mem_dropout").low_mem_dropout, 0.25, rand(n, dtype="float32"), 123)


@operation(dict(batch=2, heads=4, kv_heads=2, length=32, dim=32), batch=4, heads=32, kv_heads=8, length=4096, dim=128)
def rope(batch, heads, kv_heads, length, dim):
    q, k = [rand(batch, h, length, dim, dtype="float16") for h in (heads, kv_heads)]
    angles = rand(batch, length, dim, dtype="float32")
    return Kernel(example("rope").rope_fwd, q, k, angles.cos().half(), angles.sin().half())


lengths_of_batch = dict(lengths=[30, 0, 17, 64, 5], width=40)
long_lengths = dict(lengths=[1000, 20, 700, 512] * 64, width=128)


def jagged(lengths, width, module, name, more=lambda *_: ()):
    x = rand(sum(lengths), width, dtype="float32")
    return Kernel(getattr(example(module), name), x, offsets(lengths, "int64"), *more(lengths, width))


variant("jagged_softmax", jagged, lengths_of_batch, **long_lengths, module="jagged_softmax",
        name="jagged_softmax_kernel")  # fmt: skip
variant("jagged_sum", jagged, lengths_of_batch, **long_lengths, module="jagged_sum", name="jagged_sum_kernel")
variant("jagged_layer_norm", jagged, lengths_of_batch, **long_lengths, module="jagged_layer_norm",
        name="jagged_layer_norm_kernel")  # fmt: skip
variant("jagged_mean", jagged, lengths_of_batch, **long_lengths, module="jagged_mean", name="jagged_mean_kernel",
        more=lambda lengths, width: (ints(1, width, len(lengths)), width))  # fmt: skip


@operation(dict(lengths=[30, 0, 17, 64, 5], d=32, k=48), lengths=[1000, 20, 700, 512] * 64, d=256, k=256)
def jagged_dense_bmm(lengths, d, k):
    n = len(lengths)
    x, y, b = [rand(*s, dtype="float32") for s in ((sum(lengths), d), (n, d, k), (n, k))]
    return Kernel(example("jagged_dense_bmm").jagged_dense_bmm, offsets(lengths, "int64"), x, y, b)


@operation(dict(nodes=20, edges=300, width=32), nodes=20000, edges=400000, width=128)
def segmented_sum(nodes, edges, width):
    import torch

    i, x = ints(0, nodes, edges, dtype="int64").sort()[0], rand(edges, width, dtype="float32")
    f = example("segment_reduction").segmented_reduction_helion
    zero = torch.zeros(nodes, width, device=x.device)
    return Kernel(f, i, x, nodes, expected=lambda: zero.index_add(0, i, x))


# ---- the run ----


def prepare(folder):
    """The examples as a package, and the name of torch that helion 1.5.1 imports and torch 2.11 lacks."""
    from torch._inductor.runtime import triton_compat

    if not hasattr(triton_compat, "IntelGPUError"):
        triton_compat.IntelGPUError = type("IntelGPUError", (Exception,), {})
    os.environ.setdefault("HELION_AUTOTUNE_EFFORT", "none")
    sys.path.insert(0, folder)
    if SMALL:  # on an emulator tensors are the host's, for which helion has other limits than for a GPU
        import helion.runtime
        from helion._compiler import matmul_utils

        helion.runtime.get_num_sm = lambda *_, **__: 4
        matmul_utils.min_dot_size = lambda _, a, b: (16, 16, 32 // min(a.itemsize, b.itemsize))


def is_plausible(configuration, space):
    """Whether an autotuner may choose it: the largest tile fits into the registers, and stages into shared memory."""
    c = configuration.config
    rows = [space.reduction_loops[i].size_hint if n is None else n for i, n in enumerate(c.get("reduction_loops", []))]
    sizes = sorted([*c.get("block_sizes", []), *rows])[-2:]
    return math.prod(sizes) <= 128 * 32 * c["num_warps"] and c["num_stages"] <= 4 and c.get("maxnreg") is None


def configurations(bound, name):
    """The default, one of Helion's heuristics where they have one, and those drawn for this kernel; the same for every
    compiler."""
    random.seed(zlib.crc32(name.encode()) + int(os.environ.get("SEED", 0)))
    space = bound.config_spec.create_config_generation()
    made = [space.unflatten(space.default_flat()), *[pair[1] for pair in space.seed_flat_config_pairs()][:1]]
    for _ in range(1000 * CONFIGURATIONS):
        if len(made) >= CONFIGURATIONS:
            break
        drawn = space.random_config()
        if is_plausible(drawn, bound.config_spec):
            made.append(drawn)
    return made


def tensors(made):
    import torch

    made = made if isinstance(made, (tuple, list)) else [made]
    return [t for t in made if isinstance(t, torch.Tensor)]


def make(case):
    name, number = case.rsplit("/", 1)
    function, sizes, small = OPERATIONS[name]
    k = function(**(sizes | small if SMALL else sizes))
    bound = k.kernel.bind(k.arguments)
    configuration = configurations(bound, name)[int(number)]
    compiled = bound.compile_config(configuration)

    def step():
        return [thinned(t) for t in tensors(compiled(*k.arguments))]

    step.about = {"configuration": dict(configuration.config)}
    if k.expected and (SMALL or os.environ.get("CHECK", "1") != "0"):
        made = tensors(compiled(*k.arguments))[0].detach().float()
        step.about["difference"] = profiled_operations.relative(tensors(k.expected())[0].detach().float(), made)
    return step


def main():
    parser, options = profiled_operations.arguments(__doc__)
    if "HELION" not in os.environ:
        parser.error("HELION must name a checkout of pytorch/helion, or a folder with its examples")
    prepare(os.path.abspath(os.environ["HELION"]))
    cases = [f"{name}/{i}" for name in OPERATIONS for i in range(CONFIGURATIONS)]
    run_cases(cases, make, options)


if __name__ == "__main__":
    main()
