"""Tessera as the compiler behind Triton.

The package is an entry point of the group `triton.backends`: `import triton` imports `compiler` and `driver` of it,
which wrap the stages of Triton's NVIDIA and AMD back ends. Nothing has to be called. The environment variable
`TESSERA_TRITON` says what is done:

    1       (default) kernels are compiled by tessera; those that it refuses by Triton, once, with the reason in
            `kernel.metadata.compiled_by`
    0       nothing is changed
    strict  as 1, but a refusal is an exception
    verify  as 1; the first launch of each kernel also runs Triton's code on copies of the arguments, and tessera's is
            kept only if the results agree

`TESSERA_TRITON_SUMMARY=1` prints at exit what was compiled by whom, and why not by tessera;
`python -m tessera.triton report` says it of Triton's cache. `emulate` runs kernels without a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import names_of

if TYPE_CHECKING:
    from ._emulate import HostArray, KernelFault, emulate
    from ._record import Record, records, summary

__getattr__, __all__ = names_of(
    __name__,
    {"_emulate": ("HostArray", "KernelFault", "emulate"), "_record": ("Record", "records", "summary")},
)
