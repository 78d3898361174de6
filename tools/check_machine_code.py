#!/usr/bin/env python3
"""Checks NVIDIA machine code of wgmma for registers that are used while a wgmma has them.

  check_machine_code.py [--notes] [--nvdisasm FILE] [--ptxas FILE] FILE...

FILE: a cubin, its text by `nvdisasm -c` (*.sass), or PTX (*.ptx), which ptxas compiles first. Prints each finding;
--notes adds what costs speed: spills in loops with wgmma, and ptxas's remarks about wgmma. Exit code: 0 no findings,
1 findings, 2 wrong usage or a program that is missing or fails.

wgmma is asynchronous. In machine code (sm_90a) it is HGMMA, QGMMA, IGMMA or BGMMA:

    WARPGROUP.ARRIVE                                                      wgmma.fence
    HGMMA.64x256x8.F32.TF32 R24, R164, gdesc[UR20], R24                   D, A (4 registers, or in gdesc with B), B, C
    HGMMA.64x256x8.F32.TF32 R24, R160, gdesc[UR20], R24, gsb0             gsb0: the last of its group
    WARPGROUP.DEPBAR.LE gsb0, 0x1                                         waits until at most one group is pending

From its issue to the wait for its group, it reads A's registers and reads and writes the accumulator's. Nothing else
orders that: these instructions have no scoreboards of their own. ptxas keeps the registers only as far as the PTX waits
where it expects it. Where they run on, it may give them to other values, without a warning. Findings:

  written   an instruction writes registers that a pending wgmma reads or accumulates into
  read      an instruction reads the accumulator of a pending wgmma
  shared    a wgmma uses registers of a pending one in another way than as the same accumulator
  unfenced  a wgmma reads registers that were written after the last WARPGROUP.ARRIVE (or there was none)
  ignored   setmaxnreg of the PTX is not in the machine code (PTX files only)

States follow the control flow: branches, loops, BSSY/BSYNC, calls. At joins they are united, so a finding may belong to
a path that no thread takes.

Not seen: shared memory that a pending wgmma reads (its order is that of barriers and proxy fences); uniform registers
with descriptors, which are read at issue; whether the waits are those that the PTX has. A called function is assumed to
return with what was pending at the call. Of a source that is wider than a register, the first register counts: they
are aligned as accumulators are. tcgen05 has its accumulators in tensor memory, and nothing here to check.
"""
import argparse
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile

MMA_OPCODES = ("HGMMA", "QGMMA", "IGMMA", "BGMMA")
REGISTERS_OF_A = 4  # 64 rows of 256 bits in 128 threads
ALL_REGISTERS = (1 << 256) - 1

# Opcodes whose first operand behind the predicates is a source, although it may be a general register.
WITHOUT_DESTINATION = {"BAR", "BRX", "CALL", "FCHK", "JMX", "NANOSLEEP", "RET", "SETCTAID", "SETLMEMBASE", "WARPSYNC"}
DOUBLE_PRECISION = {"DADD", "DFMA", "DMNMX", "DMUL"}
MATRIX = {"HMMA", "IMMA", "BMMA", "QMMA", "DMMA"}  # synchronous


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    guard: str  # "@P0", or empty
    opcode: str  # with modifiers
    operands: tuple

    @property
    def name(self):
        return self.opcode.partition(".")[0]

    @property
    def modifiers(self):
        return self.opcode.split(".")[1:]

    def __str__(self):
        return " ".join([*filter(None, [self.guard]), self.opcode, ", ".join(self.operands)]).rstrip()


@dataclasses.dataclass
class Function:
    name: str
    instructions: list
    labels: dict  # name: index of the instruction behind it


@dataclasses.dataclass(frozen=True)
class Finding:
    function: str
    kind: str
    address: int
    text: str

    def __str__(self):
        return f"{self.function}+{self.address:#06x}: {self.kind}: {self.text}"


# ---- text ----

SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
LABEL = re.compile(r"\s*([.\w$]+):\s*$")
LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")


