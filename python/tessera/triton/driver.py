"""What Triton imports as the driver of a back end named "tessera": never active, launches are Triton's own."""

from __future__ import annotations

from typing import Any

from triton.backends.driver import DriverBase


class TesseraDriver(DriverBase):
    @classmethod
    def is_active(cls) -> bool:
        return False

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise NotImplementedError

    def get_current_target(self) -> Any:
        raise NotImplementedError

    def get_active_torch_device(self) -> Any:
        raise NotImplementedError

    def get_benchmarker(self) -> Any:
        raise NotImplementedError
