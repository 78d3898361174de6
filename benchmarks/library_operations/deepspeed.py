"""Operations of DeepSpeed."""

from library_operations.inputs import leaf
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import ints, list_of, operation, rand, uniform, variant

deepspeed = Library("deepspeed")


def fp8_matmul(m, n, k, group=128):
    x, w = rand(m, k), ints(0, 120, k, n, dtype="uint8")
    scale, f = uniform(k * n // group, 1) * 0.01, deepspeed("ops.fp_quantizer.fp8_gemm_triton").matmul_fp8_triton
    return lambda: [f(x, w, scale, group)]


small = dict(m=70, n=128, k=256)
variant("deepspeed_fp8_decode", fp8_matmul, small, m=16, n=14336, k=4096)
variant("deepspeed_fp8_prefill", fp8_matmul, small, m=2048, n=14336, k=4096)


def group_gemm(sizes, n, k, transposed=False):
    x, ends = leaf(sum(sizes), k), list_of([sum(sizes[: i + 1]) for i in range(len(sizes))])
    w = leaf(*((len(sizes), n, k) if transposed else (len(sizes), k, n)), scale=0.05)
    f = deepspeed("ops.triton_ops.group_gemm_triton").group_gemm_triton
    return with_gradients(lambda: f(x, w, ends, trans_b=transposed), [x, w])


few_sizes = dict(sizes=[30, 0, 70], n=64, k=96)
sizes = dict(sizes=[512, 64, 1000, 2048, 300, 700, 1536, 128], n=4096, k=2048)
variant("deepspeed_group_gemm", group_gemm, few_sizes, **sizes)
variant("deepspeed_group_gemm_transposed", group_gemm, few_sizes, **sizes, transposed=True)


@operation(dict(tokens=9, width=200), tokens=8192, width=14336)
def deepspeed_swiglu(tokens, width):
    gate, up = leaf(tokens, width), leaf(tokens, width)
    f = deepspeed("ops.triton_ops.swiglu_triton").swiglu
    return with_gradients(lambda: f(gate, up), [gate, up])


@operation(dict(tokens=9, width=256), tokens=16384, width=4096)
def deepspeed_layer_norms(tokens, width):
    half = dict(dtype="float16")
    x, y = rand(1, tokens, width, **half), rand(1, tokens, width, **half)
    w, b, c = [rand(width, **half) for _ in range(3)]
    m = deepspeed("ops.transformer.inference.triton.layer_norm")
    return lambda: [m.layer_norm(x, w, b, 1e-5), m.layer_norm_residual(x, c, y, w, b, 1e-5)]


@operation(dict(batch=1, heads=2, rows=20), batch=8, heads=16, rows=1024)
def deepspeed_softmax(batch, heads, rows):
    x = rand(batch, heads, rows, rows, dtype="float16")
    f = deepspeed("ops.transformer.inference.triton.softmax").softmax
    return lambda: [f(x)]


@operation(dict(experts=4, ranks=2, most=50), experts=64, ranks=8, most=4000)
def deepspeed_permutation(experts, ranks, most):
    counts = ints(0, most, experts * ranks)
    starts = counts.cumsum(0).int() - counts
    totals = counts.view(ranks, experts).sum(0)
    offsets = (totals.cumsum(0) - totals).int()
    f, longest = deepspeed("moe.ep_kernels").fill_indices_wrapper, experts * ranks * most
    return lambda: [f(counts, starts, offsets, experts, ranks, longest)]
