#!/usr/bin/env python3
"""Times the 184 operators of TritonBench_G (thunlp/TritonBench, 603e28a), which are Triton kernels of other projects in
a file each, on one NVIDIA GPU, and compares what two compilers made of them. Needs torch, triton and, of a checkout,
the folders data/TritonBench_G_v1 (the operators) and performance_metrics/perf_G (their inputs).

    export TRITONBENCH=CHECKOUT
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t tritonbench_kernels.py --save t.pt > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s tritonbench_kernels.py --save s.pt > tessera.jsonl    # by Tessera, its wheel
    tritonbench_kernels.py --compare triton.jsonl tessera.jsonl t.pt s.pt

A case is OPERATOR/NUMBER: 0 is the largest of its inputs with at most MIB (1024) MiB, 1 the third one before it, which
is usually an eighth as large, and so on; SIZES=N (1) takes so many. What is compared is what the operator returns, and
its arguments, which many change. PART=I/N and LIMIT=SECONDS are as in library_kernels.py. SMALL=1 runs each operator
once with the first of its inputs:

    SMALL=1 python -m tessera.triton check --target interpreter tritonbench_kernels.py

Several operators read out of bounds: the test of the file passes a shape that its kernel does not expect. On a GPU such
reads find some other memory, so results may differ without an error of a compiler.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

import profiled_operations
from library_packages import package
from sized_operations import SMALL, run_cases, thinned

MIB = int(os.environ.get("MIB", 1024))
SIZES = int(os.environ.get("SIZES", 1))


class OperatorLoader(importlib.machinery.SourceFileLoader):
    """Loads an operator without its test, which follows a line of # and would run at once."""

    def get_code(self, fullname):
        text = open(self.path).read().split("\n" + "#" * 80)[0]
        return compile(text, self.path, "exec")


class OperatorFinder(importlib.abc.MetaPathFinder):
    """The package TritonBench_v1, by whose name the inputs import the operators."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        package_name, _, operator = name.partition(".")
        if package_name != "TritonBench_v1" or not operator:
            return None
        file = os.path.join(self.folder, f"{operator}.py")
        return importlib.util.spec_from_file_location(name, file, loader=OperatorLoader(name, file))


class Enough(Exception):
    """The inputs that follow are too large, or not needed."""


def tensors(value):
    """The tensors of a value, in lists and dictionaries, too."""
    import torch

    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [t for v in value for t in tensors(v)]
    return []


class Inputs(list):
    """Takes the inputs of an operator while they are small enough; they are in increasing order."""

    def append(self, value):
        if sum(t.numel() * t.element_size() for t in tensors(value)) > MIB << 20:
            raise Enough
        super().append(value)
        if SMALL:
            raise Enough


def inputs(operator):
    """All inputs, made on the GPU: on the host they would take longer than the kernels."""
    import torch

    made = Inputs()
    # The operator's own class begins with an empty list each time: what it appends goes to ours.
    type(operator).input_tensors = property(lambda self: made, lambda self, value: made.extend(value))
    try:
        with torch.device("cuda"):
            operator.get_input_tensors()
    except Enough:
        pass
    return list(made)


def make(case):
    name, number = case.rsplit("/", 1)
    module = importlib.import_module(f"golden_metrics.{name}_perf")
    operator = module.performance_metrics()
    made = inputs(operator)
    arguments = operator.to_cuda(made[max(0, len(made) - 1 - 3 * int(number))])
    del made

    def step():
        results = operator.call_op(arguments)
        return [thinned(t.detach()) for t in [*tensors(results), *tensors(arguments)] if t.numel()]

    step.about = {"shapes": [list(t.shape) for t in tensors(arguments)]}
    return step


def prepare(folder):
    inputs_folder = os.path.join(folder, "performance_metrics", "perf_G")
    sys.path.insert(0, inputs_folder)
    package("TritonBench_v1", folder)
    package("golden_metrics", os.path.join(inputs_folder, "golden_metrics"))
    sys.meta_path.insert(0, OperatorFinder(os.path.join(folder, "data", "TritonBench_G_v1")))


def main():
    parser, options = profiled_operations.arguments(__doc__)
    if "TRITONBENCH" not in os.environ:
        parser.error("TRITONBENCH must name a checkout of thunlp/TritonBench, or a folder with two of its folders")
    folder = os.path.abspath(os.environ["TRITONBENCH"])
    prepare(folder)
    profiled_operations.keep_few_configurations(3, after_pruning=True)
    files = sorted(os.listdir(os.path.join(folder, "data", "TritonBench_G_v1")))
    operators = [f.removesuffix(".py") for f in files if f.endswith(".py")]
    cases = [f"{name}/{i}" for name in operators for i in range(1 if SMALL else SIZES)]
    run_cases(cases, make, options)


if __name__ == "__main__":
    main()
