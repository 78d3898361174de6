"""Operations of flash-linear-attention that its own list of benchmarks lacks: attention with decay, recurrent forms and
the layers around them. A function of this table gives an operation (profiled_operations.py) at the sizes of
linear_attention.py: bf16, batch 2, length 4,096, 16 heads of 128, unless it says otherwise."""

import torch
import torch.nn.functional as F
from profiled_operations import with_gradients

B, T, H, D = 2, 4096, 16, 128
ROWS, HIDDEN, VOCABULARY = B * T, H * D, 32000


def normal(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def leaf(tensor):
    return tensor.detach().requires_grad_()


def heads(count=3, width=D, length=T):
    return [leaf(normal(B, length, H, width)) for _ in range(count)]


def unit(tensor):
    return F.normalize(tensor.float(), dim=-1).to(tensor.dtype)


def decay(*shape, dtype=torch.float32):
    """Logarithms of numbers below 1."""
    return leaf(F.logsigmoid(normal(*shape, dtype=torch.float32)).to(dtype))


def trained(function, *leaves, **constants):
    """Forward and backward; `leaves` are the positional arguments."""
    return with_gradients(lambda: function(*leaves, **constants), [t for t in leaves if t is not None])


def without_gradients(function, *arguments, **options):
    def step():
        with torch.no_grad():
            made = function(*arguments, **options)
        return [made[0] if isinstance(made, tuple) else made]

    return step


def path_attention():
    from fla.ops.path_attn import parallel_path_attn

    q, k, v = heads()
    w, beta = leaf(unit(normal(B, T, H, D)).float()), leaf(normal(B, T, H, dtype=torch.float32).sigmoid())
    return trained(parallel_path_attn, q, k, v, w, beta)


def forgetting_attention():
    from fla.ops.forgetting_attn import parallel_forgetting_attn

    return trained(parallel_forgetting_attn, *heads(), decay(B, T, H, dtype=torch.bfloat16))


def log_linear_attention():
    from fla.ops.log_linear_attn import chunk_log_linear_attn

    q, k, v = normal(B, T, 1, D), normal(B, T, 1, D), normal(B, T, H, D)
    levels = normal(B, T, H, T.bit_length())
    return without_gradients(chunk_log_linear_attn, q, k, v, decay(B, T, H), levels)


def deltaformer():
    from fla.ops.deltaformer import deltaformer_attn

    return trained(deltaformer_attn, *heads(length=2048), leaf(normal(B, 2048, H).sigmoid()))


def mesa_net():
    from fla.ops.mesa_net import chunk_mesa_net

    q, k, v = normal(B, T, H, D) / 10, unit(normal(B, T, H, D)), normal(B, T, H, D) / 10
    g, beta = decay(B, T, H), leaf(normal(B, T, H).sigmoid())
    return trained(chunk_mesa_net, leaf(q), leaf(k), leaf(v), g, beta, leaf(normal(H, D).sigmoid() * 0.75 + 0.25))


def gated_memory():
    from fla.ops.gsa import chunk_gsa

    width = 64
    return trained(chunk_gsa, *heads(), leaf(normal(B, T, H, width)), decay(B, T, H, width, dtype=torch.bfloat16))


def taylor_attention():
    from fla.ops.based import parallel_based

    q, k, v = (leaf(normal(B, H, T, w)) for w in (16, 16, D))
    return trained(parallel_based, q, k, v)


def test_time_training():
    from fla.ops.ttt import chunk_ttt_linear

    q, k, v = normal(B, T, H, 64), unit(normal(B, T, H, 64)), normal(B, T, H, 64)
    w, b, eta = normal(H, 64), normal(H, 64), normal(B, T, H, 1) * 5e-3
    return trained(chunk_ttt_linear, *(leaf(t) for t in (q, k, v, w, b, eta)))


def gated_delta_rule_by_channel():
    from fla.ops.gdn2 import chunk_gdn2

    q, k, v = leaf(normal(B, T, H, D)), leaf(normal(B, T, H, D)), leaf(normal(B, T, H, D) / 2)
    b, w = leaf(normal(B, T, H, D).sigmoid()), leaf(normal(B, T, H, D).sigmoid())
    return trained(chunk_gdn2, q, k, v, decay(B, T, H, D), b, w, use_qk_l2norm_in_kernel=True)


def wall_attention():
    from fla.ops.wall_attn import parallel_wall_attn

    return trained(parallel_wall_attn, *heads(), leaf(-normal(B, T, H, D).abs() / 100))


def chunk_hgrn():
    from fla.ops.hgrn import chunk_hgrn as function

    return trained(function, leaf(normal(B, T, HIDDEN)), decay(B, T, HIDDEN, dtype=torch.bfloat16))


def parallel_retention():
    from fla.ops.retention import parallel_retention as function

    return trained(function, *heads())


def parallel_simple_gla():
    from fla.ops.simple_gla import parallel_simple_gla as function

    return trained(function, *heads(), decay(B, T, H))


def fused_chunk_simple_gla():
    from fla.ops.simple_gla import fused_chunk_simple_gla as function

    return without_gradients(function, *heads(), decay(B, T, H))


def recurrent_gla():
    from fla.ops.gla import fused_recurrent_gla

    return trained(fused_recurrent_gla, *heads(length=1024), decay(B, 1024, H, D))


def recurrent_gated_delta_rule():
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule

    q, k, v = heads(length=1024)
    options = {"g": decay(B, 1024, H), "beta": normal(B, 1024, H).sigmoid(), "use_qk_l2norm_in_kernel": True}
    return without_gradients(fused_recurrent_gated_delta_rule, q, k, v, **options)


def recurrent_kda():
    from fla.ops.kda import fused_recurrent_kda

    q, k, v = heads(length=1024)
    options = {"g": decay(B, 1024, H, D), "beta": normal(B, 1024, H).sigmoid(), "use_qk_l2norm_in_kernel": True}
    return without_gradients(fused_recurrent_kda, q, k, v, **options)


def recurrent_rwkv7():
    from fla.ops.rwkv7 import fused_recurrent_rwkv7

    r, k, v, a = (normal(B, 1024, H, 64) for _ in range(4))
    direction = unit(a)
    w = decay(B, 1024, H, 64, dtype=torch.bfloat16)
    return without_gradients(fused_recurrent_rwkv7, r, w, k, v, -direction, direction * a.sigmoid())


def decode_gated_delta_rule():
    """One token of 128 sequences."""
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule

    q, k, v = (normal(128, 1, H, D) for _ in range(3))
    options = {"g": decay(128, 1, H), "beta": normal(128, 1, H).sigmoid()}
    state = normal(128, H, D, D, dtype=torch.float32)
    return without_gradients(fused_recurrent_gated_delta_rule, q, k, v, initial_state=state, **options)


def short_convolution():
    from fla.modules.conv.causal_conv1d import causal_conv1d

    def function(x, weight, bias):
        return causal_conv1d(x, weight, bias, activation="silu")

    return trained(function, leaf(normal(B, T, HIDDEN)), leaf(normal(HIDDEN, 4)), leaf(normal(HIDDEN)))


def token_shift():
    from fla.modules.token_shift import token_shift as function

    return trained(function, leaf(normal(B, T, HIDDEN)))


def l2_norm():
    from fla.modules.l2norm import l2norm

    return trained(l2norm, leaf(normal(B, T, H, D)))


def rms_norm_gated():
    from fla.modules.fused_norm_gate import rms_norm_gated as function

    return trained(function, leaf(normal(B, T, H, D)), leaf(normal(B, T, H, D)), leaf(normal(D)), None)


def rms_norm_mamba():
    from fla.modules.layernorm_gated import rmsnorm_fn

    def function(x, weight, z):
        return rmsnorm_fn(x, weight, None, z=z, group_size=256, norm_before_gate=False)

    return trained(function, leaf(normal(B, T, HIDDEN)), leaf(normal(HIDDEN)), leaf(normal(B, T, HIDDEN)))


def layer_norm():
    from fla.modules.layernorm import layer_norm as function

    return trained(function, leaf(normal(B, T, HIDDEN)), leaf(normal(HIDDEN)), leaf(normal(HIDDEN)))


def group_norm():
    from fla.modules.layernorm import group_norm as function

    operands = leaf(normal(B, T, HIDDEN)), leaf(normal(HIDDEN)), leaf(normal(HIDDEN))
    return trained(function, *operands, num_groups=H)


def rotary():
    from fla.modules.rotary import rotary_embedding

    angles = torch.outer(torch.arange(T, device="cuda"), 10000 ** -torch.linspace(0, 1, D // 2, device="cuda"))
    cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
    return trained(lambda x: rotary_embedding(x, cos, sin), leaf(normal(B, T, H, D)))


def swiglu():
    from fla.modules.activations import swiglu as function

    return trained(function, leaf(normal(ROWS, 5632)), leaf(normal(ROWS, 5632)))


def swiglu_linear():
    from fla.modules.activations import swiglu_linear as function

    operands = leaf(normal(ROWS, 5632)), leaf(normal(ROWS, 5632)), leaf(normal(HIDDEN, 5632) / 64)
    return trained(lambda x, y, w: function(x, y, w, None), *operands)


def cross_entropy():
    from fla.modules.fused_cross_entropy import cross_entropy_loss

    target = torch.randint(VOCABULARY, (ROWS,), device="cuda")
    return trained(lambda x: cross_entropy_loss(x, target)[0].sum(), leaf(normal(ROWS, VOCABULARY)))


def linear_cross_entropy():
    from fla.modules.fused_linear_cross_entropy import fused_linear_cross_entropy_loss

    target = torch.randint(VOCABULARY, (ROWS,), device="cuda")
    return trained(
        lambda x, w: fused_linear_cross_entropy_loss(x, target, w),
        leaf(normal(ROWS, HIDDEN)),
        leaf(normal(VOCABULARY, HIDDEN) / 64),
    )


def kl_divergence():
    from fla.modules.fused_kl_div import fused_kl_div_loss

    x, target, w, target_w = (normal(*s) / 8 for s in [(ROWS, HIDDEN), (ROWS, HIDDEN)] + [(VOCABULARY, HIDDEN)] * 2)
    return trained(lambda x, w: fused_kl_div_loss(x, target, w, target_w), leaf(x), leaf(w))


def grpo():
    from fla.modules.grpo import fused_grpo_loss

    length = 512
    tokens = torch.randint(VOCABULARY, (8, length), device="cuda")
    reference, advantages = normal(8, length, dtype=torch.float32), normal(8, dtype=torch.float32)
    return trained(
        lambda x: fused_grpo_loss(x, reference, tokens, advantages).float().sum(),
        leaf(normal(8, length + 1, VOCABULARY)),
    )


OPERATIONS = {name: f for name, f in globals().items() if callable(f) and getattr(f, "__module__", "") == __name__}
for helper in ("normal", "leaf", "heads", "unit", "decay", "trained", "without_gradients"):
    del OPERATIONS[helper]
