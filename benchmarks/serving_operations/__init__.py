"""Operations of libraries that serve and quantise large language models (serving_kernels.py runs them). They are listed
in the order of these imports, which formatters must not sort."""

from serving_operations import (
    vllm_attention,
    vllm_experts,
    vllm_matmul,
    vllm_states,
    vllm_sampling,
    sglang_attention,
    sglang_experts,
    triton_kernels,
    torchao,
    bitsandbytes,
)
