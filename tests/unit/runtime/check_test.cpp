// Comparing outputs: the norm, its corner cases, and the line that people see.
#include "runtime/launch/check.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tessera::runtime {
namespace {

template <class T> llvm::ArrayRef<uint8_t> bytes(const std::vector<T> &v) {
  return {reinterpret_cast<const uint8_t *>(v.data()), v.size() * sizeof(T)};
}
template <class T>
CheckResult compare(DType t, const std::vector<T> &actual, const std::vector<T> &expected, double limit,
                    std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {int64_t(expected.size())};
  return compareArrays("o", t, shape, bytes(actual), bytes(expected), limit);
}
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

TEST(Check, RelativeNorm) {
  // ‖(0, 0, 0.5)‖ / ‖(2, 3, 6)‖ = 0.5 / 7
  auto r = compare<float>(DType::F32, {2, 3, 6.5}, {2, 3, 6}, 0.1);
  EXPECT_TRUE(r.ok);
  EXPECT_NEAR(r.relL2, 0.5 / 7, 1e-15);
  EXPECT_EQ(r.line, "ok   o: rel_l2 0.0714 (limit 0.1), 1 of 3 elements differ; worst at [2]: 6.5, expected 6");
  EXPECT_FALSE(compare<float>(DType::F32, {2, 3, 6.5}, {2, 3, 6}, 0.07).ok);
  EXPECT_TRUE(compare<double>(DType::F64, {4}, {2}, 1).ok) << "the limit itself passes";
}

TEST(Check, BitExact) {
  auto same = compare<float>(DType::F32, {1, -0.0f, kInf}, {1, -0.0f, kInf}, 0);
  EXPECT_TRUE(same.ok);
  EXPECT_EQ(same.line, "ok   o: bit-exact (must be bit-exact)");
  auto zero = compare<float>(DType::F32, {1, 0.0f}, {1, -0.0f}, 0);
  EXPECT_FALSE(zero.ok) << "the sign of zero is a bit too";
  EXPECT_EQ(zero.line, "FAIL o: rel_l2 0 (must be bit-exact), 1 of 2 elements differ; worst at [1]: 0, expected -0");
  EXPECT_TRUE(compare<float>(DType::F32, {1, 0.0f}, {1, -0.0f}, 1e-30).ok);
}

TEST(Check, NanNeverPasses) {
  EXPECT_FALSE(compare<float>(DType::F32, {1, kNan}, {1, kNan}, 0).ok) << "not even with the same bits";
  EXPECT_FALSE(compare<float>(DType::F32, {1, kNan}, {1, 2}, 1e30).ok);
  auto r = compare<float>(DType::F32, {9, 2, kNan, kNan}, {1, 2, 3, 4}, 1e30, {2, 2});
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.nans, 2);
  EXPECT_EQ(r.line,
            "FAIL o: rel_l2 3.58 (limit 1e+30), 3 of 4 elements differ, 2 NaN; first NaN at [1, 0]: nan, expected 3");
}

TEST(Check, InfinitiesMustMatch) {
  EXPECT_TRUE(compare<float>(DType::F32, {kInf, 1.01f}, {kInf, 1}, 0.1).ok);
  EXPECT_FALSE(compare<float>(DType::F32, {kInf, 2}, {kInf, 1}, 0.1).ok) << "an infinite norm must not hide the rest";
  EXPECT_FALSE(compare<float>(DType::F32, {-kInf}, {kInf}, 1e30).ok);
  EXPECT_FALSE(compare<float>(DType::F32, {3}, {kInf}, 1e30).ok);
  EXPECT_FALSE(compare<float>(DType::F32, {kInf}, {3}, 1e30).ok);
}

TEST(Check, ZeroReference) {
  EXPECT_TRUE(compare<float>(DType::F32, {0, 0}, {0, 0}, 1e-5).ok);
  auto r = compare<float>(DType::F32, {0, 1e-30f}, {0, 0}, 1e30);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.line, "FAIL o: rel_l2 inf (limit 1e+30), 1 of 2 elements differ; worst at [1]: 1e-30, expected 0");
}

TEST(Check, NormsNeitherOverflowNorUnderflow) {
  EXPECT_NEAR(compare<double>(DType::F64, {1.1e200, 1e200}, {1e200, 1e200}, 1).relL2, 0.1 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(compare<double>(DType::F64, {1.1e-200, 1e-200}, {1e-200, 1e-200}, 1).relL2, 0.1 / std::sqrt(2), 1e-12);
  EXPECT_FALSE(compare<double>(DType::F64, {1.7e308}, {-1.7e308}, 1e30).ok);
}

TEST(Check, IntegersAreComparedWithoutRounding) {
  int64_t big = (int64_t(1) << 60) + 1;
  auto r = compare<int64_t>(DType::I64, {big}, {big + 2}, 0);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.line, "FAIL o: rel_l2 1.73e-18 (must be bit-exact), 1 of 1 elements differ; worst at [0]: "
                    "1152921504606846977, expected 1152921504606846979");
  EXPECT_TRUE(compare<int32_t>(DType::I32, {-7, 3}, {-7, 3}, 0).ok);
  EXPECT_TRUE(compare<int32_t>(DType::I32, {-7, 1001}, {-7, 1000}, 0.01).ok);
  EXPECT_FALSE(compare<uint64_t>(DType::U64, {0}, {~uint64_t(0)}, 0.5).ok);
}

TEST(Check, SizesAndEmptyArrays) {
  auto r = compareArrays("o", DType::F32, {2}, bytes<float>({1}), bytes<float>({1, 2}), 0);
  EXPECT_FALSE(r.ok);
  EXPECT_EQ(r.line, "FAIL o: 4 bytes came out and 8 are expected, but the shape has 8");
  EXPECT_TRUE(compareArrays("o", DType::F32, {0, 4}, {}, {}, 0).ok);
  auto scalar = compareArrays("o", DType::F32, {}, bytes<float>({1}), bytes<float>({2}), 0);
  EXPECT_EQ(scalar.line, "FAIL o: rel_l2 0.5 (must be bit-exact), 1 of 1 elements differ; worst at []: 1, expected 2");
}

TEST(Check, SmallFloatsPrintEnoughDigits) {
  std::vector<uint16_t> a{0x3C01}, e{0x3C00};
  auto r = compareArrays("o", DType::F16, {1}, bytes(a), bytes(e), 0);
  EXPECT_EQ(r.line,
            "FAIL o: rel_l2 0.000977 (must be bit-exact), 1 of 1 elements differ; worst at [0]: 1.00098, expected 1");
}

} // namespace
} // namespace tessera::runtime
