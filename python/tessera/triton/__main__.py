"""`python -m tessera.triton report` and `python -m tessera.triton check`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from ._record import Record, summary


def _cache() -> Path:
    """Triton's folder of compiled kernels."""
    home = os.environ.get("TRITON_HOME", os.path.expanduser("~"))
    return Path(os.environ.get("TRITON_CACHE_DIR") or os.path.join(home, ".triton", "cache"))


def read_cache(folder: Path) -> list[Record]:
    """The kernels in a cache of Triton, in the order in which they were written."""
    found = []
    for path in folder.glob("*/*.json"):
        if path.name.startswith("__grp__"):
            continue
        try:
            about = json.loads(path.read_text())
            written = path.stat().st_mtime
        except (OSError, ValueError):
            continue  # removed or half written by another process
        if not isinstance(about, dict) or not isinstance(about.get("target"), dict) or "name" not in about:
            continue
        arch = str(about["target"].get("arch", ""))
        by = about.get("compiled_by", "triton (Tessera was not installed, or turned off)")
        try:
            milliseconds = float(about.get("compile_ms", 0))
        except (TypeError, ValueError):
            continue  # another program's file
        found.append((written, Record(str(about["name"]), arch, str(by), milliseconds)))
    return [record for _, record in sorted(found, key=lambda f: f[0])]


def _report(options: argparse.Namespace) -> int:
    folder = Path(options.folder) if options.folder else _cache()
    if options.folder and not folder.is_dir():
        print(f"{folder}: no such folder", file=sys.stderr)
        return 2
    records = read_cache(folder)
    if not records:
        print(f"{folder}: no kernels")
        return 0
    if options.kernels:
        width = max(len(r.name) for r in records)
        for r in records:
            print(f"{r.name:{width}}  {r.target:8}  {r.milliseconds:9.1f} ms  {r.compiled_by}")
    print(summary(records))
    return 0


CHECK = """usage: python -m tessera.triton check [--target T]... SCRIPT [ARGUMENT...]
       python -m tessera.triton check [--target T]... -m MODULE [ARGUMENT...]

Runs a program with its kernels on emulators, without a GPU, once for each target, and reports the first fault of each.
Targets: sm_90a, gfx942, ..., interpreter; default: interpreter, sm_90a and gfx942. For tests, pytest --tessera-check=T
runs the others after a fault.
Exit status: 0 no faults, 1 a fault or another exception of the program, 2 wrong usage, 130 interrupted."""


def check(arguments: list[str]) -> int:
    """One process for each target: programs may keep kernels and state. What follows the program is its own."""
    targets, rest = [], list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        name, _, value = rest.pop(0).partition("=")
        if name in ("-h", "--help"):
            print(CHECK)
            return 0
        if name != "--target":
            return _wrong_check(f"unknown option '{name}'; options of the program follow it")
        if not (value or rest):
            return _wrong_check("--target needs a name")
        targets.append(value or rest.pop(0))
    is_module = rest[:1] == ["-m"]
    if len(rest) <= is_module:
        return _wrong_check("a program is needed: SCRIPT, or -m MODULE")
    if not is_module and not os.path.exists(rest[0]):
        print(f"{rest[0]}: No such file or directory", file=sys.stderr)
        return 2
    if not is_module and os.path.isdir(rest[0]) and not os.path.exists(os.path.join(rest[0], "__main__.py")):
        print(f"{rest[0]}: a folder without __main__.py", file=sys.stderr)
        return 2
    return _check(targets or ["interpreter", "sm_90a", "gfx942"], rest)


def _wrong_check(why: str) -> int:
    """Wrong usage of `check`, in the form of argparse."""
    print(f"{CHECK}\npython -m tessera.triton check: error: {why}", file=sys.stderr)
    return 2


def _check(targets: list[str], command: list[str]) -> int:
    worst = 0
    for target in targets:
        try:
            made = subprocess.run([sys.executable, "-m", "tessera.triton._check", target, *command], check=False)
            code = made.returncode
        except KeyboardInterrupt:  # which the child has got, too, and has answered
            return 130
        if code == 130:
            return code
        if code < 0:
            print(f"{target}: the process ended with signal {-code}", file=sys.stderr)
            code = 1
        worst = max(worst, code)
    return worst


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["check"]:
        return check(given[1:])
    parser = argparse.ArgumentParser(prog="python -m tessera.triton", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    report = commands.add_parser("report", help="what Triton's cache has: compiled by whom, how long it took, why not")
    report.add_argument("folder", nargs="?", help="the cache; else TRITON_CACHE_DIR, ~/.triton/cache")
    report.add_argument("--kernels", action="store_true", help="a line for each kernel")
    report.set_defaults(run=_report)
    commands.add_parser("check", help="run a program's kernels on emulators, without a GPU, and report their faults")
    options = parser.parse_args(given)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
