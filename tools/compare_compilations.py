#!/usr/bin/env python3
"""Compiles a kernel twice and reports what differs: metadata, remarks, and the text of one stage.

    tools/compare_compilations.py A [B] [--target T] [--emit STAGE] [--kernel K] [-- OPTIONS of A [-- OPTIONS of B]]

  A, B           the inputs (TTIR or TTGIR); without B both compilations read A
  --target T     the target of both (default: sm_90a)
  --emit STAGE   the text to compare: ttir, ttgir (default), llir, ptx or amdgcn
  --old, --new   the compilers of the two sides (default, which is printed: of the `tessera` of build-release,
                 build-static and build the one that was built last, else that from PATH)
  --summary      metadata and remarks only
  -- OPTIONS     further options of `tessera compile`, first those of A, then those of B; B takes A's if it has none

Examples:

    tools/compare_compilations.py mm.ttir --target sm_90a -- --num-stages 3 -- --num-stages 4
    tools/compare_compilations.py mm.ttir --old release-1/tessera --new build/tools/tessera

Buffers in shared memory are compared by bytes and lifetime, since the offset of one depends on all others: those of an
operation at the same place in the kernel's source are compared with each other, the largest change first; of one that
only one side has (0 bytes on the other) the list says what it is for. More bytes in all while every buffer has as many
as before: see the list of buffers that cannot share bytes any more, because their lifetimes overlap or they are of two
partitions. Locations in TTIR and TTGIR are not compared.

Metadata comes from the object (registers, spills, occupancy) where the toolchain is installed, otherwise from the last
stage that can be made. Exit code: 0 nothing differs, 1 something differs, 2 wrong usage, 3 a compilation failed.
"""
import argparse
import collections
import difflib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILDS = ("build-release", "build-static", "build")
# Metadata that differs between any two compilations.
VOLATILE = ("compile_ms", "times", "passes_ms")


def find_compiler():
    built = [path for path in (ROOT / folder / "tools" / "tessera" for folder in BUILDS) if path.exists()]
    return str(max(built, key=lambda path: path.stat().st_mtime)) if built else shutil.which("tessera")


class Compilation:
    """One side: its command, and what it gives."""

    def __init__(self, compiler, source, args, options):
        self.compiler, self.source, self.options = compiler, source, options
        self.base = [compiler, "compile", source, "--target", args.target] + options
        if args.kernel:
            self.base += ["--kernel", args.kernel]
        with tempfile.TemporaryDirectory() as folder:
            text = self.run(["--emit", args.emit, "-o", "-"])
            self.text = (without_locations(text) if args.emit in ("ttir", "ttgir") else text).splitlines(keepends=True)
            self.metadata, remarks = self.object(folder, args.target)
        self.buffers = [r for r in remarks if r["name"] == "SharedMemoryBuffer"]
        self.remarks = [remark_text(r) for r in remarks if r["name"] != "SharedMemoryBuffer"]

    def run(self, more, may_fail=False):
        result = subprocess.run(self.base + more, capture_output=True, text=True)
        if result.returncode and not may_fail:
            sys.stderr.write(result.stderr)
            print(f"compare_compilations: exit code {result.returncode}: {' '.join(self.base + more)}", file=sys.stderr)
            sys.exit(3)
        return result.stdout if not result.returncode else None

    def object(self, folder, target):
        """Metadata and remarks of the object; of the assembly where no object can be made."""
        metadata, remarks = folder + "/metadata.json", folder + "/remarks.json"
        more = ["-o", folder + "/out", "--metadata", metadata, "--remarks-json", remarks]
        if self.run(more, may_fail=True) is None:
            self.run(["--emit", "ptx" if target.startswith("sm_") else "amdgcn"] + more)
        with open(metadata) as m, open(remarks) as r:
            return flatten(json.load(m)), json.load(r)

    def title(self):
        return " ".join([self.source] + self.options)


def flatten(value, prefix=""):
    """{"a": {"b": 1}} as {"a.b": 1}, without what always differs."""
    if not isinstance(value, dict):
        return {prefix: value}
    out = {}
    for key, inner in value.items():
        if key not in VOLATILE:
            out.update(flatten(inner, f"{prefix}.{key}" if prefix else key))
    return out


def without_locations(text):
    """The text without `loc(…)`, whose parentheses may be nested, and without the lines that define #loc aliases."""
    text = re.sub(r"^#loc\w* = .*\n", "", text, flags=re.MULTILINE)
    out, at = [], 0
    for start in re.finditer(r" ?\bloc\(", text):
        if start.start() < at:
            continue  # inside the last one
        out.append(text[at:start.start()])
        depth, at = 1, start.end()
        for token in re.compile(r'"[^"]*"|[()]').finditer(text, at):
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            at = token.end()
            if depth == 0:
                break
    return "".join(out) + text[at:]


def remark_text(remark):
    version = f" ({remark['version']} version)" if "version" in remark else ""
    return f"{remark['location']}: {remark['message']} [{remark['pass']}:{remark['name']}]{version}"


def print_metadata(old, new):
    rows = [(k, old.get(k), new.get(k)) for k in sorted(set(old) | set(new)) if old.get(k) != new.get(k)]
    if rows:
        print("metadata:")
    for key, before, after in rows:
        is_number = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (before, after))
        print(f"  {key}: {before} -> {after}" + (f" ({after - before:+g})" if is_number else ""))
    return bool(rows)


