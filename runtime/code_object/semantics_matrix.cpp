// Matrix instructions: MFMA and WMMA. Which lane and register holds which element is stated here from the manuals:
//   MFMA  "AMD Instinct MI300" and "CDNA4 Instruction Set Architecture", "Matrix Arithmetic Instructions"
//   WMMA  "RDNA3" and "RDNA4 Instruction Set Architecture", "Wave Matrix Multiply Accumulate"
// Products are exact in double and summed in double; the sum is rounded once to the accumulator's type, where hardware
// rounds or truncates in an order that the manuals leave open. Integers wrap. xf32 drops low bits.
#include "runtime/code_object/rows.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace tessera::code_object {
using namespace llvm;

#if defined(__x86_64__)
#define TESSERA_MATRIX_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TESSERA_MATRIX_CLONES
#endif

/// acc[i][j] += a[i][k] * b[k][j]
TESSERA_MATRIX_CLONES static void multiplyAdd(double *__restrict acc, const double *__restrict a,
                                              const double *__restrict b, unsigned rows, unsigned columns,
                                              unsigned depth) {
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned k = 0; k < depth; ++k) {
      double x = a[i * depth + k];
      for (unsigned j = 0; j < columns; ++j) acc[i * columns + j] += x * b[k * columns + j];
    }
}

