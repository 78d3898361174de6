"""Operations of triton_kernels."""

from library_packages import Library
from sized_operations import list_of, operation, rand, variant, zeros

kernels = Library("triton_kernels")


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
