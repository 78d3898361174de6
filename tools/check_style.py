#!/usr/bin/env python3
"""Checks what clang-format does not: line widths, function lengths, vocabulary, and lists of files in READMEs.

    tools/check_style.py                   every tracked file
    tools/check_style.py transforms ir     files below these paths
    tools/check_style.py --counts          how many messages there are for each folder and check
    tools/check_style.py --only words      one check: of those below

Prints `FILE:LINE: message` and exits with 1 if there is any. The rules:

  lines      No source line (C++, C, Python, shell, CMake, ir/ops.table) over 120 columns. Exempt: lines of raw strings
             (IR text), and lines with a long URL. No golden test over 150 lines, apart from their inputs.
  statements No assignments that are joined by commas, one statement a line (not in tests, nor in heads of loops).
  functions  No function over 80 lines (needs universal-ctags). Exempt: tables, which have a comment `// Table: …`
             directly above, and TABLES below.
  words      The field's vocabulary: see WORDS (names of other things than what readers of Triton, LLVM, CUDA and ROCm
             know them by), each with what to write instead, and EXCEPTIONS with reasons. Names in
             camelCase are searched word by word, too. If every file is checked, exceptions that allow nothing are
             errors.
  lists      Files and folders that a README or a document names exist, and so does every `Class::member`. A README with
             a table of files names every source file of its folder, one with a table of folders and their contents
             every source file of those without a README, one with a table of results every result, newest first.
             No table of a README names a file twice. README.md names every target.
  attributes Every attribute of ours, "tessera.x" in the IR and "tessera-x" in the LLVM module, is in
             docs/architecture.md, and every one there exists.
  heads      The head of a pass's file (transforms/registry.cpp) begins with the pass's name.
  remarks    Every remark that a pass can emit is described in docs/remarks.md, once in a table, and in the command
             line's list of remarks (kRemarks in tools/arguments.cpp).
  circles    No two folders beside each other include each other.
"""
import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys

COLUMNS = 120
FUNCTION_LINES = 80
GOLDEN_LINES = 150

# Functions that may be longer, with the reason: (file pattern, function, reason).
TABLES = [
    ("runtime/interpreter/dispatch.cpp", "dispatch", "one case per operation"),
    ("codegen/lowering/dispatch.cpp", "rowOf", "one case per operation"),
    ("runtime/emulator/nvidia.cpp", "nvidiaIntrinsics", "one row per intrinsic"),
    ("runtime/emulator/amd.cpp", "amdIntrinsics", "one row per intrinsic"),
    ("runtime/emulator/llvm_intrinsics.cpp", "llvmIntrinsics", "one row per intrinsic"),
]


def word(*patterns):
    """Words, also as part of identifiers in camelCase and snake_case: `slot` finds slotOf, bufferSlot and slots."""
    parts = []
    for p in patterns:
        head, tail = p[0], p[1:]
        parts.append(rf"(?<![A-Za-z]){head}{tail}(?![a-z])|(?<=[a-z0-9]){head.upper()}{tail}(?![a-z])")
        parts.append(rf"(?<![A-Za-z]){head.upper()}{tail}(?![a-z])")
    return re.compile("|".join(parts))


def phrase(pattern):
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


