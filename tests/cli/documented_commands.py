#!/usr/bin/env python3
"""documented_commands.py TESSERA ROOT: lines of code in documents name commands and options that the program has.

Read are README.md, docs/ and the READMEs of folders. That docs/command_line.md has all options is checked by
documented_options.py."""
import pathlib
import re
import subprocess
import sys

program, root = sys.argv[1], pathlib.Path(sys.argv[2])
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)")


def options(command: str) -> set[str] | None:
    """Of a command; None if there is no such command."""
    run = subprocess.run([program, command, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         check=False)
    return set(OPTION.findall(run.stdout)) | {"--help"} if run.returncode == 0 else None


usage = subprocess.run([program, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
known = {name: options(name) for name in re.findall(r"^  (\w+) ", usage, re.M)}
problems = []
if len(known) < 10 or None in known.values():
    problems.append(f"`tessera --help` names {len(known)} commands, not all of which have a help")
documents = [root / "README.md", *root.glob("docs/*.md"), *root.glob("*/README.md"), *root.glob("*/*/README.md")]
lines = 0
for document in documents:
    for name, rest in re.findall(r"(?:^    |`)(?:\S*/)?tessera ([a-z]+)\b([^`\n]*)", document.read_text(), re.M):
        lines += 1
        if name not in known:
            if name != "help":
                problems.append(f"{document.relative_to(root)}: no command `tessera {name}`")
            continue
        for option in OPTION.findall(rest.split("  #")[0]):
            if option not in (known[name] or ()):
                problems.append(f"{document.relative_to(root)}: `tessera {name}` has no {option}")
if lines < 50:
    problems.append(f"only {lines} lines of code with `tessera` were found: this test no longer reads the documents")
sys.exit("\n".join(problems) or None)
