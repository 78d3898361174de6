"""Operations of TransformerEngine."""

from library_operations.inputs import experts_of, leaf
from library_packages import Library
from profiled_operations import with_gradients
from sized_operations import ints, list_of, operation, rand, uniform, zeros

te = Library("transformer_engine.pytorch.triton")


def routing_map(tokens, experts, topk):
    """A row per token, 1 at its experts, and the weights in the same places."""
    weights, ids = experts_of(tokens, experts, topk)
    where = zeros(tokens, experts, dtype="int32").scatter_(1, ids.long(), 1)
    return where, zeros(tokens, experts, dtype="float32").scatter_(1, ids.long(), weights)


small_experts = dict(tokens=40, experts=8, topk=2, hidden=256)


@operation(small_experts, tokens=8192, experts=256, topk=8, hidden=7168)
def te_permute(tokens, experts, topk, hidden):
    """Tokens sorted by expert, and back, merged by weight, with the gradients of the merge."""
    where, weights = routing_map(tokens, experts, topk)
    x, grad, n, f = rand(tokens, hidden), rand(tokens, hidden), tokens * topk, te("permutation")

    def step():
        rows = f.make_row_id_map(where, tokens, experts)
        sizes = tokens, experts, n, hidden
        made, _, probs = f.permute_with_mask_map(x, rows, weights, None, None, *sizes, None)
        back, _ = f.unpermute_with_mask_map(made, rows, weights, None, None, tokens, experts, hidden)
        grads = f.unpermute_with_mask_map_bwd_with_merging_probs(grad, rows, made, weights, None, *sizes)
        return [made, probs, back, *grads]

    return step


@operation(small_experts, tokens=65536, experts=32, topk=8, hidden=7168)
def te_sort_chunks(tokens, experts, topk, hidden):
    """The order of chunks from ranks by experts is changed to experts by ranks."""
    import torch

    splits = list_of([tokens // (experts * topk)] * (experts * topk))
    order = torch.arange(experts * topk, device="cuda").view(topk, experts).t().flatten().int().contiguous()
    n, f = int(splits.sum()), te("permutation")
    x, probs = rand(n, hidden), uniform(n)

    def step():
        rows = f.make_chunk_sort_map(splits, order, n, experts * topk)
        return list(f.sort_chunks_by_map(x, rows, probs, n, hidden, True))

    return step


@operation(dict(tokens=9, vocabulary=3000), tokens=4096, vocabulary=128256)
def te_cross_entropy(tokens, vocabulary):
    logits, target = rand(1, tokens, vocabulary), ints(0, vocabulary, 1, tokens, dtype="int64")
    f, weights = te("cross_entropy"), uniform(1, tokens)

    def step():
        loss, grad = f.cross_entropy_forward(logits.clone(), target, 0.1, False, None, -100)[:2]
        return [loss, f.cross_entropy_backward(grad, weights)]

    return step


small_streams = dict(tokens=40, width=64)


@operation(small_streams, tokens=4096, width=7168)
def te_mhc_projection(tokens, width, n=4):
    """The mixes of n residual streams (hyper-connections) from a projection of all of them."""
    x, phi = leaf(tokens, n * width), leaf(n * n + 2 * n, n * width, dtype="float32", scale=0.01)
    f = te("mhc").mhc_fused_projection
    return with_gradients(lambda: f(x, phi), [x, phi])


@operation(small_streams, tokens=4096, width=7168)
def te_mhc_aggregate(tokens, width, n=4):
    x, h = leaf(tokens, 1, width, n), leaf(tokens, 1, n, dtype="float32")
    f = te("mhc").mhc_fused_aggregate
    return with_gradients(lambda: f(x, h, n), [x, h])


@operation(small_streams, tokens=4096, width=7168)
def te_mhc_expand(tokens, width, n=4):
    x, y, bias = leaf(tokens, 1, width, n), leaf(tokens, 1, width), leaf(width)
    post, res = leaf(tokens, 1, n, dtype="float32"), leaf(tokens, 1, n, n, dtype="float32")
    f = te("mhc").mhc_fused_expand_combine
    return with_gradients(lambda: f(y, bias, post, x, res, n), [x, y, bias, post, res])


@operation(dict(tokens=40), tokens=65536)
def te_mhc_sinkhorn(tokens, n=4):
    h, f = leaf(tokens, 1, n, n, dtype="float32"), te("mhc").mhc_fused_sinkhorn
    return with_gradients(lambda: f(h, n), [h])
