// Inline PTX: arithmetic, comparisons, conversions and moves, lane by lane (PTX ISA, "Integer Arithmetic
// Instructions" to "Data Movement and Conversion Instructions").
#include "runtime/emulator/inline_ptx.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera::emulator::ptx {
using namespace llvm;

namespace {

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
    if (c.carryIn != kNoRow || c.carryOut != kNoRow) { // 32-bit chains; variant: 0 add, 1 sub, 2 mad.lo, 3 mad.hi
      uint64_t carry = c.carryIn != kNoRow ? w.row<uint8_t>(c.carryIn)[l] : 0, r;
      uint64_t x = uint32_t(in[0]), y = uint32_t(in[1]);
      if (c.variant == 0)
        r = x + y + carry;
      else if (c.variant == 1)
        r = x - y - carry;
      else
        r = (c.variant == 2 ? uint32_t(x * y) : x * y >> 32) + uint32_t(in[2]) + carry;
      if (c.carryOut != kNoRow) w.row<uint8_t>(c.carryOut)[l] = (r >> 32) & 1;
      storeRow(w, i.to, c.to, l, uint32_t(r));
      continue;
    }
    storeRow(w, i.to, c.to, l, c.evaluate(c, in));
  }
}

uint64_t floatBinary(const ScalarCall &c, const uint64_t *in) { // variant: + - * fma / min max
  auto run = [&](auto zero) -> decltype(zero) {
    using T = decltype(zero);
    T x = T(asDouble(c.type, in[0])), y = T(asDouble(c.type, in[1])), z = T(asDouble(c.type, in[2])), r = 0;
    if constexpr (sizeof(T) == 4)
      if (c.ftz) x = flush(x), y = flush(y), z = flush(z);
    if (c.rounding != FE_TONEAREST) fesetround(c.rounding);
    volatile T p = x, q = y, s = z;
    switch (c.variant) {
    case 0: r = p + q; break;
    case 1: r = p - q; break;
    case 2: r = p * q; break;
    case 3: r = std::fma(T(p), T(q), T(s)); break;
    case 4: r = p / q; break;
    case 5: r = minNum(T(p), T(q)); break;
    case 6: r = maxNum(T(p), T(q)); break;
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
uint64_t floatUnary(const ScalarCall &c, const uint64_t *in) { // variant: rcp rsqrt sqrt ex2 lg2 sin cos tanh neg abs
  double x = asDouble(c.type, in[0]), r = x;
  if (c.ftz && c.type.bits == 32) x = flush(float(x));
  switch (c.variant) {
  case 0: r = 1 / x; break;
  case 1: r = 1 / std::sqrt(x); break;
  case 2: r = std::sqrt(x); break;
  case 3: r = std::exp2(x); break;
  case 4: r = std::log2(x); break;
  case 5: r = std::sin(x); break;
  case 6: r = std::cos(x); break;
  case 7: r = std::tanh(x); break;
  case 8: r = -x; break;
  case 9: r = std::fabs(x); break;
  }
  if (c.ftz && c.type.bits == 32) r = flush(float(r));
  return fromDouble(c.type, r);
}
uint64_t integerOp(const ScalarCall &c, const uint64_t *in) {
  unsigned bits = c.type.bits;
  bool isSigned = c.type.kind == 's';
  uint64_t x = cut(in[0], bits), y = cut(in[1], bits), z = cut(in[2], bits);
  int64_t sx = asSigned(x, bits), sy = asSigned(y, bits);
  u128 product = isSigned ? u128(i128(sx) * sy) : u128(x) * y;
  switch (c.variant) {
  case 0: return cut(x + y, bits);
  case 1: return cut(x - y, bits);
  case 2: return cut(uint64_t(product), bits);                                      // mul.lo
  case 3: return cut(uint64_t(product >> bits), bits);                              // mul.hi
  case 4: return cut(uint64_t(product), 2 * bits);                                  // mul.wide
  case 5: return cut(uint64_t(product) + z, bits);                                  // mad.lo
  case 6: return cut(uint64_t(product >> bits) + z, bits);                          // mad.hi
  case 7: return cut(uint64_t(product) + in[2], 2 * bits);                          // mad.wide
  case 8: return isSigned ? cut(uint64_t(std::min(sx, sy)), bits) : std::min(x, y); // min
  case 9: return isSigned ? cut(uint64_t(std::max(sx, sy)), bits) : std::max(x, y); // max
  case 10: return x & y;
  case 11: return x | y;
  case 12: return x ^ y;
  case 13: return cut(~x, bits);
  case 14: return in[1] >= bits ? 0 : cut(x << in[1], bits);
  case 15:
    return isSigned ? cut(uint64_t(sx >> std::min<uint64_t>(in[1], bits - 1)), bits) : in[1] >= bits ? 0 : x >> in[1];
  case 16: return uint64_t(std::popcount(x));
  case 17: return uint64_t(std::countl_zero(x)) - (64 - bits);
  case 18: { // brev
    uint64_t r = 0;
    for (unsigned k = 0; k < bits; ++k) r |= (x >> k & 1) << (bits - 1 - k);
    return r;
  }
  case 19: { // bfind: position of the highest bit (of signed: that differs from the sign); .shiftamt: from the top
    uint64_t v = isSigned && sx < 0 ? cut(~x, bits) : x;
    if (!v) return 0xffffffff;
    unsigned at = 63 - unsigned(std::countl_zero(v));
    return c.saturate ? bits - 1 - at : at;
  }
  case 20: { // prmt
    uint64_t both = y << 32 | x, r = 0;
    for (unsigned k = 0; k < 4; ++k) {
      unsigned s = unsigned(in[2] >> (4 * k)) & 15;
      uint8_t byte = uint8_t(both >> (8 * (s & 7)));
      if (s & 8) byte = byte & 0x80 ? 0xff : 0;
      r |= uint64_t(byte) << (8 * k);
    }
    return r;
  }
  case 21: { // lop3: the table in the fourth operand, indexed by the three bits
    uint64_t r = 0;
    for (unsigned k = 0; k < bits; ++k) r |= (in[3] >> ((x >> k & 1) << 2 | (y >> k & 1) << 1 | (z >> k & 1)) & 1) << k;
    return r;
  }
  case 22: return cut(0 - x, bits);              // neg
  case 23: return cut(sx < 0 ? 0 - x : x, bits); // abs
  case 24: return x;                             // mov
  case 25: return in[2] & 1 ? x : y;             // selp
  case 26: {                                     // shf.l.wrap, 27 shf.r.wrap: 64 bits of (high y, low x)
    uint64_t both = y << 32 | x;
    unsigned s = unsigned(in[2]) & 31;
    return uint32_t(both << s >> 32);
  }
  case 27: return uint32_t((y << 32 | x) >> (in[2] & 31));
  case 28: { // bfe
    unsigned at = unsigned(in[1] & 255), n = unsigned(in[2] & 255);
    if (!n) return 0;
    uint64_t v = at < bits ? (isSigned ? uint64_t(sx >> at) : x >> at) : isSigned && sx < 0 ? ~uint64_t(0) : 0;
    if (n >= bits) return cut(v, bits);
    return isSigned ? cut(uint64_t(asSigned(cut(v, n), n)), bits) : cut(v, n);
  }
  }
  return 0;
}
uint64_t comparison(const ScalarCall &c, const uint64_t *in) { // variant: eq ne lt le gt ge, +8: unordered too
  unsigned v = c.variant & 7;
  if (StringRef("fhy").contains(c.type.kind)) {
    double x = asDouble(c.type, in[0]), y = asDouble(c.type, in[1]);
    if (std::isnan(x) || std::isnan(y)) return c.variant >> 3;
    return v == 0 ? x == y : v == 1 ? x != y : v == 2 ? x < y : v == 3 ? x <= y : v == 4 ? x > y : x >= y;
  }
  uint64_t x = cut(in[0], c.type.bits), y = cut(in[1], c.type.bits);
  if (c.type.kind == 's') {
    uint64_t flip = uint64_t(1) << (c.type.bits - 1);
    x ^= flip, y ^= flip;
  }
  return v == 0 ? x == y : v == 1 ? x != y : v == 2 ? x < y : v == 3 ? x <= y : v == 4 ? x > y : x >= y;
}
uint64_t convert(const ScalarCall &c, const uint64_t *in) {
  auto isFloat = [](const PtxType &t) { return StringRef("fhy").contains(t.kind); };
  if (isFloat(c.from) && isFloat(c.type)) {
    double x = asDouble(c.from, in[0]);
    if (c.ftz && c.from.bits == 32) x = flush(float(x));
    if (c.variant)
      x = c.variant == 1   ? std::nearbyint(x)
          : c.variant == 2 ? std::trunc(x)
          : c.variant == 3 ? std::floor(x)
                           : std::ceil(x);
    auto r = c.rounding == FE_TOWARDZERO ? runtime::Rounding::TowardZero : runtime::Rounding::NearestEven;
    if (c.type.kind == 'h') return runtime::encodeFloat(ir::FloatKind::F16, x, r);
    if (c.type.kind == 'y') return runtime::encodeFloat(ir::FloatKind::BF16, x, r);
    if (c.type.bits == 32) return runtime::encodeFloat(ir::FloatKind::F32, x, r);
    return std::bit_cast<uint64_t>(x);
  }
  if (isFloat(c.from)) {
    double x = asDouble(c.from, in[0]);
    x = c.variant == 1   ? std::nearbyint(x)
        : c.variant == 3 ? std::floor(x)
        : c.variant == 4 ? std::ceil(x)
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
  c->guard = s.guard, c->negated = s.guardNegated;
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
      PtxType wide = {'u', t.bits, false};
      Operand shift;
      shift.kind = Operand::Immediate, shift.immediate = part * k;
      ScalarCall &c = call(s, p, {from, shift}, wide);
      c.evaluate = integerOp, c.variant = 15;
    }
    return true;
  }
  if (from.kind == Operand::Vector) {
    unsigned part = t.bits / unsigned(from.parts.size());
    PtxType wide = {'u', t.bits, false};
    for (auto [k, p] : enumerate(from.parts)) {
      // to = (k ? to : 0) | p << (part * k)
      Operand shifted, shift, zero;
      shifted.row = d_.fresh(8), shifted.bytes = 8;
      shift.kind = zero.kind = Operand::Immediate, shift.immediate = part * k;
      ScalarCall &c = call(s, shifted, {p, shift}, {'u', 64, false});
      c.evaluate = integerOp, c.variant = 14;
      ScalarCall &o = call(s, to, {k ? to : zero, shifted}, wide);
      o.evaluate = integerOp, o.variant = 11;
    }
    return true;
  }
  ScalarCall &c = call(s, to, {from}, {'b', t.kind == 'p' ? 8 : t.bits, false});
  c.evaluate = integerOp, c.variant = 24;
  return true;
}

bool PtxDecoder::emitScalar(Statement &s) {
  PtxType type, second;
  int rounding = FE_TONEAREST;
  bool ftz = false, sat = false, cc = false, lo = false, hi = false, wide = false, shiftamt = false, approx = false;
  unsigned integral = 0;
  StringRef compare, shf;
  for (StringRef m : s.modifiers) {
    if (PtxType t = typeOf(m))
      (type ? second : type) = t;
    else if (m == "rn")
      rounding = FE_TONEAREST;
    else if (m == "rz")
      rounding = FE_TOWARDZERO;
    else if (m == "rm")
      rounding = FE_DOWNWARD;
    else if (m == "rp")
      rounding = FE_UPWARD;
    else if (m == "rni")
      integral = 1;
    else if (m == "rzi")
      integral = 2;
    else if (m == "rmi")
      integral = 3;
    else if (m == "rpi")
      integral = 4;
    else if (m == "ftz")
      ftz = true;
    else if (m == "sat" || m == "satfinite")
      sat = true;
    else if (m == "cc")
      cc = true;
    else if (m == "lo")
      lo = true;
    else if (m == "hi")
      hi = true;
    else if (m == "wide")
      wide = true;
    else if (m == "approx" || m == "full")
      approx = true;
    else if (m == "shiftamt")
      shiftamt = true;
    else if (m == "l" || m == "r" || m == "wrap")
      shf = m == "wrap" ? shf : m;
    else if (StringRef(" eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu ").contains((" " + m + " ").str()))
      compare = m;
    else
      return bad("modifier ." + m);
  }
  if (!type || s.operands.size() < 2) return false;
  (void)approx;
  SmallVector<Operand, 4> in(s.operands.begin() + 1, s.operands.end());
  for (Operand &o : in)
    if (o.kind != Operand::Register && o.kind != Operand::Immediate) return false;
  if (in.size() > 4 || s.operands[0].kind != Operand::Register) return false;
  bool isFloat = StringRef("fhy").contains(type.kind);
  if (type.pair) return bad("pairs");
  StringRef op = s.opcode;

  auto finish = [&](Evaluate e, unsigned variant, size_t operands) {
    if (in.size() != operands) return bad("number of operands");
    ScalarCall &c = call(s, s.operands[0], in, type);
    c.evaluate = e, c.variant = variant, c.rounding = rounding, c.ftz = ftz, c.saturate = sat;
    return true;
  };
  if (op == "setp") {
    unsigned v = StringSwitch<unsigned>(compare)
                     .Case("eq", 0)
                     .Case("ne", 1)
                     .Cases({"lt", "lo"}, 2)
                     .Cases({"le", "ls"}, 3)
                     .Cases({"gt", "hi"}, 4)
                     .Cases({"ge", "hs"}, 5)
                     .Case("equ", 8)
                     .Case("neu", 9)
                     .Case("ltu", 10)
                     .Case("leu", 11)
                     .Case("gtu", 12)
                     .Case("geu", 13)
                     .Default(99);
    if (v == 99 && (lo || hi)) v = lo ? 2 : 4;
    if (v == 99) return bad("comparison");
    return finish(comparison, v, 2);
  }
  if (op == "selp") return finish(integerOp, 25, 3);
  if (op == "cvt") {
    if (!second || in.size() != 1) return false;
    if (sat) return bad("saturation");
    ScalarCall &c = call(s, s.operands[0], in, type);
    c.from = second, c.evaluate = convert, c.variant = integral, c.rounding = rounding, c.ftz = ftz;
    return true;
  }
  if (isFloat) {
    unsigned v = StringSwitch<unsigned>(op)
                     .Case("add", 0)
                     .Case("sub", 1)
                     .Case("mul", 2)
                     .Cases({"fma", "mad"}, 3)
                     .Case("div", 4)
                     .Case("min", 5)
                     .Case("max", 6)
                     .Default(99);
    if (v != 99) return finish(floatBinary, v, v == 3 ? 3 : 2);
    v = StringSwitch<unsigned>(op)
            .Case("rcp", 0)
            .Case("rsqrt", 1)
            .Case("sqrt", 2)
            .Case("ex2", 3)
            .Case("lg2", 4)
            .Case("sin", 5)
            .Case("cos", 6)
            .Case("tanh", 7)
            .Case("neg", 8)
            .Case("abs", 9)
            .Default(99);
    if (v == 99) return false;
    return finish(floatUnary, v, 1);
  }
  bool chained = op == "addc" || op == "subc" || op == "madc";
  if (cc || chained) {
    if (type.bits != 32) return bad("carry of " + Twine(type.bits) + " bits");
    unsigned v = StringSwitch<unsigned>(op)
                     .Cases({"add", "addc"}, 0)
                     .Cases({"sub", "subc"}, 1)
                     .Cases({"mad", "madc"}, hi ? 3 : 2)
                     .Default(99);
    if (v == 99 || in.size() != (v < 2 ? 2u : 3u)) return false;
    Row c0 = carry();
    ScalarCall &c = call(s, s.operands[0], in, type);
    c.variant = v;
    c.carryIn = chained ? c0 : kNoRow;
    c.carryOut = cc ? c0 : kNoRow;
    // A chain's last link has neither .cc nor is it first: it still adds the carry.
    return true;
  }
  if (op == "mul" || op == "mad") {
    unsigned v = lo ? 2 : hi ? 3 : wide ? 4 : 99;
    if (v == 99) return bad("one of .lo .hi .wide");
    return finish(integerOp, op == "mad" ? v + 3 : v, op == "mad" ? 3 : 2);
  }
  if (op == "shf") return finish(integerOp, shf == "l" ? 26 : 27, 3);
  struct Row2 {
    const char *name;
    unsigned variant;
    size_t operands;
  };
  static constexpr Row2 kOps[] = {{"add", 0, 2},   {"sub", 1, 2},  {"min", 8, 2},   {"max", 9, 2},    {"and", 10, 2},
                                  {"or", 11, 2},   {"xor", 12, 2}, {"not", 13, 1},  {"shl", 14, 2},   {"shr", 15, 2},
                                  {"popc", 16, 1}, {"clz", 17, 1}, {"brev", 18, 1}, {"bfind", 19, 1}, {"prmt", 20, 3},
                                  {"lop3", 21, 4}, {"neg", 22, 1}, {"abs", 23, 1},  {"bfe", 28, 3}};
  for (auto &r : kOps)
    if (op == r.name) {
      if (r.variant == 19) sat = shiftamt;
      return finish(integerOp, r.variant, r.operands);
    }
  return false;
}

} // namespace tessera::emulator::ptx
