// Pass canonicalize and the printer take time that is linear in the size of a function, whether it has many blocks or
// one long one: eight times as many blocks take about eight times as long, not 64 times.
#include "frontend/parser.h"
#include "ir/printer.h"
#include "transforms/pass.h"
#include <ctime>
#include <gtest/gtest.h>

namespace tessera::transforms {
namespace {

/// Blocks that follow each other and fold into one; `withExits`: each may also jump to the end, so that all stay.
std::string functionOfBlocks(int n, bool withExits) {
  std::string text = "tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {\n  %one = arith.constant 1 : i32\n"
                     "  cf.br ^b0(%n : i32)\n";
  for (int i = 0; i < n; ++i) {
    std::string k = std::to_string(i), next = "^b" + std::to_string(i + 1);
    text += "^b" + k + "(%x" + k + ": i32):\n  %y" + k + " = arith.addi %x" + k + ", %one : i32\n";
    if (withExits)
      text += "  %l" + k + " = tt.load %p {isVolatile = true} : !tt.ptr<i32>\n  %c" + k + " = arith.cmpi slt, %l" + k +
              ", %n : i32\n  cf.cond_br %c" + k + ", " + next + "(%y" + k + " : i32), ^b" + std::to_string(n) + "(%l" +
              k + " : i32)\n";
    else
      text += "  cf.br " + next + "(%y" + k + " : i32)\n";
  }
  std::string last = std::to_string(n);
  return text + "^b" + last + "(%x" + last + ": i32):\n  tt.store %p, %x" + last + " : !tt.ptr<i32>\n  tt.return\n}\n";
}

/// Seconds of the processor for the pass and for printing what it makes; -1: it failed.
double secondsFor(const std::string &text) {
  ir::Context context;
  ir::DiagnosticEngine diag([](const ir::Diagnostic &d) { ADD_FAILURE() << ir::render(d); });
  auto module = frontend::parseModule(text, "blocks", context, diag);
  Pipeline pipeline;
  for (auto &pass : allPasses())
    if (pass.name == "canonicalize") pipeline.push_back({&pass, {}});
  if (!module || pipeline.empty()) return -1;
  std::clock_t start = std::clock();
  if (!runPipeline(*module, pipeline, {}, diag).ok()) return -1;
  EXPECT_FALSE(ir::printToString(*module).empty());
  return double(std::clock() - start) / CLOCKS_PER_SEC;
}

class CanonicalizeTime : public testing::TestWithParam<bool> {};
TEST_P(CanonicalizeTime, IsLinearInBlocks) {
  constexpr int kFew = 500, kTimes = 8;
  constexpr double kMostTimes = 3 * kTimes; // quadratic: 64
  double few = secondsFor(functionOfBlocks(kFew, GetParam()));
  double many = secondsFor(functionOfBlocks(kFew * kTimes, GetParam()));
  ASSERT_GT(few, 0);
  EXPECT_LT(many, few * kMostTimes);
}
INSTANTIATE_TEST_SUITE_P(Blocks, CanonicalizeTime, testing::Bool(),
                         [](auto &info) { return info.param ? "WithExits" : "InARow"; });

} // namespace
} // namespace tessera::transforms
