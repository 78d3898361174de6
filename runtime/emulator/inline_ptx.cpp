// Inline PTX: what the lowering writes as text because LLVM has no intrinsic for it (predicated and hinted accesses,
// atomics with scopes), what libdevice writes, and what users write in tt.elementwise_inline_asm as far as it is plain
// arithmetic. The text is split into statements and each statement is matched against the forms below: the opcode's first
// word chooses the form, its modifiers are read one by one, and one that the form does not have makes the whole text
// unknown. Registers declared by `.reg` are rows like any other. Source: "Parallel Thread Execution ISA", by section.
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/mbarrier.h"
#include "runtime/emulator/warpgroup.h"
#include <cfenv>

namespace tessera::emulator {
using namespace llvm;

namespace {

struct PtxType {
  char kind = 0; // b u s f (float) h (half) y (bfloat) p (predicate)
  unsigned bits = 0;
  bool pair = false;
  unsigned bytes() const { return kind == 'p' ? 1 : bits / 8 * (pair ? 2 : 1); }
  explicit operator bool() const { return kind; }
};
PtxType typeOf(StringRef s) {
  PtxType t;
  t.pair = s.consume_back("x2");
  if (s == "pred") return {'p', 1, false};
  if (s == "f16") return {'h', 16, t.pair};
  if (s == "bf16") return {'y', 16, t.pair};
  unsigned bits;
  if (t.pair || s.size() < 2 || !StringRef("busf").contains(s[0]) || s.drop_front().getAsInteger(10, bits)) return {};
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return {};
  return {s[0], bits, false};
}

struct Operand {
  enum Kind { Register, Immediate, Address, Vector, Sink } kind = Register; // Sink: _
  Row row = kNoRow;
  unsigned bytes = 0;
  uint64_t immediate = 0;
  int64_t offset = 0;           // Address
  std::vector<Operand> parts;   // Vector
};

struct Statement {
  Row guard = kNoRow;
  bool guardNegated = false;
  StringRef opcode;
  SmallVector<StringRef, 8> modifiers; // after the first word
  SmallVector<Operand, 6> operands;
  bool has(StringRef m) const { return is_contained(modifiers, m); }
};

// ---- scalar operations ----

struct ScalarCall;
using Evaluate = uint64_t (*)(const ScalarCall &, const uint64_t *in);
struct ScalarCall {
  Evaluate evaluate = nullptr;
  PtxType type, from; // from: cvt's second type
  unsigned variant = 0;
  int rounding = FE_TONEAREST;
  bool ftz = false, saturate = false;
  SmallVector<uint8_t, 4> bytes;
  uint8_t to = 8;
  Row guard = kNoRow;
  bool negated = false;
  Row carryIn = kNoRow, carryOut = kNoRow;
};
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
      if (c.variant == 0) r = x + y + carry;
      else if (c.variant == 1) r = x - y - carry;
      else r = (c.variant == 2 ? uint32_t(x * y) : x * y >> 32) + uint32_t(in[2]) + carry;
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
  case 2: return cut(uint64_t(product), bits);                                       // mul.lo
  case 3: return cut(uint64_t(product >> bits), bits);                               // mul.hi
  case 4: return cut(uint64_t(product), 2 * bits);                                   // mul.wide
  case 5: return cut(uint64_t(product) + z, bits);                                   // mad.lo
  case 6: return cut(uint64_t(product >> bits) + z, bits);                           // mad.hi
  case 7: return cut(uint64_t(product) + in[2], 2 * bits);                           // mad.wide
  case 8: return isSigned ? cut(uint64_t(std::min(sx, sy)), bits) : std::min(x, y);  // min
  case 9: return isSigned ? cut(uint64_t(std::max(sx, sy)), bits) : std::max(x, y);  // max
  case 10: return x & y;
  case 11: return x | y;
  case 12: return x ^ y;
  case 13: return cut(~x, bits);
  case 14: return in[1] >= bits ? 0 : cut(x << in[1], bits);
  case 15: return isSigned ? cut(uint64_t(sx >> std::min<uint64_t>(in[1], bits - 1)), bits) : in[1] >= bits ? 0 : x >> in[1];
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
  case 22: return cut(0 - x, bits);                       // neg
  case 23: return cut(sx < 0 ? 0 - x : x, bits);          // abs
  case 24: return x;                                      // mov
  case 25: return in[2] & 1 ? x : y;                      // selp
  case 26: { // shf.l.wrap, 27 shf.r.wrap: 64 bits of (high y, low x)
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
    if (c.variant) x = c.variant == 1 ? std::nearbyint(x) : c.variant == 2 ? std::trunc(x) : c.variant == 3 ? std::floor(x) : std::ceil(x);
    auto r = c.rounding == FE_TOWARDZERO ? runtime::Rounding::TowardZero : runtime::Rounding::NearestEven;
    if (c.type.kind == 'h') return runtime::encodeFloat(ir::FloatKind::F16, x, r);
    if (c.type.kind == 'y') return runtime::encodeFloat(ir::FloatKind::BF16, x, r);
    if (c.type.bits == 32) return runtime::encodeFloat(ir::FloatKind::F32, x, r);
    return std::bit_cast<uint64_t>(x);
  }
  if (isFloat(c.from)) {
    double x = asDouble(c.from, in[0]);
    x = c.variant == 1 ? std::nearbyint(x) : c.variant == 3 ? std::floor(x) : c.variant == 4 ? std::ceil(x) : std::trunc(x);
    return toInteger(x, c.type.kind == 's', c.type.bits);
  }
  uint64_t v = c.from.kind == 's' ? uint64_t(asSigned(in[0], c.from.bits)) : cut(in[0], c.from.bits);
  if (isFloat(c.type)) return fromDouble(c.type, c.from.kind == 's' ? double(int64_t(v)) : double(v));
  return cut(v, c.type.bits);
}

// ---- the text ----

class PtxDecoder {
public:
  PtxDecoder(Decoder &d, CallInst &c) : d_(d), call_(c), asm_(cast<InlineAsm>(c.getCalledOperand())) {}

