// Functions of doubles that the C library lacks, for the expressions of ir/math_functions.def.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace tessera::runtime {

using std::numbers::pi;
using std::numbers::sqrt2;

/// Newton's iteration on erf from Winitzki's approximation.
inline double erfInverse(double y) {
  if (std::isnan(y) || y < -1 || y > 1) return std::numeric_limits<double>::quiet_NaN();
  if (y == 1 || y == -1) return std::copysign(std::numeric_limits<double>::infinity(), y);
  double l = std::log1p(-y * y), t = 2 / (pi * 0.147) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147) - t), y);
  for (int i = 0; i < 4; ++i) {
    double residual = y > 0 ? -(std::erfc(x) - (1 - y)) : std::erfc(-x) - (1 + y);
    double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x * x);
    if (slope == 0) break;
    x -= residual / slope;
  }
  return x;
}
/// The modified Bessel function of the first kind of that order, by its power series: all terms have the same sign, so
/// nothing cancels. (std::cyl_bessel_i throws for large arguments.)
inline double besselI(int order, double x) {
  if (std::isnan(x)) return x;
  double sign = order % 2 ? std::copysign(1.0, x) : 1.0;
  constexpr double overflows = 720;
  if (std::fabs(x) > overflows) return sign * std::numeric_limits<double>::infinity();
  long double half = std::fabs(x) / 2.0L, term = 1; // (x/2)^(order+2k) / (k! (order+k)!)
  for (int k = 1; k <= order; ++k) term *= half / k;
  long double sum = term;
  for (int k = 1; term > sum * std::numeric_limits<double>::epsilon() / 8; ++k) {
    term *= half / k * (half / (order + k));
    sum += term;
  }
  return sign * double(sum);
}
/// PTX's rcp.approx.ftz.f64 reads and writes the upper 32 bits of the doubles; subnormal numbers are zeros.
inline double reciprocalOfUpperBits(double x) {
  auto upper = [](double v) { return std::bit_cast<double>(std::bit_cast<uint64_t>(v) >> 32 << 32); };
  auto flushed = [](double v) { return std::fabs(v) < std::numeric_limits<double>::min() ? std::copysign(0.0, v) : v; };
  return upper(flushed(1 / flushed(upper(x))));
}
inline double normalCdf(double x) { return 0.5 * std::erfc(-x * sqrt2 / 2); }
inline double roundHalfEven(double x) {
  return std::fabs(x) < 0x1p52 ? std::copysign((std::fabs(x) + 0x1p52) - 0x1p52, x) : x;
}

// sin, cos and tan of pi * x: exact where the result is (at multiples of 1/2, with C23's signs of zeros and infinities;
// tan at odd multiples of 1/4, too), and elsewhere no further off than sin, cos and tan of at most pi / 4. The
// remainders are exact for any x.
inline double sinPi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  double r = std::fabs(std::remainder(x, 2.0)); // [0, 1]
  if (r > 0.5) r = 1 - r;
  double magnitude = r <= 0.25 ? std::sin(pi * r) : std::cos(pi * (0.5 - r));
  return r == 0 ? std::copysign(0.0, x) : std::copysign(magnitude, std::remainder(x, 2.0));
}
inline double cosPi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  double r = std::fabs(std::remainder(x, 2.0)); // [0, 1]
  if (r <= 0.25) return std::cos(pi * r);
  return r < 0.75 ? std::sin(pi * (0.5 - r)) : -std::cos(pi * (1 - r));
}
inline double tanPi(double x) {
  if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
  double r = std::remainder(x, 1.0); // [-1/2, 1/2]
  bool isOdd = std::remainder(std::floor(x), 2.0) != 0;
  if (r == 0) return std::copysign(0.0, isOdd ? -x : x);
  if (std::fabs(r) == 0.25) return std::copysign(1.0, r);
  if (std::fabs(r) == 0.5) return std::copysign(std::numeric_limits<double>::infinity(), isOdd ? -1.0 : 1.0);
  double magnitude = std::fabs(r) <= 0.25 ? std::tan(pi * std::fabs(r)) : 1 / std::tan(pi * (0.5 - std::fabs(r)));
  return std::copysign(magnitude, r);
}

} // namespace tessera::runtime
