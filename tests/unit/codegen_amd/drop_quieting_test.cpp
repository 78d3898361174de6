// What makes NaNs quiet is dropped if that changes nothing but NaNs, and no instruction's operands in kind.
#include "codegen_amd/passes/drop_quieting.h"
#include "run_machine_pass.h"
#include <algorithm>

namespace tessera::amd {
namespace {

/// The maximum %2 of a loaded %1 with itself, and what uses it. By default it is dropped.
struct Quieting {
  std::string loaded = "    %1:vgpr_32 = GLOBAL_LOAD_DWORD %0, 0, 0, implicit $exec\n";
  std::string quiet = "    %2:vgpr_32 = V_MAX_F32_e64 0, %1, 0, %1, 0, 0, implicit $mode, implicit $exec\n";
  std::string used = "    %3:vgpr_32 = V_MIN_F32_e64 0, %2, 0, %2, 0, 0, implicit $mode, implicit $exec\n";
};

MachinePassRun runOn(const Quieting &q) {
  return runMachinePass(createDropQuieting(), "gfx1201",
                        "  bb.0:\n    %0:vreg_64 = IMPLICIT_DEF\n" + q.loaded + q.quiet + q.used +
                            "    GLOBAL_STORE_DWORD %0, %3, 0, 0, implicit $exec\n    S_ENDPGM 0\n");
}

std::string of(const std::string &opcode, const std::string &operands, const std::string &result = "%2:vgpr_32") {
  return "    " + result + " = " + opcode + " " + operands + ", implicit $mode, implicit $exec\n";
}

/// Whether the maximum is gone, and nothing else. LLVM numbers registers anew, in the order of the text.
bool isDropped(const Quieting &q) {
  MachinePassRun run = runOn(q);
  auto instructions = [](const std::string &text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(run.changed(), instructions(run.after) == instructions(run.before) - 1) << run.after;
  return run.changed();
}

constexpr const char *kPlain = "0, %1, 0, %1, 0, 0";

TEST(DropQuieting, MinimaMaximaAndMediansTakeWhatWasMadeQuiet) {
  for (const std::string &user :
       {of("V_MIN_F32_e64", "0, %2, 0, 0, 0, 0", "%3:vgpr_32"), of("V_MIN_F32_e64", "1, %2, 0, %2, 1, 0", "%3:vgpr_32"),
        of("V_MAX_F32_e32", "%2, %2", "%3:vgpr_32"), of("V_MED3_F32_e64", "0, %2, 0, %2, 0, 0, 0, 0", "%3:vgpr_32")}) {
    EXPECT_TRUE(isDropped({.used = user})) << user;
    EXPECT_EQ(runOn({.used = user}).count("%2"), 0U) << user; // but %1, which was loaded
  }
}

TEST(DropQuieting, PairsOfHalves) {
  std::string user = of("V_PK_MIN_F16", "8, %2, 8, %2, 0, 0, 0, 0, 0", "%3:vgpr_32");
  auto isDroppedWith = [&](const std::string &operands) {
    return isDropped({.quiet = of("V_PK_MAX_F16", operands), .used = user});
  };
  EXPECT_TRUE(isDroppedWith("8, %1, 8, %1, 0, 0, 0, 0, 0"));
  EXPECT_FALSE(isDroppedWith("8, %1, 8, %1, 1, 0, 0, 0, 0")) << "clamped";
  EXPECT_FALSE(isDroppedWith("0, %1, 0, %1, 0, 0, 0, 0, 0")) << "the low half twice";
  EXPECT_FALSE(isDroppedWith("12, %1, 12, %1, 0, 0, 0, 0, 0")) << "the high half twice";
  EXPECT_FALSE(isDroppedWith("8, %1, 9, %1, 0, 0, 0, 0, 0")) << "once negated";
}

TEST(DropQuieting, StaysWhereItDoesMore) {
  EXPECT_FALSE(isDropped({.quiet = of("V_MAX_F32_e64", "1, %1, 1, %1, 0, 0")})) << "negated";
  EXPECT_FALSE(isDropped({.quiet = of("V_MAX_F32_e64", "0, %1, 2, %1, 0, 0")})) << "with its absolute value";
  EXPECT_FALSE(isDropped({.quiet = of("V_MAX_F32_e64", "0, %1, 0, %1, 1, 0")})) << "clamped";
  EXPECT_FALSE(isDropped({.quiet = of("V_MAX_F32_e64", "0, %1, 0, %1, 0, 1")})) << "doubled";
  EXPECT_FALSE(isDropped({.quiet = of("V_MIN_F32_e64", kPlain)})) << "no maximum";
  EXPECT_FALSE(isDropped({.quiet = "    %2:vgpr_32 = V_MAX_U32_e64 %1, %1, implicit $exec\n"})) << "of integers";
  EXPECT_FALSE(isDropped({.quiet = of("V_MAX_F32_e64", "0, %1, 0, 0, 0, 0")})) << "with a constant";
  std::string two = "    %1:vgpr_32 = GLOBAL_LOAD_DWORD %0, 0, 0, implicit $exec\n    %4:vgpr_32 = IMPLICIT_DEF\n";
  EXPECT_FALSE(isDropped({.loaded = two, .quiet = of("V_MAX_F32_e64", "0, %1, 0, %4, 0, 0")})) << "of two registers";
}

TEST(DropQuieting, StaysWhereRegistersAreNotOfOneKind) {
  std::string wide = "    %1:vreg_64 = GLOBAL_LOAD_DWORDX2 %0, 0, 0, implicit $exec\n";
  EXPECT_FALSE(isDropped({.loaded = wide, .quiet = of("V_MAX_F32_e64", "0, %1.sub1, 0, %1.sub1, 0, 0")}));
  EXPECT_FALSE(isDropped({.loaded = wide, .quiet = of("V_MAX_F32_e64", "0, %1.sub0, 0, %1.sub1, 0, 0")}));
  // A scalar register could be the second one of its user.
  std::string scalar = "    %1:sreg_32 = S_MOV_B32 17\n    %4:sreg_32 = S_MOV_B32 18\n";
  std::string user = of("V_MAX_F32_e64", "0, %2, 0, %4, 0, 0", "%3:vgpr_32");
  EXPECT_FALSE(isDropped({.loaded = scalar, .used = user}));
  EXPECT_FALSE(
      isDropped({.loaded = "    $vgpr1 = IMPLICIT_DEF\n", .quiet = of("V_MAX_F32_e64", "0, $vgpr1, 0, $vgpr1, 0, 0")}));
}

TEST(DropQuieting, StaysWhereSomethingElseUsesIt) {
  std::string least = of("V_MIN_F32_e64", "0, %2, 0, %2, 0, 0", "%4:vgpr_32");
  EXPECT_FALSE(isDropped({.used = of("V_ADD_F32_e64", "0, %2, 0, %2, 0, 0", "%3:vgpr_32")}));
  EXPECT_FALSE(isDropped({.used = least + of("V_ADD_F32_e64", "0, %2, 0, %4, 0, 0", "%3:vgpr_32")}));
  EXPECT_FALSE(isDropped({.used = of("V_PK_MAX_F16", "8, %2, 8, %2, 0, 0, 0, 0, 0", "%3:vgpr_32")})) << "as f16";
  EXPECT_FALSE(isDropped({.used = "    %3:vgpr_32 = V_MAX_I32_e64 %2, %2, implicit $exec\n"})) << "as integers";
}

} // namespace
} // namespace tessera::amd
