#!/usr/bin/env python3
"""Times torch.compile's templates (matmul, batched matmul, convolution), each in all configurations that max-autotune
tries, by two compilers.

    inductor_templates.py collect FOLDER [--models gpt2,moe] [--passes inference]
    inductor_templates.py compile FOLDER I/N     # each N-th file into Triton's cache, in N processes at the same time
    TESSERA_TRITON=0 TRITON_CACHE_DIR=t inductor_templates.py time FOLDER > triton.jsonl     # by Triton
    TESSERA_TRITON=1 TRITON_CACHE_DIR=s inductor_templates.py time FOLDER > tessera.jsonl    # by Tessera, its wheel
    inductor_templates.py compare triton.jsonl tessera.jsonl

`collect` compiles the models of torch_models.py with max-autotune and keeps the sources that Inductor writes, templates
without prologue and epilogue. `time` and `compare` are as in inductor_kernels.py: ten launches in a CUDA graph, the
least of up to 20 replays, and the sum of absolute values of the result. Matrices are random bfloat16; there are eight
of each in a batch. What a compiler refuses is a line with the reason. Needs a GPU, PyTorch, and tessera-gpu installed.
"""

import json
import os
import re
import sys
import tempfile

import inductor_kernels

TEMPLATE = re.compile(r"def (triton_mm|triton_bmm|triton_convolution2d)\(")
BATCH = 8  # of batched matmuls: the text does not say
ENVIRONMENT = {"TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONHASHSEED": "0"}


# ---- collect ----


def compile_model(name, which):
    """In a process of its own, with a cache of its own."""
    import torch
    from torch_compile import Steps

    steps = Steps(name, which == "training", False)
    steps.results(torch.compile(steps.evaluate_in_bfloat16, mode="max-autotune-no-cudagraphs"))
    torch.cuda.synchronize()


def templates_in(cache):
    """The sources of templates without prologue and epilogue, without what differs from process to process."""
    for _, text in inductor_kernels.sources_in(cache):
        if TEMPLATE.search(text) and "@triton_heuristics.template" in text:
            yield re.sub(r"'(backend_hash|kernel_name)': '[^']*'", r"'\1': ''", text)


def keep(texts, folder):
    """One file for each text: its name is the problem's and the configuration's."""
    for text in texts:
        t = Template(text)
        blocks = "x".join(str(b) for b in t.config.values())
        with open(os.path.join(folder, f"{t.problem}--{blocks}-{t.warps}-{t.stages}.py"), "w") as file:
            file.write(text)


def collect(folder, models, passes):
    os.makedirs(folder, exist_ok=True)
    for _, _, cache in inductor_kernels.caches_of_models(__file__, models, passes, ENVIRONMENT):
        keep(templates_in(cache), folder)
    print(f"{len(os.listdir(folder))} kernels", file=sys.stderr)


# ---- time ----


class Template:
    """What a source says: the problem, the configuration, and the sizes of the matrices."""

    def __init__(self, text):
        self.text = text
        self.kernel = TEMPLATE.search(text).group(1)
        found = re.findall(r"^    (\w+)(?: : tl\.constexpr)? = (\d+)$", text, re.MULTILINE)
        sizes = self.sizes = {name: int(value) for name, value in found}
        self.arguments = len(json.loads(re.search(r"'signature': (\{.*?\})", text).group(1).replace("'", '"')))
        self.warps = int(re.search(r"\bnum_warps=(\d+)", text).group(1))
        self.stages = int(re.search(r"\bnum_stages=(\d+)", text).group(1))
        self.config = {name: sizes[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
        if self.kernel == "triton_convolution2d":
            rows = sizes["BATCH"] * sizes["OUT_H"] * sizes["OUT_W"]
            grid = [rows, sizes["OUT_C"], sizes["GROUPS"]]
            self.problem = "conv-" + "-".join(
                f"{sizes[a]}x{sizes[b]}" for a, b in (("BATCH", "IN_C"), ("IN_H", "OUT_C"), ("KERNEL_H", "STRIDE_H"))
            )
            inputs = sizes["BATCH"] * sizes["IN_C"] * sizes["IN_H"] * sizes["IN_W"]
            weights = sizes["OUT_C"] * sizes["IN_C"] * sizes["KERNEL_H"] * sizes["KERNEL_W"]
            self.made = rows * sizes["OUT_C"]
            self.elements = max(inputs, weights, self.made)
            self.grid = (-(-grid[0] // sizes["BLOCK_M"]), -(-grid[1] // sizes["BLOCK_N"]), grid[2])
        else:
            m, n, k = (sizes[name] for name in "MNK")
            batch = BATCH if self.kernel == "triton_bmm" else 1
            layout = ("t" if sizes["stride_am"] == 1 else "n") + ("t" if sizes["stride_bk"] == 1 else "n")
            bias = "-bias" if self.arguments > 3 else ""
            self.problem = f"{self.kernel[7:]}-{m}x{n}x{k}-{layout}{bias}"
            self.made = m * n * batch
            self.elements = max(m * k, k * n, m * n) * batch
            self.grid = (-(-m // sizes["BLOCK_M"]) * -(-n // sizes["BLOCK_N"]), batch, 1)

    def function(self):
        """The kernel as Triton's, without Inductor's autotuner."""
        head = "import triton\nimport triton.language as tl\nfrom torch._inductor.runtime import triton_helpers\n"
        with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
            file.write(head + self.text[self.text.index("@triton.jit") :])
        module = inductor_kernels.module_at(file.name)
        os.remove(file.name)  # its text is in the module
        return getattr(module, self.kernel)


def each_template(folder, part):
    for path in inductor_kernels.files_of(folder, part):
        with open(path) as file:
            yield Template(file.read())


def compile_all(folder, part):
    import torch
    from triton.runtime.jit import MockTensor

    for template in each_template(folder, part):
        arguments = [MockTensor(torch.bfloat16)] * template.arguments
        try:
            template.function().warmup(
                *arguments, grid=template.grid, num_warps=template.warps, num_stages=template.stages
            )
        except Exception as e:  # `time` says what its file is
            print(f"{template.problem}: {type(e).__name__}", file=sys.stderr)


def line_of(template):
    import torch

    function = template.function()
    torch.manual_seed(0)
    inputs = [torch.randn(template.elements, device="cuda").bfloat16() for _ in range(template.arguments - 1)]
    arguments = [*inputs, torch.empty(template.elements, device="cuda", dtype=torch.bfloat16)]
    options = {"num_warps": template.warps, "num_stages": template.stages}
    made = function.warmup(*arguments, grid=template.grid, **options)  # compiled before it takes its turn
    with inductor_kernels.turn_on_gpu():
        us, _ = inductor_kernels.time_launcher(
            lambda *given, stream: function[template.grid](*given, **options), arguments
        )
    result = float(arguments[-1][: template.made].double().abs().sum())
    return {
        "kernel": template.kernel, "config": {**template.config, "stages": template.stages}, "warps": template.warps,
        "us": us, "registers": made.n_regs, "spills": made.n_spills, "sums": [result],
    }  # fmt: skip


def time_all(folder, part):
    for template in each_template(folder, part):
        try:
            line = line_of(template)
        except Exception as e:  # out of shared memory with one of the compilers: only this one fails
            line = {"error": f"{type(e).__name__}: {e}"[:300]}
        print(json.dumps({"file": template.problem, **line}), flush=True)


if __name__ == "__main__":
    of_folder = {"compile": compile_all, "time": time_all}
    inductor_kernels.run_command(__doc__, collect, compile_model, of_folder, passes="inference", least_us=0)
