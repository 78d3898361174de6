#!/usr/bin/env python3
"""Our matmul and attention against hand-written objects of ROCm/aiter, both by the timing model (docs/amd_timing.md).

  aiter_compare.py --aiter DIR --tessera PATH [--model PATH] [--targets gfx942,gfx950] [--only REGEX] [--quick]
                   [--json OUT]

DIR is a checkout of github.com/ROCm/aiter, or its git directory. The hand-written kernels get the arguments and grids
that csrc/py_itfs_cu/asm_gemm_a16w16.cu and csrc/cpp_itfs/mha_fwd.cu give them; ours are `gemm` and `flash_attention` of
amd_kernels.py (which needs Triton 3.6.0 for the TTIR; no GPU), compiled with each of a few tile sizes as an autotuner
would, the fastest one is compared. Both are timed with the same data (random normal numbers), shapes and strides.

Causal attention: our workgroups differ in length, and the model's sample may not stand for the grid (aiter's join a
long and a short one). The column of instructions shows it: about 0.55 of those without the mask are right.

`--quick` tries only the first tile size of each case. Nothing of the checkout is kept.
"""
import argparse
import concurrent.futures
import json
import os
import re
import sys
import tempfile

import aiter_calibration
import amd_kernels
import amd_model
from aiter_calibration import arguments_of, rows_of, up



UNITS = {"gfx942": 304, "gfx950": 256}  # compute units


def random(name, *shape):
    return {"name": name, "dtype": "bf16", "shape": list(shape), "fill": "randn"}


# ---- hand-written kernels: fields 16 bytes apart, then grid and threads ----


def aiter_gemm(tile, split):
    def launch(shape):
        m, n, k = shape
        semaphore = {"name": "semaphore", "dtype": "i32", "shape": [16, 64], "fill": 0} if split > 1 else None
        fields = [{**random("D", m, n), "fill": 0}, None, random("A", rows_of(m, tile[0]), k),
                  random("B", rows_of(n, tile[1]), k), 1.0, 0.0, n * 2, 0, n * 2, 0, k * 2, 0, k * 2, 0, m, n, k, split,
                  1, None, 0, semaphore]  # fmt: skip
        return fields, [up(n, tile[1]), up(m, tile[0]), split], 256

    return launch


def aiter_attention(causal):
    def launch(shape):
        heads, n, d = shape
        rows, q_tile = d * 2, 256
        qkv = [{**random("O", heads, n, d), "fill": 0}, *(random(x, heads, n, d) for x in "QKV")]
        option = 5 if not causal or (heads % 8 == 0 and n <= 16384) else 3
        strides = [n * rows, heads * n * rows]
        fields = [*qkv, None, d**-0.5, n, rows, q_tile * rows, *strides, 1, rows, *strides, option, 0, n, d, d, heads,
                  rows, *strides, rows, *strides, None, None, n * 4]  # fmt: skip
        return fields, [up(up(n, q_tile), 2 if causal else 1), heads, 1], 512

    return launch


