// Files of kernels: how they are read, which cases they give, and the program's own.
#include "conformance/suite.h"
#include "frontend/parser.h"
#include "ir/context.h"
#include "ir/op_table.h"
#include <gtest/gtest.h>
#include <set>

namespace tessera::conformance {
namespace {

Suite read(llvm::StringRef text) {
  Suite s;
  auto r = readKernels(text, "t.kernels", "t", s);
  EXPECT_TRUE(r.ok()) << r;
  return s;
}
std::string problem(llvm::StringRef text) {
  Suite s;
  if (auto r = readKernels(text, "t.kernels", "t", s); !r.ok()) return std::string(r.message());
  auto c = cases(s, Coverage::All);
  if (!c.ok()) return std::string(c.status().message());
  for (auto &x : *c)
    if (auto i = instantiate(s, x); !i.ok()) return std::string(i.status().message());
  return "";
}
std::vector<std::string> names(const Suite &s, Coverage coverage) {
  std::vector<std::string> out;
  auto c = cases(s, coverage);
  EXPECT_TRUE(c.ok()) << c.status();
  for (auto &x : *c) out.push_back(x.name);
  return out;
}

constexpr const char *kThree = R"(
kernel k
  for A in 1 | 2 | 3
  for B in x | y | z
  for warps in 1 | 4
  when $A != 2 || $warps == 1
text
end
)";

TEST(Suite, AllIsEveryCombinationThatIsNotExcluded) {
  EXPECT_EQ(names(read(kThree), Coverage::All).size(), 3 * 3 * 2 - 3u);
}

// Every two values that meet in some allowed combination meet in a chosen one; and fewer coverages are parts of larger.
TEST(Suite, PairsCoverPairsAndQuickCoversValues) {
  Suite s = read(kThree);
  auto chosen = [&](Coverage coverage) { return *cases(s, coverage); };
  auto things = [](const std::vector<Case> &cases, bool two) {
    std::set<std::vector<unsigned>> out;
    for (auto &c : cases)
      for (unsigned p = 0; p < c.values.size(); ++p)
        for (unsigned q = two ? p + 1 : p; q < (two ? c.values.size() : p + 1); ++q)
          out.insert({p, c.values[p], q, c.values[q]});
    return out;
  };
  EXPECT_EQ(things(chosen(Coverage::Pairs), true), things(chosen(Coverage::All), true));
  EXPECT_EQ(things(chosen(Coverage::Quick), false), things(chosen(Coverage::All), false));
  EXPECT_LT(chosen(Coverage::Quick).size(), chosen(Coverage::Pairs).size());
  EXPECT_LT(chosen(Coverage::Pairs).size(), chosen(Coverage::All).size());
  auto all = names(s, Coverage::All), pairs = names(s, Coverage::Pairs), quick = names(s, Coverage::Quick);
  for (auto &n : quick) EXPECT_TRUE(std::count(pairs.begin(), pairs.end(), n)) << n;
  for (auto &n : pairs) EXPECT_TRUE(std::count(all.begin(), all.end(), n)) << n;
}

TEST(Suite, NamesSpecifyValues) {
  Suite s = read("kernel k\n  for M; N; X in 16; 64; a b\n  for T in f32\n  for stages in 2\ntext\nend\n");
  EXPECT_EQ(names(s, Coverage::All), std::vector<std::string>{"t/k-16x64-f32-s2"});
}

TEST(Suite, ValuesAndMacrosArePutIn) {
  Suite s = read(R"(
define twice(X, Y)
$X $Y ${X}b $X
end
kernel k
  for T; N in f32; 4
  for warps in 8
  buffer a: $T[$N] = i * 2
  scalar s: i32 = $($N + 1)
  buffer o: $T[2, $(2 * $N)] = poison
  grid 3 2
  want o[i, j] = i + j
text
<$twice($T, ($N, 1))> $(7 / 2) ${t$N}
end
define t4()
four
end
)");
  auto c = cases(s, Coverage::All);
  ASSERT_TRUE(c.ok());
  auto i = instantiate(s, (*c)[0]);
  ASSERT_TRUE(i.ok()) << i.status();
  EXPECT_EQ(i->text, "<f32 (4, 1) f32b f32> 3 four\n");
  EXPECT_EQ(i->launch.numWarps, 8);
  EXPECT_EQ(i->launch.grid, (std::array<int64_t, 3>{3, 2, 1}));
  EXPECT_EQ(i->launch.args[1].intValue, 5);
  EXPECT_EQ(i->launch.args[2].shape, (std::vector<int64_t>{2, 8}));
  EXPECT_EQ(reinterpret_cast<const float *>(i->contents[0].data())[3], 6);
  EXPECT_EQ(i->contents[2][0], 0xFF);
}

TEST(Suite, SkipsNameTargetsAndValues) {
  Suite s = read("kernel k\n  for T in f32 | f64\n  skip gfx9.* if T in f64 i8 : no f64 there\ntext\nend\n");
  auto c = cases(s, Coverage::All);
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(instantiate(s, (*c)[0])->whyNot("gfx942"), "");
  EXPECT_EQ(instantiate(s, (*c)[1])->whyNot("gfx942"), "no f64 there");
  EXPECT_EQ(instantiate(s, (*c)[1])->whyNot("sm_80"), "");
}

TEST(Suite, ProblemsAreLocated) {
  EXPECT_EQ(problem("frob\n"), "t.kernels:1: error: 'kernel NAME' or 'define NAME(…)' is expected, not 'frob'");
  EXPECT_EQ(problem("kernel k\n  frob\ntext\nend\n").substr(0, 35), "t.kernels:2: error: what is 'frob'?");
  EXPECT_EQ(problem("kernel k\n  for A; B in 1\ntext\nend\n"), "t.kernels:2: error: '1' has 1 field, but 2 are named");
  EXPECT_EQ(problem("kernel k\n  for A in a.b | a-b\ntext\nend\n"),
            "t.kernels:2: error: 'a_b' stands for two values: begin one with another field");
  EXPECT_EQ(problem("kernel k\n  for A in\ntext\nend\n"), "t.kernels:4: error: kernel 'k': 'for A' has no values");
  EXPECT_EQ(problem("kernel k\n"), "t.kernels:1: error: kernel 'k' (line 1) has no 'text'");
  EXPECT_EQ(problem("kernel k\ntext\n"), "t.kernels:2: error: kernel 'k' (line 1) has no 'end'");
  EXPECT_EQ(problem("define m(X)\n"), "t.kernels:1: error: a definition has no 'end'");
  EXPECT_EQ(problem("kernel k\ntext\nend\nkernel k\ntext\nend\n"), "t.kernels:6: error: kernel 'k' is there twice");
  EXPECT_EQ(problem("kernel k\ntext\n$x\nend\n"),
            "t.kernels:3: error: kernel 'k': there is no parameter or macro '$x'");
  EXPECT_EQ(problem("define m()\n$m()\nend\nkernel k\ntext\n$m()\nend\n"),
            "t.kernels:6: error: kernel 'k': a macro or a parameter contains itself");
  EXPECT_EQ(problem("define m(X)\n$X\nend\nkernel k\ntext\n$m()\nend\n"), "");
  EXPECT_EQ(problem("define m(X)\n$X\nend\nkernel k\ntext\n$m(1, 2)\nend\n"),
            "t.kernels:6: error: kernel 'k': macro '$m' takes 1 argument, not 2");
  EXPECT_EQ(problem("kernel k\n  when $A\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': there is no parameter or macro '$A'");
  EXPECT_EQ(problem("kernel k\n  buffer a: f33[4] = 0\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': 'NAME: TYPE[SHAPE] = FORMULA' is expected");
  EXPECT_EQ(problem("kernel k\n  buffer a: f32[-4] = 0\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': '-4' is no size");
  EXPECT_EQ(problem("kernel k\n  buffer a: f32[4] = frob\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': formula 'frob', column 5: there is no 'frob'");
  EXPECT_EQ(problem("kernel k\n  want o[i] = 0\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': there is no buffer 'o'");
  EXPECT_EQ(problem("kernel k\n  buffer o: f32[4] = 0\n  want o = 0\ntext\nend\n"),
            "t.kernels:3: error: kernel 'k': 'o' has 1 dimension, not 0");
  EXPECT_EQ(problem("kernel k\n  within 3\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': 'within' follows 'want' or 'out'");
  EXPECT_EQ(problem("kernel k\n  skip gfx(\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': 'TARGETS [if NAME in VALUES] : REASON' is expected");
  EXPECT_EQ(problem("kernel k\n  grid 0\ntext\nend\n"),
            "t.kernels:2: error: kernel 'k': a grid is one to three numbers");
}

// The program's own kernels: many, of every feature, each a text that parses and verifies with the arguments it says.
TEST(BuiltInSuite, HasManyCases) {
  auto s = builtInSuite();
  ASSERT_TRUE(s.ok()) << s.status();
  auto c = cases(*s, Coverage::Pairs);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_GE(c->size(), 1000u);
  std::set<std::string> features, unique;
  for (auto &x : *c) features.insert(x.feature()), unique.insert(x.name);
  EXPECT_EQ(unique.size(), c->size());
  EXPECT_EQ(features, (std::set<std::string>{"atomics", "calls", "casts", "control_flow", "descriptors", "dots",
                                             "large_blocks", "layouts", "memory", "pointwise", "reductions", "scans",
                                             "shapes", "warp_specialize"}));
}

TEST(BuiltInSuite, EveryKernelVerifies) {
  auto s = builtInSuite();
  ASSERT_TRUE(s.ok());
  auto c = cases(*s, Coverage::Quick);
  ASSERT_TRUE(c.ok());
  for (auto &x : *c) {
    auto i = instantiate(*s, x);
    ASSERT_TRUE(i.ok()) << i.status();
    ir::Context context;
    std::string why;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { why += ir::render(d); });
    EXPECT_TRUE(frontend::parseModule(i->text, x.name, context, diag)) << why;
    bool compared = false;
    for (auto &o : i->outputs) compared |= o.kind != Output::Ignored;
    EXPECT_TRUE(compared) << x.name << " compares nothing";
  }
}

// Lowerings of math functions, too, are compared with formulas, on every device.
TEST(BuiltInSuite, EveryMathOperationHasAKernel) {
  auto s = builtInSuite();
  ASSERT_TRUE(s.ok());
  auto c = cases(*s, Coverage::Quick);
  ASSERT_TRUE(c.ok());
  std::string texts;
  for (auto &x : *c) {
    auto i = instantiate(*s, x);
    ASSERT_TRUE(i.ok()) << i.status();
    texts += i->text;
  }
  unsigned operations = 0;
  for (auto &row : ir::allOps()) {
    if (!row.name.starts_with("math.")) continue;
    ++operations;
    EXPECT_TRUE(llvm::StringRef(texts).contains((row.name + " %").str())) << row.name.str();
  }
  EXPECT_GT(operations, 0u);
}

// Most kernels have formulas: the interpreter is not its own judge.
TEST(BuiltInSuite, MostKernelsHaveFormulas) {
  auto s = builtInSuite();
  ASSERT_TRUE(s.ok());
  size_t with = 0;
  for (auto &k : s->kernels)
    with += std::any_of(k->lines.begin(), k->lines.end(), [](auto &l) { return l.first == "want"; });
  EXPECT_GE(with * 10, s->kernels.size() * 9);
}

} // namespace
} // namespace tessera::conformance