  bool run(std::string &problem) {
    bindOperands();
    text_ = unescaped(asm_->getAsmString());
    StringRef rest = text_;
    while (true) {
      rest = rest.ltrim(" \t\n\r{};");
      if (rest.starts_with("//")) {
        rest = rest.drop_until([](char c) { return c == '\n'; });
        continue;
      }
      if (rest.empty()) break;
      size_t end = rest.find(';');
      StringRef one = rest.take_front(end).trim();
      rest = end == StringRef::npos ? "" : rest.drop_front(end + 1);
      if (one.starts_with(".reg")) {
        if (!declare(one)) return problem = "the declaration '" + one.str() + "' in inline PTX", false;
        continue;
      }
      Statement s;
      if (!parse(one, s) || !emit(s)) return problem = "the inline PTX '" + one.str() + "'" + (why_.empty() ? "" : " (" + why_ + ")"), false;
    }
    finish();
    return true;
  }

private:
  static std::string unescaped(StringRef s) {
    // LLVM's text: $N or ${N} an operand, $$ a dollar sign. Operands become %N, so that names may contain dollars.
    std::string out;
    for (size_t k = 0; k < s.size(); ++k) {
      if (s[k] != '$') {
        out += s[k];
        continue;
      }
      ++k;
      if (k < s.size() && s[k] == '$') {
        out += '$';
        continue;
      }
      out += "%@";
      bool brace = k < s.size() && s[k] == '{';
      if (brace) ++k;
      while (k < s.size() && isDigit(s[k])) out += s[k++];
      if (brace)
        while (k < s.size() && s[k++] != '}') {}
      --k;
    }
    return out;
  }

  void bindOperands() {
    auto types = d_.elements(call_.getType());
    SmallVector<Row, 8> results;
    for (Type *t : types) results.push_back(d_.fresh(d_.bytesOf(t)));
    d_.define(&call_, SmallVector<Row, 4>(results.begin(), results.end()));
    unsigned out = 0, in = 0;
    for (auto &c : asm_->ParseConstraints()) {
      if (c.Type == InlineAsm::isClobber) continue;
      Operand o;
      if (c.Type == InlineAsm::isOutput) {
        o.row = results[out], o.bytes = d_.bytesOf(types[out]);
        ++out;
      } else {
        Value *v = call_.getArgOperand(in++);
        o.row = d_.row(v), o.bytes = d_.bytesOf(v->getType());
        if (c.hasMatchingInput() || (!c.Codes.empty() && isDigit(c.Codes[0][0]))) {
          unsigned k;
          if (!StringRef(c.Codes[0]).getAsInteger(10, k) && k < bound_.size()) {
            // An accumulator of wgmma goes through as what it will be.
            StringRef text = asm_->getAsmString();
            if (o.bytes == 4 && (text.contains("wgmma.") || text.trim().empty())) emitAccumulatorCopy(d_, bound_[k].row, o.row);
            else d_.copy(bound_[k].row, o.row, o.bytes);
            o = bound_[k];
          }
        }
      }
      bound_.push_back(o);
    }
  }
  void finish() {}

  bool declare(StringRef s) { // .reg .u32 a, b;
    auto [type, names] = s.drop_front(4).ltrim().split(' ');
    if (names.empty()) std::tie(type, names) = s.drop_front(4).ltrim().split('\t');
    PtxType t = typeOf(type.trim().drop_front());
    if (!t) return false;
    while (!names.empty()) {
      auto [name, rest] = names.split(',');
      Operand o;
      o.bytes = t.bytes();
      o.row = d_.fresh(o.bytes);
      registers_[name.trim()] = o;
      names = rest;
    }
    return true;
  }

  bool operand(StringRef s, Operand &o) {
    s = s.trim();
    if (s.consume_front("{")) {
      if (!s.consume_back("}")) return false;
      o.kind = Operand::Vector;
      while (!s.empty()) {
        auto [one, rest] = s.split(',');
        o.parts.emplace_back();
        if (!operand(one, o.parts.back())) return false;
        s = rest;
      }
      return true;
    }
    if (s == "_") {
      o.kind = Operand::Sink;
      return true;
    }
    if (s.contains('|')) { // a destination and a predicate
      o.kind = Operand::Vector;
      auto [first, second] = s.split('|');
      o.parts.resize(2);
      return operand(first, o.parts[0]) && operand(second, o.parts[1]);
    }
    if (s.consume_front("[")) {
      if (!s.consume_back("]")) return false;
      size_t sign = s.find_first_of("+-", 1);
      int64_t offset = 0;
      if (sign != StringRef::npos) {
        StringRef number = s.drop_front(sign).trim();
        bool negative = number.consume_front("-");
        number.consume_front("+");
        if (number.trim().getAsInteger(0, offset)) return false;
        if (negative) offset = -offset;
        s = s.take_front(sign);
      }
      if (!operand(s, o)) return false;
      if (o.kind != Operand::Register) return false;
      o.kind = Operand::Address;
      o.offset = offset;
      return true;
    }
    if (s.consume_front("%@")) {
      unsigned k;
      if (s.getAsInteger(10, k) || k >= bound_.size()) return false;
      o = bound_[k];
      return true;
    }
    if (auto it = registers_.find(s); it != registers_.end()) {
      o = it->second;
      return true;
    }
    o.kind = Operand::Immediate;
    o.bytes = 8;
    if (s.size() == 10 && (s.starts_with("0f") || s.starts_with("0F"))) return !s.drop_front(2).getAsInteger(16, o.immediate);
    if (s.size() == 18 && (s.starts_with("0d") || s.starts_with("0D"))) return !s.drop_front(2).getAsInteger(16, o.immediate);
    if (s.consume_back("U")) {}
    int64_t v;
    if (!s.getAsInteger(0, o.immediate)) return true;
    if (s.getAsInteger(0, v)) {
      double real;
      if (!s.getAsDouble(real)) {
        isReal_ = true;
        o.immediate = std::bit_cast<uint64_t>(real);
        return true;
      }
      return false;
    }
    o.immediate = uint64_t(v);
    return true;
  }

