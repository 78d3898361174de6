#!/usr/bin/env python3
"""Times operations of public libraries written in Triton, forward and backward where they have both, on one NVIDIA GPU,
and compares what two compilers made of their kernels: state-space models (state-spaces/mamba), jagged attention for
recommendations (meta-recsys/generative-recommenders), serving (InternLM/lmdeploy), fine-tuning (unslothai/unsloth) and
benchmarks of matmul and attention (meta-pytorch/tritonbench). Needs torch, triton, einops and checkouts of the five,
in one folder under the last part of these names; nothing of them is installed.

    export PUBLIC=FOLDER
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t public_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s public_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    public_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

Each autotuned kernel is compiled in at most three of its configurations, spread over their list. A line per operation:
microseconds of each kernel by torch's profiler, mean of five steps, and seconds of the first step. A ratio above 1
means that the second file's code is faster; "difference" is the largest relative one (Frobenius norm) of the results.
"""

import enum
import importlib
import os
import sys

import profiled_operations
from library_packages import package, stub
from profiled_operations import with_gradients

# Modules that the kernels' files import and do not need.
NOT_NEEDED = ("unsloth_zoo", "bitsandbytes", "lmdeploy.messages", "lmdeploy.utils", "lmdeploy.pytorch.envs")
NOT_NEEDED += ("tritonbench.utils.path_utils", "triton.tools.experimental_descriptor")


QUANTISATIONS = enum.IntEnum("QuantPolicy", dict(NONE=0, INT4=4, INT8=8, FP8=16, FP8_E5M2=17, TURBO_QUANT=42))


def version(v):
    from packaging.version import Version

    return Version(v if isinstance(v, str) else "0")


def prepare(folder):
    stub(*NOT_NEEDED, QuantPolicy=QUANTISATIONS, Version=version)
    package("mamba_ssm", f"{folder}/mamba/mamba_ssm")
    package("unsloth", f"{folder}/unsloth/unsloth", DEVICE_TYPE="cuda")
    for part in ("kernels", "kernels/moe", "kernels/moe/grouped_gemm"):
        package("unsloth." + part.replace("/", "."), f"{folder}/unsloth/unsloth/{part}")
    for part in ("", "/pytorch", "/pytorch/kernels", "/pytorch/kernels/cuda"):
        package("lmdeploy" + part.replace("/", "."), f"{folder}/lmdeploy/lmdeploy{part}")
    for part in ("", "/operators", "/kernels", "/utils"):
        package("tritonbench" + part.replace("/", "."), f"{folder}/tritonbench/tritonbench{part}")
    for name in os.listdir(f"{folder}/tritonbench/tritonbench/operators"):
        package(f"tritonbench.operators.{name}", f"{folder}/tritonbench/tritonbench/operators/{name}")
    sys.path.append(f"{folder}/generative-recommenders")


OPERATIONS = {}


def operation(function):
    OPERATIONS[function.__name__] = function
    return function


def rand(*shape, dtype="bfloat16", grad=False, scale=1.0):
    import torch

    values = torch.randn(*shape, device="cuda", dtype=torch.float32) * scale
    return values.to(getattr(torch, dtype)).requires_grad_(grad)


def grads(*shape, **options):
    return rand(*shape, grad=True, **options)


def offsets(lengths, dtype):
    """Where sequences of these lengths begin, and where the last one ends."""
    import torch

    return torch.tensor([0, *lengths]).cumsum(0).to(dtype).to("cuda")


# ---- state-spaces/mamba ----


def mamba(module):
    return importlib.import_module("mamba_ssm.ops.triton." + module)


@operation
def mamba_chunk_scan():
    import torch

    b, length, h, p, n = 2, 4096, 32, 64, 128
    x, dt, B, C = grads(b, length, h, p), grads(b, length, h, dtype="float32"), *(grads(b, length, 1, n) for _ in "BC")
    A, D, bias = [t.cuda().requires_grad_() for t in (-torch.rand(h) - 0.5, torch.ones(h), torch.zeros(h))]
    f = mamba("ssd_combined").mamba_chunk_scan_combined
    return with_gradients(
        lambda: f(x, dt, A, B, C, 256, D=D, dt_bias=bias, dt_softplus=True), [x, dt, A, B, C, D, bias]
    )