# (name, pattern, what to write instead)
WORDS = [
    ("product", word("products?"), "dot, MMA, accumulator"),
    ("multiplication", word("multiplications?"), "dot, MMA"),
    ("factor", word("factors?"), "operand (A, B), accumulator"),
    ("slot", word("slots?"), "stage, buffer, buffer index"),
    ("ring", word("rings?"), "multi-buffered, buffers"),
    ("turn", phrase(r"(?:as many|one|two|several|of|in|first|last|next|each|every|of its) turns?|turns? through"),
     "iteration, repetition, stage"),
    ("round", phrase(r"(?:two|three|four|several|next|last|first|later|earlier|of the|each|every|per) rounds?|"
                     r"rounds? of (?:the|a) loop"), "iteration"),
    ("in the background", phrase("in the background"), "asynchronous, in flight"),
    ("goes on", phrase("go(?:es|ing)? on|went on"), "continues, overlaps with, is in flight"),
    ("goes out", phrase("go(?:es|ing)? out|went out"), "is issued"),
    ("under way", phrase("under ?way"), "in flight"),
    ("settled", word("settled?s?", "settling"), "waited for"),
    ("threads meet", phrase(r"(?:threads|warps|waves|lanes|blocks|all of them|they|both) meets?"),
     "synchronise, barrier"),
    ("threadsMeet", re.compile(r"threadsMeet|\bmeets_"), "synchronise, barrier"),
    ("deal", word("deals?", "dealt", "dealing"), "distribute"),
    ("what a loop carries",
     phrase("what (?:a|the|its|an outer)? ?loops?(?: or (?:a )?branch(?:es)?)? carr(?:y|ies)"), "loop-carried value"),
    ("in pieces", phrase("in pieces"), "vectorised, in accesses of N bytes"),
    ("widely", phrase("widely"), "vectorised, coalesced, in accesses of N bytes"),
    ("carried encoding", phrase("carried encodings?"), "opaque encoding"),
    ("is told", phrase("(?:is|are) told"), "is specified by, receives"),
    ("tells", phrase("tells"), "returns, specifies"),
    ("asks", phrase("asks"), "queries, requires, requests"),
    ("looks at", phrase("looks at"), "analyses, reads, uses"),
    ("sees", phrase("sees"), "finds, analyses, uses"),
    ("for who", phrase("for who"), "for users who"),
    ("of which none", phrase("of which (?:none|no)"), "if there is none"),
]

# What is legitimate: (name of the word, file pattern, regular expression on the line or None, reason). In file
# patterns `*` matches `/` too.
EXCEPTIONS = [
    ("*", "docs/glossary.md", None, "explains words"),
    ("multiplication", "docs/ops.md", None, "operations on numbers"),
    ("*", "tools/check_style.py", None, "lists them"),
    ("product", "layouts/*", None, "product of linear layouts"),
    ("product", "tests/unit/layouts/*", None, "product of linear layouts"),
    ("product", "benchmarks/t*.py", r"scaled_dot_product_attention", "a function of PyTorch"),
    ("product", "*",
     r"(?i)(?:cross|kronecker|cartesian|inner|outer|dot|64-bit|128-bit|wide|full|high|exact) products?",
     "mathematics"),
    ("product", "*", r"std::multiplies|\bproduct\((?:const )?(?:Dims|shape|llvm::ArrayRef|dims|\w*[sS]hape)",
     "product of a shape"),
    ("product", "*",
     r"(?i)high_?Product|high half of the product|products? of (?:two |the two )?(?:integers|numbers)", "of numbers"),
    ("multiplication", "*",
     r"(?i)(?:integer|scalar|signed|float\w*|floating-point|high|wide|32-bit|64-bit|elementwise|point-?wise|address|"
     r"by a constant|power of two|modular|modulo|GF\(2\)|F₂) multiplications?", "of numbers"),
    ("multiplication", "*",
     r"matrix_multiplication|03-matrix-multiplication|^# Matrix multiplication$",
     "a document, a tutorial of Triton"),
    ("factor", "*",
     r"(?i)(?:scal(?:e|ing)|unroll(?:ing)?|common|interleav\w+|quantis\w+|prime|loading|form|constant) ?-?_?factors?",
     "the field's word"),
    ("factor", "*loop_unroll*", None, "unroll factor"),
    ("factor", "tests/golden/ttir/loop_unroll*", None, "unroll factor"),
    ("product", "tests/*", r"\bproduct\(", "the number of a shape's elements"),
    ("product", "tests/unit/runtime_interpreter/*_arithmetic_test.cpp", None, "products of numbers"),
    ("product", "conformance/kernels/*", r"\bproduct\(", "a function of the formulas"),
    ("product", "conformance/formula.*", None, "a function of the formulas, and products of numbers"),
    ("multiplication", "ir/ops.table", r"full-width result of a multiplication", "of integers"),
    ("slot", "codegen_nvidia/backend.cpp", r"stack-slot-coloring", "the name of an LLVM pass"),
    ("turn", "*", r"(?i)in turn\b", "one after the other"),
]

