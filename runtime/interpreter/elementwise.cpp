// Elementwise evaluation (see elementwise.h). Each operation is a loop over lanes with the scalar operation inlined;
// the type is chosen outside the loop. Integers of 8, 16, 32 and 64 bits have loops of their own, other widths are
// computed in 64 or 128 bits and cut.
#include "runtime/interpreter/elementwise.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "runtime/float_formats.h"
#include "runtime/interpreter/device_math.h"
#include <cmath>

namespace tessera::runtime {
using namespace ir;

namespace {

// ---- loops ----

template <class U, class F> Lanes map(LanePool &p, const Lanes &a, F f) {
  using R = decltype(f(U()));
  Lanes out(p, sizeof(R), a.size());
  const U *x = a.as<U>();
  R *r = out.as<R>();
  for (size_t i = 0, n = a.size(); i < n; ++i) r[i] = f(x[i]);
  return out;
}
template <class U, class F> Lanes map(LanePool &p, const Lanes &a, const Lanes &b, F f) {
  size_t n = std::max(a.size(), b.size());
  if (a.size() != b.size())
    return map<U>(p, a.size() == n ? a : repeat(p, a, n), b.size() == n ? b : repeat(p, b, n), f);
  using R = decltype(f(U(), U()));
  Lanes out(p, sizeof(R), n);
  const U *x = a.as<U>(), *y = b.as<U>();
  R *r = out.as<R>();
  for (size_t i = 0; i < n; ++i) r[i] = f(x[i], y[i]);
  return out;
}
template <class U, class F> Lanes map(LanePool &p, const Lanes &a, const Lanes &b, const Lanes &c, F f) {
  size_t n = std::max({a.size(), b.size(), c.size()});
  Lanes x = a.size() == n ? a : repeat(p, a, n), y = b.size() == n ? b : repeat(p, b, n),
        z = c.size() == n ? c : repeat(p, c, n);
  using R = decltype(f(U(), U(), U()));
  Lanes out(p, sizeof(R), n);
  const Lanes &cx = x, &cy = y, &cz = z;
  const U *u = cx.as<U>(), *v = cy.as<U>(), *w = cz.as<U>();
  R *r = out.as<R>();
  for (size_t i = 0; i < n; ++i) r[i] = f(u[i], v[i], w[i]);
  return out;
}

/// The lanes with elements of another width, zero-extended or cut.
Lanes resize(LanePool &p, const Lanes &a, unsigned width) {
  if (a.width() == width) return a;
  return withWord(a.width(), [&](auto from) {
    return withWord(
        width, [&](auto to) { return map<decltype(from)>(p, a, [](decltype(from) x) { return decltype(to)(x); }); });
  });
}

// ---- integers ----

template <class U> struct SignedOf {
  using Type = std::make_signed_t<U>;
};
template <> struct SignedOf<UInt128> {
  using Type = Int128;
};

/// Integers of `w` bits in the unsigned type U; Native: they fill it.
template <class U, bool Native> struct Ints {
  using Word = U;
  using Signed = typename SignedOf<U>::Type;
  // Arithmetic in a type that is not promoted to a signed one.
  using Wide = std::conditional_t<(sizeof(U) < 4), uint32_t, U>;
  static constexpr unsigned kBits = sizeof(U) * 8;
  unsigned w = kBits;

  Signed s(U x) const {
    if constexpr (Native)
      return Signed(x);
    else
      return Signed(Signed(U(x << (kBits - w))) >> (kBits - w));
  }
  U cut(Wide x) const {
    if constexpr (Native)
      return U(x);
    else
      return U(w == kBits ? x : x & ((Wide(1) << w) - 1));
  }
  U cutSigned(Signed x) const { return cut(Wide(U(x))); }
};

/// Calls f with the Ints that compute on lanes of `w`-bit integers, and with a function that brings operands into them.
template <class F> Lanes withInts(LanePool &p, unsigned w, F f) {
  auto same = [](const Lanes &l) -> const Lanes & { return l; };
  switch (w) {
  case 8: return f(Ints<uint8_t, true>(), same);
  case 16: return f(Ints<uint16_t, true>(), same);
  case 32: return f(Ints<uint32_t, true>(), same);
  case 64: return f(Ints<uint64_t, true>(), same);
  default:
    if (w > 64) return f(Ints<UInt128, false>{w}, same);
    return f(Ints<uint64_t, false>{w}, [&](const Lanes &l) { return resize(p, l, 8); });
  }
}
Lanes fit(LanePool &p, Lanes l, unsigned w) {
  unsigned bits = 8;
  while (bits < w) bits *= 2;
  return resize(p, l, bits / 8);
}

template <class I> Lanes integerBinary(LanePool &p, Opcode op, I t, const Lanes &a, const Lanes &b) {
  using U = typename I::Word;
  using S = typename I::Signed;
  using W = typename I::Wide;
  auto divide = [](S x, S y) -> S { return y == 0 ? S(-1) : y == -1 ? S(W(0) - W(U(x))) : S(x / y); };
  auto inexact = [](S x, S y) { return y != 0 && y != -1 && x % y != 0; };
  auto negative = [](S x, S y) { return (x < 0) != (y < 0); };
#define CASE(name, expr)                                                                                               \
  case Opcode::name: return map<U>(p, a, b, [=](U x, U y) -> U { return expr; });
  switch (op) {
    CASE(arith_addi, t.cut(W(x) + W(y)))
    CASE(arith_subi, t.cut(W(x) - W(y)))
    CASE(arith_muli, t.cut(W(x) * W(y)))
    CASE(arith_andi, U(x & y))
    CASE(arith_ori, U(x | y))
    CASE(arith_xori, U(x ^ y))
    CASE(arith_shli, y < t.w ? t.cut(W(x) << y) : U(0))
    CASE(arith_shrui, y < t.w ? U(x >> y) : U(0))
    CASE(arith_shrsi, t.cutSigned(S(t.s(x) >> (y < t.w ? y : U(t.w - 1)))))
    CASE(arith_divui, y ? U(x / y) : t.cut(W(-1)))
    CASE(arith_remui, y ? U(x % y) : x)
    CASE(arith_ceildivui, y ? U(x / y + (x % y != 0)) : t.cut(W(-1)))
    CASE(arith_divsi, t.cutSigned(divide(t.s(x), t.s(y))))
    CASE(arith_remsi, y == 0 ? x : t.s(y) == -1 ? U(0) : t.cutSigned(S(t.s(x) % t.s(y))))
    CASE(arith_ceildivsi,
         t.cutSigned(S(divide(t.s(x), t.s(y)) + (inexact(t.s(x), t.s(y)) && !negative(t.s(x), t.s(y))))))
    CASE(arith_floordivsi,
         t.cutSigned(S(divide(t.s(x), t.s(y)) - (inexact(t.s(x), t.s(y)) && negative(t.s(x), t.s(y))))))
    CASE(arith_maxsi, t.s(x) > t.s(y) ? x : y)
    CASE(arith_minsi, t.s(x) < t.s(y) ? x : y)
    CASE(arith_maxui, x > y ? x : y)
    CASE(arith_minui, x < y ? x : y)
  default: return {};
  }
#undef CASE
}

template <class I> Lanes integerCompare(LanePool &p, CmpIPredicate predicate, I t, const Lanes &a, const Lanes &b) {
  using U = typename I::Word;
#define CASE(name, expr)                                                                                               \
  case CmpIPredicate::name: return map<U>(p, a, b, [=](U x, U y) -> uint8_t { return expr; });
  switch (predicate) {
    CASE(Eq, x == y)
    CASE(Ne, x != y)
    CASE(Slt, t.s(x) < t.s(y))
    CASE(Sle, t.s(x) <= t.s(y))
    CASE(Sgt, t.s(x) > t.s(y))
    CASE(Sge, t.s(x) >= t.s(y))
    CASE(Ult, x < y)
    CASE(Ule, x <= y)
    CASE(Ugt, x > y)
    CASE(Uge, x >= y)
  }
#undef CASE
  return {};
}

/// The high half of the full product of integers of at most 64 bits.
Lanes highHalf(LanePool &p, const Lanes &a, const Lanes &b, unsigned w, bool isSigned) {
  Lanes high = map<uint64_t>(p, resize(p, a, 8), resize(p, b, 8), [=](uint64_t x, uint64_t y) -> uint64_t {
    if (isSigned) return zeroExtend(uint64_t(Int128(signExtend(x, w)) * signExtend(y, w) >> w), w);
    return zeroExtend(uint64_t(UInt128(x) * y >> w), w);
  });
  return fit(p, high, w);
}

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
/// Zero extension and truncation alike: what is beyond the new width goes.
Lanes zeroExtendLanes(LanePool &p, const Lanes &a, unsigned to) {
  if (to > 64)
    return map<UInt128>(p, resize(p, a, 16), [=](UInt128 x) -> UInt128 { return Ints<UInt128, false>{to}.cut(x); });
  return fit(p, map<uint64_t>(p, resize(p, a, 8), [=](uint64_t x) -> uint64_t { return zeroExtend(x, to); }), to);
}

// ---- floats ----

struct F32 {
  using Bits = uint32_t;
  using Number = float;
  static float get(Bits b) { return std::bit_cast<float>(b); }
  static Bits put(float v) { return std::bit_cast<Bits>(v); }
};
struct F64 {
  using Bits = uint64_t;
  using Number = double;
  static double get(Bits b) { return std::bit_cast<double>(b); }
  static Bits put(double v) { return std::bit_cast<Bits>(v); }
};
struct F16 {
  using Bits = uint16_t;
  using Number = float;
  static float get(Bits b) { return decodeHalf(b); }
  static Bits put(float v) { return encodeHalf(v); }
};
struct BF16 {
  using Bits = uint16_t;
  using Number = float;
  static float get(Bits b) { return decodeBfloat(b); }
  static Bits put(float v) { return encodeBfloat(v); }
};
struct F8 {
  using Bits = uint8_t;
  using Number = float;
  FloatKind kind;
  float get(Bits b) const { return float(decodeFloat(kind, b)); }
  Bits put(float v) const { return Bits(encodeFloat(kind, v)); }
};

/// Calls f with the format's get and put.
template <class F> decltype(auto) withFloat(FloatKind k, F f) {
  switch (k) {
  case FloatKind::F16: return f(F16());
  case FloatKind::BF16: return f(BF16());
  case FloatKind::F32: return f(F32());
  case FloatKind::F64: return f(F64());
  case FloatKind::F8E4M3FN:
  case FloatKind::F8E4M3FNUZ:
  case FloatKind::F8E4M3B11FNUZ:
  case FloatKind::F8E5M2:
  case FloatKind::F8E5M2FNUZ: break;
  }
  return f(F8{k});
}

template <class T> T nan() { return std::numeric_limits<T>::quiet_NaN(); }
template <class T> T maximum(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? nan<T>() : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <class T> T minimum(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? nan<T>() : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <class T> T maxnum(T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b); }
template <class T> T minnum(T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b); }

Lanes floatBinary(LanePool &p, Opcode op, FloatKind k, const Lanes &a, const Lanes &b) {
  return withFloat(k, [&](auto format) -> Lanes {
    using B = typename decltype(format)::Bits;
#define CASE(name, expr)                                                                                               \
  case Opcode::name:                                                                                                   \
    return map<B>(p, a, b, [format](B u, B v) -> B {                                                                   \
      auto x = format.get(u), y = format.get(v);                                                                       \
      return format.put(expr);                                                                                         \
    });
    switch (op) {
      CASE(arith_addf, x + y)
      CASE(arith_subf, x - y)
      CASE(arith_mulf, x * y)
    case Opcode::tt_precise_divf:
      CASE(arith_divf, x / y)
      CASE(arith_remf, std::fmod(x, y))
      CASE(arith_maximumf, maximum(x, y))
      CASE(arith_minimumf, minimum(x, y))
      CASE(arith_maxnumf, maxnum(x, y))
      CASE(arith_minnumf, minnum(x, y))
    default: return {};
    }
#undef CASE
  });
}

/// a * b + c rounded once: exactly in f32 and f64; for the narrow kinds a * b is exact in double, and the sum is
/// rounded to odd before the last rounding.
Lanes fusedMultiplyAdd(LanePool &p, FloatKind k, const Lanes &a, const Lanes &b, const Lanes &c) {
  if (k == FloatKind::F32)
    return map<uint32_t>(p, a, b, c, [](uint32_t x, uint32_t y, uint32_t z) {
      return F32::put(std::fma(F32::get(x), F32::get(y), F32::get(z)));
    });
  if (k == FloatKind::F64)
    return map<uint64_t>(p, a, b, c, [](uint64_t x, uint64_t y, uint64_t z) {
      return F64::put(std::fma(F64::get(x), F64::get(y), F64::get(z)));
    });
  return withFloat(k, [&](auto format) -> Lanes {
    using B = typename decltype(format)::Bits;
    return map<B>(p, a, b, c, [k, format](B x, B y, B z) -> B {
      const double multiplied = double(format.get(x)) * double(format.get(y)); // exact
      const double addend = format.get(z);
      const double sum = multiplied + addend;
      // What the rounding of the sum lost (Knuth's TwoSum).
      const double part = sum - multiplied;
      const double rest = (multiplied - (sum - part)) + (addend - part);
      return B(encodeFloat(k, roundToOdd(sum, rest)));
    });
  });
}

Lanes clamp(LanePool &p, FloatKind k, bool propagateNan, const Lanes &a, const Lanes &b, const Lanes &c) {
  return withFloat(k, [&](auto format) -> Lanes {
    using B = typename decltype(format)::Bits;
    return map<B>(p, a, b, c, [=](B u, B v, B w) -> B {
      auto x = format.get(u), low = format.get(v), high = format.get(w);
      if (propagateNan && std::isnan(x)) return format.put(nan<decltype(x)>());
      return format.put(minnum(maxnum(x, low), high));
    });
  });
}

Lanes floatCompare(LanePool &p, CmpFPredicate predicate, FloatKind k, const Lanes &a, const Lanes &b) {
  // The set of outcomes for which a predicate holds: equal 1, greater 2, less 4, unordered 8. The IR numbers the
  // ordered ones as these sets (`ord` 7) and continues with `ueq` 8, …, `une` 13, `uno` 14.
  unsigned number = unsigned(predicate), set = number < 8     ? number
                                               : number == 14 ? 8
                                               : number == 15 ? 15
                                                              : 8 | (number - 7);
  return withFloat(k, [&](auto format) -> Lanes {
    using B = typename decltype(format)::Bits;
    return map<B>(p, a, b, [=](B u, B v) -> uint8_t {
      auto x = format.get(u), y = format.get(v);
      unsigned outcome = x == y ? 1 : x > y ? 2 : x < y ? 4 : 8;
      return (set & outcome) != 0;
    });
  });
}

/// A function of one double applied to every element, rounded once.
template <class Fn> Lanes mathUnary(LanePool &p, FloatKind k, const Lanes &a, Fn fn) {
  return withFloat(k, [&](auto format) -> Lanes {
    using B = typename decltype(format)::Bits;
    return map<B>(p, a, [=](B x) -> B { return B(encodeFloat(k, fn(double(format.get(x))))); });
  });
}

double roundEven(double x) { return std::fabs(x) < 0x1p52 ? std::copysign((std::fabs(x) + 0x1p52) - 0x1p52, x) : x; }
double rsqrt(double x) { return 1 / std::sqrt(x); }

using MathFunction = double (*)(double);
/// The function of a `math_unary` row; null for other operations. Coverage.ElementwiseOperationsAreEvaluated
/// (tests/unit/runtime_interpreter/coverage_test.cpp) fails for a row that is missing here.
MathFunction mathFunction(Opcode op) {
  switch (op) {
  case Opcode::math_ceil: return std::ceil;
  case Opcode::math_floor: return std::floor;
  case Opcode::math_trunc: return std::trunc;
  case Opcode::math_round: return std::round;
  case Opcode::math_roundeven: return roundEven;
  case Opcode::math_exp: return std::exp;
  case Opcode::math_exp2: return std::exp2;
  case Opcode::math_expm1: return std::expm1;
  case Opcode::math_log: return std::log;
  case Opcode::math_log1p: return std::log1p;
  case Opcode::math_log2: return std::log2;
  case Opcode::math_log10: return std::log10;
  case Opcode::math_sqrt:
  case Opcode::tt_precise_sqrt: return std::sqrt;
  case Opcode::math_rsqrt: return rsqrt;
  case Opcode::math_sin: return std::sin;
  case Opcode::math_cos: return std::cos;
  case Opcode::math_tan: return std::tan;
  case Opcode::math_asin: return std::asin;
  case Opcode::math_acos: return std::acos;
  case Opcode::math_atan: return std::atan;
  case Opcode::math_sinh: return std::sinh;
  case Opcode::math_cosh: return std::cosh;
  case Opcode::math_tanh: return std::tanh;
  case Opcode::math_asinh: return std::asinh;
  case Opcode::math_acosh: return std::acosh;
  case Opcode::math_atanh: return std::atanh;
  case Opcode::math_cbrt: return std::cbrt;
  case Opcode::math_erf: return std::erf;
  case Opcode::math_erfc: return std::erfc;
  default: return nullptr;
  }
}

// ---- conversions ----

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

/// An integer as a double that rounds to any narrower format as the integer itself does.
double integerToDouble(UInt128 magnitude, bool negative) {
  auto rounded = double(magnitude); // at most 2^128, so that the difference below is exact in the integers
  double low = rounded >= 0x1p127 * 2 ? -1 : UInt128(rounded) > magnitude ? -1 : UInt128(rounded) < magnitude ? 1 : 0;
  double v = roundToOdd(rounded, low);
  return negative ? -v : v;
}

Lanes integerToFloat(LanePool &p, const Lanes &a, unsigned w, bool isSigned, FloatKind to) {
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

/// Saturating conversion of a number, truncated, to `w` bits.
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

Lanes select(LanePool &p, const Lanes &condition, const Lanes &a, const Lanes &b) {
  size_t n = std::max({condition.size(), a.size(), b.size()});
  if (condition.size() == 1) {
    const Lanes &chosen = condition.flag() ? a : b;
    return chosen.size() == n ? chosen : repeat(p, chosen, n);
  }
  const Lanes x = a.size() == n ? a : repeat(p, a, n), y = b.size() == n ? b : repeat(p, b, n);
  return withWord(a.width(), [&](auto zero) {
    using U = decltype(zero);
    Lanes out(p, sizeof(U), n);
    const uint8_t *c = condition.as<uint8_t>();
    const U *u = x.as<U>(), *v = y.as<U>();
    U *r = out.as<U>();
    for (size_t i = 0; i < n; ++i) r[i] = c[i] & 1 ? u[i] : v[i];
    return out;
  });
}

/// Every operand lane of an extern function as a double.
double asDouble(const Lanes &l, size_t i, Type t, bool isUnsigned) {
  uint64_t bits = l.word(l.size() == 1 ? 0 : i);
  if (t.isFloat()) return decodeFloat(t.cast<FloatType>().floatKind(), bits);
  return isUnsigned ? double(bits) : double(signExtend(bits, t.bitWidth()));
}

bool callDeviceFunction(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &p, Lanes &out, std::string &reason) {
  llvm::StringRef symbol = op->cast<tt::ExternElementwiseOp>().symbol();
  auto f = findDeviceFunction(symbol);
  if (!f) {
    reason = ("the interpreter does not know the device function '" + symbol + "'").str();
    return false;
  }
  Type resultType = op->result().type().scalar();
  bool fits = f->arity == in.size() && in.size() <= 3;
  size_t n = 1;
  for (unsigned k = 0; k < in.size(); ++k) {
    Type t = op->operand(k).type().scalar();
    n = std::max(n, in[k]->size());
    if (t.isPointer() || t.bitWidth() > 64 || (f->integer && !t.isInteger())) fits = false;
  }
  if (f->integer && !resultType.isInteger()) fits = false;
  if (resultType.bitWidth() > 64 || resultType.isPointer()) fits = false;
  if (!fits) {
    reason = ("the device function '" + symbol + "' is not known with these operands").str();
    return false;
  }
  out = Lanes(p, laneBytes(resultType), n);
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits;
    if (f->integer) {
      uint64_t v[3] = {};
      unsigned w = op->operand(0).type().scalar().bitWidth();
      for (unsigned k = 0; k < in.size(); ++k) v[k] = in[k]->word(in[k]->size() == 1 ? 0 : i);
      bits = zeroExtend(f->integer(v, w), resultType.bitWidth());
    } else {
      double v[3] = {};
      for (unsigned k = 0; k < in.size(); ++k)
        v[k] = asDouble(*in[k], i, op->operand(k).type().scalar(), f->isUnsigned);
      if (f->predicate)
        bits = f->predicate(v[0]);
      else if (resultType.isFloat())
        bits = encodeFloat(resultType.cast<FloatType>().floatKind(), f->real(v));
      else
        bits = uint64_t(toInteger(f->real(v), resultType.bitWidth(), !f->isUnsigned));
    }
    out.setWord(i, bits);
  }
  return true;
}

// ---- operations ----

/// The operations by the code that evaluates them. Each is a function below.
enum class Family {
  None, // not elementwise, or unknown
  IntegerArithmetic,
  ExtendedInteger, // with more than one result, or the high half of one
  IntegerCompare,
  IntegerAbsolute,
  CountBits,
  ZeroExtend, // truncation too
  SignExtend,
  Reinterpret,
  Select,
  AddPointer,
  FloatArithmetic,
  FloatCompare,
  SignBit,
  Clamp,
  Fma,
  MathUnary,
  MathBinary,
  PowerOfInteger,
  FloatConversion,
  IntegerToFloat,
  FloatToInteger,
  DeviceFunction,
};

// Table: opcodes and their families.
Family familyOf(Opcode op) {
  switch (op) {
  case Opcode::arith_addi:
  case Opcode::arith_subi:
  case Opcode::arith_muli:
  case Opcode::arith_shli:
  case Opcode::arith_shrsi:
  case Opcode::arith_shrui:
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
  case Opcode::arith_andi:
  case Opcode::arith_ori:
  case Opcode::arith_xori:
  case Opcode::arith_maxsi:
  case Opcode::arith_maxui:
  case Opcode::arith_minsi:
  case Opcode::arith_minui: return Family::IntegerArithmetic;
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended:
  case Opcode::arith_addui_extended:
  case Opcode::tt_mulhiui: return Family::ExtendedInteger;
  case Opcode::arith_cmpi: return Family::IntegerCompare;
  case Opcode::math_absi: return Family::IntegerAbsolute;
  case Opcode::math_ctlz:
  case Opcode::math_cttz:
  case Opcode::math_ctpop: return Family::CountBits;
  case Opcode::arith_extui:
  case Opcode::arith_trunci:
  case Opcode::arith_index_castui: return Family::ZeroExtend;
  case Opcode::arith_extsi:
  case Opcode::arith_index_cast: return Family::SignExtend;
  case Opcode::arith_bitcast:
  case Opcode::tt_bitcast:
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int: return Family::Reinterpret;
  case Opcode::arith_select: return Family::Select;
  case Opcode::tt_addptr: return Family::AddPointer;
  case Opcode::arith_addf:
  case Opcode::arith_subf:
  case Opcode::arith_mulf:
  case Opcode::arith_divf:
  case Opcode::tt_precise_divf:
  case Opcode::arith_remf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf: return Family::FloatArithmetic;
  case Opcode::arith_cmpf: return Family::FloatCompare;
  case Opcode::arith_negf:
  case Opcode::math_absf: return Family::SignBit;
  case Opcode::tt_clampf: return Family::Clamp;
  case Opcode::math_fma: return Family::Fma;
  case Opcode::math_atan2:
  case Opcode::math_copysign:
  case Opcode::math_powf: return Family::MathBinary;
  case Opcode::math_fpowi: return Family::PowerOfInteger;
  case Opcode::arith_extf:
  case Opcode::arith_truncf:
  case Opcode::tt_fp_to_fp: return Family::FloatConversion;
  case Opcode::arith_sitofp:
  case Opcode::arith_uitofp: return Family::IntegerToFloat;
  case Opcode::arith_fptosi:
  case Opcode::arith_fptoui: return Family::FloatToInteger;
  case Opcode::tt_extern_elementwise: return Family::DeviceFunction;
  default: return mathFunction(op) ? Family::MathUnary : Family::None;
  }
}

/// One evaluation of one operation.
class Evaluation {
public:
  Evaluation(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &p, llvm::SmallVectorImpl<Lanes> &results,
             std::string &reason)
      : op_(op), opcode_(op->opcode()), in_(in), p_(p), results_(results), reason_(reason) {
    if (op->numOperands()) type_ = op->operand(0).type().scalar();
    if (op->numResults()) resultType_ = op->result().type().scalar();
    if (type_) width_ = type_.bitWidth();
  }

