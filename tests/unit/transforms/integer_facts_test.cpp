// Facts about integers against evaluation. The rules: on all pairs of intervals of i1, i3 and i4 (and at the edges of
// i32), for every operation and in both modes, the bounds contain every value that evaluation gives. The walks: loop
// counters for all small loops, and proofs of signs for every operation on every kind of operand.
#include "frontend/parser.h"
#include "integer_operations.h"
#include "ir/context.h"
#include "ir/ops.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/analyses/integer_rules.h"
#include <gtest/gtest.h>

namespace tessera {
namespace {

using transforms::integerRange;
using transforms::IntegerRange;
using transforms::Overflow;
using transforms::SignAnalysis;

/// A parsed kernel, and its operations with one result in the order of the text.
struct Kernel {
  ir::Context context;
  std::unique_ptr<ir::Module> module;
  std::vector<ir::Operation *> ops;

  explicit Kernel(const std::string &text) {
    std::string messages;
    ir::DiagnosticEngine diag([&](const ir::Diagnostic &d) { messages += ir::render(d); });
    auto m = frontend::parseModule(text, "facts", context, diag);
    EXPECT_TRUE(m) << messages.substr(0, 2000) << text.substr(0, 4000);
    if (!m) return;
    module = std::move(m);
    module->op()->walk([&](ir::Operation *op) {
      if (op->numResults() == 1) ops.push_back(op);
    });
  }
  ir::Value last() { return ops.back()->result(); }
};

std::string integer(int width) { return "i" + std::to_string(width); }
std::string text(IntegerRange r) { return "[" + std::to_string(r.low) + ", " + std::to_string(r.high) + "]"; }

/// The arithmetic operations, each on two arguments of the width.
std::string binaryOperations(int width) {
  std::string s = "tt.func @k(%x: " + integer(width) + ", %y: " + integer(width) + ") {\n";
  for (auto [i, o] : llvm::enumerate(integerOperations()))
    if (!o.comparison) s += "  %v" + std::to_string(i) + " = " + o.name + " %x, %y : " + integer(width) + "\n";
  return s + "  tt.return\n}\n";
}

/// Intervals with all these ends, and the numbers to evaluate inside them.
struct Numbers {
  std::vector<int64_t> ends, values;
  std::vector<IntegerRange> intervals;

