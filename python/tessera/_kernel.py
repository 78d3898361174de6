"""Compiling: text in, code and what is known of it out."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import byref, c_size_t
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._errors import Diagnostic, UsageError, encoded, encoded_text, integer
from ._library import Handle, Options, call, context, library, targets

if TYPE_CHECKING:
    from ._device import Device, LoadedKernel


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel.

    Attributes:
        name: the function's name.
        target: "sm_90a", "gfx942", ...
        stage: the stage that was compiled to, the last key of `asm`.
        asm: stage -> text or bytes: "ttgir", "llir", "ptx" and "cubin", or "amdgcn" and "hsaco".
        metadata: what a launcher needs and a person wants to know: "num_warps", "threads_per_block",
            "dynamic_shared_bytes", "registers" and "spill_bytes" of a thread, "args", "compile_ms" by stage, ...
        remarks: with `remarks=True` what passes did and could not do, and why.
        warnings: what the compiler warns of.
    """

    name: str
    target: str
    stage: str
    asm: dict[str, str | bytes] = field(repr=False)
    metadata: dict[str, Any] = field(repr=False)
    metadata_text: str = field(repr=False)
    remarks: tuple[Diagnostic, ...] = field(default=(), repr=False)
    warnings: tuple[Diagnostic, ...] = field(default=(), repr=False)

    @property
    def object(self) -> str | bytes:
        """The text or the bytes of the last stage."""
        return self.asm[self.stage]

    def load(self, device: Device | str | None = None) -> LoadedKernel:
        """Loads the object on a GPU, to launch it.

        Raises:
            UsageError: the kernel was compiled for another target or stage.
        """
        from ._device import as_device

        return as_device(device).load(self)


#: A string that ends so is the path of a kernel.
_SUFFIXES = (".ttir", ".ttgir", ".mlir")
_SUFFIXES_TEXT = ", ".join(_SUFFIXES[:-1]) + " or " + _SUFFIXES[-1]


def read_text(text: str | bytes | os.PathLike[str], file_name: str | None) -> tuple[bytes, bytes]:
    """The kernel's text, and the file name for diagnostics. Paths are read, also strings that end as _SUFFIXES do.

    Raises:
        UsageError: it is neither a text nor a path, or the file name is no text.
        OSError: the file cannot be read.
    """
    name = encoded("the file name", file_name) if file_name is not None else b"<text>"
    if isinstance(text, bytes):
        return text, name
    if not isinstance(text, (str, os.PathLike)):
        raise UsageError(f"a kernel is a text or a path, not {type(text).__name__}")
    is_path = isinstance(text, os.PathLike)
    if is_path or (isinstance(text, str) and "\n" not in text and text.endswith(_SUFFIXES)):
        path = os.fspath(text)
        if file_name is None:
            name = encoded("the path", os.fsdecode(path))
        with open(path, "rb") as f:
            return f.read(), name
    if text and "\n" not in text and "\0" not in text and os.path.exists(text):
        raise UsageError(f"'{text}' is read as a kernel's text; a path ends in {_SUFFIXES_TEXT}, or is a pathlib.Path")
    return encoded_text("a kernel", text), name


def _int_of_c(name: str, value: object) -> int:
    """A number of C's type int. Which of these an option takes, the library says."""
    n = integer(name, value)
    if not -(1 << 31) <= n < 1 << 31:
        raise UsageError(f"{name} must be an integer of 32 bits, not {n}")
    return n


def make_options(target: str | None = None, stage: str | None = None, **options: Any) -> Options:
    """The structure of options; names are those of `compile`.

    Raises:
        UsageError: there is no option of that name.
    """
    o = Options()
    library().tessera_options_init(byref(o), ctypes.sizeof(o))
    o.target = encoded("the target", target) if target is not None else None
    o.stage = encoded("the stage", stage) if stage is not None else None
    known = {name for name, _ in Options._fields_} - {"size", "target", "stage"}
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"there is no option '{name}'; there are {', '.join(sorted(known))}")
        if value is not None:
            setattr(o, name, encoded(name, value) if name == "kernel" else _int_of_c(name, value))
    return o


