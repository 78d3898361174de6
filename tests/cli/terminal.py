#!/usr/bin/env python3
"""What `tessera run` adds on a terminal alone: a last line that says what ran.

tests/cli/terminal.py TESSERA SOURCE_DIR
"""

import os
import pty
import re
import subprocess
import sys
import tempfile

tessera, source = sys.argv[1:3]
launch = os.path.join(source, "tests/kernels/vecadd/launch.json")


def run(*options: str, terminal: bool) -> tuple[str, str]:
    """What the command writes to standard output and to standard error, where the latter is a terminal or a pipe."""
    command = [tessera, "run", launch, *options]
    if not terminal:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout, done.stderr
    ours, its = pty.openpty()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=its, text=True, check=True)
    os.close(its)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # Linux: the other side is closed
        pass
    os.close(ours)
    return done.stdout, said.decode().replace("\r\n", "\n")


def expect(said: str, pattern: str) -> None:
    if not re.fullmatch(pattern, said):
        sys.exit(f"expected {pattern!r}, found {said!r}")


with tempfile.TemporaryDirectory() as folder:
    for device, compiled in (("interpreter", ""), ("emulator:gfx942", r" \(compiled in \d+\.\d{3} s\)")):
        begin = rf"vecadd: 4 programs on {device}, \d+\.\d{{3}} s{compiled}"
        on = ("--device", device)
        expect("".join(run(*on, terminal=False)), "")
        out, err = run(*on, terminal=True)
        expect(out, "")
        expect(err, begin + "; --check compares them with the expected outputs\n")
        out, err = run(*on, "--check", "--out", folder, terminal=True)
        expect(out, r"ok .*\n")
        expect(err, begin + f"; buffers in {re.escape(folder)}\n")
