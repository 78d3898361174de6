// Single operations of the host in a rounding mode of <cfenv>: of inline PTX, and of device libraries.
#pragma once
#include <cfenv>

namespace tessera::runtime {

/// F(x, y, z) in type T, in that mode. The compiler must not evaluate it ahead of the mode, or behind it.
template <class T, auto F> double inMode(int rounding, double x, double y, double z) {
  volatile T p = T(x), q = T(y), r = T(z);
  if (rounding != FE_TONEAREST) fesetround(rounding);
  volatile T result = F(T(p), T(q), T(r));
  if (rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
  return double(result);
}

/// An integer as a float of type T, in that mode.
template <class T, class Integer> double integerInMode(int rounding, Integer value) {
  if (value == 0) return 0; // downwards, code for x86 makes -0 of an unsigned 0
  volatile Integer kept = value;
  if (rounding != FE_TONEAREST) fesetround(rounding);
  volatile T result = T(kept);
  if (rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
  return double(result);
}

} // namespace tessera::runtime
