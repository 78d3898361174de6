// Inline PTX: arithmetic, comparisons, conversions and moves, lane by lane (PTX ISA, "Integer Arithmetic
// Instructions" to "Data Movement and Conversion Instructions").
#include "runtime/emulator/inline_ptx.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::emulator::ptx {
using namespace llvm;

namespace {

// ScalarCall::variant, by evaluation function.
enum IntegerVariant : unsigned { // integerOp
  IntAdd,
  IntSub,
  IntMulLo,
  IntMulHi,
  IntMulWide,
  IntMadLo,
  IntMadHi,
  IntMadWide,
  IntMin,
  IntMax,
  IntAnd,
  IntOr,
  IntXor,
  IntNot,
  IntShl,
  IntShr,
  IntPopc,
  IntClz,
  IntBrev,
  IntBfind,
  IntPrmt,
  IntLop3,
  IntNeg,
  IntAbs,
  IntMov,
  IntSelp,
  IntShfLeft,
  IntShfRight,
  IntBfe,
};
enum FloatVariant : unsigned { FloatAdd, FloatSub, FloatMul, FloatFma, FloatDiv, FloatMin, FloatMax }; // floatBinary
enum UnaryVariant : unsigned {                                                                         // floatUnary
  UnaryRcp,
  UnaryRsqrt,
  UnarySqrt,
  UnaryEx2,
  UnaryLg2,
  UnarySin,
  UnaryCos,
  UnaryTanh,
  UnaryNeg,
  UnaryAbs,
};
enum CompareVariant : unsigned { Eq, Ne, Lt, Le, Gt, Ge, OrUnordered = 8 };              // comparison; the last a flag
enum RoundVariant : unsigned { NoRounding, RoundEven, RoundToZero, RoundDown, RoundUp }; // convert: to an integer
enum CarryVariant : unsigned { CarryAdd, CarrySub, CarryMadLo, CarryMadHi };             // 32-bit chains
constexpr unsigned kNoVariant = ~0u;

int64_t asSigned(uint64_t v, unsigned bits) { return int64_t(v << (64 - bits)) >> (64 - bits); }
uint64_t cut(uint64_t v, unsigned bits) { return bits == 64 ? v : v & ((uint64_t(1) << bits) - 1); }
double asDouble(const PtxType &t, uint64_t v) {
  if (t.kind == 'h') return halfToFloat(uint16_t(v));
  if (t.kind == 'y') return bfloatToFloat(uint16_t(v));
  return t.bits == 32 ? double(std::bit_cast<float>(uint32_t(v))) : std::bit_cast<double>(v);
}
uint64_t fromDouble(const PtxType &t, double x) {
  if (t.kind == 'h') return runtime::encodeFloat(ir::FloatKind::F16, x);
  if (t.kind == 'y') return runtime::encodeFloat(ir::FloatKind::BF16, x);
  return t.bits == 32 ? std::bit_cast<uint32_t>(float(x)) : std::bit_cast<uint64_t>(x);
}

void runScalar(Warp &w, const Instruction &i) {
  const ScalarCall &c = *reinterpret_cast<const ScalarCall *>(i.immediate);
  uint64_t lanes = w.mask;
  for (uint64_t m = lanes; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (c.guard != kNoRow && bool(w.row<uint8_t>(c.guard)[l] & 1) == c.negated) continue;
    uint64_t in[4] = {};
    for (unsigned k = 0; k < i.more.size(); ++k) in[k] = loadRow(w, i.more[k], c.bytes[k], l);
    if (c.carryIn != kNoRow || c.carryOut != kNoRow) { // 32-bit chains
      uint64_t carry = c.carryIn != kNoRow ? w.row<uint8_t>(c.carryIn)[l] : 0, r;
      uint64_t x = uint32_t(in[0]), y = uint32_t(in[1]);
      if (c.variant == CarryAdd)
        r = x + y + carry;
      else if (c.variant == CarrySub)
        r = x - y - carry;
      else
        r = (c.variant == CarryMadLo ? uint32_t(x * y) : x * y >> 32) + uint32_t(in[2]) + carry;
      if (c.carryOut != kNoRow) w.row<uint8_t>(c.carryOut)[l] = (r >> 32) & 1;
      storeRow(w, i.to, c.to, l, uint32_t(r));
      continue;
    }
    storeRow(w, i.to, c.to, l, c.evaluate(c, in));
  }
}

uint64_t floatBinary(const ScalarCall &c, const uint64_t *in) {
  auto run = [&](auto zero) -> decltype(zero) {
    using T = decltype(zero);
    T x = T(asDouble(c.type, in[0])), y = T(asDouble(c.type, in[1])), z = T(asDouble(c.type, in[2])), r = 0;
    if constexpr (sizeof(T) == 4)
      if (c.ftz) {
        x = flush(x);
        y = flush(y);
        z = flush(z);
      }
    if (c.rounding != FE_TONEAREST) fesetround(c.rounding);
    volatile T p = x, q = y, s = z;
    switch (c.variant) {
    case FloatAdd: r = p + q; break;
    case FloatSub: r = p - q; break;
    case FloatMul: r = p * q; break;
    case FloatFma: r = std::fma(T(p), T(q), T(s)); break;
    case FloatDiv: r = p / q; break;
    case FloatMin: r = minNum(T(p), T(q)); break;
    case FloatMax: r = maxNum(T(p), T(q)); break;
    }
    volatile T kept = r;
    if (c.rounding != FE_TONEAREST) fesetround(FE_TONEAREST);
    r = kept;
    if constexpr (sizeof(T) == 4)
      if (c.ftz) r = flush(r);
    if (c.saturate) r = std::isnan(r) ? T(0) : std::min(T(1), std::max(T(0), r));
    return r;
  };
  return c.type.bits == 64 ? fromDouble(c.type, run(double())) : fromDouble(c.type, run(float()));
}
uint64_t floatUnary(const ScalarCall &c, const uint64_t *in) {
  double x = asDouble(c.type, in[0]), r = x;
  if (c.ftz && c.type.bits == 32) x = flush(float(x));
  switch (c.variant) {
  case UnaryRcp: r = 1 / x; break;
  case UnaryRsqrt: r = 1 / std::sqrt(x); break;
  case UnarySqrt: r = std::sqrt(x); break;
  case UnaryEx2: r = std::exp2(x); break;
  case UnaryLg2: r = std::log2(x); break;
  case UnarySin: r = std::sin(x); break;
  case UnaryCos: r = std::cos(x); break;
  case UnaryTanh: r = std::tanh(x); break;
  case UnaryNeg: r = -x; break;
  case UnaryAbs: r = std::fabs(x); break;
  }
  if (c.ftz && c.type.bits == 32) r = flush(float(r));
  return fromDouble(c.type, r);
}
uint64_t integerOp(const ScalarCall &c, const uint64_t *in) {
  unsigned bits = c.type.bits;
  bool isSigned = c.type.kind == 's';
  uint64_t x = cut(in[0], bits), y = cut(in[1], bits), z = cut(in[2], bits);
  int64_t sx = asSigned(x, bits), sy = asSigned(y, bits);
  u128 full = isSigned ? u128(i128(sx) * sy) : u128(x) * y;
  switch (c.variant) {
  case IntAdd: return cut(x + y, bits);
  case IntSub: return cut(x - y, bits);
  case IntMulLo: return cut(uint64_t(full), bits);
  case IntMulHi: return cut(uint64_t(full >> bits), bits);
  case IntMulWide: return cut(uint64_t(full), 2 * bits);
  case IntMadLo: return cut(uint64_t(full) + z, bits);
  case IntMadHi: return cut(uint64_t(full >> bits) + z, bits);
  case IntMadWide: return cut(uint64_t(full) + in[2], 2 * bits);
  case IntMin: return isSigned ? cut(uint64_t(std::min(sx, sy)), bits) : std::min(x, y);
  case IntMax: return isSigned ? cut(uint64_t(std::max(sx, sy)), bits) : std::max(x, y);
  case IntAnd: return x & y;
  case IntOr: return x | y;
  case IntXor: return x ^ y;
  case IntNot: return cut(~x, bits);
  case IntShl: return in[1] >= bits ? 0 : cut(x << in[1], bits);
  case IntShr:
    return isSigned ? cut(uint64_t(sx >> std::min<uint64_t>(in[1], bits - 1)), bits) : in[1] >= bits ? 0 : x >> in[1];
  case IntPopc: return uint64_t(std::popcount(x));
  case IntClz: return uint64_t(std::countl_zero(x)) - (64 - bits);
  case IntBrev: {
    uint64_t r = 0;
    for (unsigned k = 0; k < bits; ++k) r |= (x >> k & 1) << (bits - 1 - k);
    return r;
  }
  case IntBfind: { // position of the highest bit (of signed: that differs from the sign); .shiftamt: from the top
    uint64_t v = isSigned && sx < 0 ? cut(~x, bits) : x;
    if (!v) return 0xffffffff;
    unsigned at = 63 - unsigned(std::countl_zero(v));
    return c.saturate ? bits - 1 - at : at;
  }
  case IntPrmt: {
    uint64_t both = y << 32 | x, r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      unsigned s = unsigned(in[2] >> (4 * k)) & 15;
      uint8_t byte = uint8_t(both >> (8 * (s & 7)));
      if (s & 8) byte = byte & 0x80 ? 0xff : 0;
      r |= uint64_t(byte) << (8 * k);
    }
    return r;
  }
  case IntLop3: { // the table in the fourth operand, indexed by the three bits
    uint64_t r = 0;
    for (unsigned k = 0; k < bits; ++k) r |= (in[3] >> ((x >> k & 1) << 2 | (y >> k & 1) << 1 | (z >> k & 1)) & 1) << k;
    return r;
  }
  case IntNeg: return cut(0 - x, bits);
  case IntAbs: return cut(sx < 0 ? 0 - x : x, bits);
  case IntMov: return x;
  case IntSelp: return in[2] & 1 ? x : y;
  case IntShfLeft: { // shf.l.wrap, as shf.r.wrap: 64 bits of (high y, low x)
    uint64_t both = y << 32 | x;
    unsigned s = unsigned(in[2]) & 31;
    return uint32_t(both << s >> 32);
  }
  case IntShfRight: return uint32_t((y << 32 | x) >> (in[2] & 31));
  case IntBfe: {
    unsigned at = unsigned(in[1] & 255), n = unsigned(in[2] & 255);
    if (!n) return 0;
    uint64_t v = at < bits ? (isSigned ? uint64_t(sx >> at) : x >> at) : isSigned && sx < 0 ? ~uint64_t(0) : 0;
    if (n >= bits) return cut(v, bits);
    return isSigned ? cut(uint64_t(asSigned(cut(v, n), n)), bits) : cut(v, n);
  }
  }
  return 0;
}
uint64_t comparison(const ScalarCall &c, const uint64_t *in) {
  unsigned v = c.variant & ~OrUnordered;
  if (StringRef("fhy").contains(c.type.kind)) {
    double x = asDouble(c.type, in[0]), y = asDouble(c.type, in[1]);
    if (std::isnan(x) || std::isnan(y)) return bool(c.variant & OrUnordered);
    return v == Eq ? x == y : v == Ne ? x != y : v == Lt ? x < y : v == Le ? x <= y : v == Gt ? x > y : x >= y;
  }
  uint64_t x = cut(in[0], c.type.bits), y = cut(in[1], c.type.bits);
  if (c.type.kind == 's') {
    uint64_t flip = uint64_t(1) << (c.type.bits - 1);
    x ^= flip;
    y ^= flip;
  }
  return v == Eq ? x == y : v == Ne ? x != y : v == Lt ? x < y : v == Le ? x <= y : v == Gt ? x > y : x >= y;
}
uint64_t convert(const ScalarCall &c, const uint64_t *in) {
  auto isFloat = [](const PtxType &t) { return StringRef("fhy").contains(t.kind); };
  if (isFloat(c.from) && isFloat(c.type)) {
    double x = asDouble(c.from, in[0]);
    if (c.ftz && c.from.bits == 32) x = flush(float(x));
    if (c.variant != NoRounding)
      x = c.variant == RoundEven     ? std::nearbyint(x)
          : c.variant == RoundToZero ? std::trunc(x)
          : c.variant == RoundDown   ? std::floor(x)
                                     : std::ceil(x);
    auto r = c.rounding == FE_TOWARDZERO ? runtime::Rounding::TowardZero : runtime::Rounding::NearestEven;
    if (c.type.kind == 'h') return runtime::encodeFloat(ir::FloatKind::F16, x, r);
    if (c.type.kind == 'y') return runtime::encodeFloat(ir::FloatKind::BF16, x, r);
    if (c.type.bits == 32) return runtime::encodeFloat(ir::FloatKind::F32, x, r);
    return std::bit_cast<uint64_t>(x);
  }
  if (isFloat(c.from)) {
    double x = asDouble(c.from, in[0]);
    x = c.variant == RoundEven   ? std::nearbyint(x)
        : c.variant == RoundDown ? std::floor(x)
        : c.variant == RoundUp   ? std::ceil(x)
                                 : std::trunc(x);
    return toInteger(x, c.type.kind == 's', c.type.bits);
  }
  uint64_t v = c.from.kind == 's' ? uint64_t(asSigned(in[0], c.from.bits)) : cut(in[0], c.from.bits);
  if (isFloat(c.type)) return fromDouble(c.type, c.from.kind == 's' ? double(int64_t(v)) : double(v));
  return cut(v, c.type.bits);
}

} // namespace

