"""Operations of applied-ai."""

from library_operations.inputs import fp8, leaf, scaled_int4, words
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import operation, rand, variant, zeros

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
