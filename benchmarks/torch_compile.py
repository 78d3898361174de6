#!/usr/bin/env python3
"""torch.compile with the plug-in of tessera-gpu and without: time to compile, time of a training step, and results.

    benchmarks/torch_compile.py [--steps 30] [--model NAME]...

Each model is compiled twice in fresh processes with empty caches, TESSERA_TRITON=0 and 1; a table goes to stdout. Needs
a GPU, PyTorch, and tessera-gpu installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


def attention(width, heads, gated):
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            norm = nn.RMSNorm if gated else nn.LayerNorm
            self.norm1, self.norm2 = norm(width), norm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up = nn.Linear(width, (8 if gated else 4) * width)
            self.down = nn.Linear(4 * width, width)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = (
                y.view(b, t, heads, width // heads).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, -1)
            )
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, width))
            h = self.up(self.norm2(x))
            if gated:
                gate, h = h.chunk(2, -1)
                h = nn.functional.silu(gate) * h
            else:
                h = nn.functional.gelu(h)
            return x + self.down(h)

    blocks = nn.Sequential(*[Block() for _ in range(4)])
    return blocks, torch.randn(8, 512, width, device="cuda")


def convolutions():
    import torch
    from torch import nn

    def block(a, b, stride):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU())

    layers = [block(3, 64, 2), block(64, 128, 2), block(128, 256, 2), block(256, 256, 1), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(256, 1000)), torch.randn(64, 3, 224, 224, device="cuda")


MODELS = {
    "gpt": lambda: attention(768, 12, gated=False),
    "llama": lambda: attention(1024, 16, gated=True),
    "convolutions": convolutions,
}


def measure(name, steps):
    """Seconds of the first step, milliseconds of a later one, and the losses."""
    import torch

    torch.manual_seed(0)
    model, x = MODELS[name]()
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4)

    @torch.compile
    def loss_of(x):
        with torch.autocast("cuda", torch.bfloat16):
            return model(x).float().square().mean()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(x)
        loss.backward()
        optimizer.step()
        return loss

    start = time.perf_counter()
    losses = [step().item()]
    first = time.perf_counter() - start
    losses += [step().item() for _ in range(4)]
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(steps):
        step()
    end.record()
    torch.cuda.synchronize()
    from pathlib import Path

    from tessera.triton.__main__ import read_cache

    made = read_cache(Path(os.environ["TRITON_CACHE_DIR"]))
    ours = sum(r.by_tessera for r in made)
    return {"first": first, "step": begin.elapsed_time(end) / steps, "losses": losses, "ours": ours, "all": len(made)}


def run(name, mode, steps, threads):
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "TESSERA_TRITON": mode,
            "TORCHINDUCTOR_CACHE_DIR": folder,
            "TRITON_CACHE_DIR": os.path.join(folder, "triton"),
            "TORCHINDUCTOR_COMPILE_THREADS": str(threads),
        }
        command = [sys.executable, __file__, "--measure", name, "--steps", str(steps)]
        made = subprocess.run(command, env=environment, capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"{name}, TESSERA_TRITON={mode}:\n{made.stderr[-4000:]}")
        return json.loads(made.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1, help="Inductor's compile workers")
    parser.add_argument("--model", action="append", choices=MODELS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.steps)))
        return
    print("| model | first step, s: Triton | tessera | step, ms: Triton | tessera | ratio | kernels | loss after 5 |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.model or MODELS:
        theirs, ours = (run(name, mode, options.steps, options.threads) for mode in "01")
        print(
            f"| {name} | {theirs['first']:.1f} | {ours['first']:.1f} | {theirs['step']:.3f} | {ours['step']:.3f} | "
            f"{theirs['step'] / ours['step']:.3f} | {ours['ours']}/{ours['all']} | "
            f"{theirs['losses'][-1]:.6f} {ours['losses'][-1]:.6f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