ScalarCall &PtxDecoder::call(const Statement &s, Operand &to, ArrayRef<Operand> in, PtxType type) {
  auto c = std::make_shared<ScalarCall>();
  c->type = c->from = type;
  c->guard = s.guard;
  c->negated = s.guardNegated;
  c->to = uint8_t(to.bytes);
  SmallVector<Row, 4> rows;
  for (const Operand &o : in) {
    uint64_t v = o.immediate;
    if (o.kind == Operand::Immediate && isReal_ && StringRef("fhy").contains(type.kind))
      v = fromDouble(type, std::bit_cast<double>(v));
    rows.push_back(o.kind == Operand::Immediate ? d_.constant(v, 8) : o.row);
    c->bytes.push_back(uint8_t(o.kind == Operand::Immediate ? 8 : o.bytes));
  }
  d_.emit(runScalar, to.row, kNoRow, kNoRow, kNoRow, reinterpret_cast<uint64_t>(c.get())).more = d_.list(rows);
  d_.program().owned.push_back(c);
  return *c;
}

bool PtxDecoder::emitMove(Statement &s) {
  if (s.operands.size() != 2 || s.modifiers.size() != 1) return false;
  PtxType t = typeOf(s.modifiers[0]);
  if (!t) return bad("type");
  Operand &to = s.operands[0], &from = s.operands[1];
  if (to.kind == Operand::Vector) {
    if (from.kind != Operand::Register) return false;
    unsigned part = t.bits / unsigned(to.parts.size());
    for (auto [k, p] : enumerate(to.parts)) {
      if (p.kind == Operand::Sink) continue;
      PtxType wide = {'u', t.bits, false};
      Operand shift;
      shift.kind = Operand::Immediate;
      shift.immediate = part * k;
      ScalarCall &c = call(s, p, {from, shift}, wide);
      c.evaluate = integerOp;
      c.variant = IntShr;
    }
    return true;
  }
  if (from.kind == Operand::Vector) {
    unsigned part = t.bits / unsigned(from.parts.size());
    PtxType wide = {'u', t.bits, false};
    for (auto [k, p] : enumerate(from.parts)) {
      // to = (k ? to : 0) | p << (part * k)
      Operand shifted, shift, zero;
      shifted.row = d_.fresh(8);
      shifted.bytes = 8;
      shift.kind = zero.kind = Operand::Immediate;
      shift.immediate = part * k;
      ScalarCall &c = call(s, shifted, {p, shift}, {'u', 64, false});
      c.evaluate = integerOp;
      c.variant = IntShl;
      ScalarCall &o = call(s, to, {k ? to : zero, shifted}, wide);
      o.evaluate = integerOp;
      o.variant = IntOr;
    }
    return true;
  }
  ScalarCall &c = call(s, to, {from}, {'b', t.kind == 'p' ? 8 : t.bits, false});
  c.evaluate = integerOp;
  c.variant = IntMov;
  return true;
}

