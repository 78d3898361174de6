#!/usr/bin/env python3
"""check_machine_code.py on small texts, as nvdisasm writes them."""
import os
import subprocess
import sys
import tempfile
import unittest

import check_machine_code as checker

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_machine_code.py")

ARRIVE = "WARPGROUP.ARRIVE"
FROM_REGISTERS = "HGMMA.64x16x8.F32.TF32 R24, R8, gdesc[UR4], R24, gsb0"
FROM_SHARED = "HGMMA.64x16x16.F32 R24, gdesc[UR4], R24, gsb0"
WAIT = "WARPGROUP.DEPBAR.LE gsb0, 0x0"


def function(*lines):
    """Text of a kernel: instructions at 0x0, 0x10, ...; labels are lines that end with a colon."""
    text, address = ['	.section	.text.k,"ax",@progbits', ".text.k:"], 0
    for line in [*lines, "EXIT"]:
        if line.endswith(":"):
            text.append(line)
        else:
            text.append(f"        /*{address:04x}*/                   {line} ;")
            address += 16
    return "\n".join(text) + "\n"


def checked(*lines):
    """(kind, address, registers) of each finding."""
    parsed = checker.parse(function(*lines))
    return [(f.kind, f.address, f.text.split(": ")[1].split(", of")[0]) for f in checker.check(parsed[0])]


def instruction(line):
    return checker.parse(function(line))[0].instructions[0]


class Pending(unittest.TestCase):

    def test_operands_in_registers(self):
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, "LDS R9, [R2]", WAIT), [("written", 0x20, "R9")])
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, WAIT, "LDS R9, [R2]"), [])
        # What follows them, and reading them, is allowed.
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, "LDS R12, [R2]", "MOV R13, R9", WAIT), [])

    def test_part_of_a_wide_destination(self):
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, "LDS.128 R4, [R2]", "LDS.64 R10, [R2]", WAIT),
                         [("written", 0x30, "R10-R11")])

    def test_operands_in_shared_memory(self):
        self.assertEqual(checked(ARRIVE, FROM_SHARED, "LDS.128 R8, [R2]", "R2UR UR4, R2", WAIT), [])

    def test_accumulator(self):
        for mma in FROM_REGISTERS, FROM_SHARED:
            self.assertEqual(checked(ARRIVE, mma, "FADD R4, R31, R5", WAIT), [("read", 0x20, "R31")])
            self.assertEqual(checked(ARRIVE, mma, "STS [R2], R24", WAIT), [("read", 0x20, "R24")])
            self.assertEqual(checked(ARRIVE, mma, "CS2R R30, SRZ", WAIT), [("written", 0x20, "R30-R31")])
            self.assertEqual(checked(ARRIVE, mma, "FADD R4, R32, R23", WAIT, "FADD R4, R31, R5"), [])

    def test_halves_need_half_as_many_registers(self):
        mma = "HGMMA.64x16x16.F16 R24, gdesc[UR4], R24, gsb0"
        self.assertEqual(checked(ARRIVE, mma, "FADD R4, R27, R28", WAIT), [("read", 0x20, "R27")])

    def test_a_result_that_is_not_used(self):
        mma = "HGMMA.64x16x16.F32 RZ, R8, gdesc[UR4], RZ, !UPT, gsb0"
        self.assertEqual(checked(ARRIVE, mma, "MOV R24, RZ", "MOV R8, RZ", WAIT), [("written", 0x30, "R8")])

    def test_guards(self):
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, "@P0 LDS R9, [R2]", WAIT), [("written", 0x20, "R9")])
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, f"@P0 {WAIT}", "LDS R9, [R2]", WAIT),
                         [("written", 0x30, "R9")])


