"""Layouts of tensors, as text and as drawings that a notebook shows."""

from __future__ import annotations

from dataclasses import dataclass

from ._errors import encoded
from ._kernel import result_bytes
from ._library import Handle, call, context


def _draw(layout: str, tensor: str, form: str) -> str:
    result = Handle("tessera_result_destroy")
    texts = encoded("the layout", layout), encoded("the tensor's type", tensor), form.encode()
    call("tessera_layout", context(), *texts, result.out)
    return (result_bytes(result) or b"").decode("utf-8", "replace")


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in the registers of a block's threads, or in shared memory.

    `print(l)` shows who holds each element (`T5:2`: thread 5, register 2); notebooks show the drawing.
    """

    layout: str
    tensor: str

    def __str__(self) -> str:
        return _draw(self.layout, self.tensor, "text")

    def hardware_view(self) -> str:
        """For each thread the elements that it holds, or what stands at each offset of shared memory."""
        return _draw(self.layout, self.tensor, "hardware")

    def svg(self) -> str:
        """A drawing, for tensors of at most 65,536 elements."""
        return _draw(self.layout, self.tensor, "svg")

    def html(self) -> str:
        """A page with the drawing, the linear layout and a legend."""
        return _draw(self.layout, self.tensor, "html")

    _repr_svg_ = svg


def layout(layout: str, tensor: str) -> Layout:
    """A layout by its attribute and the tensor's type.

        tessera.layout("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], "
                       "order = [1, 0]}>", "tensor<4x32xf16>")

    Raises:
        InputError: the attribute or the type is wrong, or they do not fit.
    """
    made = Layout(layout, tensor)
    str(made)  # errors now, not when it is shown
    return made


__all__ = ["Layout", "layout"]