  bool run() {
    for (auto v : op_->operands())
      if (!laneBytes(v.type().scalar())) return unsupported(v.type());
    switch (familyOf(opcode_)) {
    case Family::None: return unsupported(op_->numResults() ? op_->result().type() : Type());
    case Family::IntegerArithmetic: return integerArithmetic();
    case Family::ExtendedInteger: return extendedInteger();
    case Family::IntegerCompare: return integerCompareOp();
    case Family::IntegerAbsolute: return integerAbsolute();
    case Family::CountBits: return countBits();
    case Family::ZeroExtend: return done(zeroExtendLanes(p_, in(0), resultType_.bitWidth()));
    case Family::SignExtend: return done(signExtendLanes(p_, in(0), width_, resultType_.bitWidth()));
    case Family::Reinterpret:
      if (laneBytes(resultType_) == in(0).width()) return done(in(0));
      return done(zeroExtendLanes(p_, in(0), resultType_.bitWidth()));
    case Family::Select: return done(select(p_, in(0), in(1), in(2)));
    case Family::AddPointer: return addPointer();
    case Family::FloatArithmetic: return done(floatBinary(p_, opcode_, kind(), in(0), in(1)));
    case Family::FloatCompare:
      return done(floatCompare(p_, op_->cast<arith::CmpfOp>().predicate(), kind(), in(0), in(1)));
    case Family::SignBit: return signBit();
    case Family::Clamp: {
      bool propagateNan = op_->cast<tt::ClampfOp>().propagateNan() == PropagateNan::All;
      return done(clamp(p_, kind(), propagateNan, in(0), in(1), in(2)));
    }
    case Family::Fma: return done(fusedMultiplyAdd(p_, kind(), in(0), in(1), in(2)));
    case Family::MathUnary: return done(mathUnary(p_, kind(), in(0), mathFunction(opcode_)));
    case Family::MathBinary: return mathBinary();
    case Family::PowerOfInteger: return powerOfInteger();
    case Family::FloatConversion: return done(convertFloat(p_, in(0), kind(), resultKind(), rounding()));
    case Family::IntegerToFloat:
      return done(integerToFloat(p_, in(0), width_, opcode_ == Opcode::arith_sitofp, resultKind()));
    case Family::FloatToInteger:
      return done(floatToInteger(p_, in(0), kind(), resultType_.bitWidth(), opcode_ == Opcode::arith_fptosi));
    case Family::DeviceFunction: {
      Lanes out;
      return callDeviceFunction(op_, in_, p_, out, reason_) && done(std::move(out));
    }
    }
    return false;
  }

private:
  const Lanes &in(unsigned i) const { return *in_[i]; }
  FloatKind kind() const { return type_.cast<FloatType>().floatKind(); }
  FloatKind resultKind() const { return resultType_.cast<FloatType>().floatKind(); }
  bool done(Lanes l) {
    results_.push_back(std::move(l));
    return true;
  }
  bool unsupported(Type x) {
    reason_ = (llvm::Twine("the interpreter cannot evaluate '") + op_->name() + "' on " + x.str()).str();
    return false;
  }

