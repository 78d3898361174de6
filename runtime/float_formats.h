// Conversions between bit patterns of the IR's floating-point formats and the host's float and double, exact or rounded
// once. Every format up to f32 is a subset of double, so conversions go through `double`; f64 is the double itself.
//
// The interpreter (the oracle) and the emulator (which executes the lowered code that the oracle judges) share this
// file: the formats are data of the manuals, not a decision of either. A mistake here would hide from a comparison of
// the two, so it is checked against LLVM's APFloat: for every pattern of the formats of at most 16 bits and for numbers
// around every rounding boundary (tests/unit/runtime_interpreter/float_formats_test.cpp). The expected values of the
// conformance suite come from `runtime/launch/dtype.h`, which does not use this file.
//
// Rounding is to nearest even, or towards zero on request. What a format cannot hold:
//   f16 bf16 f32  too large to nearest: infinity; towards zero: the largest finite value
//   8-bit kinds   saturate to the largest finite value, infinities too, as PTX's cvt.rn.satfinite does (PTX ISA, "Data
//                 Movement and Conversion Instructions: cvt"); only e5m2 rounded towards zero keeps infinity
//   NaN           becomes the format's canonical NaN with all mantissa bits set (0x7f, 0x7fff); the FNUZ kinds' is 0x80
#pragma once
#include "ir/type.h"
#include <bit>
#include <cstdint>

namespace tessera::runtime {

enum class Rounding : uint8_t { NearestEven, TowardZero };

/// The number that a pattern stands for, exactly. @pre the format is not wider than 64 bits
double decodeFloat(ir::FloatKind, uint64_t bits);
/// The pattern of a number in a format, rounded once.
uint64_t encodeFloat(ir::FloatKind, double, Rounding = Rounding::NearestEven);
/// The NaN that out-of-bounds elements of a block read as: quiet, positive, no payload (0x7e00, 0x7fc0, 0x7e, 0x7f),
/// as constants of LLVM are. Which bits the fill of a tensor map has is not documented ("special NaN constant", CUDA
/// driver API, cuTensorMapEncodeTiled), so kernels do not depend on them.
uint64_t quietNan(ir::FloatKind);

/// A double from which rounding to any format of at most 51 bits of precision gives what rounding the sum high + low
/// itself would: high with its last bit set ("round to odd") when low is not zero. @pre high = the sum rounded to
/// nearest
inline double roundToOdd(double high, double low) {
  if (low == 0 || !(high - high == 0)) return high;
  auto bits = std::bit_cast<uint64_t>(high);
  if (bits & 1) return high;
  // The exact sum lies strictly between high and a neighbour, which is odd.
  bool away = (low > 0) == (high > 0) || high == 0;
  if (high == 0) return low;
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

/// The 4-bit floats e2m1 (OCP Microscaling Formats, "FP4").
inline double decodeE2m1(unsigned bits) {
  constexpr double kMagnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return bits & 8 ? -kMagnitudes[bits & 7] : kMagnitudes[bits & 7];
}
inline float decodeHalf(uint16_t h) {
  // Exponent and mantissa moved to their place in an f32 and scaled by 2^112 corrects the bias, subnormals included.
  float f = std::bit_cast<float>(uint32_t(h & 0x7FFF) << 13) * 0x1p112f;
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((h & 0x7C00) == 0x7C00) bits = 0x7F800000 | uint32_t(h & 0x3FF) << 13;
  return std::bit_cast<float>(bits | uint32_t(h & 0x8000) << 16);
}
inline uint16_t encodeHalf(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f), sign = bits >> 16 & 0x8000, a = bits & 0x7FFFFFFF;
  if (a > 0x7F800000) return 0x7FFF;
  if (a >= 0x47800000) return uint16_t(sign | 0x7C00); // 2^16 and more; values just below round up by themselves
  // Below 2^-14 the result's unit is 2^-24, which is that of a float near 0.5: adding 0.5 rounds there.
  if (a < 0x38800000) return uint16_t(sign | (std::bit_cast<uint32_t>(std::bit_cast<float>(a) + 0.5f) - 0x3F000000));
  return uint16_t(sign | (a - 0x38000000 + 0xFFF + (a >> 13 & 1)) >> 13);
}
inline float decodeBfloat(uint16_t b) { return std::bit_cast<float>(uint32_t(b) << 16); }
inline uint16_t encodeBfloat(float f) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return 0x7FFF;
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/// An f32 with 10 mantissa bits, as a tf32 matrix unit reads it: rounded to nearest with ties away from zero (PTX
/// cvt.rna.tf32.f32) or with the low bits dropped.
inline float roundToTf32(float f, bool truncate) {
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if ((bits & 0x7F800000) == 0x7F800000) return f;
  return std::bit_cast<float>((truncate ? bits : bits + 0x1000) & ~0x1FFFu);
}

} // namespace tessera::runtime
