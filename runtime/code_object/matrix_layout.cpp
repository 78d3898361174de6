// Layouts of matrix instructions as runs of lanes, and the loops over them (see matrix_layout.h).
#include "runtime/code_object/matrix_layout.h"
#include "runtime/float_formats.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <mutex>

namespace tessera::code_object {

#if defined(__x86_64__)
#define TESSERA_MATRIX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TESSERA_MATRIX_CLONES
#endif
#define TESSERA_INLINE inline __attribute__((always_inline))

unsigned bitsOf(Element e) {
  switch (e) {
  case Element::None: return 0;
  case Element::Fp4: return 4;
  case Element::Fp6:
  case Element::Bf6: return 6;
  case Element::S8:
  case Element::U8:
  case Element::Fp8:
  case Element::Bf8:
  case Element::Fp8Fnuz:
  case Element::Bf8Fnuz: return 8;
  case Element::F16:
  case Element::BF16: return 16;
  case Element::XF32:
  case Element::F32:
  case Element::S32: return 32;
  case Element::F64: return 64;
  }
  return 0;
}

namespace {

// ---- layouts ----

/// Row (of A; of B column) of the stack of blocks, and depth, of an element that a lane holds.
struct Place {
  unsigned across, depth;
};
Place operandPlace(const MatrixShape &s, unsigned across, unsigned bits, unsigned lane, unsigned index) {
  switch (s.family) {
  case MatrixFamily::Wmma11: return {lane % 16, index}; // both halves of the wave hold the same
  case MatrixFamily::Wmma12: return {lane % 16, lane / 16 * 8 + index};
  case MatrixFamily::Mfma: {
    unsigned all = across * s.blocks, perLane = s.k / (64 / all), group = lane / all;
    // 32 elements of 8 bits are two runs of 16, half of K apart (CDNA4).
    if (bits == 8 && perLane == 32) return {lane % all, index / 16 * (s.k / 2) + group * 16 + index % 16};
    return {lane % all, group * perLane + index};
  }
  }
  return {};
}
unsigned elementsOf(const MatrixShape &s, unsigned across) {
  if (s.family == MatrixFamily::Wmma11) return 16;
  if (s.family == MatrixFamily::Wmma12) return 8;
  return s.k / (64 / (across * s.blocks));
}

/// Block, row and column of an element of the accumulator.
struct ResultPlace {
  unsigned block, row, column;
};
ResultPlace resultPlace(const MatrixShape &s, unsigned lane, unsigned index) {
  if (s.family == MatrixFamily::Wmma11) return {0, 2 * index + lane / 16, lane % 16};
  if (s.family == MatrixFamily::Wmma12) return {0, lane / 16 * 8 + index, lane % 16};
  if (s.c == Element::F64) {
    if (s.m == 4) return {lane / 4 % 4, lane / 16, lane % 4};
    return {0, lane / 16 + 4 * index, lane % 16};
  }
  if (s.m == 4) return {lane / 4, index, lane % 4};
  unsigned perBlock = s.m * s.n / 64, in = index % perBlock;
  return {index / perBlock, in / 4 * 4 * (64 / s.n) + lane / s.n * 4 + in % 4, lane % s.n};
}

MatrixLayout operandLayout(const MatrixShape &s, unsigned across, unsigned bits) {
  MatrixLayout out;
  unsigned count = elementsOf(s, across);
  out.bits = bits;
  out.length = across;
  out.registers = std::max(1u, count * bits / 32);
  out.entries = across * s.k * s.blocks;
  // Of gfx11 the second half of the wave holds the same again.
  unsigned lanes = s.family == MatrixFamily::Wmma11 ? 16 : s.lanes();
  for (unsigned e = 0; e < count; ++e)
    for (unsigned l = 0; l < lanes; l += across) {
      Place p = operandPlace(s, across, bits, l, e);
      unsigned to = (p.across / across * s.k + p.depth) * across + p.across % across;
      out.runs.push_back({uint16_t(e), uint16_t(l), uint16_t(to)});
    }
  return out;
}

MatrixLayout resultLayout(const MatrixShape &s) {
  MatrixLayout out;
  unsigned bits = bitsOf(s.c), count = s.m * s.n * s.blocks / s.lanes();
  out.bits = bits;
  out.length = s.n;
  out.isSpread = s.family == MatrixFamily::Wmma11 && bits == 16;
  out.registers = out.isSpread ? count : count * bits / 32;
  out.entries = s.m * s.n * s.blocks;
  for (unsigned e = 0; e < count; ++e)
    for (unsigned l = 0; l < s.lanes(); l += s.n) {
      ResultPlace p = resultPlace(s, l, e);
      unsigned to = (p.block * s.m + p.row) * s.n + p.column;
      out.runs.push_back({uint16_t(e), uint16_t(l), uint16_t(to)});
    }
  return out;
}

// ---- numbers ----

/// OCP's formats of 4 and 6 bits ("Microscaling Formats (MX) Specification"): no infinities, no NaN.
double smallFloat(uint32_t bits, unsigned exponentBits, unsigned mantissaBits, int bias) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1), exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  bool negative = bits >> (exponentBits + mantissaBits) & 1;
  double v = exponent ? std::ldexp(double(mantissa | 1u << mantissaBits), int(exponent) - bias - int(mantissaBits))
                      : std::ldexp(double(mantissa), 1 - bias - int(mantissaBits));
  return negative ? -v : v;
}