  Lanes integers(Opcode op) {
    Lanes wide = withInts(
        p_, width_, [&](auto ints, auto bring) { return integerBinary(p_, op, ints, bring(in(0)), bring(in(1))); });
    return fit(p_, std::move(wide), width_);
  }

  bool integerArithmetic() {
    // Bitwise operations on less than a byte need no masking of the unused bits.
    bool bitwise = opcode_ == Opcode::arith_andi || opcode_ == Opcode::arith_ori || opcode_ == Opcode::arith_xori;
    if (bitwise && width_ < 8) return done(integerBinary(p_, opcode_, Ints<uint8_t, true>(), in(0), in(1)));
    return done(integers(opcode_));
  }

  bool extendedInteger() {
    if (opcode_ == Opcode::arith_addui_extended) {
      Lanes sum = integers(Opcode::arith_addi);
      results_.push_back(sum);
      Lanes first = in(0).size() == sum.size() ? in(0) : repeat(p_, in(0), sum.size());
      return done(withWord(sum.width(), [&](auto zero) {
        using U = decltype(zero);
        return map<U>(p_, sum, first, [](U s, U x) -> uint8_t { return s < x; });
      }));
    }
    if (width_ > 64) return unsupported(type_);
    if (opcode_ != Opcode::tt_mulhiui) results_.push_back(integers(Opcode::arith_muli));
    return done(highHalf(p_, in(0), in(1), width_, opcode_ == Opcode::arith_mulsi_extended));
  }

