"""Gluon kernels without a GPU: their layouts, copies, barriers and warp groups on interpreter and emulators. Needs
Triton and numpy."""

import pytest

triton = pytest.importorskip("triton")
np = pytest.importorskip("numpy")
gluon = pytest.importorskip("triton.experimental.gluon")

from triton.experimental.gluon import language as gl  # noqa: E402
from triton.experimental.gluon.language.nvidia import blackwell  # noqa: E402
from triton.experimental.gluon.language.nvidia.ampere import async_copy as cp  # noqa: E402
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma  # noqa: E402
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor  # noqa: E402

import tessera  # noqa: E402
from tessera.triton import HostArray, KernelFault, emulate  # noqa: E402

# Names of Triton 3.6, and later ones.
COPY_ASYNC = getattr(cp, "async_load", None) or cp.async_copy_global_to_shared
LOAD_TILE = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
STORE_TILE = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def add(x, y, o, n, B: gl.constexpr, LANES: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([2], [LANES], [4], [0])
    i = gl.program_id(0) * B + gl.arange(0, B, layout=layout)
    gl.store(o + i, gl.load(x + i, mask=i < n) + gl.load(y + i, mask=i < n), mask=i < n)


@gluon.jit
def add_off_by_one(x, o, n, B: gl.constexpr, LANES: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [LANES], [4], [0])
    i = gl.program_id(0) * B + gl.arange(0, B, layout=layout)
    v = gl.load(x + i, mask=i <= n)  # off by one
    gl.store(o + i, v, mask=i < n)


@gluon.jit
def transpose(x, o, B: gl.constexpr, LANES: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 1], [1, LANES], [4, 1], [1, 0])
    columns: gl.constexpr = gl.BlockedLayout([1, 1], [LANES, 1], [1, 4], [0, 1])
    i = gl.arange(0, B, layout=gl.SliceLayout(1, rows))[:, None]
    j = gl.arange(0, B, layout=gl.SliceLayout(0, rows))[None, :]
    kept = gl.allocate_shared_memory(gl.float32, [B, B], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    kept.store(gl.load(x + i * B + j))
    v = kept.load(columns)
    i = gl.arange(0, B, layout=gl.SliceLayout(1, columns))[:, None]
    j = gl.arange(0, B, layout=gl.SliceLayout(0, columns))[None, :]
    gl.store(o + j * B + i, v)


@gluon.jit
def copy_ahead(x, o, n, B: gl.constexpr, WAIT: gl.constexpr):
    there: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    here: gl.constexpr = gl.BlockedLayout([4], [32], [1], [0])  # another warp reads what a warp has copied
    i = gl.arange(0, B, layout=there)
    kept = gl.allocate_shared_memory(gl.float32, [B], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    COPY_ASYNC(kept, x + i, mask=i < n)
    cp.commit_group()
    if WAIT:
        cp.wait_group(0)
    v = kept.load(there)  # waits for other warps, not for copies
    gl.store(o + i, v, mask=i < n)


@gluon.jit
def copy_tile(source, target, BYTES: gl.constexpr, WAIT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    kept = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    ready = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, BYTES)
    LOAD_TILE(source, [32, 0], ready, kept)
    if WAIT:
        mbarrier.wait(ready, phase=0)
    kept.store(kept.load(layout) + 1.0)
    fence_async_shared()
    STORE_TILE(target, [0, 32], kept)
    tma.store_wait(pendings=0)


RNG = np.random.default_rng(5)


def descriptor(array, block):
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.float32)
    return TensorDescriptor.from_tensor(HostArray(array), block, layout)


def lanes(target):
    return 64 if target.startswith("gfx9") else 32


TARGETS = ["interpreter", "sm_80", "sm_90a", "gfx942", "gfx950", "gfx1100"]


@pytest.mark.parametrize("target", TARGETS)
def test_elements(target):
    x, y = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32)
    o = np.zeros_like(x)
    with emulate(target):
        add[(4,)](x, y, o, 1000, B=256, LANES=lanes(target))
    np.testing.assert_array_equal(o, x + y)


