// AxisInfo on small integers, exhaustively: every operation that it has a rule for, on operands of every form of
// which it knows something (constants, ranges, arguments of known divisibility, their sums and multiples), with
// all values of i4 and the ones at the edges of i8. Every claim is checked on every value that the arguments can
// have. i1 comes in as the result of comparisons, in its own arithmetic, and as a condition.
#include "frontend/parser.h"
#include "integer_operations.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "transforms/analyses/axis_info.h"

#include <functional>
#include <gtest/gtest.h>
#include <optional>

namespace tessera {
namespace {

using transforms::AxisInfo;
using transforms::AxisInfoAnalysis;

constexpr int kElements = 16;

/// A tensor of 16 elements: how it is written, from its name on, and element i for arguments a and b. Undefined: none.
using Elements = std::function<std::optional<int64_t>(int i, int64_t a, int64_t b)>;
struct Form {
  std::string name, text; // text: the lines that define it
  Elements at;
  bool usesA = false, usesB = false;
};

struct Family {
  int width;
  std::string type;
  std::vector<int64_t> constants, arguments; // values that the arguments take (multiples of theirs alone)
  std::vector<int64_t> divisors;

  explicit Family(int w) : width(w), type("tensor<16xi" + std::to_string(w) + ">") {
    if (w <= 4) {
      for (int64_t v = -(1 << (w - 1)); v < 1 << (w - 1); ++v) constants.push_back(v);
      arguments = constants;
    } else {
      constants = {0, 1, 2, 3, 4, 8, 12, 16, 64, 127, -128, -127, -16, -3, -2, -1};
      arguments = {0, 1, 3, 8, 24, 64, 96, 127, -128, -127, -64, -16, -8, -1};
    }
    for (int64_t d = 1; d < int64_t(1) << (w - 1); d *= w > 4 ? 4 : 2) divisors.push_back(d);
  }

  std::string header() const { // an argument of each divisibility for either side
    std::string s = "tt.func @k(";
    for (const char *side : {"a", "b"})
      for (int64_t d : divisors)
        s += std::string(s.back() == '(' ? "" : ", ") + "%" + side + std::to_string(d) + ": i" + std::to_string(width) +
             " {tt.divisibility = " + std::to_string(d) + " : i32}";
    return s +
           ") {\n  %r32 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n  %r = arith.trunci %r32 : "
           "tensor<16xi32> to " +
           type + "\n";
  }

