"""The stages from TTGIR on, for one kernel: tessera's, or Triton's own where a kernel or an option is refused.

Triton runs the stages one after the other and keeps the text of each. Ours compile everything in the first of them, in
process; the later ones hand out what it made. A stage of ours that gets anything else (a file of the user's, or what
Triton's stage before it made) calls Triton's own.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import Any, Callable

from .. import _errors, _kernel, _library
from . import _front_end, _record, _tools, _verify
from ._mode import emulation, mode, warn_once

Stage = Callable[[Any, dict[str, Any]], Any]


class _Made:
    """What a stage returns: prints as its text, and has the compiled kernel for the stages after it."""

    def __init__(self, text: str, kernel: _kernel.Kernel):
        self.text, self.kernel = text, kernel

    def __str__(self) -> str:
        return self.text


class _MadeText(str):
    """The same where later readers expect a string."""

    kernel: _kernel.Kernel


def _made_text(text: str, kernel: _kernel.Kernel) -> _MadeText:
    made = _MadeText(text)
    made.kernel = kernel
    return made


# ---- targets and options ----


def target_of(options: Any) -> str | None:
    """Our name of the architecture that Triton's options name; None: we have no such target."""
    arch = str(options.arch)
    known = _library.targets()
    if arch.startswith("sm"):
        digits = arch[2:].lstrip("_").rstrip("a")
        return next((t for t in (f"sm_{digits}a", f"sm_{digits}") if t in known), None)
    return arch if arch in known else None


def why_not(backend: Any, options: Any) -> str | None:
    """Why a kernel with these options is left to Triton; None: it is not. What we do not honour, though it changes the
    code's meaning or is a test's or a user's explicit wish; hints for Triton's own passes may be ignored."""
    from triton import knobs

    get = lambda name, default=None: getattr(options, name, default)
    compilation = knobs.compilation
    if get("num_ctas", 1) > 1:
        return f"num_ctas = {options.num_ctas}"
    if not 0 <= (get("maxnreg") or 0) <= 256:
        return f"maxnreg = {options.maxnreg}"
    for name in ("ptx_version", "ptx_options", "llvm_fn_attrs", "ir_override", "instrumentation_mode"):
        if get(name):
            return f"the option {name} is set"
    if not get("enable_reflect_ftz", True):
        return "the option enable_reflect_ftz is off"
    libraries = {name for name, _ in get("extern_libs") or ()}
    if libraries - {"libdevice", "ocml", "ockl"}:
        return f"extern_libs has {', '.join(sorted(libraries - {'libdevice', 'ocml', 'ockl'}))}"
    if getattr(knobs.runtime, "add_stages_inspection_hook", None) is not None:
        return "a hook of stages is set"
    is_instrumented = getattr(type(backend), "instrumentation", None) is not None
    if is_instrumented or getattr(compilation, "instrumentation_mode", None):
        return "the code is instrumented"
    for name in ("override", "enable_asan", "use_ir_loc", "dump_ir_extract_di_local_variables"):
        if getattr(compilation, name, None):
            return f"knobs.compilation.{name} is set"
    for vendor, name in (("nvidia", "disable_ptxas_opt"), ("nvidia", "dump_nvptx"), ("amd", "dump_amdgcn")):
        if getattr(getattr(knobs, vendor, None), name, None):
            return f"knobs.{vendor}.{name} is set"
    return None if target_of(options) else f"the target {options.arch} is unknown"


def _not_below(low: int, options: Any, name: str) -> int:
    return max(low, _errors.integer(name, getattr(options, name), -(1 << 31), (1 << 31) - 1))


def _is_set(variable: str) -> bool:
    """Whether libtriton, which reads it beside Triton's knobs, takes the variable of the environment for true."""
    return os.environ.get(variable, "").lower() in ("1", "on", "true")


def compile_options(options: Any) -> dict[str, Any]:
    """Triton's options in ours."""
    from triton import knobs

    is_amd = not str(options.arch).startswith("sm")
    made: dict[str, Any] = {
        "num_warps": options.num_warps,
        "num_stages": _not_below(0, options, "num_stages"),
        "fp_fusion": options.enable_fp_fusion,
        "line_info": not (knobs.compilation.disable_line_info or _is_set("TRITON_DISABLE_LINE_INFO")),
        # All blocks of a cooperative launch must fit at once: no more threads than num_warps says.
        "exact_num_warps": getattr(options, "launch_cooperative_grid", False),
    }
    if is_amd:
        made["waves_per_eu"] = _not_below(0, options, "waves_per_eu")
        tile = options.matrix_instr_nonkdim
        made["matrix_instr_nonkdim"] = tile if tile in (16, 32) else 0
    elif options.maxnreg:
        made["maxnreg"] = options.maxnreg
    return made


# ---- compiling ----


def _fill_metadata(metadata: dict[str, Any], kernel: _kernel.Kernel, options: Any, is_amd: bool) -> None:
    """What Triton's launcher reads, as its own stages leave it."""
    m = kernel.metadata
    metadata["name"] = kernel.name
    metadata["shared"] = max(m["dynamic_shared_bytes"], getattr(options, "min_shared_mem", None) or 0)  # from 3.9 on
    metadata["num_warps"] = m["threads_per_block"] // m["threads_per_warp"]
    metadata["num_ctas"] = m.get("num_ctas", 1)
    metadata["tensordesc_meta"] = m.get("tensordesc_meta", [])
    metadata["profile_scratch_size"], metadata["profile_scratch_align"] = 0, 1
    # Launchers for AMD read the size from Triton 3.8 on; `_compile` refuses what needs scratch memory there.
    metadata["global_scratch_size"] = m["global_scratch_bytes"]
    metadata["global_scratch_align"] = max(1, m["global_scratch_align"])
    if not is_amd:
        metadata["tmem_size"] = m.get("tensor_memory_columns", 0)