@pytest.mark.parametrize("target", TARGETS)
def test_out_of_bounds(target):
    x, o = np.ones(100, np.float32), np.zeros(100, np.float32)
    with emulate(target), pytest.raises(KernelFault, match="out of bounds") as e:
        add_off_by_one[(1,)](x, o, 100, B=128, LANES=lanes(target))
    assert e.value.file.endswith("test_gluon.py")
    assert "off by one" in open(__file__).readlines()[e.value.line - 1]


@pytest.mark.parametrize("target", TARGETS)
def test_shared_memory(target):
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    o = np.zeros_like(x)
    with emulate(target):
        transpose[(1,)](x, o, B=64, LANES=lanes(target))
    np.testing.assert_array_equal(o, x.T)


@pytest.mark.parametrize("target", ["interpreter", "sm_80", "sm_90a"])
def test_asynchronous_copy(target):
    x, o = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    with emulate(target):
        copy_ahead[(1,)](x, o, 100, B=128, WAIT=True)
    np.testing.assert_array_equal(o, x)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_missing_wait_for_a_copy(target):
    x, o = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    with emulate(target), pytest.raises(KernelFault) as e:
        copy_ahead[(1,)](x, o, 100, B=128, WAIT=False)
    assert "v = kept.load" in open(__file__).readlines()[e.value.line - 1]


def tile(target, bytes_expected=32 * 32 * 4, wait=True):
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    o = np.zeros_like(x)
    with emulate(target):
        copy_tile[(1,)](descriptor(x, [32, 32]), descriptor(o, [32, 32]), BYTES=bytes_expected, WAIT=wait)
    return x, o


@pytest.mark.parametrize("target", ["interpreter", "sm_90a"])
def test_tensor_memory_access(target):
    x, o = tile(target)
    np.testing.assert_array_equal(o[:32, 32:], x[32:, :32] + 1)
    assert not o[32:].any() and not o[:, :32].any()


def test_missing_wait_for_a_tile():
    with pytest.raises(KernelFault) as e:
        tile("sm_90a", wait=False)
    assert "kept.load(layout)" in open(__file__).readlines()[e.value.line - 1]


@pytest.mark.parametrize("bytes_expected", [32 * 32 * 2, 32 * 32 * 8])
def test_wrong_count_of_bytes(bytes_expected):
    with pytest.raises(KernelFault) as e:
        tile("sm_90a", bytes_expected)
    print(e.value)
    assert e.value.line


@gluon.jit
def scaled_dot(a, b, o, K: gl.constexpr, SIDE: gl.constexpr, WIDTH: gl.constexpr):
    layout: gl.constexpr = gl.amd.AMDMFMALayout(
        version=4, instr_shape=[SIDE, SIDE, 2048 // SIDE], transposed=True, warps_per_cta=[1, 2]
    )
    of_a: gl.constexpr = gl.DotOperandLayout(operand_index=0, parent=layout, k_width=WIDTH)
    of_b: gl.constexpr = gl.DotOperandLayout(operand_index=1, parent=layout, k_width=WIDTH)
    i = gl.arange(0, 32, layout=gl.SliceLayout(1, of_a))[:, None]
    x = gl.load(a + i * K + gl.arange(0, K, layout=gl.SliceLayout(0, of_a))[None, :])
    j = gl.arange(0, 64, layout=gl.SliceLayout(0, of_b))[None, :]
    y = gl.load(b + gl.arange(0, K, layout=gl.SliceLayout(1, of_b))[:, None] * 64 + j)
    zero = gl.zeros([32, 64], gl.float32, layout)
    d = gl.amd.cdna4.mfma_scaled(x, None, "e4m3", y, None, "e4m3", zero)
    i = gl.arange(0, 32, layout=gl.SliceLayout(1, layout))[:, None]
    gl.store(o + i * 64 + gl.arange(0, 64, layout=gl.SliceLayout(0, layout))[None, :], d)


@pytest.mark.parametrize("side", [16, 32])
@pytest.mark.parametrize("width", [16, 32, 64])
def test_scaled_dot_of_wide_fragments(side, width):
    if not hasattr(gl.amd, "cdna4"):
        pytest.skip("Triton has no Gluon for CDNA 4")
    encoded = np.array([0x00, 0x38, 0x40, 0xB8, 0xC4], np.uint8)  # e4m3: 0, 1, 2, -1, -3
    numbers = np.array([0, 1, 2, -1, -3], np.float32)
    for k in (64, 256):
        a, b = RNG.integers(0, 5, (32, k)), RNG.integers(0, 5, (k, 64))
        o = np.zeros((32, 64), np.float32)
        x, y = (HostArray(encoded[v], dtype="float8_e4m3fn") for v in (a, b))
        with emulate("gfx950"):
            scaled_dot[(1,)](x, y, o, k, side, width, num_warps=2)
        assert (o == numbers[a] @ numbers[b]).all()


@gluon.jit
def fill(o, B: gl.constexpr, LAYOUT: gl.constexpr):
    gl.store(o + gl.arange(0, B, layout=LAYOUT), gl.full([B], 1.0, gl.float32, layout=LAYOUT))


def test_clusters_are_errors():
    try:
        layout = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[1]])
    except TypeError:  # Triton 3.6
        layout = gl.BlockedLayout([1], [32], [4], [0], [2], [2], [0])
    o = np.zeros(512, np.float32)
    with emulate("sm_90a"), pytest.raises(tessera.Error, match="cluster of 2 blocks"):
        fill[(1,)](o, 512, layout, num_ctas=2)
    assert not o.any()


