"""Planted faults, and right kernels: `pytest --tessera-check` finds each of the first with its line, and is silent
about the others. One session with all targets; what it says of each test is judged here."""

import importlib
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

pytest.importorskip("triton")
pytest.importorskip("numpy")

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = ["interpreter", "sm_90a", "gfx942"]
RIGHT = sorted(f for f in os.listdir(HERE) if f.startswith("right_"))
PLANTED = sorted(f for f in os.listdir(HERE) if f.startswith("planted"))
sys.path.insert(0, HERE)


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What pytest said of each test: file and name in brackets -> the failure's text, "" if it passed, None if it was
    skipped. In one process, with tracebacks that are cheap to make: there are a hundred."""
    report = tmp_path_factory.mktemp("faults") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=native", f"--junitxml={report}"]
    command += ["--tessera-check", ",".join(TARGETS), *(os.path.join(HERE, file) for file in [*PLANTED, *RIGHT])]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode in (0, 1), made.stdout + made.stderr
    texts = {}
    for test in ElementTree.parse(report).iter("testcase"):
        problems = [p for p in test if p.tag in ("failure", "error")]
        skipped = any(p.tag == "skipped" for p in test)
        file = test.get("classname").rpartition(".")[2] + ".py"
        texts[file, test.get("name")] = None if skipped else "\n".join((p.text or "") for p in problems)
    return texts


def line_of(file, name):
    with open(os.path.join(HERE, file)) as f:
        return next(i for i, line in enumerate(f, 1) if line.rstrip().endswith(f"# {name}"))


def cases():
    """By file and name."""
    return {(f, name): case for f in PLANTED for name, case in importlib.import_module(f[:-3]).CASES.items()}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("file, name", cases())
def test_fault(said, target, file, name):
    _, _, _, _, what, hidden = cases()[file, name]
    right, wrong = (said[file, f"test_planted[{target}-{which}-{name}]"] for which in ("right", "wrong"))
    if target not in hidden:
        assert re.search(what, wrong), f"not found: {wrong}"
        # A race has two lines: the later access is named first, and the other one in its text.
        assert f"{file}:{line_of(file, name)}:" in wrong.replace("\n", " ").partition("KernelFault: ")[2]
    if "bar.sync" not in (right or ""):
        assert right == "", right


def test_each_fault_is_found_somewhere():
    assert len(cases()) >= 20
    assert all(set(TARGETS) - set(case[5]) for case in cases().values())


@pytest.mark.parametrize("file", RIGHT)
def test_right_kernels(said, file):
    of_file = {name: text for (where, name), text in said.items() if where == file}
    wrong = {name: text[-2000:] for name, text in of_file.items() if text}
    assert not wrong and all(any(f"[{target}" in name for name in of_file) for target in TARGETS)
