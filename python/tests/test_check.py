"""pytest's plug-in, memory that nothing wrote, and progress on a terminal."""

import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("triton")
np = pytest.importorskip("numpy")

from tessera import _uninitialised  # noqa: E402
from tessera.triton import __main__, _check  # noqa: E402
from tessera.triton._check import checking  # noqa: E402

TESTS = """
import unittest
import numpy as np, pytest, triton, triton.language as tl

@triton.jit
def double(x, o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + i, v * 2, mask=i < n)

at_import = np.zeros(4, "f4")
double[(1,)](at_import, at_import, 4, B=4)

@pytest.fixture(scope="session")
def made():
    x = np.ones(50, "f4")
    double[(1,)](x, x, 50, B=64)
    return x

def test_right(made):
    assert (made == 2).all()

@pytest.mark.parametrize("extra", [0, 1])
def test_mask(extra):
    double[(1,)](np.ones(50, "f4"), np.ones(60, "f4"), 50 + extra, B=64)

def test_unwritten():
    double[(1,)](np.empty(50, "f4"), np.ones(50, "f4"), 50, B=64)

class TestOld(unittest.TestCase):
    def test_case(self):
        double[(1,)](np.ones(50, "f4"), np.ones(50, "f4"), 50, B=64)
"""


def run_tests(folder, *arguments, text=TESTS):
    (folder / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--tb=short", *arguments, "test_it.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    return made.returncode, made.stdout + made.stderr


def test_plugin(tmp_path):
    code, said = run_tests(tmp_path, "--tessera-check=gfx942", "--tessera-check", "sm_90a,interpreter")
    assert code == 1, said
    for target in ("gfx942", "sm_90a", "interpreter"):
        assert f"test_right[{target}] PASSED" in said
        assert f"test_mask[{target}-0] PASSED" in said and f"test_mask[{target}-1] FAILED" in said
        assert f"test_unwritten[{target}] FAILED" in said
        assert re.search(rf"launch(es)? on {target}", said)
    assert "test_it.py:8: kernel 'double'" in said
    assert "out of bounds" in said and "which nothing ever wrote" in said
    assert "TestOld::test_case PASSED" in said
    assert "7 passed, 6 failed" in said or "6 failed, 7 passed" in said


def test_plugin_with_one_target(tmp_path):
    code, said = run_tests(tmp_path, "--tessera-check=gfx942", "-k", "not mask and not unwritten")
    assert code == 0 and "test_right PASSED" in said and "3 launches" in said


def test_plugin_begins_before_conftest_files(tmp_path):
    """They launch kernels and ask for the device while they are imported."""
    (tmp_path / "conftest.py").write_text(
        "import triton\n"
        "TARGET = triton.runtime.driver.active.get_current_target()\n"
        "def pytest_report_header():\n    return f'of conftest.py: {TARGET.arch}'\n"
    )
    code, said = run_tests(tmp_path, "--tessera-check=gfx942,sm_90a", "-k", "right")
    assert code == 0 and "of conftest.py: gfx942" in said and "2 passed" in said, said


def test_plugin_that_a_conftest_file_names(tmp_path):
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['tessera.triton._pytest']\n")
    code, said = run_tests(tmp_path, "--tessera-check=gfx942", "-p", "no:tessera-check", "-k", "right")
    assert code == 0 and "test_right PASSED" in said, said


def test_plugin_is_off_by_default(tmp_path):
    text = "def test_nothing():\n    import sys\n    assert 'triton' not in sys.modules\n"
    code, said = run_tests(tmp_path, text=text)
    assert code == 0 and "tessera:" not in said


@pytest.mark.parametrize(
    "target, says", [("sm_1", "there is no target 'sm_1'; targets: interpreter, sm_80"), (",", "needs a target")]
)
def test_plugin_with_wrong_targets(tmp_path, target, says):
    code, said = run_tests(tmp_path, f"--tessera-check={target}")
    assert code == 4 and says in said and "Traceback" not in said


def test_interpreter_mode_is_refused(tmp_path, monkeypatch):
    """Kernels would run in Triton's interpreter, and no fault would be found."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    code, said = run_tests(tmp_path, "--tessera-check=gfx942")
    assert code == 4 and "TRITON_INTERPRET is set" in said and "Traceback" not in said


# ---- memory that nothing wrote ----


def ranges(x):
    return _uninitialised.ranges(x.ctypes.data, x.nbytes)


def test_ranges():
    with _uninitialised.marked():
        x = np.empty(1000, "f4")
        assert ranges(x) == [(0, 4000)]
        x[10:20] = 1
        x[999] = 0
        assert ranges(x) == [(0, 40), (80, 3916)]
        assert ranges(x.copy()) == ranges(x)
        odd = np.empty(7, "u1")
        assert ranges(odd) == [(0, 7)]
        odd[6] = 0
        assert ranges(odd) == [(0, 4)]
        assert ranges(np.zeros(100)) == [] and ranges(np.empty(0)) == [] and ranges(np.empty_like(x)) == [(0, 4000)]
        kept = np.empty(5)
    assert ranges(kept) == []  # nothing is marked
    assert np.empty.__module__ == "numpy"


def test_what_a_launch_wrote_is_written(tmp_path):
    """Also where the next launch reads it, and where it writes the pattern's neighbours."""
    code = """
import numpy as np, triton, triton.language as tl
@triton.jit
def put(o, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + 2 * i, i, mask=i < n)
@triton.jit
def get(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + 2 * i))
def test_put():
    x = np.empty(128, "i4")
    put[(1,)](x, 64, 64)
    get[(1,)](x, np.empty(64, "i4"), 64)
    y = np.empty(128, "i4")
    put[(1,)](y, 63, 64)
    with __import__("pytest").raises(Exception, match="byte 504 of .*nothing ever wrote"):
        get[(1,)](y, np.empty(64, "i4"), 64)
"""
    status, said = run_tests(tmp_path, "--tessera-check=gfx942,sm_90a,interpreter", text=code)
    assert status == 0, said


def test_torch(tmp_path):
    pytest.importorskip("torch")
    code = """
import torch, triton, triton.language as tl
@triton.jit
def add(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(o + i, mask=i < n) + tl.load(x + i, mask=i < n), mask=i < n)
def launch(make):
    x = torch.rand(100, device="cuda")
    assert torch.cuda.is_available() and x.is_cuda
    o = make(x)
    add[lambda meta: (triton.cdiv(100, meta["B"]),)](x, o, 100, B=64)
    return o - x
def test_zeros(): torch.testing.assert_close(launch(torch.zeros_like), torch.zeros(100))
def test_empty(): launch(torch.empty_like)
def test_new(): launch(lambda x: x.new_empty(100))
def test_moved(): launch(lambda x: torch.empty(100, dtype=torch.float32).cuda())
def test_filled(): launch(lambda x: torch.empty(100, device="cuda:0").zero_())
"""
    status, said = run_tests(tmp_path, "--tessera-check=gfx942", text=code)
    expected = dict(zeros="PASSED", empty="FAILED", new="FAILED", moved="FAILED", filled="PASSED")
    for name, how in expected.items():
        assert f"test_{name} {how}" in said, said


def test_program_for_a_gpu(tmp_path):
    """Streams, the registers of a kernel, and benchmarks: each function once, a plot's first value alone."""
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    (tmp_path / "program.py").write_text("""
import torch, triton, triton.language as tl
@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
x = torch.ones(100, device="cuda")
with torch.cuda.device(x.device), torch.cuda.device_of(x), torch.cuda.stream(torch.cuda.Stream()):
    kernel = double.warmup(x, 100, B=64, grid=(2,))
    kernel._init_handles()
    assert 65536 // kernel.n_regs > 0 and torch.cuda.mem_get_info()[0] > 0
getattr(torch, x.device.type).set_stream(torch.cuda.Stream())
torch.cuda.current_stream().synchronize()
assert triton.testing.do_bench(lambda: double[(2,)](x, 100, B=64), quantiles=[0.5, 0.2, 0.8]) == [1.0, 1.0, 1.0]
@triton.testing.perf_report(triton.testing.Benchmark(
    x_names=["n"], x_vals=[100, 1 << 40], line_arg="by", line_vals=["triton"], line_names=["Triton"], plot_name="p",
    args={}))
def bench(n, by):
    assert n == 100
    return triton.testing.do_bench(lambda: double[(2,)](x, n, B=64))
bench.run(print_data=True)
assert (x == 4).all()
triton.runtime.driver.active.get_device_interface().synchronize()
with torch.cuda._DeviceGuard(0):  # as code of Inductor does
    y = torch._C._dynamo.guards._empty_strided_cuda((4, 25), (25, 1), torch.float32)
    y.fill_(1)
    double[(2,)](y, 100, B=64, stream=torch._C._cuda_getCurrentRawStream(0))
assert (y == 2).all()
assert torch.ones(2, device=0).to(torch.cuda.current_device()).is_cuda
assert torch.ones(2, device=triton.runtime.driver.active.get_current_device()).is_cuda
torch.manual_seed(7)
generator = torch.cuda.default_generators[torch.cuda.current_device()]  # the idiom for seeds of tl.rand
state = generator.get_state()
seed, offset = state.view(torch.int64)
offset += 4
generator.set_state(state)
assert (generator.initial_seed(), generator.get_offset()) == (int(seed), 4) == (7, 4)
""")
    command = [sys.executable, "-m", "tessera.triton", "check", "--target", "sm_90a", "program.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0 and "no faults in 3 launches" in made.stderr, made.stderr


@pytest.mark.parametrize("target, is_amd", [("gfx942", True), ("sm_90a", False), ("interpreter", False)])
def test_what_torch_was_built_for(target, is_amd):
    """Programs take the vendor from it, though this torch may be for another, or for none."""
    torch = pytest.importorskip("torch")
    before = dict(vars(torch.version))
    with checking(target):
        assert torch.cuda.is_available()
        assert (torch.version.hip is not None, torch.version.cuda is None) == (is_amd, is_amd)
        assert torch.cuda.get_device_properties(0).gcnArchName.startswith("gfx") == is_amd
        torch.ones(3, device="cuda").sum().item()
    assert vars(torch.version) == before


def test_fake_tensors(tmp_path):
    """A program that traces itself makes tensors without memory: they are not marked, and no kernel takes them. Limits
    of the device that such programs query."""
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text("""
import torch, triton, triton.language as tl
from torch._subclasses.fake_tensor import FakeTensorMode
@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
with FakeTensorMode():
    x = torch.empty_strided((100, 4), (4, 1), device="cuda")
    assert torch.empty_like(x).shape == (100, 4)
try:
    double[(2,)](x, 100, B=64)
except Exception as e:
    assert "no memory" in str(e), e
else:
    raise AssertionError("a kernel took a tensor without memory")
assert torch.empty(100, 4, device="meta").shape == (100, 4)
about = torch.cuda.get_device_properties(0)
assert about.shared_memory_per_block <= about.shared_memory_per_block_optin <= about.shared_memory_per_multiprocessor
assert about.max_threads_per_block <= about.max_threads_per_multi_processor and about.L2_cache_size
double[(2,)](torch.ones(100, device="cuda"), 100, B=64)
""")
    command = [sys.executable, "-m", "tessera.triton", "check", "--target", "interpreter", "program.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0 and "no faults in 1 launch" in made.stderr, made.stderr


def test_a_fault_that_the_program_catches(tmp_path):
    """Loops over cases catch exceptions: the program's end is no proof that nothing was wrong."""
    (tmp_path / "program.py").write_text("""
import numpy as np, triton, triton.language as tl
@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
for n in 50, 51, 52:
    try:
        double[(1,)](np.ones(50, "f4"), n, B=64)
    except Exception as e:
        print("case", n, "failed")
""")
    command = [sys.executable, "-m", "tessera.triton", "check", "--target", "interpreter", "program.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    said = "interpreter: 2 launches had a fault, which the program caught; the first: "
    assert made.returncode == 1 and said in made.stderr and "program.py:6:" in made.stderr, made.stderr


CALLED_BY_TORCH = """
import torch, triton, triton.language as tl
@triton.jit
def scale(x, g, o, n, EXTRA: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n + EXTRA)
    tl.store(o + i, v * tl.load(g + i, mask=i < n), mask=i < n)
def multiply(x, g, extra=0):
    assert x.is_cuda and g.is_cuda
    o = torch.empty(x.shape, device="cuda")
    with torch.cuda.device(x.device):
        scale[(2,)](x, g, o, 100, EXTRA=extra, B=64)
    return o
class Square(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return multiply(x, x)
    @staticmethod
    def backward(context, gradient):
        return 2 * multiply(context.saved_tensors[0], gradient.contiguous(), EXTRA)
def hook(gradient):
    assert gradient.is_cuda
    return gradient * torch.full((100,), 2.0, device="cuda")
x = torch.rand(100, device="cuda", requires_grad=True)
Square.apply(x).sum().backward()
torch.testing.assert_close(x.grad, 2 * x.detach())
y = x * 1
y.register_hook(hook)
[gradient] = torch.autograd.grad(Square.apply(y).sum(), x)
torch.testing.assert_close(gradient, 4 * x.detach())
x = x.detach()
library = torch.library.Library("check_test", "FRAGMENT")
library.define("plain(Tensor x, Tensor g) -> Tensor")
library.impl("plain", lambda x, g: multiply(x, g), "CUDA")
library.define("both(Tensor x, Tensor g) -> Tensor")
library.impl("both", lambda x, g: multiply(x, g), "CUDA")
library.impl("both", lambda x, g: multiply(x, g) + 1, "CPU")
operators = [torch.ops.check_test.plain]
if hasattr(torch.library, "custom_op"):  # torch 2.4 and later
    for devices in (None, "cuda"):
        @torch.library.custom_op(f"check_test::custom_{devices}", mutates_args=(), device_types=devices)
        def custom(x: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
            return multiply(x, g)
        operators.append(custom)
for operator in operators:
    torch.testing.assert_close(operator(x, x), x * x)
torch.testing.assert_close(torch.ops.check_test.both(x, x), x * x + 1)
"""


@pytest.mark.parametrize("extra", [0, 1])
def test_functions_that_torch_calls(tmp_path, extra):
    """Backward passes, hooks, operators of torch.library: their tensors are the GPU's, too."""
    pytest.importorskip("torch")
    (tmp_path / "program.py").write_text(f"EXTRA = {extra}{CALLED_BY_TORCH}", encoding="utf-8")
    command = [sys.executable, "-m", "tessera.triton", "check", "--target", "sm_90a", "program.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    if extra:
        assert made.returncode == 1 and "program.py:6: kernel 'scale'" in made.stderr, made.stderr
    else:
        assert made.returncode == 0 and "no faults in 8 launches" in made.stderr, made.stderr


def test_compiled_functions(tmp_path):
    """Functions of torch.compile, and launches that it traces, run as they are written."""
    torch = pytest.importorskip("torch")
    if not hasattr(torch.compiler, "set_stance") or not hasattr(torch.library, "wrap_triton"):
        pytest.skip("an older torch")
    (tmp_path / "program.py").write_text("""
import torch, triton, triton.language as tl
@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
@torch.compile
def launch(x):
    torch.library.wrap_triton(double)[(2,)](x, 100, B=64)
    return x + 1
x = torch.ones(100, device="cuda")
assert (launch(x) == 3).all() and (launch(x) == 5).all()
""", encoding="utf-8")
    command = [sys.executable, "-m", "tessera.triton", "check", "--target", "gfx942", "program.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert made.returncode == 0 and "no faults in 2 launches" in made.stderr, made.stderr


# ---- progress ----

TUNING = """
import numpy as np, sys
sys.path.insert(0, {tests!r})
import right_matmul
from tessera.triton import _progress, emulate
_progress._PATIENCE = _progress._SECONDS = 0
with emulate("sm_90a"):
    right_matmul.test_autotuned()
    right_matmul.test_autotuned_with_heuristics()
"""


def test_progress_of_the_autotuner(tmp_path):
    pty = pytest.importorskip("pty")
    code = TUNING.format(tests=os.path.dirname(os.path.abspath(__file__)))
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    said = b""
    try:
        while data := os.read(ours, 4096):
            said += data
    except OSError:  # how a terminal ends
        pass
    os.close(ours)
    assert process.wait() == 0, said
    assert b"autotuning both: candidate 2 of 2" in said and said.rstrip(b"\r\n").endswith(b"\r\x1b[2K")
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert quiet.returncode == 0 and b"autotuning" not in quiet.stderr and b"\r" not in quiet.stderr


# ---- the end of a process ----

NOT_LEFT = """
import sys, threading
import numpy as np, triton, triton.language as tl
from tessera.triton import emulate
from tessera.triton._check import checking

@triton.jit
def double(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) * 2)

def enter():
    global block
    block = checking("gfx942") if sys.argv[1] == "checking" else emulate("gfx942")
    block.__enter__()
    double[(1,)](np.ones(4, "f4"), B=4)

if sys.argv[2] == "main":
    enter()
    inner = emulate("sm_90a")
    inner.__enter__()
else:
    t = threading.Thread(target=lambda: (enter(), sys.argv[2] == "running" and threading.Event().wait()), daemon=True)
    t.start()
    t.join(timeout=5)
print("the end")
"""


@pytest.mark.parametrize("block", ["emulate", "checking"])
@pytest.mark.parametrize("thread", ["main", "ended", "running"])
def test_process_ends_within_a_block(tmp_path, block, thread):
    program = tmp_path / "program.py"
    program.write_text(NOT_LEFT)
    made = subprocess.run([sys.executable, program, block, thread], capture_output=True, text=True)
    assert (made.returncode, made.stdout, made.stderr) == (0, "the end\n", "")


def test_programs_that_are_none(tmp_path, monkeypatch, capsys):
    """In this process, like the one that `check` starts for each target."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "path", list(sys.path))
    check = lambda *program: (__main__.check(["--target", "interpreter", *program]), capsys.readouterr().err)
    checked = lambda *program: (_check.main("interpreter", list(program)), capsys.readouterr().err)
    assert check("no.py") == (2, "no.py: No such file or directory\n")
    assert check(".") == (2, ".: a folder without __main__.py\n")
    for name in ("no.such", ".."):
        assert checked("-m", name) == (2, f"interpreter: there is no module {name!r}\n")
    (tmp_path / "ends.py").write_text("import sys\nsys.exit('no data')\n")
    for program in (["ends.py"], ["-m", "ends"]):
        assert checked(*program) == (1, "no data\ninterpreter: the program ended with status 1\n")


SCALE = """
import torch, triton, triton.language as tl
@triton.jit
def scale(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
def doubled(x):
    scale[(2,)](x, x, 100, B=64)
    return x
"""


def check(folder, text, target="interpreter"):
    (folder / "program.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "tessera.triton", "check", "--target", target, "program.py"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    return made.returncode, made.stderr


def test_copies_between_host_and_gpu(tmp_path):
    """All tensors are in the host's memory, but what copies on a GPU copies here."""
    pytest.importorskip("torch")
    status, said = check(tmp_path, f"""{SCALE}
ones = torch.ones(100)
for move in (lambda x: x.cuda(), lambda x: x.to("cuda"), lambda x: x.to(device="cuda:0", dtype=torch.float32),
             lambda x: x.to(torch.device("cuda")), lambda x: x.to(torch.empty(1, device="cuda"))):
    host = torch.ones(100)
    assert (doubled(move(host)) == 2).all() and (host == ones).all()
x = torch.ones(100, device="cuda")
before, as_array = x.cpu(), x.to("cpu").numpy()
assert (doubled(x) == 2).all() and (before == 1).all() and (as_array == 1).all()
assert x.cuda() is x and x.to("cuda") is x and before.cpu() is before
model = torch.nn.Linear(10, 10, bias=False).cuda()
weight = model.weight.detach().cpu()
scale[(2,)](model.weight, model.weight, 100, B=64)
assert torch.equal(model.weight.detach().cpu(), 2 * weight)
with torch.device("cuda"):
    y = torch.empty(100)
scale[(2,)](torch.ones(100, device="cuda"), y, 100, B=64)
torch.set_default_device("cuda")
scale[(2,)](torch.ones(100), y, 100, B=64)
scale[(2,)](torch.zeros(100).uniform_(-1, 1), torch.ones(100, device="cuda"), 100, B=64)
generator = torch.Generator(device="cuda").manual_seed(3)
assert isinstance(generator, torch.Generator) and torch.rand(4, device="cuda", generator=generator).is_cuda
""")
    assert status == 0 and "no faults" in said, said


def test_tensors_of_host_and_gpu(tmp_path):
    """In one launch: a fault at the line that launches."""
    pytest.importorskip("torch")
    right = ("torch.ones(100, device=0)", "torch.ones(100, pin_memory=True)", "torch.ones(100).to(o.device)",
             "torch.ones(100).type_as(o)", "(torch.ones(100) * o).contiguous()")  # fmt: skip
    launches = "".join(f"scale[(2,)]({x}, o, 100, B=64)\n" for x in right)
    alone = "scale[(2,)](torch.ones(100), torch.empty(100), 100, B=64)\n"  # of a program that needs no GPU
    code, said = check(tmp_path, f"{SCALE}o = torch.zeros(100, device='cuda')\n{launches}{alone}")
    assert code == 0 and "no faults in 6 launches" in said, said
    wrong = ("torch.ones(100)", "torch.tensor([1.0] * 100) + 1", "torch.ones(100, device='cuda').cpu()[:100]")
    code, said = check(tmp_path, f"""{SCALE}o = torch.empty(100, device='cuda')
for x in {", ".join(wrong)}:
    try:
        scale[(2,)](x, o, 100, B=64)
    except Exception as e:
        assert "program.py:13: kernel 'scale': 'x' is a tensor on the CPU" in str(e)
        continue
    raise AssertionError
""")
    assert code == 1 and "3 launches had a fault" in said, said


@pytest.mark.parametrize(
    "body, line, reason",
    [
        ("helper(x)", 5, "too few"),
        (  # an assertion of Triton 3.6; a later version says what it expected
            "tl.make_tensor_descriptor(x, [64], [1], [32]).store([0], tl.arange(0, 64))",
            9,
            "(AssertionError: assert|expected value shape)",
        ),
    ],
)
def test_kernels_that_triton_refuses(tmp_path, body, line, reason):
    """The place in the file and the reason, in the last line; no traceback through Triton."""
    code, said = check(tmp_path, f"""
import numpy as np, triton, triton.language as tl
@triton.jit
def helper(x):
    tl.static_assert(False, "too few")
@triton.jit
def kernel(x):
    # a comment
    {body}
kernel[(1,)](np.zeros(64, "f4"))
""")
    assert code == 1 and "Traceback" not in said, said
    assert re.search(rf"a kernel does not compile: .*program\.py:{line}: .*{reason}", said), said


def test_exceptions_of_the_program(tmp_path):
    code, said = check(tmp_path, "def f():\n    return {}[3]\n\nf()\n")
    assert code == 1 and "the program failed at " in said and "program.py:2: KeyError: 3" in said, said
    assert "_check.py" not in said and "runpy" not in said, said


def test_graphs_are_refused(tmp_path):
    pytest.importorskip("torch")
    code, said = check(tmp_path, "import torch\ntorch.cuda.CUDAGraph()\n")
    assert code == 1 and "program.py:2: CUDA graphs are not emulated" in said and "Traceback" not in said, said
