#!/usr/bin/env python3
"""Compares the options in `tessera COMMAND --help` with those in the command's section of docs/command_line.md.

  documented_options.py docs/command_line.md          (runs `tessera` from PATH)

Prints what differs, one line for each option; nothing if all agree.
"""
import re
import subprocess
import sys

# Commands, and the sections besides their own that describe options of theirs.
COMMANDS = {"compile": [], "opt": ["compile"], "layout": [], "run": ["cache"], "bench": ["run", "cache"],
            "time": [], "tune": ["cache"], "conformance": [], "reduce": ["compile"], "cache": []}
# Options of other commands that a section mentions.
MENTIONED = {"opt": {"--reproducer"}, "conformance": {"--check"},
             "cache": {"--no-cache", "--metadata", "--verify-each", "--skip-pass", "--bisect-limit"}}


def options_in(text):
    return set(re.findall(r"--[a-zA-Z][a-zA-Z0-9]*(?:-[a-zA-Z0-9]+)*", text)) - {"--help"}


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


main()
