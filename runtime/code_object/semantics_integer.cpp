// Vector instructions on integers and bits. Sources: ISA guides (CDNA3, CDNA4, RDNA3, RDNA4), "VOP1/VOP2/VOP3
// instructions".
#include "runtime/amd_functions.h"
#include "runtime/code_object/rows.h"
#include <algorithm>

namespace tessera::code_object {

namespace {

uint32_t fieldU(uint32_t x, uint32_t at, uint32_t width) {
  at &= 31;
  width &= 31;
  return x >> at & ((1u << width) - 1);
}
int32_t fieldI(int32_t x, uint32_t at, uint32_t width) {
  at &= 31;
  width &= 31;
  if (!width) return 0;
  if (at + width >= 32) return x >> at;
  return int32_t(uint32_t(x) << (32 - at - width)) >> (32 - width);
}
template <class T> T median(T a, T b, T c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

int32_t signed24(uint32_t x) { return int32_t(x << 8) >> 8; }
uint32_t low24(uint32_t x) { return x & 0xffffff; }

uint32_t sumOfDifferences(uint32_t a, uint32_t b, uint32_t c) {
  for (unsigned k = 0; k < 32; k += 8) {
    int d = int(a >> k & 255) - int(b >> k & 255);
    c += uint32_t(d < 0 ? -d : d);
  }
  return c;
}
template <class A, class B, unsigned Bits> int32_t dot(uint32_t a, uint32_t b, int32_t c) {
  int64_t sum = c;
  for (unsigned k = 0; k < 32; k += Bits) {
    auto x = int64_t(A(a >> k << (8 * sizeof(A) - Bits))) >> (8 * sizeof(A) - Bits);
    auto y = int64_t(B(b >> k << (8 * sizeof(B) - Bits))) >> (8 * sizeof(B) - Bits);
    sum += x * y;
  }
  return int32_t(sum);
}

// ---- carries: D, carry out, A, B, carry in ----

enum CarryKind : unsigned { Add, Sub, SubReversed };
constexpr uint64_t carry(CarryKind k, bool takes) { return unsigned(k) | unsigned(takes) << 8; }

void carryOperation(Wave &w, const Step &s) {
  auto kind = CarryKind(s.semantic->detail & 255);
  bool takes = s.semantic->detail >> 8;
  Row64 a, b, out;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 2, 0, Type::B32, a));
  auto *y = static_cast<const uint32_t *>(readSource(w, s, 3, 1, Type::B32, b));
  if (kind == SubReversed) std::swap(x, y);
  uint64_t in = !takes ? 0 : s.operandCount > 4 ? readMask(w, s[4]) : w.vcc();
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  alignas(64) uint8_t carried[kLanes];
  uint32_t saturated = kind == Add ? ~0u : 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    auto c = uint32_t(in >> l & 1);
    uint32_t sum = kind == Add ? x[l] + y[l] : x[l] - y[l], all = kind == Add ? sum + c : sum - c;
    carried[l] = kind == Add ? sum < x[l] || all < sum : sum > x[l] || all > sum;
    d[l] = s.modifiers->clamp && carried[l] ? saturated : all;
  }
  uint64_t carryOut = gatherBits(carried);
  uint64_t lanes = writableLanes(w, s);
  writeResult(w, s, s[0], Type::B32, out);
  writeMask(w, s[1], carryOut & lanes);
}

/// v_mad_u64_u32 D, carry out, A, B, C
template <bool Signed> void wideMultiplyAdd(Wave &w, const Step &s) {
  Row64 a, b, c, out;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 2, 0, Type::B32, a));
  auto *y = static_cast<const uint32_t *>(readSource(w, s, 3, 1, Type::B32, b));
  auto *z = static_cast<const uint64_t *>(readSource(w, s, 4, 2, Type::B64, c));
  uint64_t carryOut = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    uint64_t p = Signed ? uint64_t(int64_t(int32_t(x[l])) * int32_t(y[l])) : uint64_t(x[l]) * y[l];
    out.lane[l] = p + z[l];
    bool over = Signed ? (int64_t((p ^ out.lane[l]) & (z[l] ^ out.lane[l])) < 0) : out.lane[l] < p;
    carryOut |= uint64_t(over) << l;
  }
  writeResult(w, s, s[0], Type::B64, out);
  writeMask(w, s[1], carryOut & w.exec());
}

