// Uses of loaded values move behind the loads that follow them, but not past what could change what they compute, nor
// where they would take more registers than the function takes elsewhere.
#include "codegen_amd/passes/uses_after_loads.h"
#include "run_machine_pass.h"

namespace tessera::amd {
namespace {

MachinePassRun runOn(const std::string &instructions, int64_t mostRegisters = 100) {
  ir::Tuning tuning;
  tuning.usesAfterLoadsRegisters = mostRegisters;
  return runMachinePass(createUsesAfterLoads(tuning), "gfx942",
                        "  bb.0:\n    %0:vreg_64_align2 = IMPLICIT_DEF\n" + instructions + "    S_ENDPGM 0\n");
}

std::string load(const std::string &into, int at) {
  return "    " + into + ":vgpr_32 = GLOBAL_LOAD_DWORD %0, " + std::to_string(at) + ", 0, implicit $exec\n";
}
std::string add(const std::string &result, const std::string &a, const std::string &b) {
  return "    " + result + ":vgpr_32 = V_ADD_U32_e32 " + a + ", " + b + ", implicit $exec\n";
}
std::string store(const std::string &v) { return "    GLOBAL_STORE_DWORD %0, " + v + ", 64, 0, implicit $exec\n"; }

/// A use of the first load, something else, and the second load.
MachinePassRun runWith(const std::string &between, const std::string &use = add("%2", "%1", "%1")) {
  return runOn(load("%1", 4) + use + between + load("%9", 8) + store("%2") + store("%9"));
}

TEST(UsesAfterLoads, MoveBehindTheNextLoad) {
  MachinePassRun run = runWith("");
  EXPECT_TRUE(run.hasInOrder({"%0:vreg_64_align2, 4,", "%0:vreg_64_align2, 8,", "V_ADD", "STORE"})) << run.after;
  // Also what depends on the use, in order, and past arithmetic on other values.
  run = runWith("    %3:vgpr_32 = V_MOV_B32_e32 7, implicit $exec\n",
                add("%4", "%1", "%1") + "    %2:vgpr_32 = V_XOR_B32_e32 %4, %4, implicit $exec\n");
  EXPECT_TRUE(run.hasInOrder({"V_MOV", "%0:vreg_64_align2, 8,", "V_ADD", "V_XOR", "STORE"})) << run.after;
}

TEST(UsesAfterLoads, StayAheadOfWhatTheyMayNotPass) {
  EXPECT_FALSE(runWith(store("%1")).changed()) << "store";
  EXPECT_FALSE(runWith("    S_BARRIER\n").changed()) << "barrier";
  EXPECT_FALSE(runWith("    $exec = S_MOV_B64 -1\n").changed()) << "other lanes";
  EXPECT_FALSE(runWith("    INLINEASM &\"\", 0\n").changed()) << "inline assembly";
  EXPECT_FALSE(runWith("    %5:sreg_32_xm0 = V_READFIRSTLANE_B32 %1, implicit $exec\n").changed()) << "lanes exchanged";
}

TEST(UsesAfterLoads, WritesOfTheirOperandsFollowThem) {
  // A register of the next iteration, which the use reads before.
  MachinePassRun run =
      runOn("    %3:vgpr_32 = V_MOV_B32_e32 0, implicit $exec\n  bb.1:\n    successors: %bb.1, %bb.2\n" +
            load("%1", 4) + add("%2", "%1", "%3") + "    %3:vgpr_32 = V_MOV_B32_e32 7, implicit $exec\n" +
            load("%9", 8) + store("%2") + store("%9") + "    S_CBRANCH_EXECZ %bb.1, implicit $exec\n  bb.2:\n");
  EXPECT_TRUE(run.hasInOrder({", 4, 0", ", 8, 0", "V_ADD", "V_MOV_B32_e32 7", "STORE"})) << run.after;
}

TEST(UsesAfterLoads, LoadsFromAddressesThatDependOnThem) {
  std::string address = "    %2:vgpr_32 = V_ADD_U32_e32 %1, %1, implicit $exec\n"
                        "    undef %6.sub0:vreg_64_align2 = COPY %2\n    %6.sub1:vreg_64_align2 = COPY %2\n"
                        "    %7:vgpr_32 = GLOBAL_LOAD_DWORD %6, 0, 0, implicit $exec\n";
  EXPECT_FALSE(runOn(load("%1", 4) + address + store("%7")).changed());
}

TEST(UsesAfterLoads, WithoutFollowingLoads) {
  EXPECT_FALSE(runOn(load("%1", 4) + add("%2", "%1", "%1") + store("%2")).changed());
  EXPECT_FALSE(runOn(load("%1", 4) + load("%2", 8) + add("%3", "%1", "%2") + store("%3")).changed());
  // A value that was loaded in no instruction of the block.
  EXPECT_FALSE(runOn(add("%1", "%0.sub0", "%0.sub1") + load("%2", 4) + store("%1") + store("%2")).changed());
}

TEST(UsesAfterLoads, BlocksWithMfma) {
  std::string matrices = "    %3:vreg_64_align2 = IMPLICIT_DEF\n    %4:areg_128_align2 = IMPLICIT_DEF\n"
                         "    %5:areg_128_align2 = V_MFMA_F32_16X16X16F16_e64 %3, %3, %4, 0, 0, 0, implicit $mode, "
                         "implicit $exec\n";
  std::string uses = load("%1", 4) + add("%2", "%1", "%1") + load("%9", 8) + store("%2") + store("%9");
  EXPECT_TRUE(runOn(uses).changed());
  EXPECT_FALSE(runOn(uses + matrices).changed());
}

/// Two pairs of loads, each pair packed into one register before the next: five registers. Three are more by one.
TEST(UsesAfterLoads, AsFarAsRegistersAllow) {
  std::string pairs =
      load("%1", 4) + load("%2", 8) + add("%3", "%1", "%2") + load("%4", 12) + load("%5", 16) + add("%6", "%4", "%5");
  std::string users = store("%3") + store("%6");
  MachinePassRun run = runOn(pairs + users);
  EXPECT_TRUE(run.hasInOrder({", 12, 0", "V_ADD", ", 16, 0", "V_ADD"})) << "behind one of two loads\n" << run.after;
  std::string elsewhere =
      "  bb.1:\n    %7:vreg_192_align2 = IMPLICIT_DEF\n    GLOBAL_STORE_DWORD %0, %7.sub5, 0, 0, implicit "
      "$exec\n";
  run = runOn(pairs + users + elsewhere);
  EXPECT_TRUE(run.hasInOrder({", 12, 0", ", 16, 0", "V_ADD", "V_ADD"})) << "behind both\n" << run.after;
  run = runOn(pairs + users + elsewhere, /*mostRegisters=*/5);
  EXPECT_TRUE(run.hasInOrder({", 12, 0", "V_ADD", ", 16, 0", "V_ADD"})) << "behind one again\n" << run.after;
  EXPECT_FALSE(runOn(pairs + users, /*mostRegisters=*/4).changed());
}

} // namespace
} // namespace tessera::amd
