"""How vLLM samples tokens."""

import types

from serving_operations.inputs import vllm
from sized_operations import ints, list_of, operation, permutation, rand, uniform, variant


def sampling(batch, vocabulary, k, p):
    logits = rand(batch, vocabulary, dtype="float32", scale=3.0)
    top = ints(1, k, batch) if k else None
    share = uniform(batch) * 0.5 + 0.5 if p else None
    f = vllm("v1.sample.ops.topk_topp_triton").apply_top_k_top_p_triton

    def step():
        made = f(logits.clone(), top, share)
        return [made.clamp(min=-100), (made > -100).sum(-1)]

    return step


small_sampling = dict(batch=2, vocabulary=2500)
variant("vllm_sample_topp", sampling, small_sampling, batch=128, vocabulary=128256, k=0, p=True)
variant("vllm_sample_topk_topp", sampling, small_sampling, batch=128, vocabulary=151936, k=1000, p=True)


@operation(dict(batch=3, vocabulary=2500), batch=64, vocabulary=128256, drafts=5)
def vllm_rejection_sampling(batch, vocabulary, drafts):
    import torch

    tokens = batch * drafts
    ids, targets = ints(0, vocabulary, tokens), rand(tokens, vocabulary, dtype="float32", scale=3.0)
    draft = torch.softmax(rand(tokens, vocabulary, dtype="float32", scale=3.0), -1)
    ends, bonus = list_of([drafts * (i + 1) for i in range(batch)]), ints(0, vocabulary, batch, 1)
    about = types.SimpleNamespace(all_greedy=False, all_random=True, temperature=uniform(batch) + 0.5, generators={})
    f = vllm("v1.sample.rejection_sampler").rejection_sample
    return lambda: [f(ids, [drafts] * batch, drafts, ends, draft, targets, bonus, about)]


@operation(dict(tokens=3, vocabulary=2500), tokens=256, vocabulary=128256)
def vllm_gumbel_sampling(tokens, vocabulary):
    logits, index = rand(tokens, vocabulary, dtype="float32"), permutation(tokens)
    temperature, seeds, at = uniform(tokens) + 0.5, ints(0, 2**31, tokens, dtype="int64"), ints(0, 4096, tokens)
    f = vllm("v1.worker.gpu.sample.gumbel").gumbel_sample
    return lambda: [f(logits, index, temperature, seeds, at, True, False)]


@operation(dict(tokens=3, vocabulary=2560), tokens=256, vocabulary=128256)
def vllm_penalties(tokens, vocabulary):
    logits, index, ids = rand(tokens, vocabulary), permutation(tokens), ints(0, vocabulary, tokens)
    repeated, frequent, present = [uniform(tokens) + 1.0 for _ in "rfp"]
    prompts, counts = ints(-(2**31), 2**31 - 1, tokens, -(-vocabulary // 32)), ints(0, 3, tokens, vocabulary)
    at = ints(0, 1, tokens)
    f = vllm("v1.worker.gpu.sample.penalties").apply_penalties

    def step():
        made = logits.clone()
        f(made, index, ids, at, repeated, frequent, present, prompts, counts)
        return [made]

    return step


@operation(dict(tokens=3, vocabulary=2500), tokens=256, vocabulary=128256)
def vllm_log_probabilities(tokens, vocabulary):
    logits, ids = rand(tokens, vocabulary, dtype="float32", scale=3.0), ints(0, vocabulary, tokens, 21)
    f = vllm("v1.worker.gpu.sample.logprob").compute_token_logprobs
    return lambda: [f(logits, ids)]