double smallNumber(Element e, uint32_t bits) {
  switch (e) {
  case Element::S8: return int8_t(bits);
  case Element::U8: return uint8_t(bits);
  case Element::Fp8: return runtime::decodeFloat(ir::FloatKind::F8E4M3FN, bits);
  case Element::Bf8: return runtime::decodeFloat(ir::FloatKind::F8E5M2, bits);
  case Element::Fp8Fnuz: return runtime::decodeFloat(ir::FloatKind::F8E4M3FNUZ, bits);
  case Element::Bf8Fnuz: return runtime::decodeFloat(ir::FloatKind::F8E5M2FNUZ, bits);
  case Element::Fp6: return smallFloat(bits, 2, 3, 1);
  case Element::Bf6: return smallFloat(bits, 3, 2, 3);
  case Element::Fp4: return smallFloat(bits, 2, 1, 1);
  default: return 0;
  }
}

/// Of an element of at most 8 bits every number.
const double *numbersOf(Element e) {
  using Table = std::array<double, 256>;
  static const std::vector<Table> tables = [] {
    std::vector<Table> all(size_t(Element::Fp4) + 1);
    for (size_t i = 0; i < all.size(); ++i)
      if (unsigned bits = bitsOf(Element(i)); bits && bits <= 8)
        for (uint32_t x = 0; x < 1u << bits; ++x) all[i][x] = smallNumber(Element(i), x);
    return all;
  }();
  return tables[size_t(e)].data();
}

/// out[l] = f(bits of the element that lane l of the run holds)
template <unsigned Bits, unsigned Length, class F>
TESSERA_INLINE void unpackRun(const LaneRun &r, const uint32_t *const *rows, double *__restrict out, F f) {
  if constexpr (Bits == 64) {
    const uint32_t *low = rows[2 * r.element] + r.lane, *high = rows[2 * r.element + 1] + r.lane;
    for (unsigned l = 0; l < Length; ++l) out[l] = f(low[l] | uint64_t(high[l]) << 32);
  } else {
    unsigned at = r.element * Bits, shift = at % 32;
    const uint32_t *x = rows[at / 32] + r.lane;
    constexpr auto mask = uint32_t((uint64_t(1) << Bits) - 1);
    if (32 % Bits && shift + Bits > 32) { // of 6 bits some lie in two registers
      const uint32_t *y = rows[at / 32 + 1] + r.lane;
      for (unsigned l = 0; l < Length; ++l) out[l] = f((x[l] >> shift | y[l] << (32 - shift)) & mask);
    } else {
      for (unsigned l = 0; l < Length; ++l) out[l] = f(x[l] >> shift & mask);
    }
  }
}
template <unsigned Bits, class F>
TESSERA_INLINE void overRuns(const MatrixLayout &p, const uint32_t *const *rows, double *to, F f) {
  if (p.length == 32)
    for (const LaneRun &r : p.runs) unpackRun<Bits, 32>(r, rows, to + r.to, f);
  else if (p.length == 16)
    for (const LaneRun &r : p.runs) unpackRun<Bits, 16>(r, rows, to + r.to, f);
  else
    for (const LaneRun &r : p.runs) unpackRun<Bits, 4>(r, rows, to + r.to, f);
}

} // namespace

