// Packed instructions: two halves of a register, or two registers of f32 (ISA guides, "VOP3P instructions", "Packed
// Math").
#include "runtime/code_object/rows.h"
#include <algorithm>
#include <cmath>

namespace tessera::code_object {

namespace {

// ---- two f32 ----

template <class F> void pairs32(void *d, const void *a, const void *b, const void *) {
  auto *__restrict out = static_cast<float *>(d);
  auto *x = static_cast<const float *>(a);
  auto *y = static_cast<const float *>(b);
  for (unsigned l = 0; l < 2 * kLanes; ++l) out[l] = F{}(x[l], y[l]);
}
void fmaPairs32(void *d, const void *a, const void *b, const void *c) {
  fmaRows(static_cast<float *>(d), static_cast<const float *>(a), static_cast<const float *>(b),
          static_cast<const float *>(c), 2 * kLanes);
}
void movePairs(void *d, const void *a, const void *b, const void *) {
  // op_sel alone chooses: what the first source has for the low half, and the second one.
  std::memcpy(d, a, sizeof(Row));
  std::memcpy(static_cast<uint32_t *>(d) + kLanes, b, sizeof(Row));
}
template <class F> Semantic pair32(const char *name, F) {
  return vectorSemantic(name, pairs32<F>, Type::PackedF32, {Type::PackedF32, Type::PackedF32});
}

// ---- two halves ----

template <class E, class F> void halves2(void *d, const void *a, const void *b, const void *) {
  auto *__restrict out = static_cast<uint32_t *>(d);
  auto *x = static_cast<const uint32_t *>(a);
  auto *y = static_cast<const uint32_t *>(b);
  auto f = [](auto p, auto q) { return E::store(typename E::Value(F{}(p, q))); };
  for (unsigned l = 0; l < kLanes; ++l)
    out[l] = (f(E::load(x[l] & 0xffff), E::load(y[l] & 0xffff)) & 0xffff) | f(E::load(x[l] >> 16), E::load(y[l] >> 16))
                                                                                << 16;
}
template <class E, class F> void halves3(void *d, const void *a, const void *b, const void *c) {
  auto *__restrict out = static_cast<uint32_t *>(d);
  auto *x = static_cast<const uint32_t *>(a);
  auto *y = static_cast<const uint32_t *>(b);
  auto *z = static_cast<const uint32_t *>(c);
  auto f = [](auto p, auto q, auto r) { return E::store(typename E::Value(F{}(p, q, r))); };
  for (unsigned l = 0; l < kLanes; ++l)
    out[l] = (f(E::load(x[l] & 0xffff), E::load(y[l] & 0xffff), E::load(z[l] & 0xffff)) & 0xffff) |
             f(E::load(x[l] >> 16), E::load(y[l] >> 16), E::load(z[l] >> 16)) << 16;
}
template <class E> constexpr Type kPacked = E::type == Type::B16 ? Type::PackedB16 : Type::PackedF16;
template <class E, class F> Semantic half2(const char *name, F) {
  return vectorSemantic(name, halves2<E, F>, kPacked<E>, {kPacked<E>, kPacked<E>});
}
template <class E, class F> Semantic half3(const char *name, F) {
  return vectorSemantic(name, halves3<E, F>, kPacked<E>, {kPacked<E>, kPacked<E>, kPacked<E>});
}

// ---- dots of two halves, added to an f32 ----

template <class E> void dot2(void *d, const void *a, const void *b, const void *c) {
  auto *__restrict out = static_cast<uint32_t *>(d);
  auto *x = static_cast<const uint32_t *>(a);
  auto *y = static_cast<const uint32_t *>(b);
  auto *z = static_cast<const uint32_t *>(c);
  for (unsigned l = 0; l < kLanes; ++l) {
    double p = double(E::load(x[l] & 0xffff)) * E::load(y[l] & 0xffff),
           q = double(E::load(x[l] >> 16)) * E::load(y[l] >> 16);
    out[l] = asBits(float(p + q + double(asFloat(z[l]))));
  }
}
template <class E> Semantic dot(const char *name) {
  return vectorSemantic(name, dot2<E>, Type::F32, {Type::PackedF16, Type::PackedF16, Type::F32});
}

/// Sums of 16 bits that saturate with clamp.
template <class T, bool IsAdd> void saturating(Wave &w, const Step &s) {
  if (!s.modifiers->clamp) return vectorOperation(w, s);
  Row64 a, b, out;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 1, 0, Type::PackedB16, a));
  auto *y = static_cast<const uint32_t *>(readSource(w, s, 2, 1, Type::PackedB16, b));
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  auto one = [](uint32_t p, uint32_t q) {
    int v = IsAdd ? int(T(p)) + T(q) : int(T(p)) - T(q);
    return uint32_t(std::clamp<int>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())) & 0xffff;
  };
  for (unsigned l = 0; l < kLanes; ++l) d[l] = one(x[l], y[l]) | one(x[l] >> 16, y[l] >> 16) << 16;
  writeResult(w, s, s[0], Type::PackedB16, out);
}
Semantic with(Semantic s, Handler h) {
  s.handler = h;
  return s;
}

} // namespace