  bool integerCompareOp() {
    auto predicate = op_->cast<arith::CmpiOp>().predicate();
    return done(withInts(p_, width_, [&](auto ints, auto bring) {
      return integerCompare(p_, predicate, ints, bring(in(0)), bring(in(1)));
    }));
  }

  bool integerAbsolute() {
    Lanes wide = withInts(p_, width_, [&](auto ints, auto bring) {
      using U = typename decltype(ints)::Word;
      using W = typename decltype(ints)::Wide;
      return map<U>(p_, bring(in(0)), [=](U x) -> U { return ints.s(x) < 0 ? ints.cut(W(0) - W(x)) : x; });
    });
    return done(fit(p_, std::move(wide), width_));
  }

  bool countBits() {
    if (width_ > 64) return unsupported(type_);
    Opcode op = opcode_;
    unsigned w = width_;
    Lanes wide = map<uint64_t>(p_, resize(p_, in(0), 8), [=](uint64_t x) -> uint64_t {
      uint64_t n = op == Opcode::math_ctpop  ? std::popcount(x)
                   : op == Opcode::math_ctlz ? std::countl_zero(x) - (64 - w)
                   : x                       ? std::countr_zero(x)
                                             : w;
      return zeroExtend(n, w);
    });
    return done(fit(p_, std::move(wide), w));
  }

