"""The C library (capi/tessera.h) through ctypes: declarations, and where the file is found.

ctypes releases the interpreter's lock during a call, and the library may be called from any number of threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import struct
import threading
from _thread import start_new_thread
from collections.abc import Iterator
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_double,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

from ._errors import Diagnostic, Error, FailedError, InputError, UsageError


class DiagnosticStruct(Structure):
    _fields_ = [
        ("severity", c_int),
        ("message", c_char_p),
        ("file", c_char_p),
        ("line", c_uint),
        ("column", c_uint),
        ("text", c_char_p),
        ("version", c_char_p),
    ]


Handler = ctypes.CFUNCTYPE(None, POINTER(DiagnosticStruct), c_void_p)


class ContextOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("handler", Handler),
        ("user", c_void_p),
        ("cache_memory_bytes", c_uint64),
        ("cache_directory", c_char_p),
        ("cache_directory_bytes", c_uint64),
    ]


class Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("target", c_char_p),
        ("stage", c_char_p),
        ("kernel", c_char_p),
        ("num_warps", c_int),
        ("num_stages", c_int),
        ("num_ctas", c_int),
        ("opt_level", c_int),
        ("fp_fusion", c_int),
        ("line_info", c_int),
        ("waves_per_eu", c_int),
        ("matrix_instr_nonkdim", c_int),
        ("exact_num_warps", c_int),
        ("keep_texts", c_int),
        ("remarks", c_int),
        ("maxnreg", c_int),
        ("no_tensor_memory", c_int),
    ]


class DeviceInfo(Structure):
    _fields_ = [
        ("spec", c_char_p),
        ("name", c_char_p),
        ("target", c_char_p),
        ("stage", c_char_p),
        ("driver", c_char_p),
        ("memory_bytes", c_uint64),
        ("shared_bytes_per_block", c_uint64),
        ("threads_per_warp", c_uint32),
    ]


class Argument(Structure):
    _fields_ = [("buffer", c_void_p), ("offset", c_size_t), ("value", c_void_p), ("bytes", c_size_t)]


class DescriptorStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("element_type", c_char_p),
        ("rank", c_uint),
        ("shape", c_int64 * 5),
        ("strides", c_int64 * 5),
        ("block_shape", c_int64 * 5),
        ("nan_padding", c_int),
        ("address", c_uint64),
    ]


class Times(Structure):
    _fields_ = [("median_ms", c_double), ("min_ms", c_double)]


_OUT = POINTER(c_void_p)

# Functions that may fail: their last parameter, the error, is added.
_FALLIBLE: dict[str, list[Any]] = {
    "tessera_context_create": [POINTER(ContextOptions), _OUT],
    "tessera_compile": [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(Options), _OUT],
    "tessera_run_passes": [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(c_char_p), c_size_t, c_char_p, _OUT],
    "tessera_layout": [c_void_p, c_char_p, c_char_p, c_char_p, _OUT],
    "tessera_device_list_create": [c_void_p, _OUT],
    "tessera_device_open": [c_void_p, c_char_p, _OUT],
    "tessera_buffer_create": [c_void_p, c_size_t, _OUT],
    "tessera_buffer_write": [c_void_p, c_size_t, c_void_p, c_size_t],
    "tessera_buffer_undefine": [c_void_p, c_size_t, c_size_t],
    "tessera_buffer_read": [c_void_p, c_size_t, c_void_p, c_size_t],
    "tessera_kernel_compile": [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(Options), _OUT],
    "tessera_kernel_load": [c_void_p, c_char_p, c_size_t, c_char_p, _OUT],
    "tessera_launch": [c_void_p, POINTER(c_uint32), POINTER(Argument), c_size_t],
    "tessera_time": [c_void_p, POINTER(c_uint32), POINTER(Argument), c_size_t, c_int, POINTER(Times)],
}

# The others: result, parameters.
_PLAIN: dict[str, tuple[Any, list[Any]]] = {
    "tessera_context_options_init": (None, [POINTER(ContextOptions), c_size_t]),
    "tessera_options_init": (None, [POINTER(Options), c_size_t]),
    "tessera_tensor_descriptor_init": (None, [POINTER(DescriptorStruct), c_size_t]),
    "tessera_error_message": (c_char_p, [c_void_p]),
    "tessera_error_text": (c_char_p, [c_void_p]),
    "tessera_error_destroy": (None, [c_void_p]),
    "tessera_context_destroy": (None, [c_void_p]),
    "tessera_result_data": (c_void_p, [c_void_p, POINTER(c_size_t)]),
    "tessera_result_text": (c_void_p, [c_void_p, c_char_p, POINTER(c_size_t)]),
    "tessera_result_metadata": (c_char_p, [c_void_p]),
    "tessera_result_destroy": (None, [c_void_p]),
    "tessera_device_list_count": (c_size_t, [c_void_p]),
    "tessera_device_list_info": (POINTER(DeviceInfo), [c_void_p, c_size_t]),
    "tessera_device_list_destroy": (None, [c_void_p]),
    "tessera_device_describe": (POINTER(DeviceInfo), [c_void_p]),
    "tessera_device_destroy": (None, [c_void_p]),
    "tessera_buffer_destroy": (None, [c_void_p]),
    "tessera_kernel_interrupt": (None, [c_void_p]),
    "tessera_kernel_metadata": (c_char_p, [c_void_p]),
    "tessera_kernel_destroy": (None, [c_void_p]),
    "tessera_version": (c_char_p, []),
    "tessera_target": (c_char_p, [c_size_t]),
}

_SEVERITIES = ("error", "warning", "remark", "note")
_ERRORS = {1: InputError, 2: UsageError, 3: FailedError}


def library_path() -> str:
    """The library's file: `TESSERA_LIBRARY` if it is set, else the one in this package."""
    given = os.environ.get("TESSERA_LIBRARY")
    return given or os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libtessera.so")


