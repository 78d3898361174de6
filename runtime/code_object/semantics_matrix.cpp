// Matrix instructions: MFMA and WMMA. Which lane and register holds which element: matrix_layout.h.
// a * b is exact in double and summed in double; the sum is rounded once to the accumulator's type, where hardware
// rounds or truncates in an order that the manuals leave open. Integers wrap. xf32 drops low bits.
#include "runtime/code_object/matrix_layout.h"
#include "runtime/code_object/rows.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace tessera::code_object {
using namespace llvm;

namespace {

/// Registers of an operand of a matrix instruction.
struct Registers {
  Row scratch;
  const uint32_t *rows[34];
};
void readRows(Wave &w, const Operand &o, unsigned count, Registers &out) {
  for (unsigned k = 0; k < count; ++k) {
    if (o.isVector())
      out.rows[k] = w.row(o.index + k);
    else
      out.rows[k] = readRow(w, o, 0, out.scratch);
  }
  out.rows[count] = out.rows[count - 1];
}

struct alignas(64) Matrices {
  double a[64 * 128], b[128 * 64], acc[64 * 64];
};

/// The scale (E8M0: 2^(x - 127)) of a row's K elements 32 by 32, applied to the unpacked matrix.
void scale(Wave &w, const MatrixShape &s, bool isA, const Operand &o, unsigned byte, double *matrix) {
  Row scratch;
  const uint32_t *rows = readRow(w, o, 0, scratch);
  unsigned across = isA ? s.m : s.n;
  double scales[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t x = rows[l] >> (8 * byte) & 255;
    scales[l] = x == 255 ? std::nan("") : std::ldexp(1.0, int(x) - 127);
  }
  for (unsigned k = 0; k < s.k; ++k)
    for (unsigned r = 0; r < across; ++r) matrix[k * across + r] *= scales[r + across * (k / 32)];
}

Element mixedFormat(unsigned code) {
  constexpr Element kFormats[] = {Element::Fp8, Element::Bf8, Element::Fp6, Element::Bf6, Element::Fp4};
  return code < 5 ? kFormats[code] : Element::None;
}

/// What an instruction's modifiers select.
struct Selected {
  Element a = Element::None, b = Element::None;
};
/// The wave fails where they are not known.
Selected selectedBy(Wave &w, const MatrixShape &p, const Modifiers &m) {
  Selected s{p.a, p.b};
  if (p.mixed) {
    s = {mixedFormat(m.cbsz), mixedFormat(m.blgp)};
    if (s.a == Element::None || s.b == Element::None) w.fail("the format of an operand does not exist");
  } else if (p.c == Element::F64 ? m.cbsz || m.abid : m.blgp || (m.cbsz && (p.blocks >> m.cbsz) == 0))
    w.fail("this broadcast of operands is not known to this model yet");
  if (p.a == Element::S8 && p.family != MatrixFamily::Mfma) {
    s.a = m.negLo & 1 ? Element::S8 : Element::U8;
    s.b = m.negLo & 2 ? Element::S8 : Element::U8;
  } else if (m.negLo || m.negHi || m.clamp)
    w.fail("negated or clamped operands of matrix instructions are not known to this model yet");
  return s;
}

bool isZero(const Registers &r, unsigned count) {
  uint32_t any = 0;
  for (unsigned k = 0; k < count; ++k)
    for (unsigned l = 0; l < kLanes; ++l) any |= r.rows[k][l];
  return any == 0;
}
bool hasNanScale(Wave &w, const Operand &o, unsigned byte) {
  Row scratch;
  const uint32_t *rows = readRow(w, o, 0, scratch);
  bool any = false;
  for (unsigned l = 0; l < kLanes; ++l) any |= (rows[l] >> (8 * byte) & 255) == 255;
  return any;
}

/// Operands of zeros only, as measurements often have: the accumulator plus zero.
void addZero(Wave &w, const Step &s, const MatrixPlan &p) {
  Row scratch;
  for (unsigned k = 0; k < p.c.registers; ++k) {
    const uint32_t *from = readRow(w, s[3], s[3].isVector() ? k : 0, scratch);
    uint32_t *to = w.row(s[0].index + k);
    for (unsigned l = 0; l < p.shape.lanes(); ++l)
      to[l] = p.shape.c == Element::S32 ? from[l] : asBits(asFloat(from[l]) + 0.0f);
  }
}
bool isDisjointOrSame(const Operand &a, const Operand &b, unsigned count) {
  return !b.isVector() || a.index == b.index || a.index + count <= b.index || b.index + count <= a.index;
}

void negate(double *x, unsigned count) {
  for (unsigned k = 0; k < count; ++k) x[k] = -x[k];
}

void readAccumulator(Wave &w, const Step &s, const MatrixPlan &p, bool isHigh, double *to) {
  static thread_local Registers c;
  if (s[3].kind == Operand::Kind::Literal) {
    Row row, high;
    std::fill(std::begin(row.lane), std::end(row.lane), uint32_t(s[3].literal));
    std::fill(std::begin(high.lane), std::end(high.lane), uint32_t(s[3].literal >> 32));
    // An element of 16 bits is the same in both halves.
    if (bitsOf(p.shape.c) == 16)
      for (uint32_t &x : row.lane) x = (x & 0xffff) | x << 16;
    for (unsigned k = 0; k < p.c.registers; ++k) c.rows[k] = k % 2 && bitsOf(p.shape.c) == 64 ? high.lane : row.lane;
    return unpack(p.c, p.shape.c, c.rows, isHigh, to);
  }
  readRows(w, s[3], p.c.registers, c);
  unpack(p.c, p.shape.c, c.rows, isHigh, to);
}

/// EXEC does not matter.
void matrixOperation(Wave &w, const Step &s) {
  const MatrixPlan &plan = *s.semantic->matrix;
  const MatrixShape &p = plan.shape;
  const Modifiers &m = *s.modifiers;
  if (w.lanes != p.lanes()) return w.fail("matrix instructions of waves of 64 lanes are not known to this model yet");
  Selected of = selectedBy(w, p, m);
  if (w.state == Wave::State::Failed) return;
  static thread_local Matrices x;
  static thread_local Registers a, b;
  const MatrixLayout &layoutA = plan.layoutOf(true, bitsOf(of.a)), &layoutB = plan.layoutOf(false, bitsOf(of.b));
  unsigned countA = registersOf(layoutA, bitsOf(of.a)), countB = registersOf(layoutB, bitsOf(of.b));
  readRows(w, s[1], countA, a);
  readRows(w, s[2], countB, b);
  unsigned opSelHi = m.opSelHi == kOpSelHiNotWritten ? 0 : m.opSelHi;
  unsigned byteA = (m.opSel & 1) | (opSelHi & 1) << 1, byteB = (m.opSel >> 1 & 1) | (opSelHi & 2);
  bool isSimple = (p.c == Element::F32 || p.c == Element::S32) && isDisjointOrSame(s[0], s[3], plan.c.registers) &&
                  (s[3].isVector() || s[3].kind == Operand::Kind::Literal);
  if (isSimple && isZero(a, countA) && isZero(b, countB) &&
      !(p.scaled && (hasNanScale(w, s[4], byteA) || hasNanScale(w, s[5], byteB))))
    return addZero(w, s, plan);
  unpack(layoutA, of.a, a.rows, false, x.a);
  unpack(layoutB, of.b, b.rows, false, x.b);
  if (p.scaled) {
    scale(w, p, true, s[4], byteA, x.a);
    scale(w, p, false, s[5], byteB, x.b);
  }
  bool isF64 = p.c == Element::F64, isHigh = plan.c.isSpread && m.opSel >> 2 & 1;
  readAccumulator(w, s, plan, isHigh, x.acc);
  if (isF64) { // BLGP: signs of A, B and C
    if (m.blgp & 1) negate(x.a, layoutA.entries);
    if (m.blgp & 2) negate(x.b, layoutB.entries);
    if (m.blgp & 4) negate(x.acc, plan.c.entries);
  }
  for (unsigned k = 0; k < p.blocks; ++k) {
    unsigned from = p.mixed || isF64 ? k : (k >> m.cbsz << m.cbsz) + m.abid;
    multiplyAdd(x.acc + size_t(k) * p.m * p.n, x.a + size_t(from) * p.m * p.k, x.b + size_t(k) * p.k * p.n, p.m, p.k,
                !isF64);
  }
  uint32_t *out[34];
  for (unsigned k = 0; k < plan.c.registers; ++k) out[k] = w.row(s[0].index + k);
  pack(plan.c, p.c, x.acc, isHigh, out);
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
  MatrixShape p;
  bool isMfma = name.consume_front("v_mfma_");
  if (!isMfma && !name.consume_front("v_wmma_")) return {};
  p.family = isMfma ? MatrixFamily::Mfma : target.starts_with("gfx12") ? MatrixFamily::Wmma12 : MatrixFamily::Wmma11;
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
  s.matrix = planOf(p);
  return s;
}

} // namespace tessera::code_object
