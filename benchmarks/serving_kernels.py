#!/usr/bin/env python3
"""Times operations of libraries that serve and quantise large language models on one NVIDIA GPU, and compares what two
compilers made of their Triton kernels: vLLM, SGLang, triton_kernels (the mixtures of experts of Triton's repository, as
gpt-oss uses them), torchao and bitsandbytes, at the shapes of Llama 3, DeepSeek V3, Qwen3, Mixtral and gpt-oss, prefill
and decode. Needs torch, triton, einops and, in one folder, the packages vllm (0.33.0), sglang (0.5.23), triton_kernels
(Triton's f87ae465c, for 3.6), torchao (36027d82d) and bitsandbytes (95f9af30). Their Python files are enough, with the
JSON files of tuned configurations; nothing of them is installed.

    export PUBLIC=FOLDER
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t serving_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s serving_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    serving_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

What it prints: public_kernels.py; of large results a part of the rows is compared. With SMALL=1 each operation runs
once at a size that emulators can bear, and a line has the norms of its results; MODULES=FILE lists the files of the
libraries that were imported:

    SMALL=1 python -m tessera.triton check --target interpreter serving_kernels.py
"""

import serving_operations  # registers the operations
from serving_operations.packages import prepare
from sized_operations import run_libraries

if __name__ == "__main__":
    run_libraries(__doc__, prepare)