namespace {

enum class Element : uint8_t {
  None,
  F16,
  BF16,
  XF32,
  F32,
  F64,
  S8,
  U8,
  S32,
  Fp8,
  Bf8,
  Fp8Fnuz,
  Bf8Fnuz,
  Fp6,
  Bf6,
  Fp4
};

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

/// OCP's formats of 4 and 6 bits ("Microscaling Formats (MX) Specification"): no infinities, no NaN.
double smallFloat(uint32_t bits, unsigned exponentBits, unsigned mantissaBits, int bias) {
  uint32_t mantissa = bits & ((1u << mantissaBits) - 1), exponent = bits >> mantissaBits & ((1u << exponentBits) - 1);
  bool negative = bits >> (exponentBits + mantissaBits) & 1;
  double v = exponent ? std::ldexp(double(mantissa | 1u << mantissaBits), int(exponent) - bias - int(mantissaBits))
                      : std::ldexp(double(mantissa), 1 - bias - int(mantissaBits));
  return negative ? -v : v;
}

double numberOf(Element e, uint64_t bits) {
  switch (e) {
  case Element::F16: return runtime::decodeHalf(uint16_t(bits));
  case Element::BF16: return runtime::decodeBfloat(uint16_t(bits));
  case Element::XF32: return asFloat(uint32_t(bits) & 0xffffe000);
  case Element::F32: return asFloat(uint32_t(bits));
  case Element::F64: return std::bit_cast<double>(bits);
  case Element::S8: return int8_t(bits);
  case Element::U8: return uint8_t(bits);
  case Element::S32: return int32_t(bits);
  case Element::Fp8: return runtime::decodeFloat(ir::FloatKind::F8E4M3FN, bits & 255);
  case Element::Bf8: return runtime::decodeFloat(ir::FloatKind::F8E5M2, bits & 255);
  case Element::Fp8Fnuz: return runtime::decodeFloat(ir::FloatKind::F8E4M3FNUZ, bits & 255);
  case Element::Bf8Fnuz: return runtime::decodeFloat(ir::FloatKind::F8E5M2FNUZ, bits & 255);
  case Element::Fp6: return smallFloat(uint32_t(bits), 2, 3, 1);
  case Element::Bf6: return smallFloat(uint32_t(bits), 3, 2, 3);
  case Element::Fp4: return smallFloat(uint32_t(bits), 2, 1, 1);
  case Element::None: break;
  }
  return 0;
}

enum class Family : uint8_t { Mfma, Wmma11, Wmma12 };

struct Shape {
  Family family = Family::Mfma;
  unsigned m = 0, n = 0, k = 0, blocks = 1;
  Element a = Element::None, b = Element::None, c = Element::None;
  bool scaled = false, mixed = false; // mixed: f8f6f4, whose formats are modifiers
};

/// Row (of A; of B column) of the stack of blocks, and depth, of an element that a lane holds.
struct Place {
  unsigned across, depth;
};
Place operandPlace(const Shape &s, unsigned across, unsigned bits, unsigned lane, unsigned index) {
  switch (s.family) {
  case Family::Wmma11: return {lane % 16, index}; // both halves of the wave hold the same
  case Family::Wmma12: return {lane % 16, lane / 16 * 8 + index};
  case Family::Mfma: {
    unsigned all = across * s.blocks, perLane = s.k / (64 / all), group = lane / all;
    // 32 elements of 8 bits are two runs of 16, half of K apart (CDNA4).
    if (bits == 8 && perLane == 32) return {lane % all, index / 16 * (s.k / 2) + group * 16 + index % 16};
    return {lane % all, group * perLane + index};
  }
  }
  return {};
}
unsigned elementsOf(const Shape &s, unsigned across) {
  if (s.family == Family::Wmma11) return 16;
  if (s.family == Family::Wmma12) return 8;
  return s.k / (64 / (across * s.blocks));
}

/// Block, row and column of an element of the accumulator.
struct ResultPlace {
  unsigned block, row, column;
};
ResultPlace resultPlace(const Shape &s, unsigned lane, unsigned index) {
  if (s.family == Family::Wmma11) return {0, 2 * index + lane / 16, lane % 16};
  if (s.family == Family::Wmma12) return {0, lane / 16 * 8 + index, lane % 16};
  if (s.c == Element::F64) {
    if (s.m == 4) return {lane / 4 % 4, lane / 16, lane % 4};
    return {0, lane / 16 + 4 * index, lane % 16};
  }
  if (s.m == 4) return {lane / 4, index, lane % 4};
  unsigned perBlock = s.m * s.n / 64, in = index % perBlock;
  return {index / perBlock, in / 4 * 4 * (64 / s.n) + lane / s.n * 4 + in % 4, lane % s.n};
}

/// The element's bits in a lane's registers, which are packed.
uint64_t elementAt(const uint32_t *const *rows, unsigned bits, unsigned index, unsigned lane) {
  unsigned at = index * bits, word = at / 32, shift = at % 32;
  uint64_t v = rows[word][lane];
  if (shift + bits > 32) v |= uint64_t(rows[word + 1][lane]) << 32;
  v >>= shift;
  return bits == 64 ? v : v & ((uint64_t(1) << bits) - 1);
}

void setRow64(Wave &w, unsigned row, unsigned lane, uint64_t v) {
  w.row(row)[lane] = uint32_t(v);
  w.row(row + 1)[lane] = uint32_t(v >> 32);
}

struct Operands {
  Row scratch;
  const uint32_t *rows[34];
};
void readRows(Wave &w, const Operand &o, unsigned count, Operands &out) {
  for (unsigned k = 0; k < count; ++k) {
    if (o.isVector())
      out.rows[k] = w.row(o.index + k);
    else
      out.rows[k] = readRow(w, o, 0, out.scratch);
  }
  out.rows[count] = out.rows[count - 1];
}

struct Matrices {
  double a[64 * 128], b[128 * 64], acc[64 * 64];
};

void gather(const Shape &s, bool isA, Element e, const Operands &from, double *to) {
  unsigned across = isA ? s.m : s.n, bits = bitsOf(e), count = elementsOf(s, across);
  unsigned lanes = s.family == Family::Mfma ? 64 : 32;
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < lanes; ++l) {
      Place p = operandPlace(s, across, bits, l, k);
      double v = numberOf(e, elementAt(from.rows, bits, k, l));
      unsigned block = p.across / across, in = p.across % across;
      if (isA)
        to[(block * s.m + in) * s.k + p.depth] = v;
      else
        to[(block * s.k + p.depth) * s.n + in] = v;
    }
}

/// The scale (E8M0: 2^(x - 127)) of a row's K elements 32 by 32, applied to the gathered matrix.
void scale(Wave &w, const Shape &s, bool isA, const Operand &o, unsigned byte, double *matrix) {
  Row scratch;
  const uint32_t *rows = readRow(w, o, 0, scratch);
  unsigned across = isA ? s.m : s.n;
  for (unsigned r = 0; r < across; ++r)
    for (unsigned k = 0; k < s.k; ++k) {
      uint32_t x = rows[r + across * (k / 32)] >> (8 * byte) & 255;
      double f = x == 255 ? std::nan("") : std::ldexp(1.0, int(x) - 127);
      (isA ? matrix[r * s.k + k] : matrix[k * s.n + r]) *= f;
    }
}

Element mixedFormat(unsigned code) {
  constexpr Element kFormats[] = {Element::Fp8, Element::Bf8, Element::Fp6, Element::Bf6, Element::Fp4};
  return code < 5 ? kFormats[code] : Element::None;
}

