"""The models of `torch_compile.py`: blocks of well-known networks at their usual widths, few layers, random weights.

`MODELS[name]()` gives the model in the host's memory, its inputs, and a function from output and inputs to a loss.
Nothing is downloaded. ResNet-50 and the ViT come from timm or torchvision, the language models from transformers; a
package that is missing is the model's row in the table.
"""

import torch
from torch import nn


class Attention(nn.Module):
    """Multi-head attention over `context`, or over its input."""

    def __init__(self, width, heads, context_width=None):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(context_width or width, 2 * width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x, context=None):
        b, t, width = x.shape
        split = lambda y: y.view(b, -1, self.heads, width // self.heads).transpose(1, 2)
        k, v = self.kv(x if context is None else context).chunk(2, -1)
        y = nn.functional.scaled_dot_product_attention(split(self.q(x)), split(k), split(v))
        return self.out(y.transpose(1, 2).reshape(b, t, width))


# ---- images ----


def images(batch):
    return torch.randn(batch, 3, 224, 224)


def mean_square(y, *_):
    return y.float().square().mean()


def resnet50():
    try:
        import timm

        model = timm.create_model("resnet50", pretrained=False)
    except ImportError:
        import torchvision

        model = torchvision.models.resnet50()
    return model, (images(64),), mean_square


def vit():
    try:
        import timm

        model = timm.create_model("vit_base_patch16_224", pretrained=False, depth=4)
    except ImportError:
        from torchvision.models import VisionTransformer

        model = VisionTransformer(224, 16, 4, 12, 768, 3072)
    return model, (images(64),), mean_square


class UNetBlock(nn.Module):
    """One level of a diffusion U-Net: two residual blocks with the time step, self attention, cross attention with the
    text, a gated feed-forward network; then down, and up again with the skip connection."""

    def __init__(self, width=320, text_width=768):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
        self.first, self.second = Residual(width, width), Residual(2 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.group = nn.GroupNorm(32, width, eps=1e-6)
        self.attention, self.cross = Attention(width, 8), Attention(width, 8, text_width)
        self.up, self.back = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)
        self.smaller, self.larger = nn.Conv2d(width, width, 3, 2, 1), nn.Conv2d(width, width, 3, 1, 1)

    def forward(self, x, time, text):
        angles = time[:, None] * torch.exp(torch.arange(160, device=x.device) * (-9.21 / 160))
        embedded = self.time(torch.cat([angles.cos(), angles.sin()], 1).to(x.dtype))
        x = self.first(x, embedded)
        b, c, h, w = x.shape
        y = self.group(x).flatten(2).transpose(1, 2)
        y = y + self.attention(self.norms[0](y))
        y = y + self.cross(self.norms[1](y), text)
        value, gate = self.up(self.norms[2](y)).chunk(2, -1)
        y = y + self.back(value * nn.functional.gelu(gate))
        x = x + y.transpose(1, 2).reshape(b, c, h, w)
        small = self.smaller(x)
        large = self.larger(nn.functional.interpolate(small, scale_factor=2.0, mode="nearest"))
        return self.second(torch.cat([large, x], 1), embedded)


class Residual(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(32, inputs), nn.GroupNorm(32, outputs)
        self.conv1, self.conv2 = nn.Conv2d(inputs, outputs, 3, 1, 1), nn.Conv2d(outputs, outputs, 3, 1, 1)
        self.time = nn.Linear(320, outputs)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, embedded):
        h = self.conv1(nn.functional.silu(self.norm1(x)))
        h = h + self.time(nn.functional.silu(embedded))[:, :, None, None]
        return self.skip(x) + self.conv2(nn.functional.silu(self.norm2(h)))


def unet():
    inputs = (torch.randn(4, 320, 64, 64), torch.rand(4) * 1000, torch.randn(4, 77, 768))
    return UNetBlock(), inputs, mean_square


# ---- language ----


def tokens(vocabulary, batch=8, length=512):
    return torch.randint(0, vocabulary, (batch, length))


class Logits(nn.Module):
    """A model of transformers as a function of its tokens."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids).logits


def next_token(logits, ids):
    return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    none = dict(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = GPT2LMHeadModel(GPT2Config(n_layer=4, use_cache=False, **none))
    return Logits(model), (tokens(50257),), next_token


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=32000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=4,
                         num_attention_heads=16, num_key_value_heads=8, use_cache=False)  # fmt: skip
    return Logits(LlamaForCausalLM(config)), (tokens(32000),), next_token


def bert():
    from transformers import BertConfig, BertForMaskedLM

    none = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = BertForMaskedLM(BertConfig(num_hidden_layers=4, **none))
    return Logits(model), (tokens(30522, 16),), next_token


class Experts(nn.Module):
    """A transformer block whose feed-forward network is eight experts, two for each token, with a fixed capacity."""

    def __init__(self, width=1024, experts=8, inner=2048):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention, self.router = Attention(width, 16), nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, 2 * inner) * width**-0.5)
        self.down = nn.Parameter(torch.randn(experts, inner, width) * inner**-0.5)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        tokens = self.norm2(x).flatten(0, 1)
        n, experts = tokens.shape[0], self.up.shape[0]
        capacity = n * 2 * 5 // (4 * experts)
        weight, chosen = self.router(tokens).float().softmax(-1).topk(2, -1)
        one_hot = nn.functional.one_hot(chosen.flatten(), experts)  # token 0's first, its second, token 1's first, ...
        place = ((one_hot.cumsum(0) - 1) * one_hot).sum(-1)
        at = torch.where(place < capacity, chosen.flatten() * capacity + place, experts * capacity)
        source = torch.arange(n, device=x.device).repeat_interleave(2)
        held = tokens.new_zeros(experts * capacity + 1, tokens.shape[1]).index_copy(0, at, tokens[source])
        gate, value = torch.bmm(held[:-1].view(experts, capacity, -1), self.up.to(held.dtype)).chunk(2, -1)
        made = torch.bmm(nn.functional.silu(gate) * value, self.down.to(held.dtype)).flatten(0, 1)
        made = torch.cat([made, made.new_zeros(1, made.shape[1])])[at]
        made = (made * weight.flatten()[:, None].to(made.dtype)).view(n, 2, -1).sum(1)
        return x + made.view_as(x)


def moe():
    return Experts(), (torch.randn(8, 512, 1024),), mean_square


class Flex(nn.Module):
    """Grouped-query attention by flex_attention: causal, a window of 256, biases that grow with the distance."""

    def __init__(self, width=1024, heads=16, groups=4, length=1024):
        super().__init__()
        self.heads, self.groups, self.length, self.mask = heads, groups, length, None
        self.qkv = nn.Linear(width, width + 2 * groups * width // heads)
        self.out, self.norm = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x):
        from torch.nn.attention.flex_attention import flex_attention

        b, t, width = x.shape
        head = width // self.heads
        q, k, v = self.qkv(self.norm(x)).split([width, self.groups * head, self.groups * head], -1)
        split = lambda y: y.view(b, t, -1, head).transpose(1, 2)

        def bias(score, b, h, i, j):
            return score - (i - j) * torch.exp2(-8.0 * (h + 1) / self.heads)

        y = flex_attention(split(q), split(k), split(v), score_mod=bias, block_mask=self.mask, enable_gqa=True)
        return x + self.out(y.transpose(1, 2).reshape(b, t, width))

    def prepare(self, device):
        from torch.nn.attention.flex_attention import create_block_mask

        near = lambda b, h, i, j: (j <= i) & (i - j < 256)
        self.mask = create_block_mask(near, None, None, self.length, self.length, device=device)


def flex():
    return Flex(), (torch.randn(8, 1024, 1024),), mean_square


MODELS = {
    "gpt2": gpt2,
    "llama": llama,
    "unet": unet,
    "resnet50": resnet50,
    "flex": flex,
    "moe": moe,
    "vit": vit,
    "bert": bert,
}
