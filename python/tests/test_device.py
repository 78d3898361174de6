"""Launches on the interpreter and on emulators, with arrays of all kinds."""

import array

import pytest

import tessera
from tessera._arrays import memory_of
from tessera._device import scalar_bytes

np = pytest.importorskip("numpy")
DEVICES = ["interpreter", "emulator:gfx942", "emulator:sm_90a"]


@pytest.mark.parametrize("device", DEVICES)
def test_run(vecadd, device):
    x, y, o = np.random.rand(1000).astype("f4"), np.random.rand(1000).astype("f4"), np.zeros(1000, "f4")
    assert tessera.run(vecadd, (4,), x, y, o, 1000, device=device, num_warps=2) == []
    np.testing.assert_array_equal(o, x + y)


@pytest.mark.parametrize("device", DEVICES)
def test_options_and_grids_are_checked_alike(vecadd, device):
    x, o = np.ones(256, "f4"), np.zeros(256, "f4")
    with pytest.raises(tessera.UsageError, match="num_warps must be a power of two up to 64, not 3"):
        tessera.run(vecadd, 1, x, x, o, 256, device=device, num_warps=3)
    with pytest.raises(tessera.UsageError, match=r"too large for .*, which takes at most 2147483647 in x"):
        tessera.run(vecadd, 1 << 31, x, x, o, 256, device=device)
    if device.startswith("emulator:sm"):
        with pytest.raises(tessera.UsageError, match=f"too large for {device}, which takes at most 65535 in y"):
            tessera.run(vecadd, (1, 65536), x, x, o, 256, device=device)


@pytest.mark.parametrize("device", DEVICES)
def test_faults_have_places(vecadd, device):
    x, o = np.ones(1000, "f4"), np.zeros(1000, "f4")
    with pytest.raises(tessera.FailedError, match="out of bounds"):
        tessera.run(vecadd, (4,), x, x, o, 1001, device=device)
    assert not o.any()  # arrays keep their contents


def test_views_share_their_storage(vecadd):
    whole = np.arange(3000, dtype="f4")
    x, y, o = whole[:1000], whole[1000:2000], whole[2000:]
    expected = x + y
    tessera.run(vecadd, 4, x, y, o, 1000, device="emulator:gfx942")
    np.testing.assert_array_equal(o, expected)
    np.testing.assert_array_equal(whole[:2000], np.arange(2000, dtype="f4"))


def test_readonly_arrays_are_not_written(vecadd):
    x = np.ones(256, "f4")
    x.flags.writeable = False
    o = np.zeros(256, "f4")
    tessera.run(vecadd, 1, x, x, o, 256, device="interpreter")
    assert (o == 2).all()


def test_bytes_are_read_and_not_written(vecadd):
    x, o = np.arange(256, dtype="f4"), np.zeros(256, "f4")
    tessera.run(vecadd, 1, x.tobytes(), memoryview(x.tobytes()), o, 256, device="interpreter")
    np.testing.assert_array_equal(o, 2 * x)
    out = bytes(1024)
    with pytest.raises(tessera.UsageError, match="read-only"):
        tessera.run(vecadd, 1, x, x, out, 256, device="interpreter")
    assert out == bytes(1024)


def test_elements_that_kernels_do_not_have(vecadd):
    x = np.ones(256, "f4")
    for other in (x.astype(">f4"), np.full(256, "a")):
        with pytest.raises(tessera.UsageError, match="argument 1 has"):
            tessera.run(vecadd, 1, x, other, np.zeros(256, "f4"), 256, device="interpreter")
    text = "tt.func public @k(%p: !tt.ptr<i64>) {\n  tt.return\n}\n"
    with pytest.raises(tessera.UsageError, match=r"argument 0 has elements of numpy's type '\|O'"):
        tessera.run(text, 1, np.array([None] * 4), device="interpreter")


def test_options_of_a_compiled_kernel(vecadd):
    x, o = np.ones(1000, "f4"), np.zeros(1000, "f4")
    kernel = tessera.compile(vecadd, "gfx942", stage="bitcode")
    with pytest.raises(tessera.UsageError, match=r"compiled already: it takes no options \(num_warps\)"):
        tessera.run(kernel, 4, x, x, o, 1000, device="emulator:gfx942", num_warps=2)
    tessera.run(kernel, 4, x, x, o, 1000, device="emulator:gfx942")
    np.testing.assert_array_equal(o, 2 * x)


