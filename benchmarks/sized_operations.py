"""Operations of public libraries at two sizes: that of real models, which a GPU runs, and a small one, which emulators
can bear (serving_kernels.py, library_kernels.py); random inputs on the GPU, the part of large results that is compared,
the run at the small size, and the program of libraries in one folder.

SMALL=1 selects the small size; SMALL=trace prints where an operation failed, too.
"""

import json
import os
import sys
import traceback

import profiled_operations

SMALL = bool(os.environ.get("SMALL"))

OPERATIONS = {}  # function, its arguments, and those of the small size


def operation(small=None, /, **sizes):
    def add(function):
        OPERATIONS[function.__name__] = function, sizes, small or {}
        return function

    return add


def variant(name, function, small=None, /, **sizes):
    OPERATIONS[name] = function, sizes, small or {}


def thinned(t):
    """A view of a large tensor with a part of its rows: what is saved and compared."""
    dim = max(range(t.dim()), key=lambda d: t.shape[d]) if t.dim() else 0
    each = t.numel() >> 22
    return t[(slice(None),) * dim + (slice(None, None, each | 1),)] if each else t


def make(name):
    """The operation of a name, at the size that SMALL selects, with its inputs."""
    function, sizes, small = OPERATIONS[name]
    step = function(**(sizes | small if SMALL else sizes))
    return lambda: [thinned(t) for t in step()]


def rand(*shape, dtype="bfloat16", scale=1.0):
    import torch

    return (torch.randn(*shape, device="cuda", dtype=torch.float32) * scale).to(getattr(torch, dtype))


def uniform(*shape):
    import torch

    return torch.rand(*shape, device="cuda")


def ints(low, high, *shape, dtype="int32"):
    import torch

    return torch.randint(low, high, shape, device="cuda", dtype=getattr(torch, dtype))


def list_of(values, dtype="int32"):
    import torch

    return torch.tensor(values, dtype=getattr(torch, dtype), device="cuda")


def offsets(lengths, dtype="int32"):
    """Where sequences of these lengths begin, and where the last one ends."""
    return list_of([sum(lengths[:i]) for i in range(len(lengths) + 1)], dtype)


def zeros(*shape, dtype="bfloat16"):
    import torch

    return torch.zeros(*shape, device="cuda", dtype=getattr(torch, dtype))


def permutation(n, dtype="int32"):
    import torch

    return torch.randperm(n, device="cuda").to(getattr(torch, dtype))


def small_run(names, make=make):
    """A line per operation at its small size: the norms of the results, or what failed. `make` gives the operation of a
    name; what its `about` holds is added to the line."""
    import torch

    failed = 0
    for name in names:
        torch.manual_seed(0)
        try:
            with profiled_operations.time_limit():
                step = make(name)
                norms = [round(t.detach().float().norm().item(), 4) for t in step()]
            print(json.dumps({"op": name, "norms": norms, **getattr(step, "about", {})}), flush=True)
        except Exception as e:
            failed += 1
            print(json.dumps({"op": name, "error": f"{type(e).__name__}: {e}"[-1500:]}), flush=True)
            if os.environ.get("SMALL") == "trace":
                traceback.print_exc()
    return failed


def list_modules(folder, file):
    """Writes which files of the folder were imported."""
    files = {getattr(m, "__file__", None) for m in list(sys.modules.values())}
    with open(file, "a") as out:
        out.writelines(f"{os.path.relpath(f, folder)}\n" for f in sorted(filter(None, files)) if f.startswith(folder))


def run_cases(cases, make, options):
    """The program of cases NAME/NUMBER: those of the command line, and of them the part PART."""
    first, step = map(int, os.environ.get("PART", "0/1").split("/"))
    cases = profiled_operations.chosen(cases, options.operations)[first::step]
    failed = small_run(cases, make) if SMALL else profiled_operations.run(cases, make, options.save)
    sys.exit(bool(failed))


def run_libraries(doc, prepare, chosen=lambda names: names, **pruning):
    """The program of operations of libraries in one folder, PUBLIC: `prepare` makes its packages importable, `chosen`
    selects among the names, `pruning` is keep_few_configurations's."""
    parser, options = profiled_operations.arguments(doc)
    if "PUBLIC" not in os.environ:
        parser.error("PUBLIC must name a folder with the packages")
    folder = os.path.abspath(os.environ["PUBLIC"])
    prepare(folder)
    profiled_operations.keep_few_configurations(3, **pruning)
    names = chosen(profiled_operations.chosen(OPERATIONS, options.operations))
    failed = small_run(names) if SMALL else profiled_operations.run(names, make, options.save)
    if os.environ.get("MODULES"):
        list_modules(folder, os.environ["MODULES"])
    sys.exit(bool(failed))