/// The modifiers of a scalar instruction: `.rn`, `.ftz`, the types, …
struct ScalarModifiers {
  PtxType type;
  PtxType second; // cvt's source
  int rounding = FE_TONEAREST;
  RoundVariant integral = NoRounding;
  bool ftz = false;
  bool saturate = false;
  bool carryOut = false; // .cc
  bool lo = false;
  bool hi = false;
  bool wide = false;
  bool shiftAmount = false;
  StringRef compare;
  StringRef shiftDirection; // shf: l or r
};

/// False: the modifier is unknown.
static bool readModifier(StringRef m, ScalarModifiers &out) {
  static constexpr StringRef kComparisons[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "ls",
                                               "hs", "equ", "neu", "ltu", "leu", "gtu", "geu"};
  if (PtxType t = typeOf(m)) {
    (out.type ? out.second : out.type) = t;
    return true;
  }
  int rounding = StringSwitch<int>(m)
                     .Case("rn", FE_TONEAREST)
                     .Case("rz", FE_TOWARDZERO)
                     .Case("rm", FE_DOWNWARD)
                     .Case("rp", FE_UPWARD)
                     .Default(-1);
  if (rounding != -1) {
    out.rounding = rounding;
    return true;
  }
  RoundVariant integral = StringSwitch<RoundVariant>(m)
                              .Case("rni", RoundEven)
                              .Case("rzi", RoundToZero)
                              .Case("rmi", RoundDown)
                              .Case("rpi", RoundUp)
                              .Default(NoRounding);
  if (integral != NoRounding) {
    out.integral = integral;
    return true;
  }
  bool *flag = StringSwitch<bool *>(m)
                   .Case("ftz", &out.ftz)
                   .Cases({"sat", "satfinite"}, &out.saturate)
                   .Case("cc", &out.carryOut)
                   .Case("lo", &out.lo)
                   .Case("hi", &out.hi)
                   .Case("wide", &out.wide)
                   .Case("shiftamt", &out.shiftAmount)
                   .Default(nullptr);
  if (flag) {
    *flag = true;
    return true;
  }
  if (m == "l" || m == "r") {
    out.shiftDirection = m;
    return true;
  }
  if (is_contained(kComparisons, m)) {
    out.compare = m;
    return true;
  }
  return m == "approx" || m == "full" || m == "wrap"; // the emulator computes these exactly, or in one way only
}

