"""Operations of libraries, a module for each library (library_kernels.py runs them). They are numbered, for PART, in
the order of these imports, which formatters must not sort."""

from library_operations import (
    xformers,
    flash_attn,
    sageattention,
    transformer_engine,
    native_sparse_attention,
    minference,
    applied_ai,
    mslk,
    gptqmodel,
    gemlite,
    conch,
    lightllm,
    aiter,
    flag_attn,
    trident,
    stk,
    colossalai,
    deepspeed,
    flashinfer,
)
