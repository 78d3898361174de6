// Of two opposite bounds one is kept, negated for the other: that which costs least.
#include "codegen_amd/passes/opposite_constants.h"
#include "run_machine_pass.h"

namespace tessera::amd {
namespace {

// 448.0 and -448.0
constexpr const char *kUpperInScalar = "    %1:sreg_32 = S_MOV_B32 1138753536\n",
                     *kLowerInScalar = "    %1:sreg_32 = S_MOV_B32 -1008730112\n",
                     *kUpperInVector = "    %2:vgpr_32 = V_MOV_B32_e32 1138753536, implicit $exec\n",
                     *kLowerInVector = "    %2:vgpr_32 = V_MOV_B32_e32 -1008730112, implicit $exec\n";

MachinePassRun runOn(const std::string &constants, const std::string &clamps, llvm::StringRef target = "gfx942") {
  return runMachinePass(createOppositeConstants(), target,
                        "  bb.0:\n    %0:vgpr_32 = IMPLICIT_DEF\n" + constants + clamps + "    S_ENDPGM 0\n");
}

std::string clamp(const std::string &operands, const std::string &opcode = "V_MED3_F32_e64",
                  const std::string &result = "%3") {
  return "    " + result + ":vgpr_32 = " + opcode + " " + operands + ", 0, 0, implicit $mode, implicit $exec\n";
}

TEST(OppositeConstants, TheScalarRegisterIsReadTwice) {
  MachinePassRun run = runOn(std::string(kLowerInScalar) + kUpperInVector, clamp("0, %0, 0, %1, 0, %2"));
  EXPECT_TRUE(run.has("V_MED3_F32_e64 0, %0:vgpr_32, 0, %1:sreg_32, 1, %1:sreg_32, 0, 0")) << run.after;
  EXPECT_FALSE(run.has("V_MOV_B32_e32")) << run.after;
  run = runOn(std::string(kUpperInScalar) + kLowerInVector, clamp("0, %0, 0, %2, 0, %1"));
  EXPECT_TRUE(run.has("V_MED3_F32_e64 0, %0:vgpr_32, 1, %1:sreg_32, 0, %1:sreg_32, 0, 0")) << run.after;
}

TEST(OppositeConstants, AConstantWithAnotherUseStays) {
  MachinePassRun run = runOn(std::string(kLowerInScalar) + kUpperInVector,
                             clamp("0, %0, 0, %1, 0, %2") + "    %4:vgpr_32 = V_ADD_U32_e32 %2, %0, implicit $exec\n");
  EXPECT_TRUE(run.has("0, %1:sreg_32, 1, %1:sreg_32, 0, 0") && run.has("V_MOV_B32_e32")) << run.after;
}

TEST(OppositeConstants, OfOneClampTheConstantInTheInstruction) {
  std::string once = clamp("0, %0, 0, %1, 0, 1138753536", "V_MAXMIN_F32_e64");
  MachinePassRun run = runOn(kLowerInScalar, once, "gfx1100");
  EXPECT_TRUE(run.has("V_MAXMIN_F32_e64 0, %0:vgpr_32, 1, 1138753536, 0, 1138753536, 0, 0")) << run.after;
  EXPECT_FALSE(run.has("S_MOV_B32")) << run.after;
  // Of two the register, which makes both shorter.
  run = runOn(kLowerInScalar, once + clamp("0, %3, 0, %1, 0, 1138753536", "V_MAXMIN_F32_e64", "%4"), "gfx1100");
  EXPECT_TRUE(run.has("0, %0:vgpr_32, 0, %1:sreg_32, 1, %1:sreg_32, 0, 0")) << run.after;
}

TEST(OppositeConstants, OthersStay) {
  std::string bounds = std::string(kLowerInScalar) + kUpperInVector;
  EXPECT_FALSE(runOn(bounds, clamp("0, %0, 1, %1, 0, %2")).changed()) << "one is negated: both are 448";
  EXPECT_FALSE(runOn(std::string(kUpperInScalar) + kUpperInVector, clamp("0, %0, 0, %1, 0, %2")).changed());
  EXPECT_FALSE(runOn(bounds, clamp("0, %0, 0, %1, 0, %0")).changed()) << "no constant";
  EXPECT_FALSE(runOn(bounds, clamp("0, %0, 0, -1065353216, 0, 1082130432")).changed()) << "-4 and 4, inline";
  EXPECT_FALSE(runOn(bounds, "    %3:vgpr_32 = V_MED3_I32_e64 %0, %1, %2, implicit $exec\n").changed()) << "integers";
}

} // namespace
} // namespace tessera::amd