SOURCES = (".cpp", ".h", ".c", ".py", ".sh", ".cmake", ".def", "CMakeLists.txt")
LINES = SOURCES + (".table",)
TEXTS = LINES + (".md", ".in", ".kernels", ".test", ".yml", ".yaml", ".toml", ".txt")
NOT_TEXTS = ("tests/malformed/*.mlir", "tests/fuzz/*.dict")


def tracked(paths):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", "--"] + paths, capture_output=True,
                         check=True).stdout
    return sorted({f for f in out.decode().split("\0") if f and os.path.isfile(f)})


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")


def raw_string_lines(lines):
    """The numbers of lines that are wholly or partly inside a raw string of C++."""
    inside, end = set(), None
    for n, line in enumerate(lines, 1):
        at = 0
        if end is not None:
            inside.add(n)
        while True:
            if end is None:
                m = re.compile(r'R"([^()\\ ]{0,16})\(').search(line, at)
                if not m:
                    break
                end, at = ")" + m.group(1) + '"', m.end()
                inside.add(n)
            else:
                found = line.find(end, at)
                if found < 0:
                    break
                at, end = found + len(end), None
    return inside


def check_lines(files):
    for path in files:
        if re.match(r"tests/golden/(?!.*/inputs/).*\.mlir$", path) and len(open(path).readlines()) > GOLDEN_LINES:
            yield path, GOLDEN_LINES + 1, f"a golden test of more than {GOLDEN_LINES} lines: split it by cases"
        if not path.endswith(LINES):
            continue
        lines = lines_of(path)
        raw = raw_string_lines(lines) if path.endswith((".cpp", ".h")) else set()
        for n, line in enumerate(lines, 1):
            if len(line) > COLUMNS and n not in raw and not re.search(r"https?://\S{20,}", line):
                yield path, n, f"{len(line)} columns, more than {COLUMNS}"
            if re.match(r"\s*// -{20,}$", line) and n not in raw:
                yield path, n, f"a ruler without its title: join it to the line before, at most {COLUMNS} columns"


ASSIGNMENT = r"\*?[a-z_][\w.]*(?:->\w+|::\w+|\.\w+|\[[^\]]*\])* (?:[-+*/|&^%]|<<|>>)?= "
JOINED = re.compile(rf"^\s+(?:(?:else )?(?:if|for|while) \(.*\) |else )?{ASSIGNMENT}(.*), {ASSIGNMENT}[^;]*;")


def check_statements(files):
    for path in files:
        if not path.endswith((".cpp", ".h")) or path.startswith("tests/"):
            continue
        lines = lines_of(path)
        raw = raw_string_lines(lines)
        for n, line in enumerate(lines, 1):
            m = JOINED.match(line)
            # Within parentheses the comma separates arguments.
            if m and n not in raw and all(m[1].count(a) == m[1].count(b) for a, b in ("()", "[]", "{}")):
                yield path, n, "assignments that are joined by a comma: write two statements"


def check_functions(files):
    sources = [f for f in files if f.endswith((".cpp", ".h", ".c", ".py"))]
    if not sources:
        return
    if not shutil.which("ctags"):
        sys.exit("check_style: needs universal-ctags (Debian: universal-ctags)")
    out = subprocess.run(["ctags", "--languages=C++,C,Python", "--langmap=C++:+.h", "--kinds-C++=f", "--kinds-C=f",
                          "--kinds-Python=fm", "--fields=+ne", "--output-format=json", "-f", "-", "-L", "-"],
                         input="\n".join(sources), capture_output=True, text=True, check=True).stdout
    for entry in map(json.loads, out.splitlines()):
        length = entry.get("end", 0) - entry["line"] + 1
        if length <= FUNCTION_LINES or any(fnmatch.fnmatch(entry["path"], p) and entry["name"] == f for p, f,
                                           _ in TABLES):
            continue
        at = entry["line"] - 2
        lines = lines_of(entry["path"])
        while at >= 0 and (re.match(r"\s*(//|#)", lines[at]) or lines[at].startswith(("template", "static"))):
            at -= 1
        if any("Table:" in line for line in lines[at + 1:entry["line"] - 1]):
            continue
        yield entry["path"], entry["line"], f"'{entry['name']}' has {length} lines, more than {FUNCTION_LINES}"


