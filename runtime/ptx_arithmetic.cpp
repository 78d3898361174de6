// What PTX's instructions compute (see ptx_arithmetic.h): a table with one row for each instruction, by its name, the
// kinds of its type and the number of its operands. ptx_modifiers.cpp reads an instruction's name.
#include "runtime/ptx_arithmetic.h"
#include "runtime/float_formats.h"
#include "runtime/ptx_rows.h"
#include "runtime/rounding_mode.h"
#include <algorithm>
#include <cmath>

#pragma STDC FP_CONTRACT OFF

namespace tessera::inline_ptx {
using namespace llvm;
using ir::FloatKind;
using runtime::inMode;
using runtime::integerInMode;

namespace {

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpedantic"
using u128 = unsigned __int128;
using i128 = __int128;
#pragma clang diagnostic pop

int64_t asSigned(uint64_t v, unsigned bits) { return int64_t(v << (64 - bits)) >> (64 - bits); }
uint64_t cut(uint64_t v, unsigned bits) { return bits >= 64 ? v : v & ((uint64_t(1) << bits) - 1); }

// ---- floats ----

FloatKind kindOf(const Type &t) {
  switch (t.kind) {
  case 'h': return FloatKind::F16;
  case 'y': return FloatKind::BF16;
  case 'e': return FloatKind::F8E4M3FN;
  case 'm': return FloatKind::F8E5M2;
  default: return t.bits == 64 ? FloatKind::F64 : FloatKind::F32;
  }
}
// e2m1 has no infinities and no NaN, which becomes the greatest number ("Data Movement and Conversion Instructions:
// cvt").
constexpr double kE2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
double decodeE2M1(uint64_t v) { return v & 8 ? -kE2M1[v & 7] : kE2M1[v & 7]; }
uint64_t encodeE2M1(double x) {
  if (std::isnan(x)) return 7;
  double magnitude = std::fabs(x);
  uint64_t code = 0;
  for (; code < 7; ++code) {
    double middle = (kE2M1[code] + kE2M1[code + 1]) / 2;
    bool isUp = magnitude > middle || (magnitude == middle && code % 2);
    if (!isUp) break;
  }
  return code | (std::signbit(x) ? 8 : 0);
}

// ue8m0: powers of two from 2^-127 to 2^127, and NaN, in one byte; a sign has no effect.
constexpr uint64_t kPowerNaN = 0xff;
double decodePower(uint64_t v) { return v == kPowerNaN ? NAN : std::ldexp(1.0, int(v) - 127); }
/// `isUp`: to the next power, otherwise to the one below. What is above all of them is NaN unless it is `finite`.
uint64_t encodePower(double x, bool isUp, bool finite) {
  if (std::isnan(x)) return kPowerNaN;
  double magnitude = std::fabs(x);
  if (magnitude <= 0x1p-127) return 0;
  int exponent = std::isinf(magnitude) ? 128 : std::ilogb(magnitude);
  if (isUp && exponent < 128 && std::ldexp(1.0, exponent) != magnitude) ++exponent;
  return exponent < 128 ? uint64_t(exponent + 127) : finite ? kPowerNaN - 1 : kPowerNaN;
}

double valueOf(const Type &t, uint64_t v) {
  if (t.kind == 'k') return decodePower(cut(v, t.bits));
  return t.kind == 'q' ? decodeE2M1(v) : runtime::decodeFloat(kindOf(t), cut(v, t.bits));
}
uint64_t patternOf(const Type &t, double x) {
  if (t.kind == 'q') return encodeE2M1(x);
  if (std::isnan(x) && t.kind == 'f' && t.bits == 32) return 0x7fffffff; // the canonical NaN ("Floating Point …")
  return runtime::encodeFloat(kindOf(t), x);
}

/// Subnormals become zeros of their sign (.ftz), which f64 never has.
double flushed(const Type &t, double x) {
  double least = t.kind == 'h' ? 0x1p-14 : 0x1p-126;
  return t.bits == 64 || std::fabs(x) >= least ? x : std::copysign(0.0, x);
}
double operandOf(const Operation &o, uint64_t v) {
  double x = valueOf(o.type, v);
  return o.ftz ? flushed(o.type, x) : x;
}
/// The result's pattern; `x` is in the type's precision, or is to be rounded to nearest.
uint64_t resultOf(const Operation &o, double x) {
  uint64_t bits = patternOf(o.type, x);
  double r = valueOf(o.type, bits);
  if (o.ftz) r = flushed(o.type, r);
  if (o.saturate) r = std::isnan(r) ? 0 : std::clamp(r, 0.0, 1.0);
  if (o.relu && r <= 0) r = 0;
  return std::isnan(r) ? bits : patternOf(o.type, r);
}

/// Arithmetic that is rounded once. f16 and bf16 are computed in f32, which rounds as if at once.
template <auto F> uint64_t arithmetic(const Operation &o, const uint64_t *in) {
  double x = operandOf(o, in[0]), y = operandOf(o, in[1]), z = operandOf(o, in[2]);
  double r = o.type.bits == 64 ? inMode<double, F>(o.rounding, x, y, z) : inMode<float, F>(o.rounding, x, y, z);
  return resultOf(o, r);
}
uint64_t fusedMultiplyAdd(const Operation &o, const uint64_t *in) {
  constexpr auto fma = [](auto x, auto y, auto z) { return std::fma(x, y, z); };
  if (o.type.bits != 16) return arithmetic<fma>(o, in);
  // x * y is exact in double, the addition's error is kept for the one rounding.
  double exact = operandOf(o, in[0]) * operandOf(o, in[1]), z = operandOf(o, in[2]);
  double sum = exact + z;
  double zPart = sum - exact, error = (exact - (sum - zPart)) + (z - zPart);
  return resultOf(o, runtime::roundToOdd(sum, std::isfinite(error) ? error : 0));
}
/// Of two numbers; NaN only for two NaNs, or with .NaN. -0 is less than +0.
template <bool Least> uint64_t extreme(const Operation &o, const uint64_t *in) {
  double x = operandOf(o, in[0]), y = operandOf(o, in[1]);
  bool xLess = x < y || (x == y && std::signbit(x));
  double r = xLess == Least ? x : y;
  if (std::isnan(x) || std::isnan(y)) r = o.nan || std::isnan(x) == std::isnan(y) ? NAN : std::isnan(x) ? y : x;
  return resultOf(o, r);
}
/// A function of one operand, in double.
template <auto F> uint64_t function(const Operation &o, const uint64_t *in) {
  return resultOf(o, F(operandOf(o, in[0])));
}
/// The division and square root of .rn, .rz, …, else the approximation.
template <auto F> uint64_t inverse(const Operation &o, const uint64_t *in) {
  double x = operandOf(o, in[0]);
  return resultOf(o,
                  o.type.bits == 64 ? inMode<double, F>(o.rounding, x, 0, 0) : inMode<float, F>(o.rounding, x, 0, 0));
}
constexpr auto reciprocal = [](auto x, auto, auto) { return 1 / x; };
constexpr auto squareRoot = [](auto x, auto, auto) { return std::sqrt(x); };

/// The sign alone changes: of a NaN, too.
template <auto F> uint64_t signChanged(const Operation &o, const uint64_t *in) {
  uint64_t sign = uint64_t(1) << (o.type.bits - 1);
  uint64_t x = o.ftz ? patternOf(o.type, operandOf(o, in[0])) : cut(in[0], o.type.bits);
  return F(x, in[1], sign);
}
template <auto F> uint64_t property(const Operation &o, const uint64_t *in) { return F(valueOf(o.type, in[0])); }

// ---- integers ----

struct Integers {
  unsigned bits;
  bool isSigned;
  uint64_t x, y, z;
  int64_t sx, sy;
  const uint64_t *in;

