// Conversions between number formats. Sources: ISA guides, "VOP1/VOP3 instructions"; LLVM's AMDGPUUsage for gfx950's
// scaled conversions. Of formats of 8 bits gfx942 has the FNUZ kinds, gfx950 and gfx12 OCP's.
#include "runtime/code_object/rows.h"
#include <algorithm>
#include <cmath>

namespace tessera::code_object {
using namespace llvm;

namespace {

template <class I, class T> I toInteger(T x) {
  if (x != x) return 0;
  if (x <= T(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  if (x >= T(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  return I(x);
}
template <unsigned Byte> float byteToFloat(uint32_t x) { return float(x >> (8 * Byte) & 0xff); }

using HalfPair = Plain<Type::B32, uint32_t>;
uint32_t packTowardZero(float a, float b) {
  auto bits = [](float x) {
    return uint32_t(runtime::encodeFloat(ir::FloatKind::F16, x, runtime::Rounding::TowardZero));
  };
  return bits(a) | bits(b) << 16;
}
uint32_t packBfloat(float a, float b) { return runtime::encodeBfloat(a) | uint32_t(runtime::encodeBfloat(b)) << 16; }
template <class T> uint32_t normalized(float x, float scale) {
  return uint16_t(toInteger<T>(std::nearbyint(std::clamp(x, std::is_signed_v<T> ? -1.0f : 0.0f, 1.0f) * scale)));
}

// ---- formats of 8 bits: which kind is the semantic's detail ----

ir::FloatKind kindOf(bool isFp8, bool isFnuz) {
  if (isFnuz) return isFp8 ? ir::FloatKind::F8E4M3FNUZ : ir::FloatKind::F8E5M2FNUZ;
  return isFp8 ? ir::FloatKind::F8E4M3FN : ir::FloatKind::F8E5M2;
}

/// Of a scale that is a float, its power of two alone.
double powerOfTwo(float scale) {
  if (scale != scale || std::isinf(scale)) return std::numeric_limits<double>::quiet_NaN();
  return std::ldexp(1.0, int(asBits(scale) >> 23 & 0xff) - 127);
}

/// Without MODE.FP16_OVFL, what rounds beyond the largest number is infinity, or NaN if the kind has none.
uint32_t encode8(ir::FloatKind kind, double x, bool saturates) {
  auto bits = uint32_t(runtime::encodeFloat(kind, x));
  if (saturates || x != x) return bits;
  double a = std::abs(x);
  switch (kind) { // half a unit beyond the largest number, which has an even pattern in E4M3FN alone
  case ir::FloatKind::F8E4M3FN: return a > 464 ? bits | 0x7f : bits;
  case ir::FloatKind::F8E4M3FNUZ: return a >= 248 ? 0x80 : bits;
  case ir::FloatKind::F8E5M2: return a >= 61440 ? (bits & 0x80) | 0x7c : bits;
  default: return a >= 61440 ? 0x80 : bits; // F8E5M2FNUZ
  }
}

/// Rounds a pair of numbers for each lane, which `pairOf` gives, into the half of D that op_sel[3] says; the other is
/// kept.
template <class PairOf> void writePairTo8(Wave &w, const Step &s, PairOf pairOf) {
  auto kind = ir::FloatKind(s.semantic->detail);
  Row64 out;
  bool isHigh = s.modifiers->opSel >> 3 & 1 || s[0].highHalf;
  const uint32_t *old = w.row(s[0].index);
  bool saturates = w.modeRegister >> 23 & 1;
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  for (unsigned l = 0; l < kLanes; ++l) {
    auto [low, high] = pairOf(l);
    uint32_t v = encode8(kind, low, saturates) | encode8(kind, high, saturates) << 8;
    d[l] = isHigh ? (old[l] & 0xffff) | v << 16 : (old[l] & 0xffff0000) | v;
  }
  writeRow(w, s[0], 0, d, writableLanes(w, s));
}

/// v_cvt_pk_fp8_f32 D, A, B. v_cvt_scalef32_pk_fp8_f32 D, A, B, S: of the numbers divided by the scale.
template <bool IsScaled> void pairTo8(Wave &w, const Step &s) {
  Row64 a, b, c;
  auto *scale = IsScaled ? static_cast<const float *>(readSource(w, s, 3, 2, Type::F32, c)) : nullptr;
  auto *x = static_cast<const float *>(readSource(w, s, 1, 0, Type::F32, a));
  auto *y = static_cast<const float *>(readSource(w, s, 2, 1, Type::F32, b));
  writePairTo8(w, s, [&](unsigned l) {
    double by = IsScaled ? powerOfTwo(scale[l]) : 1;
    return std::pair(x[l] / by, y[l] / by);
  });
}

/// v_cvt_scalef32_pk_fp8_bf16 D, A, S: the same of the pair of 16-bit numbers in A.
template <ir::FloatKind Half> void pairFromHalvesTo8(Wave &w, const Step &s) {
  Row64 a, b;
  auto *scale = static_cast<const float *>(readSource(w, s, 2, 1, Type::F32, b));
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 1, 0, Type::B32, a));
  writePairTo8(w, s, [&](unsigned l) {
    double by = powerOfTwo(scale[l]);
    return std::pair(runtime::decodeFloat(Half, x[l] & 0xffff) / by, runtime::decodeFloat(Half, x[l] >> 16) / by);
  });
}

/// v_cvt_f32_fp8 D, A: the byte that SDWA, op_sel or byte_sel says.
void oneFrom8(Wave &w, const Step &s) {
  auto kind = ir::FloatKind(s.semantic->detail);
  Row64 a, out;
  const Modifiers &m = *s.modifiers;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 1, 0, Type::B32, a));
  unsigned byte = m.byteSelect ? m.byteSelect : (m.opSel & 1) | (m.opSel & 2);
  if (m.isSdwa) byte = 0;
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  for (unsigned l = 0; l < kLanes; ++l) d[l] = asBits(float(runtime::decodeFloat(kind, x[l] >> (8 * byte) & 0xff)));
  writeResult(w, s, s[0], Type::F32, out);
}
/// v_cvt_pk_f32_fp8 D[0:1], A: of the half that SDWA or op_sel[0] says. v_cvt_scalef32_pk_f32_fp8 D[0:1], A, S: times
/// the scale.
template <bool IsScaled> void pairFrom8(Wave &w, const Step &s) {
  auto kind = ir::FloatKind(s.semantic->detail);
  Row64 a, b;
  auto *scale = IsScaled ? static_cast<const float *>(readSource(w, s, 2, 1, Type::F32, b)) : nullptr;
  Row low, high;
  const Modifiers &m = *s.modifiers;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 1, 0, Type::B32, a));
  unsigned shift = !m.isSdwa && (m.opSel & 1 || s[1].highHalf) ? 16 : 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    double by = IsScaled ? powerOfTwo(scale[l]) : 1;
    low.lane[l] = asBits(float(runtime::decodeFloat(kind, x[l] >> shift & 0xff) * by));
    high.lane[l] = asBits(float(runtime::decodeFloat(kind, x[l] >> (shift + 8) & 0xff) * by));
  }
  writeRow(w, s[0], 0, low.lane, w.exec());
  writeRow(w, s[0], 1, high.lane, w.exec());
}

