"""vLLM's low-rank adapters, and matmuls and quantisation of weights and activations."""

from serving_operations.inputs import small_matmul, vllm
from sized_operations import ints, operation, rand, uniform, variant, zeros


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