class Groups(unittest.TestCase):

    def test_waits_leave_the_latest_groups(self):
        first, second = FROM_REGISTERS, FROM_REGISTERS.replace("R8", "R12")
        for left, expected in [(2, ["R8", "R12"]), (1, ["R12"]), (0, [])]:
            found = checked(ARRIVE, first, second, f"WARPGROUP.DEPBAR.LE gsb0, {left:#x}", "MOV R8, RZ", "MOV R12, RZ")
            self.assertEqual([registers for _, _, registers in found], expected)

    def test_a_group_of_two(self):
        first, last = FROM_REGISTERS.replace(", gsb0", ""), FROM_REGISTERS.replace("R8", "R12")
        one = "WARPGROUP.DEPBAR.LE gsb0, 0x1"
        self.assertEqual(checked(ARRIVE, first, last, one, "MOV R8, RZ", WAIT), [("written", 0x40, "R8")])
        self.assertEqual(checked(ARRIVE, first, last, FROM_SHARED, one, "MOV R8, RZ", "MOV R12, RZ", WAIT), [])

    def test_a_group_that_is_not_complete_is_not_waited_for(self):
        first = FROM_REGISTERS.replace(", gsb0", "")
        self.assertEqual(checked(ARRIVE, first, WAIT, "MOV R8, RZ"), [("written", 0x30, "R8")])

    def test_other_barriers_do_not_wait(self):
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, "DEPBAR.LE SB0, 0x0", "BAR.SYNC 0x0", "MOV R8, RZ"),
                         [("written", 0x40, "R8")])


class TwoMmas(unittest.TestCase):

    def test_the_same_accumulator(self):
        self.assertEqual(checked(ARRIVE, FROM_SHARED, FROM_SHARED, WAIT), [])
        wider = FROM_SHARED.replace("64x16", "64x32")
        self.assertEqual(checked(ARRIVE, FROM_SHARED, wider, WAIT), [("shared", 0x20, "R24-R31")])

    def test_the_accumulator_as_an_operand(self):
        second = FROM_REGISTERS.replace("R24", "R40").replace("R8", "R28")
        self.assertEqual(checked(ARRIVE, FROM_SHARED, second, WAIT), [("shared", 0x20, "R28-R31")])
        self.assertEqual(checked(ARRIVE, FROM_SHARED, WAIT, second), [])

    def test_registers_written_without_a_fence(self):
        self.assertEqual(checked(ARRIVE, "LDS R9, [R2]", FROM_REGISTERS, WAIT), [("unfenced", 0x20, "R9")])
        self.assertEqual(checked("LDS R9, [R2]", ARRIVE, FROM_REGISTERS, WAIT), [])
        self.assertEqual(checked("LDS R9, [R2]", f"@P0 {ARRIVE}", FROM_REGISTERS, WAIT)[0][0], "unfenced")
        self.assertEqual(checked(ARRIVE, "CS2R R24, SRZ", FROM_SHARED, WAIT), [("unfenced", 0x20, "R24-R25")])
        # The accumulator is not read where the instruction starts a new one.
        new = "HGMMA.64x16x16.F32 R24, gdesc[UR4], RZ, !UPT, gsb0"
        self.assertEqual(checked(ARRIVE, "CS2R R24, SRZ", new, WAIT), [])