def _passes_rounding() -> bool:
    """Whether Triton's launchers pass the parts of a descriptor with one more flag, as they do from version 3.7 on."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return "round_f32_to_tf32" in TensorDescriptor.__dataclass_fields__


def _compile(module: Any, options: Any) -> _kernel.Kernel:
    """Compiles Triton's module.

    Raises:
        tessera.Error: it is refused, or its launch would need what Triton's launcher does not give.
    """
    _tools.configure()
    target = target_of(options)
    text = _front_end.text_of(module).encode()
    kernel = _kernel.compile(text, target, file_name="kernel.ttir", **compile_options(options))
    is_expanded = any("descriptor" in argument for argument in kernel.metadata["args"])
    if is_expanded and _passes_rounding():
        raise _errors.UsageError("the parts of a tensor descriptor are not those that this version of Triton passes")
    if not target.startswith("sm_") and kernel.metadata["global_scratch_bytes"]:
        raise _errors.UsageError("the kernel needs scratch memory, which Triton's launcher for AMD does not give")
    return kernel


_RESOURCES = {
    "shared memory": re.compile(r"needs (\d+) bytes of shared memory, but a block on \S+ has (\d+)"),
    "threads": re.compile(r"are (\d+) threads per block, but \S+ allows (\d+)"),
}


def refusal(e: _errors.Error) -> Exception:
    """The exception of strict mode and of emulators: what the autotuner forgives, or the error itself."""
    from triton.runtime.errors import OutOfResources

    for name, pattern in _RESOURCES.items():
        numbers = pattern.search(e.message)
        if numbers:
            return OutOfResources(int(numbers[1]), int(numbers[2]), name)
    return e


def _name_of(module: Any) -> str:
    try:
        return module.get_entry_func_name()
    except Exception:  # several functions, or another version's module
        found = re.search(r"tt\.func public @([\w.$]+)", str(module))
        return found[1] if found else ""


class _Kernel:
    """The stages of one kernel."""

    def __init__(self, backend: Any, stages: dict[str, Stage], options: Any):
        self.backend, self.options, self.own = backend, options, dict(stages)
        self.binary = backend.binary_ext
        self.assembly = "ptx" if self.binary == "cubin" else "amdgcn"
        self.reference = ""  # of verify mode

    def ttgir(self, module: Any, metadata: dict[str, Any]) -> Any:
        start = time.perf_counter()
        try:
            self._load()
            refused = why_not(self.backend, self.options)
            if refused is not None:
                raise _errors.UsageError(f"tessera does not compile this kernel: {refused}", refused)
            kernel = _compile(module, self.options)
            elapsed = (time.perf_counter() - start) * 1e3
            if mode() == "verify":
                self.reference = _verify.reference(self.own, module, metadata)
            _fill_metadata(metadata, kernel, self.options, self.binary == "hsaco")
            self._note(metadata, kernel.name, f"tessera {_library.version()}", elapsed)
            return _Made(str(kernel.asm["ttgir"]), kernel)
        except _errors.Error as e:
            if mode() == "strict":
                raise refusal(e) from None
            refused = e.message
        except Exception as e:  # another version's options: Triton knows them
            if mode() == "strict":
                raise
            refused = f"{type(e).__name__}: {e}"
        reason = " ".join(refused.split())[:300]
        self._note(metadata, _name_of(module), f"triton ({reason})", (time.perf_counter() - start) * 1e3)
        return self.own["ttgir"](module, metadata)

    def _load(self) -> None:
        """Warns of a library that cannot be loaded, such as one for a newer system: no kernel will be ours."""
        try:
            _library.library()
        except _errors.Error as e:
            if mode() != "strict":
                warn_once(f"{e}: Triton's own compiler is used")
            raise

    def _note(self, metadata: dict[str, Any], name: str, by: str, milliseconds: float) -> None:
        metadata["compiled_by"], metadata["compile_ms"] = by, round(milliseconds, 3)
        target = str(self.options.arch)
        with contextlib.suppress(_errors.Error):  # there is no library
            target = target_of(self.options) or target
        _record.add(_record.Record(name, target, by, milliseconds))

    def llir(self, source: Any, metadata: dict[str, Any]) -> Any:
        if isinstance(source, _Made):
            return _made_text(str(source.kernel.asm["llir"]), source.kernel)
        metadata.setdefault("compiled_by", "triton (the source is not TTIR)")
        return self.own["llir"](source, metadata)

    def assemble(self, source: Any, metadata: dict[str, Any]) -> Any:
        if isinstance(source, _MadeText):
            return _made_text(str(source.kernel.asm[self.assembly]), source.kernel)
        return self.own[self.assembly](source, metadata)

    def link(self, source: Any, metadata: dict[str, Any]) -> Any:
        if isinstance(source, _MadeText):
            return source.kernel.object
        return self.own[self.binary](source, metadata)

    def verify(self, binary: Any, metadata: dict[str, Any]) -> str:
        return self.reference


def replace_stages(backend: Any, stages: dict[str, Stage], options: Any) -> None:
    """Replaces the stages from TTGIR on in Triton's table."""
    if emulation.spec is not None:
        from ._emulate import emulated_stages

        emulated_stages(backend, stages, options)
        return
    kernel = _Kernel(backend, stages, options)
    stages["ttgir"], stages["llir"] = kernel.ttgir, kernel.llir
    stages[kernel.assembly], stages[kernel.binary] = kernel.assemble, kernel.link
    if mode() == "verify":
        stages["verify"] = kernel.verify
