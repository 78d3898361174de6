// The formulas of the conformance suite: what they compute, and what is wrong with those that are none.
#include "conformance/formula.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace tessera::conformance {
namespace {
using runtime::DType;

struct Buffers {
  std::vector<int32_t> a{1, -2, 3, 4, 5, 6};
  std::vector<float> x{0.5f, 1.5f};
  int64_t n = 7;
  std::vector<FormulaBuffer> names() const {
    auto bytes = [](auto &v) { return reinterpret_cast<const uint8_t *>(v.data()); };
    return {{"a", DType::I32, {2, 3}, bytes(a)},
            {"x", DType::F32, {2}, bytes(x)},
            {"n", DType::I64, {}, reinterpret_cast<const uint8_t *>(&n)}};
  }
};

double value(const std::string &text, int64_t i = 0) {
  Buffers b;
  auto names = b.names();
  auto f = Formula::parse(text, {"i"}, names);
  EXPECT_TRUE(f.ok()) << f.status();
  if (!f.ok()) return NAN;
  auto n = f->evaluate({i}, names, 3, 5);
  EXPECT_TRUE(n.ok()) << text << ": " << n.status();
  return n.ok() ? n->asReal() : NAN;
}

std::string problem(const std::string &text) {
  Buffers b;
  auto f = Formula::parse(text, {"i"}, b.names());
  if (!f.ok()) return std::string(f.status().message());
  auto n = f->evaluate({0}, b.names());
  return n.ok() ? "" : std::string(n.status().message());
}

TEST(Formula, PrecedenceIsThatOfC) {
  EXPECT_EQ(value("1 + 2 * 3 - 4 / 2"), 5);
  EXPECT_EQ(value("1 | 2 ^ 3 & 1"), 1 | (2 ^ (3 & 1)));
  EXPECT_EQ(value("1 << 2 + 1"), 8);
  EXPECT_EQ(value("3 < 2 == 0"), 1);
  EXPECT_EQ(value("1 || 0 && 0"), 1);
  EXPECT_EQ(value("-2 * -3"), 6);
  EXPECT_EQ(value("!0 + ~0"), 0);
  EXPECT_EQ(value("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 3 - 2"), 5);
}

TEST(Formula, IntegersWrapAndDivideTowardZero) {
  EXPECT_EQ(value("0x7fffffffffffffff + 1 == -0x7fffffffffffffff - 1"), 1);
  EXPECT_EQ(value("-7 / 2"), -3);
  EXPECT_EQ(value("-7 % 2"), -1);
  EXPECT_EQ(value("7 / 0"), -1);
  EXPECT_EQ(value("7 % 0"), 7);
  EXPECT_EQ(value("1 << 64"), 0);
  EXPECT_EQ(value("-1 >> 100"), -1);
  EXPECT_EQ(value("below(-1, 1)"), 0);
  EXPECT_EQ(value("below(1, -1)"), 1);
  EXPECT_EQ(value("7 / 2.0"), 3.5);
}

TEST(Formula, BuffersScalarsAndVariables) {
  EXPECT_EQ(value("a[1, 2]"), 6);
  EXPECT_EQ(value("a[0, i]", 1), -2);
  EXPECT_EQ(value("x[1] * n"), 10.5);
  EXPECT_EQ(problem("a[2, 0]"), "index 0 of 'a' is 2; the dimension has 2");
  EXPECT_EQ(problem("a[0, -1]"), "index 1 of 'a' is -1; the dimension has 3");
}

TEST(Formula, Reductions) {
  EXPECT_EQ(value("sum(k < 3, a[0, k])"), 2);
  EXPECT_EQ(value("product(k < 3, a[1, k])"), 120);
  EXPECT_EQ(value("least(k < 3, a[0, k])"), -2);
  EXPECT_EQ(value("greatest(k < 2, x[k])"), 1.5);
  EXPECT_EQ(value("every(k < 3, a[1, k])"), 4);
  EXPECT_EQ(value("any(k < 3, a[1, k])"), 7);
  EXPECT_EQ(value("parity(k < 3, a[1, k])"), 4 ^ 5 ^ 6);
  EXPECT_EQ(value("first(k < 3, a[0, k] < 0)"), 1);
  EXPECT_EQ(value("first(k < 3, 0)"), 3);
  EXPECT_EQ(value("sum(k < i + 1, 1)", 4), 5);
  EXPECT_EQ(value("sum(k < 2, sum(l < k + 1, l))"), 1);
  EXPECT_EQ(value("sum(k < 0, 1 / 0)"), 0);
}

TEST(Formula, ConversionsRoundOnce) {
  EXPECT_EQ(value("f16(2049)"), 2048); // tie to even
  EXPECT_EQ(value("f16(2051)"), 2052);
  EXPECT_EQ(value("toward_zero(f16, 2051)"), 2050);
  EXPECT_EQ(value("toward_zero(bf16, -257.5)"), -256);
  EXPECT_TRUE(std::isinf(value("f16(65520)")));
  EXPECT_EQ(value("f8E4M3FN(1000)"), 448); // saturates
  EXPECT_EQ(value("f8E5M2(-1e9)"), -57344);
  EXPECT_TRUE(std::isnan(value("f8E4M3FN(nan())")));
  EXPECT_EQ(value("f32(0x7fffffbfffffffff)"), 9223371487098961920.0); // once: by way of double it would be 2^63
  EXPECT_EQ(value("i8(200)"), -56);
  EXPECT_EQ(value("u8(-1)"), 255);
  EXPECT_EQ(value("i8(300.7)"), 127);
  EXPECT_EQ(value("i32(-1.9)"), -1);
  EXPECT_EQ(value("i32(nan())"), 0);
  EXPECT_EQ(value("bits(1.0, f32)"), 0x3F800000);
  EXPECT_EQ(value("bits(-0.0, f16)"), -32768);
  EXPECT_EQ(value("as_float(0x3c00, f16)"), 1);
}

TEST(Formula, MinAndMaxPreferNumbers) {
  EXPECT_EQ(value("min(nan(), 1.0)"), 1);
  EXPECT_EQ(value("max(2, 3)"), 3);
  EXPECT_EQ(value("isnan(max(nan(), nan()))"), 1);
  EXPECT_EQ(value("abs(-3)"), 3);
  EXPECT_EQ(value("round(2.5)"), 2);
  EXPECT_EQ(value("fma(3, 4, 5)"), 17);
}

// The same element gives the same number, each draw and each element another.
TEST(Formula, RandomNumbersDependOnElementAndDraw) {
  auto f = Formula::parse("random_bits()", {}, {}), g = Formula::parse("random_bits() ^ random_bits()", {}, {});
  ASSERT_TRUE(f.ok() && g.ok());
  auto at = [](const Formula &f, uint64_t stream, uint64_t element) {
    return f.evaluate({}, {}, stream, element)->integer;
  };
  EXPECT_EQ(at(*f, 1, 2), at(*f, 1, 2));
  EXPECT_NE(at(*f, 1, 2), at(*f, 1, 3));
  EXPECT_NE(at(*f, 1, 2), at(*f, 2, 2));
  EXPECT_NE(at(*g, 1, 2), 0);
  auto u = Formula::parse("uniform(2, 3)", {}, {}), i = Formula::parse("integer(-2, 2)", {}, {});
  for (uint64_t e = 0; e < 100; ++e) {
    double v = u->evaluate({}, {}, 1, e)->asReal();
    EXPECT_TRUE(v >= 2 && v < 3);
    int64_t n = i->evaluate({}, {}, 1, e)->integer;
    EXPECT_TRUE(n >= -2 && n < 2);
  }
}

TEST(Formula, ProblemsAreNamed) {
  EXPECT_EQ(problem("1 +"), "formula '1 +', column 4: ends too soon");
  EXPECT_EQ(problem("b[0]"), "formula 'b[0]', column 3: there is no buffer 'b'");
  EXPECT_EQ(problem("a"), "formula 'a', column 2: 'a' is a buffer and needs indices");
  EXPECT_EQ(problem("a[1]"), "formula 'a[1]', column 5: 'a' has 2 dimensions, not 1");
  EXPECT_EQ(problem("k"), "formula 'k', column 2: there is no 'k'");
  EXPECT_EQ(problem("sum(k < 3, k) + k"), "formula 'sum(k < 3, k) + k', column 18: there is no 'k'");
  EXPECT_EQ(problem("frob(1)"), "formula 'frob(1)', column 6: there is no function 'frob'");
  EXPECT_EQ(problem("1 2"), "formula '1 2', column 3: '2' is left over");
  EXPECT_EQ(problem("(1"), "formula '(1', column 3: ')' is expected");
  EXPECT_EQ(problem("07"), "");
  EXPECT_EQ(problem("1x"), "formula '1x', column 3: '1x' is no number");
  EXPECT_EQ(problem("bits(1.0, i32)"), "formula 'bits(1.0, i32)', column 15: a floating-point type is expected");
  EXPECT_NE(problem(std::string(5000, '(')), "");
  EXPECT_NE(problem(std::string(5000, '-')), "");
}

} // namespace
} // namespace tessera::conformance
