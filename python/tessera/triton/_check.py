"""Runs a script or a module with its kernels on an emulator: what `python -m tessera.triton check` starts."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
import types
from collections.abc import Iterator
from typing import Any

from .. import _errors
from ._emulate import EmulatorDriver, KernelFault, emulate


@contextlib.contextmanager
def torch_without_gpu(driver: EmulatorDriver) -> Iterator[None]:
    """Programs say device="cuda": torch makes such tensors in the host's memory here, and answers queries of the device
    for the emulated one. Does nothing without torch."""
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError:
        yield
        return

    def on_host(x: Any) -> Any:
        is_gpu = (isinstance(x, str) and x.split(":")[0] == "cuda") or (
            isinstance(x, torch.device) and x.type == "cuda"
        )
        return "cpu" if is_gpu else x

    class OnHost(TorchFunctionMode):
        def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            if function is torch.Tensor.cuda:
                return args[0]
            return function(*map(on_host, args), **{k: on_host(v) for k, v in (kwargs or {}).items()})

    answers = {
        "synchronize": lambda *_: None,
        "get_device_capability": driver.get_device_capability,
        "get_device_properties": lambda *_: _properties(driver),
        "current_device": lambda: 0,
    }
    before = {name: getattr(torch.cuda, name) for name in answers}
    try:
        for name, answer in answers.items():
            setattr(torch.cuda, name, answer)
        with OnHost():
            yield
    finally:
        for name, function in before.items():
            setattr(torch.cuda, name, function)


def _properties(driver: EmulatorDriver) -> Any:
    """What programs read of torch.cuda.get_device_properties."""
    about = driver.utils.get_device_properties(0)
    major, minor = driver.get_device_capability()
    return types.SimpleNamespace(
        name=driver.spec,
        major=major,
        minor=minor,
        multi_processor_count=about["multiprocessor_count"],
        warp_size=about["warpSize"],
        shared_memory_per_block_optin=about["max_shared_mem"],
        regs_per_multiprocessor=about["max_num_regs"],
        gcnArchName=about["arch"],
        total_memory=1 << 34,
    )


def _run(command: list[str]) -> None:
    is_module = command[0] == "-m"
    sys.argv = command[1:] if is_module else command
    if is_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(command[0])))
        runpy.run_path(command[0], run_name="__main__")


def _execute(driver: EmulatorDriver, command: list[str]) -> tuple[int, str]:
    """The exit status, and a line for the user."""
    try:
        _run(command)
    except KernelFault as e:
        return 1, str(e)
    except SystemExit as e:
        if e.code not in (None, 0):
            return 1, f"the program ended with status {e.code}"
    except _errors.InputError as e:
        return 1, f"a kernel does not compile: {e}"
    except Exception:
        traceback.print_exc()
        return 1, "the program failed"
    count = driver.launches
    return 0, f"no faults in {count} launch{'' if count == 1 else 'es'}" if count else "no kernel was launched"


def main(target: str, command: list[str]) -> int:
    try:
        with emulate(target) as driver, torch_without_gpu(driver):
            code, line = _execute(driver, command)
    except _errors.UsageError as e:
        code, line = 2, str(e)
    print(f"{target}: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
