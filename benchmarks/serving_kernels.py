#!/usr/bin/env python3
"""Times operations of libraries that serve and quantise large language models on one NVIDIA GPU, and compares what two
compilers made of their Triton kernels: vLLM, SGLang, triton_kernels (the mixtures of experts of Triton's repository, as
gpt-oss uses them), torchao and bitsandbytes, at the shapes of Llama 3, DeepSeek V3, Qwen3, Mixtral and gpt-oss, prefill
and decode. Needs torch, triton, einops and, in one folder, the packages vllm (0.33.0), sglang (0.5.23), triton_kernels
(Triton's f87ae465c, for 3.6), torchao (36027d82d) and bitsandbytes (95f9af30). Their Python files are enough, with the
JSON files of tuned configurations; nothing of them is installed.

    export PUBLIC=FOLDER
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t serving_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s serving_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    serving_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

What it prints: public_kernels.py; of large results a part of the rows is compared. With SMALL=1 each operation runs
once at a size that emulators can bear, and a line has the norms of its results; MODULES=FILE lists the files of the
libraries that were imported:

    SMALL=1 python -m tessera.triton check --target interpreter serving_kernels.py
"""

import importlib
import os
import sys
import types

import profiled_operations
from library_packages import bare, no, same, stub, yes
from sized_operations import (
    OPERATIONS, SMALL, ints, list_modules, list_of, make, offsets, operation, permutation, rand, small_run, uniform,
    variant, zeros,
)  # fmt: skip

GPU = "NVIDIA_H200"  # whose tuned configurations are used


class Platform:
    """What vLLM and SGLang query of the machine: it is a Hopper GPU of NVIDIA."""

    device_type = "cuda"
    is_cuda = is_cuda_alike = yes
    is_sm90 = is_sm90_supported = True

    def __getattr__(self, name):
        return no

    def fp8_dtype(self):
        import torch

        return torch.float8_e4m3fn

    def get_device_name(self, *_):
        return GPU

    def get_device_capability(self, *_, **__):
        return 9, 0

    def has_device_capability(self, wanted, *_, **__):
        return (wanted if isinstance(wanted, int) else 10 * wanted[0] + wanted[1]) <= 90

    def is_device_capability(self, wanted, *_, **__):
        return wanted in (90, (9, 0))

    def is_device_capability_family(self, wanted, *_, **__):
        return wanted == 90


class Log:
    def __getattr__(self, name):
        return no


class Settings:
    """The environment variables of SGLang, all unset."""

    def __getattr__(self, name):
        return types.SimpleNamespace(get=no)


def to_gpu(data, device=None, dtype=None, out=None):
    import torch

    return torch.as_tensor(data, dtype=dtype).to(device)


def units(*_):
    import torch

    return torch.cuda.get_device_properties(0).multi_processor_count


def next_power_of_2(n):
    return 1 << (n - 1).bit_length()


def prepare(folder):
    for name in ("vllm", "sglang", "triton_kernels", "torchao", "bitsandbytes"):
        bare(name, f"{folder}/{name}", whole=["vllm.triton_utils"])
    prepare_vllm()
    prepare_sglang()
    if SMALL:  # emulators query its tensors for their memory
        kernels("tensor").Tensor.untyped_storage = lambda t: t.data.untyped_storage()


def experts_of(tokens, experts, topk):
    import torch

    return torch.softmax(rand(tokens, experts, dtype="float32"), -1).topk(topk, -1)


# ---- vLLM ----


def prepare_vllm():
    stub("vllm._custom_ops", "vllm._aiter_ops", "vllm.config", "vllm.distributed")
    stub("vllm.utils.torch_utils", async_tensor_h2d=to_gpu)
    stub("vllm.utils.deep_gemm", "vllm.model_executor.layers.fused_moe.modular_kernel", "vllm.v1.outputs")
    stub("vllm.model_executor.parameter", "vllm.model_executor.utils")
    stub("vllm.v1.sample.sampler", "vllm.v1.sample.metadata", "vllm.v1.spec_decode.metadata", "vllm.sampling_params")
    stub("vllm.v1.sample.logits_processor", "vllm.v1.sample.ops.topk_topp_sampler", "vllm.v1.sample.ops.penalties")
    stub("vllm.v1.sample.ops.bad_words", "vllm.v1.worker.gpu.states", "vllm.v1.worker.gpu.buffer_utils")
    stub("vllm.model_executor.layers.quantization.utils.w8a8_utils", "vllm.model_executor.custom_op")
    stub("vllm.model_executor.layers.fused_moe.config", "vllm.model_executor.layers.fused_moe.activation")
    stub("vllm.model_executor.layers.fused_moe.moe_align_block_size")
    stub("vllm.logger", init_logger=lambda *_: Log())
    stub("vllm.platforms", current_platform=Platform(), vllm_version_matches_substr=no)
    stub("vllm.utils.platform_utils", num_compute_units=units, get_device_name_as_file_name=lambda *_: GPU)
    stub("vllm.utils.gpu_sync_debug")
    stub("vllm.v1.attention.backends", NULL_BLOCK_ID=0, PAD_SLOT_ID=-1)
    stub("vllm.utils.mem_utils", get_max_shared_memory_bytes=lambda *_: 232448)
    swap = lambda m, n: m < 64 <= n
    stub("vllm.model_executor.layers.fused_moe.utils", enable_swap_ab=swap, resolve_moe_use_td=no,
         normalize_batched_scales_shape=lambda scales, _: scales)  # fmt: skip
    stub("vllm.v1.kv_cache_interface", KVQuantMode=types.SimpleNamespace(
        NONE=0, FP8_PER_TENSOR=1, INT8_PER_TOKEN_HEAD=2, FP8_PER_TOKEN_HEAD=3, INT4_PER_TOKEN_HEAD=4,
    ), is_quantized_kv_cache=lambda name: name.startswith("fp8"))  # fmt: skip


