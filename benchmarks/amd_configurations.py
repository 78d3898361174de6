#!/usr/bin/env python3
"""AMD kernels by the timing model (docs/amd_timing.md): Tessera and Triton, each with its best configuration.

  amd_configurations.py --new build/tools/tessera [--targets gfx942,gfx950] [--only REGEX] [--first N] [--prune N]
                        [--json OUT] [--from EARLIER]

A problem (a GEMM of a type, layout and size; attention; rows of a length) is compiled by both with each of a few tile
sizes, numbers of warps and stages, as an autotuner would, from the same TTIR. The fastest of each side are compared;
beside that stands the comparison by the first configuration, which is that of amd_kernels.py.

Objects are shared by the sizes of a problem. `--first` limits the configurations. `--prune N`: at 2048 and 8192, and
in f16, only the first configuration and those that were among the N fastest of a side at 1024 or 4096 (for f16: of
bf16). `--from` continues an earlier run: what its JSON has is not timed again; failures of Triton's compiler are kept,
too.

Causal attention has 15 blocks of queries a head and as many heads as the board has compute units (47 on gfx1100, whose
48 have a divisor in common with 15): the replayed compute unit gets one workgroup of each length, and all of them are
replayed. `order-programs` is skipped there, since it changes which ones these are.

Needs `pip install triton==3.6.0`; no GPU.
"""
import argparse
import hashlib
import json
import math
import os
import re
import sys
import tempfile

import amd_kernels
import amd_model
from amd_kernels import data, out, tl, triton

TARGETS = ("gfx942", "gfx950", "gfx1100", "gfx1201")
CAUSAL_UNITS = {"gfx942": 304, "gfx950": 256, "gfx1100": 47, "gfx1201": 32}
amd_kernels.TYPES["f8E4M3FNUZ"] = "fp8e4b8"


