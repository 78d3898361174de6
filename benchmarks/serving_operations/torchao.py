"""Operations of torchao."""

from library_packages import Library
from serving_operations.inputs import small_matmul
from sized_operations import ints, list_of, operation, rand, uniform, variant

torchao = Library("torchao")


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
