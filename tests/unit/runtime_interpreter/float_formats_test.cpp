// The float formats against APFloat: every pattern of every format of at most 16 bits, and roundings of numbers chosen
// around every boundary of the narrow ones.
#include "runtime/float_formats.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tessera::runtime {
namespace {
using ir::FloatKind;
using llvm::APFloat;

const FloatKind kNarrow[] = {FloatKind::F16,           FloatKind::BF16,   FloatKind::F8E4M3FN,  FloatKind::F8E4M3FNUZ,
                             FloatKind::F8E4M3B11FNUZ, FloatKind::F8E5M2, FloatKind::F8E5M2FNUZ};

unsigned bitsOf(FloatKind k) { return APFloat::semanticsSizeInBits(ir::FloatType::semantics(k)); }
APFloat valueOf(FloatKind k, uint64_t bits) {
  return APFloat(ir::FloatType::semantics(k), llvm::APInt(bitsOf(k), bits));
}
double decoded(FloatKind k, uint64_t bits) {
  APFloat f = valueOf(k, bits);
  bool lost;
  f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  EXPECT_FALSE(lost && !f.isNaN());
  return f.convertToDouble();
}

TEST(FloatFormats, EveryPatternDecodes) {
  for (FloatKind k : kNarrow)
    for (uint64_t bits = 0; bits < uint64_t(1) << bitsOf(k); ++bits) {
      double want = decoded(k, bits), got = decodeFloat(k, bits);
      if (std::isnan(want))
        ASSERT_TRUE(std::isnan(got)) << int(k) << " " << bits;
      else
        ASSERT_EQ(std::bit_cast<uint64_t>(want), std::bit_cast<uint64_t>(got)) << int(k) << " " << bits;
    }
}

/// What encodeFloat promises, by way of APFloat.
uint64_t expected(FloatKind k, double v, Rounding rounding) {
  auto &semantics = ir::FloatType::semantics(k);
  auto mode = rounding == Rounding::TowardZero ? APFloat::rmTowardZero : APFloat::rmNearestTiesToEven;
  APFloat largest = APFloat::getLargest(semantics, std::signbit(v));
  if (bitsOf(k) == 8) {
    bool keepsInfinity = k == FloatKind::F8E5M2 && rounding == Rounding::TowardZero && std::isinf(v);
    double limit = decoded(k, largest.bitcastToAPInt().getZExtValue());
    if (!keepsInfinity && std::fabs(v) > std::fabs(limit)) return largest.bitcastToAPInt().getZExtValue();
  }
  APFloat f(v);
  bool lost;
  f.convert(semantics, mode, &lost);
  return f.bitcastToAPInt().getZExtValue();
}

TEST(FloatFormats, RoundsAsApfloat) {
  std::mt19937_64 random(1);
  for (FloatKind k : kNarrow) {
    std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, 1e300, -1e300, 1e-300, 5e-324};
    uint64_t step = bitsOf(k) == 8 ? 1 : 7;
    for (uint64_t bits = 0; bits < uint64_t(1) << bitsOf(k); bits += step) {
      double x = decodeFloat(k, bits), y = decodeFloat(k, (bits + 1) & ((uint64_t(1) << bitsOf(k)) - 1));
      if (!std::isfinite(x) || !std::isfinite(y)) continue;
      double middle = x + (y - x) / 2;
      for (double v : {x, middle, std::nextafter(middle, 1e30), std::nextafter(middle, -1e30), x * 1.01})
        values.push_back(v);
    }
    for (int i = 0; i < 20000; ++i) values.push_back(std::bit_cast<float>(uint32_t(random())));
    for (double v : values) {
      if (std::isnan(v)) continue;
      for (auto rounding : {Rounding::NearestEven, Rounding::TowardZero})
        ASSERT_EQ(expected(k, v, rounding), encodeFloat(k, v, rounding))
            << "format " << int(k) << " of " << v << " " << std::hexfloat << v << " towards zero: " << int(rounding);
      if (v == double(float(v)) && k == FloatKind::F16) ASSERT_EQ(encodeHalf(float(v)), encodeFloat(k, v)) << v;
      if (v == double(float(v)) && k == FloatKind::BF16) ASSERT_EQ(encodeBfloat(float(v)), encodeFloat(k, v)) << v;
    }
  }
}

TEST(FloatFormats, NanStaysNan) {
  for (FloatKind k : kNarrow) EXPECT_TRUE(std::isnan(decodeFloat(k, encodeFloat(k, NAN))));
  EXPECT_EQ(encodeFloat(FloatKind::F8E4M3FN, NAN), 0x7Fu);
  EXPECT_EQ(encodeFloat(FloatKind::F8E5M2FNUZ, NAN), 0x80u);
  EXPECT_EQ(encodeFloat(FloatKind::F8E4M3FNUZ, -0.0), 0u);
}

TEST(FloatFormats, PaddingIsTheQuietNanWithoutPayload) {
  struct {
    FloatKind kind;
    uint64_t bits;
  } want[] = {{FloatKind::F16, 0x7e00},          {FloatKind::BF16, 0x7fc0},   {FloatKind::F32, 0x7fc00000},
              {FloatKind::F64, 0x7ff8ull << 48}, {FloatKind::F8E4M3FN, 0x7f}, {FloatKind::F8E5M2, 0x7e},
              {FloatKind::F8E4M3FNUZ, 0x80}};
  for (auto &w : want) EXPECT_EQ(quietNan(w.kind), w.bits);
}
TEST(FloatFormats, RoundingToOddKeepsTheSecondRoundingRight) {
  // 1 + 2^-11 lies halfway between two halves, and a little more must round up although the double cannot hold it.
  double high = 1 + 0x1p-11, low = 0x1p-60;
  EXPECT_EQ(encodeFloat(FloatKind::F16, roundToOdd(high, low)), encodeFloat(FloatKind::F16, 1 + 0x1p-10));
  EXPECT_EQ(encodeFloat(FloatKind::F16, roundToOdd(high, -low)), encodeFloat(FloatKind::F16, 1));
  EXPECT_EQ(encodeFloat(FloatKind::F16, roundToOdd(-high, -low)), encodeFloat(FloatKind::F16, -1 - 0x1p-10));
}

TEST(FloatFormats, Tf32) {
  EXPECT_EQ(roundToTf32(1 + 0x1p-11f, false), 1 + 0x1p-10f);
  EXPECT_EQ(roundToTf32(1 + 0x1p-11f, true), 1);
  EXPECT_EQ(roundToTf32(-1 - 0x1p-11f, false), -1 - 0x1p-10f);
  EXPECT_TRUE(std::isinf(roundToTf32(INFINITY, false)));
}

} // namespace
} // namespace tessera::runtime