  bool parse(StringRef s, Statement &out) {
    if (s.consume_front("@")) {
      out.guardNegated = s.consume_front("!");
      auto [name, rest] = s.split(' ');
      Operand o;
      if (!operand(name, o) || o.kind != Operand::Register) return false;
      out.guard = o.row;
      s = rest.trim();
    }
    size_t end = s.find_first_of(" \t\n");
    StringRef name = s.take_front(end);
    SmallVector<StringRef, 8> words;
    name.split(words, '.');
    out.opcode = words[0];
    out.modifiers.assign(words.begin() + 1, words.end());
    StringRef rest = end == StringRef::npos ? "" : s.drop_front(end).trim();
    int depth = 0;
    size_t from = 0;
    for (size_t k = 0; k <= rest.size(); ++k) {
      if (k < rest.size() && (rest[k] == '{' || rest[k] == '[')) ++depth;
      if (k < rest.size() && (rest[k] == '}' || rest[k] == ']')) --depth;
      if (k == rest.size() || (rest[k] == ',' && !depth)) {
        StringRef one = rest.slice(from, k).trim();
        if (!one.empty()) {
          out.operands.emplace_back();
          if (!operand(one, out.operands.back())) return why_ = "operand '" + one.str() + "'", false;
        }
        from = k + 1;
      }
    }
    return true;
  }

  Row source(const Operand &o, unsigned bytes) {
    if (o.kind == Operand::Immediate) return d_.constant(o.immediate, bytes);
    return d_.resized(o.row, o.bytes, bytes);
  }
  bool bad(const Twine &why) { return why_ = why.str(), false; }

  // ---- forms ----

  bool emit(Statement &s) {
    if (s.opcode == "ld" || s.opcode == "st") return emitLoadStore(s);
    if (s.opcode == "atom" || s.opcode == "red") return emitAtomic(s);
    if (s.opcode == "createpolicy") { // a hint: any value does
      if (s.operands.empty() || s.operands[0].kind != Operand::Register) return false;
      d_.copy(s.operands[0].row, d_.constant(0, s.operands[0].bytes), s.operands[0].bytes);
      return true;
    }
    if (s.opcode == "cp") return emitCopy(s);
    if (s.opcode == "ldmatrix" || s.opcode == "stmatrix") return emitMatrixAccess(s);
    if (s.opcode == "mma") return emitMma(s);
    if (s.opcode == "wgmma") return emitWarpgroup(s);
    if (s.opcode == "fence") return emitFence(s);
    if (s.opcode == "mbarrier") return emitMbarrierForm(s);
    if (s.opcode == "elect") return emitElectForm(s);
    if (s.opcode == "mov") return emitMove(s);
    return emitScalar(s);
  }

  Access access(const Statement &s, const Operand &address) {
    Access a;
    a.address = address.row, a.addressBytes = uint8_t(address.bytes), a.offset = address.offset;
    a.space = Space::Generic;
    for (StringRef m : s.modifiers) {
      if (m == "global") a.space = Space::Global;
      if (m == "shared" || m == "shared::cta") a.space = Space::Shared;
      if (m == "local") a.space = Space::Private;
      if (m == "volatile" || m == "relaxed") a.isVolatile = true;
      if (m == "acquire" || m == "acq_rel") a.acquires = a.isVolatile = true;
      if (m == "release" || m == "acq_rel") a.releases = a.isVolatile = true;
    }
    a.predicate = s.guard, a.predicateNegated = s.guardNegated;
    return a;
  }
  static bool isHint(StringRef m) {
    static constexpr StringRef kHints[] = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "cluster", "global", "shared", "shared::cta", "local", "const", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc",
                                           "L1::evict_first", "L1::evict_last", "L1::evict_normal", "L1::evict_unchanged", "L1::no_allocate", "L2::evict_first", "L2::evict_last", "L2::evict_normal", "L2::cache_hint", "L2::64B", "L2::128B", "L2::256B"};
    return is_contained(kHints, m);
  }

  bool emitLoadStore(Statement &s) {
    bool load = s.opcode == "ld";
    unsigned count = 1;
    PtxType type;
    for (StringRef m : s.modifiers) {
      unsigned n;
      if (isHint(m)) continue;
      if (m.size() == 2 && m[0] == 'v' && !m.drop_front().getAsInteger(10, n)) count = n;
      else if (PtxType t = typeOf(m)) type = t;
      else return bad("modifier ." + m);
    }
    if (!type || s.operands.size() < 2) return false;
    Operand &address = s.operands[load ? 1 : 0], &data = s.operands[load ? 0 : 1];
    if (address.kind != Operand::Address) return false;
    std::vector<Operand> parts;
    if (data.kind == Operand::Vector) parts = data.parts;
    else parts = {data};
    if (parts.size() != count) return bad("number of registers");
    Access a = access(s, address);
    a.kind = load ? Access::Kind::Load : Access::Kind::Store;
    for (Operand &p : parts) {
      unsigned bytes = type.bytes();
      if (p.kind == Operand::Immediate) p.row = d_.constant(p.immediate, bytes), p.bytes = bytes;
      if (p.bytes < bytes) return bad("register narrower than the access");
      if (load && type.kind == 's' && p.bytes > bytes) return bad("sign extension");
      a.pieces.push_back({p.row, uint8_t(p.bytes), uint8_t(bytes)});
      a.bytes += bytes;
    }
    a.alignment = a.bytes; // PTX: naturally aligned, vectors as a whole
    d_.emitAccess(std::move(a));
    return true;
  }