bool PtxDecoder::emitScalar(Statement &s) {
  ScalarModifiers m;
  for (StringRef text : s.modifiers)
    if (!readModifier(text, m)) return bad("modifier ." + text);
  if (!m.type || s.operands.size() < 2) return false;
  SmallVector<Operand, 4> in(s.operands.begin() + 1, s.operands.end());
  for (Operand &o : in)
    if (o.kind != Operand::Register && o.kind != Operand::Immediate) return false;
  if (in.size() > 4 || s.operands[0].kind != Operand::Register) return false;
  if (m.type.pair) return bad("pairs");
  if (s.opcode == "setp") return emitComparison(s, m, in);
  if (s.opcode == "selp") return emitEvaluation(s, m, in, integerOp, IntSelp, 3);
  if (s.opcode == "cvt") return emitConversion(s, m, in);
  if (StringRef("fhy").contains(m.type.kind)) return emitFloatArithmetic(s, m, in);
  bool chained = s.opcode == "addc" || s.opcode == "subc" || s.opcode == "madc";
  if (m.carryOut || chained) return emitCarryChain(s, m, in, chained);
  return emitIntegerArithmetic(s, m, in);
}

bool PtxDecoder::emitEvaluation(Statement &s, const ScalarModifiers &m, ArrayRef<Operand> in, Evaluate evaluate,
                                unsigned variant, size_t operands) {
  if (in.size() != operands) return bad("number of operands");
  ScalarCall &c = call(s, s.operands[0], in, m.type);
  c.evaluate = evaluate;
  c.variant = variant;
  c.rounding = m.rounding;
  c.ftz = m.ftz;
  c.saturate = m.saturate;
  return true;
}

