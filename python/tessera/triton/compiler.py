"""What Triton imports as the compiler of a back end named "tessera". Importing it wraps Triton's own back ends.

The class serves no target: kernels are compiled by Triton's classes for "cuda" and "hip", whose stages are ours.
"""

from __future__ import annotations

from typing import Any

from triton.backends.compiler import BaseBackend, GPUTarget

from . import _wrap


class TesseraBackend(BaseBackend):
    """Never instantiated: `supports_target` is false for all targets that exist."""

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "tessera"

    def hash(self) -> str:
        return "tessera"

    def parse_options(self, options: dict[str, Any]) -> object:
        return options

    def add_stages(self, stages: dict[str, Any], options: object, language: Any = None) -> None:
        pass

    def load_dialects(self, context: Any) -> None:
        pass

    def get_module_map(self) -> dict[str, Any]:
        return {}


_wrap.install()