  bool emitAtomic(Statement &s) {
    bool result = s.opcode == "atom";
    StringRef op;
    unsigned count = 1;
    PtxType type;
    for (StringRef m : s.modifiers) {
      unsigned n;
      static constexpr StringRef kOps[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
      if (is_contained(kOps, m)) op = m;
      else if (m == "noftz" || isHint(m)) continue;
      else if (m.size() == 2 && m[0] == 'v' && !m.drop_front().getAsInteger(10, n)) count = n;
      else if (PtxType t = typeOf(m)) type = t;
      else return bad("modifier ." + m);
    }
    size_t first = result ? 1 : 0;
    if (!type || op.empty() || s.operands.size() < first + 2 + (op == "cas") || s.operands[first].kind != Operand::Address) return false;
    Access a = access(s, s.operands[first]);
    a.kind = Access::Kind::Atomic;
    a.isVolatile = false;
    bool isFloat = StringRef("fhy").contains(type.kind), isSigned = type.kind == 's';
    a.format = type.kind == 'f' ? (type.bits == 32 ? FloatFormat::F32 : FloatFormat::F64) : type.kind == 'h' ? (type.pair ? FloatFormat::F16x2 : FloatFormat::F16) : type.kind == 'y' ? (type.pair ? FloatFormat::BF16x2 : FloatFormat::BF16) : FloatFormat::None;
    if (isFloat && op != "add" && op != "min" && op != "max" && op != "exch") return bad("operation on floats");
    if (isFloat && op != "add" && op != "exch" && type.pair) return bad("operation on pairs");
    a.atomic = op == "add"    ? (isFloat ? AtomicKind::FAdd : AtomicKind::Add)
               : op == "min"  ? (isFloat ? AtomicKind::FMin : isSigned ? AtomicKind::Min : AtomicKind::UMin)
               : op == "max"  ? (isFloat ? AtomicKind::FMax : isSigned ? AtomicKind::Max : AtomicKind::UMax)
               : op == "inc"  ? AtomicKind::IncWrap
               : op == "dec"  ? AtomicKind::DecWrap
               : op == "and"  ? AtomicKind::And
               : op == "or"   ? AtomicKind::Or
               : op == "xor"  ? AtomicKind::Xor
               : op == "exch" ? AtomicKind::Exchange
                              : AtomicKind::Cas;
    unsigned bytes = type.bytes();
    auto list = [](const Operand &o) { return o.kind == Operand::Vector ? o.parts : std::vector<Operand>{o}; };
    auto values = list(s.operands[first + 1 + (op == "cas")]);
    if (values.size() != count) return bad("number of registers");
    for (Operand &v : values) {
      a.pieces.push_back({source(v, bytes), uint8_t(bytes), uint8_t(bytes)});
      a.bytes += bytes;
    }
    if (op == "cas") a.compare = source(s.operands[first + 1], bytes);
    a.alignment = a.bytes;
    if (result) {
      auto olds = list(s.operands[0]);
      if (olds.size() != count) return bad("number of results");
      for (Operand &o : olds) {
        if (o.bytes != bytes) return bad("width of the result");
        a.old.push_back(o.row);
      }
    }
    d_.emitAccess(std::move(a));
    return true;
  }

  ScalarCall &call(const Statement &s, Operand &to, ArrayRef<Operand> in, PtxType type) {
    auto c = std::make_shared<ScalarCall>();
    c->type = c->from = type;
    c->guard = s.guard, c->negated = s.guardNegated;
    c->to = uint8_t(to.bytes);
    SmallVector<Row, 4> rows;
    for (const Operand &o : in) {
      uint64_t v = o.immediate;
      if (o.kind == Operand::Immediate && isReal_ && StringRef("fhy").contains(type.kind)) v = fromDouble(type, std::bit_cast<double>(v));
      rows.push_back(o.kind == Operand::Immediate ? d_.constant(v, 8) : o.row);
      c->bytes.push_back(uint8_t(o.kind == Operand::Immediate ? 8 : o.bytes));
    }
    d_.emit(runScalar, to.row, kNoRow, kNoRow, kNoRow, reinterpret_cast<uint64_t>(c.get())).more = d_.list(rows);
    d_.program().owned.push_back(c);
    return *c;
  }
  Row carry() {
    if (carry_ == kNoRow) carry_ = d_.fresh(1);
    return carry_;
  }

  bool emitMove(Statement &s) {
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

  bool emitScalar(Statement &s) {
    PtxType type, second;
    int rounding = FE_TONEAREST;
    bool ftz = false, sat = false, cc = false, lo = false, hi = false, wide = false, shiftamt = false, approx = false;
    unsigned integral = 0;
    StringRef compare, shf;
    for (StringRef m : s.modifiers) {
      if (PtxType t = typeOf(m)) (type ? second : type) = t;
      else if (m == "rn") rounding = FE_TONEAREST;
      else if (m == "rz") rounding = FE_TOWARDZERO;
      else if (m == "rm") rounding = FE_DOWNWARD;
      else if (m == "rp") rounding = FE_UPWARD;
      else if (m == "rni") integral = 1;
      else if (m == "rzi") integral = 2;
      else if (m == "rmi") integral = 3;
      else if (m == "rpi") integral = 4;
      else if (m == "ftz") ftz = true;
      else if (m == "sat" || m == "satfinite") sat = true;
      else if (m == "cc") cc = true;
      else if (m == "lo") lo = true;
      else if (m == "hi") hi = true;
      else if (m == "wide") wide = true;
      else if (m == "approx" || m == "full") approx = true;
      else if (m == "shiftamt") shiftamt = true;
      else if (m == "l" || m == "r" || m == "wrap") shf = m == "wrap" ? shf : m;
      else if (StringRef(" eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu ").contains((" " + m + " ").str())) compare = m;
      else return bad("modifier ." + m);
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
      unsigned v = StringSwitch<unsigned>(compare).Case("eq", 0).Case("ne", 1).Cases({"lt", "lo"}, 2).Cases({"le", "ls"}, 3).Cases({"gt", "hi"}, 4).Cases({"ge", "hs"}, 5)
                       .Case("equ", 8).Case("neu", 9).Case("ltu", 10).Case("leu", 11).Case("gtu", 12).Case("geu", 13).Default(99);
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
      unsigned v = StringSwitch<unsigned>(op).Case("add", 0).Case("sub", 1).Case("mul", 2).Cases({"fma", "mad"}, 3).Case("div", 4).Case("min", 5).Case("max", 6).Default(99);
      if (v != 99) return finish(floatBinary, v, v == 3 ? 3 : 2);
      v = StringSwitch<unsigned>(op).Case("rcp", 0).Case("rsqrt", 1).Case("sqrt", 2).Case("ex2", 3).Case("lg2", 4).Case("sin", 5).Case("cos", 6).Case("tanh", 7).Case("neg", 8).Case("abs", 9).Default(99);
      if (v == 99) return false;
      return finish(floatUnary, v, 1);
    }
    bool chained = op == "addc" || op == "subc" || op == "madc";
    if (cc || chained) {
      if (type.bits != 32) return bad("carry of " + Twine(type.bits) + " bits");
      unsigned v = StringSwitch<unsigned>(op).Cases({"add", "addc"}, 0).Cases({"sub", "subc"}, 1).Cases({"mad", "madc"}, hi ? 3 : 2).Default(99);
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
    struct Row2 { const char *name; unsigned variant; size_t operands; };
    static constexpr Row2 kOps[] = {{"add", 0, 2}, {"sub", 1, 2}, {"min", 8, 2}, {"max", 9, 2}, {"and", 10, 2}, {"or", 11, 2}, {"xor", 12, 2}, {"not", 13, 1}, {"shl", 14, 2}, {"shr", 15, 2}, {"popc", 16, 1}, {"clz", 17, 1},
                                    {"brev", 18, 1}, {"bfind", 19, 1}, {"prmt", 20, 3}, {"lop3", 21, 4}, {"neg", 22, 1}, {"abs", 23, 1}, {"bfe", 28, 3}};
    for (auto &r : kOps)
      if (op == r.name) {
        if (r.variant == 19) sat = shiftamt;
        return finish(integerOp, r.variant, r.operands);
      }
    return false;
  }

  bool emitCopy(Statement &s);
  bool emitMatrixAccess(Statement &s);
  bool emitMma(Statement &s);
  bool emitWarpgroup(Statement &s);
  bool emitFence(Statement &s);
  bool emitMbarrierForm(Statement &s);
  bool emitElectForm(Statement &s);

  Decoder &d_;
  CallInst &call_;
  InlineAsm *asm_;
  std::string text_, why_;
  SmallVector<Operand, 16> bound_;
  StringMap<Operand> registers_;
  Row carry_ = kNoRow;
  bool isReal_ = false;
};

// ---- asynchronous copies ----

void commitGroup(Warp &w, const Instruction &) { ++w.copyGroup; }
void waitGroup(Warp &w, const Instruction &i) { waitForCopies(w, i.immediate, i.a != kNoRow); }
/// Lanes of `a` (source size) that copy anything; immediate: the copy's size. Partial sizes do not occur.
void copiesAnything(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) {
    uint64_t size = w.row<uint32_t>(i.a)[l];
    bool on = i.b == kNoRow || bool(w.row<uint8_t>(i.b)[l] & 1) != bool(i.immediate >> 32);
    if (on && size && size != (i.immediate & 0xffffffff)) fail(w, &i, int(l), "an asynchronous copy of part of its size, which the emulator does not know");
    w.row<uint8_t>(i.to)[l] = on && size != 0;
  });
}
void clearRow(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) { w.row<uint32_t>(i.to)[l] = 0; });
}

