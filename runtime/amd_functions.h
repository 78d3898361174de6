// What single AMD instructions compute on one lane, where it is more than C++ has a function for. For the emulator,
// which executes LLVM's intrinsics of them, and for the executor of code objects.
// Source: AMD's ISA guides, the instruction's pages.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tessera::runtime::amd {

/// v_trig_preop_f64: 53 bits of 2/pi, from where the argument's exponent and the segment say (ISA guide,
/// V_TRIG_PREOP_F64; 1201 bits of the fraction are kept).
inline double trigPreop(double x, uint32_t segment) {
  static constexpr uint64_t kTwoOverPi[20] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
      0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000, 0};
  unsigned exponent = unsigned(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff), shift = (segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  uint64_t bits = 0;
  if (shift < 19 * 64) {
    unsigned word = shift / 64, by = shift % 64;
    bits = kTwoOverPi[word] << by;
    if (by) bits |= kTwoOverPi[word + 1] >> (64 - by);
  }
  return std::ldexp(double(bits >> 11), -53 - int(shift) + (exponent >= 1968 ? 128 : 0));
}

/// v_div_fixup: the quotient, with the sign that the operands give it, but where these are zero, infinite or NaN.
template <class T> T divisionFixup(T quotient, T denominator, T numerator) {
  T sign = std::copysign(T(1), denominator) * std::copysign(T(1), numerator);
  if (numerator != numerator) return numerator;
  if (denominator != denominator) return denominator;
  if ((denominator == 0 && numerator == 0) || (std::isinf(denominator) && std::isinf(numerator)))
    return std::numeric_limits<T>::quiet_NaN();
  if (denominator == 0 || std::isinf(numerator)) return sign * std::numeric_limits<T>::infinity();
  if (std::isinf(denominator) || numerator == 0) return sign * T(0);
  return std::copysign(quotient, sign);
}

/// v_perm_b32: bytes 0-3 of the second operand, 4-7 of the first; 8-11 signs, 12 zero, above that ones.
inline uint32_t permuteBytes(uint32_t high, uint32_t low, uint32_t selector) {
  uint64_t both = uint64_t(high) << 32 | low;
  uint32_t r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    unsigned s = selector >> (8 * k) & 0xff;
    uint32_t byte = s < 8     ? uint32_t(both >> (8 * s) & 0xff)
                    : s < 12  ? (both >> (16 * (s - 8) + 15) & 1 ? 0xff : 0)
                    : s == 12 ? 0
                              : 0xff;
    r |= byte << (8 * k);
  }
  return r;
}

} // namespace tessera::runtime::amd
