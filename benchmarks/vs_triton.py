#!/usr/bin/env python3
"""Kernel times on an NVIDIA GPU, Tessera's against Triton's, for the same TTIR and launch parameters.

  vs_triton.py prepare --out DIR LAUNCH.json…  [--target sm_90a] [--tessera PROGRAM] [--num-warps N] [--num-stages N]
  vs_triton.py measure DIR                     [--rounds 5] [--reps 20] [--json FILE]

`prepare` compiles each launch description's kernel (docs/launch.md) with both compilers and needs no GPU: `ptxas` and
`pip install triton`. `--num-warps` and `--num-stages` are Tessera's; Triton takes the description's. `measure` needs a
GPU and its driver, nothing else, so DIR may be copied to another machine.

Both kernels run on the same buffers. A round times each one `--reps` times between driver events, with the L2 cache
overwritten before each launch, and takes the median. Printed is the median ratio over all rounds (above 1: Tessera is
faster), with TFLOP/s and GB/s where the description gives `flops` and `bytes`. Outputs (buffers filled with `poison`)
are poisoned before each compiler's first launch and compared by relative L2 error.
"""
import argparse
import array
import ast
import ctypes
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i1": 1, "i8": 1, "u8": 1, "i16": 2, "i32": 4, "i64": 8,
         "f8E4M3FN": 1, "f8E5M2": 1}
SCALARS = {"i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
           "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}
L2_BYTES = 256 << 20
PATTERN = 1 << 16  # elements of random contents that are repeated


# ---- prepare: no GPU ----

def compile_tessera(program, ttir, target, options, out):
    command = [program, "compile", str(ttir), "--target", target, "-o", f"{out}.cubin", "--metadata", f"{out}.json"]
    subprocess.run(command + options, check=True)
    m = json.load(open(f"{out}.json"))
    return {"kernel": m["kernel"], "threads": m["threads_per_block"], "shared": m["dynamic_shared_bytes"],
            "scratch": m["global_scratch_bytes"], "registers": m["registers"], "spills": m["spill_bytes"]}


def compile_triton(ttir, target, launch, out):
    import triton
    from triton.backends.compiler import GPUTarget
    capability = int("".join(c for c in target if c.isdigit()))
    options = {"num_warps": launch.get("num_warps", 4), "num_stages": launch.get("num_stages", 3)}
    kernel = triton.compile(str(ttir), target=GPUTarget("cuda", capability, 32), options=options)
    with open(f"{out}.cubin", "wb") as file:
        file.write(kernel.asm["cubin"])
    m = kernel.metadata
    return {"kernel": m.name, "threads": m.num_warps * 32, "shared": m.shared, "scratch": m.global_scratch_size,
            "version": triton.__version__}


def prepare(args):
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, args.launches):
        launch = json.load(open(path))
        name = path.parent.name if path.name in ("launch.json", "bench.json") else path.stem
        ttir = path.parent / launch.get("ttir", path.parent.name + ".ttir")
        warps, stages = args.num_warps or launch.get("num_warps", 4), args.num_stages or launch.get("num_stages", 3)
        options = ["--num-warps", str(warps), "--num-stages", str(stages)]
        if "kernel" in launch:
            options += ["--kernel", launch["kernel"]]
        try:
            case = {"tessera": compile_tessera(args.tessera, ttir, args.target, options, out / f"{name}.tessera"),
                    "triton": compile_triton(ttir, args.target, launch, out / f"{name}.triton"), "launch": launch}
        except Exception as error:  # A kernel that one of them cannot compile is reported; the others are measured.
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for argument in launch["args"]:
            if "file" in argument:
                shutil.copy(path.parent / argument["file"], out / f"{name}.{argument['file']}")
        with open(out / f"{name}.case", "w") as file:
            json.dump(case, file)
        print(name)


# ---- measure: the CUDA driver by ctypes ----

