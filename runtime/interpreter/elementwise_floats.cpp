// Elementwise evaluation of floating-point operations: arithmetic and comparisons in the format's own precision or in
// f32, math functions in double.
#include "runtime/interpreter/elementwise_functions.h"
#include "runtime/interpreter/host_math.h"
#include "runtime/interpreter/lane_loops.h"

namespace tessera::runtime::elementwise {
using namespace ir;

Lanes floatArithmetic(LanePool &p, Opcode op, FloatKind k, const Lanes &a, const Lanes &b) {
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
    case Opcode::tt_approx_divf:
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

/// Exactly in f32 and f64; for the narrow kinds a * b is exact in double, and the sum is rounded to odd before the last
/// rounding.
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

Lanes changeSign(LanePool &p, FloatKind k, bool invert, const Lanes &a) {
  // The FNUZ kinds have no negative zero: that pattern is their NaN.
  bool fnuz = k == FloatKind::F8E4M3FNUZ || k == FloatKind::F8E4M3B11FNUZ || k == FloatKind::F8E5M2FNUZ;
  return withWord(a.width(), [&](auto zero) {
    using U = decltype(zero);
    constexpr U sign = U(U(1) << (sizeof(U) * 8 - 1));
    return map<U>(p, a, [=](U x) -> U {
      return fnuz && (x & U(~sign)) == 0 ? x : invert ? U(x ^ sign) : U(x & U(~sign));
    });
  });
}

// ---- math ----

Lanes mathUnary(LanePool &p, MathFunction fn, FloatKind k, const Lanes &a) {
  return withFloat(k, [&](auto format) -> Lanes {
    using B = typename decltype(format)::Bits;
    return map<B>(p, a, [=](B x) -> B { return B(encodeFloat(k, fn(double(format.get(x))))); });
  });
}

MathFunction mathFunction(Opcode op) {
  switch (op) {
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence)                                                   \
  case Opcode::math_##name: return [](double a) -> double { return host; };
#include "ir/math_functions.def"
  case Opcode::tt_precise_sqrt: return std::sqrt;
  default: return nullptr;
  }
}

/// What a math operation of two floats computes.
static double (*mathFunctionOfTwo(Opcode op))(double, double) {
  switch (op) {
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence)                                                  \
  case Opcode::math_##name: return [](double a, double b) -> double { return host; };
#include "ir/math_functions.def"
  default: llvm_unreachable("no math operation of two floats");
  }
}

Lanes mathBinary(LanePool &p, Opcode op, FloatKind k, const Lanes &a, const Lanes &b) {
  auto *function = mathFunctionOfTwo(op);
  return withFloat(k, [&](auto format) {
    using B = typename decltype(format)::Bits;
    return map<B>(p, a, b, [=](B u, B v) -> B { return B(encodeFloat(k, function(format.get(u), format.get(v)))); });
  });
}

Lanes powerOfInteger(LanePool &p, FloatKind k, const Lanes &base, const Lanes &exponent, Type exponentType) {
  size_t n = std::max(base.size(), exponent.size());
  Lanes out(p, base.width(), n);
  for (size_t i = 0; i < n; ++i) {
    double x = decodeFloat(k, base.word(base.size() == 1 ? 0 : i));
    double y = double(signedAt(exponent, exponent.size() == 1 ? 0 : i, exponentType));
    out.setWord(i, encodeFloat(k, std::pow(x, y)));
  }
  return out;
}

} // namespace tessera::runtime::elementwise