_loading = threading.Lock()


@functools.cache
def _load(path: str) -> ctypes.CDLL:
    try:
        lib = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    except OSError as e:
        raise FailedError(
            f"cannot load the library of tessera: {e}; install the wheel of tessera-gpu, or set TESSERA_LIBRARY to "
            "the file libtessera.so of a build"
        ) from None
    missing = [name for name in (*_FALLIBLE, *_PLAIN) if not hasattr(lib, name)]
    if missing:
        raise FailedError(f"{path} is a library of another version of tessera: it lacks {', '.join(missing)}")
    for name, parameters in _FALLIBLE.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = c_int, [*parameters, _OUT]
    for name, (result, parameters) in _PLAIN.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, parameters
    return lib


def library() -> ctypes.CDLL:
    """The loaded library.

    Raises:
        FailedError: the file is missing or is no library of this version.
    """
    with _loading:
        return _load(library_path())


# ---- diagnostics: those of the call that the thread makes ----

_thread = threading.local()


def _decode(text: bytes | None) -> str:
    return (text or b"").decode("utf-8", "replace")


def _receive(struct_pointer: Any, _user: Any) -> None:
    collected = getattr(_thread, "collected", None)
    if not collected:
        return
    d = struct_pointer.contents
    message, file, text, version = (_decode(t) for t in (d.message, d.file, d.text, d.version))
    collected[-1].append(Diagnostic(_SEVERITIES[d.severity], message, file, d.line, d.column, text, version))


_handler = Handler(_receive)  # referred to by the contexts: lives as long as the module


class Collected:
    """Collects the diagnostics of the calls that this thread makes in the `with` block."""

    def __enter__(self) -> list[Diagnostic]:
        stack = getattr(_thread, "collected", None)
        if stack is None:
            stack = _thread.collected = []
        stack.append([])
        return stack[-1]

    def __exit__(self, *_: object) -> None:
        _thread.collected.pop()


def call(name: str, *arguments: Any) -> list[Diagnostic]:
    """Calls a function that may fail; returns what it reported.

    Raises:
        InputError, UsageError, FailedError: the call failed; the exception has the diagnostics.
    """
    lib = library()
    error = c_void_p()
    with Collected() as diagnostics:
        status = getattr(lib, name)(*arguments, ctypes.byref(error))
    if not status:
        return diagnostics
    text, message = _decode(lib.tessera_error_text(error)), _decode(lib.tessera_error_message(error))
    lib.tessera_error_destroy(error)
    # Without a place the text begins with its severity, which the exception's type says.
    text = text.rstrip("\n").removeprefix("error: ")
    raise _ERRORS.get(status, Error)(text or message, message, tuple(diagnostics))


class _Worker:
    """A thread that makes calls for the main one, one after the other."""

    def __init__(self) -> None:
        self.job: Any = None
        self.is_last = False
        self.begin, self.ended = threading.Lock(), threading.Lock()
        self.begin.acquire()
        self.ended.acquire()
        # Not threading.Thread, whose start() waits in Python for the thread: an exception of a signal's handler there
        # becomes a RuntimeError of a lock that is not held, or leaves a thread that fails with a KeyError.
        start_new_thread(self._work, ())

    def _work(self) -> None:
        while not self.is_last:
            self.begin.acquire()
            self.job()
            self.ended.release()


_idle: list[_Worker] = []  # a call inside a signal's handler, while another call runs, has a worker of its own
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # it has none of the threads


