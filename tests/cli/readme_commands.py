#!/usr/bin/env python3
"""readme_commands.py TESSERA ROOT: runs the first block of commands of the section "Use" of README.md as it is written.

In a folder of its own that has what the commands find in the repository: tests/ and build/tools/."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

program, root = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
use = (root / "README.md").read_text().split("\n## Use\n")[1].split("\n## ")[0]
commands = re.findall(r"(?:^    .*\n)+", use, re.M)[0]
if "tessera compile" not in commands or "tessera run" not in commands:
    sys.exit("README.md: the first block of \"Use\" has no commands of tessera")
with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "build").mkdir()
    os.symlink(program.parent, pathlib.Path(folder) / "build" / "tools")
    os.symlink(root / "tests", pathlib.Path(folder) / "tests")
    script = "\n".join(line[4:] for line in commands.splitlines())
    run = subprocess.run(["bash", "-exuo", "pipefail", "-c", script], cwd=folder, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
if run.returncode:
    sys.exit(run.stdout[-4000:] + f"\nREADME.md: a command of \"Use\" ends with {run.returncode}")