@triton.jit
def scaled_gemm(a, b, c, sa, sb, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FA: tl.constexpr,
                FB: tl.constexpr, GROUP: tl.constexpr):
    """e8m0 scales for 32 elements of a row; e2m1: two in a byte."""
    PA: tl.constexpr = 2 if FA == "e2m1" else 1
    PB: tl.constexpr = 2 if FB == "e2m1" else 1
    pid, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * tiles_n) * GROUP
    size = min(tiles_m - first, GROUP)
    pm, pn = first + pid % (GROUP * tiles_n) % size, pid % (GROUP * tiles_n) // size
    rm, rn = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)
    ka, kb, ks = tl.arange(0, BK // PA), tl.arange(0, BK // PB), tl.arange(0, BK // 32)
    pa, pb = a + rm[:, None] * (K // PA) + ka[None, :], b + kb[:, None] + rn[None, :] * (K // PB)
    psa, psb = sa + rm[:, None] * (K // 32) + ks[None, :], sb + rn[:, None] * (K // 32) + ks[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot_scaled(tl.load(pa), tl.load(psa), FA, tl.load(pb), tl.load(psb), FB, acc)
        pa += BK // PA
        pb += BK // PB
        psa += BK // 32
        psb += BK // 32
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16))


class Problem:
    """add(name, configuration) registers a kernel with amd_kernels; a configuration ends with warps and stages."""

    def __init__(self, family, name, size, configurations, add, targets=TARGETS, causal=False, group=None):
        self.family, self.name, self.size, self.configurations, self.add = family, name, size, configurations, add
        self.targets, self.causal, self.group = targets, causal, group or name


def unique(configurations):
    return list(dict.fromkeys(configurations))


def gemms():
    tiles = [(128, 64, 64, 4, 2), (128, 128, 32, 4, 2), (128, 128, 32, 8, 3), (256, 128, 32, 8, 2),
             (256, 128, 64, 8, 2), (256, 256, 32, 8, 2), (256, 256, 64, 8, 2)]  # fmt: skip
    types = (("bf16", "bf16", TARGETS), ("f16", "f16", TARGETS), ("i8", "i8", TARGETS),
             ("f8", "f8E4M3FNUZ", ("gfx942",)), ("f8", "f8E4M3FN", ("gfx950", "gfx1201")))  # fmt: skip
    for short, dtype, targets in types:
        for tb in (False, True):
            for n in (1024, 2048, 4096, 8192):
                wide = 2 if dtype in ("i8", "f8E4M3FN", "f8E4M3FNUZ") else 1
                standard = (64, 64, 64, 4, 2) if n == 1024 else (128, 128, 64, 8, 2)
                small = (64, 64, 64, 4, 2)
                shapes = [(bm, bn, bk * wide, *rest)
                          for bm, bn, bk, *rest in unique([standard, (128, 128, 64, 8, 2), small, *tiles])]

                def add(name, c, dtype=dtype, tb=tb, n=n):
                    bm, bn, bk, warps, stages = c
                    to = "i32" if dtype == "i8" else "f16" if dtype[:2] == "f8" else dtype
                    whole = dict(lo=-8, hi=8) if dtype == "i8" else {}
                    acc = tl.int32 if dtype == "i8" else tl.float32
                    amd_kernels.case(name, amd_kernels.gemm, [-(-n // bm) * -(-n // bn)],
                                     [data(dtype, n, n, **whole), data(dtype, n, n, **whole), out(to, n, n), n, n, n,
                                      n, n, n, bm, bn, bk, 8, acc, tb], warps, stages)  # fmt: skip

                group = "gemm_%s_%s" % (short, "nt" if tb else "nn")
                yield Problem("GEMM", "%s_%d" % (group, n), n, shapes, add, targets, group=group)


def scaled():
    formats = {"mxfp8": ("e4m3", "e4m3"), "mxfp4": ("e2m1", "e2m1"), "mxfp8_mxfp4": ("e4m3", "e2m1")}
    for name, (fa, fb) in formats.items():
        for n in (1024, 2048, 4096, 8192):
            tiles = [(128, 128, 128, 4, 2), (128, 128, 128, 8, 2), (64, 64, 256, 4, 2), (128, 128, 256, 4, 2),
                     (128, 128, 256, 8, 2), (256, 256, 128, 8, 2), (256, 256, 256, 8, 2)]  # fmt: skip

            def add(kernel, c, fa=fa, fb=fb, n=n):
                bm, bn, bk, warps, stages = c
                operand = lambda f: (data("f8E4M3FN", n, n) if f == "e4m3" else data("u8", n, n // 2, lo=0, hi=256))
                scales = lambda: data("u8", n, n // 32, lo=125, hi=130)
                amd_kernels.case(kernel, scaled_gemm, [n // bm * (n // bn)],
                                 [operand(fa), operand(fb), out("bf16", n, n), scales(), scales(), n, n, n, bm, bn,
                                  bk, fa, fb, 8], warps, stages)  # fmt: skip

            yield Problem("dots with scales", "%s_%d" % (name, n), n, tiles, add, ("gfx950",), group=name)


def attentions():
    for kernel, label in ((amd_kernels.attention, "attention"), (amd_kernels.flash_attention, "flash")):
        for d, dtype in ((64, "f16"), (128, "bf16")):
            for causal in (False, True):
                tiles = [(128, 64, 4, 2), (128, 64, 8, 2), (128, 32, 4, 2), (128, 128, 8, 2)]
                tiles += [] if causal else [(64, 64, 4, 2), (64, 32, 4, 2), (256, 64, 8, 2)]

                def add(name, c, kernel=kernel, d=d, dtype=dtype, causal=causal, target="gfx942"):
                    bm, bn, warps, stages = c
                    n, heads = (15 * 128, CAUSAL_UNITS[target]) if causal else (2048, 16)
                    fill = {"fill": 0} if causal else {}  # 304 heads of random numbers take seconds
                    amd_kernels.case(name, kernel, [n // bm, heads],
                                     [*(data(dtype, heads, n, d, **fill) for _ in range(3)),
                                      out(dtype, heads, n, d), n, 0.125, bm, bn, d, causal], warps, stages)

                yield Problem("attention", "%s_d%d%s" % (label, d, "_causal" if causal else ""), 2048, tiles, add,
                              causal=causal)


def others():
    amd_kernels.rows()
    amd_kernels.dots()
    earlier = {n: c for n, c in amd_kernels.CASES.items() if n.startswith(("softmax", "layer_norm", "experts"))}
    for name, (kernel, grid, arguments, warps, stages) in earlier.items():
        if name == "layer_norm_backward_f32_1000":
            continue
        if name.startswith("experts"):
            tiles = [(64, 128, 64, 4, 2), (64, 128, 64, 8, 2), (64, 64, 64, 4, 2), (64, 64, 128, 4, 2),
                     (64, 256, 64, 8, 2), (64, 128, 32, 4, 2)]  # fmt: skip

            def add(label, c, a=arguments):
                amd_kernels.case(label, amd_kernels.experts, [32, 2048 // c[1]], [*a[:-3], *c[:3]], *c[3:])

            yield Problem("mixture of experts", name, 2048, tiles, add)
        else:

            def add(label, c, k=kernel, g=grid, a=arguments):
                amd_kernels.case(label, k, g, a, *c)

            configurations = unique([(warps, 2), (1, 2), (2, 2), (4, 2), (8, 2), (16, 2)])
            yield Problem("layer norm" if name.startswith("layer") else "softmax", name, 0, configurations, add)


def label_of(c):
    return "%s, %d warps, %d stages" % (" x ".join(map(str, c[:-2])), *c[-2:]) if len(c) > 2 else "%d warps" % c[0]


OBJECTS = {}


def compiled(o, side, folder, name, launch, target):
    """What amd_model's compilation returns, kept by the TTIR: sizes differ in the launch only."""
    text = open("%s/%s/%s.ttir" % (folder, name, name)).read()
    key = side, target, launch["num_warps"], launch["num_stages"], hashlib.sha256(text.encode()).hexdigest()
    if key not in OBJECTS:
        place = "%s/%s" % (o.objects, hashlib.sha256(repr((os.getpid(), key)).encode()).hexdigest()[:16])
        os.makedirs(place)
        case = name, "%s/%s" % (folder, name), None, launch
        make = amd_model.compiled_by_triton if side == "triton" else amd_model.compiled_by_tessera
        OBJECTS[key] = make(o.new, o, place, case, target) if side != "triton" else make(o, place, case, target)
    return OBJECTS[key]


def timed(o, problem, target, n, side):
    c = problem.configurations[n]
    with tempfile.TemporaryDirectory(prefix="amd_configurations") as tmp:
        name = "case"
        amd_kernels.CASES.pop(name, None)
        problem.add(name, c, **({"target": target} if problem.causal else {}))
        amd_kernels.write(tmp, name)
        spec = "%s/%s/launch.json" % (tmp, name)
        launch = json.load(open(spec))
        o = argparse.Namespace(**vars(o))
        o.skip_pass = "order-programs" if problem.causal else None
        built = compiled(o, side, tmp, name, launch, target)
        if "error" in built:
            return built
        if problem.causal:
            grid = launch["grid"]
            o.option = [*o.option, "--compute-units", str(CAUSAL_UNITS[target]), "--workgroups", str(grid[0])]
        r = amd_model.predicted(o, built["object"], spec, built["threads"], built["lds"])
        return {**r, **{k: built[k] for k in ("spill_bytes", "compile_ms") if k in built}}


def measure(o, problem, target, earlier, only):
    row = earlier or {"problem": problem.name, "family": problem.family, "group": problem.group, "size": problem.size,
                      "target": target, "ours": {}, "triton": {}}  # fmt: skip
    for n, c in enumerate(problem.configurations):
        if n >= o.first or (only and n and label_of(c) not in only):
            continue
        for side in ("ours", "triton"):
            if label_of(c) not in row[side]:
                row[side][label_of(c)] = timed(o, problem, target, n, side)
    row["standard"] = label_of(problem.configurations[0])
    return row


def best(results):
    done = {c: r for c, r in results.items() if "us" in r}
    return min(done.items(), key=lambda item: item[1]["us"]) if done else (None, None)


def ratios(row):
    """(best against best, standard against standard), None where one side has no time."""
    first, other = row["ours"].get(row["standard"], {}), row["triton"].get(row["standard"], {})
    ours, triton_best = best(row["ours"])[1], best(row["triton"])[1]
    return (triton_best["us"] / ours["us"] if ours and triton_best else None,
            other["us"] / first["us"] if "us" in first and "us" in other else None)  # fmt: skip


def line(row):
    (oc, o), (tc, t), (q, standard) = best(row["ours"]), best(row["triton"]), ratios(row)
    text = lambda c, r: "%.2f µs (%s)" % (r["us"], c) if r else "none"
    standard_pair = [row[s].get(row["standard"], {}) for s in ("ours", "triton")]
    instructions = amd_model.ratio(*standard_pair, "instructions")
    cells = [row["problem"], row["target"], text(oc, o), text(tc, t), "%.2f" % q if q else "",
             "%.2f" % standard if standard else "", "%.2f" % instructions if instructions else "",
             "%.1f %%" % (100 * max(r.get("conflicts", 0) for r in row["ours"].values())),
             str(max(r.get("spill_bytes", 0) for r in row["ours"].values()))]  # fmt: skip
    return "| %s |" % " | ".join(cells)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def report(rows):
    for target in sorted({r["target"] for r in rows}, key=TARGETS.index):
        mine = [(r, *ratios(r)) for r in rows if r["target"] == target]
        print("\n%s" % target)
        for family in [*dict.fromkeys(r["family"] for r, _, _ in mine), None]:
            for what, at in (("best", 1), ("standard", 2)):
                q = {x[0]["problem"]: x[at] for x in mine if (not family or x[0]["family"] == family) and x[at]}
                if q:
                    worst = min(q, key=q.get)
                    print("%s, %s: geometric mean %.3f over %d, lowest %.3f (%s); below 0.98: %s"
                          % (family or "all", what, geometric_mean(q.values()), len(q), q[worst], worst,
                             ", ".join("%s %.3f" % (p, v) for p, v in q.items() if v < 0.98) or "none"))  # fmt: skip


def fastest(rows, group, target, count):
    """Configurations among the `count` fastest of a side at a size that was timed with all of them."""
    names, group = set(), group.replace("_f16", "_bf16")
    for r in rows:
        if r["group"] == group and r["target"] == target and r["size"] in (1024, 4096):
            for side in ("ours", "triton"):
                done = [(x["us"], c) for c, x in r[side].items() if "us" in x]
                names.update(c for _, c in sorted(done)[:count])
    return names


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--new", required=True, help="tessera: compiler and model")
    p.add_argument("--targets", default="gfx942,gfx950,gfx1100,gfx1201")
    p.add_argument("--only", default="", help="problems whose name this expression is found in")
    p.add_argument("--first", type=int, default=1000, help="only so many configurations")
    p.add_argument("--prune", type=int, default=0, help="see above")
    p.add_argument("--time-limit", type=float, default=120, help="seconds for a compilation or a prediction")
    p.add_argument("--option", action="append", default=[], help="another option of tessera time")
    p.add_argument("--json")
    p.add_argument("--from", dest="earlier", help="the JSON of an earlier run")
    p.add_argument("--report", action="store_true", help="time nothing; print the tables of --from")
    o = p.parse_args()
    o.model = o.new
    rows = json.load(open(o.earlier)) if o.earlier else []
    known = {(r["problem"], r["target"]): r for r in rows}
    if o.report:
        print("\n".join(line(r) for r in rows))
        report(rows)
        return 0
    problems = [x for x in (*gemms(), *scaled(), *attentions(), *others()) if re.search(o.only, x.name)]
    problems.sort(key=lambda x: x.size in (2048, 8192) and x.family in ("GEMM", "dots with scales"))
    with tempfile.TemporaryDirectory(prefix="amd_configurations_objects") as o.objects:
        for target in o.targets.split(","):
            for x in (x for x in problems if target in x.targets):
                pruned = o.prune and x.group != x.name and (x.size in (2048, 8192) or "_f16" in x.group)
                row = measure(o, x, target, known.get((x.name, target)),
                              fastest(rows, x.group, target, o.prune) if pruned else None)
                if (x.name, target) not in known:
                    rows.append(row)
                print(line(row), flush=True)
                if o.json:
                    json.dump(rows, open(o.json + ".part", "w"), indent=1)
                    os.replace(o.json + ".part", o.json)
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
