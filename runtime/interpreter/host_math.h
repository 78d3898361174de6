// Functions of doubles that the C library lacks, for the expressions of ir/math_functions.def.
#pragma once
#include <cmath>
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
inline double normalCdf(double x) { return 0.5 * std::erfc(-x * sqrt2 / 2); }
inline double roundHalfEven(double x) {
  return std::fabs(x) < 0x1p52 ? std::copysign((std::fabs(x) + 0x1p52) - 0x1p52, x) : x;
}

} // namespace tessera::runtime