std::vector<Semantic> packedSemantics() {
  auto maximum = [](float a, float b) { return maximumNumber(a, b); };
  auto minimum = [](float a, float b) { return minimumNumber(a, b); };
  auto add = [](auto a, auto b) { return a + b; };
  auto sub = [](auto a, auto b) { return a - b; };
  return {
      pair32("v_pk_add_f32", [](float a, float b) { return a + b; }),
      pair32("v_pk_mul_f32", [](float a, float b) { return a * b; }),
      vectorSemantic("v_pk_fma_f32", fmaPairs32, Type::PackedF32, {Type::PackedF32, Type::PackedF32, Type::PackedF32}),
      vectorSemantic("v_pk_mov_b32", movePairs, Type::PackedF32, {Type::PackedF32, Type::PackedF32}),
      half2<F16>("v_pk_add_f16", add),
      half2<F16>("v_pk_mul_f16", [](float a, float b) { return a * b; }),
      half2<F16>("v_pk_max_f16", maximum),
      half2<F16>("v_pk_min_f16", minimum),
      half2<F16>("v_pk_max_num_f16", maximum),
      half2<F16>("v_pk_min_num_f16", minimum),
      half2<F16>("v_pk_maximum_f16", [](float a, float b) { return a != a   ? a
                                                                   : b != b ? b
                                                                            : maximumNumber(a, b); }),
      half2<F16>("v_pk_minimum_f16", [](float a, float b) { return a != a   ? a
                                                                   : b != b ? b
                                                                            : minimumNumber(a, b); }),
      half3<F16>("v_pk_maximum3_f16",
                 [](float a, float b, float c) {
                   return a != a ? a : b != b ? b : c != c ? c : maximumNumber(maximumNumber(a, b), c);
                 }),
      half3<F16>("v_pk_minimum3_f16",
                 [](float a, float b, float c) {
                   return a != a ? a : b != b ? b : c != c ? c : minimumNumber(minimumNumber(a, b), c);
                 }),
      half3<F16>("v_pk_fma_f16", [](float a, float b, float c) { return fmaHalf(a, b, c); }),
      accumulating(half3<F16>("v_pk_fmac_f16", [](float a, float b, float c) { return fmaHalf(a, b, c); })),
      with(half2<U16>("v_pk_add_u16", add), saturating<uint16_t, true>),
      with(half2<U16>("v_pk_add_i16", add), saturating<int16_t, true>),
      with(half2<U16>("v_pk_sub_u16", sub), saturating<uint16_t, false>),
      with(half2<U16>("v_pk_sub_i16", sub), saturating<int16_t, false>),
      half2<U16>("v_pk_mul_lo_u16", [](uint16_t a, uint16_t b) { return uint32_t(a) * b; }),
      half3<U16>("v_pk_mad_u16", [](uint16_t a, uint16_t b, uint16_t c) { return uint32_t(a) * b + c; }),
      half3<U16>("v_pk_mad_i16", [](uint16_t a, uint16_t b, uint16_t c) { return uint32_t(a) * b + c; }),
      half2<U16>("v_pk_min_u16", [](uint16_t a, uint16_t b) { return std::min(a, b); }),
      half2<U16>("v_pk_max_u16", [](uint16_t a, uint16_t b) { return std::max(a, b); }),
      half2<I16>("v_pk_min_i16", [](int16_t a, int16_t b) { return std::min(a, b); }),
      half2<I16>("v_pk_max_i16", [](int16_t a, int16_t b) { return std::max(a, b); }),
      half2<U16>("v_pk_lshlrev_b16", [](uint16_t a, uint16_t b) { return uint32_t(b) << (a & 15); }),
      half2<U16>("v_pk_lshrrev_b16", [](uint16_t a, uint16_t b) { return b >> (a & 15); }),
      half2<I16>("v_pk_ashrrev_i16", [](int16_t a, int16_t b) { return b >> (a & 15); }),
      dot<F16>("v_dot2_f32_f16"),
      accumulating(dot<F16>("v_dot2c_f32_f16")),
      dot<F16>("v_dot2acc_f32_f16"),
      dot<BF16>("v_dot2_f32_bf16"),
      accumulating(dot<BF16>("v_dot2c_f32_bf16")),
  };
}

} // namespace tessera::code_object