class Flow(unittest.TestCase):

    def test_from_an_iteration_to_the_next(self):
        def loop(left):
            return checked(".L_x_0:", "LDS R8, [R2]", ARRIVE, FROM_REGISTERS, f"WARPGROUP.DEPBAR.LE gsb0, {left:#x}",
                           "@P0 BRA `(.L_x_0)", WAIT)
        self.assertEqual(loop(1), [("written", 0, "R8")])
        self.assertEqual(loop(0), [])

    def test_groups_of_iterations(self):
        """Two sets of registers, and a wait that leaves the later one."""
        second = FROM_REGISTERS.replace("R8", "R12")
        one = "WARPGROUP.DEPBAR.LE gsb0, 0x1"
        self.assertEqual(
            checked(".L_x_0:", "LDS R8, [R2]", ARRIVE, FROM_REGISTERS, one, "LDS R12, [R2]", ARRIVE, second, one,
                    "@P0 BRA `(.L_x_0)", WAIT), [])

    def test_branches(self):
        lines = ["@P0 BRA `(.L_x_1)", ARRIVE, FROM_REGISTERS, "BRA `(.L_x_2)", ".L_x_1:", "MOV R9, RZ", ".L_x_2:"]
        self.assertEqual(checked(*lines, "MOV R8, RZ", WAIT), [("written", 0x50, "R8")])
        self.assertEqual(checked(*lines, WAIT, "MOV R8, RZ"), [])

    def test_code_that_is_not_reached(self):
        self.assertEqual(checked(ARRIVE, FROM_REGISTERS, "BRA `(.L_x_1)", "MOV R8, RZ", ".L_x_1:", WAIT), [])

    def test_text_behind_the_loop_comes_before_its_end(self):
        """ptxas moves rare blocks to the end."""
        lines = [ARRIVE, FROM_REGISTERS, "@P0 BRA `(.L_x_2)", ".L_x_1:", WAIT, "MOV R8, RZ", "EXIT", ".L_x_2:"]
        self.assertEqual(checked(*lines, "MOV R8, RZ", "BRA `(.L_x_1)"), [("written", 0x60, "R8")])
        self.assertEqual(checked(*lines, "MOV R7, RZ", "BRA `(.L_x_1)"), [])

    def test_a_target_that_is_not_there(self):
        with self.assertRaisesRegex(ValueError, r"k\+0x0020: no target: @P0 BRA `\(.L_x_1\)"):
            checked(ARRIVE, FROM_REGISTERS, "@P0 BRA `(.L_x_1)", WAIT)

    def test_regions(self):
        lines = [ARRIVE, FROM_REGISTERS, "BSSY B0, `(.L_x_1)", "@P0 BRA `(.L_x_0)", WAIT, ".L_x_0:", "BSYNC B0",
                 "MOV R8, RZ", ".L_x_1:"]
        self.assertEqual(checked(*lines, "MOV R9, RZ", WAIT), [("written", 0x70, "R9")])

    def test_calls(self):
        lines = [ARRIVE, FROM_REGISTERS, "CALL.REL.NOINC `($k$f)", WAIT, "MOV R8, RZ", "EXIT", "$k$f:"]
        self.assertEqual(checked(*lines, "MOV R9, RZ", "RET.REL.NODEC R20 `(k)"), [("written", 0x60, "R9")])
        self.assertEqual(checked(*lines, "MOV R7, RZ", "RET.REL.NODEC R20 `(k)"), [])