def compile(
    text: str | bytes | os.PathLike[str],
    target: str,
    *,
    num_warps: int = 4,
    num_stages: int = 3,
    stage: str | None = None,
    texts: bool = True,
    remarks: bool = False,
    file_name: str | None = None,
    **options: Any,
) -> Kernel:
    """Compiles a kernel.

    Args:
        text: TTIR or TTGIR as Triton prints it, or the path of a file with it (`.ttir`, `.ttgir`, `.mlir`).
        target: see `tessera.targets()`.
        num_warps: warps of a block, a power of two; of 32 threads, on gfx9 of 64. More may be taken where registers
            would spill, and fewer where most would have nothing to do, unless `exact_num_warps=True`; the metadata
            says how many.
        num_stages: stages of software pipelines; with 0 no loop is pipelined, with 1 only wgmma loops
            with few warps.
        stage: the last stage; None: the target's object, "cubin" or "hsaco". "cubin" needs the CUDA toolkit's ptxas.
        texts: whether `asm` has the texts of the stages before the last, too.
        remarks: whether `Kernel.remarks` is filled.
        file_name: the name of `text` in diagnostics.
        options: `num_ctas`, `opt_level` (0 to 3), `fp_fusion`, `line_info`, `kernel` (which function of several),
            `waves_per_eu` and `matrix_instr_nonkdim` (AMD), `maxnreg` (NVIDIA), `exact_num_warps`,
            `no_tensor_memory` (sm_100a: dots by mma.sync instead of tcgen05).

    Raises:
        InputError: the text is wrong; `diagnostics` has the places.
        UsageError: an option or the target is wrong.
        FailedError: a tool is missing or failed.
    """
    data, name = read_text(text, file_name)
    stages = dict(num_warps=num_warps, num_stages=num_stages, keep_texts=texts, remarks=remarks)
    if target is None:
        raise UsageError(f"a target is needed: {', '.join(targets())}")
    o = make_options(target, stage, **stages, **options)
    result = Handle("tessera_result_destroy")
    found = call("tessera_compile", context(), data, len(data), name, byref(o), result.out)
    return _kernel_of(result, stage, found)


def result_bytes(result: Handle, stage: str | None = None) -> bytes | None:
    """The data of a result, or the text of one of its stages."""
    lib, length = library(), c_size_t()
    if stage is None:
        data = lib.tessera_result_data(result.pointer, byref(length))
    else:
        data = lib.tessera_result_text(result.pointer, stage.encode(), byref(length))
    return None if data is None else ctypes.string_at(data, length.value)


def _kernel_of(result: Handle, stage: str | None, found: list[Diagnostic]) -> Kernel:
    metadata_text = library().tessera_result_metadata(result.pointer).decode()
    metadata = json.loads(metadata_text)
    asm: dict[str, str | bytes] = {}
    for each in ("ttgir", "llir", "ptx", "amdgcn"):
        text = result_bytes(result, each)
        if text is not None:
            asm[each] = text.decode("utf-8", "replace")
    target = metadata["target"]
    last = stage or ("cubin" if target.startswith("sm_") else "hsaco")
    data = result_bytes(result) or b""
    asm.pop(last, None)
    asm[last] = data if last in ("cubin", "hsaco", "bitcode") else data.decode("utf-8", "replace")
    remarks = tuple(d for d in found if d.severity == "remark")
    warnings = tuple(d for d in found if d.severity == "warning")
    return Kernel(metadata["kernel"], target, last, asm, metadata, metadata_text, remarks, warnings)


def run_passes(
    text: str | bytes | os.PathLike[str], *passes: str, target: str | None = None, file_name: str | None = None
) -> str:
    """Runs passes by the names of `tessera opt` ("cse", "tritongpu-pipeline=num-stages=2") and returns the text."""
    data, name = read_text(text, file_name)
    names = (ctypes.c_char_p * max(len(passes), 1))(*[encoded("a pass", p) for p in passes])
    result = Handle("tessera_result_destroy")
    wanted = encoded("the target", target) if target is not None else None
    call("tessera_run_passes", context(), data, len(data), name, names, len(passes), wanted, result.out)
    return (result_bytes(result) or b"").decode("utf-8", "replace")


__all__ = ["Kernel", "compile", "run_passes"]