bool PtxDecoder::emitCopy(Statement &s) {
  if (s.modifiers.empty() || s.modifiers[0] != "async") return false;
  if (s.has("commit_group")) return d_.emit(commitGroup), true;
  if (s.has("wait_all")) return d_.emit(waitGroup, kNoRow, d_.constant(0, 1)), true;
  if (s.has("wait_group")) {
    if (s.operands.size() != 1 || s.operands[0].kind != Operand::Immediate) return false;
    d_.emit(waitGroup, kNoRow, kNoRow, kNoRow, kNoRow, s.operands[0].immediate);
    return true;
  }
  for (StringRef m : ArrayRef(s.modifiers).drop_front())
    if (!isHint(m)) return bad("modifier ." + m);
  if (s.operands.size() < 3 || s.operands.size() > 4 || s.operands[0].kind != Operand::Address || s.operands[1].kind != Operand::Address || s.operands[2].kind != Operand::Immediate) return false;
  unsigned bytes = unsigned(s.operands[2].immediate);
  if (bytes != 4 && bytes != 8 && bytes != 16) return bad("size");
  Access from = access(s, s.operands[1]), to = access(s, s.operands[0]);
  from.space = Space::Global, to.space = Space::Shared;
  from.kind = Access::Kind::Load, to.kind = Access::Kind::Store;
  to.asynchronous = true;
  from.bytes = to.bytes = from.alignment = to.alignment = bytes;
  for (unsigned k = 0; k < bytes / 4; ++k) {
    Row word = d_.fresh(4);
    d_.emit(clearRow, word);
    from.pieces.push_back({word, 4, 4});
    to.pieces.push_back({word, 4, 4});
  }
  if (s.operands.size() == 4) {
    Row any = d_.fresh(1);
    d_.emit(copiesAnything, any, source(s.operands[3], 4), s.guard, kNoRow, bytes | uint64_t(s.guardNegated) << 32);
    from.predicate = any, from.predicateNegated = false;
  }
  d_.emitAccess(std::move(from));
  d_.emitAccess(std::move(to));
  return true;
}

// ---- ldmatrix, stmatrix, mma.sync ----

