// The constant beside a DPP operand gets a register where the target takes none, and no other operand changes.
#include "codegen_amd/passes/dpp_constants.h"
#include "run_machine_pass.h"

namespace tessera::amd {
namespace {

/// After one instruction, which may read %1, a pair of registers, and %2.
MachinePassRun runOn(const std::string &instruction, llvm::StringRef target = "gfx1100") {
  return runMachinePass(createDppConstants(), target,
                        "  bb.0:\n    %0:vgpr_32 = IMPLICIT_DEF\n    %1:vreg_64 = IMPLICIT_DEF\n"
                        "    %2:vgpr_32 = IMPLICIT_DEF\n    %3:vgpr_32 = " +
                            instruction + "    S_ENDPGM 0\n");
}

constexpr const char *kControls = ", 177, 15, 15, 1, implicit $exec\n";

TEST(DppConstants, TheSecondSourceGetsARegister) {
  MachinePassRun run = runOn(std::string("V_BFE_I32_e64_dpp %0, %2, 0, 8") + kControls);
  EXPECT_TRUE(run.hasInOrder({"%4:vgpr_32 = V_MOV_B32_e32 0, implicit $exec\n",
                              "V_BFE_I32_e64_dpp %0:vgpr_32(tied-def 0), %2:vgpr_32, %4:vgpr_32, 8, 177,"}))
      << run.after;
  EXPECT_TRUE(runOn(std::string("V_XOR_B32_e64_dpp %0, %2, 5") + kControls).has("%2:vgpr_32, %4:vgpr_32, 177,"));
  // With modifiers ahead of each source.
  run = runOn("V_MED3_F32_e64_dpp %0, 0, %2, 1, 1065353216, 0, 1073741824, 0, 0, 177, 15, 15, 1, implicit $mode, "
              "implicit $exec\n");
  EXPECT_TRUE(run.hasInOrder({"V_MOV_B32_e32 1065353216,", "0, %2:vgpr_32, 1, %4:vgpr_32, 0, 1073741824, 0, 0, 177,"}))
      << run.after;
}

TEST(DppConstants, PartsOfRegisters) {
  MachinePassRun run = runOn(std::string("V_BFE_I32_e64_dpp %0, %1.sub1, 5, 8") + kControls);
  EXPECT_TRUE(run.hasInOrder({"%4:vgpr_32 = V_MOV_B32_e32 5,", "%1.sub1:vreg_64, %4:vgpr_32, 8, 177,"})) << run.after;
}

TEST(DppConstants, OtherOperandsStay) {
  EXPECT_FALSE(runOn(std::string("V_BFE_I32_e64_dpp %0, %2, %2, 8") + kControls).changed()) << "third source";
  EXPECT_FALSE(runOn("V_CVT_F32_I32_e64_dpp %0, %2, 0, 0, 177, 15, 15, 1, implicit $mode, implicit $exec\n").changed())
      << "a result's modifiers behind one source";
  EXPECT_FALSE(runOn("V_BFE_I32_e64 %2, 0, 8, implicit $exec\n").changed()) << "no DPP";
  EXPECT_FALSE(runOn(std::string("V_BFE_I32_e64_dpp %0, %2, 0, 8") + kControls, "gfx1201").changed()) << "taken there";
}

} // namespace
} // namespace tessera::amd