  explicit Numbers(int width) {
    int64_t low = wrapped(int64_t(1) << (width - 1), width), high = ~low;
    if (width <= 4)
      for (int64_t v = low; v <= high; ++v) ends.push_back(v);
    else
      ends = {low, low + 1, -65536, -3, -1, 0, 1, 2, 5, 31, 65536, high - 1, high};
    values = ends;
    for (int64_t a : ends)
      for (int64_t b : ends)
        if (a <= b) intervals.push_back({a, b});
  }
};

/// Whether the mode says nothing about this result, because the assumption does not hold for it.
bool isExcluded(const IntegerOperation &o, int64_t exact, int64_t y, int width, Overflow overflow) {
  if (overflow == Overflow::MayWrap || width < 32) return false;
  bool isAssumedNotToWrap =
      o.name == "arith.addi" || o.name == "arith.subi" || o.name == "arith.muli" || o.name == "arith.shli";
  bool isSignedDivision = o.name == "arith.divsi" || o.name == "arith.remsi";
  return (isAssumedNotToWrap && exact != wrapped(exact, width)) || (isSignedDivision && y < 0);
}

class IntegerRules : public ::testing::TestWithParam<std::tuple<int, Overflow>> {};

TEST_P(IntegerRules, BoundsContainEveryValue) {
  auto [width, overflow] = GetParam();
  Kernel kernel(binaryOperations(width));
  ASSERT_TRUE(kernel.module);
  Numbers numbers(width);
  IntegerRange all = transforms::integer_rules::allOf(unsigned(width));
  size_t n = 0;
  for (auto &o : integerOperations()) {
    if (o.comparison) continue;
    ir::Operation *op = kernel.ops[n++];
    int64_t claims = 0;
    for (auto a : numbers.intervals)
      for (auto b : numbers.intervals) {
        auto operand = [&](unsigned i) { return i ? b : a; };
        IntegerRange r = transforms::integer_rules::rangeOfResult(op, operand, overflow);
        ASSERT_LE(all.low, r.low);
        ASSERT_LE(r.high, all.high);
        if (r == all) continue;
        ++claims;
        for (int64_t x : numbers.values)
          for (int64_t y : numbers.values) {
            if (x < a.low || x > a.high || y < b.low || y > b.high) continue;
            auto exact = o.apply(x, y, width);
            if (!exact || isExcluded(o, *exact, y, width, overflow)) continue;
            int64_t v = wrapped(*exact, width);
            ASSERT_TRUE(r.low <= v && v <= r.high) << o.name << " " << text(a) << ", " << text(b) << ": " << text(r)
                                                   << " does not contain " << v << " of " << x << ", " << y;
          }
      }
    if (width > 1) {
      EXPECT_GT(claims, int64_t(numbers.intervals.size())) << o.name << " never has bounds";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, IntegerRules,
                         ::testing::Combine(::testing::Values(1, 3, 4, 32),
                                            ::testing::Values(Overflow::MayWrap, Overflow::Assumed)),
                         [](auto &i) {
                           return integer(std::get<0>(i.param)) +
                                  (std::get<1>(i.param) == Overflow::MayWrap ? "MayWrap" : "Assumed");
                         });

class SmallestIntervals : public ::testing::TestWithParam<int> {};

/// Rules for monotonic operations give the smallest interval: both ends are values.
TEST_P(SmallestIntervals, EndsAreValues) {
  int width = GetParam();
  Kernel kernel(binaryOperations(width));
  ASSERT_TRUE(kernel.module);
  Numbers numbers(width);
  size_t n = 0;
  for (auto &o : integerOperations()) {
    if (o.comparison) continue;
    ir::Operation *op = kernel.ops[n++];
    bool monotonic = op->is<ir::arith::AddiOp>() || op->is<ir::arith::SubiOp>() || op->is<ir::arith::MuliOp>() ||
                     op->is<ir::arith::MinsiOp>() || op->is<ir::arith::MaxsiOp>() || op->is<ir::arith::ShrsiOp>();
    if (!monotonic) continue;
    for (auto a : numbers.intervals)
      for (auto b : numbers.intervals) {
        IntegerRange r{INT64_MAX, INT64_MIN};
        bool wraps = false;
        for (int64_t x = a.low; x <= a.high; ++x)
          for (int64_t y = b.low; y <= b.high; ++y) {
            auto exact = o.apply(x, y, width);
            if (!exact) continue;
            wraps |= *exact != wrapped(*exact, width);
            r = {std::min(r.low, *exact), std::max(r.high, *exact)};
          }
        if (wraps || r.low > r.high) continue;
        auto operand = [&](unsigned i) { return i ? b : a; };
        ASSERT_EQ(text(transforms::integer_rules::rangeOfResult(op, operand, Overflow::MayWrap)), text(r))
            << o.name << " " << text(a) << ", " << text(b);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, SmallestIntervals, ::testing::Values(1, 3, 4),
                         [](auto &i) { return integer(i.param); });

TEST(IntegerRules, CastsAndSelections) {
  Kernel kernel("tt.func @k(%x: i4, %y: i4, %c: i1) {\n"
                "  %s = arith.extsi %x : i4 to i6\n  %z = arith.extui %x : i4 to i6\n"
                "  %t = arith.trunci %x : i4 to i3\n  %b = arith.select %c, %x, %y : i4\n  tt.return\n}\n");
  ASSERT_TRUE(kernel.module);
  Numbers numbers(4);
  for (auto a : numbers.intervals) {
    auto rule = [&](size_t op, IntegerRange b) {
      return transforms::integer_rules::rangeOfResult(
          kernel.ops[op], [&](unsigned i) { return i == 2 ? b : a; }, Overflow::MayWrap);
    };
    EXPECT_EQ(rule(0, a), a);
    for (int64_t x = a.low; x <= a.high; ++x) {
      IntegerRange z = rule(1, a), t = rule(2, a);
      EXPECT_TRUE(z.low <= int64_t(unsignedOf(x, 4)) && int64_t(unsignedOf(x, 4)) <= z.high) << text(a) << text(z);
      EXPECT_TRUE(t.low <= wrapped(x, 3) && wrapped(x, 3) <= t.high) << text(a) << text(t);
    }
    for (auto b : numbers.intervals)
      EXPECT_EQ(rule(3, b), (IntegerRange{std::min(a.low, b.low), std::max(a.high, b.high)}));
  }
}

/// addi, subi, muli and shli of a range of 16 and a constant, against the numbers themselves.
TEST(IntegerRules, CertainWrapAround) {
  std::vector<int64_t> constants = {0,
                                    1,
                                    2,
                                    3,
                                    31,
                                    65536,
                                    1 << 26,
                                    1 << 27,
                                    1103515245,
                                    2147483647,
                                    -2147483648,
                                    -2147483647,
                                    -65536,
                                    -1,
                                    143165576,
                                    143165577,
                                    -143165576,
                                    -143165577,
                                    2147483647 - 14,
                                    2147483647 - 15};
  std::string s = "tt.func @k() {\n  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n";
  std::vector<std::pair<const char *, int64_t>> cases;
  for (int64_t c : constants) {
    std::string n = "%c" + std::to_string(cases.size());
    s += "  " + n + " = arith.constant dense<" + std::to_string(c) + "> : tensor<16xi32>\n";
    for (auto *op : {"addi", "subi", "muli", "shli"}) {
      if (std::string(op) == "shli" && (c < 0 || c > 31)) continue; // undefined
      s += "  %v" + std::to_string(cases.size()) + " = arith." + op + " %r, " + n + " : tensor<16xi32>\n";
      cases.push_back({op, c});
    }
  }
  Kernel kernel(s + "  tt.return\n}\n");
  ASSERT_TRUE(kernel.module);
  size_t n = 0;
  for (auto *op : kernel.ops) {
    if (op->is<ir::arith::ConstantOp>() || op->is<ir::tt::MakeRangeOp>()) continue;
    auto [name, c] = cases[n++];
    bool wraps = false;
    for (int64_t x = 0; x < 16; ++x) {
      int64_t exact = op->is<ir::arith::AddiOp>()   ? x + c
                      : op->is<ir::arith::SubiOp>() ? x - c
                      : op->is<ir::arith::MuliOp>() ? x * c
                                                    : x << c;
      wraps |= exact != wrapped(exact, 32);
    }
    EXPECT_EQ(transforms::integer_rules::certainlyWraps(op), wraps) << name << " " << c;
  }
  EXPECT_EQ(n, cases.size());
}

/// Operations that use a value twice: each query ends soon, whether the first value is known or not.
TEST(IntegerRules, DeepChains) {
  for (const char *first : {"arith.addi %x, %one", "arith.addi %one, %one"}) {
    std::string s =
        "tt.func @k(%x: i32) {\n  %one = arith.constant 1 : i32\n  %v0 = " + std::string(first) + " : i32\n";
    for (int i = 0; i < 64; ++i) {
      std::string v = "%v" + std::to_string(i);
      s += "  %v" + std::to_string(i + 1) + " = arith.muli " + v + ", " + v + " : i32\n";
    }
    Kernel kernel(s + "  tt.return\n}\n");
    ASSERT_TRUE(kernel.module);
    ir::Value last = kernel.last();
    EXPECT_FALSE(transforms::integer_rules::certainlyWraps(last.definingOp()));
    EXPECT_EQ(text(*integerRange(last)), "[-2147483648, 2147483647]");
    SignAnalysis(*kernel.module, Overflow::Assumed).nonNegative(last);
  }
}

/// Of integers of more than 64 bits nothing is known, nor of what they are cut off to.
TEST(IntegerRules, WideIntegers) {
  for (const char *cast : {"arith.index_cast", "arith.index_castui"}) {
    Kernel kernel("tt.func @k(%w: i128) {\n  %s = arith.addi %w, %w : i128\n  %i = " + std::string(cast) +
                  " %s : i128 to index\n  tt.return\n}\n");
    ASSERT_TRUE(kernel.module);
    EXPECT_FALSE(transforms::integer_rules::certainlyWraps(kernel.ops[0]));
    EXPECT_FALSE(integerRange(kernel.ops[0]->result()));
    EXPECT_EQ(text(*integerRange(kernel.last())), text(transforms::integer_rules::allOf(64)));
    EXPECT_FALSE(SignAnalysis(*kernel.module, Overflow::Assumed).nonNegative(kernel.last()));
  }
}

// ---- integerRange ---------------------------------------------------------------------------------------------------

TEST(IntegerRange, LoopCounters) {
  for (int lower : {-4, -1, 0, 3})
    for (int upper : {-4, 0, 1, 4, 7})
      for (int step : {1, 2, 3, 5}) {
        auto c = [](const char *name, int v) {
          return "  %" + std::string(name) + " = arith.constant " + std::to_string(v) + " : i32\n";
        };
        Kernel kernel("tt.func @k() {\n" + c("l", lower) + c("u", upper) + c("s", step) +
                      "  scf.for %i = %l to %u step %s : i32 {\n    %v = arith.addi %i, %i : i32\n  }\n"
                      "  tt.return\n}\n");
        ASSERT_TRUE(kernel.module);
        int64_t last = lower;
        for (int64_t i = lower; i < upper; i += step) last = i;
        auto r = integerRange(kernel.last().definedBy<ir::arith::AddiOp>().lhs());
        ASSERT_TRUE(r);
        if (lower < upper) {
          EXPECT_EQ(text(*r), text({lower, last})) << lower << " to " << upper << " step " << step;
        }
      }
}

/// As unsigned numbers the loop runs from 2^32 - 4 to 2^32 - 1; as signed ones its counter is negative.
TEST(IntegerRange, UnsignedLoopCounters) {
  Kernel kernel("tt.func @k() {\n  %l = arith.constant -4 : i32\n  %u = arith.constant -1 : i32\n"
                "  %s = arith.constant 1 : i32\n  scf.for unsigned %i = %l to %u step %s : i32 {\n"
                "    %v = arith.addi %i, %i : i32\n  }\n  tt.return\n}\n");
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(text(*integerRange(kernel.last().definingOp()->operand(0))), "[-2147483648, 2147483647]");
}

TEST(IntegerRange, DepthAndTypes) {
  Kernel kernel("tt.func @k(%w: i128) {\n  %0 = tt.get_program_id x : i32\n  %c1 = arith.constant 1 : i32\n"
                "  %1 = arith.minsi %0, %c1 : i32\n  %2 = arith.addi %1, %c1 : i32\n  %3 = arith.addi %2, %c1 : i32\n"
                "  %n = arith.trunci %w : i128 to i32\n  tt.return\n}\n");
  ASSERT_TRUE(kernel.module);
  ir::Value sum = kernel.ops[4]->result();
  EXPECT_EQ(text(*integerRange(sum)), "[2, 3]");
  EXPECT_EQ(text(*integerRange(sum, {.depth = 2})), "[-2147483648, 2147483647]");
  EXPECT_EQ(text(*integerRange(kernel.last())), "[-2147483648, 2147483647]");
  EXPECT_FALSE(integerRange(kernel.last().definedBy<ir::arith::TrunciOp>().in()));
}

TEST(IntegerRange, IndexIsAsWideAsTheQuerySays) {
  Kernel kernel("tt.func @k() {\n  %0 = tt.get_program_id x : i32\n  %1 = arith.index_cast %0 : i32 to index\n"
                "  %2 = arith.addi %1, %1 : index\n  tt.return\n}\n");
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(text(*integerRange(kernel.last())), "[0, 4294967292]");
  EXPECT_EQ(text(*integerRange(kernel.last(), {.indexBits = 32})), "[-2147483648, 2147483647]");
}

// ---- SignAnalysis ---------------------------------------------------------------------------------------------------

/// Whether the text's last value is proved to be non-negative. `%pid` is non-negative, `%x` and `%n` may be anything.
bool isProved(const std::string &body, Overflow overflow = Overflow::Assumed) {
  Kernel kernel("tt.func @k(%x: i32, %n: i32, %f: i1) {\n  %pid = tt.get_program_id x : i32\n" + body +
                "  tt.return\n}\n");
  return kernel.module && SignAnalysis(*kernel.module, overflow).nonNegative(kernel.last());
}

/// For every operation on operands of every kind: what is proved holds for all numbers that the operands may be.
TEST(SignAnalysis, EveryOperation) {
  struct Kind {
    std::string name;
    std::vector<int64_t> values;
  };
  for (int width : {4, 32}) {
    for (Overflow overflow : {Overflow::MayWrap, Overflow::Assumed}) {
      Numbers numbers(width);
      std::string t = integer(width), s = "tt.func @k(%x: " + t + ", %y: " + t + ", %p: " + t + ", %q: " + t +
                                          ") {\n  %zero = arith.constant 0 : " + t +
                                          "\n  %ap = arith.cmpi sge, %p, %zero : " + t +
                                          "\n  llvm.intr.assume %ap : i1\n  %aq = arith.cmpi sge, %q, %zero : " + t +
                                          "\n  llvm.intr.assume %aq : i1\n";
      std::vector<int64_t> positive;
      for (int64_t v : numbers.values)
        if (v >= 0) positive.push_back(v);
      std::vector<Kind> kinds[2] = {{{"%x", numbers.values}, {"%p", positive}},
                                    {{"%y", numbers.values}, {"%q", positive}}};
      for (auto [i, v] : llvm::enumerate(numbers.values)) {
        std::string name = "%c" + std::to_string(i);
        s += "  " + name + " = arith.constant " + std::to_string(v) + " : " + t + "\n";
        for (auto &k : kinds) k.push_back({name, {v}});
      }
      std::vector<std::tuple<IntegerOperation, Kind, Kind>> all;
      for (auto &o : integerOperations())
        for (auto &a : kinds[0])
          for (auto &b : kinds[1]) {
            if (o.comparison) continue;
            s += "  %v" + std::to_string(all.size()) + " = " + o.name + " " + a.name + ", " + b.name + " : " + t + "\n";
            all.push_back({o, a, b});
          }
      Kernel kernel(s + "  tt.return\n}\n");
      ASSERT_TRUE(kernel.module);
      SignAnalysis signs(*kernel.module, overflow);
      int64_t proved = 0;
      size_t first = kernel.ops.size() - all.size();
      for (auto [i, c] : llvm::enumerate(all)) {
        auto &[o, a, b] = c;
        ir::Operation *op = kernel.ops[first + i];
        if (!signs.nonNegative(op->result())) continue;
        ++proved;
        for (int64_t x : a.values)
          for (int64_t y : b.values) {
            auto exact = o.apply(x, y, width);
            // A muli of constants that wraps is known to; a divisor is assumed to be positive unless it is known.
            bool constants = a.values.size() == 1 && b.values.size() == 1;
            bool knownDivisor = b.values.size() == 1 && (o.name == "arith.divsi" || o.name == "arith.remsi");
            bool excluded = exact && !constants && !knownDivisor && isExcluded(o, *exact, y, width, overflow);
            if (!exact || excluded) continue;
            EXPECT_GE(wrapped(*exact, width), 0)
                << o.name << " " << a.name << ", " << b.name << " of " << x << ", " << y << " at " << t;
          }
      }
      EXPECT_GT(proved, 500);
    }
  }
}

TEST(SignAnalysis, SumsAreAssumedNotToWrap) {
  EXPECT_TRUE(isProved("  %v = arith.addi %pid, %pid : i32\n"));
  EXPECT_FALSE(isProved("  %v = arith.addi %pid, %pid : i32\n", Overflow::MayWrap));
  EXPECT_FALSE(isProved("  %v = arith.addi %pid, %x : i32\n"));
  EXPECT_FALSE(isProved("  %v = arith.subi %pid, %pid : i32\n"));
  // Narrow numbers wrap in ordinary programs.
  EXPECT_FALSE(isProved("  %c = arith.constant 63 : i16\n  %t = arith.trunci %pid : i32 to i16\n"
                        "  %l = arith.andi %t, %c : i16\n  %v = arith.muli %l, %l : i16\n"));
}

/// 15 * 1103515245 leaves 32 bits in every run: numbers of a generator of random numbers.
TEST(SignAnalysis, NothingIsAssumedWhereWrapAroundIsCertain) {
  std::string range = "  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n";
  auto multiplied = [&](int64_t by, const std::string &more) {
    return range + "  %c = arith.constant dense<" + std::to_string(by) + "> : tensor<16xi32>\n" + more +
           "  %v = arith.muli %r, %c : tensor<16xi32>\n";
  };
  EXPECT_TRUE(isProved(multiplied(65536, "")));
  EXPECT_FALSE(isProved(multiplied(1103515245, "")));
  EXPECT_FALSE(isProved(multiplied(1103515245, "") + "  %w = arith.addi %v, %r : tensor<16xi32>\n"));
  auto subtracted = [&](int64_t by) {
    return range + "  %c = arith.constant dense<" + std::to_string(by) +
           "> : tensor<16xi32>\n  %v = arith.subi %r, %c : tensor<16xi32>\n";
  };
  EXPECT_TRUE(isProved(subtracted(-2147483632)));  // up to 2^31 - 1
  EXPECT_FALSE(isProved(subtracted(-2147483640))); // beyond
}

TEST(SignAnalysis, Divisors) {
  EXPECT_TRUE(isProved("  %v = arith.divsi %pid, %n : i32\n"));
  EXPECT_FALSE(isProved("  %v = arith.divsi %pid, %n : i32\n", Overflow::MayWrap));
  EXPECT_TRUE(isProved("  %v = arith.remsi %pid, %n : i32\n", Overflow::MayWrap)); // it has the dividend's sign
  // A constant is known, of several numbers too.
  EXPECT_FALSE(isProved("  %c = arith.constant dense<[-1, 1]> : tensor<2xi32>\n  %s = tt.splat %pid : i32 -> "
                        "tensor<2xi32>\n  %v = arith.divsi %s, %c : tensor<2xi32>\n"));
}

TEST(SignAnalysis, LoopCounters) {
  auto loop = [](const char *unsignedOr, const char *lower, const char *upper, const char *step) {
    return std::string(
               "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n  %minus = arith.constant -1 "
               ": i32\n  scf.for ") +
           unsignedOr + "%i = " + lower + " to " + upper + " step " + step +
           "  : i32 {\n    %v = arith.divsi %i, %one : i32\n  }\n";
  };
  EXPECT_TRUE(isProved(loop("", "%zero", "%n", "%one")));
  EXPECT_TRUE(isProved(loop("", "%pid", "%n", "%one")));
  EXPECT_FALSE(isProved(loop("", "%x", "%n", "%one")));
  EXPECT_FALSE(isProved(loop("", "%zero", "%n", "%x")));
  // Unsigned: up to 2^32 - 1, of which the upper half is negative as signed numbers.
  EXPECT_FALSE(isProved(loop("unsigned ", "%zero", "%n", "%one")));
  EXPECT_FALSE(isProved(loop("unsigned ", "%zero", "%minus", "%one")));
  EXPECT_TRUE(isProved(loop("unsigned ", "%zero", "%pid", "%one")));
}

TEST(SignAnalysis, CarriedValuesByInduction) {
  auto loop = [](const char *init, const char *next) {
    return std::string(
               "  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n  %r = scf.for %i = %zero to "
               "%n step %one iter_args(%a = ") +
           init + ") -> (i32) : i32 {\n    %b = " + next +
           " : i32\n    scf.yield %b : i32\n  }\n  %v = arith.divsi %r, %one : i32\n";
  };
  EXPECT_TRUE(isProved(loop("%zero", "arith.addi %a, %pid")));
  EXPECT_TRUE(isProved(loop("%pid", "arith.minsi %a, %pid")));
  EXPECT_TRUE(isProved(loop("%zero", "arith.maxsi %x, %a")));
  EXPECT_FALSE(isProved(loop("%x", "arith.addi %a, %pid")));
  EXPECT_FALSE(isProved(loop("%zero", "arith.addi %a, %x")));
  EXPECT_FALSE(isProved(loop("%zero", "arith.subi %a, %one")));
}

TEST(SignAnalysis, ValuesOfWhileLoopsByInduction) {
  // `%a` is tested, `%b` passed on, and `%c` the next number; the last value is computed from the loop's result.
  auto loop = [](const char *init, const char *passed, const char *next) {
    return std::string("  %one = arith.constant 1 : i32\n  %zero = arith.constant 0 : i32\n  %r = scf.while (%a = ") +
           init + ") : (i32) -> i32 {\n    %t = arith.cmpi slt, %a, %n : i32\n    scf.condition(%t) " + passed +
           " : i32\n  } do {\n  ^bb0(%b: i32):\n    %c = " + next +
           " : i32\n    scf.yield %c : i32\n  }\n  %v = arith.divsi %r, %one : i32\n";
  };
  EXPECT_TRUE(isProved(loop("%pid", "%a", "arith.addi %b, %one")));
  EXPECT_TRUE(isProved(loop("%x", "%pid", "arith.addi %b, %one")));
  EXPECT_FALSE(isProved(loop("%x", "%a", "arith.addi %b, %one")));
  EXPECT_FALSE(isProved(loop("%pid", "%x", "arith.addi %b, %one")));
  EXPECT_FALSE(isProved(loop("%pid", "%a", "arith.subi %b, %one")));
}

TEST(SignAnalysis, Assumptions) {
  auto assume = [](const char *comparison) {
    return std::string("  %zero = arith.constant 0 : i32\n  %minus = arith.constant -1 : i32\n  %c = arith.cmpi ") +
           comparison + " : i32\n  llvm.intr.assume %c : i1\n  %v = arith.divsi %x, %n : i32\n";
  };
  EXPECT_TRUE(isProved(assume("sge, %x, %zero")));
  EXPECT_TRUE(isProved(assume("sgt, %x, %minus")));
  EXPECT_TRUE(isProved(assume("sle, %zero, %x")));
  EXPECT_FALSE(isProved(assume("sge, %x, %minus")));
  EXPECT_FALSE(isProved(assume("slt, %x, %zero")));
  EXPECT_FALSE(isProved(assume("uge, %x, %zero")));
}

// ---- conditions around a value --------------------------------------------------------------------------------------

/// `%v` is computed in a branch that runs where the comparison of `%x`, `%n`, `%zero` or `%minus` holds (or, in `else`,
/// where it does not).
std::string inBranch(const std::string &comparison, const std::string &v, bool inElse = false) {
  std::string computed = "    %v = " + v + " : i32\n";
  return "  %zero = arith.constant 0 : i32\n  %minus = arith.constant -1 : i32\n  %one = arith.constant 1 : i32\n"
         "  %c = arith.cmpi " +
         comparison + " : i32\n  scf.if %c {\n" + (inElse ? "  } else {\n" : "") + computed + "  }\n";
}

TEST(SignAnalysis, ConditionsOfBranches) {
  const std::string quotient = "arith.divsi %x, %n", difference = "arith.subi %x, %n";
  EXPECT_TRUE(isProved(inBranch("sge, %x, %zero", quotient)));
  EXPECT_TRUE(isProved(inBranch("sgt, %x, %minus", quotient)));
  EXPECT_TRUE(isProved(inBranch("eq, %x, %zero", quotient)));
  EXPECT_TRUE(isProved(inBranch("slt, %x, %zero", quotient, true)));
  EXPECT_TRUE(isProved(inBranch("ne, %x, %zero", quotient, true)));
  EXPECT_FALSE(isProved(inBranch("sge, %x, %zero", quotient, true)));
  EXPECT_FALSE(isProved(inBranch("sge, %x, %minus", quotient)));
  EXPECT_FALSE(isProved(inBranch("slt, %x, %zero", quotient)));
  EXPECT_FALSE(isProved(inBranch("ne, %x, %zero", quotient)));
  EXPECT_FALSE(isProved(inBranch("eq, %x, %zero", quotient, true)));
  EXPECT_FALSE(isProved(inBranch("uge, %x, %zero", quotient)));

  EXPECT_TRUE(isProved(inBranch("sge, %x, %n", difference)));
  EXPECT_TRUE(isProved(inBranch("sle, %n, %x", difference)));
  EXPECT_TRUE(isProved(inBranch("slt, %x, %n", difference, true)));
  EXPECT_FALSE(isProved(inBranch("sge, %x, %n", difference), Overflow::MayWrap));
  EXPECT_FALSE(isProved(inBranch("sge, %x, %n", difference, true)));
  EXPECT_FALSE(isProved(inBranch("sle, %x, %n", difference)));
  EXPECT_FALSE(isProved(inBranch("uge, %x, %n", difference)));

  // Positive, so that one less is not negative.
  EXPECT_TRUE(isProved(inBranch("sgt, %x, %zero", "arith.subi %x, %one")));
  EXPECT_TRUE(isProved(inBranch("sgt, %x, %zero", "arith.subi %x, %one"), Overflow::MayWrap));
  EXPECT_FALSE(isProved(inBranch("sge, %x, %zero", "arith.subi %x, %one")));

  // Both of an `or` that does not hold.
  EXPECT_TRUE(isProved("  %zero = arith.constant 0 : i32\n  %a = arith.cmpi slt, %x, %zero : i32\n"
                       "  %c = arith.ori %f, %a : i1\n  scf.if %c {\n  } else {\n"
                       "    %v = arith.divsi %x, %n : i32\n  }\n"));

  // An i1 that is true is -1.
  EXPECT_FALSE(isProved("  %true = arith.constant true\n  %c = arith.cmpi eq, %f, %true : i1\n  scf.if %c {\n"
                        "    %v = arith.extsi %f : i1 to i32\n  }\n"));
}

/// A condition holds in its branch alone.
TEST(SignAnalysis, ConditionsEndWithTheirBranch) {
  std::string both = inBranch("sge, %x, %zero", "arith.divsi %x, %n") + "  %w = arith.divsi %x, %n : i32\n";
  EXPECT_FALSE(isProved(both));
  // The same analysis answers for a value before, in and after the branch.
  Kernel kernel("tt.func @k(%x: i32, %n: i32) {\n  %a = arith.divsi %x, %n : i32\n" +
                inBranch("sge, %x, %zero", "arith.divsi %a, %n") + "  %w = arith.divsi %a, %n : i32\n  tt.return\n}\n");
  ASSERT_TRUE(kernel.module);
  SignAnalysis signs(*kernel.module, Overflow::Assumed);
  llvm::SmallVector<bool, 4> answers;
  for (ir::Operation *op : kernel.ops)
    if (op->is<ir::arith::DivsiOp>()) answers.push_back(signs.nonNegative(op->result()));
  EXPECT_EQ(answers, (llvm::SmallVector<bool, 4>{false, true, false}));
  // Nor do two conditions prove each other's signs.
  EXPECT_FALSE(isProved(inBranch("eq, %x, %n", "arith.divsi %x, %n")));
}

/// What one iteration tests holds in that iteration: `%a` may be negative in the others.
TEST(SignAnalysis, ConditionsHoldInTheirIteration) {
  auto loop = [](const char *next) {
    return std::string("  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
                       "  %r = scf.for %i = %zero to %n step %one iter_args(%a = %zero) -> (i32) : i32 {\n"
                       "    %c = arith.cmpi sgt, %a, %zero : i32\n"
                       "    %b = scf.if %c -> (i32) {\n      %d = arith.subi %a, %one : i32\n"
                       "      scf.yield %d : i32\n    } else {\n      scf.yield ") +
           next + " : i32\n    }\n    scf.yield %b : i32\n  }\n  %v = arith.divsi %r, %one : i32\n";
  };
  EXPECT_TRUE(isProved(loop("%i")));
  EXPECT_TRUE(isProved(loop("%a")));
  EXPECT_FALSE(isProved(loop("%x")));
}

/// An iteration runs only if the lower bound is below the upper one.
TEST(SignAnalysis, ConditionsOfForLoops) {
  auto loop = [](const char *lower, const char *upper, const char *v, const char *init = "%zero",
                 const char *kind = "") {
    return std::string("  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
                       "  %c7 = arith.constant 7 : i32\n  %c8 = arith.constant 8 : i32\n"
                       "  %minus = arith.constant -1 : i32\n  %start = arith.muli %pid, %n : i32\n"
                       "  %up = arith.addi %n, %c7 : i32\n  %eighths = arith.divsi %up, %c8 : i32\n"
                       "  %r = scf.for ") +
           kind + " %i = " + lower + " to " + upper + " step %one iter_args(%a = " + init +
           ") -> (i32) : i32 {\n    %b = arith.addi %a, %c8 : i32\n    %v = " + v +
           " : i32\n    scf.yield %b : i32\n  }\n";
  };
  EXPECT_TRUE(isProved(loop("%zero", "%n", "arith.divsi %n, %c8")));
  EXPECT_TRUE(isProved(loop("%zero", "%n", "arith.subi %n, %one")));
  EXPECT_TRUE(isProved(loop("%x", "%n", "arith.subi %n, %x")));
  EXPECT_TRUE(isProved(loop("%zero", "%eighths", "arith.subi %n, %one")));
  EXPECT_TRUE(isProved(loop("%zero", "%eighths", "arith.divsi %a, %c8", "%start")));
  EXPECT_TRUE(isProved(loop("%one", "%eighths", "arith.subi %n, %c8"))); // two eighths: more than 8
  EXPECT_FALSE(isProved(loop("%zero", "%eighths", "arith.subi %n, %c8")));
  EXPECT_FALSE(isProved(loop("%minus", "%n", "arith.subi %n, %one")));
  EXPECT_FALSE(isProved(loop("%minus", "%eighths", "arith.divsi %n, %c8")));
  EXPECT_FALSE(isProved(loop("%x", "%n", "arith.divsi %n, %c8")));
  EXPECT_FALSE(isProved(loop("%zero", "%x", "arith.divsi %n, %c8")));
  EXPECT_FALSE(isProved(loop("%zero", "%n", "arith.divsi %n, %c8", "%zero", "unsigned")));
  EXPECT_FALSE(isProved(loop("%zero", "%eighths", "arith.divsi %n, %c8"), Overflow::MayWrap));
  // After the loop nothing of it holds: it may have run no iteration.
  EXPECT_FALSE(
      isProved(loop("%zero", "%eighths", "arith.addi %a, %c8", "%start") + "  %w = arith.divsi %r, %c8 : i32\n"));
}

/// Tiles of several groups: the loop over a group's tiles tests that the tile is one of them.
TEST(SignAnalysis, ConditionsOfWhileLoops) {
  auto loop = [](const char *test, const char *v) {
    return std::string("  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
                       "  %c7 = arith.constant 7 : i32\n  %c8 = arith.constant 8 : i32\n"
                       "  %r = scf.while (%a = %pid) : (i32) -> i32 {\n"
                       "    %after = arith.cmpi sge, %a, %x : i32\n    %end = arith.addi %x, %n : i32\n"
                       "    %before = arith.cmpi slt, %a, %end : i32\n"
                       "    %both = arith.andi %after, %before : i1\n    %one_of = arith.ori %after, %before : i1\n"
                       "    scf.condition(") +
           test + ") %a : i32\n  } do {\n  ^bb0(%t: i32):\n    %up = arith.addi %n, %c7 : i32\n" +
           "    %eighths = arith.divsi %up, %c8 : i32\n    %u = arith.addi %t, %c8 : i32\n    %v = " + v +
           " : i32\n    scf.yield %u : i32\n  }\n";
  };
  EXPECT_TRUE(isProved(loop("%both", "arith.subi %t, %x")));
  EXPECT_TRUE(isProved(loop("%after", "arith.subi %t, %x")));
  EXPECT_FALSE(isProved(loop("%before", "arith.subi %t, %x")));
  EXPECT_FALSE(isProved(loop("%one_of", "arith.subi %t, %x")));
  EXPECT_FALSE(isProved(loop("%both", "arith.subi %x, %t")));
  EXPECT_FALSE(isProved(loop("%both", "arith.subi %u, %x"), Overflow::MayWrap));
  // A group with a tile is not empty.
  EXPECT_TRUE(isProved(loop("%both", "arith.divsi %n, %c8")));
  EXPECT_TRUE(isProved(loop("%both", "arith.subi %eighths, %one")));
  EXPECT_FALSE(isProved(loop("%both", "arith.subi %eighths, %c8")));
  EXPECT_FALSE(isProved(loop("%after", "arith.divsi %n, %c8")));
  EXPECT_FALSE(isProved(loop("%before", "arith.divsi %n, %c8")));
  EXPECT_FALSE(isProved(loop("%both", "arith.divsi %x, %c8")));
  EXPECT_FALSE(isProved(loop("%both", "arith.divsi %n, %c8"), Overflow::MayWrap));
}

} // namespace
} // namespace tessera