def vllm(module):
    return importlib.import_module("vllm." + module)


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


def aligned(ids, block, experts):
    """Rows of the tokens of each expert, padded to blocks, the experts of the blocks, and how many rows there are."""
    import torch

    flat = ids.flatten().long()
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=experts)
    padded = (counts + block - 1) // block * block
    most = -(-(flat.numel() + min(experts, flat.numel()) * (block - 1)) // block) * block
    rows = torch.full((most,), flat.numel(), dtype=torch.int32, device="cuda")
    within = torch.arange(flat.numel(), device="cuda") - (counts.cumsum(0) - counts)[flat[order]]
    rows[(padded.cumsum(0) - padded)[flat[order]] + within] = order.int()
    blocks = torch.arange(0, most, block, device="cuda")
    owner = torch.searchsorted(padded.cumsum(0), blocks, right=True).clamp(max=experts - 1).int()
    return rows, owner, padded.sum().int().view(1)


WEIGHTS = dict(fp8="fp8_w8a8", blocks="fp8_w8a8", int8_weights="int8_w8a16", int4="int4_w4a16")  # names in vLLM


def mixture(tokens, experts, topk, hidden, width, kind="bfloat16"):
    """Both matmuls of a mixture of experts, by vLLM's kernel for weights of this kind."""
    import triton.language as tl

    g = vllm("model_executor.layers.fused_moe.fused_moe")
    weights, ids = experts_of(tokens, experts, topk)
    block = [128, 128] if kind == "blocks" else [0, 128] if "int8_w" in kind or kind == "int4" else None
    name = WEIGHTS.get(kind)
    tuned = g.get_moe_configs(experts, width, name, *(block or (0, 0)))
    if tuned and kind not in ("int4", "int8_weights"):
        config = tuned[min(tuned, key=lambda m: abs(m - tokens))]
    else:
        config = g.get_default_config(tokens, experts, width, hidden, topk, name, block)
    rows, owners, count = aligned(ids, config["BLOCK_SIZE_M"], experts)

    def matmul(m, repeats, n, k, weighted):
        options = dict(use_fp8_w8a8=kind in ("fp8", "blocks"), use_int8_w8a8=kind == "int8", use_int8_w8a16=False,
                       use_int4_w4a16=False, per_channel_quant=kind == "int8", block_shape=block)  # fmt: skip
        x, w, scales, f = rand(m, k), None, [None, None], g.invoke_fused_moe_triton_kernel
        if kind in ("int8_weights", "int4"):
            w = ints(0, 256, experts, n, k // (2 if kind == "int4" else 1), dtype="uint8")
            scales, f = [uniform(experts, n, k // 128) * 0.01, None], g.invoke_fused_moe_wna16_triton_kernel
            options = dict(use_int8_w8a16=kind != "int4", use_int4_w4a16=kind == "int4", block_shape=block)
            scales[0] = scales[0].bfloat16()
        elif kind == "int8":
            x, w = ints(-127, 128, m, k, dtype="int8"), ints(-127, 128, experts, n, k, dtype="int8")
            scales = [uniform(m, 1) * 0.01, uniform(experts, n, 1) * 0.01]
        elif kind == "bfloat16":
            w = rand(experts, n, k, scale=0.03)
        else:
            x, w = rand(m, k, dtype="float8_e4m3fn"), rand(experts, n, k, dtype="float8_e4m3fn", scale=0.1)
            scales = [uniform(1), uniform(experts)]
            if kind == "blocks":
                scales = [uniform(m, k // 128), uniform(experts, n // 128, k // 128)]
        out = zeros(tokens, topk, n)

        def run():
            f(x, w, out, *scales, weights, rows, owners, count, weighted, repeats, config, tl.bfloat16, **options)
            return out

        return run

    up = matmul(tokens, topk, 2 * width, hidden, False)
    down = matmul(tokens * topk, 1, hidden, width, True)
    return lambda: [up(), down()]


few_experts = dict(tokens=12, experts=4, topk=2, hidden=256, width=128)
qwen = dict(experts=128, topk=8, hidden=2048, width=768)  # Qwen3-30B-A3B
deepseek = dict(experts=256, topk=8, hidden=7168, width=256)  # V3, an eighth of each expert
mixtral = dict(experts=8, topk=2, hidden=4096, width=3584)  # 8x7B, a quarter
for kind, model, tokens in [
    ("bfloat16", qwen, 4096), ("bfloat16", qwen, 32), ("fp8", mixtral, 2048),
    ("blocks", deepseek, 4096), ("blocks", deepseek, 32), ("int8", mixtral, 2048), ("int8_weights", mixtral, 64),
    ("int4", qwen, 1024), ("int4", mixtral, 64),
]:  # fmt: skip
    variant(f"vllm_experts_{kind}_{tokens}", mixture, few_experts, tokens=tokens, kind=kind, **model)


@operation(few_experts | dict(most=16), tokens=512, experts=32, topk=8, hidden=4096, width=1536, most=256)
def vllm_batched_experts(tokens, experts, topk, hidden, width, most):
    import torch
    import triton.language as tl

    _, ids = experts_of(tokens, experts, topk)
    counts = torch.bincount(ids.flatten(), minlength=experts).clamp(max=most).int()
    x, w = rand(experts, most, hidden), rand(experts, 2 * width, hidden, scale=0.03)
    out, f = zeros(experts, most, 2 * width), vllm("model_executor.layers.fused_moe.experts.fused_batched_moe")
    config = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=1, num_warps=4, num_stages=3)

    def step():
        args = x, w, out, counts, tl.bfloat16, None, None, None, False, False, False, config, False
        f.invoke_moe_batched_triton_kernel(*args)
        return [out]

    return step


@operation(dict(tokens=12, hidden=256), tokens=8192, topk=8, hidden=7168)
def vllm_sum_experts(tokens, topk, hidden):
    x, weights = rand(tokens, topk, hidden), uniform(tokens, topk)
    f = vllm("model_executor.layers.fused_moe.moe_fused_mul_sum").moe_fused_mul_sum
    return lambda: [f(x, weights)]


def lora(tokens, hidden, outputs, rank=16, adapters=8):
    """Both parts of low-rank adapters; a token in nine has none."""
    meta = vllm("lora.ops.triton_ops.lora_kernel_metadata").LoRAKernelMeta.make(adapters, tokens, "cuda")
    meta.prepare_tensors(ints(-1, adapters, tokens))
    args = meta.meta_args(tokens, False)
    x, a = rand(tokens, hidden), [rand(adapters, 1, rank, hidden, scale=0.02) for _ in outputs]
    b, inner = [rand(adapters, 1, n, rank) for n in outputs], zeros(len(outputs), tokens, rank, dtype="float32")
    shrink, expand = [vllm(f"lora.ops.triton_ops.lora_{part}_op") for part in ("shrink", "expand")]
    base = rand(tokens, sum(outputs))

    def step():
        out = base.clone()
        shrink._lora_shrink(x, a, inner, *args, 1.0)
        expand._lora_expand(inner, b, out, *args, offset_start=0, add_inputs=True)
        return [inner, out]

    return step


few_adapters = dict(tokens=20, hidden=256, outputs=[128], adapters=2)
variant("vllm_lora_prefill", lora, few_adapters, tokens=4096, hidden=4096, outputs=[4096, 1024, 1024], rank=16)
variant("vllm_lora_decode", lora, few_adapters, tokens=64, hidden=4096, outputs=[14336, 14336], rank=32)


@operation(dict(tokens=8, hidden=256), tokens=8192, hidden=7168)
def vllm_quantise_fp8_groups(tokens, hidden):
    x = rand(tokens, hidden + 128)[:, :hidden]  # rows that are apart: contiguous ones go to a kernel in CUDA
    f = vllm("model_executor.layers.quantization.utils.fp8_utils").per_token_group_quant_fp8
    return lambda: list(f(x, 128, column_major_scales=True, use_ue8m0=False))


@operation(dict(tokens=128, width=128), tokens=8192, width=2048)
def vllm_silu_quantise_fp8(tokens, width):
    x = rand(tokens, 2 * width)
    f = vllm("model_executor.layers.quantization.utils.fp8_utils").silu_mul_per_token_group_quant_fp8_colmajor
    return lambda: list(f(x, use_ue8m0=False))


def block_matmul(m, n, k):
    import torch

    a, b = rand(m, k, dtype="float8_e4m3fn"), rand(n, k, dtype="float8_e4m3fn", scale=0.1)
    s, t = uniform(m, k // 128), uniform(n // 128, k // 128)
    f = vllm("model_executor.layers.quantization.utils.fp8_utils").w8a8_triton_block_scaled_mm
    return lambda: [f(a, b, s, t, [128, 128], torch.bfloat16)]


small_matmul = dict(m=20, n=128, k=256)
variant("vllm_matmul_fp8_blocks_4096", block_matmul, small_matmul, m=4096, n=4096, k=7168)
variant("vllm_matmul_fp8_blocks_64", block_matmul, small_matmul, m=64, n=7168, k=2048)


def scaled_matmul(m, n, k, dtype):
    import torch

    make = (lambda *s: ints(-127, 128, *s, dtype="int8")) if dtype == "int8" else (lambda *s: rand(*s, dtype=dtype))
    a, b, s, t = make(m, k), make(n, k).t(), uniform(m, 1), uniform(n, 1)
    f = vllm("model_executor.layers.quantization.compressed_tensors.triton_scaled_mm").triton_scaled_mm
    return lambda: [f(a, b, s, t, torch.bfloat16)]


variant("vllm_matmul_int8_2048", scaled_matmul, small_matmul, m=2048, n=4096, k=4096, dtype="int8")
variant("vllm_matmul_fp8_rows_2048", scaled_matmul, small_matmul, m=2048, n=4096, k=4096, dtype="float8_e4m3fn")


def awq(m, n, k):
    words = lambda rows: ints(-(2**31), 2**31 - 1, rows, n // 8)
    g = vllm("model_executor.layers.quantization.awq_triton")
    x, w, zero, scales = rand(m, k, dtype="float16"), words(k), words(k // 128), (uniform(k // 128, n) * 0.01).half()
    return lambda: [g.awq_gemm_triton(x, w, scales, zero, 8), g.awq_dequantize_triton(w, scales, zero)]


variant("vllm_awq", awq, small_matmul, m=16, n=14336, k=4096)


@operation(dict(tokens=8, hidden=256), tokens=8192, hidden=8192)
def vllm_quantise_int8_rows(tokens, hidden):
    x, f = rand(tokens, hidden), vllm("model_executor.layers.quantization.utils.int8_utils").per_token_quant_int8
    return lambda: list(f(x))


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


def sampling(batch, vocabulary, k, p):
    logits = rand(batch, vocabulary, dtype="float32", scale=3.0)
    top = ints(1, k, batch) if k else None
    share = uniform(batch) * 0.5 + 0.5 if p else None
    f = vllm("v1.sample.ops.topk_topp_triton").apply_top_k_top_p_triton

    def step():
        made = f(logits.clone(), top, share)
        return [made.clamp(min=-100), (made > -100).sum(-1)]

    return step


small_sampling = dict(batch=2, vocabulary=2500)
variant("vllm_sample_topp", sampling, small_sampling, batch=128, vocabulary=128256, k=0, p=True)
variant("vllm_sample_topk_topp", sampling, small_sampling, batch=128, vocabulary=151936, k=1000, p=True)


@operation(dict(batch=3, vocabulary=2500), batch=64, vocabulary=128256, drafts=5)
def vllm_rejection_sampling(batch, vocabulary, drafts):
    import torch

    tokens = batch * drafts
    ids, targets = ints(0, vocabulary, tokens), rand(tokens, vocabulary, dtype="float32", scale=3.0)
    draft = torch.softmax(rand(tokens, vocabulary, dtype="float32", scale=3.0), -1)
    ends, bonus = list_of([drafts * (i + 1) for i in range(batch)]), ints(0, vocabulary, batch, 1)
    about = types.SimpleNamespace(all_greedy=False, all_random=True, temperature=uniform(batch) + 0.5, generators={})
    f = vllm("v1.sample.rejection_sampler").rejection_sample
    return lambda: [f(ids, [drafts] * batch, drafts, ends, draft, targets, bonus, about)]


@operation(dict(tokens=3, vocabulary=2500), tokens=256, vocabulary=128256)
def vllm_gumbel_sampling(tokens, vocabulary):
    logits, index = rand(tokens, vocabulary, dtype="float32"), permutation(tokens)
    temperature, seeds, at = uniform(tokens) + 0.5, ints(0, 2**31, tokens, dtype="int64"), ints(0, 4096, tokens)
    f = vllm("v1.worker.gpu.sample.gumbel").gumbel_sample
    return lambda: [f(logits, index, temperature, seeds, at, True, False)]


@operation(dict(tokens=3, vocabulary=2560), tokens=256, vocabulary=128256)
def vllm_penalties(tokens, vocabulary):
    logits, index, ids = rand(tokens, vocabulary), permutation(tokens), ints(0, vocabulary, tokens)
    repeated, frequent, present = [uniform(tokens) + 1.0 for _ in "rfp"]
    prompts, counts = ints(-(2**31), 2**31 - 1, tokens, -(-vocabulary // 32)), ints(0, 3, tokens, vocabulary)
    at = ints(0, 1, tokens)
    f = vllm("v1.worker.gpu.sample.penalties").apply_penalties

    def step():
        made = logits.clone()
        f(made, index, ids, at, repeated, frequent, present, prompts, counts)
        return [made]

    return step


@operation(dict(tokens=3, vocabulary=2500), tokens=256, vocabulary=128256)
def vllm_log_probabilities(tokens, vocabulary):
    logits, ids = rand(tokens, vocabulary, dtype="float32", scale=3.0), ints(0, vocabulary, tokens, 21)
    f = vllm("v1.worker.gpu.sample.logprob").compute_token_logprobs
    return lambda: [f(logits, ids)]


# ---- SGLang ----


def prepare_sglang():
    others = "hip npu xpu cpu musa gfx95_supported gfx1250_supported sm100_supported sm120_supported mps hpu".split()
    utils = {"is_" + name: no for name in others} | dict(is_cuda=yes, is_sm90_supported=yes, get_bool_env_var=no)
    utils |= dict(get_device_name=lambda *_: GPU, get_device_core_count=units, next_power_of_2=next_power_of_2)
    utils |= dict(
        ceil_div=lambda a, b: -(-a // b), cached_triton_kernel=lambda *_, **__: same, get_int_env_var=lambda _, n=0: n
    )
    stub("sglang.srt", current_platform=Platform(), get_platform=Platform, register_custom_op=same, LoRABatchInfo=None,
         register_fake_if_exists=same, is_batch_invariant_mode_enabled=no, get_moe_padding_size=lambda *_: 0,
         ENABLE_JIT_DEEPGEMM=False, envs=Settings(), **utils)  # fmt: skip
    stub("sglang.kernels.jit", is_arch_support_pdl=no, cache_once=same, get_jit_cuda_arch=Platform)
    stub("sglang.kernels.kernel_api_logging", debug_kernel_api=same)


def sglang(module):
    return importlib.import_module("sglang.kernels.ops." + module)


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


def sglang_experts(tokens, experts, topk, hidden, width, tma=False, kind="bfloat16"):
    import triton.language as tl

    g = sglang("moe.fused_moe_triton_kernels")
    weights, ids = experts_of(tokens, experts, topk)
    x, w, out = rand(tokens, hidden), rand(experts, 2 * width, hidden, scale=0.03), zeros(tokens, topk, 2 * width)
    config = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=16, num_warps=4, num_stages=4)
    scales, block = (None, None), None
    if kind == "blocks":
        x, w = rand(tokens, hidden, dtype="float8_e4m3fn"), rand(*w.shape, dtype="float8_e4m3fn", scale=0.1)
        scales, block = (uniform(tokens, hidden // 128), uniform(experts, 2 * width // 128, hidden // 128)), [128, 128]
        config |= dict(BLOCK_SIZE_K=128, num_stages=3)
    rows = aligned(ids, config["BLOCK_SIZE_M"], experts)

    def step():
        g.invoke_fused_moe_kernel(x, w, None, out, *scales, None, weights, ids, *rows, False, topk, config, tl.bfloat16,
                                  kind == "blocks", False, False, False, False, block, b_use_tma=tma)  # fmt: skip
        return [out]

    return step


variant("sglang_experts_qwen_descriptors", sglang_experts, few_experts, tokens=4096, tma=True, **qwen)
variant("sglang_experts_fp8_descriptors", sglang_experts, few_experts, tokens=2048, kind="blocks", tma=True, **mixtral)


@operation(dict(tokens=9), tokens=16384)
def sglang_deepseek_gate(tokens):
    scores, bias = rand(tokens, 256, dtype="float32"), uniform(256)
    f = sglang("moe.moe_fused_gate").moe_fused_gate
    return lambda: list(f(scores, bias, 8, num_expert_group=8, topk_group=4, routed_scaling_factor=2.5))


@operation(dict(tokens=9), tokens=16384, experts=256, k=6)
def sglang_gate_topk(tokens, experts, k):
    x, f = rand(tokens, experts, dtype="float32"), sglang("moe.gate_topk").gate_topk
    return lambda: list(f(x, k))


@operation(dict(most=16, experts=2, width=128), experts=32, most=512, width=2048)
def sglang_masked_silu_quantise(experts, most, width):
    x, counts = rand(experts, most, 2 * width), ints(most // 4, most, experts)
    out = zeros(experts, most, width, dtype="float8_e4m3fn")
    scales = zeros(experts, most, width // 128, dtype="float32")
    f = sglang("moe.ep_moe_kernels").silu_and_mul_masked_post_quant_fwd

    def step():
        f(x, out, scales, 128, counts)
        return [out, scales]

    return step


@operation(dict(tokens=8, heads=2), tokens=2048, heads=128)
def sglang_quantise_mla_tensor(tokens, heads):
    x, f = rand(heads, tokens, 512), sglang("quantization.fp8_kernel").per_tensor_quant_mla_fp8
    return lambda: list(f(x, zeros(1, dtype="float32")))


@operation(dict(tokens=8, hidden=256), tokens=8192, hidden=7168)
def sglang_quantise_rounded_scales(tokens, hidden):
    x, f = rand(tokens, hidden), sglang("quantization.act_quant_triton").act_quant
    return lambda: list(f(x, 128, "ue8m0"))


@operation(dict(tokens=64, hidden=256), tokens=8192, hidden=7168)
def sglang_quantise_mxfp8(tokens, hidden):
    x, f = rand(tokens, hidden), sglang("quantization.mxfp8_quant").to_mxfp8

    def step():
        made = f(x)
        return [made.data, made.scale]

    return step


@operation(dict(tokens=9), tokens=65536)
def sglang_quantise_fp4_indexer(tokens):
    x, f = rand(tokens, 128), sglang("quantization.fp4_indexer_quant").quantize_fp4_indexer_tensor
    return lambda: list(f(x))


def sglang_block_matmul(m, n, k, dtype="float8_e4m3fn"):
    import torch

    make = (lambda *s: ints(-127, 128, *s, dtype="int8")) if dtype == "int8" else (lambda *s: rand(*s, dtype=dtype))
    a, b, s, t = make(m, k), make(n, k), uniform(m, k // 128), uniform(n // 128, k // 128)
    g = sglang("gemm.int8_kernel" if dtype == "int8" else "gemm.fp8_kernel")
    f = g.w8a8_block_int8_matmul if dtype == "int8" else g.w8a8_block_fp8_matmul_triton
    return lambda: [f(a, b, s, t, [128, 128], torch.bfloat16)]


variant("sglang_matmul_fp8_blocks_4096", sglang_block_matmul, small_matmul, m=4096, n=7168, k=2048)
variant("sglang_matmul_fp8_blocks_16", sglang_block_matmul, small_matmul, m=16, n=7168, k=2048)
variant("sglang_matmul_int8_blocks_1024", sglang_block_matmul, small_matmul, m=1024, n=4096, k=7168, dtype="int8")


def sglang_lora(lengths, hidden, q, kv, rank=16, adapters=8):
    n = len(lengths)
    batch = types.SimpleNamespace(
        use_cuda_graph=False, bs=n, num_segments=n, seg_indptr=offsets(lengths), weight_indices=ints(0, adapters, n),
        lora_ranks=list_of([rank] * adapters), scalings=uniform(adapters), max_len=max(lengths),
        seg_lens=list_of(lengths), permutation=None,
    )  # fmt: skip
    x, a = rand(sum(lengths), hidden), rand(adapters, 3 * rank, hidden, scale=0.02)
    b, starts = rand(adapters, q + 2 * kv, rank), list_of([0, q, q + kv, q + 2 * kv])
    shrink, expand = sglang("lora.dense.sgemm_lora_a"), sglang("lora.dense.qkv_lora_b")

    def step():
        inner = shrink.sgemm_lora_a_fwd(x, a, batch, 3)
        return [inner, expand.qkv_lora_b_fwd(inner, b, batch, starts, max(q, kv))]

    return step


small_lora = dict(lengths=[20, 9], hidden=256, q=128, kv=64, adapters=2)
variant("sglang_lora_prefill", sglang_lora, small_lora, lengths=[1024, 800, 1500, 700], hidden=4096, q=4096, kv=1024)


def segment_attention(lengths, heads, dim):
    n = sum(lengths)
    q, k, v = [rand(n, heads, dim, scale=0.3) for _ in "qkv"]
    state, decay = rand(len(lengths), heads, dim, dim, dtype="float32", scale=0.1), uniform(heads)
    meta = types.SimpleNamespace(
        batch_size=len(lengths), max_q_length=max(lengths), q_offsets=offsets(lengths), q_lengths=list_of(lengths),
        s_offsets=permutation(len(lengths)), s_scales=list_of([1] * len(lengths)), mask=None,
    )  # fmt: skip
    f = sglang("attention.linear.seg_la").seg_la_fwd

    def step():
        kept = state.clone()
        return [f(q, k, v, kept, decay, meta), kept]

    return step


variant("sglang_segment_attention_prefill", segment_attention, dict(lengths=[40, 30], heads=2),
        lengths=[4096, 2048, 1000, 1048], heads=32, dim=128)  # fmt: skip


@operation(dict(tokens=9, hidden=300), tokens=8192, hidden=6144)
def sglang_two_norms(tokens, hidden):
    x, r, w, u = rand(tokens, hidden), rand(tokens, hidden), rand(hidden), rand(hidden)
    f = sglang("layernorm.fused_rmsnorm").fused_dual_residual_rmsnorm
    return lambda: list(f(x, r, w, u, 1e-6))


@operation(dict(tokens=3, vocabulary=2500), tokens=128, vocabulary=256000)
def sglang_softcap(tokens, vocabulary):
    x, f = rand(tokens, vocabulary, dtype="float32", scale=20.0), sglang("activation.softcap").softcap_inplace_logits

    def step():
        made = x.clone()
        f(made, 30.0)
        return [made]

    return step


@operation(dict(tokens=66, vocabulary=5000), tokens=256, vocabulary=151936)
def sglang_argmax(tokens, vocabulary):
    x, f = rand(tokens, vocabulary, dtype="float32"), sglang("speculative.row_argmax").row_argmax
    return lambda: [f(x)]


@operation(dict(batch=2, vocabulary=3000), batch=64, vocabulary=151936, drafts=4)
def sglang_accept_drafts(batch, vocabulary, drafts):
    import torch

    target, draft = [torch.softmax(rand(batch, drafts, vocabulary, dtype="float32", scale=2.0), -1) for _ in "td"]
    ids, order = ints(0, vocabulary, batch, drafts), ints(0, 1, batch, drafts) + list_of(range(drafts))
    coins, last = uniform(batch, drafts), uniform(batch)
    out, index, count = [zeros(*s, dtype="int32") for s in [(batch * drafts,), (batch, drafts), (batch,)]]
    f = sglang("speculative.reject_sampling").chain_speculative_sampling_triton

    def step():
        at = order + drafts * list_of(range(batch)).view(-1, 1)
        args = ids.long(), at.long(), None, None, coins, last, target, draft[:, : drafts - 1].contiguous()
        f(out, index, count, *args, 1.0, 1.0, True)
        return [out, index, count]

    return step


@operation(dict(words=20000), words=64 * 1024 * 1024)
def sglang_tensor_hash(words):
    x, f = ints(-(2**31), 2**31 - 1, words), sglang("memory.gpu_tensor_hash").gpu_tensor_hash
    return lambda: [list_of([f(x) % 2**40], "float64")]


# ---- triton_kernels ----


def kernels(module):
    return importlib.import_module("triton_kernels." + module)


def route(logits, topk):
    """Which rows go to which expert: what gpt-oss does before its experts."""
    picked = kernels("topk").topk(logits, topk, apply_softmax=True)
    rows = picked.mask_metadata.row_sorted_indx
    ragged = kernels("tensor").make_ragged_tensor_metadata(picked.mask_metadata.col_sum, rows.shape[0])
    return picked, ragged, picked.mask_metadata.col_sorted_indx


def ragged_experts(tokens, experts, topk, hidden, width, kind):
    """Both matmuls of the experts of gpt-oss: gathered rows, SwiGLU in the first, scattered rows from the second."""
    import torch

    m, numerics = kernels("matmul"), kernels("numerics")
    _, ragged, order = route(rand(tokens, experts), topk)
    rows = zeros(len(order) + 256, dtype="int32")[: len(order)]  # its loads are wide, and read on
    rows[:] = order // topk
    specs = m.FnSpecs("swiglu", kernels("swiglu").swiglu_fn, ("alpha", "limit"), reduction_n=2)
    act = m.FusedActivation(specs, (1.7, 7.0))

    def weights(k, n):
        w = rand(experts, k, n, scale=0.03)
        if kind == "bfloat16":
            return w, m.PrecisionConfig()
        if kind == "fp8":
            w = w.to(torch.float8_e4m3fn).transpose(-1, -2).contiguous().transpose(-1, -2)
            data = numerics.InFlexData(dtype=w.dtype, scale=list_of([0.5], "float32"))
            return w, m.PrecisionConfig(flex_ctx=m.FlexCtx(rhs_data=data), out_dtype=torch.bfloat16)
        t, layouts = kernels("tensor"), kernels("tensor_details.layout")
        w, scale = kernels("numerics_details.mxfp").downcast_to_mxfp(w, torch.uint8, axis=1)
        layout, options = layouts.make_default_matmul_mxfp4_w_layout(mx_axis=1)
        w = t.convert_layout(t.wrap_torch_tensor(w, dtype=t.FP4), layout, **options)
        layout, options = layouts.make_default_matmul_mxfp4_w_scale_layout(mx_axis=1, num_warps=8)
        scale = t.convert_layout(t.wrap_torch_tensor(scale), layout, **options)
        return w, m.PrecisionConfig(b_mx_scale=scale)

    x, (w, first), (u, second) = rand(tokens, hidden), weights(hidden, 2 * width), weights(width, hidden)
    bias, bias2 = rand(experts, 2 * width, dtype="float32"), rand(experts, hidden, dtype="float32")
    if kind == "fp8":
        x = x.to(torch.float8_e4m3fn)

    def step():
        y = m.matmul(x, w, bias, ragged, gather_indx=rows, precision_config=first, fused_activation=act)
        y = y.to(x.dtype)
        return [y, m.matmul(y, u, bias2, ragged, scatter_indx=order, precision_config=second)]

    return step


small_ragged = dict(tokens=12, experts=4, topk=2, hidden=256, width=128)
for kind, tokens in [("mxfp4", 4096), ("mxfp4", 64), ("bfloat16", 2048), ("fp8", 2048)]:
    variant(f"triton_kernels_experts_{kind}_{tokens}", ragged_experts, small_ragged,
            tokens=tokens, experts=32, topk=4, hidden=2880, width=2880, kind=kind)  # fmt: skip


@operation(dict(tokens=20, experts=8), tokens=8192, experts=128, topk=4)
def triton_kernels_routing(tokens, experts, topk):
    logits = rand(tokens, experts)

    def step():
        picked, ragged, order = route(logits, topk)
        return [picked.vals, order, ragged.slice_offs]

    return step


@operation(dict(tokens=9, hidden=256), tokens=8192, topk=4, hidden=2880)
def triton_kernels_reduce(tokens, topk, hidden):
    x, f = rand(tokens, topk, hidden), kernels("reduce").reduce
    return lambda: [f(x, dim=1)[0]]


@operation(dict(rows=64, columns=256), rows=8192, columns=4096)
def triton_kernels_mxfp4(rows, columns):
    import torch

    x, g = rand(rows, columns), kernels("numerics_details.mxfp")

    def step():
        made, scale = g.downcast_to_mxfp(x, torch.uint8, axis=1)
        return [made, scale, g.upcast_from_mxfp(made, scale, torch.bfloat16, axis=1)]

    return step


# ---- torchao ----


def torchao(module):
    return importlib.import_module("torchao." + module)


def torchao_matmul(m, n, k):
    a, b = rand(m, k, dtype="float8_e4m3fn"), rand(n, k, dtype="float8_e4m3fn", scale=0.1)
    s, t = uniform(m, k // 128), uniform(n // 128, k // 128)
    f = torchao("quantization.quantize_.workflows.float8.kernels")._build_blockwise_fp8_gemm_op()
    return lambda: [f(a, s, b, t, 128)]


variant("torchao_matmul_fp8_blocks_4096", torchao_matmul, small_matmul, m=4096, n=4096, k=7168)


@operation(dict(m=256, n=256, k=256), m=4096, n=4096, k=4096)
def torchao_training_fp8(m, n, k):
    """The casts of a linear layer in blocks, and the dots of its forward pass and of its weights' gradient."""
    x, w, dy = rand(m, k), rand(n, k, scale=0.03), rand(m, n)
    g = torchao("prototype.blockwise_fp8_training.kernels")

    def step():
        a, s = g.triton_fp8_blockwise_act_quant_lhs(x, 128)
        b, t = g.triton_fp8_blockwise_weight_quant_transposed_rhs(w, 128)
        y = g.triton_fp8_gemm_1x128_128x128(a, b, s, t)
        c, u = g.triton_fp8_blockwise_act_quant_transposed_lhs(dy, 128)
        d, v = g.triton_fp8_blockwise_act_quant_rhs(x, 128)
        return [y, g.triton_fp8_gemm_1x128_128x1(c, d, u, v)]

    return step


@operation(dict(m=64, n=128, k=128), m=4096, n=4096, k=4096)
def torchao_matmul_int8(m, n, k):
    a, b = ints(-127, 128, m, k, dtype="int8"), ints(-127, 128, n, k, dtype="int8").t()
    s, t = uniform(m).bfloat16() * 0.01, uniform(n).bfloat16() * 0.01
    f = torchao("prototype.quantized_training.int8_mm").scaled_int8_mm_cuda
    return lambda: [f(a, b, s, t)]


def attention_inputs(module, function, batch, heads, kv_heads, length, dim):
    q, k, v = [rand(batch, h, length, dim) for h in (heads, kv_heads, kv_heads)]
    f = getattr(torchao("prototype.attention.quantization." + module), function)
    return lambda: list(f(q, k, v))


small_attention = dict(batch=1, heads=2, kv_heads=1, length=40)
variant("torchao_quantise_hadamard_qkv", attention_inputs, small_attention, module="triton_hadamard_qkv_quantization",
        function="triton_fp8_hadamard_sdpa_quantize", batch=2, heads=32, kv_heads=8, length=4096, dim=128)  # fmt: skip


@operation(dict(tokens=100, hidden=128, groups=2), tokens=8192, hidden=4096, groups=16)
def torchao_quantise_groups(tokens, hidden, groups):
    import torch

    ends, x = list_of([tokens * (i + 1) // groups for i in range(groups)]), rand(hidden, tokens).t()
    f = torchao("prototype.moe_training.kernels.jagged_float8_scales").triton_fp8_per_group_colwise_scales
    return lambda: list(f(x, ends, torch.float8_e4m3fn, True))


# ---- bitsandbytes ----


def bits(module):
    return importlib.import_module("bitsandbytes.backends.triton." + module)


def four_bits(rows, columns, kind):
    import torch

    x, g = rand(rows, columns), bits("ops")

    def step():
        made, largest = g.quantize_4bit(x, 64, kind, torch.uint8)
        return [made, largest, g.dequantize_4bit(made, largest, 64, kind, x.shape, torch.bfloat16)]

    return step


small_rows = dict(rows=16, columns=256)
variant("bitsandbytes_nf4", four_bits, small_rows, rows=4096, columns=14336, kind="nf4")


@operation(small_rows, rows=4096, columns=14336)
def bitsandbytes_8bit(rows, columns):
    import torch

    x, g = rand(rows, columns), bits("ops")
    code = torch.linspace(-1, 1, 256, device="cuda")

    def step():
        made, largest = g.quantize_blockwise(x, code, 256)
        return [made, largest, g.dequantize_blockwise(made, largest, code, 256, torch.bfloat16)]

    return step


def optimiser(numbers, name, eight):
    import torch

    g, p0 = rand(numbers), rand(numbers)
    code = torch.linspace(-1, 1, 256, device="cuda")
    blocks = -(-numbers // 256)

    def step():
        p = p0.clone()
        if eight:
            states = [ints(100, 156, numbers, dtype="uint8"), ints(128, 200, numbers, dtype="uint8")]
            scales = [zeros(blocks, dtype="float32") + 0.1 for _ in "12"]
            f = bits("ops").optimizer_update_8bit_blockwise
            f(name, g, p, *states, 0.9, 0.95, 0.0, 0.0, 1e-8, 3, 1e-3, code, code, *scales, 0.01)
            return [p, *scales]
        states = [zeros(numbers, dtype="float32") + 0.1 for _ in "12"]
        f = bits("ops").optimizer_update_32bit
        f(name, g, p, states[0], states[1], None, 0.0, 0.0, 0.9, 0.95, 0.0, 0.0, 1e-8, 0.01, 3, 1e-3, 1.0)
        return [p, *states]

    return step


variant("bitsandbytes_adam_8bit", optimiser, dict(numbers=1000), numbers=32 * 2**20, name="adam", eight=True)
variant("bitsandbytes_adam", optimiser, dict(numbers=1000), numbers=32 * 2**20, name="adam", eight=False)


def main():
    parser, options = profiled_operations.arguments(__doc__)
    if "PUBLIC" not in os.environ:
        parser.error("PUBLIC must name a folder with the five packages")
    folder = os.path.abspath(os.environ["PUBLIC"])
    prepare(folder)
    profiled_operations.keep_few_configurations(3)
    names = profiled_operations.chosen(OPERATIONS, options.operations)
    if SMALL:
        failed = small_run(names)
    else:
        failed = profiled_operations.run(names, make, options.save)
    if os.environ.get("MODULES"):
        list_modules(folder, os.environ["MODULES"])
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
