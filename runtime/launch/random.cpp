// Counter-based random numbers (see random.h).
#include "runtime/launch/random.h"
#include <bit>
#include <cmath>

// A fused multiply-add would give other last bits on hosts that have one.
#pragma STDC FP_CONTRACT OFF

namespace tessera::runtime {

static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ull;

CounterRandom::CounterRandom(uint64_t stream) : key_(mix((stream + 1) * kGolden)) {}
uint64_t CounterRandom::bits(uint64_t index) const { return mix(key_ + (index + 1) * kGolden); }

int64_t CounterRandom::integer(uint64_t index, int64_t lo, int64_t hi) const {
  uint64_t range = uint64_t(hi) - uint64_t(lo);
  return int64_t(uint64_t(lo) + uint64_t((unsigned __int128)(bits(index)) * range >> 64));
}

/// The natural logarithm of a positive normal number by basic arithmetic alone: x = m·2^e with m near 1, and the series
/// of 2·artanh((m - 1)/(m + 1)).
static double logarithm(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = int(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & ((uint64_t(1) << 52) - 1)) | uint64_t(1023) << 52);
  if (m > 1.4142135623730951) m *= 0.5, ++exponent;
  double s = (m - 1) / (m + 1), z = s * s, sum = 0; // |s| < 0.172, so z^12 is below 1e-18
  for (int k = 23; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return exponent * 0.6931471805599453 + 2 * s * sum;
}

double inverseNormal(double p) {
  double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    constexpr double a[] = {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
                            4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
                            1.3314166789178437745e+2, 3.3871328727963666080e+0};
    constexpr double b[] = {
        5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4,
        5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1.0};
    double r = 0.180625 - q * q, numerator = 0, denominator = 0;
    for (double c : a) numerator = numerator * r + c;
    for (double c : b) denominator = denominator * r + c;
    return q * numerator / denominator;
  }
  constexpr double c[] = {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
                          1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
                          4.63033784615654529590e+0, 1.42343711074968357734e+0};
  constexpr double d[] = {
      1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
      6.89767334985100004550e-1, 1.67638483018380384940e+0, 2.05319162663775882187e+0, 1.0};
  double r = std::sqrt(-logarithm(q < 0 ? p : 1 - p)) - 1.6, numerator = 0, denominator = 0;
  for (double x : c) numerator = numerator * r + x;
  for (double x : d) denominator = denominator * r + x;
  return q < 0 ? -numerator / denominator : numerator / denominator;
}

double CounterRandom::normal(uint64_t index) const {
  return inverseNormal((double(bits(index) >> 32) + 0.5) * (1.0 / 4294967296.0));
}

} // namespace tessera::runtime
