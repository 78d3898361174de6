// A barrier stands ahead of a use of a load's result if another load was issued since the last barrier.
#include "codegen_amd/passes/dual_issue_barriers.h"
#include "run_machine_pass.h"

namespace tessera::amd {
namespace {

/// Reads the registers %1 and %2, which may be loaded.
MachinePassRun runOn(const std::string &instructions, const std::string &ahead = "") {
  return runMachinePass(createDualIssueBarriers(), "gfx1100",
                        "  bb.0:\n    %0:vreg_64 = IMPLICIT_DEF\n" + ahead + instructions + "    S_ENDPGM 0\n");
}

std::string load(const std::string &into) {
  return "    " + into + ":vgpr_32 = GLOBAL_LOAD_DWORD %0, 0, 0, implicit $exec\n";
}
std::string add(const std::string &result, const std::string &a, const std::string &b) {
  return "    " + result + ":vgpr_32 = V_ADD_U32_e32 " + a + ", " + b + ", implicit $exec\n";
}

TEST(DualIssueBarriers, AheadOfTheFirstUseOfOneOfTwoLoads) {
  MachinePassRun run = runOn(load("%1") + load("%2") + add("%3", "%1", "%1") + add("%4", "%2", "%3"));
  EXPECT_EQ(run.count("SCHED_BARRIER"), 1U) << run.after; // behind it no load is left that one could be late for
  EXPECT_TRUE(run.hasInOrder({"LOAD", "LOAD", "SCHED_BARRIER", "V_ADD", "V_ADD"})) << run.after;
}

TEST(DualIssueBarriers, OnceMoreForALaterLoad) {
  MachinePassRun run = runOn(load("%1") + load("%2") + add("%3", "%1", "%1") + load("%4") + add("%5", "%2", "%3"));
  EXPECT_EQ(run.count("SCHED_BARRIER"), 2U) << run.after;
}

TEST(DualIssueBarriers, NoneWhereNoOtherLoadIsLate) {
  EXPECT_FALSE(runOn(load("%1") + add("%3", "%1", "%1")).changed());
  EXPECT_FALSE(runOn(load("%1") + load("%2") + add("%3", "%1", "%2")).changed()) << "one use of all";
  EXPECT_FALSE(runOn(load("%1") + load("%2") + add("%3", "%0.sub0", "%0.sub1")).changed()) << "a use of none";
  std::string lds = "    %2:vgpr_32 = DS_READ_B32_gfx9 %0.sub0, 0, 0, implicit $exec\n";
  EXPECT_FALSE(runOn(load("%1") + lds + add("%3", "%1", "%1")).changed()) << "LDS";
}

TEST(DualIssueBarriers, SumsInARegisterThatWasLoaded) {
  std::string sum = "    %1:vgpr_32 = V_FMAC_F32_e32 %0.sub0, %0.sub1, %1, implicit $mode, implicit $exec\n";
  MachinePassRun run = runOn(load("%1") + sum + load("%2") + add("%3", "%1", "%1"));
  EXPECT_FALSE(run.changed()) << run.after; // the second use waits for no load
  run = runOn(load("%1") + load("%2") + add("%3", "%1", "%2") + load("%4") + sum + add("%5", "%4", "%4"));
  EXPECT_EQ(run.count("SCHED_BARRIER"), 1U) << run.after;
}

TEST(DualIssueBarriers, LoadsOfEarlierBlocksAreNotCounted) {
  std::string ahead = load("%1") + load("%2") + "  bb.1:\n";
  EXPECT_FALSE(runOn(add("%3", "%1", "%1") + add("%4", "%2", "%2"), ahead).changed());
}

} // namespace
} // namespace tessera::amd
