// Element types: names, and conversions held against APFloat for every bit pattern and around every rounding boundary.
#include "runtime/launch/dtype.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace tessera::runtime {
namespace {

using llvm::APFloat;

struct Format {
  const char *name;
  const llvm::fltSemantics &semantics;
};
const Format kSmallFloats[] = {
    {"f16", APFloat::IEEEhalf()},
    {"bf16", APFloat::BFloat()},
    {"f8E4M3FN", APFloat::Float8E4M3FN()},
    {"f8E4M3FNUZ", APFloat::Float8E4M3FNUZ()},
    {"f8E5M2", APFloat::Float8E5M2()},
    {"f8E5M2FNUZ", APFloat::Float8E5M2FNUZ()},
    {"f8E4M3B11FNUZ", APFloat::Float8E4M3B11FNUZ()},
    {"f8E4M3", APFloat::Float8E4M3()},
    {"f8E3M4", APFloat::Float8E3M4()},
    {"f8E8M0FNU", APFloat::Float8E8M0FNU()},
};

uint64_t apFromDouble(const llvm::fltSemantics &s, double v) {
  APFloat f(v);
  bool lost;
  f.convert(s, APFloat::rmNearestTiesToEven, &lost);
  return f.bitcastToAPInt().getZExtValue();
}

TEST(DType, NamesRoundTrip) {
  for (unsigned i = 0; i < kDTypeCount; ++i) EXPECT_EQ(parseDType(dtypeName(DType(i))), DType(i));
  EXPECT_FALSE(parseDType("float32"));
  EXPECT_FALSE(parseDType(""));
}

TEST(DType, SmallFloatsAgreeWithAPFloatOnEveryBitPattern) {
  for (auto &format : kSmallFloats) {
    DType t = *parseDType(format.name);
    unsigned bits = dtypeBytes(t) * 8;
    for (uint64_t b = 0; b < (uint64_t(1) << bits); ++b) {
      APFloat f(format.semantics, llvm::APInt(bits, b));
      bool lost;
      f.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      double expected = f.convertToDouble(), actual = toDouble(t, &b);
      ASSERT_TRUE(std::isnan(expected) ? std::isnan(actual)
                                       : expected == actual && std::signbit(expected) == std::signbit(actual))
          << format.name << " bits " << b;
      if (std::isnan(expected)) continue;
      // The value, its neighbours in double, and the points half way to the next value and beside it.
      double step = std::abs(expected) / 1024 + 1e-12;
      for (double v : {expected, std::nextafter(expected, 1e300), std::nextafter(expected, -1e300), expected + step,
                       expected - step, expected * (1 + 1.0 / 4096), expected * 1.0625, expected * 1.03125}) {
        uint64_t out = 0;
        fromDouble(t, v, &out);
        ASSERT_EQ(out, apFromDouble(format.semantics, v)) << format.name << " value " << v;
      }
    }
  }
}

TEST(DType, SmallFloatsRoundHalfwayPointsToEven) {
  for (auto &format : kSmallFloats) {
    DType t = *parseDType(format.name);
    unsigned bits = dtypeBytes(t) * 8;
    for (uint64_t b = 0; b + 1 < (uint64_t(1) << bits); ++b) {
      uint64_t next = b + 1;
      double middle = toDouble(t, &b) / 2 + toDouble(t, &next) / 2;
      if (std::isnan(middle)) continue;
      uint64_t out = 0;
      fromDouble(t, middle, &out);
      ASSERT_EQ(out, apFromDouble(format.semantics, middle)) << format.name << " between " << b << " and " << next;
    }
  }
}

template <class T> T convert(DType t, double v) {
  T out;
  fromDouble(t, v, &out);
  return out;
}

TEST(DType, IntegersTruncateAndWrap) {
  EXPECT_EQ(convert<int8_t>(DType::I8, -1.9), -1);
  EXPECT_EQ(convert<uint8_t>(DType::U8, 257), 1);
  EXPECT_EQ(convert<int32_t>(DType::I32, -2147483648.0), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(convert<uint64_t>(DType::U64, 18446744073709549568.0), 18446744073709549568ull);
  EXPECT_EQ(convert<uint64_t>(DType::U64, 1e300), ~uint64_t(0));
  EXPECT_EQ(convert<int64_t>(DType::I64, -1e300), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(convert<int32_t>(DType::I32, std::nan("")), 0);
  EXPECT_EQ(convert<uint8_t>(DType::I1, 0.5), 1);
  uint8_t poison = 0xFF;
  EXPECT_EQ(toDouble(DType::I1, &poison), 1);
  EXPECT_EQ(toDouble(DType::I8, &poison), -1);
  EXPECT_EQ(toDouble(DType::U8, &poison), 255);
  EXPECT_TRUE(std::isinf(convert<float>(DType::F32, 1e300)));
  EXPECT_EQ(convert<float>(DType::F32, 3.4028235e38), std::numeric_limits<float>::max());
}

TEST(DType, HoldsExactly) {
  EXPECT_TRUE(holdsExactly(DType::I8, -128));
  EXPECT_FALSE(holdsExactly(DType::I8, 128));
  EXPECT_FALSE(holdsExactly(DType::I32, 0.5));
  EXPECT_FALSE(holdsExactly(DType::U16, -1));
  EXPECT_FALSE(holdsExactly(DType::I64, std::ldexp(1.0, 63)));
  EXPECT_TRUE(holdsExactly(DType::U64, std::ldexp(1.0, 63)));
  EXPECT_FALSE(holdsExactly(DType::I1, 2));
  EXPECT_TRUE(holdsExactly(DType::F16, 1e30));
  EXPECT_FALSE(holdsExactly(DType::I32, std::nan("")));
}

} // namespace
} // namespace tessera::runtime
