"""Operations of gemlite."""

from library_operations.inputs import small_matmul
from library_packages import Library
from sized_operations import ints, rand, uniform, variant

gemlite = Library("gemlite")


def gemlite_linear(m, n, k, kind, bits=4, group=128):
    """A linear layer of the library, with its choice of kernel for m rows."""
    import torch

    g, x = gemlite("helper"), rand(m, k, dtype="float16")
    half = torch.float16
    if kind == "weights":
        w, scales = ints(0, 2**bits, n, k, dtype="uint8"), uniform(n, k // group).half() * 0.01
        layer = g.A16Wn(device="cuda", dtype=half).from_weights(w, scales.view(-1, 1), scales.view(-1, 1), bits, group)
    elif kind == "mxfp4":
        layer = gemlite_mxfp4(g, n, k)
    else:
        make_layer = g.A8W8_int8_dynamic if kind == "int8" else g.A8W8_fp8_dynamic
        layer = make_layer(device="cuda", dtype=half).from_weights(rand(n, k, dtype="float16", scale=0.1))
    return lambda: [layer(x)]


def gemlite_mxfp4(g, n, k):
    import torch

    w, scales = ints(0, 16, n, k, dtype="uint8"), ints(120, 126, n, k // 32, dtype="uint8")
    maker = g.A16Wn(device="cuda", dtype=torch.float16)
    return maker.from_weights(w, scales.view(torch.float8_e8m0fnu), None, 4, 32, quant_type="MXFP")


variant("gemlite_int4_vector", gemlite_linear, dict(m=1, n=128, k=512), m=1, n=14336, k=4096, kind="weights")
variant("gemlite_int4_decode", gemlite_linear, small_matmul, m=32, n=14336, k=4096, kind="weights")
variant("gemlite_int4_prefill", gemlite_linear, small_matmul, m=2048, n=14336, k=4096, kind="weights")
variant("gemlite_int2_decode", gemlite_linear, small_matmul, m=16, n=14336, k=4096, kind="weights", bits=2, group=64)
variant("gemlite_int8_vector", gemlite_linear, dict(m=1, n=128, k=512), m=1, n=14336, k=4096, kind="weights", bits=8)
variant("gemlite_int8_prefill", gemlite_linear, small_matmul, m=4096, n=14336, k=4096, kind="int8")
variant("gemlite_fp8_prefill", gemlite_linear, small_matmul, m=4096, n=14336, k=4096, kind="fp8")
variant("gemlite_mxfp4_decode", gemlite_linear, small_matmul, m=32, n=14336, k=4096, kind="mxfp4")
