// Loops over lanes with a scalar operation inlined, and the number formats that the operation computes in. The type is
// chosen outside the loop. Integers of 8, 16, 32 and 64 bits have loops of their own, other widths are computed in 64
// or 128 bits and cut.
#pragma once
#include "runtime/float_formats.h"
#include "runtime/interpreter/lanes.h"
#include <cmath>
#include <limits>

namespace tessera::runtime::elementwise {

// ---- loops ----

/// f of every element, as words of type U. An operand of one lane serves all lanes of the others.
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
inline Lanes resize(LanePool &p, const Lanes &a, unsigned width) {
  if (a.width() == width) return a;
  return withWord(a.width(), [&](auto from) {
    return withWord(
        width, [&](auto to) { return map<decltype(from)>(p, a, [](decltype(from) x) { return decltype(to)(x); }); });
  });
}
/// The lanes of computed integers with elements of the size that `w` bits take.
inline Lanes fit(LanePool &p, Lanes l, unsigned w) {
  unsigned bits = 8;
  while (bits < w) bits *= 2;
  return resize(p, l, bits / 8);
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

// ---- floats ----

// The formats by their bits and the type that they are computed in.
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
  ir::FloatKind kind;
  float get(Bits b) const { return float(decodeFloat(kind, b)); }
  Bits put(float v) const { return Bits(encodeFloat(kind, v)); }
};

/// Calls f with the format's get and put.
template <class F> decltype(auto) withFloat(ir::FloatKind k, F f) {
  switch (k) {
  case ir::FloatKind::F16: return f(F16());
  case ir::FloatKind::BF16: return f(BF16());
  case ir::FloatKind::F32: return f(F32());
  case ir::FloatKind::F64: return f(F64());
  case ir::FloatKind::F8E4M3FN:
  case ir::FloatKind::F8E4M3FNUZ:
  case ir::FloatKind::F8E4M3B11FNUZ:
  case ir::FloatKind::F8E5M2:
  case ir::FloatKind::F8E5M2FNUZ: break;
  }
  return f(F8{k});
}

/// IEEE 754-2019: -0 is less than +0; maximum and minimum give NaN for NaN, maxnum and minnum the other operand.
template <class T> T nan() { return std::numeric_limits<T>::quiet_NaN(); }
template <class T> T maximum(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? nan<T>() : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <class T> T minimum(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? nan<T>() : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <class T> T maxnum(T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : maximum(a, b); }
template <class T> T minnum(T a, T b) { return std::isnan(a) ? b : std::isnan(b) ? a : minimum(a, b); }

} // namespace tessera::runtime::elementwise
