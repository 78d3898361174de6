#!/usr/bin/env python3
"""Makes docs/tuning.md from ir/tuning.def and the tables of targets.

    tools/generate_tuning_docs.py           writes docs/tuning.md
    tools/generate_tuning_docs.py --check   exits with 1 if docs/tuning.md is not current
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "docs" / "tuning.md"
TABLES = ["codegen_nvidia/arch_table.cpp", "codegen_amd/arch_table.cpp"]

HEAD = """# Tuning numbers
<!-- Made by tools/generate_tuning_docs.py from ir/tuning.def: edit that file. -->
Numbers that were fitted to a machine, or chosen for lack of a measurement. A pass reads them as `target.tuning.NAME`. \
To change one for all targets, edit its row in `ir/tuning.def`; for one target, set `t.tuning.NAME` in its row of the \
table of targets (`codegen_nvidia/arch_table.cpp`, `codegen_amd/arch_table.cpp`). Then run \
`tools/generate_tuning_docs.py`.

*Evidence* is "measured" with machine, date and result, and with the command, or "again" with a command that \
measures something like it, if this repository has one; "modelled" by the timing model (`amd_timing.md`); "argued" \
with the reason; or "unmeasured".
"""


def rows(text):
    """(section, type, name, value, unit, why, evidence) of each row, in order."""
    section = None
    text = re.sub(r"^//(?! ----).*$", "", text, flags=re.M)
    string = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    row = re.compile(r"TUNING\(\s*([^,]+),\s*(\w+),\s*([^,]+),\s*" + string + "," + r"\s*" + string + r",\s*" + string +
                     r"\)|^// ---- (.*?) -*$", re.M)
    for m in row.finditer(text):
        if m.group(7):
            section = m.group(7).strip()
            continue
        joined = ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', m.group(i))) for i in (4, 5, 6)]
        yield (section, m.group(1).strip(), m.group(2), m.group(3).strip(), *joined)


def targets():
    """For each target, in the tables' order: its name, the machine that it was measured on, and its own numbers."""
    out = []
    for path in TABLES:
        known = {}
        for m in re.finditer(r"static ArchInfo (\w+)\(\) \{\n(.*?)\n\}\n", (ROOT / path).read_text(), re.S):
            body = m.group(2)
            base = re.search(r"ArchInfo a = (\w+)\(\);", body)
            machine, own = known.get(base.group(1), ("", {})) if base else ("", {})
            own = dict(own)
            own.update(re.findall(r"\btuning\.(\w+) = ([^;]+);", body))
            measured = re.findall(r'\bmeasuredOn = "([^"]*)";', body)
            if measured:
                machine = measured[-1]
            known[m.group(1)] = (machine, own)
            name = re.findall(r'\bname = "([^"]+)";', body)
            out.append((name[-1] if name else m.group(1), machine, own))
    return out


KINDS = ("measured", "modelled", "argued", "unmeasured")


def counts(evidence):
    """How many numbers have which kind of evidence, in a sentence."""
    kinds = [re.match(r"\w*", e).group() for e in evidence]
    for kind in kinds:
        if kind not in KINDS:
            sys.exit(f"ir/tuning.def: evidence begins with '{kind}', not with one of {', '.join(KINDS)}")
    return f"Of {len(kinds)} numbers, " + ", ".join(f"{kinds.count(k)} are {k}" for k in KINDS) + ".\n"


def generate():
    table = list(rows((ROOT / "ir" / "tuning.def").read_text()))
    text = HEAD + "\n" + counts([row[-1] for row in table])
    section = None
    cell = lambda s: s.replace("|", "\\|")
    for where, kind, name, value, unit, why, evidence in table:
        if where != section:
            section = where
            text += f"\n## {section}\n| Name | Value | Unit | Why | Evidence |\n|---|---|---|---|---|\n"
        text += f"| `{name}` | {value} | {cell(unit)} | {cell(why)} | {cell(evidence)} |\n"
    text += "\n## Targets\n| Target | Generated code measured on | Numbers of its own |\n|---|---|---|\n"
    for name, machine, own in targets():
        numbers = ", ".join(f"`{k}` {v}" for k, v in own.items()) or "none"
        text += f"| {name} | {machine or 'no machine: numbers fitted to other targets'} | {numbers} |\n"
    return text


def main():
    text = generate()
    if sys.argv[1:] == ["--check"]:
        if not OUTPUT.exists() or OUTPUT.read_text() != text:
            sys.exit("docs/tuning.md is not current: run tools/generate_tuning_docs.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        OUTPUT.write_text(text)


if __name__ == "__main__":
    main()
