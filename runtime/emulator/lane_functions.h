// Handlers that compute each lane's result from the same lane's operands: a function on scalars, over the active lanes.
// unaryByBytes, binaryByBytes and compareByBytes choose the instance for a width of integers at decoding time.
#pragma once
#include "runtime/emulator/machine.h"
#include "runtime/float_formats.h"
#include <cmath>

namespace tessera::emulator {

using u128 = unsigned __int128;
using i128 = __int128;
template <class T> struct SignedOf;
template <> struct SignedOf<uint8_t> {
  using type = int8_t;
};
template <> struct SignedOf<uint16_t> {
  using type = int16_t;
};
template <> struct SignedOf<uint32_t> {
  using type = int32_t;
};
template <> struct SignedOf<uint64_t> {
  using type = int64_t;
};
template <> struct SignedOf<u128> {
  using type = i128;
};
template <class T> using Signed = typename SignedOf<T>::type;

template <class D, class A, auto F> void unary(Warp &w, const Instruction &i) {
  D *d = w.row<D>(i.to);
  const A *a = w.row<A>(i.a);
  forLanes(w, [=](unsigned l) { d[l] = D(F(a[l])); });
}
template <class D, class A, auto F> void binary(Warp &w, const Instruction &i) {
  D *d = w.row<D>(i.to);
  const A *a = w.row<A>(i.a), *b = w.row<A>(i.b);
  forLanes(w, [=](unsigned l) { d[l] = D(F(a[l], b[l])); });
}
template <class D, class A, auto F> void ternary(Warp &w, const Instruction &i) {
  D *d = w.row<D>(i.to);
  const A *a = w.row<A>(i.a), *b = w.row<A>(i.b), *c = w.row<A>(i.c);
  forLanes(w, [=](unsigned l) { d[l] = D(F(a[l], b[l], c[l])); });
}
/// Second operand of another type.
template <class D, class A, class B, auto F> void binaryMixed(Warp &w, const Instruction &i) {
  D *d = w.row<D>(i.to);
  const A *a = w.row<A>(i.a);
  const B *b = w.row<B>(i.b);
  forLanes(w, [=](unsigned l) { d[l] = D(F(a[l], b[l])); });
}

// ---- integers: Op is a template over the unsigned type ----
template <class T, class Op> void binaryInt(Warp &w, const Instruction &i) {
  binary<T, T, [](T a, T b) { return Op::template run<T>(a, b); }>(w, i);
}
template <class Op> Handler binaryByBytes(unsigned bytes) {
  switch (bytes) {
  case 1: return binaryInt<uint8_t, Op>;
  case 2: return binaryInt<uint16_t, Op>;
  case 4: return binaryInt<uint32_t, Op>;
  case 8: return binaryInt<uint64_t, Op>;
  default: return binaryInt<u128, Op>;
  }
}
template <class T, class Op> void compareInt(Warp &w, const Instruction &i) {
  binary<uint8_t, T, [](T a, T b) { return Op::template run<T>(a, b); }>(w, i);
}
template <class Op> Handler compareByBytes(unsigned bytes) {
  switch (bytes) {
  case 1: return compareInt<uint8_t, Op>;
  case 2: return compareInt<uint16_t, Op>;
  case 4: return compareInt<uint32_t, Op>;
  case 8: return compareInt<uint64_t, Op>;
  default: return compareInt<u128, Op>;
  }
}
template <class T, class Op> void unaryInt(Warp &w, const Instruction &i) {
  unary<T, T, [](T a) { return Op::template run<T>(a); }>(w, i);
}
template <class Op> Handler unaryByBytes(unsigned bytes) {
  switch (bytes) {
  case 1: return unaryInt<uint8_t, Op>;
  case 2: return unaryInt<uint16_t, Op>;
  case 4: return unaryInt<uint32_t, Op>;
  default: return unaryInt<uint64_t, Op>;
  }
}

// Shifts by the width or more are poison: zero here.
struct ShlOp {
  template <class T> static T run(T a, T b) { return b < sizeof(T) * 8 ? T(a << b) : T(0); }
};
struct LShrOp {
  template <class T> static T run(T a, T b) { return b < sizeof(T) * 8 ? T(a >> b) : T(0); }
};

/// A conversion between integer rows, by the widths in bytes of both (decode_rows.cpp).
Handler zeroExtendHandler(unsigned to, unsigned from);
Handler signExtendHandler(unsigned to, unsigned from);

// ---- floats ----
inline float halfToFloat(uint16_t h) { return runtime::decodeHalf(h); }
inline uint16_t floatToHalf(float f) { return runtime::encodeHalf(f); }
inline float bfloatToFloat(uint16_t h) { return runtime::decodeBfloat(h); }
inline uint16_t floatToBfloat(float f) { return runtime::encodeBfloat(f); }
inline void halfToFloatRow(Warp &w, const Instruction &i) {
  unary<float, uint16_t, [](uint16_t h) { return halfToFloat(h); }>(w, i);
}
inline void bfloatToFloatRow(Warp &w, const Instruction &i) {
  unary<float, uint16_t, [](uint16_t h) { return bfloatToFloat(h); }>(w, i);
}
/// Subnormals become zeros of their sign (PTX .ftz).
inline float flush(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
/// IEEE minNum and maxNum: the number where one operand is NaN; -0 is less than +0.
template <class T> T minNum(T a, T b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? a : b) : a < b ? a : b;
}
template <class T> T maxNum(T a, T b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : a == b ? (std::signbit(a) ? b : a) : a > b ? a : b;
}
template <class T> T minimumNan(T a, T b) { return std::isnan(a) ? a : std::isnan(b) ? b : minNum(a, b); }
template <class T> T maximumNan(T a, T b) { return std::isnan(a) ? a : std::isnan(b) ? b : maxNum(a, b); }

/// To an integer of `bits` bits, rounded toward zero, saturating; NaN gives 0 (PTX cvt.rzi; the IR leaves it open).
inline uint64_t toInteger(double x, bool isSigned, unsigned bits) {
  if (std::isnan(x)) return 0;
  x = std::trunc(x);
  if (isSigned) {
    double limit = std::ldexp(1.0, int(bits) - 1);
    int64_t most = int64_t(~uint64_t(0) >> (65 - bits)), least = -most - 1;
    int64_t v = x >= limit ? most : x < -limit ? least : int64_t(x);
    return bits == 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << bits) - 1);
  }
  double limit = std::ldexp(1.0, int(bits));
  uint64_t most = ~uint64_t(0) >> (64 - bits);
  return x >= limit ? most : x <= 0 ? 0 : uint64_t(x);
}

} // namespace tessera::emulator
