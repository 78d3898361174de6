"""Triton's front end and its cache of files in less time, with the same results.

What a kernel of torch.compile costs before it gets to tessera, and which of it is not needed:

    filters of warnings   are saved, set and restored for every node of the source: once for the outermost one is enough
    signatures            of Triton's functions are made anew for every call: they are kept
    names of tuple types  are made for the shape of every tensor: when they are read is early enough
    garbage               is looked for every 700 objects, and a kernel's source makes 100,000: every 50,000
    files                 are written into a folder of their own each, which is then removed; a file of another name,
                          renamed when it is whole, is as safe. Removing a folder takes a millisecond on some disks.
    TTIR                  is printed for the cache, and again for tessera

Each of Triton's functions is replaced only if it uses just the names that the known one uses: another version keeps its
own, and its time.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import inspect
import os
import threading
import uuid
import warnings
import weakref
from types import ModuleType
from typing import Any, Callable

_installing = threading.Lock()
_thread = threading.local()


class _Instead:
    """Stands for a module in another one, with some functions of its own."""

    def __init__(self, module: ModuleType):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _uses(function: Callable[..., Any], names: str) -> bool:
    """Whether the function uses just these global names and attributes."""
    code = getattr(function, "__code__", None)
    return code is not None and set(code.co_names) == set(names.split())


# ---- filters of warnings ----


class _Warnings(_Instead):
    """The module `warnings` for nested nodes: blocks of `catch_warnings` inside the outermost one do nothing."""

    def catch_warnings(self) -> _Warnings:
        return self

    def __enter__(self) -> None:
        depth = getattr(_thread, "depth", 0)
        if depth == 0:
            _thread.filters = warnings.catch_warnings()
            _thread.filters.__enter__()
        _thread.depth = depth + 1

    def __exit__(self, *exception: Any) -> None:
        _thread.depth -= 1
        if _thread.depth == 0:
            _thread.filters.__exit__(*exception)

    def simplefilter(self, *arguments: Any) -> None:
        if _thread.depth == 1:
            warnings.simplefilter(*arguments)


# ---- signatures ----


class _Inspect(_Instead):
    """The module `inspect`, which keeps the signatures of functions; of methods not, since they hold a tensor."""

    _kept = staticmethod(functools.lru_cache(maxsize=256)(inspect.signature))

    def signature(self, of: Any) -> inspect.Signature:
        return self._kept(of) if inspect.isfunction(of) else inspect.signature(of)


# ---- names of tuple types ----


def _tuple_type_init(self: Any, types: Any, fields: Any = None) -> None:
    self.types = types
    self.fields = fields or [""] * len(types)


def _tuple_type_name(self: Any) -> str:
    return "[" + ",".join(f"{k}:{v}" for k, v in zip(self.fields, self.types)) + "]"


# ---- garbage ----


class _RareCollections:
    """While threads are in such a block the youngest objects are looked through less often."""

    OBJECTS = 50_000

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.before = self.during = gc.get_threshold()

    def __enter__(self) -> None:
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.before = gc.get_threshold()
                self.during = (self.before[0] and max(self.before[0], self.OBJECTS), *self.before[1:])
                gc.set_threshold(*self.during)

    def __exit__(self, *_: Any) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and gc.get_threshold() == self.during:  # else somebody has set it
                gc.set_threshold(*self.before)


_rare_collections = _RareCollections()
os.register_at_fork(after_in_child=lambda: setattr(_rare_collections, "lock", threading.Lock()))


def _with_rare_collections(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make_ir(*args: Any, **kwargs: Any) -> Any:
        with _rare_collections:
            return original(*args, **kwargs)

    return make_ir


# ---- files, and TTIR ----


def _put(self: Any, data: Any, filename: str, binary: bool = True) -> str:
    if not self.cache_dir:
        raise RuntimeError("Could not create or locate cache dir")
    is_binary = isinstance(data, bytes)
    if not is_binary and not isinstance(data, str):
        module, data = data, str(data)
        _thread.printed = None
        if filename.endswith(".ttir"):  # Triton's passes change a module in place: no text of before them
            with contextlib.suppress(TypeError):  # a class without weak references
                _thread.printed = (weakref.ref(module), data)
    path: str = self._make_path(filename)
    beside = os.path.join(self.cache_dir, f"tmp.pid_{os.getpid()}_{uuid.uuid4()}")
    with open(beside, "wb" if is_binary else "w") as f:
        f.write(data)
    os.replace(beside, path)
    return path


def text_of(module: Any) -> str:
    """The module of the stage `ttir` as text: what was printed for the cache just now, if this module was."""
    printed, _thread.printed = getattr(_thread, "printed", None), None
    return printed[1] if printed is not None and printed[0]() is module else str(module)


# ---- installing ----

_VISIT = (
    "warnings catch_warnings simplefilter DeprecationWarning PendingDeprecationWarning cur_node builder get_loc "
    "hasattr create_loc file_name begin_line lineno col_offset name_loc_as_prefix set_loc create_name_loc super visit "
    "CompilationError Exception knobs compilation front_end_debugging jit_fn src repr"
)
_PUT = (
    "cache_dir RuntimeError isinstance bytes str lock_path _make_path uuid uuid4 os getpid path join makedirs open "
    "write replace removedirs"
)


def _install_generator() -> None:
    generator: Any = importlib.import_module("triton.compiler.code_generator")
    if _uses(generator.CodeGenerator.visit, _VISIT):
        generator.warnings = _Warnings(warnings)
    if getattr(generator, "inspect", None) is inspect:
        generator.inspect = _Inspect(inspect)


def _install_tuple_type() -> None:
    tuple_type: Any = importlib.import_module("triton.language.core").tuple_type
    if _uses(tuple_type.__init__, "types fields len name join zip"):
        tuple_type.__init__ = _tuple_type_init
        tuple_type.name = property(_tuple_type_name)


def _install_source() -> None:
    source: Any = importlib.import_module("triton.compiler.compiler").ASTSource
    source.make_ir = _with_rare_collections(source.make_ir)


def _install_files() -> None:
    manager: Any = importlib.import_module("triton.runtime.cache").FileCacheManager
    if _uses(manager.put, _PUT):
        manager.put = _put


@functools.cache
def _install_once() -> None:
    for install_one in (_install_generator, _install_tuple_type, _install_source, _install_files):
        try:
            install_one()
        except (ImportError, AttributeError):  # another version's: it keeps its own
            continue


def install() -> None:
    """Replaces what of Triton is there, once."""
    with _installing:
        _install_once()
