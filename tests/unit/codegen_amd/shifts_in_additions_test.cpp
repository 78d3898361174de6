// Additions of 64 bits take a shift of which they are all the uses, and no other.
#include "codegen_amd/passes/shifts_in_additions.h"
#include "run_machine_pass.h"

namespace tessera::amd {
namespace {

/// The shift %3 of %1 by a constant, and what uses it beside vectors %1, %2 and the scalar %0.
MachinePassRun runOn(const std::string &shift, const std::string &uses) {
  return runMachinePass(createShiftsInAdditions(), "gfx942",
                        "  bb.0:\n    %0:sreg_64 = IMPLICIT_DEF\n    %1:vreg_64_align2 = IMPLICIT_DEF\n"
                        "    %2:vreg_64_align2 = IMPLICIT_DEF\n    %3:vreg_64_align2 = " +
                            shift + ", implicit $exec\n" + uses + "    S_ENDPGM 0\n");
}

std::string add(const std::string &result, const std::string &operands) {
  return "    " + result + ":vreg_64_align2 = V_LSHL_ADD_U64_e64 " + operands + ", implicit $exec\n";
}

constexpr const char *kShift = "V_LSHLREV_B64_e64 2, %1";

TEST(ShiftsInAdditions, AllUsesShiftThemselves) {
  // On either side; the other operand is a scalar or a vector. The next instruction may be one that goes.
  MachinePassRun run = runOn(kShift, add("%4", "%0, 0, %3") + add("%5", "%3, 0, %2"));
  EXPECT_FALSE(run.has("V_LSHLREV_B64_e64")) << run.after;
  EXPECT_TRUE(run.hasInOrder({"V_LSHL_ADD_U64_e64 %1:vreg_64_align2, 2, %0:sreg_64",
                              "V_LSHL_ADD_U64_e64 %1:vreg_64_align2, 2, %2:vreg_64_align2"}))
      << run.after;
  EXPECT_TRUE(runOn("V_LSHLREV_B64_e64 4, %1", add("%4", "%0, 0, %3")).has("%1:vreg_64_align2, 4, %0:sreg_64"));
}

TEST(ShiftsInAdditions, OtherUsesKeepTheShift) {
  EXPECT_FALSE(
      runOn(kShift, add("%4", "%0, 0, %3") + "    GLOBAL_STORE_DWORDX2 %2, %3, 0, 0, implicit $exec\n").changed());
  EXPECT_FALSE(runOn(kShift, add("%4", "%3, 0, %3")).changed()) << "its double";
  EXPECT_FALSE(runOn(kShift, add("%4", "%3, 1, %2")).changed()) << "shifted by more";
  EXPECT_FALSE(runOn(kShift, "").changed()) << "no use";
}

TEST(ShiftsInAdditions, OtherShiftsStay) {
  EXPECT_FALSE(runOn("V_LSHLREV_B64_e64 5, %1", add("%4", "%0, 0, %3")).changed())
      << "the instruction shifts by up to 4";
  EXPECT_FALSE(runOn("V_LSHLREV_B64_e64 0, %1", add("%4", "%0, 0, %3")).changed());
  EXPECT_FALSE(runOn("V_LSHLREV_B64_e64 2, %0", add("%4", "%0, 0, %3")).changed()) << "two scalar operands";
  EXPECT_FALSE(runOn("V_LSHLREV_B64_e64 %2.sub0, %1", add("%4", "%0, 0, %3")).changed()) << "by a variable";
}

} // namespace
} // namespace tessera::amd
