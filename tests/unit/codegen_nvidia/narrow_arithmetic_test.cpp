// Which additions of 16-bit floats in f32 are computed in pairs of 16 bits.
#include "codegen_nvidia/passes/narrow_arithmetic.h"
#include "run_pass.h"

namespace tessera::nvidia {
namespace {

using testing::PassRun;

/// The sum of a pair and another, rounded. `pair` defines %a0 and %a1, `other` the floats %y0 and %y1.
PassRun add(const std::string &pair, const std::string &other) {
  return testing::runPass(NarrowArithmeticPass(),
                          "declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)\n"
                          "define <2 x bfloat> @f(<2 x bfloat> %a, <4 x bfloat> %four, <2 x bfloat> %b, bfloat %s0, "
                          "bfloat %s1, ptr %p) {\n" +
                              pair + "  %x0 = fpext bfloat %a0 to float\n  %x1 = fpext bfloat %a1 to float\n" + other +
                              "  %r0 = fadd float %x0, %y0\n  %r1 = fadd float %x1, %y1\n"
                              "  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %r1, float %r0)\n"
                              "  ret <2 x bfloat> %r\n}\n");
}

/// Elements 0 and 1 of a vector.
std::string elements(const std::string &type, const std::string &from, const std::string &to) {
  return "  %" + to + "0 = extractelement " + type + " %" + from + ", i32 0\n  %" + to + "1 = extractelement " + type +
         " %" + from + ", i32 1\n";
}

const std::string kPair = elements("<2 x bfloat>", "a", "a");
const std::string kOther =
    elements("<2 x bfloat>", "b", "b") + "  %y0 = fpext bfloat %b0 to float\n  %y1 = fpext bfloat %b1 to float\n";

TEST(NarrowArithmetic, ASumOfPairsIsOneFma) {
  PassRun run = add(kPair, kOther);
  EXPECT_TRUE(run.has("@llvm.nvvm.fma.rn.bf16x2(<2 x bfloat> %a, <2 x bfloat> splat (bfloat 0xR3F80), "
                      "<2 x bfloat> %b)"))
      << run.after;
  EXPECT_FALSE(run.has("fadd"));
}

// Four registers are put together by as many instructions as are saved: the extensions are needed in any case.
TEST(NarrowArithmetic, OperandsInDifferentRegistersStay) {
  std::string apart = "  %a0 = fadd bfloat %s0, 1.0\n  %a1 = fadd bfloat %s1, 1.0\n";
  std::string other = "  %b0 = fadd bfloat %s0, 2.0\n  %b1 = fadd bfloat %s1, 2.0\n"
                      "  %y0 = fpext bfloat %b0 to float\n  %y1 = fpext bfloat %b1 to float\n";
  std::string used;
  for (const char *v : {"x0", "x1", "y0", "y1"}) used += std::string("  store float %") + v + ", ptr %p\n";
  EXPECT_FALSE(add(apart, other + used).changed());
  EXPECT_TRUE(add(apart, other).changed());
  EXPECT_TRUE(add(kPair, kOther + used).changed());
}

// The first two of four elements are in a register of two, which is none of the function's values.
TEST(NarrowArithmetic, HalvesOfALongerVectorArePutTogether) {
  PassRun run = add(elements("<4 x bfloat>", "four", "a"), kOther);
  EXPECT_TRUE(run.has("insertelement <2 x bfloat>")) << run.after;
  EXPECT_TRUE(run.has("@llvm.nvvm.fma.rn.bf16x2"));
}

TEST(NarrowArithmetic, ConstantsArePairsIfTheyAreRepresented) {
  auto addConstant = [](const std::string &c) {
    return add(kPair, "  %y0 = select i1 true, float " + c + ", float " + c + "\n  %y1 = select i1 true, float " + c +
                          ", float " + c + "\n");
  };
  auto addDirectly = [](const std::string &c) {
    return testing::runPass(NarrowArithmeticPass(),
                            "declare <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float, float)\n"
                            "define <2 x bfloat> @f(<2 x bfloat> %a) {\n" +
                                kPair + "  %x0 = fpext bfloat %a0 to float\n  %x1 = fpext bfloat %a1 to float\n" +
                                "  %r0 = fadd float %x0, " + c + "\n  %r1 = fadd float %x1, " + c +
                                "\n  %r = call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn(float %r1, float %r0)\n"
                                "  ret <2 x bfloat> %r\n}\n")
        .changed();
  };
  EXPECT_FALSE(addConstant("1.5").changed()); // no constant to the pass
  EXPECT_TRUE(addDirectly("1.5"));
  EXPECT_FALSE(addDirectly("0x3FF0010000000000")); // 1 + 2^-12: eight bits do not hold it
  EXPECT_FALSE(addDirectly("0x7FF8000000000000")); // a NaN: which one comes out is not the same
}

} // namespace
} // namespace tessera::nvidia
