#!/usr/bin/env python3
"""Times operations of libraries of attention, quantised matmuls, mixtures of experts, norms and losses on one NVIDIA
GPU, forward and backward where they have both, and compares what two compilers made of their Triton kernels, at the
shapes of Llama 3, Qwen3, DeepSeek V3, Mixtral and Flux, prefill and decode. Needs torch, triton, einops and, in one
folder, the packages xformers (ca6d2aa0), mslk (2a3c897), flash_attn (0251105a), sageattention (d1a57a5),
transformer_engine (d0067d0da), native_sparse_attention (bd67af5), minference (fb56c91), applied_ai (2391954, its folder
kernels), gptqmodel (f4c327a17), conch (e2c5ecf), gemlite (1a6815d), lightllm (fc72ffab) and aiter (e4048607a5). Their
Python files are enough, with the JSON files of tuned configurations; nothing of them is installed. flash_attn's kernels
are for older versions of Triton: in its files `tl.dot(a, b, trans_b=True)` must be written `tl.dot(a, tl.trans(b))`,
and `tl.libdevice` `tl.math`.

The kernels of flag_attn (ee91638), trident (6c429c6), stk (7363137), colossalai (4f9953be3), deepspeed (edaa72212) and
flashinfer (fb28d7242) need their Python files only.

    export PUBLIC=FOLDER
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t library_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s library_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    library_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

What it prints, SMALL=1 and MODULES=FILE: as serving_kernels.py. PART=I/N runs each N-th operation of the list, from the
I-th, so that several processes can compile with one TRITON_CACHE_DIR before the times are taken; LIMIT=SECONDS ends an
operation that takes longer, its compilation included.

    SMALL=1 python -m tessera.triton check --target interpreter library_kernels.py
"""

import os

import library_operations  # registers the operations
from library_operations.packages import prepare
from sized_operations import run_libraries


def part(names):
    """Those that PART chooses."""
    first, step = map(int, os.environ.get("PART", "0/1").split("/"))
    return names[first::step]


if __name__ == "__main__":
    run_libraries(__doc__, prepare, part, after_pruning=True)
