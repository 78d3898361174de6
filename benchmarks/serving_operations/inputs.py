"""What operations of several modules share: the libraries, inputs, and sizes."""

from library_packages import Library
from sized_operations import rand

vllm = Library("vllm")
sglang = Library("sglang.kernels.ops")


def experts_of(tokens, experts, topk):
    import torch

    return torch.softmax(rand(tokens, experts, dtype="float32"), -1).topk(topk, -1)


def aligned(ids, block, experts):
    """Rows of the tokens of each expert, padded to blocks, the experts of the blocks, and how many rows there are."""
    import torch

    flat = ids.flatten().long()
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=experts)
    padded = (counts + block - 1) // block * block
    most = -(-(flat.numel() + min(experts, flat.numel()) * (block - 1)) // block) * block
    rows = torch.full((most,), flat.numel(), dtype=torch.int32, device="cuda")
    within = torch.arange(flat.numel(), device="cuda") - (counts.cumsum(0) - counts)[flat[order]]
    rows[(padded.cumsum(0) - padded)[flat[order]] + within] = order.int()
    blocks = torch.arange(0, most, block, device="cuda")
    owner = torch.searchsorted(padded.cumsum(0), blocks, right=True).clamp(max=experts - 1).int()
    return rows, owner, padded.sum().int().view(1)


# ---- sizes ----

few_experts = dict(tokens=12, experts=4, topk=2, hidden=256, width=128)
qwen = dict(experts=128, topk=8, hidden=2048, width=768)  # Qwen3-30B-A3B
mixtral = dict(experts=8, topk=2, hidden=4096, width=3584)  # 8x7B, a quarter
small_matmul = dict(m=20, n=128, k=256)
