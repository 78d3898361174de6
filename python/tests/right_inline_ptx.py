"""Right kernels with inline PTX as users write it: as right_elementwise.py. AMD targets have no PTX."""

import numpy as np
import pytest
import triton
import triton.language as tl

from tessera.triton import HostArray

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def needs_ptx():
    if triton.runtime.driver.active.get_current_target().backend != "cuda":
        pytest.skip("the target has no PTX")


def f4(*shape):
    return RNG.random(shape, dtype="f4") * 4 - 2


def bfloat(x):
    """The upper halves of f32, which are exact here."""
    return (x.astype("f4").view("u4") >> 16).astype("u2")


def of_bfloat(bits):
    return (bits.astype("u4") << 16).view("f4")


@triton.jit
def pairs(x, y, o, CODE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    v = tl.inline_asm_elementwise(CODE, "=r,r,r", [a, b], dtype=a.dtype, is_pure=True, pack=2)
    tl.store(o + i, v)


def test_pairs_of_bfloat():
    x, y = (RNG.integers(-8, 8, 256).astype("f4") for _ in "xy")
    o = np.zeros(256, "u2")
    arguments = [HostArray(bfloat(a), dtype="bfloat16") for a in (x, y)]
    pairs[(1,)](*arguments, HostArray(o, dtype="bfloat16"), "mul.bf16x2 $0, $1, $2;", 256)
    assert (of_bfloat(o) == x * y).all()


def test_pairs_of_halves():
    x, y = (RNG.integers(-8, 8, 256).astype("f2") for _ in "xy")
    o = np.zeros(256, "f2")
    code = "{ .reg .b32 one; mov.b32 one, 0x3c003c00; fma.rn.relu.f16x2 $0, $1, $2, one; }"
    pairs[(1,)](x, y, o, code, 256)
    assert (o == np.maximum(x * y + np.float16(1), 0)).all()


@triton.jit
def function(x, o, CODE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.inline_asm_elementwise(CODE, "=f,f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1))


FUNCTIONS = {
    "ex2.approx.ftz.f32 $0, $1;": np.exp2,
    "tanh.approx.f32 $0, $1;": np.tanh,
    "sin.approx.f32 $0, $1;": np.sin,
    "cos.approx.f32 $0, $1;": np.cos,
    "{ .reg .f32 t; mul.f32 t, $1, $1; rsqrt.approx.ftz.f32 $0, t; }": lambda x: 1 / np.abs(x),
    "{ .reg .f32 t; abs.f32 t, $1; sqrt.approx.f32 t, t; lg2.approx.f32 $0, t; }": lambda x: np.log2(np.abs(x)) / 2,
    "{ .reg .pred p; setp.lt.f32 p, $1, 0f00000000; @p neg.f32 $0, $1; @!p mov.f32 $0, $1; }": np.abs,
    "{ .reg .f32 h; mul.f32 h, $1, 0.5; tanh.approx.f32 h, h; fma.rn.f32 $0, h, 0.5, 0.5; }": lambda x: (
        1 / (1 + np.exp(-x))
    ),
    "{ .reg .b16 l, h; .reg .b32 r; cvt.rn.f16x2.f32 r, $1, $1; mov.b32 {l, h}, r; cvt.f32.f16 $0, h; }": lambda x: (
        x.astype("f2").astype("f4")
    ),
}


@pytest.mark.parametrize("code", FUNCTIONS)
def test_functions(code):
    x, o = f4(256), np.zeros(256, "f4")
    function[(1,)](x, o, code, 256)
    np.testing.assert_allclose(o, FUNCTIONS[code](x), rtol=2e-6, atol=2e-6)


@triton.jit
def unpack(x, low, high, B: tl.constexpr):
    """Two results of 4 bytes each: the nibbles of packed weights."""
    i = tl.arange(0, B)
    a, b = tl.inline_asm_elementwise(
        "and.b32 $0, $2, 0x0f0f0f0f; shr.u32 $1, $2, 4; and.b32 $1, $1, 0x0f0f0f0f;",
        "=&r,=r,r",
        [tl.load(x + i)],
        dtype=(tl.uint8, tl.uint8),
        is_pure=True,
        pack=4,
    )
    tl.store(low + i, a)
    tl.store(high + i, b)


def test_nibbles():
    x = RNG.integers(0, 256, 512).astype("u1")
    low, high = np.zeros(512, "u1"), np.zeros(512, "u1")
    unpack[(1,)](x, low, high, 512)
    assert (low == x % 16).all() and (high == x // 16).all()


@triton.jit
def to_fp8(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.inline_asm_elementwise(
        "cvt.rn.satfinite.e4m3x2.f32 $0, $2, $1;", "=h,r,r", [tl.load(x + i)], dtype=tl.int8, is_pure=True, pack=2
    )
    tl.store(o + i, v)


def test_fp8():
    x, o = np.array([0, 1, -2, 0.5, 448, 1000, -1000, 2.0**-9] * 16, "f4"), np.zeros(128, "i1")
    to_fp8[(1,)](x, o, 128)
    assert o.view("u1").tolist() == [0, 0x38, 0xC0, 0x30, 0x7E, 0x7E, 0xFE, 1] * 16


@triton.jit
def integers(x, y, o, CODE: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = [tl.load(x + i), tl.load(y + i)]
    tl.store(o + i, tl.inline_asm_elementwise(CODE, "=r,r,r", v, dtype=tl.int32, is_pure=True, pack=1))


def dot_of_bytes(x, y):
    return (x.view("i1").astype("i4") * y.view("i1").astype("i4")).reshape(-1, 4).sum(1)


INTEGERS = {
    "lop3.b32 $0, $1, $2, 0, 0x6a;": lambda x, y: x & y,
    "prmt.b32 $0, $1, $2, 0x5410;": lambda x, y: (x & 0xFFFF) | (y << 16),
    "dp4a.s32.s32 $0, $1, $2, 7;": lambda x, y: dot_of_bytes(x, y) + 7,
    "{ .reg .b32 t; popc.b32 t, $1; add.s32 $0, t, $2; }": lambda x, y: np.bitwise_count(x.view("u4")) + y,
    "shf.l.wrap.b32 $0, $1, $2, 8;": lambda x, y: (y << 8) | (x.view("u4") >> 24).view("i4"),
    "bfe.s32 $0, $1, 4, 8;": lambda x, y: (x << 20) >> 24,
    "{ .reg .pred p; setp.gt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }": np.maximum,
    "mad.lo.s32 $0, $1, $2, $1;": lambda x, y: x * y + x,
    "{ .reg .pred p; setp.ne.s32 p, $1, $2; @p bfi.b32 $0, $1, $2, 8, 8; @!p mov.b32 $0, 0; }": lambda x, y: (
        (y & ~0xFF00) | (x & 0xFF) << 8
    ),
}


@pytest.mark.parametrize("code", INTEGERS)
def test_integers(code):
    x, y = (RNG.integers(-(1 << 31), 1 << 31, 256).astype("i4") for _ in "xy")
    o = np.zeros(256, "i4")
    integers[(1,)](x, y, o, code, 256)
    with np.errstate(over="ignore"):
        assert (o == INTEGERS[code](x, y).astype("i4")).all()


@triton.jit
def row_maxima(x, o, R: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, R)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(o + tl.arange(0, R), tl.reduce(tl.load(x + i), 1, largest))


@triton.jit
def largest(a, b):
    return tl.inline_asm_elementwise("max.f32 $0, $1, $2;", "=f,f,f", [a, b], dtype=tl.float32, is_pure=True, pack=1)


def test_reduction():
    x, o = f4(16, 64), np.zeros(16, "f4")
    row_maxima[(1,)](x, o, 16, 64)
    assert (o == x.max(1)).all()