  bool addPointer() {
    // In bytes; pointees of less than a byte take one.
    int64_t bytes = std::max<int64_t>(1, type_.cast<PointerType>().pointee().bitWidth() / 8);
    Type offsetType = op_->cast<tt::AddptrOp>().offset().type();
    unsigned offsetWidth = offsetType.scalar().bitWidth();
    if (offsetWidth > 64) return unsupported(offsetType);
    Lanes scaled = withWord(in(1).width(), [&](auto zero) {
      using U = decltype(zero);
      return map<U>(p_, in(1),
                    [=](U x) -> uint64_t { return uint64_t(signExtend(uint64_t(x), offsetWidth)) * uint64_t(bytes); });
    });
    return done(map<uint64_t>(p_, in(0), scaled, [](uint64_t x, uint64_t y) { return x + y; }));
  }

  /// Negation and absolute value, on the sign bit. The FNUZ kinds have no negative zero: that pattern is their NaN.
  bool signBit() {
    bool negate = opcode_ == Opcode::arith_negf;
    FloatKind k = kind();
    bool fnuz = k == FloatKind::F8E4M3FNUZ || k == FloatKind::F8E4M3B11FNUZ || k == FloatKind::F8E5M2FNUZ;
    unsigned w = width_;
    return done(withWord(in(0).width(), [&](auto zero) {
      using U = decltype(zero);
      U sign = U(U(1) << (w - 1));
      return map<U>(p_, in(0), [=](U x) -> U {
        return fnuz && (x & U(~sign)) == 0 ? x : negate ? U(x ^ sign) : U(x & U(~sign));
      });
    }));
  }