def print_remarks(old, new):
    before, after = collections.Counter(old), collections.Counter(new)
    lines = [f"  - {r}" for r in old if before[r] > after[r]] + [f"  + {r}" for r in new if after[r] > before[r]]
    if lines:
        print("remarks:")
        print("\n".join(lines))
    return bool(lines)


def lifetime(facts):
    return f"{facts['firstOperation']} ({facts['first']}) to {facts['lastOperation']} ({facts['last']})"


def keeps_apart(a, b):
    """Whether two buffers cannot share bytes (SharedBuffer::conflictsWith of shared_buffers.h)."""
    if a["function"] != b["function"]:
        return False
    if a["firstNumber"] <= b["lastNumber"] and b["firstNumber"] <= a["lastNumber"]:
        return True
    specialize = a.get("warpSpecialize")
    return specialize is not None and specialize == b.get("warpSpecialize") and a["partition"] != b["partition"]


def named_buffers(remarks):
    """{name: facts}: the names of two compilations are the same. Several of one operation and place are counted."""
    count, out = collections.Counter(), {}
    for r in remarks:
        name = f"{r['location']} {r['facts']['operation']}"
        count[name] += 1
        out[name + (f" #{count[name]}" if count[name] > 1 else "")] = r["facts"]
    return out


def overlaps(old, new):
    """Pairs of buffers that both compilations have, and of which one cannot let them share bytes and the other can."""
    if any("firstNumber" not in r["facts"] for r in (*old, *new)):
        return []  # a compiler of before 0.2.0
    before, after = named_buffers(old), named_buffers(new)
    lines = []
    for a, b in itertools.combinations([name for name in after if name in before], 2):
        was, now = keeps_apart(before[a], before[b]), keeps_apart(after[a], after[b])
        if was != now:
            bytes_ = min(after[a]["bytes"], after[b]["bytes"])
            lines.append((now, bytes_, f"{'+' if now else '-'} {a} and {b} ({bytes_} bytes)"))
    lines.sort(key=lambda row: (not row[0], -row[1]))
    return [line for _, _, line in lines]


def print_buffers(old, new):
    """Buffers in shared memory that differ in bytes or lifetime. Several of one operation and place go in order."""
    facts = collections.defaultdict(lambda: ([], []))
    for side, remarks in enumerate((old, new)):
        for r in remarks:
            facts[r["location"], r["facts"]["operation"]][side].append(r["facts"])
    sizes, lifetimes = [], []
    for (location, operation), sides in facts.items():
        for before, after in itertools.zip_longest(*sides):
            was, now = (f["bytes"] if f else 0 for f in (before, after))
            if was != now:  # of a buffer that one side has alone, also what it is for
                purpose = "" if before and after else ", " + (before or after)["purpose"]
                sizes.append((now - was, f"{location} {operation}: {was} -> {now} ({now - was:+}){purpose}"))
            if before and after and lifetime(before) != lifetime(after):
                lifetimes.append(f"{location} {operation}, {now} bytes: {lifetime(before)} -> {lifetime(after)}")
    sizes.sort(key=lambda row: -abs(row[0]))
    print_list("buffers in shared memory (bytes):", [line for _, line in sizes])
    print_list("lifetimes of buffers in shared memory:", lifetimes)
    pairs = overlaps(old, new)
    print_list("buffers that cannot share bytes any more (+), and that now can (-):", pairs)
    return bool(sizes or lifetimes or pairs)


def print_list(title, lines):
    if lines:
        print(title)
    for line in lines:
        print(f"  {line}")


def split_options(arguments):
    """(arguments of this script, options of A, options of B)"""
    parts = [[]]
    for argument in arguments:
        if argument == "--" and len(parts) < 3:
            parts.append([])
        else:
            parts[-1].append(argument)
    own, old = parts[0], parts[1] if len(parts) > 1 else []
    return own, old, parts[2] if len(parts) > 2 else old


def main():
    own, old_options, new_options = split_options(sys.argv[1:])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("inputs", nargs="+", metavar="INPUT")
    p.add_argument("--target", default="sm_90a")
    p.add_argument("--emit", default="ttgir", choices=("ttir", "ttgir", "llir", "ptx", "amdgcn"))
    p.add_argument("--kernel")
    p.add_argument("--old")
    p.add_argument("--new")
    p.add_argument("--summary", action="store_true")
    args = p.parse_args(own)
    if len(args.inputs) > 2:
        p.error("at most two inputs")
    compiler = find_compiler()
    if not (args.old or compiler) or not (args.new or compiler):
        p.error("no `tessera` in PATH or in a build folder; name the programs with --old and --new")
    if not (args.old and args.new):
        print(f"compiler: {compiler}", file=sys.stderr)
    old = Compilation(args.old or compiler, args.inputs[0], args, old_options)
    new = Compilation(args.new or compiler, args.inputs[-1], args, new_options)

    differ = print_metadata(old.metadata, new.metadata)
    differ |= print_buffers(old.buffers, new.buffers)
    differ |= print_remarks(old.remarks, new.remarks)
    if old.text != new.text:
        if args.summary and not differ:
            print(f"text differs: {args.emit}")
        differ = True
        if not args.summary:
            sys.stdout.writelines(difflib.unified_diff(old.text, new.text, old.title(), new.title()))
    if not differ:
        print("no difference")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
