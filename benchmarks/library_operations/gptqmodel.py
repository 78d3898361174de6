"""Operations of GPTQModel."""

from library_operations.inputs import scaled_int4, small_matmul, words
from library_packages import Library
from sized_operations import ints, list_of, operation, rand, uniform, variant

gptq = Library("gptqmodel")


def gptq_matmul(m, n, k, bits):
    x, w = rand(m, k, dtype="float16"), words(k * bits // 32, n)
    scales, zero = scaled_int4(k, n, 128), words(k // 128, n * bits // 32)
    index = list_of([i // 128 for i in range(k)])
    f = gptq("nn_modules.triton_utils.kernels").quant_matmul_248
    return lambda: [f(x, w, scales, zero, index, bits, 2**bits - 1)]


variant("gptq_matmul_int4", gptq_matmul, small_matmul, m=1024, n=4096, k=4096, bits=4)
variant("gptq_matmul_int8", gptq_matmul, small_matmul, m=256, n=4096, k=4096, bits=8)


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


variant("gptq_awq_decode", gptq_awq, small_matmul, m=16, n=14336, k=4096, split=8)


def gptq_paroquant(m, n, k, part):
    x, w = rand(m, k, dtype="float16"), words(k, n // 8)
    scales, zero = scaled_int4(k, n, 128), words(k // 128, n // 8)
    f = getattr(gptq("quantization.paroquant.modules.triton.gemm"), "paroquant_gemm_triton_" + part)
    return lambda: [f(x, w, scales, zero)]


variant("gptq_paroquant_prefill", gptq_paroquant, small_matmul, m=512, n=4096, k=4096, part="prefill")


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