  bool mathBinary() {
    Opcode op = opcode_;
    FloatKind k = kind();
    return done(withFloat(k, [&](auto format) {
      using B = typename decltype(format)::Bits;
      return map<B>(p_, in(0), in(1), [=](B u, B v) -> B {
        double x = format.get(u), y = format.get(v);
        return B(encodeFloat(k, op == Opcode::math_atan2      ? std::atan2(x, y)
                                : op == Opcode::math_copysign ? std::copysign(x, y)
                                                              : std::pow(x, y)));
      });
    }));
  }

  bool powerOfInteger() {
    FloatKind k = kind();
    Type exponent = op_->operand(1).type().scalar();
    if (exponent.bitWidth() > 64) return unsupported(exponent);
    const Lanes &base = in(0);
    const Lanes &power = in(1);
    size_t n = std::max(base.size(), power.size());
    Lanes out(p_, base.width(), n);
    for (size_t i = 0; i < n; ++i) {
      double x = decodeFloat(k, base.word(base.size() == 1 ? 0 : i));
      double y = double(signedAt(power, power.size() == 1 ? 0 : i, exponent));
      out.setWord(i, encodeFloat(k, std::pow(x, y)));
    }
    return done(std::move(out));
  }

  Rounding rounding() const {
    auto conversion = op_->dyn<tt::FpToFpOp>();
    if (!conversion) return Rounding::NearestEven;
    auto mode = conversion.rounding();
    return mode && *mode == RoundingMode::Rtz ? Rounding::TowardZero : Rounding::NearestEven;
  }

