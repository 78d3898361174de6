"""Random calls with right and wrong arguments, from a fixed seed: each works, or raises an error of tessera's that says
why. (Two things the package cannot notice: an address that is nobody's memory, and what a wrong address does.)"""

import array
import os
import random
import threading
from pathlib import Path

import pytest

import tessera
from tessera._kernel import run_passes

np = pytest.importorskip("numpy")

CALLS = 4000
#: Runs of so many calls for each device; TESSERA_STRESS_SEEDS says how many others.
SEEDS = 1 + int(os.environ.get("TESSERA_STRESS_SEEDS", "0"))
#: What a call may raise: tessera's own errors, and Python's of files that cannot be read.
CLEAR = (tessera.Error, OSError)


class Hostile:
    """Looks like an array, and is none."""

    shape, dtype, itemsize = "ab", object(), "four"

    def __len__(self):
        return 3


class HostileArray(np.ndarray):
    """An array of numpy whose base lies."""

    def __new__(cls, n):
        return np.ones(n, "f4").view(cls)

    @property
    def base(self):
        raise RuntimeError("no base")


def exposing(**attributes):
    """An object that has these attributes; what is callable takes itself."""
    return type("Exposing", (), attributes)()


#: Parts of the protocols of arrays, wrong ones among them.
SHAPES = [(256,), (), (0,), (-4,), (1 << 62, 1 << 62), "ab", None, 7, (2.5,), (None,)]
TYPES = ["<f4", ">f4", "f", "<", "", None, 4, "|V", "<f" + "9" * 30]
DATA = [(0, False), (-16, False), (1 << 70, False), (None, True), ("a", 0), (), None, 5]


