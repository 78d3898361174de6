#!/usr/bin/env python3
"""Times the operations of flash-linear-attention (gated delta rule, KDA, RWKV, GLA, ...), forward and backward, on one
NVIDIA GPU, and compares what two compilers made of its Triton kernels. Needs torch, triton, einops and a checkout of
https://github.com/fla-org/flash-linear-attention, whose list of operations (benchmarks/ops/registry.py) it takes, and
adds others: linear_attention_operations.py.

    export FLA=CHECKOUT FLA_CACHE_MODE=disabled
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t linear_attention.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s linear_attention.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    linear_attention.py --compare triton.jsonl tessera.jsonl t.pt s.pt

Each autotuned kernel is compiled in at most four of its configurations, spread over their list. A line per operation:
microseconds of each kernel by torch's profiler, mean of five steps, and seconds of the first step. A ratio above 1
means that the second file's code is faster; "difference" is the largest relative one (Frobenius norm) of the output and
the gradients.
"""

import importlib
import os
import sys

import profiled_operations

SHAPE = {"B": 2, "T": 4096, "H": 16, "D": 128}  # batch, length, heads, width of a head


def listed(name, config, generate_inputs):
    """An operation of the library's list."""
    import torch

    shape = dict(next(iter(config.default_shapes.values())) if config.default_shapes else SHAPE)
    function = getattr(importlib.import_module(config.import_path), config.func_name or name)
    inputs = generate_inputs(config, **shape)
    values = [t for v in inputs.values() for t in (v if isinstance(v, list) else [v]) if torch.is_tensor(t)]

    def forward():
        made = function(**inputs, **config.extra_kwargs)
        return made[0] if config.output_is_tuple else made

    return (lambda: [forward()]) if config.skip_backward else profiled_operations.with_gradients(forward, values)


def main():
    parser, options = profiled_operations.arguments(__doc__)
    if "FLA" not in os.environ:
        parser.error("FLA must name a checkout of flash-linear-attention")
    sys.path.insert(0, os.environ["FLA"])
    # Without transformers, fla imports no models. Transformers parses the version of torchao, which is "unknown" if
    # only its sources are on the path, and the import fails.
    sys.modules["transformers"] = None
    profiled_operations.keep_few_configurations(4)
    from benchmarks.ops.registry import generate_inputs, get_op, list_ops
    from linear_attention_operations import OPERATIONS

    def make(name):
        return OPERATIONS[name]() if name in OPERATIONS else listed(name, get_op(name), generate_inputs)

    # Attention of another library, and one without kernels.
    names = [n for n in list_ops() if n not in ("flash_attn", "naive_attnres")]
    names = profiled_operations.chosen(names + list(OPERATIONS), options.operations)
    profiled_operations.run(names, make, options.save)


if __name__ == "__main__":
    main()
