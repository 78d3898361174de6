"""Operations of FlashInfer that are Triton kernels."""

from library_operations.inputs import fp8
from library_packages import Library
from sized_operations import offsets, operation, rand, uniform, variant, zeros

flashinfer = Library("flashinfer.triton")


def gemm(m, n, k, name, kind="bfloat16", **options):
    import torch

    make = fp8 if kind == "fp8" else lambda *shape, **how: rand(*shape, dtype=kind, **how)
    a, b = make(m, k), make(n, k, scale=0.05)
    b = b if "descriptor" in name else b.T
    f = getattr(flashinfer("sm_constraint_gemm"), name)
    return lambda: [f(a, b, zeros(m, n), out_dtype=torch.bfloat16, **options)]


small = dict(m=100, n=96, k=128)
large = dict(m=4096, n=4096, k=4096)
variant("flashinfer_gemm", gemm, small, **large, name="gemm")
variant("flashinfer_gemm_persistent", gemm, small, **large, name="gemm_persistent")
variant("flashinfer_gemm_descriptor", gemm, small, **large, name="gemm_descriptor_persistent")
variant("flashinfer_gemm_subtiles", gemm, small, **large, name="gemm_descriptor_persistent", EPILOGUE_SUBTILE=True)
variant("flashinfer_gemm_fp8", gemm, small, **large, name="gemm_persistent", kind="fp8")
variant("flashinfer_gemm_descriptor_fp8", gemm, small, **large, name="gemm_descriptor_persistent", kind="fp8")

rows = dict(tokens=9, width=256)


@operation(rows, tokens=16384, width=14336)
def flashinfer_silu_and_mul(tokens, width):
    import torch

    x, scale, f = rand(tokens, 2 * width), uniform(1), flashinfer("activation").silu_and_mul
    return lambda: [f(x), f(x, o_scale=scale, dtype=torch.float8_e4m3fn)]


@operation(rows, tokens=16384, width=4096)
def flashinfer_norms(tokens, width):
    import torch

    x, residual, w, m = rand(tokens, width), rand(tokens, width), rand(width), flashinfer("norm")

    def step():
        a, b, out = x.clone(), residual.clone(), torch.empty_like(x)
        m.rms_norm(x, w, out, 1e-6)
        m.rms_norm_add_residual(a, b, w, 1e-6)
        return [out, a, b]

    return step


few_states = dict(tokens=9, heads=4, dim=64)


@operation(few_states, tokens=8192, heads=32, dim=128)
def flashinfer_merge_states(tokens, heads, dim, count=4):
    v, s, m = rand(tokens, count, heads, dim), uniform(tokens, count, heads), flashinfer("cascade")
    a, b, p, q = [t.contiguous() for t in (v[:, 0], v[:, 1], s[:, 0], s[:, 1])]

    def step():
        x, y = a.clone(), p.clone()
        m.merge_state_in_place(x, y, b, q)
        return [*m.merge_state(a, p, b, q), x, y, *m.merge_states(v, s)]

    return step


@operation(dict(counts=[3, 1, 5, 2], heads=4, dim=64), counts=[1 + i % 7 for i in range(8192)], heads=32, dim=128)
def flashinfer_merge_variable_states(counts, heads, dim):
    v, s = rand(sum(counts), heads, dim), uniform(sum(counts), heads)
    f, ends = flashinfer("cascade").variable_length_merge_states, offsets(counts)
    return lambda: [*f(v, s, ends)]