class Driver:
    def __init__(self):
        self.library = ctypes.CDLL(os.environ.get("TESSERA_CUDA_LIBRARY", "libcuda.so.1"))
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.library, name)(*args)
        if status:
            raise RuntimeError(f"{name}: CUDA error {status}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 16)))
        return pointer

    def upload(self, pointer, data):
        self.call("cuMemcpyHtoD_v2", pointer, bytes(data), ctypes.c_size_t(len(data)))

    def download(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, pointer, ctypes.c_size_t(size))
        return data.raw

    def fill(self, pointer, byte, size):
        self.call("cuMemsetD8_v2", pointer, ctypes.c_uint8(byte), ctypes.c_size_t(size))

    def event(self):
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return event


class Kernel:
    def __init__(self, driver, cubin, info, grid, pointers):
        self.driver, self.info, self.grid = driver, info, grid
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), open(cubin, "rb").read())
        driver.call("cuModuleGetFunction", ctypes.byref(self.function), module, info["kernel"].encode())
        if info["shared"] > 48 * 1024:
            driver.call("cuFuncSetAttribute", self.function, 8, info["shared"])  # MAX_DYNAMIC_SHARED_SIZE_BYTES
        scratch = driver.allocate((info.get("scratch") or 0) * math.prod(grid))
        self.values = pointers + [scratch, ctypes.c_uint64(0)]
        self.parameters = (ctypes.c_void_p * len(self.values))(
            *[ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in self.values])

    def launch(self):
        self.driver.call("cuLaunchKernel", self.function, *self.grid, self.info["threads"], 1, 1, self.info["shared"],
                         None, self.parameters, None)


def encode(values, dtype):
    if dtype == "f16":
        return struct.pack(f"<{len(values)}e", *values)
    if dtype == "bf16":
        return array.array("H", [w >> 16 for w in struct.unpack(f"<{len(values)}I",
                                                                  array.array("f", values).tobytes())]).tobytes()
    if dtype.startswith("f8"):  # Bit patterns of moderate size; decoding is the kernel's matter.
        return bytes(random.randrange(0x20, 0x48) | random.choice((0, 0x80)) for _ in values)
    if dtype in ("f32", "f64"):
        return array.array({"f32": "f", "f64": "d"}[dtype], values).tobytes()
    size = BYTES[dtype]
    # Integers have no sign of their own: 255 is a byte, too.
    return b"".join((int(v) % (1 << 8 * size)).to_bytes(size, "little") for v in values)


def decode(data, dtype):
    if dtype == "bf16":
        return array.array("f", array.array("I", [w << 16 for w in array.array("H", data)]).tobytes())
    if dtype == "f16":
        return struct.unpack(f"<{len(data) // 2}e", data)
    code = {"f32": "f", "f64": "d"}.get(dtype) or {1: "b", 2: "h", 4: "i", 8: "q"}[BYTES[dtype]]
    return array.array(code, data)


def read_npy(path):
    data = open(path, "rb").read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:start].decode())
    if header["fortran_order"]:
        raise ValueError(f"{path}: Fortran order")
    return data[start:]


def contents(argument, folder, name):
    """The bytes of an input; the pattern of random ones is repeated. None: a buffer to poison."""
    count, dtype, fill = math.prod(argument["shape"]), argument["dtype"], argument.get("fill", "randn")
    if "file" in argument:
        return read_npy(folder / f"{name}.{argument['file']}")
    if fill == "poison":
        return None
    if isinstance(fill, (int, float)):
        return encode([fill], dtype) * count
    n = min(count, PATTERN)
    if fill == "randint":
        values = [random.randrange(argument["lo"], argument["hi"]) for _ in range(n)]
    else:
        values = [random.gauss(0, argument.get("scale", 1)) for _ in range(n)]
        if dtype[0] in "iu":
            values = [random.randrange(-8, 8) for _ in range(n)]
    one = encode(values, dtype)
    return (one * (count // n + 1))[:count * BYTES[dtype]]


def error(got, want, dtype):
    if got == want:
        return 0.0
    limit = (1 << 20) * BYTES[dtype]
    a, b = decode(got[:limit], dtype), decode(want[:limit], dtype)
    difference = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b)) / (sum(y * y for y in b) or 1))
    return math.inf if math.isnan(difference) else difference  # `max` could lose a NaN