  Integers(const Operation &o, const uint64_t *v)
      : bits(o.type.bits), isSigned(o.type.kind == 's'), x(cut(v[0], bits)), y(cut(v[1], bits)), z(cut(v[2], bits)),
        sx(asSigned(x, bits)), sy(asSigned(y, bits)), in(v) {}
  u128 multiplied() const { return isSigned ? u128(i128(sx) * sy) : u128(x) * y; }
  uint64_t multiplied24() const { // of the low 24 bits
    return isSigned ? uint64_t(asSigned(x & 0xffffff, 24) * asSigned(y & 0xffffff, 24))
                    : (x & 0xffffff) * (y & 0xffffff);
  }
};
template <auto F> uint64_t integer(const Operation &o, const uint64_t *in) {
  uint64_t r = cut(uint64_t(F(Integers(o, in))), o.type.bits);
  return o.relu && asSigned(r, o.type.bits) < 0 ? 0 : r;
}
template <auto F> uint64_t wide(const Operation &o, const uint64_t *in) {
  return cut(uint64_t(F(Integers(o, in))), 2 * o.type.bits);
}
/// Gives 32 bits, whatever it takes.
template <auto F> uint64_t counting(const Operation &o, const uint64_t *in) { return uint32_t(F(Integers(o, in))); }

uint64_t divided(const Integers &i, bool remainder) {
  if (!i.y) return remainder ? i.x : ~uint64_t(0);
  if (!i.isSigned) return remainder ? i.x % i.y : i.x / i.y;
  if (i.sy == -1) return remainder ? 0 : 0 - i.x;
  return uint64_t(remainder ? i.sx % i.sy : i.sx / i.sy);
}
uint64_t reversed(const Integers &i) {
  uint64_t r = 0;
  for (unsigned k = 0; k < i.bits; ++k) r |= (i.x >> k & 1) << (i.bits - 1 - k);
  return r;
}
/// Position of the highest bit (of signed: that differs from the sign); .shiftamt: from the top.
uint64_t highestBit(const Integers &i, bool fromTop) {
  uint64_t v = i.isSigned && i.sx < 0 ? cut(~i.x, i.bits) : i.x;
  if (!v) return 0xffffffff;
  unsigned at = 63 - unsigned(std::countl_zero(v));
  return fromTop ? i.bits - 1 - at : at;
}
uint64_t extracted(const Integers &i) {
  unsigned at = unsigned(i.in[1] & 255), n = unsigned(i.in[2] & 255);
  if (!n) return 0;
  uint64_t beyond = i.isSigned && i.sx < 0 ? ~uint64_t(0) : 0;
  uint64_t v = at >= i.bits ? beyond : i.isSigned ? uint64_t(i.sx >> at) : i.x >> at;
  if (n >= i.bits) return v;
  return i.isSigned ? uint64_t(asSigned(cut(v, n), n)) : cut(v, n);
}
/// bfi f, a, b, c, d: the low d bits of a replace those of b from bit c on.
uint64_t inserted(const Integers &i) {
  unsigned at = unsigned(i.in[2] & 255), n = unsigned(i.in[3] & 255);
  if (at >= i.bits || !n) return i.y;
  uint64_t mask = cut(~uint64_t(0), n) << at;
  return (i.y & ~mask) | (i.x << at & mask);
}
/// Any function of three bits: its table in the fourth operand, indexed by them.
uint64_t ofThreeBits(const Integers &i) {
  uint64_t r = 0;
  for (unsigned k = 0; k < i.bits; ++k)
    r |= (i.in[3] >> ((i.x >> k & 1) << 2 | (i.y >> k & 1) << 1 | (i.z >> k & 1)) & 1) << k;
  return r;
}
/// shf: the high or the low half of 64 bits (high y, low x), shifted.
uint64_t funnel(const Integers &i, bool left, bool clamp) {
  uint64_t both = i.y << 32 | i.x;
  unsigned s = clamp ? unsigned(std::min<uint64_t>(i.z, 32)) : unsigned(i.z & 31);
  return left ? both << s >> 32 : uint32_t(both >> s);
}
/// prmt: four of eight bytes, selected by the nibbles of the third operand.
uint64_t permuted(const Integers &i) {
  uint64_t both = i.y << 32 | i.x, r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    unsigned s = unsigned(i.z >> (4 * k)) & 15;
    uint8_t byte = uint8_t(both >> (8 * (s & 7)));
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= uint64_t(byte) << (8 * k);
  }
  return r;
}
/// Its modes: each result's byte by the third operand's two low bits and its place.
template <auto F> uint64_t permutedBy(const Operation &o, const uint64_t *in) {
  uint64_t selectors = 0;
  for (unsigned k = 0; k < 4; ++k) selectors |= uint64_t(F(unsigned(in[2] & 3), k)) << (4 * k);
  const uint64_t with[4] = {in[0], in[1], selectors};
  return permuted(Integers(o, with));
}
/// dp4a, dp2a: bytes of the second operand times bytes, or halves, of the first.
uint64_t dotOfParts(const Operation &o, const uint64_t *in, unsigned partBits, unsigned firstByte) {
  auto part = [](const Type &t, uint64_t v, unsigned bits, unsigned k) {
    uint64_t p = cut(v >> (bits * k), bits);
    return t.kind == 's' ? asSigned(p, bits) : int64_t(p);
  };
  int64_t sum = int64_t(in[2]);
  for (unsigned k = 0; k < 32 / partBits; ++k)
    sum += part(o.type, in[0], partBits, k) * part(o.from, in[1], 8, firstByte + k);
  return uint32_t(sum);
}

// ---- comparisons ----

bool compared(const Operation &o, const Type &t, const uint64_t *in) {
  unsigned v = o.variant & ~OrUnordered;
  auto by = [v](auto x, auto y) {
    return v == Eq ? x == y : v == Ne ? x != y : v == Lt ? x < y : v == Le ? x <= y : v == Gt ? x > y : x >= y;
  };
  if (t.isFloat()) {
    double x = valueOf(t, in[0]), y = valueOf(t, in[1]);
    if (o.ftz) {
      x = flushed(t, x);
      y = flushed(t, y);
    }
    bool unordered = std::isnan(x) || std::isnan(y);
    if (v == Number || v == NotNumber) return unordered == (v == NotNumber);
    return unordered ? bool(o.variant & OrUnordered) : by(x, y);
  }
  uint64_t x = cut(in[0], t.bits), y = cut(in[1], t.bits);
  return t.kind == 's' ? by(asSigned(x, t.bits), asSigned(y, t.bits)) : by(x, y);
}
/// With setp's third operand, if it has one.
bool combined(const Operation &o, bool comparison, const uint64_t *in) {
  bool other = in[2] & 1;
  switch (o.combine) {
  case '&': return comparison && other;
  case '|': return comparison || other;
  case '^': return comparison != other;
  default: return comparison;
  }
}
uint64_t setPredicate(const Operation &o, const uint64_t *in) { return combined(o, compared(o, o.type, in), in); }
uint64_t setValue(const Operation &o, const uint64_t *in) {
  if (!compared(o, o.from, in)) return 0;
  return o.type.isFloat() ? patternOf(o.type, 1) : cut(~uint64_t(0), o.type.bits);
}
uint64_t selectedBySign(const Operation &o, const uint64_t *in) {
  bool first = o.from.isFloat() ? valueOf(o.from, in[2]) >= 0 : asSigned(in[2], o.from.bits) >= 0;
  return cut(in[first ? 0 : 1], o.type.bits);
}

// ---- conversions ----

double toIntegral(unsigned variant, double x) {
  switch (variant) {
  case RoundEven: return std::nearbyint(x);
  case RoundToZero: return std::trunc(x);
  case RoundDown: return std::floor(x);
  case RoundUp: return std::ceil(x);
  default: return x;
  }
}
/// To an integer of `bits` bits, saturating; NaN gives 0.
uint64_t toInteger(double x, bool isSigned, unsigned bits) {
  if (std::isnan(x)) return 0;
  uint64_t most = cut(~uint64_t(0), isSigned ? bits - 1 : bits);
  double limit = std::ldexp(1.0, int(isSigned ? bits - 1 : bits));
  if (x >= limit) return most;
  if (isSigned) return x < -limit ? cut(~most, bits) : cut(uint64_t(int64_t(x)), bits);
  return x <= 0 ? 0 : uint64_t(x);
}
uint64_t integerToFloat(const Operation &o, uint64_t v) {
  bool isSigned = o.from.kind == 's';
  int64_t s = asSigned(v, o.from.bits);
  uint64_t u = cut(v, o.from.bits);
  if (o.type.bits == 16) return patternOf(o.type, isSigned ? double(s) : double(u));
  auto convert = [&](auto type) {
    using T = decltype(type);
    return isSigned ? integerInMode<T>(o.rounding, s) : integerInMode<T>(o.rounding, u);
  };
  return patternOf(o.type, o.type.bits == 64 ? convert(double()) : convert(float()));
}
/// A float of any format to one of at most 64 bits.
uint64_t floatToFloat(const Operation &o, uint64_t v) {
  double x = valueOf(o.from, v);
  if (o.ftz) x = flushed(o.from, x);
  x = toIntegral(o.variant, x);
  if (o.saturate && !std::isnan(x)) x = std::clamp(x, 0.0, 1.0);
  if (o.saturate && std::isnan(x)) x = 0;
  if (o.relu && x <= 0) x = 0;
  if (o.type.kind == 'q') return encodeE2M1(x);
  if (o.type.kind == 'k') return encodePower(x, o.rounding == FE_UPWARD, o.finite);
  if (o.type.kind == 't') return std::bit_cast<uint32_t>(runtime::roundToTf32(float(x), o.rounding == FE_TOWARDZERO));
  bool directed = o.rounding == FE_DOWNWARD || o.rounding == FE_UPWARD;
  if (o.type.kind == 'f' && o.type.bits == 32 && directed) {
    volatile double kept = x;
    fesetround(o.rounding);
    volatile float f = float(kept);
    fesetround(FE_TONEAREST);
    x = double(f);
  }
  auto mode = o.rounding == FE_TOWARDZERO ? runtime::Rounding::TowardZero : runtime::Rounding::NearestEven;
  uint64_t r = runtime::encodeFloat(kindOf(o.type), x, mode);
  bool isAbove = !std::isnan(x) && std::isinf(runtime::decodeFloat(kindOf(o.type), r));
  if (o.finite && isAbove) --r; // the greatest number, next to infinity
  return o.ftz && o.type.bits == 32 ? patternOf(o.type, flushed(o.type, valueOf(o.type, r))) : r;
}
uint64_t converted(const Operation &o, uint64_t v) {
  if (o.from.isFloat() && o.type.isFloat()) return floatToFloat(o, v);
  if (o.from.isFloat()) {
    double x = valueOf(o.from, v);
    if (o.ftz) x = flushed(o.from, x);
    return toInteger(toIntegral(o.variant == NoRounding ? unsigned(RoundToZero) : o.variant, x), o.type.kind == 's',
                     o.type.bits);
  }
  if (o.type.isFloat()) return integerToFloat(o, v);
  bool fromSigned = o.from.kind == 's', toSigned = o.type.kind == 's';
  uint64_t extended = fromSigned ? uint64_t(asSigned(v, o.from.bits)) : cut(v, o.from.bits);
  if (!o.saturate) return cut(extended, o.type.bits);
  i128 value = fromSigned ? i128(int64_t(extended)) : i128(extended);
  i128 most = i128(cut(~uint64_t(0), toSigned ? o.type.bits - 1 : o.type.bits));
  return cut(uint64_t(std::clamp(value, toSigned ? -most - 1 : i128(0), most)), o.type.bits);
}
uint64_t conversion(const Operation &o, const uint64_t *in) {
  if (!o.type.pair) return converted(o, in[0]);
  Operation one = o;
  one.type.pair = one.from.pair = false;
  // Two operands: the first becomes the upper element.
  uint64_t low = o.from.pair ? in[0] : in[1], high = o.from.pair ? in[0] >> o.from.bits : in[0];
  return converted(one, low) | converted(one, high) << o.type.bits;
}

// ---- carries ----

/// A link of a chain of operations that hand a carry on.
uint64_t withCarry(const Operation &o, const uint64_t *in, bool &carry) {
  unsigned bits = o.type.bits;
  u128 x = cut(in[0], bits), y = cut(in[1], bits), z = cut(in[2], bits), r;
  unsigned incoming = o.readsCarry && carry;
  switch (o.variant) {
  case CarryAdd: r = x + y + incoming; break;
  case CarrySub: r = x - y - incoming; break;
  case CarryMadLo: r = u128(cut(uint64_t(x * y), bits)) + z + incoming; break;
  default: r = (x * y >> bits) + z + incoming; break;
  }
  if (o.writesCarry) carry = (r >> bits) & 1;
  return cut(uint64_t(r), bits);
}

// ---- the table ----

using I = Integers;
constexpr auto sine = [](double x) { return std::sin(x); };
constexpr auto cosine = [](double x) { return std::cos(x); };
constexpr auto power = [](double x) { return std::exp2(x); };
constexpr auto logarithm = [](double x) { return std::log2(x); };
constexpr auto tangent = [](double x) { return std::tanh(x); };
constexpr auto inverseRoot = [](double x) { return 1 / std::sqrt(x); };

// Floating Point Instructions, Half Precision Floating Point Instructions, Mixed Precision …
const Row kFloatRows[] = {
    {"add", "fhy", 2, arithmetic<[](auto x, auto y, auto) { return x + y; }>},
    {"sub", "fhy", 2, arithmetic<[](auto x, auto y, auto) { return x - y; }>},
    {"mul", "fhy", 2, arithmetic<[](auto x, auto y, auto) { return x * y; }>},
    {"div", "f", 2, arithmetic<[](auto x, auto y, auto) { return x / y; }>},
    {"fma", "fhy", 3, fusedMultiplyAdd},
    {"mad", "f", 3, fusedMultiplyAdd},
    {"min", "fhy", 2, extreme<true>},
    {"max", "fhy", 2, extreme<false>},
    {"rcp", "f", 1, inverse<reciprocal>},
    {"sqrt", "f", 1, inverse<squareRoot>},
    {"rsqrt", "f", 1, function<inverseRoot>},
    {"ex2", "fhy", 1, function<power>},
    {"lg2", "f", 1, function<logarithm>},
    {"sin", "f", 1, function<sine>},
    {"cos", "f", 1, function<cosine>},
    {"tanh", "fhy", 1, function<tangent>},
    {"neg", "fhy", 1, signChanged<[](uint64_t x, uint64_t, uint64_t sign) { return x ^ sign; }>},
    {"abs", "fhy", 1, signChanged<[](uint64_t x, uint64_t, uint64_t sign) { return x & ~sign; }>},
    {"copysign", "f", 2, // the sign of the first operand, the magnitude of the second
     [](const Operation &o, const uint64_t *in) {
       uint64_t sign = uint64_t(1) << (o.type.bits - 1);
       return (in[0] & sign) | (cut(in[1], o.type.bits) & ~sign);
     }},
    {"testp.finite", "f", 1, property<[](double x) { return std::isfinite(x); }>},
    {"testp.infinite", "f", 1, property<[](double x) { return std::isinf(x); }>},
    {"testp.number", "f", 1, property<[](double x) { return !std::isnan(x); }>},
    {"testp.notanumber", "f", 1, property<[](double x) { return std::isnan(x); }>},
};

// Integer Arithmetic Instructions; dp4a, dp2a
const Row kIntegerRows[] = {
    {"add", "us", 2, integer<[](const I &i) { return i.x + i.y; }>},
    {"sub", "us", 2, integer<[](const I &i) { return i.x - i.y; }>},
    {"mul.lo", "us", 2, integer<[](const I &i) { return i.multiplied(); }>},
    {"mul.hi", "us", 2, integer<[](const I &i) { return i.multiplied() >> i.bits; }>},
    {"mul.wide", "us", 2, wide<[](const I &i) { return i.multiplied(); }>},
    {"mad.lo", "us", 3, integer<[](const I &i) { return uint64_t(i.multiplied()) + i.z; }>},
    {"mad.hi", "us", 3, integer<[](const I &i) { return uint64_t(i.multiplied() >> i.bits) + i.z; }>},
    {"mad.wide", "us", 3, wide<[](const I &i) { return uint64_t(i.multiplied()) + i.in[2]; }>},
    {"mul24.lo", "us", 2, integer<[](const I &i) { return i.multiplied24(); }>},
    {"mul24.hi", "us", 2, integer<[](const I &i) { return i.multiplied24() >> 16; }>},
    {"mad24.lo", "us", 3, integer<[](const I &i) { return i.multiplied24() + i.z; }>},
    {"mad24.hi", "us", 3, integer<[](const I &i) { return uint32_t(i.multiplied24() >> 16) + i.z; }>},
    {"sad", "us", 3,
     integer<[](const I &i) { return (i.isSigned ? i.sx < i.sy : i.x < i.y) ? i.y - i.x + i.z : i.x - i.y + i.z; }>},
    {"div", "us", 2, integer<[](const I &i) { return divided(i, false); }>},
    {"rem", "us", 2, integer<[](const I &i) { return divided(i, true); }>},
    {"min", "us", 2,
     integer<[](const I &i) { return i.isSigned ? uint64_t(std::min(i.sx, i.sy)) : std::min(i.x, i.y); }>},
    {"max", "us", 2,
     integer<[](const I &i) { return i.isSigned ? uint64_t(std::max(i.sx, i.sy)) : std::max(i.x, i.y); }>},
    {"neg", "s", 1, integer<[](const I &i) { return 0 - i.x; }>},
    {"abs", "s", 1, integer<[](const I &i) { return i.sx < 0 ? 0 - i.x : i.x; }>},
    {"popc", "b", 1, counting<[](const I &i) { return std::popcount(i.x); }>},
    {"clz", "b", 1, counting<[](const I &i) { return unsigned(std::countl_zero(i.x)) - (64 - i.bits); }>},
    {"brev", "b", 1, integer<reversed>},
    {"bfind", "us", 1, counting<[](const I &i) { return highestBit(i, false); }>},
    {"bfind.shiftamt", "us", 1, counting<[](const I &i) { return highestBit(i, true); }>},
    {"bfe", "us", 3, integer<extracted>},
    {"bfi", "b", 4, integer<inserted>},
    {"dp4a", "us", 3, [](const Operation &o, const uint64_t *in) { return dotOfParts(o, in, 8, 0); }},
    {"dp2a.lo", "us", 3, [](const Operation &o, const uint64_t *in) { return dotOfParts(o, in, 16, 0); }},
    {"dp2a.hi", "us", 3, [](const Operation &o, const uint64_t *in) { return dotOfParts(o, in, 16, 2); }},
};

// Logic and Shift Instructions; prmt; Comparison and Selection Instructions
const Row kLogicRows[] = {
    {"mov", "busfhyp", 1, integer<[](const I &i) { return i.x; }>},
    {"and", "bp", 2, integer<[](const I &i) { return i.x & i.y; }>},
    {"or", "bp", 2, integer<[](const I &i) { return i.x | i.y; }>},
    {"xor", "bp", 2, integer<[](const I &i) { return i.x ^ i.y; }>},
    {"not", "bp", 1, integer<[](const I &i) { return ~i.x; }>},
    {"cnot", "b", 1, integer<[](const I &i) { return i.x == 0; }>},
    {"lop3", "b", 4, integer<ofThreeBits>},
    {"shl", "b", 2, integer<[](const I &i) { return uint32_t(i.in[1]) >= i.bits ? 0 : i.x << uint32_t(i.in[1]); }>},
    {"shr", "bus", 2, integer<[](const I &i) {
       unsigned n = uint32_t(i.in[1]);
       return i.isSigned ? uint64_t(i.sx >> std::min(n, i.bits - 1)) : n >= i.bits ? 0 : i.x >> n;
     }>},
    {"shf.l.wrap", "b", 3, integer<[](const I &i) { return funnel(i, true, false); }>},
    {"shf.r.wrap", "b", 3, integer<[](const I &i) { return funnel(i, false, false); }>},
    {"shf.l.clamp", "b", 3, integer<[](const I &i) { return funnel(i, true, true); }>},
    {"shf.r.clamp", "b", 3, integer<[](const I &i) { return funnel(i, false, true); }>},
    {"prmt", "b", 3, integer<permuted>},
    {"prmt.f4e", "b", 3, permutedBy<[](unsigned c, unsigned k) { return c + k; }>},
    {"prmt.b4e", "b", 3, permutedBy<[](unsigned c, unsigned k) { return (c - k) & 7; }>},
    {"prmt.rc8", "b", 3, permutedBy<[](unsigned c, unsigned) { return c; }>},
    {"prmt.ecl", "b", 3, permutedBy<[](unsigned c, unsigned k) { return std::max(c, k); }>},
    {"prmt.ecr", "b", 3, permutedBy<[](unsigned c, unsigned k) { return std::min(c, k); }>},
    {"prmt.rc16", "b", 3, permutedBy<[](unsigned c, unsigned k) { return (c & 1) * 2 + (k & 1); }>},
    {"selp", "busfhy", 3, integer<[](const I &i) { return i.in[2] & 1 ? i.x : i.y; }>},
    {"slct", "busf", 3, selectedBySign},
    {"setp", "busfhy", 2, setPredicate},
    {"setp", "busfhy", 3, setPredicate},
    {"set", "usf", 2, setValue},
    {"cvt", "busfhyemtk", 1, conversion},
    {"cvt", "hyemqk", 2, conversion},
};

} // namespace