def text_of(path, line):
    """What of a line the vocabulary applies to: everything in code and documents, comments in IR."""
    if path.endswith(".mlir"):
        m = re.match(r"\s*//(?!\s*(?:-----|expected|[A-Z0-9_-]+:))(.*)", line)
        return m.group(1) if m else ""
    return line


# A line is searched for a word only if it has one of its stems, which makes the check fast.
STEMS = {"goes on": (" on",), "goes out": (" out",), "under way": ("way",),
         "settled": ("settl",),
         "threads meet": (" meet",), "deal": ("deal",), "what a loop carries": (" carr",), "is told": ("told",),
         "tells": ("tell", "told"), "asks": ("ask",), "looks at": ("look",), "sees": ("see",), "threadsMeet": ("meet",),
         "carried encoding": ("carried",), "of which none": ("which no",),
         "in the background": ("background",), "in pieces": ("pieces",),
         "turn": ("turn",), "round": ("round",)}


CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def check_words(files):
    """Also reports exceptions that nothing needs, if all files are checked."""
    used = set()
    yield from _check_words(files, used)
    if files != tracked([]):
        return
    source = lines_of("tools/check_style.py")
    for exception in EXCEPTIONS:
        if exception not in used:
            name, pattern, line_pattern, _ = exception
            # The rows of EXCEPTIONS begin with a name and a file pattern.
            near = [n for n, line in enumerate(source, 1) if f'("{name}", "{pattern}"' in line] or [1]
            yield "tools/check_style.py", near[0], f"the exception ({name}, {pattern}, {line_pattern}) allows nothing"


def _check_words(files, used):
    for path in files:
        if not path.endswith(TEXTS + (".mlir",)) or any(fnmatch.fnmatch(path, p) for p in NOT_TEXTS):
            continue
        exceptions = {}
        for exception in EXCEPTIONS:
            name, pattern, line_pattern, _ = exception
            if fnmatch.fnmatch(path, pattern):
                expression = re.compile(line_pattern) if line_pattern else None
                exceptions.setdefault(name, []).append((expression, exception))
        whole_file = [exception for expression, exception in exceptions.get("*", []) if expression is None]
        if whole_file:
            used.update(whole_file)
            continue
        for n, line in enumerate(lines_of(path), 1):
            lowered = CAMEL_CASE.sub(" ", line).lower()
            candidates = [w for w in WORDS if any(stem in lowered for stem in STEMS.get(w[0], (w[0],)))]
            if not candidates:
                continue
            text = text_of(path, line)
            found = set()
            split = CAMEL_CASE.sub(" ", text)
            for name, pattern, instead in candidates:
                matches = list(pattern.finditer(text))
                for m in matches or pattern.finditer(split):
                    allowed = [exception for key in ("*", name) for expression, exception in exceptions.get(key, [])
                               if expression is None or expression.search(text) or expression.search(split)]
                    used.update(allowed)
                    # One message a place: `is told` is not also `told`.
                    if not allowed and not any(m.start() < e and s < m.end() for s, e in found):
                        found.add(m.span())
                        yield path, n, f"'{m.group(0)}': write {instead}"


NAMED_FILE = re.compile(r"^[\w.{},*/+-]+\.(?:cpp|h|c|md|py|sh|table|def|ttir|ttgir|mlir|txt|cmake|test|kernels)$")


def expand_braces(name):
    m = re.search(r"\{([^{}]*)\}", name)
    if not m:
        return [name]
    return [e for part in m.group(1).split(",") for e in expand_braces(name[:m.start()] + part + name[m.end():])]


# Files that the table of a folder's README need not name.
UNLISTED = ("README.md", "CMakeLists.txt", "__init__.py")
FILE_HEADS = {"file", "files", "folder or file", "file or folder", "pass"}  # of the first column of a table of files