unsigned registersOf(const MatrixLayout &p, unsigned bits) { return std::max(1u, p.registers * bits / p.bits); }

TESSERA_MATRIX_CLONES static void unpackWide(const MatrixLayout &p, Element e, const uint32_t *const *rows,
                                             double *to) {
  auto asFloat = [](uint32_t x) { return std::bit_cast<float>(x); };
  switch (e) {
  case Element::F16:
    overRuns<16>(p, rows, to, [](uint32_t x) -> double { return runtime::decodeHalf(uint16_t(x)); });
    break;
  case Element::BF16: overRuns<16>(p, rows, to, [=](uint32_t x) -> double { return asFloat(x << 16); }); break;
  case Element::XF32: overRuns<32>(p, rows, to, [=](uint32_t x) -> double { return asFloat(x & 0xffffe000); }); break;
  case Element::F32: overRuns<32>(p, rows, to, [=](uint32_t x) -> double { return asFloat(x); }); break;
  case Element::S32: overRuns<32>(p, rows, to, [](uint32_t x) -> double { return int32_t(x); }); break;
  case Element::F64: overRuns<64>(p, rows, to, [](uint64_t x) { return std::bit_cast<double>(x); }); break;
  default: break;
  }
}

TESSERA_MATRIX_CLONES static void unpackSmall(const MatrixLayout &p, unsigned bits, const double *number,
                                              const uint32_t *const *rows, double *to) {
  auto look = [=](uint32_t x) { return number[x]; };
  if (bits == 8) overRuns<8>(p, rows, to, look);
  if (bits == 6) overRuns<6>(p, rows, to, look);
  if (bits == 4) overRuns<4>(p, rows, to, look);
}

/// Accumulators of 16 bits that have a register each.
static void unpackSpread(const MatrixLayout &p, Element e, const uint32_t *const *rows, bool isHigh, double *to) {
  for (const LaneRun &r : p.runs)
    for (unsigned l = 0; l < p.length; ++l) {
      auto half = uint16_t(rows[r.element][r.lane + l] >> (isHigh ? 16 : 0));
      to[r.to + l] = e == Element::F16 ? runtime::decodeHalf(half) : runtime::decodeBfloat(half);
    }
}

void unpack(const MatrixLayout &p, Element e, const uint32_t *const *rows, bool isHighHalf, double *to) {
  if (p.isSpread)
    unpackSpread(p, e, rows, isHighHalf, to);
  else if (unsigned bits = bitsOf(e); bits <= 8)
    unpackSmall(p, bits, numbersOf(e), rows, to);
  else
    unpackWide(p, e, rows, to);
}

TESSERA_MATRIX_CLONES static void packWide(const MatrixLayout &p, Element e, const double *from,
                                           uint32_t *const *rows) {
  for (const LaneRun &r : p.runs) {
    const double *x = from + r.to;
    if (e == Element::F64) {
      uint32_t *low = rows[2 * r.element] + r.lane, *high = rows[2 * r.element + 1] + r.lane;
      for (unsigned l = 0; l < p.length; ++l) {
        auto bits = std::bit_cast<uint64_t>(x[l]);
        low[l] = uint32_t(bits);
        high[l] = uint32_t(bits >> 32);
      }
      continue;
    }
    uint32_t *__restrict to = rows[r.element] + r.lane;
    if (e == Element::S32)
      for (unsigned l = 0; l < p.length; ++l) to[l] = uint32_t(int64_t(x[l])); // wraps; doubles hold the sums exactly
    else
      for (unsigned l = 0; l < p.length; ++l) to[l] = std::bit_cast<uint32_t>(float(x[l]));
  }
}

void pack(const MatrixLayout &p, Element e, const double *from, bool isHighHalf, uint32_t *const *rows) {
  if (bitsOf(e) != 16) return packWide(p, e, from, rows);
  auto kind = e == Element::F16 ? ir::FloatKind::F16 : ir::FloatKind::BF16;
  for (const LaneRun &r : p.runs) {
    uint32_t *to = rows[p.isSpread ? r.element : r.element / 2] + r.lane;
    bool high = p.isSpread ? isHighHalf : r.element % 2;
    for (unsigned l = 0; l < p.length; ++l) {
      auto v = uint32_t(runtime::encodeFloat(kind, from[r.to + l]));
      to[l] = high ? (to[l] & 0xffff) | v << 16 : (to[l] & 0xffff0000) | v;
    }
  }
}