@operation
def mamba_chunk_scan_gated():
    import torch

    b, length, h, p, n = 2, 2048, 32, 128, 64
    x, z = [grads(b, length, h, p, dtype="float16") for _ in "xz"]
    dt, B, C = grads(b, length, h, dtype="float32"), *(grads(b, length, 8, n, dtype="float16") for _ in "BC")
    A = (-torch.rand(h) - 0.5).cuda().requires_grad_()
    f = mamba("ssd_combined").mamba_chunk_scan_combined
    return with_gradients(lambda: f(x, dt, A, B, C, 128, z=z, dt_softplus=True), [x, z, dt, A, B, C])


@operation
def mamba_gated_norm():
    x, z, w = grads(8192, 4096), grads(8192, 4096), grads(4096)
    f = mamba("layernorm_gated").rmsnorm_fn
    return with_gradients(lambda: f(x, w, None, z=z, group_size=512), [x, z, w])


@operation
def mamba_layer_norm_residual():
    x, r, w, b = grads(8192, 4096), grads(8192, 4096, dtype="float32"), grads(4096), grads(4096)
    f = mamba("layer_norm").layer_norm_fn
    return with_gradients(lambda: f(x, w, b, residual=r, prenorm=True, residual_in_fp32=True), [x, r, w, b])


@operation
def mamba_state_update():
    import torch

    b, h, p, n = 256, 64, 64, 128
    state, x, z, B, C = rand(b, h, p, n), rand(b, h, p), rand(b, h, p), rand(b, 1, n), rand(b, 1, n)
    dt, A = rand(b, h, 1).expand(b, h, p), -torch.rand(h, 1, 1, device="cuda").expand(h, p, n)
    D, bias = [rand(h, 1).expand(h, p) for _ in "Db"]
    f = mamba("selective_state_update").selective_state_update
    return lambda: [f(state.clone(), x, dt, A, B, C, D, z, bias, dt_softplus=True)]


