#!/usr/bin/env python3
"""Main loops of AMD kernels, ours against Triton's for the same TTIR, by disassembly. No GPU needed.

  amd_loops.py --tessera PATH KERNEL_DIR... [--targets gfx942,gfx950,gfx1100,gfx1201] [--num-warps N]
               [--objdump llvm-objdump-22] [--readelf llvm-readelf-22]

KERNEL_DIR holds launch.json (`ttir`, `num_warps`, `num_stages`). Prints a Markdown table with two rows per kernel and
target: Tessera's, and Triton's if `pip install triton` was run. The main loop is the innermost natural loop with the
most matrix work; without one (no loop, or no matrix instruction in it) the whole kernel is counted. Columns:

  MACs       multiply-adds of the loop's matrix instructions, in thousands per wave, and the instructions
  VGPRs      of the kernel, accumulation registers included; spills
  LDS        loads + stores (ds_bpermute and ds_swizzle do not access memory and are counted as shuffles)
  loads      global loads by bytes per lane: 2x16 is two of 16 bytes
  all        instructions of the loop
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("kernels", nargs="+")
p.add_argument("--tessera", required=True)
p.add_argument("--targets", default="gfx942,gfx950,gfx1100,gfx1201")
p.add_argument("--num-warps", type=int)
p.add_argument("--objdump", default="llvm-objdump-22")
p.add_argument("--readelf", default="llvm-readelf-22")
o = p.parse_args()
os.environ["TRITON_ALWAYS_COMPILE"] = "1"
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="amd_loops")
try:
    import triton
    from triton.backends.compiler import GPUTarget
except ImportError:
    triton = None


def instructions(path):
    """(address, text, branch target or None) in order."""
    out, base = [], None
    text = subprocess.run([o.objdump, "-d", path], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        m = re.match(r"\s+(\S.*?)\s*// ([0-9A-F]+): [0-9A-F ]+(?:<[^>+]*(?:\+0x([0-9a-f]+))?>)?", line)
        if not m:
            continue
        base = int(m[2], 16) if base is None else base
        branch = re.match(r"s_c?branch", m[1])
        out.append((int(m[2], 16), m[1], base + int(m[3] or "0", 16) if branch else None))
    return out


def natural_loops(ins):
    """Lists of instruction numbers."""
    at = {a: i for i, (a, _, _) in enumerate(ins)}
    ends = lambda t: t.startswith("s_endpgm")
    targets = {at[x] for _, _, x in ins if x in at}
    after_branches = {i + 1 for i, (_, t, x) in enumerate(ins[:-1]) if x is not None or ends(t)}
    leaders = {0} | targets | after_branches
    starts = sorted(leaders)
    number = {s: k for k, s in enumerate(starts)}
    last = [e - 1 for e in starts[1:]] + [len(ins) - 1]
    succ = []
    for k, e in enumerate(last):
        _, text, target = ins[e]
        s = [number[at[target]]] if target in at else []
        if not ends(text) and not text.startswith("s_branch") and k + 1 < len(starts):
            s.append(k + 1)
        succ.append(s)
    # Dominators by sets: kernels have few hundred blocks.
    pred = [[] for _ in starts]
    reached, work = {0}, [0]
    while work:
        k = work.pop()
        for s in succ[k]:
            pred[s].append(k)
            if s not in reached:
                reached.add(s); work.append(s)
    dom = {k: set(reached) for k in reached}
    dom[0] = {0}
    changed = True
    while changed:
        changed = False
        for k in sorted(reached - {0}):
            new = set.intersection(*(dom[q] for q in pred[k])) | {k}
            if new != dom[k]:
                dom[k], changed = new, True
    loops = {}
    for k in reached:
        for head in succ[k]:
            if head in dom[k]:
                body, work = loops.setdefault(head, {head}), [k]
                while work:
                    x = work.pop()
                    if x not in body:
                        body.add(x); work += pred[x]
    return [[i for k in sorted(b) for i in range(starts[k], last[k] + 1)] for b in loops.values()]


def macs(text):
    m = re.match(r"v_(?:s?mfma|wmma)\w*?_(\d+)x(\d+)x(\d+)", text)
    return int(m[1]) * int(m[2]) * int(m[3]) if m else 0


def load_bytes(op):
    m = re.match(r"(?:global|buffer|flat)_load_(\w+)", op)
    if not m:
        return 0
    kind = m[1]
    sizes = {"dwordx4": 16, "b128": 16, "dwordx3": 12, "b96": 12, "dwordx2": 8, "b64": 8, "dword": 4, "b32": 4}
    return sizes.get(kind) or (2 if "16" in kind or "short" in kind else 1)


def counts(path):
    ins = instructions(path)
    work = lambda l: sum(macs(ins[i][1]) for i in l)
    loops = [l for l in natural_loops(ins) if work(l)]
    loops = [l for l in loops if not any(set(m) < set(l) for m in loops)]
    loop = max(loops, key=work, default=range(len(ins)))
    r = collections.Counter(whole=not loops)
    loads = collections.Counter()
    for i in loop:
        op = ins[i][1].split()[0]
        r["all"] += 1
        r["macs"] += macs(op)
        r["matrix"] += bool(macs(op))
        r["lds_loads"] += bool(re.match(r"ds_(read|load)", op))
        r["lds_stores"] += bool(re.match(r"ds_(write|store)", op))
        r["barriers"] += op in ("s_barrier", "s_barrier_wait")
        if load_bytes(op):
            loads[load_bytes(op)] += 1
    notes = subprocess.run([o.readelf, "--notes", path], capture_output=True, text=True, check=True).stdout
    note = lambda k: int((re.search(rf"\.{k}:\s+(\d+)", notes) or [0, 0])[1])
    r["vgprs"], r["spills"] = note("vgpr_count"), note("vgpr_spill_count")
    r["loads"] = " ".join(f"{n}x{b}" for b, n in sorted(loads.items(), reverse=True)) or "0"
    return r


def row(name, target, compiler, r):
    whole = " (no loop)" if r["whole"] else ""
    cells = [name, target, compiler + whole, f"{r['macs'] / 1000:.0f} ({r['matrix']})", r["vgprs"], r["spills"],
             f"{r['lds_loads']} + {r['lds_stores']}", r["loads"], r["barriers"], r["all"]]
    print("| " + " | ".join(map(str, cells)) + " |")


print("| kernel | target | | MACs/1000 (instructions) | VGPRs | spills | LDS loads + stores | global loads | barriers "
      "| all |")
print("|---|---|---|---|---|---|---|---|---|---|")
with tempfile.TemporaryDirectory() as tmp:
    for directory in o.kernels:
        spec = json.load(open(f"{directory}/launch.json"))
        name, ttir = os.path.basename(os.path.normpath(directory)), f"{directory}/{spec['ttir']}"
        options = {"num_warps": o.num_warps or spec["num_warps"], "num_stages": spec["num_stages"]}
        for target in o.targets.split(","):
            command = [o.tessera, "compile", ttir, "--target", target, "--emit", "hsaco", "-o", f"{tmp}/tessera.hsaco"]
            command += ["--num-warps", str(options["num_warps"]), "--num-stages", str(options["num_stages"])]
            subprocess.run(command, check=True)
            row(name, target, "Tessera", counts(f"{tmp}/tessera.hsaco"))
            if not triton:
                continue
            try:
                gpu = GPUTarget("hip", target, 64 if target.startswith("gfx9") else 32)
                kernel = triton.compile(ttir, target=gpu, options=dict(options))
            except Exception as e:
                print(f"| {name} | {target} | Triton {triton.__version__} | {type(e).__name__} | | | | | | |")
                continue
            with open(f"{tmp}/triton.hsaco", "wb") as f:
                f.write(kernel.asm["hsaco"])
            row(name, target, f"Triton {triton.__version__}", counts(f"{tmp}/triton.hsaco"))
            sys.stdout.flush()
