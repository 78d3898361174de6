// Conversions of floating-point patterns (see float_formats.h). A format is its mantissa width, bias and special
// patterns; rounding scales the number so that the format's unit is 1, rounds to an integer, and that integer plus
// the exponent field is the pattern: carries into the exponent come out right by themselves.
#include "runtime/float_formats.h"
#include <array>
#include <cmath>

namespace tessera::runtime {
using ir::FloatKind;

namespace {

struct Format {
  unsigned width, mantissa;
  int bias;
  uint64_t largest; // the pattern of the largest finite value
  uint64_t nan;     // the pattern that conversions give for NaN
  bool hasInfinity; // largest + 1 is infinity, and larger patterns are NaNs
  bool fnuz;        // no negative zero: its pattern is the only NaN
};

constexpr Format formatOf(FloatKind k) {
  switch (k) {
  case FloatKind::F16: return {16, 10, 15, 0x7BFF, 0x7FFF, true, false};
  case FloatKind::BF16: return {16, 7, 127, 0x7F7F, 0x7FFF, true, false};
  case FloatKind::F32: return {32, 23, 127, 0x7F7FFFFF, 0x7FFFFFFF, true, false};
  case FloatKind::F64: return {64, 52, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFFF, true, false};
  case FloatKind::F8E4M3FN: return {8, 3, 7, 0x7E, 0x7F, false, false};
  case FloatKind::F8E4M3FNUZ: return {8, 3, 8, 0x7F, 0x80, false, true};
  case FloatKind::F8E4M3B11FNUZ: return {8, 3, 11, 0x7F, 0x80, false, true};
  case FloatKind::F8E5M2: return {8, 2, 15, 0x7B, 0x7F, true, false};
  case FloatKind::F8E5M2FNUZ: return {8, 2, 16, 0x7F, 0x80, false, true};
  }
  return {};
}

double decodeSmall(const Format &f, uint64_t bits) {
  uint64_t sign = bits >> (f.width - 1) & 1, a = bits & ((uint64_t(1) << (f.width - 1)) - 1);
  if (f.fnuz ? sign && a == 0 : a > f.largest + f.hasInfinity) return std::numeric_limits<double>::quiet_NaN();
  double v;
  if (f.hasInfinity && a == f.largest + 1)
    v = std::numeric_limits<double>::infinity();
  else {
    int exponent = int(a >> f.mantissa);
    double m = double(a & ((uint64_t(1) << f.mantissa) - 1));
    if (exponent) m += double(uint64_t(1) << f.mantissa);
    v = std::ldexp(m, (exponent ? exponent : 1) - f.bias - int(f.mantissa));
  }
  return sign ? -v : v;
}

using Table = std::array<double, 256>;
Table tableOf(FloatKind k) {
  Table t;
  for (unsigned i = 0; i < 256; ++i) t[i] = decodeSmall(formatOf(k), i);
  return t;
}
const Table &table(FloatKind k) {
  static const Table tables[] = {tableOf(FloatKind::F8E4M3FN), tableOf(FloatKind::F8E4M3FNUZ),
                                 tableOf(FloatKind::F8E4M3B11FNUZ), tableOf(FloatKind::F8E5M2),
                                 tableOf(FloatKind::F8E5M2FNUZ)};
  switch (k) {
  case FloatKind::F8E4M3FN: return tables[0];
  case FloatKind::F8E4M3FNUZ: return tables[1];
  case FloatKind::F8E4M3B11FNUZ: return tables[2];
  case FloatKind::F8E5M2: return tables[3];
  default: return tables[4];
  }
}

} // namespace

double decodeFloat(FloatKind k, uint64_t bits) {
  switch (k) {
  case FloatKind::F16: return decodeHalf(uint16_t(bits));
  case FloatKind::BF16: return decodeBfloat(uint16_t(bits));
  case FloatKind::F32: return std::bit_cast<float>(uint32_t(bits));
  case FloatKind::F64: return std::bit_cast<double>(bits);
  default: return table(k)[bits & 0xFF];
  }
}

uint64_t encodeFloat(FloatKind k, double v, Rounding rounding) {
  if (k == FloatKind::F64) return std::bit_cast<uint64_t>(v);
  if (k == FloatKind::F32 && rounding == Rounding::NearestEven) return std::bit_cast<uint32_t>(float(v));
  const Format f = formatOf(k);
  if (std::isnan(v)) return f.nan;
  uint64_t sign = uint64_t(std::signbit(v)) << (f.width - 1);
  double a = std::fabs(v);
  bool saturates = f.width == 8;
  uint64_t result;
  if (std::isinf(a)) {
    bool keep = f.hasInfinity && (!saturates || rounding == Rounding::TowardZero);
    result = f.largest + keep;
  } else {
    int exponent = std::max(int(std::bit_cast<uint64_t>(a) >> 52) - 1023, 1 - f.bias);
    // Units of the last place: a / 2^(exponent - mantissa), exact, below 2^(mantissa + 1).
    double units = a * std::bit_cast<double>(uint64_t(1023 - (exponent - int(f.mantissa))) << 52);
    double whole = rounding == Rounding::TowardZero ? std::trunc(units) : (units + 0x1p52) - 0x1p52;
    // A normal number's units hold the implicit bit, which adds the one that the exponent field lacks here.
    result = (uint64_t(exponent + f.bias - 1) << f.mantissa) + uint64_t(whole);
    if (result > f.largest) result = f.largest + (f.hasInfinity && !saturates && rounding == Rounding::NearestEven);
  }
  if (f.fnuz && result == 0) return 0;
  return result | sign;
}

uint64_t quietNan(FloatKind k) {
  const Format f = formatOf(k);
  return f.hasInfinity ? (f.largest + 1) | uint64_t(1) << (f.mantissa - 1) : f.nan;
}

} // namespace tessera::runtime