@operation
def mamba3():
    import torch

    b, length, h, hq, dq, dv = 2, 2048, 32, 4, 128, 64
    q, k = [torch.nn.functional.rms_norm(rand(b, length, hq, dq), (dq,)).requires_grad_() for _ in "qk"]
    v, z = grads(b, length, h, dv), grads(b, length, h, dv)
    dt = torch.exp(torch.rand(b, h, length, device="cuda") * 4.6 - 6.9)
    adt = (-torch.empty(b, h, length, device="cuda").uniform_(1, 16) * dt).requires_grad_()
    trap = torch.rand(b, h, length, device="cuda").bfloat16().requires_grad_()
    biases, angles = [grads(h, dq) for _ in "qk"], grads(b, length, h, dq // 4, dtype="float32")
    skip = torch.ones(h, device="cuda", requires_grad=True)
    leaves = [q, k, v, adt, dt.requires_grad_(), trap, *biases, angles, skip, z]
    f = mamba("mamba3.mamba3_siso_combined").mamba3_siso_combined
    return with_gradients(lambda: f(*leaves, None, chunk_size=64), leaves)


# ---- meta-recsys/generative-recommenders ----


def hstu(module):
    return importlib.import_module("generative_recommenders.ops.triton." + module)


def hstu_attention_of(tma, heads, dim):
    import torch

    n, lengths = 2048, torch.randint(1024, 2049, (32,)).tolist()
    starts = offsets(lengths, torch.int64)
    q, k, v = [grads(sum(lengths), heads, dim, scale=0.2) for _ in "qkv"]
    f = hstu("triton_hstu_attention").triton_hstu_mha
    return with_gradients(lambda: f(n, 1.0 / dim, q, k, v, starts, None, 0, 0, False, tma), [q, k, v])


@operation
def hstu_attention():
    return hstu_attention_of(False, 4, 128)


@operation
def hstu_attention_descriptors():
    return hstu_attention_of(True, 4, 128)


@operation
def hstu_attention_64():
    return hstu_attention_of(False, 8, 64)


@operation
def hstu_layer_norm():
    x, w, b = grads(65536, 512), grads(512), grads(512)
    f = hstu("triton_layer_norm").triton_layer_norm
    return with_gradients(lambda: f(x, w, b, 1e-6), [x, w, b])


@operation
def hstu_swish_layer_norm():
    x, w, b = grads(65536, 512), grads(512), grads(512)
    f = hstu("triton_layer_norm").triton_swish_layer_norm
    return with_gradients(lambda: f(x, [512], w, b, 1e-6), [x, w, b])


@operation
def hstu_norm_mul_dropout():
    x, u, w, b = grads(65536, 512), grads(65536, 512), grads(512), grads(512)
    f = hstu("triton_hstu_linear").triton_norm_mul_dropout
    forward = lambda: f(x, u, w, b, 1e-6, 0.2, True, seed=7, concat_u=True, concat_x=True)
    return with_gradients(forward, [x, u, w, b])


@operation
def hstu_addmm():
    y, x, w = grads(2048), grads(32768, 512), grads(512, 2048)
    f = hstu("triton_addmm").triton_addmm
    return with_gradients(lambda: f(y, x, w), [x, w])


@operation
def hstu_swiglu():
    x, gate, up = rand(8192, 1024), rand(2048, 1024), rand(2048, 1024)
    f = hstu("triton_swiglu").triton_swiglu
    return lambda: [f(x, gate, up)]


@operation
def hstu_jagged_matmul():
    import torch

    lengths = torch.randint(100, 1025, (64,)).tolist()
    starts, x, w = offsets(lengths, torch.int64), grads(sum(lengths), 256), grads(64, 256, 512)
    f = hstu("triton_jagged").triton_jagged_dense_bmm
    return with_gradients(lambda: f(1024, starts, x, w), [x, w])


# ---- InternLM/lmdeploy ----


def lmdeploy(module):
    return importlib.import_module("lmdeploy.pytorch.kernels.cuda." + module)


def prefill(query_heads, heads, dim, **options):
    import torch

    lengths = [4096, 3000, 1777, 511]
    starts, n = offsets(lengths, torch.int32), sum(lengths)
    q, k, v = rand(n, query_heads, dim), rand(heads, n, dim), rand(heads, n, dim)
    f = lmdeploy("flashattention").flash_attn_varlen_func
    return lambda: [f(q, k, v, starts, starts, max(lengths), max(lengths), causal=True, **options)]


@operation
def lmdeploy_prefill():
    return prefill(32, 8, 128)


@operation
def lmdeploy_prefill_window():
    return prefill(32, 8, 64, window_size=(1024, 1024), softcap=30.0)


def decode(batch, query_heads, heads, dim, page, length):
    import torch

    pages = batch * (length // page)
    q, k, v = rand(batch, query_heads, dim), rand(pages, page, heads, dim), rand(pages, page, heads, dim)
    table = torch.randperm(pages, device="cuda").view(batch, -1)
    lengths = torch.randint(length // 2, length, (batch,), device="cuda")
    f = lmdeploy("pagedattention").flash_attn_with_kvcache
    return lambda: [f(q, k, v, lengths, table, max_seqlen_q=1, quant_policy=0)]


@operation
def lmdeploy_decode_gqa():
    return decode(64, 32, 8, 128, 64, 4096)


@operation
def lmdeploy_decode_mqa():
    return decode(16, 16, 1, 128, 64, 8192)


@operation
def lmdeploy_decode_mha():
    return decode(32, 32, 32, 64, 16, 2048)


def experts_of(tokens, experts, topk):
    import torch

    return torch.softmax(rand(tokens, experts, dtype="float32"), -1).topk(topk, -1)


def mixture(tokens, experts=64, topk=6, hidden=2048, width=1408):
    x, w1 = rand(tokens, hidden), rand(experts, 2 * width, hidden, scale=0.03)
    w2 = rand(experts, hidden, width, scale=0.03)
    weights, ids = experts_of(tokens, experts, topk)
    f = lmdeploy("fused_moe").fused_moe
    return lambda: [f(x, w1, w2, weights, ids, topk, renormalize=True)]


@operation
def lmdeploy_experts_4096_tokens():
    return mixture(4096)


@operation
def lmdeploy_experts_32_tokens():
    return mixture(32)


@operation
def lmdeploy_experts_fp8():
    import torch

    tokens, experts, hidden, width = 2048, 32, 2048, 1536
    x, scale = lmdeploy("blocked_gemm_fp8").quant_fp8(rand(tokens, hidden), 128)
    w1 = rand(experts, 2 * width, hidden, scale=0.1, dtype="float8_e4m3fn")
    w2 = rand(experts, hidden, width, scale=0.1, dtype="float8_e4m3fn")
    s1, s2 = [torch.rand(experts, w.shape[1] // 128, w.shape[2] // 128, device="cuda") for w in (w1, w2)]
    weights, ids = experts_of(tokens, experts, 4)
    f = lmdeploy("blocked_fp8_fused_moe").fused_moe_blocked_fp8
    return lambda: [f(x, scale, w1, s1, w2, s2, weights, ids, 4, out_dtype=torch.bfloat16)]


def blocked_matmul(m, n=4096, k=7168):
    import torch

    g = lmdeploy("blocked_gemm_fp8")
    a, scale = g.quant_fp8(rand(m, k), 128)
    b, scales = rand(n, k, scale=0.1, dtype="float8_e4m3fn"), torch.rand(k // 128, n // 128, device="cuda")
    return lambda: [g.blocked_gemm_fp8(a, scale, b.t(), scales, torch.bfloat16)]


@operation
def lmdeploy_matmul_fp8_4096():
    return blocked_matmul(4096)


@operation
def lmdeploy_matmul_fp8_64():
    return blocked_matmul(64)


@operation
def lmdeploy_quantise_fp8():
    x, f = rand(8192, 7168), lmdeploy("blocked_gemm_fp8").quant_fp8
    return lambda: list(f(x, 128))


def quantised_linear(dtype):
    import torch

    g = lmdeploy("w8a8_triton_kernels")
    x, norm, weights = rand(4096, 4096, dtype="float16"), rand(4096, dtype="float16"), rand(4096, 4096, dtype="float16")
    w, scale = g.per_channel_quant(weights, dtype)

    def step():
        a, row_scale = g.rms_norm_dynamic_quant(x, norm, 1e-5, quant_dtype=dtype)
        return [a.float(), g.matmul_kernel_dynamic_quant(a, w, row_scale, scale, output_dtype=torch.float16)]

    return step


@operation
def lmdeploy_linear_int8():
    import torch

    return quantised_linear(torch.int8)


@operation
def lmdeploy_linear_fp8():
    import torch

    return quantised_linear(torch.float8_e4m3fn)


def awq(m, k=4096, n=4096):
    import torch

    words = lambda rows: torch.randint(-(2**31), 2**31 - 1, (rows, n // 8), device="cuda", dtype=torch.int32)
    x, w, zeros = rand(m, k, dtype="float16"), words(k), words(k // 128)
    scales = (torch.rand(k // 128, n, device="cuda") * 0.01).half()
    f = lmdeploy("awq_kernels").awq_linear
    return lambda: [f(x, w, scales, zeros)]


@operation
def lmdeploy_awq_16():
    return awq(16)


@operation
def lmdeploy_awq_1024():
    return awq(1024)


@operation
def lmdeploy_rope():
    f = lmdeploy("apply_rotary_pos_emb").apply_rotary_pos_emb
    inputs = rand(8192, 32, 128), rand(8192, 8, 128), rand(8192, 128), rand(8192, 128)
    return lambda: list(f(*inputs))


@operation
def lmdeploy_rms_norm():
    x, r, w, f = rand(8192, 4096), rand(8192, 4096), rand(4096), lmdeploy("rms_norm").rms_norm
    return lambda: list(f(x, w, 1e-6, residual=r))


@operation
def lmdeploy_silu():
    x, f = rand(8192, 2 * 5632), lmdeploy("activation").silu_and_mul
    return lambda: [f(x)]


@operation
def lmdeploy_topk():
    import torch

    x, one = rand(64, 8192, dtype="float32"), torch.ones(64, device="cuda", dtype=torch.int32)
    f = lmdeploy("bitonic_topk").bitonic_topk
    return lambda: [f(x, one, one * 8192, 512).float()]


# ---- unslothai/unsloth ----


def unsloth(module):
    return importlib.import_module("unsloth.kernels." + module)


def grouped_matmul(tma, tokens=4096, experts=32, topk=4, k=2048, n=1536):
    import torch

    g = unsloth("moe.grouped_gemm.interface")
    x, w, dy = rand(tokens, k), rand(experts, n, k, scale=0.05), rand(tokens * topk, n)
    ids = torch.rand(tokens, experts).topk(topk, -1)[1].view(-1)
    sizes = torch.bincount(ids, minlength=experts).int().cuda()
    rows = torch.argsort(ids, stable=True).int().cuda()
    block = dict(permute_x=True, num_warps=8, num_stages=3)

    def step():
        tile = dict(BLOCK_SIZE_M=128, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, **block)
        y = g.grouped_gemm_forward(x, w, topk, sizes, rows, use_tma_load_w=tma, use_tma_store=tma, **tile)
        dx = g.grouped_gemm_dX(dy, w, rows, sizes, topk, use_tma_load_dy=tma, use_tma_load_w=tma, **tile)
        tile = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=128, **block)
        dw = g.grouped_gemm_dW(x, dy, sizes, rows, topk, use_tma_load_dy=tma, use_tma_store=tma, **tile)
        return [y, dx, dw]

    return step


@operation
def unsloth_grouped_matmul():
    return grouped_matmul(False)


@operation
def unsloth_grouped_matmul_descriptors():
    return grouped_matmul(True)


@operation
def unsloth_matmul_fp8():
    import torch

    a, b = rand(2048, 4096, dtype="float8_e4m3fn"), rand(4096, 4096, dtype="float8_e4m3fn")
    s, t = torch.rand(2048, 32, device="cuda"), torch.rand(32, 32, device="cuda")
    f = unsloth("fp8").w8a8_block_fp8_matmul_triton
    return lambda: [f(a, b, s, t, [128, 128], torch.bfloat16)]


@operation
def unsloth_dequantise():
    import torch

    w, s = rand(8192, 8192, dtype="float8_e4m3fn"), torch.rand(64, 64, device="cuda")
    f = unsloth("fp8").weight_dequant_block
    return lambda: [f(w, s, dtype=torch.bfloat16)]


@operation
def unsloth_cross_entropy():
    import torch

    x, labels = grads(1, 4096, 128256), torch.randint(0, 128256, (1, 4096), device="cuda")
    f = unsloth("cross_entropy_loss").fast_cross_entropy_loss
    return with_gradients(lambda: f(x * 1, labels), [x])


@operation
def unsloth_geglu():
    g, e, h = unsloth("geglu"), rand(4, 2048, 14336), rand(4, 2048, 14336)

    def step():
        backward = g.geglu_exact_backward_kernel(*(t.view(-1, 14336).clone() for t in (e, e, h)))
        return [g.geglu_exact_forward_kernel(e, h), g.geglu_approx_forward_kernel(e, h), *backward]

    return step


@operation
def unsloth_rope():
    q, cos, sin = rand(2, 4096, 32, 128), rand(4096, 64, dtype="float32"), rand(4096, 64, dtype="float32")
    f = unsloth("rope_embedding").Fast_RoPE_Embedding.apply
    return lambda: [f(q.clone(), cos, sin)]


@operation
def unsloth_layer_norm():
    x, w, b = grads(4, 4096, 4096), rand(4096), rand(4096)
    f = unsloth("layernorm").Fast_Layernorm.apply
    return with_gradients(lambda: f(x, w, b, 1e-5), [x])


# ---- meta-pytorch/tritonbench ----


def bench(module):
    return importlib.import_module("tritonbench.operators." + module)


def matmul_of(module, function, m=4096, n=4096, k=4096, transposed=False, dtype="bfloat16"):
    a, b = rand(m, k, dtype=dtype), rand(*((n, k) if transposed else (k, n)), dtype=dtype)
    f = getattr(bench(module), function)
    return lambda: [f(a, b)]


@operation
def tritonbench_stream_k():
    return matmul_of("gemm.stream_k", "streamk_cuda_matmul", 3000, 1536, 2048, transposed=True)


@operation
def tritonbench_persistent():
    return matmul_of("gemm.persistent_matmul", "matmul_persistent")


@operation
def tritonbench_partition_k():
    return matmul_of("gemm.partition_k", "matmul_partition_k", 64, 4096, 8192)


@operation
def tritonbench_matmul():
    return matmul_of("gemm.triton_matmul", "matmul")


@operation
def tritonbench_matmul_fp8():
    a, b = rand(4096, 4096, dtype="float8_e4m3fn"), rand(4096, 4096, dtype="float8_e4m3fn").t()
    f = bench("fp8_gemm.tutorial").matmul
    return lambda: [f(a, b)]


def mixed(first_is_int):
    import torch

    ints = torch.randint(-100, 100, (4096, 4096), device="cuda", dtype=torch.int16)
    floats = rand(4096, 4096)
    a, b = (ints, floats) if first_is_int else (floats, ints)
    f = bench("bf16xint16_gemm.kernel").bf16xint16_matmul
    return lambda: [f(a, b, first_is_int)]


@operation
def tritonbench_bf16_by_int16():
    return mixed(False)


@operation
def tritonbench_int16_by_bf16():
    return mixed(True)


def int4(m):
    import torch

    a, b = rand(m, 4096), torch.randint(-128, 128, (2048, 4096), device="cuda", dtype=torch.int8)
    f = bench("int4_gemm.kernel").matmul
    return lambda: [f(a, b)]


@operation
def tritonbench_int4_16():
    return int4(16)


@operation
def tritonbench_int4_2048():
    return int4(2048)


def attention(function):
    q, k, v = [rand(16, 16, 4096, 64, dtype="float16", scale=0.3) for _ in "qkv"]
    f = getattr(bench("template_attention.triton_attention"), function)
    return lambda: list(f(q, k, v))


@operation
def tritonbench_attention_exp():
    return attention("triton_attention_no_exp2")


@operation
def tritonbench_attention_exp2():
    return attention("triton_attention_with_exp2")


@operation
def tritonbench_welford():
    w, b, x = rand(4096), rand(4096), rand(16384, 4096)
    f = bench("welford.triton_welford").fused_native_layer_norm
    return lambda: [f(w, b, x)[0]]


@operation
def tritonbench_gather_matvec():
    import torch

    w = torch.randint(-100, 100, (8, 8192, 8192), device="cuda", dtype=torch.int8)
    picked, x = torch.tensor([3, 5], device="cuda"), rand(8192)
    f = bench("gather_gemv.triton_gather_gemv").triton_gemv_0
    return lambda: list(f(w, picked, x))


def gdpa(activation, **options):
    import torch

    lengths = torch.randint(512, 1025, (32,)).tolist()
    starts, n, dim = offsets(lengths, torch.int32), 1024, 128
    q, k, v = [grads(sum(lengths), 4, dim, scale=0.3) for _ in "qkv"]
    f = bench("gdpa.gdpa").gdpa
    forward = lambda: f(q, k, v, starts, starts, n, n, activation=activation, qk_scale=dim**-0.5, **options)
    return with_gradients(forward, [q, k, v])


@operation
def tritonbench_gdpa():
    return gdpa("fast_gelu")


@operation
def tritonbench_gdpa_persistent():
    return gdpa("gelu", enable_persistent=True)


def main():
    parser, options = profiled_operations.arguments(__doc__)
    if "PUBLIC" not in os.environ:
        parser.error("PUBLIC must name a folder with checkouts of the five libraries")
    prepare(os.path.abspath(os.environ["PUBLIC"]))
    profiled_operations.keep_few_configurations(3)
    names = profiled_operations.chosen(OPERATIONS, options.operations)
    profiled_operations.run(names, lambda name: OPERATIONS[name](), options.save)


if __name__ == "__main__":
    main()