def check_completeness(path):
    """A README names every source file of its folder if it has a table of files, every document if it has a table of
    results, and every source file of the subfolders without a README if a table has their contents. `x.h` stands for
    `x.cpp`, too."""
    base, text = os.path.dirname(path), "\n".join(lines_of(path))
    heads = set(re.findall(r"^\| *(.*?) *\|(?=.*\n\|---)", text.lower(), re.M))
    contents = re.search(r"^\| *folder *\|.*\bcontents *\|\n\|---", text, re.I | re.M)
    named = [name or target for name, target in re.findall(r"`([^`\s]+)`|\]\(([^)#\s]+)", text)]
    stems = {os.path.basename(each).rsplit(".", 1)[0] for name in named for each in expand_braces(name)}
    below = tracked([base])
    described = [os.path.dirname(f) + "/" for f in below if os.path.basename(f) == "README.md"]
    for file in below:
        folder, name = os.path.split(file)
        if folder == base:
            endings = (SOURCES if heads & FILE_HEADS else ()) + ((".md",) if "result" in heads else ())
        else:
            own = any(file.startswith(f) for f in described if f != base + "/")
            endings = SOURCES if contents and not own else ()
        if name in UNLISTED or not name.endswith(endings):
            continue
        if not any(fnmatch.fnmatch(name.rsplit(".", 1)[0], stem) for stem in stems):  # stems may be patterns
            yield path, 1, f"it does not name '{os.path.relpath(file, base)}'"


def check_rows(path):
    """No table of a README links to a file or names it in two rows, and results are listed newest first."""
    rows, date = {}, None
    for n, line in enumerate(lines_of(path), 1):
        if not line.startswith("|"):
            rows, date = {}, None
            continue
        cell = line.split("|")[1]
        targets = {os.path.normpath(t) for t in re.findall(r"\]\(([^)#\s]+)", cell)}
        targets |= {os.path.normpath(t) for t in re.findall(r"`([^`\s]+)`", cell) if NAMED_FILE.match(t)}
        for target in sorted(targets):
            if target in rows:
                yield path, n, f"'{target}' has a row already, in line {rows[target]}"
            rows.setdefault(target, n)
        m = re.match(r" \[(\d{4}-\d\d-\d\d), ", cell)
        if m and date and m[1] > date:
            yield path, n, f"{m[1]} is listed after {date}: newest first"
        date = m[1] if m else date


# Members of classes of LLVM that documents name.
FOREIGN_MEMBERS = {("Option", "addArgument")}
MEMBER = re.compile(r"`(?:\w+::)*([A-Z]\w+)::(\w+)\b[^`]*`")


def check_members(files):
    """`Class::member` of READMEs and documents: both names occur in the code."""
    known = set()
    for path in tracked([]):
        if path.endswith((".cpp", ".h", ".c", ".def", ".table")):
            known.update(re.findall(r"\w+", "\n".join(lines_of(path))))
    for path in files:
        if path.endswith(".md") and not path.startswith("benchmarks/results/"):
            for n, line in enumerate(lines_of(path), 1):
                for owner, member in MEMBER.findall(line):
                    exists = owner in known and member in known
                    if not exists and (owner, member) not in FOREIGN_MEMBERS:
                        yield path, n, f"names '{owner}::{member}', which does not exist"


