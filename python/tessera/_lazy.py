"""Names of a package that are imported from its modules when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any, Callable


def names_of(package: str, modules: Mapping[str, Iterable[str]]) -> tuple[Callable[[str], Any], list[str]]:
    """`__getattr__` and `__all__` of a package whose modules have these names."""
    module_of = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(importlib.import_module(f".{module_of[name]}", package), name)
        setattr(importlib.import_module(package), name, value)
        return value

    return get, sorted(module_of)