def described(kernel, launch, shape, layout):
    fields, grid, threads = launch(shape)
    args = []
    for offset, size in layout:
        field = fields[offset // 16] if offset % 16 == 0 and offset // 16 < len(fields) else 0
        kind = "f32" if isinstance(field, float) else "i%d" % (8 * size)
        args.append(field if isinstance(field, dict) else {"name": "at%d" % offset, "scalar": field or 0, "type": kind})
    return {"kernel": kernel, "grid": grid, "num_warps": threads // 64, "args": args}, threads


def by_aiter(o, case, tmp):
    path, launch = "%s/aiter.co" % tmp, "%s/aiter.json" % tmp
    with open(path, "wb") as f:
        f.write(o.checkout.read("hsa/%s/%s" % (case["target"], case["object"])))
    text, threads = described(case["kernel"], case["launch"], case["shape"], arguments_of(path, o.readelf))
    with open(launch, "w") as f:
        json.dump(text, f)
    return amd_model.predicted(o, path, launch, threads, 0)


# ---- ours ----


def our_gemm(blocks, warps, stages):
    def add(name, shape):
        m, n, k = shape
        data, out = amd_kernels.data, amd_kernels.out
        amd_kernels.case(name, amd_kernels.gemm, [up(m, blocks[0]) * up(n, blocks[1])],
                         [data("bf16", m, k), data("bf16", n, k), out("bf16", m, n), m, n, k, k, n, k, *blocks, 8,
                          amd_kernels.tl.float32, True], warps, stages)  # fmt: skip

    return "%d×%d×%d, %d warps, %d stages" % (*blocks, warps, stages), add


def our_attention(blocks, warps, stages, causal):
    def add(name, shape):
        heads, n, d = shape
        data = [amd_kernels.data("bf16", heads, n, d) for _ in range(3)]
        amd_kernels.case(name, amd_kernels.flash_attention, [n // blocks[0], heads],
                         [*data, amd_kernels.out("bf16", heads, n, d), n, d**-0.5, *blocks, d, causal], warps, stages)

    return "%d×%d, %d warps, %d stages" % (*blocks, warps, stages), add


def by_tessera(o, case, n, tmp):
    what, add = case["ours"][n]
    name = "_%s_%d" % (case["target"], n)
    add(case["name"] + name, case["shape"])
    amd_kernels.write(tmp, case["name"] + name)
    folder = "%s/%s%s" % (tmp, case["name"], name)
    spec = folder + "/launch.json"
    with open(spec) as f:
        description = case["name"] + name, folder, spec, json.load(f)
    return {"tiles": what, **amd_model.by_tessera(o.tessera, o, tmp, description, case["target"])}


# ---- cases ----


def gemms(target):
    if target == "gfx950":
        shapes = [(4096, 4096, 4096), (8192, 8192, 8192)]
        tiles = [(256, 256, 64), (256, 256, 32), (256, 128, 64), (128, 128, 64)]
        objects = [("256x256", "bf16gemm_bf16_tn_256x256", (256, 256), 1)]
    else:  # There are none of 256 × 256, and all split K: at least in two, with at most 1,024 tiles.
        shapes = [(2048, 2048, 8192)]
        tiles = [(128, 128, 64), (256, 128, 64), (128, 64, 64), (256, 256, 32)]
        objects = [("96x64", "bf16gemm_fp32bf16_tn_96x64_splitk_clean", (96, 64), 2),
                   ("64x64", "bf16gemm_fp32bf16_tn_64x64_splitk_clean", (64, 64), 2),
                   ("160x64", "bf16gemm_fp32bf16_tn_160x64_bshuffle_splitk_clean", (160, 64), 2)]  # fmt: skip
    for shape in shapes:
        for label, name, tile, split in objects:
            yield {"name": "gemm_bf16_%s_%s" % ("x".join(map(str, shape)), label), "target": target, "shape": shape,
                   "object": "bf16gemm/%s.co" % name, "kernel": "_ZN5aiter%d%sE" % (len(name), name),
                   "launch": aiter_gemm(tile, split), "flop": 2 * shape[0] * shape[1] * shape[2],
                   "ours": [our_gemm(t, w, 2) for t in tiles for w in ((8, 4) if t[0] * t[1] > 16384 else (8,))
                            if t[0] * t[1] // w <= 16384]}  # fmt: skip


def attentions(target):
    for n, heads in ((4096, 64), (8192, 64)):
        for causal in (False, True):
            suffix = "_causal" if causal else ""
            name = "fwd_hd128_bf16" + suffix
            folder = "fmha_v3_fwd/" + ("MI300/" if target == "gfx942" else "")
            name += "_rtne" if target == "gfx942" else ""
            kernel = "fmha_" + name
            tiles = [(128, 64, 4), (256, 64, 8), (256, 128, 8), (256, 32, 8), (128, 32, 4), (128, 64, 8)]
            yield {"name": "attention_d128_%d%s" % (n, suffix), "target": target, "shape": (heads, n, 128),
                   "object": folder + name + ".co", "kernel": "_ZN5aiter%d%sE" % (len(kernel), kernel),
                   "launch": aiter_attention(causal), "flop": 4 * heads * n * n * 128 // (2 if causal else 1),
                   **({"workgroups": up(heads * n // 128, UNITS[target])} if causal else {}),
                   "ours": [our_attention((bm, bn), w, 2, causal) for bm, bn, w in tiles]}  # fmt: skip


def rate(case, result):
    return "%.1f µs (%.0f)" % (result["us"], case["flop"] / result["us"] * 1e-6) if "us" in result else result["error"]


def measure(o, case):
    o = argparse.Namespace(**vars(o))
    # Workgroups of different lengths: all that a compute unit gets in its turn stand for the grid.
    o.option = o.option + ["--workgroups", str(case["workgroups"])] if "workgroups" in case else o.option
    with tempfile.TemporaryDirectory(prefix="aiter_compare") as tmp:
        theirs = by_aiter(o, case, tmp)
        ours = [by_tessera(o, case, n, tmp) for n in range(1 if o.quick else len(case["ours"]))]
    return {"name": case["name"], "target": case["target"], "theirs": theirs, "ours": ours}


def line(case, row):
    theirs, timed = row["theirs"], [r for r in row["ours"] if "us" in r]
    best = min(timed, key=lambda r: r["us"]) if timed else row["ours"][0]
    speed = "%.2f" % (theirs["us"] / best["us"]) if "us" in theirs and timed else ""
    busy = ["%.0f %%" % r["matrix"] if "us" in r else "" for r in (theirs, best)]
    length = ["%.0f" % r["instructions"] if "us" in r else "" for r in (theirs, best)]
    return "| %s |" % " | ".join([case["name"], case["target"], rate(case, theirs), rate(case, best), speed,
                                  "%s (%s)" % (busy[1], busy[0]), "%s (%s)" % (length[1], length[0]),
                                  best["tiles"]])  # fmt: skip


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--aiter", required=True, help="checkout of ROCm/aiter, or its git directory")
    p.add_argument("--tessera", required=True, help="the program")
    p.add_argument("--model", help="the program whose model is used; default: --tessera")
    p.add_argument("--targets", default="gfx942,gfx950")
    p.add_argument("--only", default="", help="cases whose name this expression is found in")
    p.add_argument("--quick", action="store_true", help="only the first tile size of each case")
    p.add_argument("--option", action="append", default=[], help="another option of tessera time")
    p.add_argument("--time-limit", type=float, default=300, help="seconds for a compilation or a prediction")
    p.add_argument("--readelf", default="llvm-readelf-22")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--json", help="write all figures, those of the slower tile sizes too")
    o = p.parse_args()
    o.model, o.skip_pass, o.checkout = o.model or o.tessera, None, aiter_calibration.Checkout(o.aiter)
    cases = [c for t in o.targets.split(",") for c in (*gemms(t), *attentions(t)) if re.search(o.only, c["name"])]
    print("| kernel | target | aiter (TFLOP/s) | ours (TFLOP/s) | speed of ours | matrix units busy (aiter's) "
          "| instructions of a workgroup (aiter's) | our tiles |\n|---|---|---|---|---|---|---|---|",
          flush=True)  # fmt: skip
    rows = []
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for case, row in zip(cases, pool.map(lambda c: measure(o, c), cases)):
            rows.append(row)
            print(line(case, row), flush=True)
            if o.json:
                aiter_calibration.write_rows(o.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