/// ldmatrix: lanes 8i to 8i + 7 give the addresses of the rows of matrix i, 16 bytes each; each lane then gets the two
/// elements of row lane / 4 that begin at column 2 (lane % 4), of the transpose with .trans. immediate: matrices | trans << 8;
/// more: the four words of the row that a lane's address leads to, then the results.
void distribute(Warp &w, const Instruction &i) {
  unsigned count = unsigned(i.immediate & 0xff);
  bool transposed = i.immediate >> 8;
  for (unsigned m = 0; m < count; ++m)
    for (unsigned l = 0; l < 32; ++l) {
      auto element = [&](unsigned row, unsigned column) { return w.row<uint32_t>(i.more[column / 2])[8 * m + row] >> (16 * (column & 1)) & 0xffff; };
      unsigned r = l / 4, c = 2 * (l % 4);
      w.row<uint32_t>(i.more[4 + m])[l] = transposed ? element(c, r) | element(c + 1, r) << 16 : element(r, c) | element(r, c + 1) << 16;
    }
}
/// stmatrix: the reverse; what each address's lane then stores.
void collect(Warp &w, const Instruction &i) {
  unsigned count = unsigned(i.immediate & 0xff);
  bool transposed = i.immediate >> 8;
  for (unsigned m = 0; m < count; ++m)
    for (unsigned row = 0; row < 8; ++row) {
      uint32_t words[4] = {};
      for (unsigned column = 0; column < 8; ++column) {
        unsigned r = transposed ? column : row, c = transposed ? row : column;
        uint32_t v = w.row<uint32_t>(i.more[4 + m])[4 * r + c / 2] >> (16 * (c & 1)) & 0xffff;
        words[column / 2] |= v << (16 * (column & 1));
      }
      for (unsigned k = 0; k < 4; ++k) w.row<uint32_t>(i.more[k])[8 * m + row] = words[k];
    }
}
void firstLanes(Warp &w, const Instruction &i) {
  if (!requireConverged(w, i, "the matrix access")) return;
  for (unsigned l = 0; l < 32; ++l) w.row<uint8_t>(i.to)[l] = l < i.immediate;
}
bool PtxDecoder::emitMatrixAccess(Statement &s) {
  unsigned count = 0;
  bool transposed = false, shape = false, b16 = false, load = s.opcode == "ldmatrix";
  for (StringRef m : s.modifiers) {
    if (m == "sync" || m == "aligned" || m == "shared" || m == "shared::cta") continue;
    if (m == "m8n8") shape = true;
    else if (m == "b16") b16 = true;
    else if (m == "trans") transposed = true;
    else if (m == "x1" || m == "x2" || m == "x4") count = unsigned(m[1] - '0');
    else return bad("modifier ." + m);
  }
  if (!shape || !b16 || !count || s.operands.size() != 2 || s.guard != kNoRow) return false;
  Operand &address = s.operands[load ? 1 : 0], &data = s.operands[load ? 0 : 1];
  std::vector<Operand> parts = data.kind == Operand::Vector ? data.parts : std::vector<Operand>{data};
  if (address.kind != Operand::Address || parts.size() != count) return bad("number of registers");
  Access a = access(s, address);
  a.space = Space::Shared;
  a.kind = load ? Access::Kind::Load : Access::Kind::Store;
  a.bytes = a.alignment = 16;
  SmallVector<Row, 8> rows;
  for (unsigned k = 0; k < 4; ++k) {
    rows.push_back(d_.fresh(4));
    a.pieces.push_back({rows.back(), 4, 4});
  }
  for (Operand &p : parts) {
    if (p.bytes != 4 || p.kind != Operand::Register) return bad("register");
    rows.push_back(p.row);
  }
  a.predicate = d_.fresh(1);
  d_.emit(firstLanes, a.predicate, kNoRow, kNoRow, kNoRow, 8 * count);
  uint64_t how = count | uint64_t(transposed) << 8;
  if (!load) d_.emit(collect, kNoRow, kNoRow, kNoRow, kNoRow, how).more = d_.list(rows);
  d_.emitAccess(std::move(a));
  if (load) d_.emit(distribute, kNoRow, kNoRow, kNoRow, kNoRow, how).more = d_.list(rows);
  return true;
}

bool PtxDecoder::emitMma(Statement &s) {
  MatrixOperation op;
  op.family = MatrixFamily::MmaSync;
  SmallVector<StringRef, 4> types;
  bool row = false, column = false;
  for (StringRef m : s.modifiers) {
    if (m == "sync" || m == "aligned") continue;
    if (m == "row") row = true;
    else if (m == "col") column = true;
    else if (m == "satfinite") return bad("modifier .satfinite");
    else if (m.size() > 4 && m[0] == 'm' && isDigit(m[1])) {
      StringRef rest = m.drop_front();
      if (rest.consumeInteger(10, op.m) || !rest.consume_front("n") || rest.consumeInteger(10, op.n) || !rest.consume_front("k") || rest.consumeInteger(10, op.k) || !rest.empty()) return bad("shape");
    } else types.push_back(m);
  }
  if (!row || !column || types.size() != 4 || types[0] != types[3] || s.operands.size() != 4) return bad("types");
  op.c = ptxElement(types[0]), op.a = ptxElement(types[1]), op.b = ptxElement(types[2]);
  SmallVector<Row, 8> rows[4];
  for (unsigned k = 0; k < 4; ++k) {
    auto &o = s.operands[k];
    for (const Operand &p : o.kind == Operand::Vector ? o.parts : std::vector<Operand>{o}) {
      if (p.kind != Operand::Register) return bad("register");
      rows[k].push_back(p.row);
    }
  }
  op.d = rows[0], op.aRows = rows[1], op.bRows = rows[2], op.cRows = rows[3];
  op.aBytes = op.bBytes = op.c == MatrixElement::F64 ? 8 : 4;
  op.accumulatorBytes = op.c == MatrixElement::F64 ? 8 : 4;
  std::string why;
  if (!emitMatrixOperation(d_, std::move(op), why)) return bad(why);
  return true;
}

// ---- wgmma, fences ----