def call_interruptibly(kernel: c_void_p, name: str, *arguments: Any) -> list[Diagnostic]:
    """As `call`, for launches that run on the host: if a handler of a signal raises meanwhile (Ctrl-C), ends the
    launches of the kernel and raises that.

    Python runs such handlers on the main thread between two instructions, so the call is made on another one.
    """
    if threading.current_thread() is not threading.main_thread():
        return call(name, kernel, *arguments)
    found: list[Diagnostic] = []
    failed: list[BaseException] = []
    begun = threading.Lock()
    over: list[bool] = []  # set by the job, since a signal may come between a lock's acquisition and what is done then
    worker: _Worker | None = None

    def job() -> None:
        if not begun.acquire(blocking=False):  # given up before
            return
        try:
            found.extend(call(name, kernel, *arguments))
        except BaseException as e:
            failed.append(e)
        finally:
            over.append(True)

    try:
        worker = _idle.pop() if _idle else _Worker()
        worker.job = job
        worker.begin.release()
        # With a time limit: a signal that comes just before the thread sleeps does not wake it.
        while not worker.ended.acquire(timeout=0.1):
            pass
    except BaseException:
        # The arguments' memory must stay until the launch has ended, whatever signals come meanwhile.
        is_given_up = worker is None or begun.acquire(blocking=False)
        while not (is_given_up or over):
            with contextlib.suppress(BaseException):
                library().tessera_kernel_interrupt(kernel)
                worker.ended.acquire(timeout=0.01)  # type: ignore[union-attr]
        if worker is not None:  # where it is, is not known: it is not used again
            worker.job, worker.is_last = lambda: None, True
            with contextlib.suppress(RuntimeError):
                worker.begin.release()
        raise
    _idle.append(worker)
    if failed:
        raise failed[0]
    return found


# ---- contexts and handles ----


class Handle:
    """An object of the library, destroyed with the Python object."""

    def __init__(self, destroy: str):
        self.pointer = c_void_p()
        self._destroy = getattr(library(), destroy)

    @property
    def out(self) -> Any:
        return ctypes.byref(self.pointer)

    def __del__(self) -> None:
        # A child process shares nothing with what its parent made: see context().
        if getattr(self, "pointer", None):
            self._destroy(self.pointer)
            self.pointer = c_void_p()


_contexts: dict[tuple[int, str], Handle] = {}


def context() -> c_void_p:
    """The process's context, with a cache of compiled kernels in memory. A forked child gets its own."""
    key = (os.getpid(), library_path())
    found = _contexts.get(key)
    if found is None:
        lib = library()
        with _loading:
            found = _contexts.get(key)
            if found is None:
                options = ContextOptions()
                lib.tessera_context_options_init(ctypes.byref(options), ctypes.sizeof(options))
                options.handler = _handler
                found = Handle.__new__(Handle)
                found.pointer, found._destroy = c_void_p(), lib.tessera_context_destroy
                if lib.tessera_context_create(ctypes.byref(options), found.out, None):
                    raise FailedError("cannot create a context of the library")
                _contexts[key] = found
    return found.pointer


# ---- the library itself ----


def version() -> str:
    """The library's version, such as "0.2.0"."""
    return _decode(library().tessera_version())


def targets() -> list[str]:
    """The names of all targets: "sm_90a", "gfx942", ..."""
    lib, names = library(), []
    while name := lib.tessera_target(len(names)):
        names.append(_decode(name))
    return names


def _notes(data: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """The notes of a 64-bit little-endian ELF file: name, type, contents."""
    if data[:6] != b"\x7fELF\x02\x01":
        return
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind != 4:  # PT_NOTE
            continue
        end = at + length
        while at + 12 <= end:
            name_size, desc_size, note = struct.unpack_from("<III", data, at)
            name = data[at + 12 : at + 12 + name_size].rstrip(b"\0")
            at += 12 + (name_size + 3 & ~3)
            yield name, note, data[at : at + desc_size]
            at += desc_size + 3 & ~3


@functools.cache
def _build_id(path: str) -> str:
    with open(path, "rb") as f:
        head = f.read(1 << 16)  # program headers and notes stand at the start
        try:
            for name, note, value in _notes(head):
                if name == b"GNU" and note == 3 and value:
                    return value.hex()
        except struct.error:
            pass
        digest = hashlib.sha256(head)
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def build_id() -> str:
    """Names the library's build: the hash that its linker made of its contents, else a hash of the file."""
    try:
        return _build_id(library_path())
    except OSError as e:
        raise FailedError(f"cannot read the library of tessera: {e}") from None


__all__ = ["build_id", "call", "call_interruptibly", "context", "library", "library_path", "targets", "version"]
