"""Planted faults, and right kernels: `pytest --tessera-check` finds each of the first with its line, and is silent
about the others. One session for each of the two files, with all targets; what it says of each test is judged here."""

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
sys.path.insert(0, HERE)


def session(file, folder, *arguments):
    """What pytest said of each test: its name in brackets -> the failure's text, "" if it passed."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    made = subprocess.run([*command, os.path.join(HERE, file)], capture_output=True, text=True)
    assert made.returncode in (0, 1), made.stdout + made.stderr
    said = {}
    for test in ElementTree.parse(report).iter("testcase"):
        problems = [p for p in test if p.tag in ("failure", "error")]
        skipped = any(p.tag == "skipped" for p in test)
        said[test.get("name")] = None if skipped else "\n".join((p.text or "") for p in problems)
    return said


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    return session("planted.py", tmp_path_factory.mktemp("planted"), "--tessera-check", ",".join(TARGETS))


def line_of(name):
    with open(os.path.join(HERE, "planted.py")) as f:
        return next(i for i, line in enumerate(f, 1) if line.rstrip().endswith(f"# {name}"))


def cases():
    import planted

    return planted.CASES


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", cases())
def test_fault(planted, target, name):
    _, _, _, _, what, hidden = cases()[name]
    right, wrong = (planted[f"test_planted[{target}-{which}-{name}]"] for which in ("right", "wrong"))
    if target not in hidden:
        assert re.search(what, wrong), f"not found: {wrong}"
        # A race has two lines: the later access is named first, and the other one in its text.
        assert f"planted.py:{line_of(name)}:" in wrong.replace("\n", " ").partition("KernelFault: ")[2]
    if "bar.sync" not in (right or ""):
        assert right == "", right


def test_each_fault_is_found_somewhere():
    assert len(cases()) >= 20
    assert all(set(TARGETS) - set(case[5]) for case in cases().values())


@pytest.mark.parametrize("file", sorted(f for f in os.listdir(HERE) if f.startswith("right_")))
def test_right_kernels(file, tmp_path):
    said = session(file, tmp_path, "--tessera-check", ",".join(TARGETS))
    wrong = {name: text[-2000:] for name, text in said.items() if text}
    assert not wrong and said