class Caller:
    """Picks arguments, and calls what the package offers."""

    def __init__(self, seed, text, device):
        self.random, self.text = random.Random(seed), text
        self.device = tessera.Device(device)
        self.other = tessera.Device("emulator:sm_80")
        self.kernel = self.device.compile(text)
        self.compiled = tessera.compile(text, "gfx942", stage="amdgcn")
        self.worked = 0
        self.calls = [
            *[self.launch] * 4,
            *[self.compile] * 3,
            self.run,
            self.time,
            self.passes,
            self.layout,
            self.open,
            self.buffer,
            self.descriptor,
            self.load,
        ]

    def pick(self, *values):
        return self.random.choice(values)

    def one_in(self, n):
        return not self.random.randrange(n)

    def anything(self):
        return self.pick(
            *[None, True, 0, -1, 1, 3, 4, 1 << 31, 1 << 63, 1 << 64, -(1 << 70), 1.5, 1e400, float("nan"), 2j],
            *["", "4", "sm_90a", "gfx942", "\0", "sm_80\0x", "\udc80", "x" * 100000, "%s{0}", b"", b"\xff"],
            *[(), [], {}, (1, 2), [None], object(), Hostile(), Hostile, len, Path("/no/such.ttir"), ...],
            *[np.float32(2), np.array(3), np.ones((2, 2))],
        )

    def array(self):
        if self.one_in(2):
            return np.ones(256, "f4")
        a = self.pick(
            *[np.ones(n, t) for n, t in ((256, "f4"), (256, "i4"), (255, "f4"), (256, "f8"), (0, "f4"))],
            *[np.ones((256, 2), "f4")[:, 1], np.ones(512, "f4")[::-1], bytearray(1024), bytes(1024), memoryview(b"12")],
        )
        if isinstance(a, np.ndarray) and self.one_in(8):
            a.flags.writeable = False
        return a

    def hostile(self):
        """What looks like an array, by one of the protocols, and has no memory, or memory that it cannot share."""

        def fails(*_, **__):
            raise self.pick(RuntimeError, ValueError, AttributeError, KeyError, BufferError, MemoryError)("no")

        about = {"shape": self.pick(*SHAPES), "typestr": self.pick(*TYPES), "data": self.pick(*DATA), "version": 3}
        if self.one_in(2):
            about["strides"] = self.pick(None, (4,), (-4,), (1 << 62,), "x", (4, 4), 4)
        if self.one_in(4):
            about.pop(self.pick(*about))
        interface = self.pick("__cuda_array_interface__", "__array_interface__")
        return self.pick(
            exposing(**{interface: self.pick(about, None, "text", [], fails)}),
            exposing(**{interface: property(fails)}),
            exposing(__dlpack__=fails),
            exposing(__dlpack__=lambda _: self.pick(None, 3, object(), "capsule")),
            exposing(data_ptr=fails),
            exposing(data_ptr=lambda _: self.pick(None, "a", -1, 1.5), nbytes=self.pick(None, 4, -4, "b", 1 << 70)),
            exposing(data_ptr=lambda _: 0, untyped_storage=self.pick(None, fails, lambda _: None)),
            memoryview(bytes(range(16)))[:: self.pick(2, -1)],
            memoryview(np.ones((4, 4), "f4"))[::2],
            memoryview(bytearray(self.pick(0, 1, 3))),
            memoryview(np.ones((0, 4), "f4")),
            array.array("f"),
            array.array("d", [1.0]),
            HostileArray(4),
            np.ones(4, self.pick("U3", "M8[s]", "V7", "?", "f2", ">i4", "c8")),
            np.lib.stride_tricks.as_strided(np.ones(4, "f4"), (1 << 20,), (0,)),
        )

    def grid(self):
        return self.anything() if self.one_in(3) else self.pick(1, (1,), (1, 1), [1, 1, 1], np.int64(1))

    def arguments(self):
        given = [self.array(), self.array(), self.array(), self.pick(256, 100, 0, np.int32(256))]
        if self.one_in(3):
            given[self.random.randrange(4)] = self.hostile() if self.one_in(2) else self.anything()
        if self.one_in(12):  # of this device, or of another one
            given[self.random.randrange(3)] = tessera.Buffer(self.pick(self.device, self.other), self.pick(1024, 8))
        if self.one_in(6):
            given = given[: self.random.randrange(5)]
        return given

    def options(self):
        names = ["num_warps", "num_stages", "num_ctas", "opt_level", "fp_fusion", "line_info", "kernel", "remarks"]
        names += ["waves_per_eu", "matrix_instr_nonkdim", "maxnreg", "exact_num_warps", "keep_texts", "size", "no_such"]
        names += ["no_tensor_memory"]
        return {self.pick(*names): self.anything()} if self.one_in(2) else {}

    def kernel_text(self):
        if self.one_in(3):
            return self.anything()
        text = self.text
        if self.one_in(3):
            at = self.random.randrange(len(text))
            text = text[:at] + self.pick("", "\0", "\udcff", "é", "(" * 1000) + text[at + self.random.randrange(9) :]
        return self.pick(text, text.encode("utf-8", "surrogateescape"))

    def launch(self):
        self.kernel[self.grid()](*self.arguments())

    def time(self):
        repetitions = self.pick(1, 2, 0, -1, 1.5, "3", None, 1 << 40)
        self.kernel.time(self.grid(), *self.arguments(), repetitions=repetitions)

    def run(self):
        device = self.anything() if self.one_in(3) else self.device
        tessera.run(self.kernel_text(), self.grid(), *self.arguments(), device=device, **self.options())

    def compile(self):
        target = self.anything() if self.one_in(3) else "gfx942"
        options = {"stage": self.pick("ttgir", "ttgir", "ttir", self.anything()), **self.options()}
        options.pop("keep_texts", None)  # an argument of its own name here
        tessera.compile(self.kernel_text(), target, file_name=self.pick(None, "k.ttir", self.anything()), **options)

    def passes(self):
        names = [self.pick("cse", "canonicalize", "cse=x", self.anything()) for _ in range(self.random.randrange(3))]
        run_passes(self.kernel_text(), *names, target=self.pick(None, "sm_80", self.anything()))

    def layout(self):
        blocked = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
        tessera.layout(self.pick(blocked, self.anything()), self.pick("tensor<128xf32>", self.anything()))

    def open(self):
        device = tessera.Device(self.pick("interpreter", "emulator:sm_80", "cuda:x", self.anything()))
        if self.one_in(2):
            device.compile(self.kernel_text(), **self.options())

    def buffer(self):
        b = tessera.Buffer(self.pick(self.device, self.anything()), self.pick(16, 0, self.anything()))
        memory = (np.zeros(16, "u1"), np.zeros(16, "u1"))
        at, n = self.pick(0, 8, self.anything()), self.pick(0, 8, 8)
        b.write(memory[0].ctypes.data, n, at)
        b.undefine(self.pick(0, self.anything()), self.pick(8, self.anything()))
        b.read(memory[1].ctypes.data, n, at)

    def descriptor(self):
        def numbers():
            return self.pick((16,), [16], (16, 16), (1 << 64,), ("a",), (2.5,), self.anything())

        padding = self.pick("zero", "nan", self.anything())
        if self.one_in(3):
            base = self.pick(self.array(), self.anything(), self.hostile())
            d = tessera.TensorDescriptor.of(base, numbers(), padding)
        else:
            base = self.array() if self.one_in(2) else self.hostile()
            d = tessera.TensorDescriptor(base, numbers(), numbers(), numbers(), padding)
        self.kernel[1](*self.arguments()[:3], d)

    def load(self):
        self.device.load(self.pick(self.compiled, self.anything()))

    def work(self, calls):
        for i in range(calls):
            call = self.pick(*self.calls)
            try:
                call()
                self.worked += 1
            except CLEAR as e:
                assert str(e).strip(), (i, call.__name__)
            except BaseException as e:
                raise AssertionError(f"call {i}, {call.__name__}: {type(e).__name__}: {e}") from e


@pytest.mark.parametrize("device", ["interpreter", "emulator:gfx942"])
def test_random_calls(vecadd, device):
    for seed in range(1, SEEDS + 1):
        caller = Caller(seed, vecadd, device)
        caller.work(CALLS)
        assert caller.worked > CALLS // 10, seed
        x, o = np.arange(256, dtype="f4"), np.zeros(256, "f4")
        caller.kernel[1](x, x, o, 256)
        assert (o == 2 * x).all()


def test_random_calls_from_threads(vecadd):
    failed = []

    def work(seed):
        try:
            Caller(1000 + seed, vecadd, "emulator:gfx942").work(CALLS // 8)
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2, 6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed


def test_objects_that_are_gone(vecadd):
    """Handles that were destroyed are errors, not crashes."""
    device = tessera.Device("interpreter")
    kernel, buffer = device.compile(vecadd), tessera.Buffer(device, 16)
    buffer.__del__()
    with pytest.raises(tessera.UsageError, match="the buffer is null"):
        buffer.undefine(0, 1)
    with pytest.raises(tessera.Error):
        kernel[1](buffer, buffer, buffer, 256)
    kernel._handle.__del__()
    with pytest.raises(tessera.UsageError, match="the kernel is null"):
        kernel[1](np.ones(256, "f4"), np.ones(256, "f4"), np.ones(256, "f4"), 256)
    device._handle.__del__()
    with pytest.raises(tessera.UsageError, match="the device is null"):
        device.compile(vecadd)
