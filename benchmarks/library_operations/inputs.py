"""What operations of several libraries share: inputs, and sizes."""

from sized_operations import ints, permutation, rand, uniform


def leaf(*shape, **options):
    return rand(*shape, **options).requires_grad_()


def int8(*shape):
    return ints(-127, 128, *shape, dtype="int8")


def fp8(*shape, scale=1.0):
    return rand(*shape, dtype="float8_e4m3fn", scale=scale)


def words(*shape):
    """Packed integers of few bits."""
    return ints(-(2**31), 2**31 - 1, *shape)


def experts_of(tokens, experts, topk):
    """The weights of the best experts of each token, and which they are."""
    import torch

    weights, ids = torch.softmax(rand(tokens, experts, dtype="float32"), -1).topk(topk, -1)
    return weights, ids.int()


def pages_of(lengths, page):
    """How many pages there are, and the pages of each sequence in any order."""
    longest = -(-max(lengths) // page)
    return len(lengths) * longest, permutation(len(lengths) * longest).view(len(lengths), longest)


def scaled_int4(rows, columns, groups):
    """Scales of groups of weights along the rows, float16."""
    return (uniform(rows // groups, columns) * 0.01).half()


# ---- sizes ----

small_matmul = dict(m=70, n=128, k=256)
few_sizes = dict(sizes=[64, 0, 128], n=256, k=256)
few_experts = dict(tokens=12, experts=4, topk=2, hidden=256, width=128)
qwen = dict(experts=128, topk=8, hidden=2048, width=768)  # Qwen3-30B-A3B
long_lengths = [4096 - 50 * i for i in range(64)]
