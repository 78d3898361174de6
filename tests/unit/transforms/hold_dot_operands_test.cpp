// Pass hold-dot-operands by its conditions: which operands it loads before a loop, how they are laid out, and how many
// registers it leaves. (tests/golden/ttgir/hold_dot_operands.mlir has the forms of loops.)
#include "transforms/run_pass.h"

namespace tessera::transforms {
namespace {

/// The text after the pass of a loop with a dot of 32 columns, with `old` replaced.
std::string after(const std::string &old = "", const std::string &replacement = "", const std::string &arguments = "",
                  const std::string &uses = "") {
  std::string body = R"(
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #mma>) -> !held
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (!narrow) : i32 {
      %d = ttng.warp_group_dot %a, %b, %s {inputPrecision = 0 : i32} : !held * !rows -> !narrow
      scf.yield %d : !narrow
    }
)";
  size_t at = body.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  body.replace(at, old.size(), replacement);
  std::string function = "  tt.func public @k(%k: tensor<64x64xf16, #mma>, %b: !rows, %n: i32" + arguments +
                         R"() -> !narrow {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zeros = arith.constant dense<0.0> : !narrow
)" + body + uses + "    tt.return %r : !narrow\n  }\n";
  std::string aliases = R"(
#mma32 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
!narrow = tensor<64x32xf32, #mma32>
!held = !ttg.memdesc<64x64xf16, #shared, #smem>
!helds = !ttg.memdesc<2x64x64xf16, #shared, #smem>
!rows = !ttg.memdesc<64x32xf16, #shared, #smem, mutable>
)";
  std::string text = testing::wgmmaModule(function);
  return testing::textAfter("hold-dot-operands", text.insert(text.find("module"), aliases));
}

/// Tensors of an argument that live across the loop: 192 registers of a thread, beside which two blocks fit.
const char *const kArguments = ", %u: tensor<64x256xf32, #mma>, %v: !t, %w: !t";
const char *const kUses = "    %u1 = math.absf %u : tensor<64x256xf32, #mma>\n    %v1 = math.absf %v : !t\n"
                          "    %w1 = math.absf %w : !t\n";

bool isHeld(const std::string &text) {
  EXPECT_EQ(text.find("error"), std::string::npos) << text;
  return text.find("ttg.local_load") != std::string::npos;
}

TEST(HoldDotOperands, BlocksThatFitLeaveRegisters) {
  EXPECT_FALSE(isHeld(after())) << "sixteen blocks fit, of 32 registers a thread";
  EXPECT_TRUE(isHeld(after("", "", kArguments, kUses))) << "tensors leave room for two blocks, of 255";
  std::string more = ", %x: !t";
  std::string uses = "    %x1 = math.absf %x : !t\n";
  EXPECT_FALSE(isHeld(after("", "", kArguments + more, kUses + uses))) << "no registers are left";
}

TEST(HoldDotOperands, LayoutIsTheInstructions) {
  std::string text = after("", "", kArguments, kUses);
  EXPECT_NE(text.find("-> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>"), std::string::npos)
      << text;
}

TEST(HoldDotOperands, ContentsThatChange) {
  EXPECT_FALSE(isHeld(after("%a = ttg.local_alloc %k : (tensor<64x64xf16, #mma>) -> !held",
                            "%a = ttg.local_alloc : () -> !held", kArguments, kUses)))
      << "nothing gave it its contents";
  std::string type = ", %ks: tensor<2x64x64xf16, #ttg.blocked<{sizePerThread = [1, 1, 8], threadsPerWarp = [1, 4, 8], "
                     "warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>>";
  EXPECT_FALSE(
      isHeld(after(R"(
    %a = ttg.local_alloc %k : (tensor<64x64xf16, #mma>) -> !held
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (!narrow) : i32 {)",
                   "%as = ttg.local_alloc %ks : (" + type.substr(std::string(", %ks: ").size()) + R"() -> !helds
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zeros) -> (!narrow) : i32 {
      %a = ttg.memdesc_index %as[%i] : !helds -> !held)",
                   kArguments + type, kUses)))
      << "another buffer in each iteration";
}

} // namespace
} // namespace tessera::transforms