def check_lists(files):
    if "README.md" in files:
        yield from check_targets()
    yield from check_members(files)
    for path in files:
        if os.path.basename(path) == "README.md" and os.path.dirname(path):
            yield from check_completeness(path)
            yield from check_rows(path)
    everything = tracked([])
    folders = {os.path.dirname(f) for f in everything}
    folders |= {d for f in folders for d in _parents(f)}
    known = everything + [f + "/" for f in folders if f]

    def exists(name, base):
        candidates = [os.path.normpath(os.path.join(base, name)), os.path.normpath(name)]
        candidates = [c + "/" if name.endswith("/") else c for c in candidates]
        return any(c in known or fnmatch.filter(known, c) for c in candidates)

    for path in files:
        if not path.endswith(".md"):
            continue
        base, head, code = os.path.dirname(path), "", False
        for n, line in enumerate(lines_of(path), 1):
            if line.startswith("```"):
                code = not code
            if code or line.startswith("    "):
                continue
            if not line.startswith("|"):
                head = ""
            elif not head:
                head = line.split("|")[1].strip().lower()
            for name in re.findall(r"`([^`\s]+)`", line):
                is_file = NAMED_FILE.match(name) or re.match(r"^[\w./-]+/$", name)
                if not is_file or name in GENERATED or PLACEHOLDER.search(name) or name[0] in "/-":
                    continue
                for each in expand_braces(name):
                    # Relative to the document, to the root, or any file of the name.
                    if not exists(each, base) and not any(k.endswith("/" + each) for k in known) and \
                            not fnmatch.filter(known, "*/" + each):
                        yield path, n, f"names '{each}', which does not exist"
            if head in ("file", "files") and line.startswith(("| `", "| [`")):
                for name in re.findall(r"`([\w{},]+)`", line.split("|")[1]):
                    for each in expand_braces(name):
                        if not fnmatch.filter(known, os.path.normpath(os.path.join(base, each)) + ".*") and \
                                not exists(each + "/", base):
                            yield path, n, f"names '{each}', which does not exist"
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", line):
                if target != "…" and not re.match(r"[a-z]+:", target) and not exists(target, base):
                    yield path, n, f"links to '{target}', which does not exist"


def check_targets():
    readme = open("README.md", encoding="utf-8").read()
    for path in ("codegen_nvidia/arch_table.cpp", "codegen_amd/arch_table.cpp"):
        for n, line in enumerate(lines_of(path), 1):
            m = re.search(r'\b(?:info|t)\.name = "(\w+)"', line)
            if m and f"`{m.group(1)}`" not in readme:
                yield path, n, f"README.md does not name the target {m.group(1)}"


# Names of files in documents that are made by commands, or stand for the reader's own; so do names in capitals.
GENERATED = {"kernel.ttir", "kernel.py", "small.mlir", "kernel.mlir", "x.mlir", "a.mlir", "b.mlir"}
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]+(?:\.|/|$)(?!md)")


def _parents(folder):
    while folder:
        yield folder
        folder = os.path.dirname(folder)


def check_remarks(files):
    del files  # The list is of the whole compiler.
    document = "docs/remarks.md"
    if not os.path.isfile(document):
        return
    text = open(document, encoding="utf-8").read()
    emitted = {}
    for path in tracked(["transforms", "codegen", "codegen_nvidia", "codegen_amd", "runtime", "tools"]):
        if not path.endswith((".cpp", ".h")):
            continue
        content = open(path, encoding="utf-8").read()
        for m in REMARK.finditer(content):
            emitted.setdefault(m.group(1), (path, content.count("\n", 0, m.start()) + 1))
    for name, (path, n) in sorted(emitted.items()):
        if f"`{name}`" not in text:
            yield path, n, f"the remark {name} is not described in {document}"
    yield from check_known_remarks(emitted, text)
    described = set()
    for n, line in enumerate(text.split("\n"), 1):
        if not line.startswith("|"):
            described = set()
        m = re.match(r"\| `(\w+)`", line)
        if m and m.group(1) in described:
            yield document, n, f"describes {m.group(1)} again"
        if m:
            described.add(m.group(1))
        if m and m.group(1) not in emitted:
            yield document, n, f"describes {m.group(1)}, which no pass emits"


def check_known_remarks(emitted, text):
    """The command line's list against the remarks that the code makes, and their passes in docs/remarks.md."""
    path = "tools/arguments.cpp"
    documented = {}
    for name, reporters in re.findall(r"^\| `(\w+)` \| (`[\w-]+`(?:, `[\w-]+`)*) \|", text, re.MULTILINE):
        documented.setdefault(name, re.findall(r"[\w-]+", reporters))  # the first table has passes, later ones facts
    listed = {}
    for n, line in enumerate(open(path, encoding="utf-8"), 1):
        m = re.match(r' *\{"([\w-]+)", "([A-Z]\w+)", runtime::Stage::\w+\},', line)
        if m:
            listed[m.group(2)] = n
            if m.group(1) not in documented.get(m.group(2), ()):
                yield path, n, f"docs/remarks.md does not say that {m.group(1)} reports {m.group(2)}"
    for name, place in sorted(emitted.items()):
        if name not in listed:
            yield *place, f"kRemarks in {path} does not have the remark {name}"
    for name, n in sorted(listed.items()):
        if name not in emitted:
            yield path, n, f"no pass emits the remark {name}"