  /// Operands of every form; `side`: a or b.
  std::vector<Form> forms(char side) const {
    std::vector<Form> out;
    int w = width;
    bool first = side == 'a';
    std::string p = std::string("%") + side + "_";
    auto add = [&](const std::string &text, Elements at, bool uses) {
      std::string name = p + std::to_string(out.size());
      out.push_back(
          {name, "  " + name + " = " + text + " : " + type + "\n", std::move(at), uses && first, uses && !first});
    };
    for (int64_t c : constants) {
      std::string n = p + "c" + (c < 0 ? "m" : "") + std::to_string(std::abs(c));
      out.push_back({n, "  " + n + " = arith.constant dense<" + std::to_string(c) + "> : " + type + "\n",
                     [=](int, int64_t, int64_t) { return c; }});
      add("arith.addi %r, " + n, [=](int i, int64_t, int64_t) { return wrapped(i + c, w); }, false);
      add("arith.muli %r, " + n, [=](int i, int64_t, int64_t) { return wrapped(i * c, w); }, false);
      if (c > 0 && !(c & (c - 1)) && c < kElements)
        add(
            "arith.divui %r, " + n, [=](int i, int64_t, int64_t) { return wrapped(int64_t(unsignedOf(i, w)) / c, w); },
            false);
    }
    for (int64_t d : divisors) {
      std::string n = std::string("%") + side + "s" + std::to_string(d),
                  scalar = std::string("%") + side + std::to_string(d);
      auto value = [=](int64_t a, int64_t b) { return wrapped((first ? a : b) * d, w); };
      out.push_back({n, "  " + n + " = tt.splat " + scalar + " : i" + std::to_string(w) + " -> " + type + "\n",
                     [=](int, int64_t a, int64_t b) { return value(a, b); }, first, !first});
      add("arith.addi %r, " + n, [=](int i, int64_t a, int64_t b) { return wrapped(i + value(a, b), w); }, true);
      add("arith.subi " + n + ", %r", [=](int i, int64_t a, int64_t b) { return wrapped(value(a, b) - i, w); }, true);
    }
    return out;
  }
};

struct Claims {
  int64_t made = 0, checked = 0;
};

/// Every claim on the value's elements for these arguments. Elements that are not defined may be anything. At these
/// widths contiguity holds as it is: numbers of fewer than 32 bits are not assumed to stay within their type.
bool holds(const AxisInfo &info, const Elements &at, int64_t a, int64_t b, bool truth, std::string &why) {
  std::array<std::optional<int64_t>, kElements> v;
  for (int i = 0; i < kElements; ++i) v[size_t(i)] = at(i, a, b);
  int64_t divisor = info.divisibility[0], group = info.contiguity[0];
  auto wrong = [&](const char *claim, int i) {
    why = std::string(claim) + " at element " + std::to_string(i) + " = " + std::to_string(*v[size_t(i)]) +
          " for arguments " + std::to_string(a) + ", " + std::to_string(b);
    return false;
  };
  for (int i = 0; i < kElements; ++i) {
    auto &x = v[size_t(i)];
    if (!x) continue;
    auto &start = v[size_t(i & ~(group - 1))], &same = v[size_t(i & ~(info.constancy[0] - 1))];
    if (start && !truth && *x != *start + (i & (group - 1))) return wrong("contiguity", i);
    if (!(i & (group - 1)) && (*x & (divisor - 1))) return wrong("divisibility", i);
    if (same && *x != *same) return wrong("constancy", i);
    if (info.constant && (truth ? (*x ^ *info.constant) & 1 : *x != *info.constant)) return wrong("constant", i);
  }
  return true;
}

/// Parses a function of many independent operations, and checks what is claimed of each, in the order of the text.
struct Checked {
  std::string line;
  Elements at;
  bool usesA, usesB, truth;
};
void check(const Family &f, const std::string &definitions, const std::vector<Checked> &of, Claims &claims) {
  std::string text = f.header() + definitions;
  for (auto [i, c] : llvm::enumerate(of)) text += "  %v" + std::to_string(i) + " = " + c.line + "\n";
  text += "  tt.return\n}\n";
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(text, "exhaustive", context, diag);
  ASSERT_TRUE(m) << messages.substr(0, 2000);
  AxisInfoAnalysis axis(*m);
  std::vector<ir::Operation *> ops;
  m->op()->walk([&](ir::Operation *op) {
    if (op->numResults() == 1) ops.push_back(op);
  });
  ASSERT_GE(ops.size(), of.size());
  ops.erase(ops.begin(), ops.end() - long(of.size()));
  std::vector<int64_t> none{0};
  for (auto [op, c] : llvm::zip(ops, of)) {
    AxisInfo info = axis.get(op->result());
    if (info.contiguity[0] == 1 && info.divisibility[0] == 1 && info.constancy[0] == 1 && !info.constant) continue;
    ++claims.made;
    std::string why;
    for (int64_t a : c.usesA ? f.arguments : none)
      for (int64_t b : c.usesB ? f.arguments : none) {
        ++claims.checked;
        ASSERT_TRUE(holds(info, c.at, a, b, c.truth, why))
            << c.line << ": " << why << " (contiguity " << info.contiguity[0] << ", divisibility "
            << info.divisibility[0] << ", constancy " << info.constancy[0] << ")\n"
            << definitions;
      }
  }
}

class AxisInfoExhaustive : public ::testing::TestWithParam<int> {};

TEST_P(AxisInfoExhaustive, BinaryOperations) {
  Family f(GetParam());
  auto xs = f.forms('a'), ys = f.forms('b');
  std::string definitions;
  for (auto *side : {&xs, &ys})
    for (auto &x : *side) definitions += x.text;
  Claims claims;
  for (auto &o : integerOperations()) {
    std::vector<Checked> all;
    for (auto &x : xs)
      for (auto &y : ys)
        all.push_back({o.name + " " + x.name + ", " + y.name + " : " + f.type,
                       [&x, &y, &o, w = f.width](int i, int64_t a, int64_t b) -> std::optional<int64_t> {
                         auto p = x.at(i, a, b), q = y.at(i, a, b);
                         auto r = p && q ? o.apply(*p, *q, w) : std::nullopt;
                         return r ? std::optional(wrapped(*r, o.comparison ? 1 : w)) : r;
                       },
                       x.usesA || y.usesA, x.usesB || y.usesB, o.comparison || f.width == 1});
    check(f, definitions, all, claims);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(claims.made, f.width == 1 ? 100 : 10000);
}

TEST_P(AxisInfoExhaustive, CastsAndSelections) {
  Family f(GetParam());
  auto xs = f.forms('a'), ys = f.forms('b');
  std::string definitions;
  for (auto *side : {&xs, &ys})
    for (auto &x : *side) definitions += x.text;
  Claims claims;
  std::vector<Checked> all;
  for (auto &x : xs) {
    int w = f.width;
    all.push_back({"arith.extsi " + x.name + " : " + f.type + " to tensor<16xi16>", x.at, x.usesA, x.usesB, false});
    all.push_back({"arith.extui " + x.name + " : " + f.type + " to tensor<16xi16>",
                   [&x, w](int i, int64_t a, int64_t b) -> std::optional<int64_t> {
                     return int64_t(unsignedOf(*x.at(i, a, b), w));
                   },
                   x.usesA, x.usesB, false});
    for (int to : {1, 4})
      if (to < w)
        all.push_back(
            {"arith.trunci " + x.name + " : " + f.type + " to tensor<16xi" + std::to_string(to) + ">",
             [&x, to](int i, int64_t a, int64_t b) -> std::optional<int64_t> { return wrapped(*x.at(i, a, b), to); },
             x.usesA, x.usesB, to == 1});
  }
  // Conditions: a comparison of the range, and one that depends on an argument.
  for (int64_t c : f.constants) {
    std::string k = "%k" + std::string(c < 0 ? "m" : "") + std::to_string(std::abs(c)), m = "%m" + k.substr(1);
    definitions += "  " + k + " = arith.constant dense<" + std::to_string(c) + "> : " + f.type + "\n  " + m +
                   " = arith.cmpi slt, %r, " + k + " : " + f.type + "\n";
    for (size_t i = 0; i < xs.size(); i += 3)
      for (size_t j = 0; j < ys.size(); j += 5) {
        auto &x = xs[i], &y = ys[j];
        all.push_back({"arith.select " + m + ", " + x.name + ", " + y.name + " : tensor<16xi1>, " + f.type,
                       [&x, &y, c, w = f.width](int e, int64_t a, int64_t b) {
                         return wrapped(e, w) < c ? x.at(e, a, b) : y.at(e, a, b);
                       },
                       x.usesA || y.usesA, x.usesB || y.usesB, f.width == 1});
      }
  }
  check(f, definitions, all, claims);
  EXPECT_GT(claims.made, f.width == 1 ? 5 : 100);
}

/// The check notices claims that are too large: a range of 16 that wraps around in i4, and its quarters.
TEST(AxisInfoExhaustiveCheck, NoticesWhatIsTooLarge) {
  auto info = [](int64_t contiguity, int64_t divisibility, int64_t constancy) {
    AxisInfo i;
    i.contiguity = {contiguity}, i.divisibility = {divisibility}, i.constancy = {constancy};
    return i;
  };
  auto range = [](int i, int64_t, int64_t) -> std::optional<int64_t> { return wrapped(i, 4); };
  auto quarters = [](int i, int64_t, int64_t) -> std::optional<int64_t> { return i / 4; };
  std::string why;
  EXPECT_TRUE(holds(info(8, 8, 1), range, 0, 0, false, why)) << why;
  EXPECT_FALSE(holds(info(16, 8, 1), range, 0, 0, false, why));
  EXPECT_FALSE(holds(info(1, 2, 1), range, 0, 0, false, why));
  EXPECT_FALSE(holds(info(1, 1, 2), range, 0, 0, false, why));
  EXPECT_TRUE(holds(info(1, 1, 4), quarters, 0, 0, false, why)) << why;
  EXPECT_FALSE(holds(info(1, 1, 8), quarters, 0, 0, false, why));
  AxisInfo zero = info(1, 1, 1);
  zero.constant = 0;
  EXPECT_FALSE(holds(zero, quarters, 0, 0, false, why));
}

/// Contiguity of the last value of a kernel with %x (an i32 that may be negative), %pid, and ranges of 64 from them.
int64_t contiguityOfLast(const std::string &body) {
  std::string text = "tt.func @k(%x: i32, %b: i8) {\n  %pid = tt.get_program_id x : i32\n"
                     "  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
                     "  %xs = tt.splat %x : i32 -> tensor<64xi32>\n  %ps = tt.splat %pid : i32 -> tensor<64xi32>\n"
                     "  %from_x = arith.addi %xs, %r : tensor<64xi32>\n"
                     "  %from_pid = arith.addi %ps, %r : tensor<64xi32>\n" +
                     body + "  tt.return\n}\n";
  ir::Context context;
  std::string messages;
  ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
  auto m = frontend::parseModule(text, "wide", context, diag);
  EXPECT_TRUE(m) << messages;
  if (!m) return 0;
  ir::Value last;
  m->op()->walk([&](ir::Operation *op) {
    if (op->numResults() == 1) last = op->result();
  });
  return AxisInfoAnalysis(*m).get(last).contiguity[0];
}

/// x + 0 … x + 63 as unsigned numbers, for x = -3: 4294967293, 4294967294, 4294967295, 0, 1, …
TEST(AxisInfoWide, UnsignedReadingEndsGroupsThatMayPassZero) {
  EXPECT_EQ(contiguityOfLast(""), 64);
  EXPECT_EQ(contiguityOfLast("  %v = arith.extsi %from_x : tensor<64xi32> to tensor<64xi64>\n"), 64);
  EXPECT_EQ(contiguityOfLast("  %v = arith.extui %from_x : tensor<64xi32> to tensor<64xi64>\n"), 1);
  EXPECT_EQ(contiguityOfLast("  %v = arith.extui %from_pid : tensor<64xi32> to tensor<64xi64>\n"), 64);
  EXPECT_EQ(contiguityOfLast("  %v = arith.maxsi %from_x, %from_pid : tensor<64xi32>\n"), 64);
  EXPECT_EQ(contiguityOfLast("  %v = arith.maxui %from_x, %from_pid : tensor<64xi32>\n"), 1);
  EXPECT_EQ(contiguityOfLast("  %v = arith.maxui %from_pid, %from_pid : tensor<64xi32>\n"), 64);
}

/// b + 0 … b + 63 in i8, for b = 100: 100, …, 127, -128, …
TEST(AxisInfoWide, NarrowSumsWrap) {
  EXPECT_EQ(contiguityOfLast("  %n = arith.trunci %r : tensor<64xi32> to tensor<64xi8>\n"), 64);
  EXPECT_EQ(contiguityOfLast("  %n = arith.trunci %from_x : tensor<64xi32> to tensor<64xi8>\n"), 1);
  EXPECT_EQ(contiguityOfLast("  %n = arith.trunci %r : tensor<64xi32> to tensor<64xi8>\n"
                             "  %bs = tt.splat %b : i8 -> tensor<64xi8>\n"
                             "  %v = arith.addi %bs, %n : tensor<64xi8>\n"),
            1);
}

INSTANTIATE_TEST_SUITE_P(Widths, AxisInfoExhaustive, ::testing::Values(1, 4, 8),
                         [](auto &i) { return "i" + std::to_string(i.param); });

} // namespace
} // namespace tessera