  Operation *op_;
  Opcode opcode_;
  llvm::ArrayRef<const Lanes *> in_;
  LanePool &p_;
  llvm::SmallVectorImpl<Lanes> &results_;
  std::string &reason_;
  Type type_;       // of the first operand's elements
  Type resultType_; // of the first result's elements
  unsigned width_ = 0;
};

} // namespace

bool isElementwise(const Operation *op) { return op->info().has(kElementwise) || op->opcode() == Opcode::arith_select; }

bool isEvaluatedElementwise(Opcode op) { return familyOf(op) != Family::None; }

bool evaluateElementwise(Operation *op, llvm::ArrayRef<const Lanes *> in, LanePool &p,
                         llvm::SmallVectorImpl<Lanes> &results, std::string &reason) {
  return Evaluation(op, in, p, results, reason).run();
}

void toDoubles(const Lanes &l, FloatKind k, double *out) {
  withFloat(k, [&](auto format) {
    using B = typename decltype(format)::Bits;
    const B *x = l.as<B>();
    for (size_t i = 0; i < l.size(); ++i) out[i] = format.get(x[i]);
  });
}
Lanes fromDoubles(LanePool &p, FloatKind k, const double *v, size_t n) {
  return withFloat(k, [&](auto format) {
    using B = typename decltype(format)::Bits;
    Lanes out(p, sizeof(B), n);
    B *r = out.as<B>();
    for (size_t i = 0; i < n; ++i) r[i] = B(encodeFloat(k, v[i]));
    return out;
  });
}

uint64_t combineAtomic(RmwOp op, Type t, uint64_t old, uint64_t value) {
  unsigned w = t.bitWidth();
  if (t.isFloat() && (op == RmwOp::Fadd || op == RmwOp::Add || op == RmwOp::Max || op == RmwOp::Min)) {
    FloatKind k = t.cast<FloatType>().floatKind();
    if (k == FloatKind::F32 && op != RmwOp::Max && op != RmwOp::Min)
      return F32::put(F32::get(uint32_t(old)) + F32::get(uint32_t(value)));
    double a = decodeFloat(k, old), b = decodeFloat(k, value);
    // Two numbers of a narrow format have an exact sum in double, or one that double and the format round alike.
    return encodeFloat(k, op == RmwOp::Max ? maxnum(a, b) : op == RmwOp::Min ? minnum(a, b) : a + b);
  }
  switch (op) {
  case RmwOp::And: return old & value;
  case RmwOp::Or: return old | value;
  case RmwOp::Xor: return old ^ value;
  case RmwOp::Add:
  case RmwOp::Fadd: return zeroExtend(old + value, w);
  case RmwOp::Max: return signExtend(old, w) > signExtend(value, w) ? old : value;
  case RmwOp::Min: return signExtend(old, w) < signExtend(value, w) ? old : value;
  case RmwOp::Umax: return std::max(old, value);
  case RmwOp::Umin: return std::min(old, value);
  case RmwOp::Exch: return value;
  }
  return value;
}

Lanes undefinedLanes(LanePool &p, Type t, size_t count, bool zero) {
  unsigned width = laneBytes(t), bits = t.bitWidth();
  Lanes one = Lanes::one(width, zero ? 0 : zeroExtend(~uint64_t(0), bits));
  if (width == 16 && !zero) std::memset(one.bytes() + 8, 0xFF, bits / 8 - 8);
  return repeat(p, one, count);
}

} // namespace tessera::runtime