const Row *rowOf(StringRef name, char kind, size_t operands, bool &isKnown) {
  const Row *found = nullptr;
  for (ArrayRef<Row> rows : {ArrayRef<Row>(kFloatRows), ArrayRef<Row>(kIntegerRows), ArrayRef<Row>(kLogicRows)})
    for (const Row &r : rows) {
      isKnown |= r.name == name;
      // ptxas takes .b types for unsigned ones, and the other way round, where signs do not matter.
      bool isKind = r.kinds.contains(kind) || (kind == 'b' && r.kinds.contains('u')) ||
                    (StringRef("us").contains(kind) && r.kinds.contains('b'));
      if (r.name == name && isKind && r.operands == operands) found = &r;
    }
  return found;
}

uint64_t encodeLiteral(Type t, double x) { return patternOf(t, x); }

uint64_t Operation::runPair(const uint64_t *in) const {
  Operation one = *this;
  one.type.pair = one.from.pair = false;
  uint64_t out = 0;
  for (unsigned half = 0; half < 2; ++half) {
    uint64_t part[4] = {};
    for (unsigned k = 0; k < 3; ++k) part[k] = cut(in[k] >> (half * type.bits), type.bits);
    out |= cut(one.evaluate(one, part), type.bits) << (half * type.bits);
  }
  return out;
}

uint64_t Operation::run(const uint64_t *in, bool *carry) const {
  bool none = false;
  if (readsCarry || writesCarry) return withCarry(*this, in, carry ? *carry : none);
  if (type.pair && hasSecond) { // setp: the first result is about the low elements
    Operation one = *this;
    one.type.pair = false;
    return one.evaluate(one, in);
  }
  return type.pair && evaluate != conversion ? runPair(in) : evaluate(*this, in);
}

uint64_t Operation::runSecond(const uint64_t *in) const {
  Operation one = *this;
  one.type.pair = false;
  const uint64_t upper[4] = {in[0] >> type.bits, in[1] >> type.bits, in[2]};
  if (type.pair) return one.evaluate(one, upper);
  return combined(*this, !compared(*this, type, in), in); // the comparison's opposite, with the same third operand
}

} // namespace tessera::inline_ptx