def test_descriptor_for_a_pointer(vecadd):
    x = np.ones((16, 16), "f4")
    with pytest.raises(tessera.UsageError, match=r"argument 0 is \*f32, not a tensor descriptor"):
        tessera.run(vecadd, 1, tessera.TensorDescriptor.of(x, [16, 16]), x, x, 256, device="interpreter")


def test_other_arrays(vecadd):
    class Packed:  # speaks DLPack alone
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, **_):
            return self.a.__dlpack__()

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    x, o = array.array("f", [1.5] * 256), bytearray(1024)
    y = Packed(np.full(256, 2, "f4"))
    tessera.run(vecadd, 1, x, y, o, 256, device="interpreter")
    assert (np.frombuffer(o, "f4") == 3.5).all()


def test_torch_tensors(vecadd):
    torch = pytest.importorskip("torch")
    whole = torch.rand(2, 1000)
    o = torch.zeros(1000)
    tessera.run(vecadd, 4, whole[0], whole[1], o, 1000, device="emulator:sm_80")
    torch.testing.assert_close(o, whole[0] + whole[1])


def test_memory_of_views():
    base = np.zeros((10, 20), "f4")
    m = memory_of(base[2:, ::-1])
    assert (m.storage, m.storage_bytes) == (base.ctypes.data, base.nbytes)
    assert m.offset == 2 * 80 + 19 * 4
    assert memory_of(np.float32(1)) is None and memory_of(3) is None and memory_of(None) is None


def test_scalars():
    assert scalar_bytes(-1, "i32") == b"\xff" * 4
    assert scalar_bytes(1.0, "bf16") == b"\x80\x3f"
    assert scalar_bytes(1.00390625, "bf16") == b"\x80\x3f"  # halfway: to even
    assert scalar_bytes(float("nan"), "bf16")[1] & 0x7F == 0x7F
    assert scalar_bytes(np.float32(0.5), "f16") == b"\x00\x38"
    assert scalar_bytes(True, "i1") == b"\x01"
    with pytest.raises(tessera.UsageError):
        scalar_bytes(1, "tensordesc<f16[64]>")


def test_wrong_arguments(vecadd):
    x = np.ones(256, "f4")
    with pytest.raises(tessera.UsageError):
        tessera.run(vecadd, 1, x, x, x, device="interpreter")
    with pytest.raises(tessera.UsageError):
        tessera.run(vecadd, 0, x, x, x, 256, device="interpreter")
    with pytest.raises(tessera.UsageError):
        tessera.run(vecadd, (1, 1, 1, 1), x, x, x, 256, device="interpreter")
    with pytest.raises(tessera.UsageError):
        tessera.Device("emulator:nothing")


def test_devices_and_loaded_kernels(vecadd):
    assert tessera.devices()[-1].spec == "interpreter"
    device = tessera.Device("emulator:gfx942")
    assert (device.target, device.stage, device.on_host) == ("gfx942", "bitcode", True)
    kernel = device.compile(vecadd)
    assert kernel.name == "vecadd"
    x, o = np.ones(256, "f4"), np.zeros(256, "f4")
    kernel[(1,)](x, x, o, 256)
    assert (o == 2).all()
    made = tessera.compile(vecadd, "gfx942", stage="bitcode")
    o[:] = 0
    tessera.run(made, 1, x, x, o, 256, device=device)
    assert (o == 2).all()
    with pytest.raises(tessera.UsageError):
        tessera.compile(vecadd, "gfx942").load(device)


def test_tensor_descriptor():
    text = """
tt.func public @k(%d: !tt.tensordesc<tensor<16x32xf32>>, %e: !tt.tensordesc<tensor<16x32xf32>>) {
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %t = tt.descriptor_load %d[%eight, %zero] : !tt.tensordesc<tensor<16x32xf32>> -> tensor<16x32xf32>
  tt.descriptor_store %e[%zero, %zero], %t : !tt.tensordesc<tensor<16x32xf32>>, tensor<16x32xf32>
  tt.return
}
"""
    for device in DEVICES:
        x, o = np.random.rand(20, 32).astype("f4"), np.ones((16, 32), "f4")
        given = [tessera.TensorDescriptor.of(a, (16, 32)) for a in (x, o)]
        tessera.run(text, 1, *given, device=device)
        np.testing.assert_array_equal(o[:12], x[8:])
        assert not o[12:].any()