def time_of(driver, kernel, l2, reps):
    begin, end, times = driver.event(), driver.event(), []
    elapsed = ctypes.c_float()
    for _ in range(reps):
        driver.fill(l2, 0, L2_BYTES)
        driver.call("cuEventRecord", begin, None)
        kernel.launch()
        driver.call("cuEventRecord", end, None)
        driver.call("cuEventSynchronize", end)
        driver.call("cuEventElapsedTime", ctypes.byref(elapsed), begin, end)
        times.append(elapsed.value)
    return statistics.median(times)


def measure_case(driver, l2, folder, path, args):
    name, case = path.stem, json.load(open(path))
    launch, pointers, outputs = case["launch"], [], []
    grid = (launch["grid"] + [1, 1])[:3]
    for argument in launch["args"]:
        if "scalar" in argument:
            pointers.append(SCALARS[argument["type"]](argument["scalar"]))
            continue
        size = math.prod(argument["shape"]) * BYTES[argument["dtype"]]
        pointers.append(driver.allocate(size))
        data = contents(argument, folder, name)
        if data is None:
            outputs.append((pointers[-1], size, argument["dtype"]))
        else:
            driver.upload(pointers[-1], data)
    kernels, results = {}, {}
    for compiler in ("triton", "tessera"):
        kernels[compiler] = Kernel(driver, folder / f"{name}.{compiler}.cubin", case[compiler], grid, pointers)
        for pointer, size, _ in outputs:
            driver.fill(pointer, 0xFF, size)
        kernels[compiler].launch()
        driver.call("cuCtxSynchronize")
        results[compiler] = [driver.download(p, size) for p, size, _ in outputs]
    errors = [error(a, b, o[2]) for a, b, o in zip(results["tessera"], results["triton"], outputs)]
    rounds = [{w: time_of(driver, kernels[w], l2, args.reps) for w in kernels} for _ in range(args.rounds)]
    ms = statistics.median(r["tessera"] for r in rounds)
    return {"name": name, "tessera_ms": ms, "triton_ms": statistics.median(r["triton"] for r in rounds),
            "ratio": statistics.median(r["triton"] / r["tessera"] for r in rounds), "error": max(errors, default=0.0),
            "tflops": launch.get("flops", 0) / ms / 1e9, "gbytes": launch.get("bytes", 0) / ms / 1e6,
            "registers": case["tessera"]["registers"], "spills": case["tessera"]["spills"]}


def measure(args):
    driver, folder = Driver(), pathlib.Path(args.folder)
    l2, rows = driver.allocate(L2_BYTES), []
    print(f"on {driver.name}\n\n| kernel | Tessera ms | Triton ms | ratio | TFLOP/s | GB/s "
          "| registers (spilled bytes) | error |")
    print("|---|---|---|---|---|---|---|---|")
    for path in sorted(folder.glob("*.case")):
        random.seed(1)
        r = measure_case(driver, l2, folder, path, args)
        rows.append(r)
        print(f"| {r['name']} | {r['tessera_ms']:.4f} | {r['triton_ms']:.4f} | {r['ratio']:.2f} | {r['tflops']:.0f} | "
              f"{r['gbytes']:.0f} | {r['registers']} ({r['spills']}) | {r['error']:.1e} |", flush=True)
    if rows:
        mean = math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows))
        print(f"\ngeometric mean {mean:.3f} over {len(rows)} kernels")
    if args.json:
        json.dump({"device": driver.name, "kernels": rows}, open(args.json, "w"), indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    p = commands.add_parser("prepare")
    p.add_argument("launches", nargs="+")
    p.add_argument("--out", required=True)
    p.add_argument("--target", default="sm_90a")
    p.add_argument("--tessera", default="tessera")
    p.add_argument("--num-warps", type=int)
    p.add_argument("--num-stages", type=int)
    m = commands.add_parser("measure")
    m.add_argument("folder")
    m.add_argument("--rounds", type=int, default=5)
    m.add_argument("--reps", type=int, default=20)
    m.add_argument("--json")
    args = parser.parse_args()
    prepare(args) if args.command == "prepare" else measure(args)


if __name__ == "__main__":
    main()