@gluon.jit
def dot_in_tensor_memory(a, b, o, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, WAIT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    shared: gl.constexpr = gl.NVMMASharedLayout(swizzle_byte_width=64, element_bitwidth=16, rank=2)
    kept: gl.constexpr = blackwell.TensorMemoryLayout([M, N], col_stride=1)
    registers: gl.constexpr = blackwell.get_tmem_reg_layout(gl.float32, [M, N], kept, 4)
    i = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    k = gl.arange(0, K, layout=gl.SliceLayout(0, layout))[None, :]
    left = gl.allocate_shared_memory(gl.float16, [M, K], shared, gl.load(a + i * K + k))
    j = gl.arange(0, N, layout=gl.SliceLayout(1, layout))[:, None]
    right = gl.allocate_shared_memory(gl.float16, [N, K], shared, gl.load(b + j * K + k))
    sums = blackwell.allocate_tensor_memory(gl.float32, [M, N], kept)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    fence_async_shared()
    blackwell.tcgen05_mma(left, right.permute((1, 0)), sums, use_acc=False)
    blackwell.tcgen05_commit(arrived)
    if WAIT:
        mbarrier.wait(arrived, 0)
    i = gl.arange(0, M, layout=gl.SliceLayout(1, registers))[:, None]
    j = gl.arange(0, N, layout=gl.SliceLayout(0, registers))[None, :]
    gl.store(o + i * N + j, sums.load(registers))


chooses_layouts = pytest.mark.skipif(not hasattr(blackwell, "get_tmem_reg_layout"),
                                     reason="this version of Gluon names layouts for tensor memory otherwise")


@chooses_layouts
@pytest.mark.parametrize("target", ["interpreter", "sm_100a"])
@pytest.mark.parametrize("m", [64, 128])
def test_dot_in_tensor_memory(target, m):
    a, b = (RNG.integers(-4, 5, shape).astype(np.float16) for shape in ((m, 32), (64, 32)))
    o = np.zeros((m, 64), np.float32)
    with emulate(target):
        dot_in_tensor_memory[(1,)](a, b, o, m, 64, 32, True)
    np.testing.assert_array_equal(o, a.astype(np.float32) @ b.astype(np.float32).T)


@chooses_layouts
def test_missing_wait_for_a_dot():
    a, b, o = np.ones((128, 32), np.float16), np.ones((64, 32), np.float16), np.zeros((128, 64), np.float32)
    with emulate("sm_100a"), pytest.raises(KernelFault, match="no wait for an mbarrier") as e:
        dot_in_tensor_memory[(1,)](a, b, o, 128, 64, 32, False)
    assert "sums.load(registers)" in open(__file__).readlines()[e.value.line - 1]
