// Versions for full blocks (full-block-versions) do what the kernel did, whatever the numbers: blocks that end before,
// at and beyond the number of elements, and indices that wrap around, of which the tested sum must take care.
#include "evaluation.h"
#include "ir/printer.h"
#include "runtime/compiler/compiler.h"
#include "transforms/pipelines.h"
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace tessera {
namespace {

constexpr int kBlock = 64;

/// How indices %start + 0, 1, … are compared with %n.
struct Form {
  const char *name;
  bool isWide;         // indices of 64 bits
  bool isExtended;     // sums of 32 bits, extended to 64 afterwards
  const char *compare; // of indices with the number
  bool numberFirst;
  int offset; // that is added, too
};

std::string kernel(const Form &f) {
  std::string n = std::to_string(kBlock);
  auto tensor = [&](const std::string &element) { return "tensor<" + n + "x" + element + ">"; };
  std::string sum = f.isWide ? "i64" : "i32", compared = f.isWide || f.isExtended ? "i64" : "i32";
  std::string s = "tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility "
                  "= 16 : i32}, %start: " +
                  sum + ", %n: " + compared + ") {\n%r = tt.make_range {end = " + n +
                  " : i32, start = 0 : i32} : " + tensor("i32") + "\n";
  s += f.isWide ? "%rs = arith.extsi %r : " + tensor("i32") + " to " + tensor("i64") + "\n" : "";
  s += "%s = tt.splat %start : " + sum + " -> " + tensor(sum) + "\n%i0 = arith.addi %s, " + (f.isWide ? "%rs" : "%r") +
       " : " + tensor(sum) + "\n%c = arith.constant dense<" + std::to_string(f.offset) + "> : " + tensor(sum) +
       "\n%i1 = arith.addi %i0, %c : " + tensor(sum) + "\n";
  s += f.isExtended ? "%i2 = arith.extsi %i1 : " + tensor(sum) + " to " + tensor("i64") + "\n" : "";
  std::string i = f.isExtended ? "%i2" : "%i1";
  s += "%end = tt.splat %n : " + compared + " -> " + tensor(compared) + "\n%m = arith.cmpi " + f.compare + ", " +
       (f.numberFirst ? "%end, " + i : i + ", %end") + " : " + tensor(compared) + "\n";
  for (const char *p : {"x", "y"})
    s += std::string("%") + p + "s = tt.splat %" + p + " : !tt.ptr<f16> -> " + tensor("!tt.ptr<f16>") + "\n%p" + p +
         " = tt.addptr %" + p + "s, %r : " + tensor("!tt.ptr<f16>") + ", " + tensor("i32") + "\n";
  return "module {\n" + s + "%v = tt.load %px, %m : " + tensor("!tt.ptr<f16>") +
         "\ntt.store %py, %v, %m : " + tensor("!tt.ptr<f16>") + "\ntt.return\n}\n}\n";
}

std::string withVersions(const std::string &text) {
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(text, "kernel.ttir", context, diag);
  EXPECT_TRUE(m) << messages;
  if (!m) return "";
  transforms::RunOptions o;
  o.target = *runtime::requireTarget("sm_90a");
  EXPECT_TRUE(transforms::runPipeline(*m, transforms::ttirPipeline(*o.target), o, diag).ok()) << messages;
  return printToString(*m);
}

bool holds(const Form &f, int64_t start, int64_t n, int k) {
  uint64_t sum = uint64_t(start) + uint64_t(k) + uint64_t(f.offset);
  int64_t index = f.isWide ? int64_t(sum) : int32_t(uint32_t(sum));
  int64_t x = f.numberFirst ? n : index, y = f.numberFirst ? index : n;
  std::string compare = f.compare;
  return compare == "slt" ? x < y : compare == "sle" ? x <= y : compare == "sgt" ? x > y : x >= y;
}

class FullBlock : public testing::TestWithParam<Form> {};

TEST_P(FullBlock, IsTheSameWhateverTheNumbers) {
  const Form &f = GetParam();
  std::string text = withVersions(kernel(f));
  ASSERT_NE(text.find("tessera.versions = \"full\""), std::string::npos) << text;
  using Narrow = std::numeric_limits<int32_t>;
  using Wide = std::numeric_limits<int64_t>;
  int64_t least = f.isWide ? Wide::min() : Narrow::min(), most = f.isWide ? Wide::max() : Narrow::max();
  bool isWideNumber = f.isWide || f.isExtended;
  int64_t leastNumber = isWideNumber ? Wide::min() : Narrow::min(), mostNumber = isWideNumber ? Wide::max() : most;
  int fulls = 0;
  for (int64_t start :
       {int64_t(0), int64_t(1000), int64_t(-5), least, most - kBlock - 20, most - kBlock + 1, most - 10})
    for (int64_t n :
         {start, start < most - kBlock ? start + kBlock - 1 : most, start < most - kBlock ? start + kBlock : most,
          start < most - 100 ? start + 100 : most, int64_t(0), leastNumber, most, mostNumber}) {
      std::vector<uint16_t> x(kBlock), y(kBlock, 7), want(kBlock, 7);
      int count = 0;
      for (int k = 0; k < kBlock; ++k) {
        x[k] = uint16_t(100 + k);
        if (holds(f, start, n, k)) want[k] = x[k], ++count;
      }
      fulls += count == kBlock;
      test::Evaluation e(text);
      e.buffer(x).buffer(y);
      e.scalar(f.isWide ? uint64_t(start) : uint32_t(start)).scalar(isWideNumber ? uint64_t(n) : uint32_t(n));
      e.ok();
      ASSERT_EQ(y, want) << start << ", " << n << "\n" << text;
    }
  EXPECT_GT(fulls, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, FullBlock,
    testing::Values(Form{"less", false, false, "slt", false, 0}, Form{"less_or_equal", false, false, "sle", false, 0},
                    Form{"greater", false, false, "sgt", true, 7}, Form{"extended", false, true, "slt", false, 7},
                    Form{"extended_at_most", false, true, "sge", true, 0}, Form{"wide", true, false, "slt", false, 7},
                    Form{"wide_at_most", true, false, "sle", false, 0}),
    [](auto &i) { return i.param.name; });

} // namespace
} // namespace tessera