Shape shapeOf(const Semantic &s) {
  Shape p;
  p.family = Family(s.detail & 15);
  p.m = unsigned(s.detail >> 8 & 255);
  p.n = unsigned(s.detail >> 16 & 255);
  p.k = unsigned(s.detail >> 24 & 255);
  p.blocks = unsigned(s.detail >> 32 & 255);
  p.a = Element(s.parameters[0]);
  p.b = Element(s.parameters[1]);
  p.c = Element(s.parameters[2]);
  p.scaled = s.parameters[3];
  p.mixed = s.parameters[4];
  return p;
}

/// An accumulator's bits. Integers come as doubles, which hold their sums exactly.
uint64_t roundTo(Element e, double v) {
  switch (e) {
  case Element::F16: return runtime::encodeFloat(ir::FloatKind::F16, v);
  case Element::BF16: return runtime::encodeFloat(ir::FloatKind::BF16, v);
  case Element::F64: return std::bit_cast<uint64_t>(v);
  case Element::S32: return uint32_t(int64_t(v));
  default: return asBits(float(v));
  }
}

void accumulators(Wave &w, const Step &s, const Shape &p, Matrices &x, bool isStore) {
  unsigned lanes = p.family == Family::Mfma ? 64 : 32, bits = bitsOf(p.c);
  // 16-bit accumulators of gfx11 have a register each, of which op_sel says the half.
  bool isSpread = p.family == Family::Wmma11 && bits == 16;
  unsigned count = p.m * p.n * p.blocks / lanes, rows = isSpread ? count : count * bits / 32;
  bool isHigh = isSpread && s.modifiers->opSel >> 2 & 1;
  static thread_local Operands c;
  if (!isStore) readRows(w, s[3], rows, c);
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < lanes; ++l) {
      ResultPlace at = resultPlace(p, l, k);
      double &place = x.acc[(at.block * p.m + at.row) * p.n + at.column];
      if (!isStore) {
        uint64_t v = s[3].kind == Operand::Kind::Literal ? s[3].literal
                     : isSpread                          ? uint64_t(c.rows[k][l] >> (isHigh ? 16 : 0) & 0xffff)
                                                         : elementAt(c.rows, bits, k, l);
        place = numberOf(p.c, v);
        continue;
      }
      uint64_t v = roundTo(p.c, place);
      unsigned row = s[0].index;
      if (bits == 64)
        setRow64(w, row + 2 * k, l, v);
      else if (bits == 32)
        w.row(row + k)[l] = uint32_t(v);
      else {
        uint32_t &to = w.row(row + (isSpread ? k : k / 2))[l];
        bool high = isSpread ? isHigh : k % 2;
        to = high ? (to & 0xffff) | uint32_t(v) << 16 : (to & 0xffff0000) | uint32_t(v);
      }
    }
}

/// EXEC does not matter.
void matrixOperation(Wave &w, const Step &s) {
  Shape p = shapeOf(*s.semantic);
  const Modifiers &m = *s.modifiers;
  if (p.mixed) {
    p.a = mixedFormat(m.cbsz);
    p.b = mixedFormat(m.blgp);
    if (p.a == Element::None || p.b == Element::None) return w.fail("the format of an operand does not exist");
  } else if (p.c == Element::F64 ? m.cbsz || m.abid : m.blgp || (m.cbsz && (p.blocks >> m.cbsz) == 0))
    return w.fail("this broadcast of operands is not known to this model yet");
  if (p.a == Element::S8 && p.family != Family::Mfma) {
    p.a = m.negLo & 1 ? Element::S8 : Element::U8;
    p.b = m.negLo & 2 ? Element::S8 : Element::U8;
  } else if (m.negLo || m.negHi || m.clamp)
    return w.fail("negated or clamped operands of matrix instructions are not known to this model yet");
  static thread_local Matrices x;
  static thread_local Operands a, b;
  auto registers = [&](unsigned across, Element e) { return std::max(1u, elementsOf(p, across) * bitsOf(e) / 32); };
  readRows(w, s[1], registers(p.m, p.a), a);
  readRows(w, s[2], registers(p.n, p.b), b);
  gather(p, true, p.a, a, x.a);
  gather(p, false, p.b, b, x.b);
  if (p.scaled) {
    unsigned high = m.opSelHi == kOpSelHiNotWritten ? 0 : m.opSelHi;
    scale(w, p, true, s[4], (m.opSel & 1) | (high & 1) << 1, x.a);
    scale(w, p, false, s[5], (m.opSel >> 1 & 1) | (high & 2), x.b);
  }
  bool isF64 = p.c == Element::F64; // BLGP: signs of A, B and C
  accumulators(w, s, p, x, false);
  if (isF64 && m.blgp & 1)
    for (unsigned k = 0; k < p.m * p.k * p.blocks; ++k) x.a[k] = -x.a[k];
  if (isF64 && m.blgp & 2)
    for (unsigned k = 0; k < p.n * p.k * p.blocks; ++k) x.b[k] = -x.b[k];
  if (isF64 && m.blgp & 4)
    for (unsigned k = 0; k < p.m * p.n * p.blocks; ++k) x.acc[k] = -x.acc[k];
  for (unsigned k = 0; k < p.blocks; ++k) {
    unsigned from = p.mixed || isF64 ? k : (k >> m.cbsz << m.cbsz) + m.abid;
    multiplyAdd(x.acc + size_t(k) * p.m * p.n, x.a + size_t(from) * p.m * p.k, x.b + size_t(k) * p.k * p.n, p.m, p.n,
                p.k);
  }
  accumulators(w, s, p, x, true);
}