bool PtxDecoder::emitComparison(Statement &s, const ScalarModifiers &m, ArrayRef<Operand> in) {
  unsigned variant = StringSwitch<unsigned>(m.compare)
                         .Case("eq", Eq)
                         .Case("ne", Ne)
                         .Case("lt", Lt)
                         .Cases({"le", "ls"}, Le)
                         .Case("gt", Gt)
                         .Cases({"ge", "hs"}, Ge)
                         .Case("equ", Eq | OrUnordered)
                         .Case("neu", Ne | OrUnordered)
                         .Case("ltu", Lt | OrUnordered)
                         .Case("leu", Le | OrUnordered)
                         .Case("gtu", Gt | OrUnordered)
                         .Case("geu", Ge | OrUnordered)
                         .Default(kNoVariant);
  // `.lo` and `.hi` are also the unsigned lt and gt.
  if (variant == kNoVariant && (m.lo || m.hi)) variant = m.lo ? Lt : Gt;
  if (variant == kNoVariant) return bad("comparison");
  return emitEvaluation(s, m, in, comparison, variant, 2);
}

bool PtxDecoder::emitConversion(Statement &s, const ScalarModifiers &m, ArrayRef<Operand> in) {
  if (!m.second || in.size() != 1) return false;
  if (m.saturate) return bad("saturation");
  ScalarCall &c = call(s, s.operands[0], in, m.type);
  c.from = m.second;
  c.evaluate = convert;
  c.variant = m.integral;
  c.rounding = m.rounding;
  c.ftz = m.ftz;
  return true;
}

