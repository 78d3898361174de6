#!/usr/bin/env python3
"""Compares the options in `tessera COMMAND --help` with those in the command's section of docs/command_line.md, and
the keys of metadata, and which are null at which stage, with its section *Metadata*.

  documented_options.py docs/command_line.md          (runs `tessera` from PATH)

Prints what differs, one line for each option; nothing if all agree.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# Commands, and the sections besides their own that describe options of theirs.
COMMANDS = {"compile": [], "opt": ["compile"], "layout": [], "run": ["cache"], "bench": ["run", "cache"],
            "time": [], "tune": ["cache"], "conformance": [], "reduce": ["compile"], "cache": []}
# Options of other commands that a section mentions.
MENTIONED = {"opt": {"--reproducer"}, "conformance": {"--check"},
             "cache": {"--no-cache", "--metadata", "--verify-each", "--skip-pass", "--bisect-limit"}}


def options_in(text):
    return set(re.findall(r"--[a-zA-Z][a-zA-Z0-9]*(?:-[a-zA-Z0-9]+)*", text)) - {"--help"}


KERNEL = "module { tt.func public @k(%p: !tt.ptr<f32>, %n: i32) { tt.return } }"
STAGES = ["ttir", "ttgir", "llir", "amdgcn", "object"]  # as --emit names them, and the document the last one


def check_metadata(text):
    """The document's table against the metadata of each stage."""
    section = re.search(r"^## Metadata\n(.*?)(?=^## |\Z)", text, re.S | re.M)[1]
    described = {}
    for names, stage in re.findall(r"^\| (`[^|]*`) \|[^|]*\| ([^|]*)\|", section, re.M):
        described.update(dict.fromkeys(re.findall(r"`(\w+)`", names), stage.strip(" `") or "ttir"))
    with tempfile.TemporaryDirectory() as folder:
        source, metadata = os.path.join(folder, "k.ttir"), os.path.join(folder, "k.json")
        with open(source, "w", encoding="utf-8") as file:
            file.write(KERNEL)
        for n, stage in enumerate(STAGES):
            command = ["tessera", "compile", source, "--target", "gfx942", "--emit",
                       "hsaco" if stage == "object" else stage]
            subprocess.run(command + ["--metadata", metadata, "-o", source + ".out"], check=True)
            with open(metadata, encoding="utf-8") as file:
                found = json.load(file)
            for key in sorted(found.keys() ^ described.keys()):
                print(f"metadata: {key} is only in the {'JSON' if key in found else 'document'}")
            for key in sorted(found.keys() & described.keys()):
                is_known = STAGES.index(described[key]) <= n
                # The numbers of warps and threads of a warp have defaults before `ttgir`.
                has_default = described[key] == "ttgir"
                if (found[key] is not None) != is_known and not has_default:
                    print(f"metadata: {key} is {found[key]} in {stage}, and known from {described[key]} on")


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    sections = {m[1]: options_in(m[2]) for m in re.finditer(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.S | re.M)}
    for command, others in COMMANDS.items():
        done = subprocess.run(["tessera", command, "--help"], capture_output=True, text=True, check=True)
        offered = options_in(done.stdout)
        described = sections[command].union(*(sections[o] for o in others))
        for option in sorted(offered - described):
            print(f"{command}: {option} is not in its section")
        for option in sorted(sections[command] - offered - MENTIONED.get(command, set())):
            print(f"{command}: its section describes {option}, which it does not have")
    check_metadata(text)


main()