/// Without modifiers wraps, with clamp saturates.
template <class T, bool IsAdd> void addOrSubtract(Wave &w, const Step &s) {
  if (s.isPlain || !s.modifiers->clamp) return vectorOperation(w, s);
  Row64 a, b, out;
  auto *x = static_cast<const uint32_t *>(readSource(w, s, 1, 0, s.semantic->sources[0], a));
  auto *y = static_cast<const uint32_t *>(readSource(w, s, 2, 1, s.semantic->sources[1], b));
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  for (unsigned l = 0; l < kLanes; ++l) {
    int64_t v = IsAdd ? int64_t(T(x[l])) + T(y[l]) : int64_t(T(x[l])) - T(y[l]);
    v = std::clamp<int64_t>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    d[l] = uint32_t(v) & (sizeof(T) == 2 ? 0xffff : ~0u);
  }
  writeResult(w, s, s[0], s.semantic->result, out);
}

Semantic with(Semantic s, Handler h) {
  s.handler = h;
  return s;
}

void addBitwise(std::vector<Semantic> &t) {
  t.insert(t.end(),
           {
               unary<U32, U32>("v_mov_b32", [](uint32_t a) { return a; }),
               unary<U64, U64>("v_mov_b64", [](uint64_t a) { return a; }),
               unary<U16, U16>("v_mov_b16", [](uint16_t a) { return a; }),
               unary<U32, U32>("v_accvgpr_read_b32", [](uint32_t a) { return a; }),
               unary<U32, U32>("v_accvgpr_write_b32", [](uint32_t a) { return a; }),
               unary<U32, U32>("v_accvgpr_mov_b32", [](uint32_t a) { return a; }),
               unary<U32, U32>("v_not_b32", [](uint32_t a) { return ~a; }),
               unary<U16, U16>("v_not_b16", [](uint16_t a) { return uint16_t(~a); }),
               unary<U32, U32>("v_bfrev_b32", [](uint32_t a) { return __builtin_bitreverse32(a); }),
               unary<U32, U32>("v_ffbh_u32", [](uint32_t a) { return a ? uint32_t(std::countl_zero(a)) : ~0u; }),
               unary<U32, U32>("v_clz_i32_u32", [](uint32_t a) { return a ? uint32_t(std::countl_zero(a)) : ~0u; }),
               unary<U32, U32>("v_ffbl_b32", [](uint32_t a) { return a ? uint32_t(std::countr_zero(a)) : ~0u; }),
               unary<U32, U32>("v_ctz_i32_b32", [](uint32_t a) { return a ? uint32_t(std::countr_zero(a)) : ~0u; }),
               unary<U32, I32>("v_ffbh_i32",
                               [](int32_t a) {
                                 uint32_t x = a < 0 ? ~uint32_t(a) : uint32_t(a);
                                 return x ? uint32_t(std::countl_zero(x)) : ~0u;
                               }),
               unary<U32, I32>("v_cls_i32",
                               [](int32_t a) {
                                 uint32_t x = a < 0 ? ~uint32_t(a) : uint32_t(a);
                                 return x ? uint32_t(std::countl_zero(x)) : ~0u;
                               }),
               binary<U32>("v_and_b32", [](uint32_t a, uint32_t b) { return a & b; }),
               binary<U32>("v_or_b32", [](uint32_t a, uint32_t b) { return a | b; }),
               binary<U32>("v_xor_b32", [](uint32_t a, uint32_t b) { return a ^ b; }),
               binary<U32>("v_xnor_b32", [](uint32_t a, uint32_t b) { return ~(a ^ b); }),
               binary<U16>("v_and_b16", [](uint16_t a, uint16_t b) { return uint16_t(a & b); }),
               binary<U16>("v_or_b16", [](uint16_t a, uint16_t b) { return uint16_t(a | b); }),
               binary<U16>("v_xor_b16", [](uint16_t a, uint16_t b) { return uint16_t(a ^ b); }),
               binary<U32>("v_lshlrev_b32", [](uint32_t a, uint32_t b) { return b << (a & 31); }),
               binary<U32>("v_lshrrev_b32", [](uint32_t a, uint32_t b) { return b >> (a & 31); }),
               binary<I32>("v_ashrrev_i32", [](int32_t a, int32_t b) { return b >> (a & 31); }),
               binary<U64, U32, U64>("v_lshlrev_b64", [](uint32_t a, uint64_t b) { return b << (a & 63); }),
               binary<U64, U32, U64>("v_lshrrev_b64", [](uint32_t a, uint64_t b) { return b >> (a & 63); }),
               binary<I64, U32, I64>("v_ashrrev_i64", [](uint32_t a, int64_t b) { return b >> (a & 63); }),
               binary<U16>("v_lshlrev_b16", [](uint16_t a, uint16_t b) { return uint16_t(b << (a & 15)); }),
               binary<U16>("v_lshrrev_b16", [](uint16_t a, uint16_t b) { return uint16_t(b >> (a & 15)); }),
               binary<I16>("v_ashrrev_i16", [](int16_t a, int16_t b) { return int16_t(b >> (a & 15)); }),
               binary<U32>("v_bcnt_u32_b32", [](uint32_t a, uint32_t b) { return uint32_t(std::popcount(a)) + b; }),
               binary<U32>("v_bfm_b32", [](uint32_t a, uint32_t b) { return ((1u << (a & 31)) - 1) << (b & 31); }),
               ternary<U32>("v_bfe_u32", [](auto... x) { return fieldU(x...); }),
               ternary<I32, I32, U32, U32>("v_bfe_i32", [](auto... x) { return fieldI(x...); }),
               ternary<U32>("v_bfi_b32", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | (~a & c); }),
               ternary<U32>("v_alignbit_b32", [](uint32_t a, uint32_t b,
                                                 uint32_t c) { return uint32_t((uint64_t(a) << 32 | b) >> (c & 31)); }),
               ternary<U32>("v_alignbyte_b32",
                            [](uint32_t a, uint32_t b, uint32_t c) {
                              return uint32_t((uint64_t(a) << 32 | b) >> (8 * (c & 3)));
                            }),
               ternary<U32>("v_perm_b32", [](auto... x) { return runtime::amd::permuteBytes(x...); }),
               ternary<U32>("v_and_or_b32", [](uint32_t a, uint32_t b, uint32_t c) { return (a & b) | c; }),
               ternary<U32>("v_or3_b32", [](uint32_t a, uint32_t b, uint32_t c) { return a | b | c; }),
               ternary<U32>("v_xor3_b32", [](uint32_t a, uint32_t b, uint32_t c) { return a ^ b ^ c; }),
               ternary<U32>("v_lshl_or_b32", [](uint32_t a, uint32_t b, uint32_t c) { return a << (b & 31) | c; }),
               ternary<U32>("v_lshl_add_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a << (b & 31)) + c; }),
               ternary<U32>("v_add_lshl_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a + b) << (c & 31); }),
               ternary<U64, U64, U32, U64>("v_lshl_add_u64",
                                           [](uint64_t a, uint32_t b, uint64_t c) { return (a << (b & 7)) + c; }),
               ternary<U32>("v_xad_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a ^ b) + c; }),
           });
}

/// gfx950's v_bitop3: bit 4 a + 2 b + c of the table in the modifier "bitop3:" (LLVM, AMDGPUModifierSyntax).
void bitwiseTable(Wave &w, const Step &s) {
  Row64 x, y, z, out;
  bool is16 = s.semantic->result == Type::B16;
  Type type = is16 ? Type::B16 : Type::B32;
  auto *a = static_cast<const uint32_t *>(readSource(w, s, 1, 0, type, x));
  auto *b = static_cast<const uint32_t *>(readSource(w, s, 2, 1, type, y));
  auto *c = static_cast<const uint32_t *>(readSource(w, s, 3, 2, type, z));
  auto *d = reinterpret_cast<uint32_t *>(out.lane);
  unsigned table = s.modifiers->bitop3;
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t r = 0;
    for (unsigned k = 0; k < 8; ++k) {
      if (!(table >> k & 1)) continue;
      r |= (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    }
    d[l] = is16 ? r & 0xffff : r;
  }
  writeResult(w, s, s[0], type, out);
}

void addArithmetic32(std::vector<Semantic> &t) {
  auto add = [](uint32_t a, uint32_t b) { return a + b; };
  auto sub = [](uint32_t a, uint32_t b) { return a - b; };
  auto reversed = [](uint32_t a, uint32_t b) { return b - a; };
  t.insert(
      t.end(),
      {
          with(binary<U32>("v_add_u32", add), addOrSubtract<uint32_t, true>),
          with(binary<U32>("v_add_nc_u32", add), addOrSubtract<uint32_t, true>),
          with(binary<U32>("v_add_i32", add), addOrSubtract<int32_t, true>),
          with(binary<U32>("v_add_nc_i32", add), addOrSubtract<int32_t, true>),
          with(binary<U32>("v_sub_u32", sub), addOrSubtract<uint32_t, false>),
          with(binary<U32>("v_sub_nc_u32", sub), addOrSubtract<uint32_t, false>),
          with(binary<U32>("v_sub_i32", sub), addOrSubtract<int32_t, false>),
          with(binary<U32>("v_sub_nc_i32", sub), addOrSubtract<int32_t, false>),
          binary<U32>("v_subrev_u32", reversed),
          binary<U32>("v_subrev_nc_u32", reversed),
          ternary<U32>("v_add3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }),
          binary<U32>("v_mul_lo_u32", [](uint32_t a, uint32_t b) { return a * b; }),
          binary<U32>("v_mul_lo_i32", [](uint32_t a, uint32_t b) { return a * b; }),
          binary<U32>("v_mul_hi_u32", [](uint32_t a, uint32_t b) { return uint32_t(uint64_t(a) * b >> 32); }),
          binary<I32>("v_mul_hi_i32", [](int32_t a, int32_t b) { return int32_t(int64_t(a) * b >> 32); }),
          binary<U32>("v_mul_u32_u24", [](uint32_t a, uint32_t b) { return low24(a) * low24(b); }),
          binary<U32>("v_mul_i32_i24",
                      [](uint32_t a, uint32_t b) { return uint32_t(signed24(a)) * uint32_t(signed24(b)); }),
          binary<U32>("v_mul_hi_u32_u24",
                      [](uint32_t a, uint32_t b) { return uint32_t(uint64_t(low24(a)) * low24(b) >> 32); }),
          binary<U32>("v_mul_hi_i32_i24",
                      [](uint32_t a, uint32_t b) { return uint32_t(int64_t(signed24(a)) * signed24(b) >> 32); }),
          ternary<U32>("v_mad_u32_u24", [](uint32_t a, uint32_t b, uint32_t c) { return low24(a) * low24(b) + c; }),
          ternary<U32>("v_mad_i32_i24", [](uint32_t a, uint32_t b,
                                           uint32_t c) { return uint32_t(signed24(a)) * uint32_t(signed24(b)) + c; }),
          binary<U32>("v_min_u32", [](uint32_t a, uint32_t b) { return std::min(a, b); }),
          binary<U32>("v_max_u32", [](uint32_t a, uint32_t b) { return std::max(a, b); }),
          binary<I32>("v_min_i32", [](int32_t a, int32_t b) { return std::min(a, b); }),
          binary<I32>("v_max_i32", [](int32_t a, int32_t b) { return std::max(a, b); }),
          ternary<U32>("v_min3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return std::min(std::min(a, b), c); }),
          ternary<U32>("v_max3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return std::max(std::max(a, b), c); }),
          ternary<I32>("v_min3_i32", [](int32_t a, int32_t b, int32_t c) { return std::min(std::min(a, b), c); }),
          ternary<I32>("v_max3_i32", [](int32_t a, int32_t b, int32_t c) { return std::max(std::max(a, b), c); }),
          ternary<I32>("v_maxmin_i32", [](int32_t a, int32_t b, int32_t c) { return std::min(std::max(a, b), c); }),
          ternary<I32>("v_minmax_i32", [](int32_t a, int32_t b, int32_t c) { return std::max(std::min(a, b), c); }),
          ternary<U32>("v_maxmin_u32", [](uint32_t a, uint32_t b, uint32_t c) { return std::min(std::max(a, b), c); }),
          ternary<U32>("v_minmax_u32", [](uint32_t a, uint32_t b, uint32_t c) { return std::max(std::min(a, b), c); }),
          ternary<U32>("v_med3_u32", [](uint32_t a, uint32_t b, uint32_t c) { return median(a, b, c); }),
          ternary<I32>("v_med3_i32", [](int32_t a, int32_t b, int32_t c) { return median(a, b, c); }),
          ternary<U32>("v_sad_u8", [](auto... x) { return sumOfDifferences(x...); }),
          ternary<U32>("v_sad_u32", [](uint32_t a, uint32_t b, uint32_t c) { return (a > b ? a - b : b - a) + c; }),
          ternary<I32, U32, U32, I32>("v_dot4_i32_i8", [](auto... x) { return dot<int32_t, int32_t, 8>(x...); }),
          ternary<I32, U32, U32, I32>("v_dot4_u32_u8", [](auto... x) { return dot<uint32_t, uint32_t, 8>(x...); }),
          ternary<I32, U32, U32, I32>("v_dot2_i32_i16", [](auto... x) { return dot<int32_t, int32_t, 16>(x...); }),
          ternary<I32, U32, U32, I32>("v_dot2_u32_u16", [](auto... x) { return dot<uint32_t, uint32_t, 16>(x...); }),
          accumulating(
              ternary<I32, U32, U32, I32>("v_dot4c_i32_i8", [](auto... x) { return dot<int32_t, int32_t, 8>(x...); })),
      });
}

void addArithmetic16(std::vector<Semantic> &t) {
  t.insert(
      t.end(),
      {
          with(binary<U16>("v_add_u16", [](uint16_t a, uint16_t b) { return uint16_t(a + b); }),
               addOrSubtract<uint16_t, true>),
          with(binary<U16>("v_add_nc_u16", [](uint16_t a, uint16_t b) { return uint16_t(a + b); }),
               addOrSubtract<uint16_t, true>),
          with(binary<U16>("v_add_i16", [](uint16_t a, uint16_t b) { return uint16_t(a + b); }),
               addOrSubtract<int16_t, true>),
          with(binary<U16>("v_add_nc_i16", [](uint16_t a, uint16_t b) { return uint16_t(a + b); }),
               addOrSubtract<int16_t, true>),
          with(binary<U16>("v_sub_u16", [](uint16_t a, uint16_t b) { return uint16_t(a - b); }),
               addOrSubtract<uint16_t, false>),
          with(binary<U16>("v_sub_nc_u16", [](uint16_t a, uint16_t b) { return uint16_t(a - b); }),
               addOrSubtract<uint16_t, false>),
          with(binary<U16>("v_sub_i16", [](uint16_t a, uint16_t b) { return uint16_t(a - b); }),
               addOrSubtract<int16_t, false>),
          with(binary<U16>("v_sub_nc_i16", [](uint16_t a, uint16_t b) { return uint16_t(a - b); }),
               addOrSubtract<int16_t, false>),
          binary<U16>("v_subrev_u16", [](uint16_t a, uint16_t b) { return uint16_t(b - a); }),
          binary<U16>("v_mul_lo_u16", [](uint16_t a, uint16_t b) { return uint16_t(uint32_t(a) * b); }),
          ternary<U16>("v_mad_u16", [](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(uint32_t(a) * b + c); }),
          ternary<U16>("v_mad_i16", [](uint16_t a, uint16_t b, uint16_t c) { return uint16_t(uint32_t(a) * b + c); }),
          ternary<U32, U16, U16, U32>("v_mad_u32_u16",
                                      [](uint16_t a, uint16_t b, uint32_t c) { return uint32_t(a) * b + c; }),
          ternary<I32, I16, I16, I32>(
              "v_mad_i32_i16",
              [](int16_t a, int16_t b, int32_t c) { return int32_t(uint32_t(int32_t(a) * b) + uint32_t(c)); }),
          binary<U16>("v_min_u16", [](uint16_t a, uint16_t b) { return std::min(a, b); }),
          binary<U16>("v_max_u16", [](uint16_t a, uint16_t b) { return std::max(a, b); }),
          binary<I16>("v_min_i16", [](int16_t a, int16_t b) { return std::min(a, b); }),
          binary<I16>("v_max_i16", [](int16_t a, int16_t b) { return std::max(a, b); }),
          ternary<U16>("v_min3_u16", [](uint16_t a, uint16_t b, uint16_t c) { return std::min(std::min(a, b), c); }),
          ternary<U16>("v_max3_u16", [](uint16_t a, uint16_t b, uint16_t c) { return std::max(std::max(a, b), c); }),
          ternary<I16>("v_min3_i16", [](int16_t a, int16_t b, int16_t c) { return std::min(std::min(a, b), c); }),
          ternary<I16>("v_max3_i16", [](int16_t a, int16_t b, int16_t c) { return std::max(std::max(a, b), c); }),
          ternary<U16>("v_med3_u16", [](uint16_t a, uint16_t b, uint16_t c) { return median(a, b, c); }),
          ternary<I16>("v_med3_i16", [](int16_t a, int16_t b, int16_t c) { return median(a, b, c); }),
      });
}

} // namespace

std::vector<Semantic> integerSemantics() {
  std::vector<Semantic> t;
  addBitwise(t);
  addArithmetic32(t);
  addArithmetic16(t);
  constexpr Type b32 = Type::B32;
  for (auto [name, detail] :
       std::initializer_list<std::pair<const char *, uint64_t>>{{"v_add_co_u32", carry(Add, false)},
                                                                {"v_addc_co_u32", carry(Add, true)},
                                                                {"v_add_co_ci_u32", carry(Add, true)},
                                                                {"v_sub_co_u32", carry(Sub, false)},
                                                                {"v_subb_co_u32", carry(Sub, true)},
                                                                {"v_sub_co_ci_u32", carry(Sub, true)},
                                                                {"v_subrev_co_u32", carry(SubReversed, false)},
                                                                {"v_subbrev_co_u32", carry(SubReversed, true)},
                                                                {"v_subrev_co_ci_u32", carry(SubReversed, true)}})
    t.push_back(special(name, carryOperation, b32, {}, detail));
  for (const char *name : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
    t.push_back(special(name, wideMultiplyAdd<false>, Type::B64));
  for (const char *name : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
    t.push_back(special(name, wideMultiplyAdd<true>, Type::B64));
  t.push_back(special("v_bitop3_b32", bitwiseTable, b32));
  t.push_back(special("v_bitop3_b16", bitwiseTable, Type::B16));
  return t;
}

} // namespace tessera::code_object
