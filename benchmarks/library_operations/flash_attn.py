"""Operations of flash_attn."""

from library_operations.inputs import leaf
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import ints, offsets, operation, rand, variant

flash = Library("flash_attn")


def flash_attention(batch, length, heads, dim, causal, bias=None):
    q, k, v = [leaf(batch, length, heads, dim) for _ in "qkv"]
    b = rand(batch if bias == "vector" else 1, heads, 1 if bias == "vector" else length, length) if bias else None
    f = flash("flash_attn_triton").flash_attn_func
    return with_gradients(lambda: f(q, k, v, b, causal, dim**-0.5), [q, k, v])


small_attention = dict(batch=1, length=130, heads=2)
variant("flash_attention_causal", flash_attention, small_attention, batch=2, length=4096, heads=16, dim=128,
        causal=True)  # fmt: skip
variant("flash_attention_sd", flash_attention, small_attention, batch=2, length=4096, heads=10, dim=64, causal=False)
variant("flash_attention_bias", flash_attention, small_attention, batch=2, length=2048, heads=16, dim=64, causal=False,
        bias="matrix")  # fmt: skip


def flash_norm(tokens, width, rms=False, **options):
    """A norm of the sum with the residual, which is returned, too, with dropout or with a second weight."""
    import torch

    x, r, w = leaf(tokens, width), leaf(tokens, width, dtype="float32"), leaf(width, dtype="float32")
    leaves = [x, r, w]
    if not rms:
        options["bias"] = leaf(width, dtype="float32")
        leaves.append(options["bias"])
    f = flash("ops.triton.layer_norm")
    function = f.rms_norm_fn if rms else f.layer_norm_fn
    options = dict(bias=None) | options

    def forward():
        torch.manual_seed(2)
        return function(x, w, residual=r, prenorm=True, residual_in_fp32=True, **options)

    return with_gradients(forward, leaves)


small_norm = dict(tokens=20, width=256)
variant("flash_layer_norm_residual", flash_norm, small_norm, tokens=8192, width=4096)
variant("flash_rms_norm_residual", flash_norm, small_norm, tokens=8192, width=8192, rms=True)
variant("flash_layer_norm_dropout", flash_norm, small_norm, tokens=8192, width=2048, dropout_p=0.1)


def flash_rotary(lengths, heads, dim, interleaved):
    x = rand(sum(lengths), heads, dim)
    cos, sin = [rand(max(lengths), dim // 2) for _ in "cs"]
    starts, f = offsets(lengths), flash("ops.triton.rotary").apply_rotary
    options = dict(cu_seqlens=starts, max_seqlen=max(lengths), interleaved=interleaved)
    return lambda: [f(x, cos, sin, **options), f(x, cos, sin, conjugate=True, **options)]


small_rotary = dict(lengths=[30, 9], heads=3, dim=64)
variant("flash_rotary", flash_rotary, small_rotary, lengths=[8192, 4000, 4192], heads=32, dim=128, interleaved=False)
variant("flash_rotary_interleaved", flash_rotary, small_rotary, lengths=[8192, 4000, 4192], heads=32, dim=128,
        interleaved=True)  # fmt: skip


@operation(dict(tokens=9, vocabulary=3000), tokens=4096, vocabulary=128256)
def flash_cross_entropy(tokens, vocabulary):
    logits, labels = leaf(tokens, vocabulary), ints(0, vocabulary, tokens, dtype="int64")
    f = flash("ops.triton.cross_entropy").cross_entropy_loss
    return with_gradients(lambda: f(logits, labels, label_smoothing=0.1, lse_square_scale=1e-4), [logits])


def flash_linear(m, n, k, activation):
    """A linear layer with its activation, and the gradient of its input with that of the activation."""
    x, w, bias, grad = rand(m, k), rand(n, k, scale=0.03), rand(n), rand(m, k)
    f = flash("ops.triton.linear")

    def step():
        y, before = f.triton_linear_act(x, w, bias, activation=activation, save_act_input=True)
        return [y, f.triton_dgrad_act(grad, w.t().contiguous(), activation=activation, act_input=before)]

    return step


small_matmul = dict(m=128, n=256, k=256)
variant("flash_linear_gelu", flash_linear, small_matmul, m=8192, n=8192, k=2048, activation="gelu_approx")
variant("flash_linear_squared_relu", flash_linear, small_matmul, m=8192, n=8192, k=2048, activation="squared_relu")