void addNumbers(std::vector<Semantic> &t) {
  t.insert(
      t.end(),
      {
          unary<F32, I32>("v_cvt_f32_i32", [](int32_t a) { return float(a); }),
          unary<F32, U32>("v_cvt_f32_u32", [](uint32_t a) { return float(a); }),
          unary<I32, F32>("v_cvt_i32_f32", [](auto... x) { return toInteger<int32_t, float>(x...); }),
          unary<U32, F32>("v_cvt_u32_f32", [](auto... x) { return toInteger<uint32_t, float>(x...); }),
          unary<I32, F32>("v_cvt_rpi_i32_f32", [](float a) { return toInteger<int32_t>(std::floor(a + 0.5f)); }),
          unary<I32, F32>("v_cvt_nearest_i32_f32", [](float a) { return toInteger<int32_t>(std::floor(a + 0.5f)); }),
          unary<I32, F32>("v_cvt_flr_i32_f32", [](float a) { return toInteger<int32_t>(std::floor(a)); }),
          unary<I32, F32>("v_cvt_floor_i32_f32", [](float a) { return toInteger<int32_t>(std::floor(a)); }),
          unary<F32, U32>("v_cvt_f32_ubyte0", [](auto... x) { return byteToFloat<0>(x...); }),
          unary<F32, U32>("v_cvt_f32_ubyte1", [](auto... x) { return byteToFloat<1>(x...); }),
          unary<F32, U32>("v_cvt_f32_ubyte2", [](auto... x) { return byteToFloat<2>(x...); }),
          unary<F32, U32>("v_cvt_f32_ubyte3", [](auto... x) { return byteToFloat<3>(x...); }),
          unary<F64, I32>("v_cvt_f64_i32", [](int32_t a) { return double(a); }),
          unary<F64, U32>("v_cvt_f64_u32", [](uint32_t a) { return double(a); }),
          unary<F64, F32>("v_cvt_f64_f32", [](float a) { return double(a); }),
          unary<F32, F64>("v_cvt_f32_f64", [](double a) { return float(a); }),
          unary<I32, F64>("v_cvt_i32_f64", [](auto... x) { return toInteger<int32_t, double>(x...); }),
          unary<U32, F64>("v_cvt_u32_f64", [](auto... x) { return toInteger<uint32_t, double>(x...); }),
          unary<F32, F16>("v_cvt_f32_f16", [](float a) { return a; }),
          unary<F16, F32>("v_cvt_f16_f32", [](float a) { return a; }),
          unary<F32, BF16>("v_cvt_f32_bf16", [](float a) { return a; }),
          unary<F16, I16>("v_cvt_f16_i16", [](int16_t a) { return float(a); }),
          unary<F16, U16>("v_cvt_f16_u16", [](uint16_t a) { return float(a); }),
          unary<I16, F16>("v_cvt_i16_f16", [](auto... x) { return toInteger<int16_t, float>(x...); }),
          unary<U16, F16>("v_cvt_u16_f16", [](auto... x) { return toInteger<uint16_t, float>(x...); }),
          unary<I32, I16>("v_cvt_i32_i16", [](int16_t a) { return int32_t(a); }),
          unary<U32, U16>("v_cvt_u32_u16", [](uint16_t a) { return uint32_t(a); }),
          binary<HalfPair, F32, F32>("v_cvt_pkrtz_f16_f32", [](auto... x) { return packTowardZero(x...); }),
          binary<HalfPair, F32, F32>("v_cvt_pk_rtz_f16_f32", [](auto... x) { return packTowardZero(x...); }),
          binary<HalfPair, F32, F32>(
              "v_cvt_pk_f16_f32",
              [](float a, float b) { return runtime::encodeHalf(a) | uint32_t(runtime::encodeHalf(b)) << 16; }),
          binary<HalfPair, F32, F32>("v_cvt_pk_bf16_f32", [](auto... x) { return packBfloat(x...); }),
          binary<U32>("v_cvt_pk_u16_u32",
                      [](uint32_t a, uint32_t b) { return std::min(a, 0xffffu) | std::min(b, 0xffffu) << 16; }),
          binary<U32, I32, I32>("v_cvt_pk_i16_i32",
                                [](int32_t a, int32_t b) {
                                  return uint32_t(uint16_t(std::clamp(a, -32768, 32767))) |
                                         uint32_t(uint16_t(std::clamp(b, -32768, 32767))) << 16;
                                }),
          binary<U32, F32, F32>(
              "v_cvt_pknorm_i16_f32",
              [](float a, float b) { return normalized<int16_t>(a, 32767) | normalized<int16_t>(b, 32767) << 16; }),
          binary<U32, F32, F32>(
              "v_cvt_pknorm_u16_f32",
              [](float a, float b) { return normalized<uint16_t>(a, 65535) | normalized<uint16_t>(b, 65535) << 16; }),
          ternary<U32, F32, U32, U32>("v_cvt_pk_u8_f32",
                                      [](float a, uint32_t b, uint32_t c) {
                                        unsigned shift = 8 * (b & 3);
                                        return (c & ~(0xffu << shift)) | uint32_t(toInteger<uint8_t>(std::nearbyint(a)))
                                                                             << shift;
                                      }),
      });
}

} // namespace