def operands_of(text):
    """Operands between commas, those inside brackets and braces left whole."""
    return tuple(o.strip() for o in re.split(r",(?![^\[{(]*[\]})])", text) if o.strip())


def parse(text):
    """The functions of nvdisasm's text."""
    functions, current = [], None
    for line in text.splitlines():
        if section := SECTION.match(line):
            current = Function(section[1], [], {})
            functions.append(current)
        elif current is None:
            continue
        elif label := LABEL.match(line):
            current.labels[label[1]] = len(current.instructions)
        elif found := LINE.match(line):
            address, guard, opcode, operands = found.groups()
            # nvdisasm writes a guard by a uniform predicate that is always true as none.
            current.instructions.append(Instruction(int(address, 16), guard or "", opcode, operands_of(operands)))
    return functions


# ---- registers, as sets of bits ----


def bits(first, count):
    return ((1 << count) - 1) << first


def register(operand):
    """The number of an operand that is a general register, or None: RZ, uniform registers, memory, predicates."""
    found = re.fullmatch(r"[-~|]*R(\d+)(?:\.\w+)*\|?(?:\.\w+)*", operand)
    return int(found[1]) if found else None


def names(registers):
    """R4-R7, R9 for a set."""
    parts, r = [], 0
    while registers >> r:
        if registers >> r & 1:
            end = r
            while registers >> (end + 1) & 1:
                end += 1
            parts.append(f"R{r}" if end == r else f"R{r}-R{end}")
            r = end
        r += 1
    return ", ".join(parts)


def width_of_access(modifiers):
    return 4 if "128" in modifiers else 3 if "96" in modifiers else 2 if "64" in modifiers else 1


def written_width(instruction):
    """How many registers the destination has, or what a store stores."""
    name, modifiers = instruction.name, instruction.modifiers
    if name in MATRIX:
        shape = modifiers[0]
        if name == "DMMA":
            return 8 if shape.startswith("16") else 4
        return 4 if shape.startswith("16") and "F16" not in modifiers[1:2] else 2
    if name in ("LDSM", "STSM"):
        return 4 if "4" in modifiers else 2 if "2" in modifiers else 1
    if name == "CS2R":
        return 1 if "32" in modifiers else 2
    if name == "F2I":
        return 2 if {"S64", "U64"} & set(modifiers) else 1
    if name in ("I2F", "FRND"):
        return 2 if "F64" in modifiers else 1
    if name == "F2F":
        types = [m for m in modifiers if m in ("F16", "F32", "F64", "BF16")]
        return 2 if types[:1] == ["F64"] else 1
    if name in DOUBLE_PRECISION or name in ("LEPC", "GETLMEMBASE") or "WIDE" in modifiers:
        return 2
    return width_of_access(modifiers)


def destination(instruction):
    """The operand that is written, by its place, or None."""
    if instruction.name in WITHOUT_DESTINATION or "SETP" in instruction.name:
        return None
    for place, operand in enumerate(instruction.operands):
        if re.fullmatch(r"!?U?P[0-7T]", operand):
            continue
        return place if register(operand) is not None else None
    return None


def written(instruction):
    """The registers that an instruction other than wgmma writes. An unknown opcode counts as writing its first one."""
    place = destination(instruction)
    if place is None:
        return 0
    return bits(register(instruction.operands[place]), written_width(instruction))


def read(instruction):
    """The registers that an instruction other than wgmma reads."""
    place, result = destination(instruction), 0
    stores = instruction.name.startswith(("ST", "RED", "ATOM"))
    width = written_width(instruction) if stores else 1
    for i, operand in enumerate(instruction.operands):
        if i == place:
            continue
        if register(operand) is not None:
            result |= bits(register(operand), width)
        else:
            for number, wide in re.findall(r"(?<![A-Z_])R(\d+)(\.64)?", operand):
                result |= bits(int(number), 2 if wide else 1)
    return result


@dataclasses.dataclass(frozen=True)
class Mma:
    """What a wgmma has while it is pending."""
    address: int
    accumulator: int
    inputs: int  # A, and metadata of a sparse A
    reads_accumulator: bool
    ends_group: bool