bool PtxDecoder::emitWarpgroup(Statement &s) {
  if (s.modifiers.size() < 3 || s.guard != kNoRow || s.modifiers[1] != "sync" || s.modifiers[2] != "aligned") return bad("without .sync.aligned");
  StringRef kind = s.modifiers[0];
  if (kind == "fence" || kind == "commit_group") {
    if (!s.operands.empty() || s.modifiers.size() != 3) return false;
    return kind == "fence" ? emitWarpgroupFence(d_) : emitWarpgroupCommit(d_), true;
  }
  if (kind == "wait_group") {
    if (s.operands.size() != 1 || s.operands[0].kind != Operand::Immediate || s.modifiers.size() != 3) return false;
    return emitWarpgroupWait(d_, s.operands[0].immediate), true;
  }
  if (kind != "mma_async" || s.modifiers.size() < 7) return false;
  WarpgroupOperation op;
  StringRef shape = s.modifiers[3];
  if (!shape.consume_front("m64n") || shape.consumeInteger(10, op.n) || !shape.consume_front("k") || shape.getAsInteger(10, op.k)) return bad("shape");
  size_t at = 4;
  if ((op.saturate = s.modifiers[at] == "satfinite")) ++at;
  if (s.modifiers.size() != at + 3) return bad("types");
  op.c = ptxElement(s.modifiers[at]), op.a = ptxElement(s.modifiers[at + 1]), op.b = ptxElement(s.modifiers[at + 2]);
  bool whole = op.c == MatrixElement::S32, half = op.a == MatrixElement::F16 || op.a == MatrixElement::BF16;
  // d, a, b, scale-d{, imm-scale-a, imm-scale-b{{, imm-trans-a}, imm-trans-b}}
  if (s.operands.size() < 4 || s.operands[0].kind != Operand::Vector) return bad("operands");
  bool registers = s.operands[1].kind == Operand::Vector;
  if (s.operands.size() != 4 + (whole ? 0u : 2u) + (half ? registers ? 1u : 2u : 0u)) return bad("number of operands");
  auto rowsOf = [&](Operand &o, auto &rows) {
    for (Operand &p : o.parts) {
      if (p.kind != Operand::Register || p.bytes != 4) return false;
      rows.push_back(p.row);
    }
    return true;
  };
  if (!rowsOf(s.operands[0], op.d) || (registers && !rowsOf(s.operands[1], op.aRows))) return bad("register");
  if (registers) emitSettledCheck(d_, op.aRows);
  for (unsigned k : {1u, 2u}) {
    if (k == 1 && registers) continue;
    Operand &o = s.operands[k];
    if (o.kind != Operand::Register || o.bytes != 8) return bad("descriptor");
    (k == 1 ? op.aDescriptor : op.bDescriptor) = o.row;
  }
  if (s.operands[3].kind != Operand::Register || s.operands[3].bytes != 1) return bad("scale-d, which is a predicate");
  op.accumulate = s.operands[3].row;
  SmallVector<int64_t, 4> immediates;
  for (Operand &o : ArrayRef(s.operands).drop_front(4).vec()) {
    if (o.kind != Operand::Immediate) return bad("immediate");
    immediates.push_back(int64_t(o.immediate));
  }
  for (auto [k, v] : enumerate(immediates))
    if (k < 2 ? v != 1 && v != -1 : v != 0 && v != 1) return bad("immediate " + Twine(v));
  if (!whole) op.negateA = immediates[0] < 0, op.negateB = immediates[1] < 0;
  if (half) op.transposeB = immediates.back(), op.transposeA = !registers && immediates[2];
  std::string why;
  return emitWarpgroupOperation(d_, std::move(op), why) || bad(why);
}

bool PtxDecoder::emitFence(Statement &s) {
  if (!s.operands.empty() || s.modifiers.empty()) return false;
  if (s.modifiers[0] == "proxy") {
    if (s.modifiers.size() < 2 || s.modifiers[1] != "async" || s.modifiers.size() > 3) return bad("proxy");
    StringRef space = s.modifiers.size() == 3 ? s.modifiers[2] : "";
    if (space == "global") return true; // multiplications read no global memory
    if (!space.empty() && space != "shared::cta" && space != "shared::cluster") return bad("modifier ." + space);
    return emitProxyFence(d_), true;
  }
  // Order within the thread, which accesses here have anyway; between threads, acquires, releases and barriers count.
  for (StringRef m : s.modifiers)
    if (!StringRef(" acq_rel sc acquire release cta cluster gpu sys mbarrier_init ").contains((" " + m + " ").str())) return bad("modifier ." + m);
  return true;
}

// ---- mbarrier, elect ----

bool PtxDecoder::emitMbarrierForm(Statement &s) {
  if (s.modifiers.empty()) return false;
  using Kind = MbarrierOperation::Kind;
  MbarrierOperation op;
  StringRef name = s.modifiers[0];
  bool parity = false, b64 = false;
  for (StringRef m : ArrayRef(s.modifiers).drop_front()) {
    if (m == "parity") parity = true;
    else if (m == "expect_tx" && name == "arrive") op.expectsTx = true;
    else if (m == "b64") b64 = true;
    else if (!StringRef(" shared shared::cta release acquire relaxed cta cluster ").contains((" " + m + " ").str())) return bad("modifier ." + m);
  }
  bool waits = name == "try_wait" || name == "test_wait";
  op.kind = name == "init"          ? Kind::Init
            : name == "inval"       ? Kind::Invalidate
            : name == "arrive"      ? Kind::Arrive
            : name == "expect_tx"   ? Kind::ExpectTx
            : name == "complete_tx" ? Kind::CompleteTx
            : parity                ? Kind::WaitParity
                                    : Kind::Wait;
  if (op.kind == Kind::Wait && !waits) return bad("operation ." + name);
  if (!b64 || (parity && !waits)) return bad("type");
  op.guard = s.guard, op.guardNegated = s.guardNegated;
  // {result,} [address]{, operand{, hint}}
  size_t at = op.kind == Kind::Arrive || waits ? 1 : 0;
  size_t least = at + (op.kind == Kind::Invalidate || (op.kind == Kind::Arrive && !op.expectsTx) ? 1 : 2), most = op.kind == Kind::Invalidate ? 1 : at + (waits ? 3 : 2);
  if (s.operands.size() < least || s.operands.size() > most || s.operands[at].kind != Operand::Address) return bad("operands");
  const Operand &address = s.operands[at];
  op.address = address.row, op.addressBytes = uint8_t(address.bytes), op.offset = address.offset;
  if (at && s.operands[0].kind != Operand::Sink) {
    if (s.operands[0].kind != Operand::Register || s.operands[0].bytes != (waits ? 1u : 8u)) return bad("result");
    (waits ? op.complete : op.state) = s.operands[0].row;
  }
  if (waits && op.complete == kNoRow) return bad("result");
  if (s.operands.size() > at + 1) {
    Row value = source(s.operands[at + 1], op.kind == Kind::Wait ? 8 : 4);
    (waits ? op.state : op.count) = value;
  }
  return emitMbarrier(d_, std::move(op)), true;
}

