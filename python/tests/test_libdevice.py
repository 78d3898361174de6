"""Functions of libdevice with a rounding mode, and of bits: the interpreter computes what the emulated code does."""

import importlib.util

import pytest

pytest.importorskip("triton")
np = pytest.importorskip("numpy")

from tessera.triton import emulate  # noqa: E402

MODES = ("rn", "rz", "rd", "ru")
ARITHMETIC = {"add": 2, "mul": 2, "div": 2, "rcp": 1, "sqrt": 1, "sub": 2}
ROUNDED = [f"{op}_{m}" for op in ARITHMETIC for m in MODES]
# Name, operands and the type of the result, by the operands' type.
FUNCTIONS = {
    "f4": [
        *((f, ARITHMETIC[f.split("_")[0]], "f4") for f in ROUNDED),
        *((f"fma_{m}", 3, "f4") for m in MODES),
        *((f"float2{to}_{m}", 1, ty) for to, ty in [("int", "i4"), ("uint", "u4"), ("ll", "i8")] for m in MODES),
        ("float_as_int", 1, "i4"),
        ("fma", 3, "f4"),
        ("nextafter", 2, "f4"),
    ],
    "f8": [
        *((f, ARITHMETIC[f.split("_")[0]], "f8") for f in ROUNDED),
        *((f"fma_{m}", 3, "f8") for m in MODES),
        *((f"double2float_{m}", 1, "f4") for m in MODES),
        *((f"double2{to}_{m}", 1, ty) for to, ty in [("int", "i4"), ("uint", "u4"), ("ll", "i8")] for m in MODES),
        ("double_as_longlong", 1, "i8"),
        ("double2hiint", 1, "i4"),
        ("double2loint", 1, "i4"),
        ("nextafter", 2, "f8"),
    ],
    "i4": [
        *((f"int2float_{m}", 1, "f4") for m in MODES),
        ("int2double_rn", 1, "f8"),
        ("hiloint2double", 2, "f8"),
        ("int_as_float", 1, "f4"),
        ("byte_perm", 3, "i4"),
    ],
    "u4": [*((f"uint2float_{m}", 1, "f4") for m in MODES), ("uint2double_rn", 1, "f8")],
    "i8": [(f"ll2{to}_{m}", 1, ty) for to, ty in [("float", "f4"), ("double", "f8")] for m in MODES],
    "u8": [(f"ull2{to}_{m}", 1, ty) for to, ty in [("float", "f4"), ("double", "f8")] for m in MODES],
}
SIZE = 256


def operands(dtype):
    random = np.random.default_rng(7)
    if dtype[0] == "f":
        x = random.standard_normal((3, SIZE)) * 10.0 ** random.integers(-3, 6, (3, SIZE))
        x[2] *= 2.0**-40  # of a multiply-add: decides on ties alone
        return np.abs(x).astype(dtype)
    bits = random.integers(0, 1 << 63, (3, SIZE), dtype="u8") * 2 + 1
    bits >>= random.integers(0, 40, (3, SIZE), dtype="u8")
    bits[:, 0] = 0
    return bits.astype(dtype)


@pytest.mark.parametrize("dtype", FUNCTIONS)
def test_libdevice(tmp_path, dtype):
    functions = FUNCTIONS[dtype]
    lines = ["import triton, triton.language as tl", "from triton.language.extra import libdevice", "@triton.jit"]
    lines.append(f"def kernel(x, {', '.join(f'o{i}' for i in range(len(functions)))}, B: tl.constexpr):")
    lines.append("    i = tl.arange(0, B)")
    lines += [f"    v{k} = tl.load(x + {k} * B + i)" for k in range(3)]
    for i, (name, arity, _) in enumerate(functions):
        lines.append(f"    tl.store(o{i} + i, libdevice.{name}({', '.join(f'v{k}' for k in range(arity))}))")
    path = tmp_path / "kernels.py"
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = operands(dtype)
    made = {}
    for target in ("interpreter", "sm_90a"):
        outputs = [np.zeros(SIZE, result) for *_, result in functions]
        with emulate(target):
            module.kernel[(1,)](x, *outputs, B=SIZE)
        made[target] = outputs
    for (name, *_), ours, theirs in zip(functions, made["interpreter"], made["sm_90a"]):
        np.testing.assert_array_equal(ours, theirs, err_msg=name)
