// Random numbers that are a function of (stream, index) alone: element i of a buffer is the same whichever thread, host
// or device makes it. The mixing function is SplitMix64's (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", OOPSLA 2014); normals come from the inverse of the normal distribution (Wichura: "Algorithm AS 241",
// Applied Statistics 37, 1988), with a logarithm of our own, so that no mathematics library decides their last bits.
#pragma once
#include <cstdint>

namespace tessera::runtime {

class CounterRandom {
public:
  explicit CounterRandom(uint64_t stream);
  /// 64 random bits.
  uint64_t bits(uint64_t index) const;
  /// Uniform in [lo, hi). @pre lo < hi
  int64_t integer(uint64_t index, int64_t lo, int64_t hi) const;
  /// Standard normal, of 2^32 possible values within ±6.4.
  double normal(uint64_t index) const;

private:
  uint64_t key_;
};

/// The value below which a standard normal variable lies with this probability, to about 1e-15 relative.
/// @pre 1e-11 < p < 1 - 1e-11
double inverseNormal(double probability);

} // namespace tessera::runtime
