// Vector instructions on f32, f64 and single f16. Sources: ISA guides, "VOP1/VOP2/VOP3 instructions"; RDNA3's
// pseudocode for V_DIV_SCALE and V_DIV_FMAS, which says what the older guides leave out.
#include "runtime/amd_functions.h"
#include "runtime/code_object/rows.h"
#include <algorithm>
#include <cmath>

namespace tessera::code_object {

#if defined(__x86_64__)
#define TESSERA_FMA_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define TESSERA_FMA_CLONES
#endif

TESSERA_FMA_CLONES void fmaRows(float *d, const float *a, const float *b, const float *c, unsigned count) {
  for (unsigned l = 0; l < count; ++l) d[l] = __builtin_fmaf(a[l], b[l], c[l]);
}

namespace {

void fma32(void *d, const void *a, const void *b, const void *c) {
  fmaRows(static_cast<float *>(d), static_cast<const float *>(a), static_cast<const float *>(b),
          static_cast<const float *>(c), kLanes);
}
/// D = A * K + B: the literal is the second source.
Semantic fma32(const char *name) { return vectorSemantic(name, fma32, Type::F32, {Type::F32, Type::F32, Type::F32}); }

using HalfBits = Plain<Type::F16, uint16_t>;

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

template <class T> T fraction(T x) {
  if (std::isinf(x) || x != x) return std::numeric_limits<T>::quiet_NaN();
  T m = x - std::floor(x), below = std::nextafter(T(1), T(0));
  return m < 1 ? m : below;
}
template <class T> T median3(T x, T y, T z) {
  if (x != x || y != y || z != z) return minimumNumber(minimumNumber(x, y), z);
  return std::max(std::min(x, y), std::min(std::max(x, y), z));
}
template <class T> T maximum3(T a, T b, T c) { return maximumNumber(maximumNumber(a, b), c); }
template <class T> T minimum3(T a, T b, T c) { return minimumNumber(minimumNumber(a, b), c); }
/// IEEE 754-2019 maximum and minimum: of a NaN and a number the NaN.
template <class T> T maximumNan(T a, T b) { return a != a ? a : b != b ? b : maximumNumber(a, b); }
template <class T> T minimumNan(T a, T b) { return a != a ? a : b != b ? b : minimumNumber(a, b); }
/// Zero times anything is zero.
float multiplyLegacy(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }

template <class T> int32_t exponentOf(T x) {
  int e = 0;
  if (std::isfinite(x)) std::frexp(x, &e);
  return e;
}
template <class T> T mantissaOf(T x) {
  int e;
  return std::frexp(x, &e);
}

template <class T> struct Division;
template <> struct Division<float> {
  using Element = F32;
  static constexpr int kBias = 127, kFar = 96, kTiny = 23, kScale = 64;
};
template <> struct Division<double> {
  using Element = F64;
  static constexpr int kBias = 1023, kFar = 768, kTiny = 53, kScale = 128;
};
template <class T> int biasedExponent(T x) {
  if constexpr (sizeof(T) == 4)
    return int(asBits(x) >> 23 & 255);
  else
    return int(std::bit_cast<uint64_t>(x) >> 52 & 2047);
}
template <class T> bool isDenormal(T x) { return x != 0 && std::fabs(x) < std::numeric_limits<T>::min(); }

template <class T> T scaleForDivision(T value, T denominator, T numerator, bool &postScale) {
  using D = Division<T>;
  postScale = false;
  if (numerator == 0 || denominator == 0) return std::numeric_limits<T>::quiet_NaN();
  bool isDenominator = value == denominator, isNumerator = value == numerator;
  if (biasedExponent(numerator) - biasedExponent(denominator) >= D::kFar) {
    postScale = true;
    return isDenominator ? std::ldexp(value, D::kScale) : value;
  }
  if (isDenormal(denominator)) return std::ldexp(value, D::kScale);
  bool tinyInverse = isDenormal(T(1) / denominator), tinyQuotient = isDenormal(numerator / denominator);
  // The guides print +64 here, with which every such denominator would overflow; V_DIV_FMAS scales the other way.
  if (tinyInverse && tinyQuotient) {
    postScale = true;
    return isDenominator ? std::ldexp(value, -D::kScale) : value;
  }
  if (tinyInverse) return std::ldexp(value, -D::kScale);
  if (tinyQuotient) {
    postScale = true;
    return isNumerator ? std::ldexp(value, D::kScale) : value;
  }
  return biasedExponent(numerator) <= D::kTiny ? std::ldexp(value, D::kScale) : value;
}

/// v_div_scale D, mask, S0, S1 (denominator), S2 (numerator)
template <class T> void divisionScale(Wave &w, const Step &s) {
  using E = typename Division<T>::Element;
  Row64 rows[3], out;
  const typename E::Storage *x[3];
  for (unsigned i = 0; i < 3; ++i)
    x[i] = static_cast<const typename E::Storage *>(readSource(w, s, i + 2, i, E::type, rows[i]));
  auto *d = reinterpret_cast<typename E::Storage *>(out.lane);
  uint64_t mask = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    bool post;
    d[l] = E::store(scaleForDivision<T>(E::load(x[0][l]), E::load(x[1][l]), E::load(x[2][l]), post));
    mask |= uint64_t(post) << l;
  }
  writeResult(w, s, s[0], E::type, out);
  writeMask(w, s[1], mask & w.exec());
}
/// v_div_fmas D, A, B, C: VCC says which lanes are scaled back.
template <class T> void divisionFma(Wave &w, const Step &s) {
  using E = typename Division<T>::Element;
  Row64 rows[3], out;
  const typename E::Storage *x[3];
  for (unsigned i = 0; i < 3; ++i)
    x[i] = static_cast<const typename E::Storage *>(readSource(w, s, i + 1, i, E::type, rows[i]));
  auto *d = reinterpret_cast<typename E::Storage *>(out.lane);
  uint64_t vcc = w.vcc();
  for (unsigned l = 0; l < kLanes; ++l) {
    T c = E::load(x[2][l]), r = std::fma(E::load(x[0][l]), E::load(x[1][l]), c);
    int scale = biasedExponent(c) > Division<T>::kBias ? Division<T>::kScale : -Division<T>::kScale;
    d[l] = E::store(vcc >> l & 1 ? std::ldexp(r, scale) : r);
  }
  writeResult(w, s, s[0], E::type, out);
}

/// v_fma_mix: each source f32, or where op_sel_hi says so a half of the register, chosen by op_sel.
enum class MixTo : uint64_t { F32, Low, High };
void fmaMix(Wave &w, const Step &s) {
  Row broadcast;
  Row64 out;
  alignas(64) float x[3][kLanes];
  const Modifiers &m = *s.modifiers;
  for (unsigned i = 0; i < 3; ++i) {
    const Operand &o = s[i + 1];
    const uint32_t *from = readRow(w, o, 0, broadcast);
    bool isHalf = m.opSelHi != kOpSelHiNotWritten && m.opSelHi >> i & 1, isHigh = m.opSel >> i & 1;
    bool negate = o.negate || m.negLo >> i & 1, absolute = o.absolute || m.negHi >> i & 1;
    for (unsigned l = 0; l < kLanes; ++l) {
      float v = isHalf ? runtime::decodeHalf(uint16_t(from[l] >> (isHigh ? 16 : 0))) : asFloat(from[l]);
      v = absolute ? std::fabs(v) : v;
      x[i][l] = negate ? -v : v;
    }
  }
  alignas(64) float r[kLanes];
  fmaRows(r, x[0], x[1], x[2], kLanes);
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  auto to = MixTo(s.semantic->detail);
  for (unsigned l = 0; l < kLanes; ++l) d[l] = asBits(r[l]);
  if (to == MixTo::F32) return writeResult(w, s, s[0], Type::F32, out);
  const uint32_t *old = w.row(s[0].index);
  bool isLow = to == MixTo::Low;
  for (unsigned l = 0; l < kLanes; ++l) {
    float v = m.clamp ? std::min(std::max(r[l], 0.0f), 1.0f) : r[l];
    // The sum is rounded once, to f16: the exact one, not its f32.
    uint32_t h = m.clamp ? runtime::encodeHalf(v) : runtime::encodeHalf(fmaHalf(x[0][l], x[1][l], x[2][l]));
    d[l] = isLow ? (old[l] & 0xffff0000) | h : (old[l] & 0xffff) | h << 16;
  }
  writeRow(w, s[0], 0, d, w.exec());
}

void addArithmetic32(std::vector<Semantic> &t) {
  t.insert(
      t.end(),
      {
          binary<F32>("v_add_f32", [](float a, float b) { return a + b; }),
          binary<F32>("v_sub_f32", [](float a, float b) { return a - b; }),
          binary<F32>("v_subrev_f32", [](float a, float b) { return b - a; }),
          binary<F32>("v_mul_f32", [](float a, float b) { return a * b; }),
          binary<F32>("v_mul_legacy_f32", [](auto... x) { return multiplyLegacy(x...); }),
          binary<F32>("v_mul_dx9_zero_f32", [](auto... x) { return multiplyLegacy(x...); }),
          binary<F32>("v_max_f32", [](auto... x) { return maximumNumber<float>(x...); }),
          binary<F32>("v_min_f32", [](auto... x) { return minimumNumber<float>(x...); }),
          binary<F32>("v_max_num_f32", [](auto... x) { return maximumNumber<float>(x...); }),
          binary<F32>("v_min_num_f32", [](auto... x) { return minimumNumber<float>(x...); }),
          binary<F32>("v_maximum_f32", [](auto... x) { return maximumNan<float>(x...); }),
          binary<F32>("v_minimum_f32", [](auto... x) { return minimumNan<float>(x...); }),
          ternary<F32>("v_max3_f32", [](auto... x) { return maximum3<float>(x...); }),
          ternary<F32>("v_min3_f32", [](auto... x) { return minimum3<float>(x...); }),
          ternary<F32>("v_max3_num_f32", [](auto... x) { return maximum3<float>(x...); }),
          ternary<F32>("v_min3_num_f32", [](auto... x) { return minimum3<float>(x...); }),
          ternary<F32>("v_maximum3_f32", [](float a, float b, float c) { return maximumNan(maximumNan(a, b), c); }),
          ternary<F32>("v_minimum3_f32", [](float a, float b, float c) { return minimumNan(minimumNan(a, b), c); }),
          ternary<F32>("v_maxmin_f32", [](float a, float b, float c) { return minimumNumber(maximumNumber(a, b), c); }),
          ternary<F32>("v_minmax_f32", [](float a, float b, float c) { return maximumNumber(minimumNumber(a, b), c); }),
          ternary<F32>("v_maxmin_num_f32",
                       [](float a, float b, float c) { return minimumNumber(maximumNumber(a, b), c); }),
          ternary<F32>("v_minmax_num_f32",
                       [](float a, float b, float c) { return maximumNumber(minimumNumber(a, b), c); }),
          ternary<F32>("v_maximumminimum_f32",
                       [](float a, float b, float c) { return minimumNan(maximumNan(a, b), c); }),
          ternary<F32>("v_minimummaximum_f32",
                       [](float a, float b, float c) { return maximumNan(minimumNan(a, b), c); }),
          ternary<F32>("v_med3_f32", [](auto... x) { return median3<float>(x...); }),
          ternary<F32>("v_med3_num_f32", [](auto... x) { return median3<float>(x...); }),
          fma32("v_fma_f32"),
          accumulating(fma32("v_fmac_f32")),
          fma32("v_fmaak_f32"),
          fma32("v_fmamk_f32"), // D = A * K + B, and K stands second
          ternary<F32>("v_mad_f32", [](float a, float b, float c) { return a * b + c; }),
          ternary<F32>("v_madak_f32", [](float a, float b, float c) { return a * b + c; }),
          ternary<F32>("v_madmk_f32", [](float a, float b, float c) { return a * b + c; }),
          accumulating(ternary<F32>("v_mac_f32", [](float a, float b, float c) { return a * b + c; })),
          binary<F32, F32, I32>("v_ldexp_f32", [](float a, int32_t b) { return std::ldexp(a, b); }),
          ternary<F32>("v_div_fixup_f32", [](auto... x) { return runtime::amd::divisionFixup<float>(x...); }),
      });
}

void addFunctions32(std::vector<Semantic> &t) {
  t.insert(t.end(),
           {
               unary<F32, F32>("v_floor_f32", [](float a) { return std::floor(a); }),
               unary<F32, F32>("v_ceil_f32", [](float a) { return std::ceil(a); }),
               unary<F32, F32>("v_trunc_f32", [](float a) { return std::trunc(a); }),
               unary<F32, F32>("v_rndne_f32", [](float a) { return std::nearbyint(a); }),
               unary<F32, F32>("v_fract_f32", [](auto... x) { return fraction<float>(x...); }),
               unary<I32, F32>("v_frexp_exp_i32_f32", [](auto... x) { return exponentOf<float>(x...); }),
               unary<F32, F32>("v_frexp_mant_f32", [](auto... x) { return mantissaOf<float>(x...); }),
               // Denormals are flushed (ISA guides, V_EXP_F32, V_LOG_F32, V_RSQ_F32, V_SQRT_F32).
               unary<F32, F32>("v_exp_f32", [](float a) { return flushed(std::exp2(flushed(a))); }),
               unary<F32, F32>("v_log_f32", [](float a) { return std::log2(flushed(a)); }),
               unary<F32, F32>("v_rsq_f32", [](float a) { return float(1.0 / std::sqrt(double(flushed(a)))); }),
               unary<F32, F32>("v_sqrt_f32", [](float a) { return std::sqrt(flushed(a)); }),
               unary<F32, F32>("v_rcp_f32", [](float a) { return 1.0f / a; }),
               unary<F32, F32>("v_rcp_iflag_f32", [](float a) { return 1.0f / a; }),
               unary<F32, F32>("v_sin_f32",
                               [](float a) { return float(std::sin(2 * M_PI * std::remainder(double(a), 1.0))); }),
               unary<F32, F32>("v_cos_f32",
                               [](float a) { return float(std::cos(2 * M_PI * std::remainder(double(a), 1.0))); }),
               unary<F32, F32>("v_tanh_f32", [](float a) { return std::tanh(a); }),
           });
}

void add64(std::vector<Semantic> &t) {
  t.insert(t.end(),
           {
               binary<F64>("v_add_f64", [](double a, double b) { return a + b; }),
               binary<F64>("v_mul_f64", [](double a, double b) { return a * b; }),
               binary<F64>("v_max_f64", [](auto... x) { return maximumNumber<double>(x...); }),
               binary<F64>("v_min_f64", [](auto... x) { return minimumNumber<double>(x...); }),
               binary<F64>("v_max_num_f64", [](auto... x) { return maximumNumber<double>(x...); }),
               binary<F64>("v_min_num_f64", [](auto... x) { return minimumNumber<double>(x...); }),
               ternary<F64>("v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); }),
               accumulating(ternary<F64>("v_fmac_f64", [](double a, double b, double c) { return std::fma(a, b, c); })),
               binary<F64, F64, I32>("v_ldexp_f64", [](double a, int32_t b) { return std::ldexp(a, b); }),
               ternary<F64>("v_div_fixup_f64", [](auto... x) { return runtime::amd::divisionFixup<double>(x...); }),
               unary<F64, F64>("v_floor_f64", [](double a) { return std::floor(a); }),
               unary<F64, F64>("v_ceil_f64", [](double a) { return std::ceil(a); }),
               unary<F64, F64>("v_trunc_f64", [](double a) { return std::trunc(a); }),
               unary<F64, F64>("v_rndne_f64", [](double a) { return std::nearbyint(a); }),
               unary<F64, F64>("v_fract_f64", [](auto... x) { return fraction<double>(x...); }),
               unary<I32, F64>("v_frexp_exp_i32_f64", [](auto... x) { return exponentOf<double>(x...); }),
               unary<F64, F64>("v_frexp_mant_f64", [](auto... x) { return mantissaOf<double>(x...); }),
               unary<F64, F64>("v_rcp_f64", [](double a) { return 1.0 / a; }),
               unary<F64, F64>("v_rsq_f64", [](double a) { return 1.0 / std::sqrt(a); }),
               unary<F64, F64>("v_sqrt_f64", [](double a) { return std::sqrt(a); }),
               binary<F64, F64, U32>("v_trig_preop_f64", [](auto... x) { return runtime::amd::trigPreop(x...); }),
               special("v_div_scale_f64", divisionScale<double>, Type::F64, {}),
               special("v_div_fmas_f64", divisionFma<double>, Type::F64, {Type::F64, Type::F64, Type::F64}),
           });
}

void add16(std::vector<Semantic> &t) {
  t.insert(t.end(),
           {
               binary<F16>("v_add_f16", [](float a, float b) { return a + b; }),
               binary<F16>("v_sub_f16", [](float a, float b) { return a - b; }),
               binary<F16>("v_subrev_f16", [](float a, float b) { return b - a; }),
               binary<F16>("v_mul_f16", [](float a, float b) { return a * b; }),
               binary<F16>("v_max_f16", [](auto... x) { return maximumNumber<float>(x...); }),
               binary<F16>("v_min_f16", [](auto... x) { return minimumNumber<float>(x...); }),
               binary<F16>("v_max_num_f16", [](auto... x) { return maximumNumber<float>(x...); }),
               binary<F16>("v_min_num_f16", [](auto... x) { return minimumNumber<float>(x...); }),
               binary<F16>("v_maximum_f16", [](auto... x) { return maximumNan<float>(x...); }),
               binary<F16>("v_minimum_f16", [](auto... x) { return minimumNan<float>(x...); }),
               ternary<F16>("v_max3_f16", [](auto... x) { return maximum3<float>(x...); }),
               ternary<F16>("v_min3_f16", [](auto... x) { return minimum3<float>(x...); }),
               ternary<F16>("v_max3_num_f16", [](auto... x) { return maximum3<float>(x...); }),
               ternary<F16>("v_min3_num_f16", [](auto... x) { return minimum3<float>(x...); }),
               ternary<F16>("v_med3_f16", [](auto... x) { return median3<float>(x...); }),
               ternary<F16>("v_med3_num_f16", [](auto... x) { return median3<float>(x...); }),
               ternary<F16>("v_fma_f16", [](auto... x) { return fmaHalf(x...); }),
               accumulating(ternary<F16>("v_fmac_f16", [](auto... x) { return fmaHalf(x...); })),
               ternary<F16>("v_fmaak_f16", [](auto... x) { return fmaHalf(x...); }),
               ternary<F16>("v_fmamk_f16", [](auto... x) { return fmaHalf(x...); }),
               ternary<F16>("v_mad_f16", [](float a, float b,
                                            float c) { return runtime::decodeHalf(runtime::encodeHalf(a * b)) + c; }),
               ternary<F16>("v_div_fixup_f16", [](auto... x) { return runtime::amd::divisionFixup<float>(x...); }),
               binary<F16, F16, I16>("v_ldexp_f16", [](float a, int16_t b) { return std::ldexp(a, b); }),
               unary<F16, F16>("v_floor_f16", [](float a) { return std::floor(a); }),
               unary<F16, F16>("v_ceil_f16", [](float a) { return std::ceil(a); }),
               unary<F16, F16>("v_trunc_f16", [](float a) { return std::trunc(a); }),
               unary<F16, F16>("v_rndne_f16", [](float a) { return std::nearbyint(a); }),
               unary<F16, F16>("v_fract_f16", [](float a) { return std::min(fraction(a), 0x1.ffcp-1f); }),
               unary<I16, F16>("v_frexp_exp_i16_f16", [](float a) { return int16_t(exponentOf(a)); }),
               unary<F16, F16>("v_frexp_mant_f16", [](auto... x) { return mantissaOf<float>(x...); }),
               unary<F16, F16>("v_exp_f16", [](float a) { return std::exp2(a); }),
               unary<F16, F16>("v_log_f16", [](float a) { return std::log2(a); }),
               unary<F16, F16>("v_rsq_f16", [](float a) { return 1.0f / std::sqrt(a); }),
               unary<F16, F16>("v_sqrt_f16", [](float a) { return std::sqrt(a); }),
               unary<F16, F16>("v_rcp_f16", [](float a) { return 1.0f / a; }),
               unary<F16, F16>("v_sin_f16",
                               [](float a) { return float(std::sin(2 * M_PI * std::remainder(double(a), 1.0))); }),
               unary<F16, F16>("v_cos_f16",
                               [](float a) { return float(std::cos(2 * M_PI * std::remainder(double(a), 1.0))); }),
               binary<U32, HalfBits, HalfBits>("v_pack_b32_f16",
                                               [](uint16_t a, uint16_t b) { return uint32_t(a) | uint32_t(b) << 16; }),
           });
}

} // namespace

std::vector<Semantic> floatSemantics() {
  std::vector<Semantic> t;
  addArithmetic32(t);
  addFunctions32(t);
  add64(t);
  add16(t);
  t.push_back(special("v_div_scale_f32", divisionScale<float>, Type::F32, {}));
  t.push_back(special("v_div_fmas_f32", divisionFma<float>, Type::F32, {Type::F32, Type::F32, Type::F32}));
  for (const char *prefix : {"v_fma_", "v_mad_"})
    for (auto [name, to] : {std::pair("mix_f32", MixTo::F32), {"mixlo_f16", MixTo::Low}, {"mixhi_f16", MixTo::High}})
      t.push_back(special((std::string(prefix) + name).c_str(), fmaMix, Type::F32, {Type::F32, Type::F32, Type::F32},
                          uint64_t(to)));
  return t;
}

} // namespace tessera::code_object