# How a remark is made: {kind, pass, "Name", …}.
REMARK = re.compile(r'[rR]emark\b[^;]{0,120}?,\s*"[\w-]*",\s*"([A-Z]\w+)"')

# Names in the LLVM module that are no attributes.
NO_ATTRIBUTES = {"tessera.trap": "a function"}


def check_attributes(files):
    del files  # The tables are of the whole compiler.
    document = "docs/architecture.md"
    text = "\n".join(lines_of(document))
    used = {}
    for path in tracked(["ir", "transforms", "codegen", "codegen_nvidia", "codegen_amd", "runtime/compiler"]):
        if not path.endswith((".cpp", ".h")):
            continue
        for n, line in enumerate(lines_of(path), 1):
            for name in re.findall(r'"(tessera[.-][\w.-]*\w)"', line.split("//")[0]):
                used.setdefault(name, (path, n))
    for name, (path, n) in sorted(used.items()):
        if f"`{name}`" not in text and name not in NO_ATTRIBUTES:
            yield path, n, f"'{name}' is not in {document}"
    for n, line in enumerate(text.split("\n"), 1):
        for name in re.findall(r"`(tessera[.-][\w.-]*\w)`", line):
            if name not in used:
                yield document, n, f"describes {name}, which the code does not have"


def check_heads(files):
    """The rows of the registry: row<function>("name", "file", …). Further names of a pass come after its own."""
    registry = open("transforms/registry.cpp", encoding="utf-8").read()
    known = set()
    for name, path in re.findall(r'row<\w+>\(\s*"([\w-]+)",\s*"([\w/.]+)"', registry):
        path = "transforms/" + path
        if path in known or path not in files:
            continue
        known.add(path)
        if not re.match(rf"// Pass {name}[:.]", lines_of(path)[0]):
            yield path, 1, f"the head does not begin with 'Pass {name}:'"


def check_circles(files):
    """Folders beside each other that include each other; a folder and its own subfolders may."""
    includes = {}
    for path in tracked([]):
        if not path.endswith((".h", ".cpp", ".def")) or path.startswith(("tests/", "examples/")):
            continue
        folder = os.path.dirname(path)
        for n, line in enumerate(lines_of(path), 1):
            m = re.match(r'#include "(.+)/[^/"]+"', line)
            if m and m[1] != folder and not (m[1] + "/").startswith(folder + "/") and \
                    not (folder + "/").startswith(m[1] + "/"):
                includes.setdefault((folder, m[1]), []).append((path, n))
    for (folder, other), places in includes.items():
        if (other, folder) in includes:
            for path, n in places:
                if path in files:
                    yield path, n, f"{folder} and {other} include each other"


CHECKS = {"lines": check_lines, "statements": check_statements, "functions": check_functions, "words": check_words,
          "lists": check_lists, "remarks": check_remarks, "attributes": check_attributes, "heads": check_heads,
          "circles": check_circles}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--only", choices=CHECKS, action="append")
    args = parser.parse_args()
    root = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True,
                          check=True).stdout.strip()
    paths = [os.path.relpath(os.path.abspath(p), root) for p in args.paths]
    os.chdir(root)
    files = tracked(paths)
    counts, total = {}, 0
    for name in args.only or CHECKS:
        for path, line, message in sorted(set(CHECKS[name](files))):
            total += 1
            folder = "/".join(path.split("/")[:-1][:2]) or "."
            row = counts.setdefault(folder, dict.fromkeys(CHECKS, 0))
            row[name] += 1
            if not args.counts:
                print(f"{path}:{line}: {message}")
    if args.counts and counts:
        print(f"{'folder':32}" + "".join(f"{c:>11}" for c in CHECKS))
        for folder, row in sorted(counts.items()):
            print(f"{folder:32}" + "".join(f"{row[c]:>11}" for c in CHECKS))
        print(f"{'all':32}" + "".join(f"{sum(r[c] for r in counts.values()):>11}" for c in CHECKS))
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
