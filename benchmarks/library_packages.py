"""Imports of kernels' files of public libraries without the libraries' packages, which would import more than the
kernels (public_kernels.py, serving_kernels.py, library_kernels.py)."""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from unittest.mock import MagicMock


def no(*_, **__):
    return False


def yes(*_, **__):
    return True


def same(function=None, *_, **__):
    """A decorator that changes nothing, with arguments or without."""
    return function if callable(function) else same


class Stub(types.ModuleType):
    """A module that has every name."""

    __path__: list[str] = []
    __version__ = "0.0.1"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=name)


class StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names, attributes):
        self.names, self.attributes = names, attributes

    def find_spec(self, name, path=None, target=None):
        if any(name == n or name.startswith(n + ".") for n in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        module.__dict__.update(self.attributes)


def stub(*names, **attributes):
    """Modules of these names, and all in them, have the attributes, and stand-ins for every other name."""
    sys.meta_path.insert(0, StubFinder(names, attributes))


def package(name, folder, **attributes):
    """A package without its __init__."""
    module = types.ModuleType(name)
    module.__path__ = [folder]
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    module.__dict__.update(attributes)
    sys.modules[name] = module


class Bare(types.ModuleType):
    """A package without its __init__: it has its modules, and stand-ins for every other name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        return importlib.import_module(full) if importlib.util.find_spec(full) else MagicMock(name=name)


class BareFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, name, folder, whole):
        self.name, self.folder, self.whole = name, folder, whole

    def find_spec(self, name, path=None, target=None):
        if name in self.whole or (name != self.name and not name.startswith(self.name + ".")):
            return None
        folder = os.path.join(self.folder, *name.split(".")[1:])
        if not os.path.isdir(folder):
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec

    def create_module(self, spec):
        return Bare(spec.name)

    def exec_module(self, module):
        pass


def bare(name, folder, whole=()):
    """The package in the folder, and each package in it but some, without their __init__."""
    sys.meta_path.insert(0, BareFinder(name, folder, whole))


class Library:
    """The modules of a package, by their names in it."""

    def __init__(self, name):
        self.name = name

    def __call__(self, module):
        return importlib.import_module(f"{self.name}.{module}")


def units(*_):
    """The GPU's multiprocessors."""
    import torch

    return torch.cuda.get_device_properties(0).multi_processor_count