bool PtxDecoder::emitElectForm(Statement &s) { // elect.sync d|p, members
  if (s.modifiers.size() != 1 || s.modifiers[0] != "sync" || s.guard != kNoRow || s.operands.size() != 2 || s.operands[0].kind != Operand::Vector || s.operands[0].parts.size() != 2) return bad("operands");
  Row out[2];
  for (unsigned k : {0u, 1u}) {
    const Operand &o = s.operands[0].parts[k];
    if (o.kind != Operand::Sink && (o.kind != Operand::Register || o.bytes != (k ? 1u : 4u))) return bad("result");
    out[k] = o.kind == Operand::Sink ? kNoRow : o.row;
  }
  return emitElect(d_, out[0], out[1], source(s.operands[1], 4)), true;
}

} // namespace

bool decodeInlinePtx(Decoder &d, CallInst &c, std::string &problem) { return PtxDecoder(d, c).run(problem); }

ArrayRef<PtxForm> ptxForms() {
  static constexpr const char *kMove = "PTX, Data Movement and Conversion Instructions: ", *kFloat = "PTX, Floating Point Instructions", *kInteger = "PTX, Integer Arithmetic, Logic and Shift Instructions";
  (void)kMove;
  static const PtxForm forms[] = {
      {"{@p} ld{.weak,.volatile,.relaxed,.acquire}{.scope}{.space}{.cop}{.L1::evict}{.L2::cache_hint}{.v2,.v4,.v8}.type d, [a{+imm}]{, policy}", "PTX, Data Movement and Conversion Instructions: ld"},
      {"{@p} st{.weak,.volatile,.relaxed,.release}{.scope}{.space}{.cop}{.L1::evict}{.L2::cache_hint}{.v2,.v4,.v8}.type [a{+imm}], b{, policy}", "PTX, Data Movement and Conversion Instructions: st"},
      {"createpolicy.fractional.L2::evict.b64 d, fraction", "PTX, Data Movement and Conversion Instructions: createpolicy"},
      {"{@p} atom{.sem}{.scope}{.space}.op{.noftz}{.v2,.v4}.type d, [a{+imm}], b{, c}", "PTX, Parallel Synchronization and Communication Instructions: atom"},
      {"{@p} red{.sem}{.scope}{.space}.op{.noftz}{.v2,.v4}.type [a{+imm}], b", "PTX, Parallel Synchronization and Communication Instructions: red"},
      {"{@p} cp.async.{ca,cg}.shared.global [dst{+imm}], [src{+imm}], size{, src-size}; cp.async.{commit_group,wait_group,wait_all}", "PTX, Data Movement and Conversion Instructions: cp.async"},
      {"{ldmatrix,stmatrix}.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16", "PTX, Warp Level Matrix Instructions: ldmatrix, stmatrix"},
      {"mma.sync.aligned.{m16n8,m8n8}kK.row.col.type.type.type.type d, a, b, c", "PTX, Warp Level Matrix Instructions: mma, Matrix Fragments"},
      {"wgmma.mma_async.sync.aligned.m64nNkK{.satfinite}.type.type.type d, {a-desc,a}, b-desc, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{, imm-trans-b}}", "PTX, Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async, Register Fragments and Shared Memory Matrix Layouts"},
      {"wgmma.{fence,commit_group,wait_group}.sync.aligned", "PTX, Asynchronous Warpgroup Level Matrix Instructions"},
      {"fence.proxy.async{.shared::cta,.shared::cluster,.global}; fence{.acq_rel,.sc}.scope; fence.mbarrier_init.release.cluster", "PTX, Parallel Synchronization and Communication Instructions: membar / fence"},
      {"mbarrier.{init,inval,arrive,arrive.expect_tx,expect_tx,complete_tx,test_wait,try_wait}{.parity}{.sem}{.scope}{.shared::cta}.b64", "PTX, Parallel Synchronization and Communication Instructions: mbarrier"},
      {"elect.sync d|p, members", "PTX, Parallel Synchronization and Communication Instructions: elect.sync"},
      {"mov.type d, a (also to and from {a, b})", "PTX, Data Movement and Conversion Instructions: mov"},
      {"cvt{.rnd}{.ftz}.type.type d, a", "PTX, Data Movement and Conversion Instructions: cvt"},
      {"prmt.b32 d, a, b, c", "PTX, Data Movement and Conversion Instructions: prmt"},
      {"setp.cmp{.ftz}.type p, a, b; selp.type d, a, b, p", "PTX, Comparison and Selection Instructions"},
      {"{add,sub,mul,fma,div,min,max}{.rnd}{.ftz}{.sat}.{f16,bf16,f32,f64} d, a, b{, c}", kFloat},
      {"{rcp,rsqrt,sqrt,ex2,lg2,sin,cos,tanh}.approx{.ftz}.type d, a; {neg,abs}.type d, a", kFloat},
      {"{add,sub,min,max,neg,abs,popc,clz,brev,bfe,bfind}.type; {mul,mad}.{lo,hi,wide}.type; {and,or,xor,not,lop3,shl,shr,shf}.type", kInteger},
      {"{add,addc,sub,subc,mad,madc}{.lo,.hi}{.cc}.u32", "PTX, Extended-Precision Integer Arithmetic Instructions"},
  };
  return forms;
}

} // namespace tessera::emulator