def mma_of(instruction):
    shape = re.fullmatch(r"64x(\d+)x\d+", instruction.modifiers[0])
    if not shape:
        raise ValueError(f"unknown shape: {instruction}")
    columns, half = int(shape[1]), instruction.modifiers[1] == "F16"
    count = columns // (4 if half else 2)
    registers = [register(o) for o in instruction.operands]
    descriptor = next(i for i, o in enumerate(instruction.operands) if o.startswith("gdesc"))
    accumulator = bits(registers[0], count) if registers[0] is not None else 0  # RZ: the result is not used
    inputs = bits(registers[1], REGISTERS_OF_A) if descriptor == 2 and registers[1] is not None else 0
    for r in registers[descriptor + 2:]:
        inputs |= bits(r, 1) if r is not None else 0
    added = registers[descriptor + 1]
    if added is not None:
        accumulator |= bits(added, count)
    return Mma(instruction.address, accumulator, inputs, added is not None, "gsb0" in instruction.operands)


# ---- control flow ----


def successors(function):
    """The indices of the instructions that may follow each one."""
    labels, code = function.labels, function.instructions
    ends_of_regions = {}  # the barrier of BSSY: where its BSYNC continues
    for instruction in code:
        if instruction.name == "BSSY":
            for target in targets(instruction, labels):
                ends_of_regions.setdefault(instruction.operands[0], []).append(target)
    result = []
    for i, instruction in enumerate(code):
        name, after = instruction.name, [i + 1]
        if name in ("EXIT", "RET", "KILL"):
            after = after if instruction.guard else []
        elif name in ("BRA", "JMP"):
            conditional = instruction.guard or len(instruction.operands) > 1
            to = targets(instruction, labels)
            if not to:
                raise ValueError(f"{function.name}+{instruction.address:#06x}: no target: {instruction}")
            after = to + (after if conditional else [])
        elif name in ("BRX", "JMX", "BRXU", "JMXU"):  # through a table
            after = sorted(set(labels.values()))
        elif name == "BSYNC":
            regions = ends_of_regions.get(instruction.operands[0])
            after = regions + (after if instruction.guard else []) if regions else after
        elif name in ("CALL", "WARPSYNC"):
            after = targets(instruction, labels) + after
        result.append([s for s in after if s < len(code)])
    return result


def targets(instruction, labels):
    named = re.findall(r"`\((.+?)\)", " ".join(instruction.operands))
    return [labels[n] for n in named if n in labels]


def leaders(following):
    """The first instructions of basic blocks."""
    result = {0}
    for i, after in enumerate(following):
        if after != [i + 1]:
            result.update(after)
            result.add(i + 1)
    return result


# ---- what is pending ----


@dataclasses.dataclass(frozen=True)
class State:
    """pending[0]: wgmmas whose group is not complete; pending[k]: those of groups with k - 1 later ones, the last one
    of groups with as many or more; sets of bits by the number of the wgmma. unfenced: registers written since the last
    WARPGROUP.ARRIVE."""
    pending: tuple
    unfenced: int

    def united(self, other):
        return State(tuple(a | b for a, b in zip(self.pending, other.pending)), self.unfenced | other.unfenced)


def allowed_groups(instruction):
    """How many groups a wait leaves pending; None if it is none that surely takes place."""
    if instruction.opcode != "WARPGROUP.DEPBAR.LE" or instruction.guard:
        return None
    return int(instruction.operands[1], 0)


