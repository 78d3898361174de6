// Arithmetic and comparisons of floats against loops written here, with NaN, infinity and signed zeros.
#include "float_patterns.h"

namespace tessera {
namespace {
using ir::FloatKind;
using test::elementwiseKernel;
using test::Evaluation;
using test::expectSame;
using test::floatPatterns;
using test::kFormats;
using test::pattern;
using test::runFloats;
using test::value;

TEST(Floats, BinaryOperationsRoundOnceAsApfloat) {
  struct Operation {
    const char *name;
    void (*f)(llvm::APFloat &a, const llvm::APFloat &b);
  };
  using llvm::APFloat;
  const Operation operations[] = {
      {"arith.addf", [](APFloat &a, const APFloat &b) { a.add(b, APFloat::rmNearestTiesToEven); }},
      {"arith.subf", [](APFloat &a, const APFloat &b) { a.subtract(b, APFloat::rmNearestTiesToEven); }},
      {"arith.mulf", [](APFloat &a, const APFloat &b) { a.multiply(b, APFloat::rmNearestTiesToEven); }},
      {"arith.divf", [](APFloat &a, const APFloat &b) { a.divide(b, APFloat::rmNearestTiesToEven); }},
      {"tt.precise_divf", [](APFloat &a, const APFloat &b) { a.divide(b, APFloat::rmNearestTiesToEven); }},
      {"arith.remf", [](APFloat &a, const APFloat &b) { a.mod(b); }},
      {"arith.maximumf", [](APFloat &a, const APFloat &b) { a = maximum(a, b); }},
      {"arith.minimumf", [](APFloat &a, const APFloat &b) { a = minimum(a, b); }},
      {"arith.maxnumf", [](APFloat &a, const APFloat &b) { a = maximumnum(a, b); }},
      {"arith.minnumf", [](APFloat &a, const APFloat &b) { a = minimumnum(a, b); }},
  };
  for (auto &f : kFormats) {
    auto a = floatPatterns(f.kind, 1, 4096, false), b = floatPatterns(f.kind, 2, 4096, true);
    for (auto &op : operations) {
      auto r = runFloats(f, {a, b}, std::string("%r = ") + op.name + " %a, %b");
      for (size_t i = 0; i < a.size(); ++i) {
        APFloat want = value(f.kind, a[i]);
        op.f(want, value(f.kind, b[i]));
        expectSame(f, op.name, pattern(want), r[i], a[i], b[i]);
      }
    }
  }
}

TEST(Floats, FmaRoundsOnce) {
  for (auto &f : kFormats) {
    auto a = floatPatterns(f.kind, 3, 16384, false), b = floatPatterns(f.kind, 4, 16384, true),
         c = floatPatterns(f.kind, 5, 16384, false);
    auto r = runFloats(f, {a, b, c}, "%r = math.fma %a, %b, %c");
    for (size_t i = 0; i < a.size(); ++i) {
      llvm::APFloat want = value(f.kind, a[i]);
      want.fusedMultiplyAdd(value(f.kind, b[i]), value(f.kind, c[i]), llvm::APFloat::rmNearestTiesToEven);
      expectSame(f, "fma", pattern(want), r[i], a[i], b[i]);
    }
  }
}

TEST(Floats, Comparisons) {
  struct Predicate {
    const char *name;
    bool less, equal, greater, unordered;
  };
  const Predicate predicates[] = {
      {"false", 0, 0, 0, 0}, {"oeq", 0, 1, 0, 0}, {"ogt", 0, 0, 1, 0}, {"oge", 0, 1, 1, 0},
      {"olt", 1, 0, 0, 0},   {"ole", 1, 1, 0, 0}, {"one", 1, 0, 1, 0}, {"ord", 1, 1, 1, 0},
      {"ueq", 0, 1, 0, 1},   {"ugt", 0, 0, 1, 1}, {"uge", 0, 1, 1, 1}, {"ult", 1, 0, 0, 1},
      {"ule", 1, 1, 0, 1},   {"une", 1, 0, 1, 1}, {"uno", 0, 0, 0, 1}, {"true", 1, 1, 1, 1}};
  std::vector<float> a, b;
  const float special[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 1e-40f};
  for (float x : special)
    for (float y : special) a.push_back(x), b.push_back(y);
  for (auto &p : predicates) {
    std::vector<uint8_t> r(a.size());
    Evaluation(elementwiseKernel(a.size(), {"f32", "f32"}, {"i1"},
                                 std::string("%r = arith.cmpf ") + p.name + ", %a, %b : tensor<64xf32>"))
        .buffer(a)
        .buffer(b)
        .buffer(r)
        .ok();
    for (size_t i = 0; i < a.size(); ++i) {
      bool want = std::isnan(a[i]) || std::isnan(b[i]) ? p.unordered
                  : a[i] < b[i]                        ? p.less
                  : a[i] > b[i]                        ? p.greater
                                                       : p.equal;
      EXPECT_EQ(bool(r[i]), want) << p.name << " " << a[i] << " " << b[i];
    }
  }
}

TEST(Floats, SignsAndClamps) {
  std::vector<float> x = {-3, -0.0f, 0.25f, 9, NAN, -INFINITY}, low(6, -1.0f), high(6, 0.5f), r(6), s(6), t(6), u(6);
  std::string text = R"(
    %r = arith.negf %a : tensor<6xf32>
    %s = math.absf %a : tensor<6xf32>
    %t = tt.clampf %a, %b, %c, propagateNan = none : tensor<6xf32>
    %u = tt.clampf %a, %b, %c, propagateNan = all : tensor<6xf32>)";
  Evaluation(elementwiseKernel(6, {"f32", "f32", "f32"}, {"f32", "f32", "f32", "f32"}, text))
      .buffer(x)
      .buffer(low)
      .buffer(high)
      .buffer(r)
      .buffer(s)
      .buffer(t)
      .buffer(u)
      .ok();
  EXPECT_EQ(r[0], 3);
  EXPECT_FALSE(std::signbit(r[1]));
  EXPECT_FALSE(std::signbit(s[1]));
  EXPECT_TRUE(std::isnan(r[4]) && std::isnan(s[4]));
  EXPECT_EQ(s[5], INFINITY);
  EXPECT_EQ(std::vector<float>(t.begin(), t.begin() + 4), (std::vector<float>{-1, -0.0f, 0.25f, 0.5f}));
  EXPECT_EQ(t[4], -1);
  EXPECT_EQ(t[5], -1);
  EXPECT_TRUE(std::isnan(u[4]));
  EXPECT_EQ(u[5], -1);
}

TEST(Floats, EightBitArithmetic) {
  // 1.75 * 1.75 = 3.0625 rounds to 3 in e4m3; 448 + 448 saturates; -0 is kept.
  using runtime::decodeFloat, runtime::encodeFloat;
  auto bits = [](double v) { return uint8_t(encodeFloat(FloatKind::F8E4M3FN, v)); };
  std::vector<uint8_t> a = {bits(1.75), bits(448), bits(-0.0), 0x7F}, b = {bits(1.75), bits(448), bits(1), bits(1)},
                       product(4), sum(4);
  Evaluation(
      elementwiseKernel(4, {"f8E4M3FN", "f8E4M3FN"}, {"f8E4M3FN", "f8E4M3FN"},
                        "%r = arith.mulf %a, %b : tensor<4xf8E4M3FN>\n%s = arith.addf %a, %b : tensor<4xf8E4M3FN>"))
      .buffer(a)
      .buffer(b)
      .buffer(product)
      .buffer(sum)
      .ok();
  EXPECT_EQ(product, (std::vector<uint8_t>{bits(3), bits(448), 0x80, 0x7F}));
  EXPECT_EQ(sum, (std::vector<uint8_t>{bits(3.5), bits(448), bits(1), 0x7F}));
}

} // namespace
} // namespace tessera
