// Elementwise conversions between integers, between floating-point formats, and between the two.
#include "runtime/interpreter/elementwise_functions.h"
#include "runtime/interpreter/lane_loops.h"

namespace tessera::runtime::elementwise {
using namespace ir;

// ---- integers ----

Lanes signExtendLanes(LanePool &p, const Lanes &a, unsigned from, unsigned to) {
  if (from <= 64 && to <= 64) {
    Lanes wide = map<uint64_t>(p, resize(p, a, 8),
                               [=](uint64_t x) -> uint64_t { return zeroExtend(uint64_t(signExtend(x, from)), to); });
    return fit(p, wide, to);
  }
  return map<UInt128>(p, resize(p, a, 16), [=](UInt128 x) -> UInt128 {
    Ints<UInt128, false> source{from}, result{to};
    return result.cutSigned(source.s(x));
  });
}

Lanes zeroExtendLanes(LanePool &p, const Lanes &a, unsigned to) {
  if (to > 64)
    return map<UInt128>(p, resize(p, a, 16), [=](UInt128 x) -> UInt128 { return Ints<UInt128, false>{to}.cut(x); });
  return fit(p, map<uint64_t>(p, resize(p, a, 8), [=](uint64_t x) -> uint64_t { return zeroExtend(x, to); }), to);
}

// ---- floats ----

Lanes convertFloat(LanePool &p, const Lanes &a, FloatKind from, FloatKind to, Rounding rounding) {
  if (from == to) return a;
  if (from == FloatKind::F32 && rounding == Rounding::NearestEven) {
    if (to == FloatKind::F16) return map<uint32_t>(p, a, [](uint32_t x) { return encodeHalf(F32::get(x)); });
    if (to == FloatKind::BF16) return map<uint32_t>(p, a, [](uint32_t x) { return encodeBfloat(F32::get(x)); });
  }
  if (to == FloatKind::F32 && from == FloatKind::F16)
    return map<uint16_t>(p, a, [](uint16_t x) { return F32::put(decodeHalf(x)); });
  if (to == FloatKind::F32 && from == FloatKind::BF16)
    return map<uint16_t>(p, a, [](uint16_t x) { return F32::put(decodeBfloat(x)); });
  return withFloat(from, [&](auto source) {
    return withFloat(to, [&](auto result) {
      using B = typename decltype(source)::Bits;
      using R = typename decltype(result)::Bits;
      return map<B>(p, a, [=](B x) -> R { return R(encodeFloat(to, source.get(x), rounding)); });
    });
  });
}

Lanes fromE2m1(LanePool &p, const Lanes &bytes, bool high, FloatKind to) {
  return withFloat(to, [&](auto result) {
    using R = typename decltype(result)::Bits;
    return map<uint8_t>(p, bytes,
                        [=](uint8_t x) -> R { return R(encodeFloat(to, decodeE2m1(high ? x >> 4 : x & 15))); });
  });
}

/// An integer as a double that rounds to any narrower format as the integer itself does.
static double integerToDouble(UInt128 magnitude, bool negative) {
  auto rounded = double(magnitude); // at most 2^128, so that the difference below is exact in the integers
  double low = rounded >= 0x1p127 * 2 ? -1 : UInt128(rounded) > magnitude ? -1 : UInt128(rounded) < magnitude ? 1 : 0;
  double v = roundToOdd(rounded, low);
  return negative ? -v : v;
}

Lanes integerToFloat(LanePool &p, const Lanes &a, unsigned w, bool isSigned, FloatKind to) {
  // The narrow kinds take the way through f32, as in compiled code: wide integers are rounded twice.
  if (to != FloatKind::F32 && to != FloatKind::F64) {
    Lanes single = integerToFloat(p, a, w, isSigned, FloatKind::F32);
    return convertFloat(p, single, FloatKind::F32, to, Rounding::NearestEven);
  }
  auto each = [&](auto convert) {
    return withWord(a.width(), [&](auto zero) {
      using U = decltype(zero);
      return withFloat(to, [&](auto format) {
        using R = typename decltype(format)::Bits;
        return map<U>(p, a, [&](U x) -> R { return R(convert(x)); });
      });
    });
  };
  if (w <= 64 && to == FloatKind::F64)
    return each([=](auto x) {
      return isSigned ? F64::put(double(signExtend(uint64_t(x), w))) : F64::put(double(uint64_t(x)));
    });
  if (w <= 64 && to == FloatKind::F32)
    return each(
        [=](auto x) { return isSigned ? F32::put(float(signExtend(uint64_t(x), w))) : F32::put(float(uint64_t(x))); });
  return each([=](auto x) {
    auto v = UInt128(x);
    bool negative = isSigned && (v >> (w - 1) & 1);
    if (negative) v = Ints<UInt128, false>{w}.cut(UInt128(0) - v);
    if (to == FloatKind::F64) return F64::put(negative ? -double(v) : double(v));
    return encodeFloat(to, integerToDouble(v, negative));
  });
}

UInt128 toInteger(double v, unsigned w, bool isSigned) {
  if (std::isnan(v)) return 0;
  // PTX converts to 16 bits at least; what is narrower keeps the low ones.
  unsigned width = std::max(w, 16u);
  Ints<UInt128, false> ints{width}, narrow{w};
  double high = std::ldexp(1.0, isSigned ? width - 1 : width), low = isSigned ? -high : 0;
  UInt128 r;
  if (v <= low)
    r = isSigned ? UInt128(1) << (width - 1) : 0;
  else if (v >= high)
    r = isSigned ? (UInt128(1) << (width - 1)) - 1 : ints.cut(~UInt128(0));
  else
    r = v < 0 ? ints.cut(UInt128(Int128(v))) : UInt128(v);
  return narrow.cut(r);
}

Lanes floatToInteger(LanePool &p, const Lanes &a, FloatKind from, unsigned w, bool isSigned) {
  if (from == FloatKind::F32 && w == 32 && isSigned)
    return map<uint32_t>(p, a, [](uint32_t x) -> uint32_t {
      float v = F32::get(x);
      return std::isnan(v) ? 0 : v >= 0x1p31f ? 0x7FFFFFFFu : v < -0x1p31f ? 0x80000000u : uint32_t(int32_t(v));
    });
  return withFloat(from, [&](auto format) {
    using B = typename decltype(format)::Bits;
    unsigned bits = 8;
    while (bits < w) bits *= 2;
    return withWord(bits / 8, [&](auto zero) {
      return map<B>(p, a, [=](B x) { return decltype(zero)(toInteger(double(format.get(x)), w, isSigned)); });
    });
  });
}

} // namespace tessera::runtime::elementwise