std::vector<Semantic> conversionSemantics() {
  std::vector<Semantic> t;
  addNumbers(t);
  return t;
}

Semantic scaledConversion(StringRef m, StringRef target) {
  bool isFnuz = target == "gfx942" || target == "gfx90a" || target == "gfx940";
  auto kind = [&](StringRef name) { return uint64_t(kindOf(name.contains("fp8"), isFnuz)); };
  if (m == "v_cvt_pk_fp8_f32" || m == "v_cvt_pk_bf8_f32")
    return special("", pairTo8<false>, Type::B32, {Type::F32, Type::F32}, kind(m));
  if (m == "v_cvt_scalef32_pk_fp8_f32" || m == "v_cvt_scalef32_pk_bf8_f32")
    return special("", pairTo8<true>, Type::B32, {Type::F32, Type::F32, Type::F32}, kind(m));
  if (m == "v_cvt_scalef32_pk_fp8_bf16" || m == "v_cvt_scalef32_pk_bf8_bf16")
    return special("", pairFromHalvesTo8<ir::FloatKind::BF16>, Type::B32, {Type::B32, Type::F32}, kind(m));
  if (m == "v_cvt_scalef32_pk_fp8_f16" || m == "v_cvt_scalef32_pk_bf8_f16")
    return special("", pairFromHalvesTo8<ir::FloatKind::F16>, Type::B32, {Type::B32, Type::F32}, kind(m));
  if (m == "v_cvt_f32_fp8" || m == "v_cvt_f32_bf8") return special("", oneFrom8, Type::F32, {Type::B32}, kind(m));
  if (m == "v_cvt_pk_f32_fp8" || m == "v_cvt_pk_f32_bf8")
    return special("", pairFrom8<false>, Type::PackedF32, {Type::B32}, kind(m));
  if (m == "v_cvt_scalef32_pk_f32_fp8" || m == "v_cvt_scalef32_pk_f32_bf8")
    return special("", pairFrom8<true>, Type::PackedF32, {Type::B32, Type::F32}, kind(m));
  return {};
}

} // namespace tessera::code_object