class Registers(unittest.TestCase):

    def assert_uses(self, line, written, read):
        i = instruction(line)
        self.assertEqual((checker.names(checker.written(i)), checker.names(checker.read(i))), (written, read), line)

    def test_destinations(self):
        for line, written, read in [
            ("IMAD.WIDE.U32 R4, R6, R7, RZ", "R4-R5", "R6-R7"),
            ("ISETP.GE.AND P0, PT, R4, R5.reuse, PT", "", "R4-R5"),
            ("IADD3.X R9, P2, R2, -R3, RZ, P1, !PT", "R9", "R2-R3"),
            ("LOP3.LUT P0, RZ, R4, 0x7, RZ, 0xc0, !PT", "", "R4"),
            ("SHFL.BFLY PT, R4, R5, 0x1, 0x1f", "R4", "R5"),
            ("ATOMG.E.CAS.64.STRONG.GPU PT, R4, desc[UR6][R2.64], R8", "R4-R5", "R2-R3, R8-R9"),
            ("LDG.E.128 R4, desc[UR4][R2.64]", "R4-R7", "R2-R3"),
            ("STG.E.128 desc[UR4][R2.64+0x10], R4", "", "R2-R7"),
            ("LDSM.16.MT88.4 R4, [R3+UR5]", "R4-R7", "R3"),
            ("STSM.16.M88.2 [R3], R4", "", "R3-R5"),
            ("HMMA.16816.F16 R4, R8, R12, R4", "R4-R5", "R4, R8, R12"),
            ("HMMA.16816.F32 R4, R8, R12, R4", "R4-R7", "R4, R8, R12"),
            ("F2I.F64.TRUNC R4, R6", "R4", "R6"),
            ("F2I.S64.TRUNC R4, R6", "R4-R5", "R6"),
            ("F2F.F32.F64 R4, R6", "R4", "R6"),
            ("F2F.F64.F32 R4, R6", "R4-R5", "R6"),
            ("DFMA R4, R6, R8, R10", "R4-R5", "R6, R8, R10"),
            ("CS2R.32 R4, SR_CLOCKLO", "R4", ""),
            ("FADD.FTZ R4, |R5|, -R6", "R4", "R5-R6"),
            ("HADD2.F32 R4, -RZ, R5.H1_H1", "R4", "R5"),
            ("R2UR UR5, R4", "", "R4"),
            ("R2P PR, R4, 0x7f", "", "R4"),
            ("BAR.SYNC.DEFER_BLOCKING R4, R5", "", "R4-R5"),
            ("SYNCS.ARRIVE.TRANS64 RZ, [UR21], R9", "", "R9"),
            ("IMAD.U32 R4, RZ, RZ, UR10", "R4", ""),
            ("LDC.64 R4, c[0x0][0x210]", "R4-R5", ""),
        ]:
            self.assert_uses(line, written, read)


class Notes(unittest.TestCase):

    def test_spills(self):
        def notes(*lines):
            return checker.spill_notes(checker.parse(function(*lines))[0])
        inner = [".L_x_1:", ARRIVE, FROM_REGISTERS, WAIT, "@P0 BRA `(.L_x_1)"]
        outer = [".L_x_0:", "STL [R1], R4", *inner, "@P1 BRA `(.L_x_0)"]
        self.assertEqual(notes(*outer), [])
        inner.insert(1, "LDL R4, [R1]")
        self.assertEqual(notes(*inner), ["k+0x0000: spills in the loop: 1 loads, 0 stores"])
        self.assertEqual(notes(".L_x_0:", "LDL R4, [R1]", "@P1 BRA `(.L_x_0)"), [])

    def test_remarks_of_ptxas(self):
        remark = "ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized"
        self.assertEqual(checker.wgmma_remarks(f"ptxas info    : 0 bytes gmem\n{remark}\n{remark}\n"), [remark])

    def test_setmaxnreg(self):
        ptx, plain = "setmaxnreg.dec.sync.aligned.u32 24;", checker.parse(function(WAIT))
        kept = checker.parse(function("USETMAXREG.DEALLOC.CTAPOOL 0x18"))
        self.assertEqual([f.kind for f in checker.ignored_registers(ptx, plain)], ["ignored"])
        self.assertEqual(checker.ignored_registers(ptx, kept), [])
        self.assertEqual(checker.ignored_registers("", plain), [])


class Program(unittest.TestCase):

    def run_on(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.sass")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = subprocess.run([sys.executable, PROGRAM, path, *arguments], capture_output=True, text=True,
                                    check=False)
        return result.returncode, result.stdout.replace(path, "k.sass"), result.stderr.replace(path, "k.sass")

    def test_exit_codes(self):
        self.assertEqual(self.run_on(function(ARRIVE, FROM_REGISTERS, WAIT)), (0, "", ""))
        self.assertEqual(
            self.run_on(function(ARRIVE, FROM_REGISTERS, "LDS R9, [R2]", WAIT)),
            (1, "k.sass: k+0x0020: written: LDS R9, [R2]: R9, of the pending wgmma at 0x0010\n", ""))
        self.assertEqual(self.run_on("nothing\n"), (2, "", "check_machine_code.py: k.sass: no machine code\n"))


if __name__ == "__main__":
    unittest.main()