const MatrixPlan *planOf(const MatrixShape &s) {
  static std::mutex mutex;
  static std::deque<MatrixPlan> plans;
  std::lock_guard lock(mutex);
  auto isSame = [&](const MatrixPlan &p) {
    const MatrixShape &x = p.shape;
    return x.family == s.family && x.m == s.m && x.n == s.n && x.k == s.k && x.blocks == s.blocks && x.a == s.a &&
           x.b == s.b && x.c == s.c && x.scaled == s.scaled && x.mixed == s.mixed;
  };
  if (auto at = std::find_if(plans.begin(), plans.end(), isSame); at != plans.end()) return &*at;
  MatrixPlan &p = plans.emplace_back();
  p.shape = s;
  for (unsigned narrow = 0; narrow < (s.mixed ? 2 : 1); ++narrow) {
    p.a[narrow] = operandLayout(s, s.m, narrow ? 4 : bitsOf(s.a));
    p.b[narrow] = operandLayout(s, s.n, narrow ? 4 : bitsOf(s.b));
  }
  p.c = resultLayout(s);
  return &p;
}

// ---- arithmetic ----

namespace {

using Vector8 = double __attribute__((vector_size(64)));
using Vector4 = double __attribute__((vector_size(32)));

/// `Rows` rows of the accumulator stay in registers while K is walked through.
template <class V, unsigned Size, unsigned Rows, bool Fuses>
TESSERA_INLINE void multiplyRows(double *__restrict acc, const double *__restrict a, const double *__restrict b,
                                 unsigned depth) {
  constexpr unsigned width = sizeof(V) / sizeof(double), count = Size / width;
  V sum[Rows][count];
  std::memcpy(sum, acc, sizeof sum);
  for (unsigned k = 0; k < depth; ++k) {
    V row[count];
    std::memcpy(row, b + size_t(k) * Size, sizeof row);
    for (unsigned i = 0; i < Rows; ++i) {
      V x = a[size_t(k) * Size + i] - V{}; // in all lanes; minus 0 changes no number, plus 0 would change -0
      for (unsigned j = 0; j < count; ++j) {
        if constexpr (Fuses) {
#pragma clang fp contract(fast)
          sum[i][j] = x * row[j] + sum[i][j];
        } else {
          sum[i][j] = sum[i][j] + x * row[j];
        }
      }
    }
  }
  std::memcpy(acc, sum, sizeof sum);
}
template <class V, unsigned Size, unsigned Rows, bool Fuses>
TESSERA_INLINE void multiplyBlock(double *acc, const double *a, const double *b, unsigned depth) {
  for (unsigned i = 0; i < Size; i += Rows) multiplyRows<V, Size, Rows, Fuses>(acc + size_t(i) * Size, a + i, b, depth);
}

} // namespace

TESSERA_MATRIX_CLONES static void multiply32(double *acc, const double *a, const double *b, unsigned depth) {
  multiplyBlock<Vector8, 32, 4, true>(acc, a, b, depth);
}
TESSERA_MATRIX_CLONES static void multiply16(double *acc, const double *a, const double *b, unsigned depth) {
  multiplyBlock<Vector8, 16, 8, true>(acc, a, b, depth);
}
TESSERA_MATRIX_CLONES static void multiply4(double *acc, const double *a, const double *b, unsigned depth) {
  multiplyBlock<Vector4, 4, 4, true>(acc, a, b, depth);
}
TESSERA_MATRIX_CLONES static void multiplyRounding16(double *acc, const double *a, const double *b, unsigned depth) {
  multiplyBlock<Vector8, 16, 8, false>(acc, a, b, depth);
}
TESSERA_MATRIX_CLONES static void multiplyRounding4(double *acc, const double *a, const double *b, unsigned depth) {
  multiplyBlock<Vector4, 4, 4, false>(acc, a, b, depth);
}

void multiplyAdd(double *acc, const double *a, const double *b, unsigned size, unsigned depth, bool fuses) {
  if (size == 32) return multiply32(acc, a, b, depth);
  if (size == 16) return (fuses ? multiply16 : multiplyRounding16)(acc, a, b, depth);
  (fuses ? multiply4 : multiplyRounding4)(acc, a, b, depth);
}

} // namespace tessera::code_object