class Check:
    """The check of one function."""

    def __init__(self, function):
        self.function = function
        self.following = successors(function)
        self.mmas, self.number = [], {}
        for i, instruction in enumerate(function.instructions):
            if instruction.name in MMA_OPCODES:
                self.number[i] = len(self.mmas)
                self.mmas.append(mma_of(instruction))
        waits = [allowed_groups(i) for i in function.instructions]
        self.most_left = max((w for w in waits if w is not None), default=0)
        self.findings = {}

    def findings_in_order(self):
        if self.mmas:
            states = self.states_of_blocks()
            for leader, state in states.items():
                self.walk(leader, state, states, self.report)
        return sorted(self.findings.values(), key=lambda f: (f.address, f.kind, f.text))

    def states_of_blocks(self):
        """The states before basic blocks that are reached: united over all ways there, until nothing changes."""
        first = leaders(self.following)
        states, work = {0: State((0,) * (self.most_left + 2), ALL_REGISTERS)}, [0]
        while work:
            at = work.pop()
            last, state = self.walk(at, states[at], first, None)
            for target in self.following[last]:
                known = states.get(target)
                united = known.united(state) if known else state
                if united != known:
                    states[target] = united
                    work.append(target)
        return states

    def walk(self, index, state, stops, report):
        """To the end of a basic block: the index of its last instruction, and the state behind it."""
        while True:
            if report:
                report(index, state)
            state = self.after(index, state)
            if self.following[index] != [index + 1] or index + 1 in stops:
                return index, state
            index += 1

    def after(self, index, state):
        instruction = self.function.instructions[index]
        if index in self.number:
            number, pending = self.number[index], list(state.pending)
            pending[0] |= 1 << number
            if self.mmas[number].ends_group:
                pending = [0, *pending[:-2], pending[-2] | pending[-1]]
            return State(tuple(pending), state.unfenced)
        if instruction.opcode == "WARPGROUP.ARRIVE" and not instruction.guard:
            return State(state.pending, 0)
        left = allowed_groups(instruction)
        if left is not None:
            kept = state.pending[:left + 1]
            return State(kept + (0,) * (len(state.pending) - len(kept)), state.unfenced)
        return State(state.pending, state.unfenced | written(instruction))

    def pending_mmas(self, state):
        united = 0
        for group in state.pending:
            united |= group
        return [m for i, m in enumerate(self.mmas) if united >> i & 1]

    def report(self, index, state):
        instruction = self.function.instructions[index]
        if index in self.number:
            self.report_mma(instruction, self.mmas[self.number[index]], state)
            return
        writes, reads = written(instruction), read(instruction)
        for mma in self.pending_mmas(state):
            if both := writes & (mma.accumulator | mma.inputs):
                self.add("written", instruction, both, mma)
            if both := reads & mma.accumulator:
                self.add("read", instruction, both, mma)

    def report_mma(self, instruction, mma, state):
        uses = mma.inputs | (mma.accumulator if mma.reads_accumulator else 0)
        if unfenced := uses & state.unfenced:
            self.add("unfenced", instruction, unfenced, None)
        for other in self.pending_mmas(state):
            shared = mma.accumulator & other.inputs | mma.inputs & other.accumulator
            if mma.accumulator != other.accumulator:
                shared |= mma.accumulator & other.accumulator
            if shared:
                self.add("shared", instruction, shared, other)

    def add(self, kind, instruction, registers, mma):
        text = f"{instruction}: {names(registers)}"
        if mma:
            text += f", of the pending wgmma at {mma.address:#06x}"
        self.findings[kind, instruction.address, text] = Finding(self.function.name, kind, instruction.address, text)


def check(function):
    """The findings in a function, in the order of addresses."""
    return Check(function).findings_in_order()


# ---- what costs speed ----


def smallest_loops(following):
    """For each instruction the instructions of the smallest loop around it, or None."""
    before = [[] for _ in following]
    for i, after in enumerate(following):
        for s in after:
            before[s].append(i)
    result = [None] * len(following)
    for end, after in enumerate(following):
        for head in (s for s in after if s <= end):
            loop, work = {head, end}, [end]
            while work:
                i = work.pop()
                if i != head:
                    new = [b for b in before[i] if b not in loop]
                    loop.update(new)
                    work.extend(new)
            for i in loop:
                if result[i] is None or len(loop) < len(result[i]):
                    result[i] = loop
    return result


