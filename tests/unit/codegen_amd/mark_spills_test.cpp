// Spills are counted by the bytes that instructions access, anywhere and in innermost loops alone.
#include "codegen/attribute_names.h"
#include "codegen_amd/passes/mark_spills.h"
#include "run_machine_pass.h"

namespace tessera::amd {
namespace {

const std::string kSpill = "    SCRATCH_STORE_DWORD_SADDR $vgpr0, $sgpr32, 0, 0, implicit $exec, implicit $flat_scr :: "
                           "(store (s32), addrspace 5)\n";
const std::string kReload = "    $vgpr0_vgpr1 = SCRATCH_LOAD_DWORDX2_SADDR $sgpr32, 0, 0, implicit $exec, implicit "
                            "$flat_scr :: (load (s64), addrspace 5)\n";
const std::string kLoad = "    $vgpr0 = GLOBAL_LOAD_DWORD $vgpr2_vgpr3, 0, 0, implicit $exec :: (load (s32), "
                          "addrspace 1)\n";

/// A loop in a loop.
llvm::StringMap<std::string> attributesOf(const std::string &before, const std::string &outer,
                                          const std::string &inner) {
  MachinePassRun run =
      runMachinePass(createMarkSpills(), "gfx942",
                     "  bb.0:\n    successors: %bb.1\n" + before + "  bb.1:\n    successors: %bb.2\n" + outer +
                         "  bb.2:\n    successors: %bb.2, %bb.3\n" + inner +
                         "    S_CBRANCH_SCC1 %bb.2, implicit $scc\n  bb.3:\n    successors: %bb.1, %bb.4\n"
                         "    S_CBRANCH_SCC1 %bb.1, implicit $scc\n  bb.4:\n    S_ENDPGM 0\n");
  EXPECT_FALSE(run.changed());
  return run.attributes;
}

std::string spilled(const llvm::StringMap<std::string> &attributes) { return attributes.lookup("tessera-spilled"); }
std::string inLoops(const llvm::StringMap<std::string> &attributes) {
  return attributes.lookup(codegen::kSpilledInLoops);
}

TEST(MarkSpills, AnywhereAndInInnermostLoops) {
  auto attributes = attributesOf(kSpill, kReload, kSpill + kReload);
  EXPECT_EQ(spilled(attributes), "24");
  EXPECT_EQ(inLoops(attributes), "12");
  attributes = attributesOf(kSpill, kReload, "");
  EXPECT_EQ(spilled(attributes), "12");
  EXPECT_EQ(inLoops(attributes), "") << "the outer loop alone";
}

TEST(MarkSpills, OtherMemoryIsNoSpill) {
  auto attributes = attributesOf(kLoad, kLoad, kLoad);
  EXPECT_EQ(spilled(attributes), "");
  EXPECT_EQ(inLoops(attributes), "");
}

TEST(MarkSpills, InstructionsOfInnermostLoops) {
  // With the branch; a KILL becomes no instruction.
  auto attributes = attributesOf(kLoad, kLoad, kLoad + kLoad + "    KILL $vgpr0\n");
  EXPECT_EQ(attributes.lookup(codegen::kInstructionsInLoops), "3");
}

} // namespace
} // namespace tessera::amd