bool PtxDecoder::emitFloatArithmetic(Statement &s, const ScalarModifiers &m, ArrayRef<Operand> in) {
  unsigned variant = StringSwitch<unsigned>(s.opcode)
                         .Case("add", FloatAdd)
                         .Case("sub", FloatSub)
                         .Case("mul", FloatMul)
                         .Cases({"fma", "mad"}, FloatFma)
                         .Case("div", FloatDiv)
                         .Case("min", FloatMin)
                         .Case("max", FloatMax)
                         .Default(kNoVariant);
  if (variant != kNoVariant) return emitEvaluation(s, m, in, floatBinary, variant, variant == FloatFma ? 3 : 2);
  variant = StringSwitch<unsigned>(s.opcode)
                .Case("rcp", UnaryRcp)
                .Case("rsqrt", UnaryRsqrt)
                .Case("sqrt", UnarySqrt)
                .Case("ex2", UnaryEx2)
                .Case("lg2", UnaryLg2)
                .Case("sin", UnarySin)
                .Case("cos", UnaryCos)
                .Case("tanh", UnaryTanh)
                .Case("neg", UnaryNeg)
                .Case("abs", UnaryAbs)
                .Default(kNoVariant);
  return variant != kNoVariant && emitEvaluation(s, m, in, floatUnary, variant, 1);
}

/// A link of a chain of 32-bit operations that hand a carry on. `chained`: it adds the carry of the link before it;
/// with `.cc` it also gives one. The last link has no `.cc`, the first is not chained.
bool PtxDecoder::emitCarryChain(Statement &s, const ScalarModifiers &m, ArrayRef<Operand> in, bool chained) {
  if (m.type.bits != 32) return bad("carry of " + Twine(m.type.bits) + " bits");
  unsigned variant = StringSwitch<unsigned>(s.opcode)
                         .Cases({"add", "addc"}, CarryAdd)
                         .Cases({"sub", "subc"}, CarrySub)
                         .Cases({"mad", "madc"}, m.hi ? CarryMadHi : CarryMadLo)
                         .Default(kNoVariant);
  bool isMad = variant == CarryMadLo || variant == CarryMadHi;
  if (variant == kNoVariant || in.size() != (isMad ? 3u : 2u)) return false;
  Row chain = carry();
  ScalarCall &c = call(s, s.operands[0], in, m.type);
  c.variant = variant;
  c.carryIn = chained ? chain : kNoRow;
  c.carryOut = m.carryOut ? chain : kNoRow;
  return true;
}

bool PtxDecoder::emitIntegerArithmetic(Statement &s, ScalarModifiers m, ArrayRef<Operand> in) {
  StringRef op = s.opcode;
  if (op == "mul" || op == "mad") {
    bool isMad = op == "mad";
    if (m.lo) return emitEvaluation(s, m, in, integerOp, isMad ? IntMadLo : IntMulLo, isMad ? 3 : 2);
    if (m.hi) return emitEvaluation(s, m, in, integerOp, isMad ? IntMadHi : IntMulHi, isMad ? 3 : 2);
    if (m.wide) return emitEvaluation(s, m, in, integerOp, isMad ? IntMadWide : IntMulWide, isMad ? 3 : 2);
    return bad("one of .lo .hi .wide");
  }
  if (op == "shf") return emitEvaluation(s, m, in, integerOp, m.shiftDirection == "l" ? IntShfLeft : IntShfRight, 3);
  struct OpRow {
    StringRef name;
    IntegerVariant variant;
    size_t operands;
  };
  static constexpr OpRow kOps[] = {
      {"add", IntAdd, 2},   {"sub", IntSub, 2}, {"min", IntMin, 2},   {"max", IntMax, 2},     {"and", IntAnd, 2},
      {"or", IntOr, 2},     {"xor", IntXor, 2}, {"not", IntNot, 1},   {"shl", IntShl, 2},     {"shr", IntShr, 2},
      {"popc", IntPopc, 1}, {"clz", IntClz, 1}, {"brev", IntBrev, 1}, {"bfind", IntBfind, 1}, {"prmt", IntPrmt, 3},
      {"lop3", IntLop3, 4}, {"neg", IntNeg, 1}, {"abs", IntAbs, 1},   {"bfe", IntBfe, 3}};
  for (auto &r : kOps) {
    if (op != r.name) continue;
    if (r.variant == IntBfind) m.saturate = m.shiftAmount; // integerOp reads it there
    return emitEvaluation(s, m, in, integerOp, r.variant, r.operands);
  }
  return false;
}

} // namespace tessera::emulator::ptx