def spill_notes(function):
    """A line for each loop with wgmma, and no smaller one around them, that accesses local memory."""
    code = function.instructions
    if not any(i.name in MMA_OPCODES for i in code):
        return []
    loops, notes = smallest_loops(successors(function)), []
    with_mma = {id(loops[i]): loops[i] for i, c in enumerate(code) if c.name in MMA_OPCODES and loops[i]}
    for loop in with_mma.values():
        accesses = [code[i].name for i in loop if code[i].name in ("LDL", "STL")]
        if accesses:
            notes.append(f"{function.name}+{code[min(loop)].address:#06x}: spills in the loop: "
                         f"{accesses.count('LDL')} loads, {accesses.count('STL')} stores")
    return sorted(notes)


def wgmma_remarks(log):
    """The lines of ptxas's output about wgmma (C75xx) and setmaxnreg."""
    return sorted({line.strip() for line in log.splitlines() if re.search(r"\(C75\d\d\)|setmaxnreg", line)})


# ---- programs and files ----


class Failure(Exception):
    """A program is missing or fails, or a file is none of the kinds."""


def run(command):
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as e:
        raise Failure(f"{command[0]}: {e.strerror}") from e
    if result.returncode != 0:
        raise Failure(f"{' '.join(command)}: exit code {result.returncode}: {result.stderr.strip()}")
    return result


def find_program(name):
    """In PATH, in CUDA's folder, or in the package triton of pip, which has nvdisasm and ptxas; or None."""
    found = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if found:
        return found
    for folder in sys.path:
        path = os.path.join(folder, "triton", "backends", "nvidia", "bin", name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def required(name, given):
    program = given or find_program(name)
    if not program:
        raise Failure(f"{name} is missing: it is in CUDA's toolkit and in the Python package triton (--{name} FILE)")
    return program


def disassembled(cubin, nvdisasm=None):
    """The text of a cubin file."""
    return run([required("nvdisasm", nvdisasm), "-c", cubin]).stdout


def ignored_registers(ptx, functions):
    """Findings of PTX whose setmaxnreg is in no function of the machine code."""
    if "setmaxnreg" not in ptx or any(i.name == "USETMAXREG" for f in functions for i in f.instructions):
        return []
    return [Finding(functions[0].name if functions else "?", "ignored", 0, "no USETMAXREG for setmaxnreg of the PTX")]


def check_file(path, options):
    """Findings and notes of a file."""
    if path.endswith(".ptx"):
        with open(path, encoding="utf-8") as file:
            ptx = file.read()
        target = re.search(r"^\.target\s+(\w+)", ptx, re.M)
        if not target:
            raise Failure(f"{path}: no .target")
        with tempfile.TemporaryDirectory() as folder:
            cubin = os.path.join(folder, "code.cubin")
            log = run([required("ptxas", options.ptxas), f"--gpu-name={target[1]}", "-v", path, "-o", cubin]).stderr
            functions = parse(disassembled(cubin, options.nvdisasm))
        findings, notes = ignored_registers(ptx, functions), wgmma_remarks(log)
    else:
        if path.endswith(".sass"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
        else:
            text = disassembled(path, options.nvdisasm)
        functions, findings, notes = parse(text), [], []
    if not any(f.instructions for f in functions):
        raise Failure(f"{path}: no machine code")
    for function in functions:
        findings += check(function)
        notes += spill_notes(function)
    return findings, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="*.cubin, *.sass by nvdisasm -c, *.ptx")
    parser.add_argument("--notes", action="store_true", help="print what costs speed, too")
    parser.add_argument("--nvdisasm", metavar="FILE")
    parser.add_argument("--ptxas", metavar="FILE")
    options = parser.parse_args()
    total = 0
    for path in options.files:
        try:
            findings, notes = check_file(path, options)
        except (Failure, OSError, ValueError) as e:
            print(f"check_machine_code.py: {e}", file=sys.stderr)
            return 2
        total += len(findings)
        for line in [*findings, *(f"note: {n}" for n in notes if options.notes)]:
            print(f"{path}: {line}")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
