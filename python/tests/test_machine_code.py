"""Machine code of sm_90a: ptxas keeps the registers of every wgmma until it is waited for. Needs Triton, which brings
ptxas and nvdisasm; no GPU.

Kernels of tests/kernels, and Triton kernels in configurations that are drawn or were wrong once. They are compiled once
for all tests here.
"""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from conftest import KERNELS, ROOT

triton = pytest.importorskip("triton")

from triton import knobs  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402

import tessera  # noqa: E402
from tessera.triton import _tools  # noqa: E402

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "benchmarks")]
import check_machine_code as checker  # noqa: E402
import drawn_kernels  # noqa: E402

H100 = GPUTarget("cuda", 90, 32)
COUNT, SEED = 24, 11


def matmul(kind, blocks, warps, stages, **how):
    c = dict(family="matmul", kind=kind, blocks=blocks, warps=warps, stages=stages, sizes=(16384, 1024, 1024))
    return {**c, "descriptors": True, "persistent": False, "ta": False, "tb": False, "epilogue": "", **how}


def configurations():
    """By name. wgmma reads no A of 32 bits along M from shared memory, so it is in registers: the first three lost
    registers once that their wgmmas still read."""
    transposed = dict(ta=True, tb=True)
    chosen = [
        matmul("tf32", (128, 256, 32), 8, 2, epilogue="row scale", **transposed),
        matmul("tf32", (64, 128, 64), 8, 4, **transposed, persistent=True),
        matmul("tf32", (128, 32, 32), 4, 5, **transposed, epilogue="row scale"),
        matmul("e4m3", (128, 128, 64), 4, 3, ta=True),
        matmul("e5m2", (128, 256, 128), 8, 3, tb=True, persistent=True),
        matmul("i8", (128, 128, 64), 8, 3, descriptors=False, **transposed),
    ]
    return {drawn_kernels.name_matmul(c): c for c in chosen} | drawn_kernels.drawn(COUNT, SEED)


class Code:
    """A kernel's PTX, and the functions of its machine code."""

    def __init__(self, name, ptx, cubin, folder):
        self.name, self.ptx = name, ptx
        path = folder / (name.replace("/", " ") + ".cubin")
        path.write_bytes(cubin)
        self.path = str(path)
        self.functions = checker.parse(checker.disassembled(self.path, knobs.nvidia.nvdisasm.path))

    def instructions(self, *names):
        return [i for function in self.functions for i in function.instructions if i.name in names]

    def mmas(self):
        return [checker.mma_of(i) for i in self.instructions(*checker.MMA_OPCODES)]

    def waits(self):
        """How many groups each wait leaves pending."""
        return [n for i in self.instructions("WARPGROUP") if (n := checker.allowed_groups(i)) is not None]

    def findings(self, without=None):
        """Those of the code, or of the code whose instructions with that opcode do nothing."""
        found = []
        for function in self.functions:
            code = [replace(i, opcode="NOP", operands=()) if i.opcode == without else i for i in function.instructions]
            found += checker.check(replace(function, instructions=code))
        return [f"{self.name}: {finding}" for finding in found]


@pytest.fixture(scope="module")
def codes(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("cubins"), []
    _tools.configure()  # Triton's ptxas for what tessera.compile makes, too

    def of_text(path, warps):
        kernel = tessera.compile(path, "sm_90a", stage="cubin", num_warps=warps)
        return Code(f"{path.stem} w{warps}", kernel.asm["ptx"], kernel.object, folder)

    with ThreadPoolExecutor(2) as pool:
        for path in sorted(KERNELS.glob("*/*.ttir")):
            if "tt.dot" in path.read_text():
                launch = json.loads((path.parent / "launch.json").read_text())
                made.append(pool.submit(of_text, path, launch.get("num_warps", 4)))
        for name, c in configurations().items():
            options = {"num_warps": c["warps"], "num_stages": c["stages"]}
            asm = triton.compile(drawn_kernels.source(c), target=H100, options=options).asm
            made.append(pool.submit(Code, name, asm["ptx"], asm["cubin"], folder))
        return [m.result() for m in made]


def test_registers_of_pending_wgmmas(codes):
    findings = [finding for code in codes for finding in code.findings()]
    assert not findings, "\n".join(findings)


def test_what_is_checked(codes):
    """Enough of each kind is there that the tests above and below mean something."""
    with_mmas = [c for c in codes if c.mmas()]
    assert len(with_mmas) >= 60
    assert len([c for c in with_mmas if any(m.inputs for m in c.mmas())]) >= 24
    assert len([c for c in with_mmas if any(c.waits())]) >= 35
    assert len([c for c in with_mmas if "setmaxnreg" in c.ptx]) >= 5


def test_missing_waits_are_found(codes):
    """The same code without its waits: the accumulators are read too early in every kernel."""
    for code in codes:
        assert bool(code.findings(without="WARPGROUP.DEPBAR.LE")) == bool(code.mmas()), code.name


def test_missing_fences_are_found(codes):
    for code in codes:
        assert bool(code.findings(without="WARPGROUP.ARRIVE")) == any(
            m.inputs or m.reads_accumulator for m in code.mmas()
        ), code.name


def test_setmaxnreg_is_not_ignored(codes):
    assert [c.name for c in codes if checker.ignored_registers(c.ptx, c.functions)] == []


def test_registers_that_instructions_write(codes):
    """What nvdisasm's columns of life ranges say. It refuses cubins of another version's ptxas, and some that use all
    registers."""
    compared, refused = 0, ""
    for code in [c for c in codes if c.mmas()][::6]:
        command = [knobs.nvidia.nvdisasm.path, "-c", "-lrm", "narrow", code.path]
        ranges = subprocess.run(command, capture_output=True, text=True)
        if ranges.returncode != 0:
            refused = ranges.stderr.strip()
            continue
        for line in ranges.stdout.splitlines():
            if head := re.match(r"(\s+// \| +# )(0\d*) ", line):  # the last digits of the registers' numbers
                columns = slice(len(head[1]), len(head[1]) + len(head[2]))
            if not (found := checker.LINE.match(line)) or "// |" not in line:
                continue
            instruction = checker.Instruction(0, found[2] or "", found[3], checker.operands_of(found[4]))
            if instruction.name in checker.MMA_OPCODES:
                written = checker.mma_of(instruction).accumulator
            else:
                written = checker.written(instruction)
            expected = sum(1 << r for r, mark in enumerate(line[columns]) if mark in "^x")
            assert checker.names(written) == checker.names(expected), f"{code.name}: {instruction}"
            compared += 1
    if not compared:
        pytest.skip(refused)
    assert compared > 5000