Element elementOf(StringRef t, bool isFnuz) {
  if (t == "fp8") return isFnuz ? Element::Fp8Fnuz : Element::Fp8;
  if (t == "bf8") return isFnuz ? Element::Bf8Fnuz : Element::Bf8;
  return StringSwitch<Element>(t)
      .Case("f16", Element::F16)
      .Case("bf16", Element::BF16)
      .Case("xf32", Element::XF32)
      .Case("f32", Element::F32)
      .Case("f64", Element::F64)
      .Cases({"i8", "iu8"}, Element::S8)
      .Case("i32", Element::S32)
      .Default(Element::None);
}

} // namespace

/// v_mfma_f32_32x32x8_f16, v_mfma_f32_32x32x8f16 (gfx90a), v_mfma_f32_32x32x4_2b_bf16, v_mfma_f32_16x16x32_fp8_bf8,
/// v_mfma_scale_f32_16x16x128_f8f6f4, v_wmma_f32_16x16x16_f16
Semantic matrixSemantic(StringRef name, StringRef target) {
  Shape p;
  bool isMfma = name.consume_front("v_mfma_");
  if (!isMfma && !name.consume_front("v_wmma_")) return {};
  p.family = isMfma ? Family::Mfma : target.starts_with("gfx12") ? Family::Wmma12 : Family::Wmma11;
  p.scaled = name.consume_front("scale_");
  bool isFnuz = target == "gfx942" || target == "gfx90a";
  auto [accumulator, rest] = name.split('_');
  p.c = elementOf(accumulator, isFnuz);
  if (rest.consumeInteger(10, p.m) || !rest.consume_front("x") || rest.consumeInteger(10, p.n) ||
      !rest.consume_front("x") || rest.consumeInteger(10, p.k))
    return {};
  rest.consume_back("_1k");
  rest.consume_front("_");
  StringRef blocks = rest;
  if (unsigned n; !blocks.consumeInteger(10, n) && blocks.consume_front("b_")) {
    p.blocks = n;
    rest = blocks;
  } else if (isMfma && p.m < 64) {
    // Names of gfx90a do not say it: a lane has an element of A at least, of 16 bits two or four.
    unsigned least = rest.ends_with("f16")  ? (rest.starts_with("bf16") && !name.ends_with("_1k") ? 2 : 4)
                     : rest.ends_with("i8") ? 4
                                            : 1;
    p.blocks = std::max(1u, least * 64 / (p.m * p.k));
    if (p.c == Element::F64) p.blocks = p.m == 4 ? 4 : 1;
  }
  p.mixed = rest == "f8f6f4";
  auto [first, second] = rest.split('_');
  p.a = p.mixed ? Element::Fp8 : elementOf(first, isFnuz);
  p.b = second.empty() ? p.a : elementOf(second, isFnuz);
  bool isPossible = p.a != Element::None && p.b != Element::None && p.c != Element::None && p.m <= 32 && p.n == p.m &&
                    p.k <= 128 && p.m * p.n * p.blocks <= 64 * 64 &&
                    (isMfma ? p.m * p.blocks <= 64 : p.m == 16 && p.k == 16);
  if (!isPossible) return {};
  Type type = p.c == Element::F64   ? Type::F64
              : p.c == Element::S32 ? Type::B32
              : p.c == Element::F16 ? Type::F16
                                    : Type::F32;
  Semantic s = special("", matrixOperation, type, {Type::B32, Type::B32, type});
  s.detail =
      uint64_t(p.family) | uint64_t(p.m) << 8 | uint64_t(p.n) << 16 | uint64_t(p.k) << 24 | uint64_t(p.blocks) << 32;
  s.parameters = {uint8_t(p.a), uint8_t(p.b), uint8_t(p.c), p.scaled, p.mixed};
  return s;
}

} // namespace tessera::code_object
