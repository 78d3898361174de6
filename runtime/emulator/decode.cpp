// Decoding of a function (see decode.h): functions inlined, globals placed, blocks ordered, instructions turned into rows
// and handlers.
//
// The order of blocks is what makes lanes meet again: a warp always runs the group of lanes whose block comes first in it
// (execute.cpp). Bourdoncle's weak topological order puts a join after everything that leads to it and keeps each loop in
// one piece, so that lanes that have left a loop wait behind it. Source: F. Bourdoncle, "Efficient chaotic iteration
// strategies with widenings", 1993; for the scheduling: G. Diamos et al., "SIMD re-convergence at thread frontiers", 2011.
#include "runtime/emulator/decode.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/warpgroup.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

// ---- handlers of LLVM's own instructions ----

struct AddOp { template <class T> static T run(T a, T b) { return T(a + b); } };
struct SubOp { template <class T> static T run(T a, T b) { return T(a - b); } };
struct MulOp {
  template <class T> static T run(T a, T b) {
    if constexpr (sizeof(T) < 4) return T(uint32_t(a) * uint32_t(b));
    else return T(a * b);
  }
};
// Division by zero gives all ones and the remainder the dividend, as NVIDIA's and AMD's expansions do.
struct UDivOp { template <class T> static T run(T a, T b) { return b ? T(a / b) : T(~T(0)); } };
struct URemOp { template <class T> static T run(T a, T b) { return b ? T(a % b) : a; } };
struct SDivOp { template <class T> static T run(T a, T b) { return b == T(~T(0)) ? T(T(0) - a) : b ? T(Signed<T>(a) / Signed<T>(b)) : T(~T(0)); } };
struct SRemOp { template <class T> static T run(T a, T b) { return b == T(~T(0)) ? T(0) : b ? T(Signed<T>(a) % Signed<T>(b)) : a; } };
struct AndOp { template <class T> static T run(T a, T b) { return T(a & b); } };
struct OrOp { template <class T> static T run(T a, T b) { return T(a | b); } };
struct XorOp { template <class T> static T run(T a, T b) { return T(a ^ b); } };
// Shifts by the width or more are poison: zero here.
struct ShlOp { template <class T> static T run(T a, T b) { return b < sizeof(T) * 8 ? T(a << b) : T(0); } };
struct LShrOp { template <class T> static T run(T a, T b) { return b < sizeof(T) * 8 ? T(a >> b) : T(0); } };
struct AShrOp { template <class T> static T run(T a, T b) { return b < sizeof(T) * 8 ? T(Signed<T>(a) >> b) : T(0); } };
struct EqOp { template <class T> static bool run(T a, T b) { return a == b; } };
struct NeOp { template <class T> static bool run(T a, T b) { return a != b; } };
struct UltOp { template <class T> static bool run(T a, T b) { return a < b; } };
struct UleOp { template <class T> static bool run(T a, T b) { return a <= b; } };
struct SltOp { template <class T> static bool run(T a, T b) { return Signed<T>(a) < Signed<T>(b); } };
struct SleOp { template <class T> static bool run(T a, T b) { return Signed<T>(a) <= Signed<T>(b); } };

template <class T> void copyRow(Warp &w, const Instruction &i) { unary<T, T, [](T a) { return a; }>(w, i); }
Handler copyByBytes(unsigned bytes) {
  switch (bytes) {
  case 1: return copyRow<uint8_t>;
  case 2: return copyRow<uint16_t>;
  case 4: return copyRow<uint32_t>;
  case 8: return copyRow<uint64_t>;
  default: return copyRow<u128>;
  }
}
template <class T> void andImmediate(Warp &w, const Instruction &i) {
  T *d = w.row<T>(i.to), m = T(i.immediate);
  const T *a = w.row<T>(i.a);
  forLanes(w, [=](unsigned l) { d[l] = T(a[l] & m); });
}
template <class T> void signExtend(Warp &w, const Instruction &i) { // `immediate`: unused high bits
  T *d = w.row<T>(i.to);
  const T *a = w.row<T>(i.a);
  unsigned s = i.immediate;
  forLanes(w, [=](unsigned l) { d[l] = T(Signed<T>(T(a[l] << s)) >> s); });
}
template <class D, class A> void zeroExtend(Warp &w, const Instruction &i) { unary<D, A, [](A a) { return D(a); }>(w, i); }
template <class D, class A> void signExtendTo(Warp &w, const Instruction &i) { unary<D, A, [](A a) { return D(Signed<D>(Signed<A>(a))); }>(w, i); }

/// A conversion between integer rows, by the widths of both.
template <template <class, class> class F> Handler byTwo(unsigned to, unsigned from);
#define TESSERA_BY_TWO(NAME, FUNCTION)                                                                                     \
  template <class D> Handler NAME##From(unsigned from) {                                                                   \
    switch (from) {                                                                                                        \
    case 1: return FUNCTION<D, uint8_t>;                                                                                   \
    case 2: return FUNCTION<D, uint16_t>;                                                                                  \
    case 4: return FUNCTION<D, uint32_t>;                                                                                  \
    case 8: return FUNCTION<D, uint64_t>;                                                                                  \
    default: return FUNCTION<D, u128>;                                                                                     \
    }                                                                                                                      \
  }                                                                                                                        \
  Handler NAME(unsigned to, unsigned from) {                                                                               \
    switch (to) {                                                                                                          \
    case 1: return NAME##From<uint8_t>(from);                                                                              \
    case 2: return NAME##From<uint16_t>(from);                                                                             \
    case 4: return NAME##From<uint32_t>(from);                                                                             \
    case 8: return NAME##From<uint64_t>(from);                                                                             \
    default: return NAME##From<u128>(from);                                                                                \
    }                                                                                                                      \
  }
TESSERA_BY_TWO(zeroExtendHandler, zeroExtend)
TESSERA_BY_TWO(signExtendHandler, signExtendTo)
#undef TESSERA_BY_TWO

template <class P, class I> void gepStep(Warp &w, const Instruction &i) { // to = a + signed(b) * immediate
  P *d = w.row<P>(i.to);
  const P *a = w.row<P>(i.a);
  const I *b = w.row<I>(i.b);
  P scale = P(i.immediate);
  forLanes(w, [=](unsigned l) { d[l] = P(a[l] + P(Signed<P>(Signed<I>(b[l]))) * scale); });
}
template <class P> void addImmediate(Warp &w, const Instruction &i) {
  P *d = w.row<P>(i.to), k = P(i.immediate);
  const P *a = w.row<P>(i.a);
  forLanes(w, [=](unsigned l) { d[l] = P(a[l] + k); });
}
template <class T> void select(Warp &w, const Instruction &i) {
  T *d = w.row<T>(i.to);
  const T *a = w.row<T>(i.a), *b = w.row<T>(i.b);
  const uint8_t *c = w.row<uint8_t>(i.c);
  forLanes(w, [=](unsigned l) { d[l] = c[l] ? a[l] : b[l]; });
}
Handler selectByBytes(unsigned bytes) {
  switch (bytes) {
  case 1: return select<uint8_t>;
  case 2: return select<uint16_t>;
  case 4: return select<uint32_t>;
  case 8: return select<uint64_t>;
  default: return select<u128>;
  }
}
/// Bits of several rows put together into one, and taken apart. `more`: rows, low bits first; `a`: bits of each.
void packBits(Warp &w, const Instruction &i) {
  unsigned part = unsigned(i.immediate & 0xffff), partBytes = unsigned(i.immediate >> 16 & 0xff), bytes = unsigned(i.immediate >> 24);
  forLanes(w, [&](unsigned l) {
    u128 v = 0;
    for (unsigned k = 0; k < i.more.size(); ++k) v |= u128(loadRow(w, i.more[k], partBytes, l)) << (k * part);
    if (bytes == 16) w.row<u128>(i.to)[l] = v;
    else storeRow(w, i.to, bytes, l, uint64_t(v));
  });
}
void unpackBits(Warp &w, const Instruction &i) {
  unsigned part = unsigned(i.immediate & 0xffff), partBytes = unsigned(i.immediate >> 16 & 0xff), bytes = unsigned(i.immediate >> 24);
  forLanes(w, [&](unsigned l) {
    u128 v = bytes == 16 ? w.row<u128>(i.a)[l] : loadRow(w, i.a, bytes, l);
    u128 mask = part >= 128 ? ~u128(0) : (u128(1) << part) - 1;
    for (unsigned k = 0; k < i.more.size(); ++k) storeRow(w, i.more[k], partBytes, l, uint64_t((v >> (k * part)) & mask));
  });
}
/// Element `a` of `more`, bytes in the immediate.
void extractAt(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) {
    uint64_t at = w.row<uint64_t>(i.a)[l];
    storeRow(w, i.to, unsigned(i.immediate), l, at < i.more.size() ? loadRow(w, i.more[at], unsigned(i.immediate), l) : 0);
  });
}
/// `more`: n results; n elements already copied there; puts `b` at place `a`.
void insertAt(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) {
    uint64_t at = w.row<uint64_t>(i.a)[l];
    if (at < i.more.size()) storeRow(w, i.more[at], unsigned(i.immediate), l, loadRow(w, i.b, unsigned(i.immediate), l));
  });
}

// ---- floats ----
template <class T> Handler floatBinary(unsigned opcode) {
  switch (opcode) {
  case llvm::Instruction::FAdd: return binary<T, T, [](T a, T b) { return a + b; }>;
  case llvm::Instruction::FSub: return binary<T, T, [](T a, T b) { return a - b; }>;
  case llvm::Instruction::FMul: return binary<T, T, [](T a, T b) { return a * b; }>;
  case llvm::Instruction::FDiv: return binary<T, T, [](T a, T b) { return a / b; }>;
  case llvm::Instruction::FRem: return binary<T, T, [](T a, T b) { return std::fmod(a, b); }>;
  default: return nullptr;
  }
}
template <class T> Handler floatCompare(CmpInst::Predicate p) {
  switch (p) {
  case CmpInst::FCMP_FALSE: return binary<uint8_t, T, [](T, T) { return false; }>;
  case CmpInst::FCMP_OEQ: return binary<uint8_t, T, [](T a, T b) { return a == b; }>;
  case CmpInst::FCMP_OGT: return binary<uint8_t, T, [](T a, T b) { return a > b; }>;
  case CmpInst::FCMP_OGE: return binary<uint8_t, T, [](T a, T b) { return a >= b; }>;
  case CmpInst::FCMP_OLT: return binary<uint8_t, T, [](T a, T b) { return a < b; }>;
  case CmpInst::FCMP_OLE: return binary<uint8_t, T, [](T a, T b) { return a <= b; }>;
  case CmpInst::FCMP_ONE: return binary<uint8_t, T, [](T a, T b) { return a < b || a > b; }>;
  case CmpInst::FCMP_ORD: return binary<uint8_t, T, [](T a, T b) { return a == a && b == b; }>;
  case CmpInst::FCMP_UEQ: return binary<uint8_t, T, [](T a, T b) { return !(a < b || a > b); }>;
  case CmpInst::FCMP_UGT: return binary<uint8_t, T, [](T a, T b) { return !(a <= b); }>;
  case CmpInst::FCMP_UGE: return binary<uint8_t, T, [](T a, T b) { return !(a < b); }>;
  case CmpInst::FCMP_ULT: return binary<uint8_t, T, [](T a, T b) { return !(a >= b); }>;
  case CmpInst::FCMP_ULE: return binary<uint8_t, T, [](T a, T b) { return !(a > b); }>;
  case CmpInst::FCMP_UNE: return binary<uint8_t, T, [](T a, T b) { return a != b; }>;
  case CmpInst::FCMP_UNO: return binary<uint8_t, T, [](T a, T b) { return a != a || b != b; }>;
  default: return binary<uint8_t, T, [](T, T) { return true; }>;
  }
}
void halfToFloatRow(Warp &w, const Instruction &i) { unary<float, uint16_t, [](uint16_t h) { return halfToFloat(h); }>(w, i); }
void bfloatToFloatRow(Warp &w, const Instruction &i) { unary<float, uint16_t, [](uint16_t h) { return bfloatToFloat(h); }>(w, i); }
void floatToHalfRow(Warp &w, const Instruction &i) { unary<uint16_t, float, [](float f) { return floatToHalf(f); }>(w, i); }
void floatToBfloatRow(Warp &w, const Instruction &i) { unary<uint16_t, float, [](float f) { return floatToBfloat(f); }>(w, i); }
void floatToDoubleRow(Warp &w, const Instruction &i) { unary<double, float, [](float f) { return double(f); }>(w, i); }
void doubleToFloatRow(Warp &w, const Instruction &i) { unary<float, double, [](double f) { return float(f); }>(w, i); }
void doubleToHalfRow(Warp &w, const Instruction &i) { unary<uint16_t, double, [](double f) { return runtime::encodeFloat(ir::FloatKind::F16, f); }>(w, i); }
void doubleToBfloatRow(Warp &w, const Instruction &i) { unary<uint16_t, double, [](double f) { return runtime::encodeFloat(ir::FloatKind::BF16, f); }>(w, i); }

template <class T> void floatToInteger(Warp &w, const Instruction &i) { // immediate: signed << 8 | bits; 8-byte result
  bool isSigned = i.immediate >> 8;
  unsigned bits = unsigned(i.immediate & 0xff);
  const T *a = w.row<T>(i.a);
  uint64_t *d = w.row<uint64_t>(i.to);
  forLanes(w, [=](unsigned l) { d[l] = toInteger(double(a[l]), isSigned, bits); });
}

std::string printed(const Value &v) {
  std::string s;
  raw_string_ostream out(s);
  v.print(out);
  return StringRef(s).trim().str();
}

} // namespace

// ---- types and rows -------------------------------------------------------------------------------------------------

SmallVector<Type *, 4> Decoder::elements(Type *t) {
  SmallVector<Type *, 4> out;
  if (t->isVoidTy()) return out;
  if (auto *v = dyn_cast<FixedVectorType>(t)) {
    out.assign(v->getNumElements(), v->getElementType());
  } else if (auto *s = dyn_cast<StructType>(t)) {
    for (Type *e : s->elements()) out.append(elements(e));
  } else if (auto *a = dyn_cast<ArrayType>(t)) {
    auto one = elements(a->getElementType());
    for (uint64_t i = 0; i < a->getNumElements(); ++i) out.append(one);
  } else {
    out.push_back(t);
  }
  return out;
}

unsigned Decoder::bitsOf(Type *t) { return t->isPointerTy() ? unsigned(dl_.getPointerTypeSizeInBits(t)) : unsigned(t->getPrimitiveSizeInBits()); }
unsigned Decoder::bytesOf(Type *t) {
  unsigned bits = std::max(8u, bitsOf(t));
  return bits > 64 ? 16 : unsigned(PowerOf2Ceil(divideCeil(bits, 8)));
}

Row Decoder::fresh(unsigned bytes) {
  uint32_t size = bytes * program_->lanes;
  uint32_t at = (program_->frameBytes + 63) & ~63u;
  program_->frameBytes = at + size;
  return at;
}

Row Decoder::constant(uint64_t low, unsigned bytes, uint64_t high) {
  auto [it, isNew] = constants_.try_emplace({low, high, bytes}, 0);
  if (isNew) {
    it->second = fresh(bytes);
    program_->constants.push_back({it->second, uint8_t(bytes), low, high});
  }
  return it->second;
}

ArrayRef<Row> Decoder::rows(Value *v) {
  if (auto it = rows_.find(v); it != rows_.end()) return it->second;
  SmallVector<Row, 4> out;
  if (auto *c = dyn_cast<Constant>(v)) {
    constantRows(c, out);
  } else {
    if (current_) unknown(*current_, "an operand that is not computed before: " + printed(*v));
    for (Type *t : elements(v->getType())) out.push_back(constant(0, bytesOf(t)));
  }
  // What is not known was reported; decoding goes on to its end with rows of the right number.
  auto types = elements(v->getType());
  while (out.size() < types.size()) out.push_back(constant(0, bytesOf(types[out.size()])));
  if (out.empty()) out.push_back(constant(0, 8));
  return rows_[v] = std::move(out);
}

ArrayRef<Row> Decoder::defineFresh(Value *v) {
  SmallVector<Row, 4> out;
  for (Type *t : elements(v->getType())) out.push_back(fresh(bytesOf(t)));
  return rows_[v] = std::move(out);
}

void Decoder::constantRows(Constant *c, SmallVector<Row, 4> &out) {
  Type *t = c->getType();
  if (isa<ConstantExpr>(c)) // a vector seen as one of other elements, for instance
    if (Constant *folded = ConstantFoldConstant(c, dl_); folded && folded != c) return constantRows(folded, out);
  if (auto *g = dyn_cast<GlobalVariable>(c)) {
    out.push_back(constant(globals_.lookup(g), bytesOf(t)));
    return;
  }
  if (auto *i = dyn_cast<ConstantInt>(c); i && !t->isVectorTy()) {
    const APInt &v = i->getValue();
    if (v.getBitWidth() > 128) return unknown(*current_, "an integer of " + std::to_string(v.getBitWidth()) + " bits");
    out.push_back(constant(v.extractBitsAsZExtValue(std::min(64u, v.getBitWidth()), 0), bytesOf(t), v.getBitWidth() > 64 ? v.extractBitsAsZExtValue(v.getBitWidth() - 64, 64) : 0));
    return;
  }
  if (auto *f = dyn_cast<ConstantFP>(c); f && !t->isVectorTy()) {
    out.push_back(constant(f->getValueAPF().bitcastToAPInt().getZExtValue(), bytesOf(t)));
    return;
  }
  if (isa<UndefValue>(c)) {
    // Any bits do; these are seldom right by chance.
    for (Type *e : elements(t)) {
      unsigned bits = bitsOf(e);
      out.push_back(constant(0xa5a5a5a5a5a5a5a5ull & (bits < 64 ? (uint64_t(1) << bits) - 1 : ~uint64_t(0)), bytesOf(e)));
    }
    return;
  }
  if (c->isNullValue()) {
    for (Type *e : elements(t)) out.push_back(constant(0, bytesOf(e)));
    return;
  }
  unsigned n = 0;
  if (auto *v = dyn_cast<FixedVectorType>(t)) n = v->getNumElements();
  else if (auto *a = dyn_cast<ArrayType>(t)) n = unsigned(a->getNumElements());
  else if (auto *s = dyn_cast<StructType>(t)) n = s->getNumElements();
  if (n)
    for (unsigned k = 0; k < n; ++k) {
      Constant *e = c->getAggregateElement(k);
      if (!e) return unknown(*current_, "constant " + printed(*c));
      constantRows(e, out);
    }
  else
    unknown(*current_, "constant " + printed(*c));
}

Instruction &Decoder::emit(Handler h, Row to, Row a, Row b, Row c, uint64_t immediate) {
  Instruction i;
  i.run = h, i.to = to, i.a = a, i.b = b, i.c = c, i.immediate = immediate;
  i.source = current_;
  i.id = uint32_t(program_->instructions.size());
  program_->instructions.push_back(i);
  return program_->instructions.back();
}
ArrayRef<Row> Decoder::list(ArrayRef<Row> rows) {
  program_->lists.push_back(std::make_unique<SmallVector<Row, 8>>(rows.begin(), rows.end()));
  return *program_->lists.back();
}
Access &Decoder::emitAccess(Access a) {
  program_->accesses.push_back(std::make_unique<Access>(std::move(a)));
  emit(runAccess).access = program_->accesses.back().get();
  Access &kept = *program_->accesses.back();
  if (kept.space != Space::Shared && (kept.kind == Access::Kind::Atomic || kept.isVolatile || kept.acquires || kept.releases)) program_->blocksInteract = true;
  return kept;
}
void Decoder::copy(Row to, Row from, unsigned bytes) { emit(copyByBytes(bytes), to, from); }

Row Decoder::signExtended(Row r, unsigned bits, unsigned bytes) {
  if (bits == 8 * bytes) return r;
  Row out = fresh(bytes);
  Handler h = bytes == 1 ? Handler(signExtend<uint8_t>) : bytes == 2 ? signExtend<uint16_t> : bytes == 4 ? signExtend<uint32_t> : bytes == 8 ? signExtend<uint64_t> : signExtend<u128>;
  emit(h, out, r, kNoRow, kNoRow, 8 * bytes - bits);
  return out;
}
void Decoder::maskTo(Row r, unsigned bits, unsigned bytes) {
  if (bits == 8 * bytes) return;
  if (bits > 64) {
    // Shift out and back: there is no 128-bit immediate.
    Row by = constant(8 * bytes - bits, bytes);
    emit(binaryByBytes<ShlOp>(bytes), r, r, by);
    emit(binaryByBytes<LShrOp>(bytes), r, r, by);
    return;
  }
  Handler h = bytes == 1 ? Handler(andImmediate<uint8_t>) : bytes == 2 ? andImmediate<uint16_t> : bytes == 4 ? andImmediate<uint32_t> : bytes == 8 ? andImmediate<uint64_t> : andImmediate<u128>;
  emit(h, r, r, kNoRow, kNoRow, bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1);
}
Row Decoder::resized(Row r, unsigned from, unsigned to) {
  if (from == to) return r;
  Row out = fresh(to);
  emit(zeroExtendHandler(to, from), out, r);
  return out;
}
Row Decoder::toFloat(Row r, Type *t) {
  if (!t->isHalfTy() && !t->isBFloatTy()) return r;
  Row out = fresh(4);
  emit(t->isHalfTy() ? halfToFloatRow : bfloatToFloatRow, out, r);
  return out;
}
void Decoder::fromFloat(Row to, Row from, Type *t) { emit(t->isHalfTy() ? floatToHalfRow : floatToBfloatRow, to, from); }

void Decoder::elementwiseFloat(CallInst &c, Handler f32, Handler f64, unsigned operands) {
  auto types = elements(c.getType());
  SmallVector<Row, 4> out(defineFresh(&c));
  for (auto [k, t] : enumerate(types)) {
    Row in[3] = {kNoRow, kNoRow, kNoRow};
    for (unsigned o = 0; o < operands; ++o) in[o] = toFloat(rows(c.getArgOperand(o))[k], t);
    bool narrow = t->isHalfTy() || t->isBFloatTy();
    Row to = narrow ? fresh(4) : out[k];
    Handler h = t->isDoubleTy() ? f64 : f32;
    if (!h) return unknown(c, "type of " + printed(c));
    emit(h, to, in[0], in[1], in[2]);
    if (narrow) fromFloat(out[k], to, t);
  }
}
void Decoder::elementwise(CallInst &c, Handler h, unsigned operands) {
  SmallVector<Row, 4> out(defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    Row in[3] = {kNoRow, kNoRow, kNoRow};
    for (unsigned o = 0; o < operands; ++o) {
      auto r = rows(c.getArgOperand(o));
      in[o] = r[r.size() == 1 ? 0 : k];
    }
    emit(h, out[k], in[0], in[1], in[2]);
  }
}
uint64_t Decoder::constantOperand(CallInst &c, unsigned index) {
  if (auto *i = dyn_cast<ConstantInt>(c.getArgOperand(index))) return i->getZExtValue();
  unknown(c, "operand " + std::to_string(index) + " that is not constant");
  return 0;
}
void Decoder::unknown(const llvm::Instruction &i, const std::string &what) {
  if (!status_.ok()) return;
  std::string at = describe(&i);
  status_ = absl::UnimplementedError("the emulator does not know " + what + (at.empty() ? "" : ", " + at));
}

// ---- the function -----------------------------------------------------------------------------------------------------

absl::Status Decoder::inlineCalls(Function &f) {
  for (unsigned inlined = 0;;) {
    CallInst *next = nullptr;
    for (llvm::BasicBlock &b : f) {
      for (llvm::Instruction &i : b)
        if (auto *c = dyn_cast<CallInst>(&i); c && c->getCalledFunction() && !c->getCalledFunction()->isDeclaration()) {
          next = c;
          break;
        }
      if (next) break;
    }
    if (!next) return absl::OkStatus();
    std::string name = next->getCalledFunction()->getName().str();
    if (next->getCalledFunction() == &f || ++inlined > 20000) return absl::UnimplementedError("the emulator does not know recursion (function '" + name + "')");
    InlineFunctionInfo info;
    if (auto r = InlineFunction(*next, info); !r.isSuccess()) return absl::UnimplementedError("the emulator cannot take up function '" + name + "': " + r.getFailureReason());
  }
}

void Decoder::writeConstant(Constant *c, uint8_t *to) {
  Type *t = c->getType();
  if (c->isNullValue() || isa<UndefValue>(c)) return;
  if (auto *d = dyn_cast<ConstantDataSequential>(c)) {
    StringRef raw = d->getRawDataValues();
    memcpy(to, raw.data(), raw.size());
  } else if (auto *i = dyn_cast<ConstantInt>(c)) {
    uint64_t v = i->getValue().extractBitsAsZExtValue(std::min(64u, i->getBitWidth()), 0);
    memcpy(to, &v, dl_.getTypeStoreSize(t));
  } else if (auto *f = dyn_cast<ConstantFP>(c)) {
    uint64_t v = f->getValueAPF().bitcastToAPInt().getZExtValue();
    memcpy(to, &v, dl_.getTypeStoreSize(t));
  } else if (auto *g = dyn_cast<GlobalVariable>(c)) {
    uint64_t v = globals_.lookup(g);
    memcpy(to, &v, dl_.getTypeStoreSize(t));
  } else if (auto *s = dyn_cast<StructType>(t)) {
    for (unsigned k = 0; k < s->getNumElements(); ++k) writeConstant(c->getAggregateElement(k), to + dl_.getStructLayout(s)->getElementOffset(k));
  } else if (auto *a = dyn_cast<ArrayType>(t)) {
    for (unsigned k = 0; k < a->getNumElements(); ++k) writeConstant(c->getAggregateElement(k), to + k * dl_.getTypeAllocSize(a->getElementType()));
  } else if (auto *v = dyn_cast<FixedVectorType>(t)) {
    for (unsigned k = 0; k < v->getNumElements(); ++k) writeConstant(c->getAggregateElement(k), to + k * dl_.getTypeStoreSize(v->getElementType()));
  } else if (status_.ok()) {
    status_ = absl::UnimplementedError("the emulator does not know the initial value " + printed(*c));
  }
}

absl::Status Decoder::layOutGlobals(Launch &launch) {
  SmallVector<Constant *, 8> all;
  for (GlobalVariable &g : module_.globals()) all.push_back(&g);
  convertUsersOfConstantsToInstructions(all);
  // Shared: the static ones first, then those of size 0, which stand for the dynamic part.
  uint64_t at = kSharedBase;
  for (GlobalVariable &g : module_.globals()) {
    uint64_t size = dl_.getTypeAllocSize(g.getValueType());
    if (g.getAddressSpace() != 3 || !size) continue;
    at = alignTo(at, g.getAlign().valueOrOne());
    globals_[&g] = at;
    at += size;
  }
  at = alignTo(at, 1024);
  program_->sharedBytes = uint32_t(at - kSharedBase);
  for (GlobalVariable &g : module_.globals()) {
    uint64_t size = dl_.getTypeAllocSize(g.getValueType());
    if (g.getAddressSpace() == 3) {
      if (!size) globals_[&g] = at;
      continue;
    }
    if (!g.hasInitializer()) {
      if (!g.use_empty()) return absl::UnimplementedError("the emulator does not know the global variable '" + g.getName().str() + "'");
      continue;
    }
    Region r;
    r.name = g.getName().str();
    r.base = kConstantBase + kConstantStride * launch.constants.size();
    r.bytes = size;
    r.readOnly = g.isConstant();
    r.data = new uint8_t[size + 1]();
    globals_[&g] = r.base;
    launch.constants.push_back(std::move(r));
  }
  // Once all have their places, since one may hold another's address.
  for (GlobalVariable &g : module_.globals())
    if (g.getAddressSpace() != 3 && g.hasInitializer()) writeConstant(g.getInitializer(), launch.constants[(globals_[&g] - kConstantBase) / kConstantStride].data);
  return status_;
}

void Decoder::orderBlocks(Function &f) {
  DenseMap<llvm::BasicBlock *, unsigned> number;
  std::vector<llvm::BasicBlock *> stack;
  unsigned count = 0;
  constexpr unsigned kDone = ~0u;
  using List = std::vector<llvm::BasicBlock *>; // in reverse
  auto visit = [&](auto &self, llvm::BasicBlock *v, List &out) -> unsigned {
    stack.push_back(v);
    unsigned own = number[v] = ++count, head = own;
    bool loop = false;
    for (llvm::BasicBlock *s : successors(v)) {
      unsigned n = number.lookup(s);
      unsigned least = n ? n : self(self, s, out);
      if (least <= head) head = least, loop = true;
    }
    if (head != own) return head;
    number[v] = kDone;
    llvm::BasicBlock *e = stack.back();
    stack.pop_back();
    if (!loop) {
      out.push_back(v);
      return head;
    }
    while (e != v) {
      number[e] = 0;
      e = stack.back();
      stack.pop_back();
    }
    List inner;
    for (llvm::BasicBlock *s : successors(v))
      if (!number.lookup(s)) self(self, s, inner);
    out.insert(out.end(), inner.begin(), inner.end());
    out.push_back(v);
    return head;
  };
  List reversed;
  visit(visit, &f.getEntryBlock(), reversed);
  order_.assign(reversed.rbegin(), reversed.rend());
  for (auto [i, b] : enumerate(order_)) blockIndex_[b] = unsigned(i);
}

/// What addresses are computed from, back through arithmetic that keeps the meaning of an index.
void Decoder::markAddresses(Function &f) {
  SmallVector<const Value *, 32> work;
  auto add = [&](const Value *v) {
    if (isa<Constant>(v) || !(v->getType()->isPointerTy() || v->getType()->isIntegerTy(32) || v->getType()->isIntegerTy(64))) return;
    if (addresses_.insert(v).second) work.push_back(v);
  };
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : b) {
      if (const Value *p = getLoadStorePointerOperand(&i)) add(p);
      if (auto *r = dyn_cast<AtomicRMWInst>(&i)) add(r->getPointerOperand());
      if (auto *x = dyn_cast<AtomicCmpXchgInst>(&i)) add(x->getPointerOperand());
      if (auto *c = dyn_cast<CallInst>(&i)) {
        bool buffer = c->getCalledFunction() && c->getCalledFunction()->getName().contains(".buffer.");
        for (Value *a : c->args())
          if (a->getType()->isPointerTy() || (buffer && a->getType()->isIntegerTy(32))) add(a);
      }
    }
  while (!work.empty()) {
    auto *i = dyn_cast<llvm::Instruction>(work.pop_back_val());
    if (!i) continue;
    switch (i->getOpcode()) {
    case llvm::Instruction::Or:
      if (!cast<PossiblyDisjointInst>(i)->isDisjoint()) break;
      [[fallthrough]];
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Mul:
    case llvm::Instruction::Shl:
    case llvm::Instruction::SExt:
    case llvm::Instruction::ZExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::PHI:
    case llvm::Instruction::Select:
      for (Value *o : i->operands()) add(o);
      break;
    default: break;
    }
  }
}

/// What hands a multiplication's accumulator on without reading it.
static bool handsOn(const llvm::Instruction &i) {
  if (isa<PHINode, ExtractValueInst, InsertValueInst, FreezeInst>(i)) return true;
  if (isa<BitCastInst>(i)) return !i.getType()->isVectorTy() && !i.getOperand(0)->getType()->isVectorTy();
  auto *c = dyn_cast<CallInst>(&i);
  if (!c || !c->isInlineAsm()) return false;
  StringRef text = cast<InlineAsm>(c->getCalledOperand())->getAsmString();
  return text.contains("wgmma.") || text.trim().empty();
}
/// Values that are accumulators of wgmma, which may still be under way.
void Decoder::markAccumulators(Function &f) {
  SmallVector<const Value *, 32> work;
  for (llvm::BasicBlock &b : f)
    for (llvm::Instruction &i : b)
      if (auto *c = dyn_cast<CallInst>(&i); c && c->isInlineAsm() && StringRef(cast<InlineAsm>(c->getCalledOperand())->getAsmString()).contains("wgmma.mma_async"))
        if (accumulators_.insert(c).second) work.push_back(c);
  while (!work.empty())
    for (const User *u : work.pop_back_val()->users())
      if (auto *i = dyn_cast<llvm::Instruction>(u); i && handsOn(*i) && accumulators_.insert(i).second) work.push_back(i);
}
void Decoder::checkAccumulators(llvm::Instruction &i) {
  if (accumulators_.empty() || handsOn(i)) return;
  SmallVector<Row, 8> read;
  for (Value *o : i.operands())
    if (accumulators_.contains(o)) read.append(rows(o).begin(), rows(o).end());
  if (!read.empty()) emitSettledCheck(*this, read);
}

absl::StatusOr<std::unique_ptr<Program>> Decoder::run(const std::string &kernel, Launch &launch) {
  Function *f = module_.getFunction(kernel);
  if (!f || f->isDeclaration()) return absl::InvalidArgumentError("the module has no kernel '" + kernel + "'");
  program_ = std::make_unique<Program>();
  program_->kernel = kernel;
  program_->target = &target_;
  program_->lanes = unsigned(target_.warpSize);
  if (auto s = inlineCalls(*f); !s.ok()) return s;
  if (auto s = layOutGlobals(launch); !s.ok()) return s;
  orderBlocks(*f);
  if (launch.checks.wraps) markAddresses(*f);
  markAccumulators(*f);
  for (llvm::Argument &a : f->args()) {
    if (!a.getType()->isSingleValueType() || a.getType()->isVectorTy()) return absl::UnimplementedError("the emulator does not know kernel arguments of vector or struct type");
    auto r = defineFresh(&a);
    program_->arguments.push_back({r[0], uint8_t(bytesOf(a.getType()))});
  }
  for (llvm::BasicBlock *b : order_)
    for (PHINode &phi : b->phis()) (void)defineFresh(&phi);
  program_->blocks.resize(order_.size());
  for (auto [i, b] : enumerate(order_)) {
    decodeBlock(*b, program_->blocks[i]);
    if (!status_.ok()) return status_;
  }
  program_->frameBytes = (program_->frameBytes + 63) & ~63u;
  return std::move(program_);
}

void Decoder::decodeBlock(llvm::BasicBlock &b, BasicBlock &out) {
  out.first = unsigned(program_->instructions.size());
  for (llvm::Instruction &i : b) {
    if (isa<PHINode>(i) || i.isTerminator()) continue;
    current_ = &i;
    checkAccumulators(i);
    decodeInstruction(i);
    if (!status_.ok()) return;
  }
  current_ = b.getTerminator();
  out.terminator = current_;
  decodeTerminator(*b.getTerminator(), out);
  out.last = unsigned(program_->instructions.size());
}

void Decoder::decodeEdge(llvm::BasicBlock *from, llvm::BasicBlock *to, Edge &e) {
  e.target = blockIndex_.lookup(to);
  for (PHINode &phi : to->phis()) {
    auto types = elements(phi.getType());
    SmallVector<Row, 4> in(rows(phi.getIncomingValueForBlock(from))), out(rows(&phi));
    for (auto [k, t] : enumerate(types))
      if (in[k] != out[k]) e.copies.push_back({in[k], out[k], uint8_t(bytesOf(t))});
  }
  for (auto &c : e.copies)
    for (auto &d : e.copies) e.throughTemporary |= c.from == d.to;
}

void Decoder::decodeTerminator(llvm::Instruction &i, BasicBlock &out) {
  llvm::BasicBlock *from = i.getParent();
  if (isa<ReturnInst>(i)) {
    out.end = BasicBlock::End::Return;
  } else if (isa<UnreachableInst>(i)) {
    out.end = BasicBlock::End::Unreachable;
  } else if (auto *s = dyn_cast<SwitchInst>(&i)) {
    out.end = BasicBlock::End::Switch;
    out.condition = row(s->getCondition());
    out.conditionBytes = uint8_t(bytesOf(s->getCondition()->getType()));
    out.edges.emplace_back();
    decodeEdge(from, s->getDefaultDest(), out.edges.back());
    for (auto &c : s->cases()) {
      out.cases.push_back(c.getCaseValue()->getValue().extractBitsAsZExtValue(std::min(64u, c.getCaseValue()->getBitWidth()), 0));
      out.edges.emplace_back();
      decodeEdge(from, c.getCaseSuccessor(), out.edges.back());
    }
  } else if (i.getOpcode() == llvm::Instruction::Br || successors(from).begin() != successors(from).end()) {
    unsigned n = i.getNumSuccessors();
    if (n == 2) out.condition = row(i.getOperand(0));
    if (n > 2) return unknown(i, "the terminator " + printed(i));
    out.end = n == 2 ? BasicBlock::End::Conditional : BasicBlock::End::Branch;
    for (unsigned k = 0; k < n; ++k) {
      out.edges.emplace_back();
      decodeEdge(from, i.getSuccessor(k), out.edges.back());
    }
  } else {
    unknown(i, "the terminator " + printed(i));
  }
}

// ---- instructions -----------------------------------------------------------------------------------------------------

Space Decoder::spaceOf(Type *pointer) {
  switch (pointer->getPointerAddressSpace()) {
  case 1: return Space::Global;
  case 3: return Space::Shared;
  case 4: return isAmd() ? Space::Generic : Space::Constant;
  case 5: return Space::Private;
  default: return Space::Generic;
  }
}

static bool isPackedVector(Type *t) { return t->isVectorTy() && !t->getScalarType()->isPointerTy() && t->getScalarSizeInBits() % 8; }

Access Decoder::memoryAccess(Type *type, Value *pointer, unsigned alignment) {
  Access a;
  a.space = spaceOf(pointer->getType());
  a.address = row(pointer);
  a.addressBytes = uint8_t(bytesOf(pointer->getType()));
  a.bytes = unsigned(dl_.getTypeStoreSize(type));
  a.alignment = alignment;
  if (isPackedVector(type)) {
    if (!isPowerOf2_32(a.bytes) || a.bytes > 64 || 64 % type->getScalarSizeInBits()) unknown(*current_, "this layout in memory: " + printed(*current_));
    return a;
  }
  unsigned sum = 0;
  for (Type *t : elements(type)) {
    unsigned store = unsigned(dl_.getTypeStoreSize(t));
    a.pieces.push_back({kNoRow, uint8_t(bytesOf(t)), uint8_t(store)});
    sum += store;
  }
  if (sum != a.bytes) unknown(*current_, "this layout in memory: " + printed(*current_));
  return a;
}

void Decoder::decodeInstruction(llvm::Instruction &i) {
  using I = llvm::Instruction;
  if (auto *b = dyn_cast<BinaryOperator>(&i)) return decodeBinary(*b);
  if (auto *c = dyn_cast<CmpInst>(&i)) return decodeCompare(*c);
  if (auto *c = dyn_cast<CastInst>(&i)) return decodeCast(*c);
  switch (i.getOpcode()) {
  case I::FNeg: {
    SmallVector<Row, 4> in(rows(i.getOperand(0))), out(defineFresh(&i));
    for (auto [k, t] : enumerate(elements(i.getType()))) {
      unsigned bytes = bytesOf(t);
      emit(binaryByBytes<XorOp>(bytes), out[k], in[k], constant(uint64_t(1) << (8 * bytes - 1), bytes));
    }
    return;
  }
  case I::Freeze: return define(&i, SmallVector<Row, 4>(rows(i.getOperand(0))));
  case I::Select: {
    SmallVector<Row, 4> c(rows(i.getOperand(0))), a(rows(i.getOperand(1))), b(rows(i.getOperand(2))), out(defineFresh(&i));
    for (auto [k, t] : enumerate(elements(i.getType()))) {
      auto &x = emit(selectByBytes(bytesOf(t)), out[k], a[k], b[k], c[c.size() == 1 ? 0 : k]);
      if (addresses_.contains(&i)) x.tracked = x.run, x.run = runTracked, x.tracking = Tracking::Select, x.immediate = bytesOf(t);
    }
    return;
  }
  case I::GetElementPtr: return decodeGep(cast<GetElementPtrInst>(i));
  case I::Alloca: {
    auto &a = cast<AllocaInst>(i);
    auto size = a.getAllocationSize(dl_);
    if (!size || size->isScalable()) return unknown(i, "an alloca of variable size");
    program_->privateBytes = uint32_t(alignTo(std::max(program_->privateBytes, 64u), a.getAlign()));
    uint64_t at = program_->privateBytes;
    program_->privateBytes += uint32_t(*size);
    return define(&i, {constant(a.getAddressSpace() == 5 ? at : kPrivateWindow + at, bytesOf(a.getType()))});
  }
  case I::Load: {
    auto &l = cast<LoadInst>(i);
    Access a = memoryAccess(l.getType(), l.getPointerOperand(), unsigned(l.getAlign().value()));
    a.kind = Access::Kind::Load;
    a.isVolatile = l.isVolatile() || l.isAtomic();
    a.acquires = isAcquireOrStronger(l.getOrdering());
    SmallVector<Row, 4> out(defineFresh(&l));
    if (isPackedVector(l.getType())) { // elements of less than a byte stand bit by bit
      unsigned bits = bitsOf(l.getType()->getScalarType()), bytes = std::min(a.bytes, 8u);
      SmallVector<Row, 4> words;
      for (unsigned at = 0; at < a.bytes; at += bytes) {
        words.push_back(fresh(bytes));
        a.pieces.push_back({words.back(), uint8_t(bytes), uint8_t(bytes)});
      }
      emitAccess(std::move(a));
      for (auto [k, word] : enumerate(words)) {
        auto part = ArrayRef(out).slice(k * 8 * bytes / bits).take_front(8 * bytes / bits);
        emit(unpackBits, kNoRow, word, kNoRow, kNoRow, bits | bytesOf(l.getType()->getScalarType()) << 16 | uint64_t(bytes) << 24).more = list(part);
      }
      return;
    }
    for (auto [p, r] : zip(a.pieces, out)) p.row = r;
    emitAccess(std::move(a));
    return;
  }
  case I::Store: {
    auto &s = cast<StoreInst>(i);
    Access a = memoryAccess(s.getValueOperand()->getType(), s.getPointerOperand(), unsigned(s.getAlign().value()));
    a.kind = Access::Kind::Store;
    a.isVolatile = s.isVolatile() || s.isAtomic();
    a.releases = isReleaseOrStronger(s.getOrdering());
    Type *t = s.getValueOperand()->getType();
    if (isPackedVector(t)) {
      unsigned bits = bitsOf(t->getScalarType()), bytes = std::min(a.bytes, 8u);
      SmallVector<Row, 8> in(rows(s.getValueOperand()));
      for (unsigned at = 0; at < a.bytes; at += bytes) {
        Row word = fresh(bytes);
        emit(packBits, word, kNoRow, kNoRow, kNoRow, bits | bytesOf(t->getScalarType()) << 16 | uint64_t(bytes) << 24).more = list(ArrayRef(in).slice(8 * at / bits).take_front(8 * bytes / bits));
        a.pieces.push_back({word, uint8_t(bytes), uint8_t(bytes)});
      }
      emitAccess(std::move(a));
      return;
    }
    for (auto [p, r] : zip(a.pieces, rows(s.getValueOperand()))) p.row = r;
    emitAccess(std::move(a));
    return;
  }
  case I::AtomicRMW:
  case I::AtomicCmpXchg: return decodeAtomic(i);
  case I::Fence: return; // barriers say what they order by the fences around them (amd.cpp)
  case I::ExtractElement: {
    auto &x = cast<ExtractElementInst>(i);
    SmallVector<Row, 4> in(rows(x.getVectorOperand()));
    if (auto *k = dyn_cast<ConstantInt>(x.getIndexOperand())) {
      if (k->getZExtValue() < in.size()) return define(&i, {in[k->getZExtValue()]});
      return define(&i, {constant(0, bytesOf(i.getType()))});
    }
    Row at = resized(row(x.getIndexOperand()), bytesOf(x.getIndexOperand()->getType()), 8);
    Row to = defineFresh(&i)[0];
    emit(extractAt, to, at, kNoRow, kNoRow, bytesOf(i.getType())).more = list(in);
    return;
  }
  case I::InsertElement: {
    SmallVector<Row, 4> v(rows(i.getOperand(0)));
    Row e = row(i.getOperand(1));
    if (auto *k = dyn_cast<ConstantInt>(i.getOperand(2))) {
      if (k->getZExtValue() < v.size()) v[k->getZExtValue()] = e;
      return define(&i, v);
    }
    Row at = resized(row(i.getOperand(2)), bytesOf(i.getOperand(2)->getType()), 8);
    SmallVector<Row, 4> out(defineFresh(&i));
    unsigned bytes = bytesOf(i.getOperand(1)->getType());
    for (auto [to, from] : zip(out, v)) copy(to, from, bytes);
    emit(insertAt, kNoRow, at, e, kNoRow, bytes).more = list(out);
    return;
  }
  case I::ShuffleVector: {
    auto &s = cast<ShuffleVectorInst>(i);
    SmallVector<Row, 8> in(rows(s.getOperand(0)));
    in.append(rows(s.getOperand(1)).begin(), rows(s.getOperand(1)).end());
    SmallVector<Row, 4> out;
    for (int k : s.getShuffleMask()) out.push_back(in[k < 0 ? 0 : k]);
    return define(&i, out);
  }
  case I::ExtractValue:
  case I::InsertValue: {
    bool extract = i.getOpcode() == I::ExtractValue;
    auto indices = extract ? cast<ExtractValueInst>(i).getIndices() : cast<InsertValueInst>(i).getIndices();
    Type *t = i.getOperand(0)->getType();
    unsigned at = 0;
    for (unsigned k : indices) {
      for (unsigned j = 0; j < k; ++j) at += elements(t->isStructTy() ? t->getStructElementType(j) : t->getArrayElementType()).size();
      t = t->isStructTy() ? t->getStructElementType(k) : t->getArrayElementType();
    }
    SmallVector<Row, 4> whole(rows(i.getOperand(0)));
    unsigned n = elements(t).size();
    if (extract) return define(&i, SmallVector<Row, 4>(ArrayRef(whole).slice(at, n)));
    SmallVector<Row, 4> part(rows(i.getOperand(1)));
    for (unsigned k = 0; k < n; ++k) whole[at + k] = part[k];
    return define(&i, whole);
  }
  case I::Call: return decodeCall(cast<CallInst>(i));
  default: return unknown(i, "the instruction '" + printed(i) + "'");
  }
}

void Decoder::decodeBinary(BinaryOperator &b) {
  using I = llvm::Instruction;
  SmallVector<Row, 4> x(rows(b.getOperand(0))), y(rows(b.getOperand(1))), out(defineFresh(&b));
  bool tracked = addresses_.contains(&b);
  for (auto [k, t] : enumerate(elements(b.getType()))) {
    if (t->isFloatingPointTy()) {
      if (t->isDoubleTy() || t->isFloatTy()) {
        emit(t->isDoubleTy() ? floatBinary<double>(b.getOpcode()) : floatBinary<float>(b.getOpcode()), out[k], x[k], y[k]);
        continue;
      }
      if (!t->isHalfTy() && !t->isBFloatTy()) return unknown(b, "the type of '" + printed(b) + "'");
      // Rounding the f32 result once more is right for half and bfloat: f32 has more than twice their precision.
      Row to = fresh(4), p = toFloat(x[k], t), q = toFloat(y[k], t);
      emit(floatBinary<float>(b.getOpcode()), to, p, q);
      fromFloat(out[k], to, t);
      continue;
    }
    unsigned bits = bitsOf(t), bytes = bytesOf(t);
    if (bits > 128) return unknown(b, "integers of " + std::to_string(bits) + " bits");
    Row p = x[k], q = y[k];
    bool isSigned = b.getOpcode() == I::SDiv || b.getOpcode() == I::SRem || b.getOpcode() == I::AShr;
    if (isSigned) {
      p = signExtended(p, bits, bytes);
      if (b.getOpcode() != I::AShr) q = signExtended(q, bits, bytes);
    }
    Handler h = nullptr;
    Tracking tracking = Tracking::None;
    switch (b.getOpcode()) {
    case I::Add: h = binaryByBytes<AddOp>(bytes), tracking = Tracking::Add; break;
    case I::Sub: h = binaryByBytes<SubOp>(bytes), tracking = Tracking::Sub; break;
    case I::Mul: h = binaryByBytes<MulOp>(bytes), tracking = Tracking::Mul; break;
    case I::Shl: h = binaryByBytes<ShlOp>(bytes), tracking = Tracking::Shl; break;
    case I::Or: h = binaryByBytes<OrOp>(bytes), tracking = Tracking::Add; break;
    case I::UDiv: h = binaryByBytes<UDivOp>(bytes); break;
    case I::URem: h = binaryByBytes<URemOp>(bytes); break;
    case I::SDiv: h = binaryByBytes<SDivOp>(bytes); break;
    case I::SRem: h = binaryByBytes<SRemOp>(bytes); break;
    case I::And: h = binaryByBytes<AndOp>(bytes); break;
    case I::Xor: h = binaryByBytes<XorOp>(bytes); break;
    case I::LShr: h = binaryByBytes<LShrOp>(bytes); break;
    case I::AShr: h = binaryByBytes<AShrOp>(bytes); break;
    default: return unknown(b, "the instruction '" + printed(b) + "'");
    }
    auto &i = emit(h, out[k], p, q);
    if (tracked && tracking != Tracking::None && (b.getOpcode() != I::Or || cast<PossiblyDisjointInst>(b).isDisjoint())) {
      i.tracked = h, i.run = runTracked;
      i.tracking = bytes == 4 ? tracking : Tracking::Wide;
    }
    maskTo(out[k], bits, bytes);
  }
}

void Decoder::decodeCompare(CmpInst &c) {
  SmallVector<Row, 4> x(rows(c.getOperand(0))), y(rows(c.getOperand(1))), out(defineFresh(&c));
  for (auto [k, t] : enumerate(elements(c.getOperand(0)->getType()))) {
    if (isa<FCmpInst>(c)) {
      Row p = toFloat(x[k], t), q = toFloat(y[k], t);
      emit(t->isDoubleTy() ? floatCompare<double>(c.getPredicate()) : floatCompare<float>(c.getPredicate()), out[k], p, q);
      continue;
    }
    unsigned bits = bitsOf(t), bytes = bytesOf(t);
    Row p = x[k], q = y[k];
    if (c.isSigned()) p = signExtended(p, bits, bytes), q = signExtended(q, bits, bytes);
    Handler h = nullptr;
    bool swap = false;
    switch (c.getPredicate()) {
    case CmpInst::ICMP_EQ: h = compareByBytes<EqOp>(bytes); break;
    case CmpInst::ICMP_NE: h = compareByBytes<NeOp>(bytes); break;
    case CmpInst::ICMP_UGT: swap = true; [[fallthrough]];
    case CmpInst::ICMP_ULT: h = compareByBytes<UltOp>(bytes); break;
    case CmpInst::ICMP_UGE: swap = true; [[fallthrough]];
    case CmpInst::ICMP_ULE: h = compareByBytes<UleOp>(bytes); break;
    case CmpInst::ICMP_SGT: swap = true; [[fallthrough]];
    case CmpInst::ICMP_SLT: h = compareByBytes<SltOp>(bytes); break;
    case CmpInst::ICMP_SGE: swap = true; [[fallthrough]];
    case CmpInst::ICMP_SLE: h = compareByBytes<SleOp>(bytes); break;
    default: return unknown(c, "the comparison '" + printed(c) + "'");
    }
    emit(h, out[k], swap ? q : p, swap ? p : q);
  }
}

void Decoder::decodeCast(CastInst &c) {
  using I = llvm::Instruction;
  Value *v = c.getOperand(0);
  auto from = elements(v->getType()), to = elements(c.getType());
  SmallVector<Row, 4> in(rows(v));
  bool tracked = addresses_.contains(&c);
  auto track = [&](Instruction &i, Tracking t) {
    if (tracked) i.tracked = i.run, i.run = runTracked, i.tracking = t;
  };
  if (c.getOpcode() == I::BitCast && from.size() != to.size()) {
    unsigned fromBits = bitsOf(from[0]), toBits = bitsOf(to[0]);
    SmallVector<Row, 4> out(defineFresh(&c));
    if (fromBits > 64 && toBits > 64) return unknown(c, "the conversion '" + printed(c) + "'");
    if (toBits > fromBits) { // groups of elements into larger ones
      if (toBits % fromBits) return unknown(c, "the conversion '" + printed(c) + "'");
      unsigned n = toBits / fromBits;
      for (unsigned k = 0; k < out.size(); ++k)
        emit(packBits, out[k], kNoRow, kNoRow, kNoRow, fromBits | bytesOf(from[0]) << 16 | uint64_t(bytesOf(to[0])) << 24).more = list(ArrayRef(in).slice(k * n, n));
    } else {
      if (fromBits % toBits) return unknown(c, "the conversion '" + printed(c) + "'");
      unsigned n = fromBits / toBits;
      for (unsigned k = 0; k < in.size(); ++k)
        emit(unpackBits, kNoRow, in[k], kNoRow, kNoRow, toBits | bytesOf(to[0]) << 16 | uint64_t(bytesOf(from[0])) << 24).more = list(ArrayRef(out).slice(k * n, n));
    }
    return;
  }
  if (c.getOpcode() == I::BitCast) return define(&c, in);
  SmallVector<Row, 4> out(defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k) {
    Type *f = from[k], *t = to[k];
    unsigned fb = bytesOf(f), tb = bytesOf(t), fbits = bitsOf(f), tbits = bitsOf(t);
    switch (c.getOpcode()) {
    case I::ZExt:
    case I::Trunc:
    case I::PtrToInt:
    case I::IntToPtr:
    case I::PtrToAddr: track(emit(zeroExtendHandler(tb, fb), out[k], in[k]), tb == fb ? Tracking::Wide : tb > fb ? Tracking::ZExt : Tracking::Trunc); maskTo(out[k], tbits, tb); break;
    case I::SExt: {
      Row s = signExtended(in[k], fbits, fb);
      track(emit(signExtendHandler(tb, fb), out[k], s), Tracking::SExt);
      maskTo(out[k], tbits, tb);
      break;
    }
    case I::AddrSpaceCast: {
      Space a = spaceOf(f), b = spaceOf(t);
      auto window = [](Space s) { return s == Space::Shared ? kSharedWindow : s == Space::Private ? kPrivateWindow : 0; };
      Row wide = resized(in[k], fb, 8);
      uint64_t shift = window(a) - window(b);
      if (t->getPointerAddressSpace() == 7 || t->getPointerAddressSpace() == 8) return unknown(c, "the conversion '" + printed(c) + "'");
      if (tb == 8) {
        track(emit(addImmediate<uint64_t>, out[k], wide, kNoRow, kNoRow, shift), Tracking::Wide);
      } else {
        Row shifted = fresh(8);
        emit(addImmediate<uint64_t>, shifted, wide, kNoRow, kNoRow, shift);
        emit(zeroExtendHandler(tb, 8), out[k], shifted);
      }
      break;
    }
    case I::FPExt:
    case I::FPTrunc: {
      if (t->isDoubleTy()) {
        Row s = toFloat(in[k], f);
        emit(floatToDoubleRow, out[k], s);
      } else if (f->isDoubleTy()) {
        if (!t->isFloatTy() && !t->isHalfTy() && !t->isBFloatTy()) return unknown(c, "the conversion '" + printed(c) + "'");
        emit(t->isFloatTy() ? doubleToFloatRow : t->isHalfTy() ? doubleToHalfRow : doubleToBfloatRow, out[k], in[k]);
      } else if (t->isFloatTy()) {
        emit(f->isHalfTy() ? halfToFloatRow : bfloatToFloatRow, out[k], in[k]);
      } else if (f->isFloatTy() && (t->isHalfTy() || t->isBFloatTy())) {
        fromFloat(out[k], in[k], t);
      } else {
        return unknown(c, "the conversion '" + printed(c) + "'");
      }
      break;
    }
    case I::SIToFP:
    case I::UIToFP: {
      bool isSigned = c.getOpcode() == I::SIToFP;
      Row s = isSigned ? signExtended(in[k], fbits, fb) : in[k];
      Row wide = fresh(8);
      emit(isSigned ? signExtendHandler(8, fb) : zeroExtendHandler(8, fb), wide, s);
      if (t->isDoubleTy()) {
        emit(isSigned ? Handler(unary<double, uint64_t, [](uint64_t x) { return double(int64_t(x)); }>) : unary<double, uint64_t, [](uint64_t x) { return double(x); }>, out[k], wide);
      } else if (t->isFloatTy()) {
        emit(isSigned ? Handler(unary<float, uint64_t, [](uint64_t x) { return float(int64_t(x)); }>) : unary<float, uint64_t, [](uint64_t x) { return float(x); }>, out[k], wide);
      } else {
        // By way of double, exact up to 53 bits, so that it is rounded once.
        Row d = fresh(8);
        emit(isSigned ? Handler(unary<double, uint64_t, [](uint64_t x) { return double(int64_t(x)); }>) : unary<double, uint64_t, [](uint64_t x) { return double(x); }>, d, wide);
        emit(t->isHalfTy() ? doubleToHalfRow : doubleToBfloatRow, out[k], d);
      }
      break;
    }
    case I::FPToSI:
    case I::FPToUI: {
      if (tbits > 64) return unknown(c, "the conversion '" + printed(c) + "'");
      Row s = toFloat(in[k], f), wide = fresh(8);
      emit(f->isDoubleTy() ? floatToInteger<double> : floatToInteger<float>, wide, s, kNoRow, kNoRow, uint64_t(c.getOpcode() == I::FPToSI) << 8 | tbits);
      emit(zeroExtendHandler(tb, 8), out[k], wide);
      break;
    }
    default: return unknown(c, "the conversion '" + printed(c) + "'");
    }
  }
}

void Decoder::decodeGep(GetElementPtrInst &g) {
  if (g.getType()->isVectorTy()) return unknown(g, "vectors of pointers");
  unsigned bytes = bytesOf(g.getType());
  if (bytes == 16) return unknown(g, "arithmetic on the pointer of '" + printed(g) + "'");
  SmallMapVector<Value *, APInt, 4> variable;
  APInt offset(8 * bytes, 0);
  if (!cast<GEPOperator>(g).collectOffset(dl_, 8 * bytes, variable, offset)) return unknown(g, "the address '" + printed(g) + "'");
  bool tracked = addresses_.contains(&g);
  Row at = row(g.getPointerOperand());
  auto track = [&](Instruction &i) {
    if (tracked) i.tracked = i.run, i.run = runTracked, i.tracking = Tracking::Wide;
  };
  for (auto &[v, scale] : variable) {
    unsigned ib = bytesOf(v->getType());
    Row index = signExtended(row(v), bitsOf(v->getType()), ib);
    Row next = fresh(bytes);
    Handler h;
    if (bytes == 8) h = ib == 1 ? Handler(gepStep<uint64_t, uint8_t>) : ib == 2 ? gepStep<uint64_t, uint16_t> : ib == 4 ? gepStep<uint64_t, uint32_t> : gepStep<uint64_t, uint64_t>;
    else h = ib == 1 ? Handler(gepStep<uint32_t, uint8_t>) : ib == 2 ? gepStep<uint32_t, uint16_t> : ib == 4 ? gepStep<uint32_t, uint32_t> : gepStep<uint32_t, uint64_t>;
    auto &i = emit(h, next, at, index, kNoRow, scale.getSExtValue());
    i.c = ib; // for tracking
    track(i);
    at = next;
  }
  if (!offset.isZero()) {
    Row next = fresh(bytes);
    auto &i = emit(bytes == 8 ? addImmediate<uint64_t> : addImmediate<uint32_t>, next, at, kNoRow, kNoRow, offset.getSExtValue());
    i.c = 0;
    track(i);
    at = next;
  }
  define(&g, {at});
}

void Decoder::decodeAtomic(llvm::Instruction &i) {
  if (auto *x = dyn_cast<AtomicCmpXchgInst>(&i)) {
    Access a = memoryAccess(x->getNewValOperand()->getType(), x->getPointerOperand(), unsigned(x->getAlign().value()));
    a.kind = Access::Kind::Atomic;
    a.atomic = AtomicKind::Cas;
    a.pieces[0].row = row(x->getNewValOperand());
    a.compare = row(x->getCompareOperand());
    auto out = defineFresh(x);
    a.old = {out[0]};
    a.success = out[1];
    a.acquires = isAcquireOrStronger(x->getSuccessOrdering());
    a.releases = isReleaseOrStronger(x->getSuccessOrdering());
    emitAccess(std::move(a));
    return;
  }
  auto &r = cast<AtomicRMWInst>(i);
  Access a = memoryAccess(r.getType(), r.getPointerOperand(), unsigned(r.getAlign().value()));
  a.kind = Access::Kind::Atomic;
  switch (r.getOperation()) {
  case AtomicRMWInst::Xchg: a.atomic = AtomicKind::Exchange; break;
  case AtomicRMWInst::Add: a.atomic = AtomicKind::Add; break;
  case AtomicRMWInst::Sub: a.atomic = AtomicKind::Sub; break;
  case AtomicRMWInst::And: a.atomic = AtomicKind::And; break;
  case AtomicRMWInst::Nand: a.atomic = AtomicKind::Nand; break;
  case AtomicRMWInst::Or: a.atomic = AtomicKind::Or; break;
  case AtomicRMWInst::Xor: a.atomic = AtomicKind::Xor; break;
  case AtomicRMWInst::Max: a.atomic = AtomicKind::Max; break;
  case AtomicRMWInst::Min: a.atomic = AtomicKind::Min; break;
  case AtomicRMWInst::UMax: a.atomic = AtomicKind::UMax; break;
  case AtomicRMWInst::UMin: a.atomic = AtomicKind::UMin; break;
  case AtomicRMWInst::FAdd: a.atomic = AtomicKind::FAdd; break;
  case AtomicRMWInst::FSub: a.atomic = AtomicKind::FSub; break;
  case AtomicRMWInst::FMax: a.atomic = AtomicKind::FMax; break;
  case AtomicRMWInst::FMin: a.atomic = AtomicKind::FMin; break;
  case AtomicRMWInst::UIncWrap: a.atomic = AtomicKind::IncWrap; break;
  case AtomicRMWInst::UDecWrap: a.atomic = AtomicKind::DecWrap; break;
  default: return unknown(i, "the atomic '" + printed(i) + "'");
  }
  Type *t = r.getType()->getScalarType();
  a.format = t->isHalfTy() ? FloatFormat::F16 : t->isBFloatTy() ? FloatFormat::BF16 : t->isFloatTy() ? FloatFormat::F32 : t->isDoubleTy() ? FloatFormat::F64 : FloatFormat::None;
  for (auto [p, v] : zip(a.pieces, rows(r.getValOperand()))) p.row = v;
  a.old.assign(defineFresh(&i));
  a.acquires = isAcquireOrStronger(r.getOrdering());
  a.releases = isReleaseOrStronger(r.getOrdering());
  emitAccess(std::move(a));
}

void Decoder::decodeCall(CallInst &c) {
  if (c.isInlineAsm()) {
    auto *text = cast<InlineAsm>(c.getCalledOperand());
    std::string problem;
    if (isAmd()) {
      if (StringRef(text->getAsmString()).trim().empty() && c.getType()->isVoidTy()) return;
      return unknown(c, "the inline assembly '" + text->getAsmString().str() + "'");
    }
    if (!decodeInlinePtx(*this, c, problem)) unknown(c, problem);
    return;
  }
  Function *f = c.getCalledFunction();
  if (!f) return unknown(c, "calls through pointers");
  if (!f->isIntrinsic()) {
    if (!decodeDriverFunction(*this, c)) unknown(c, "the function '" + f->getName().str() + "'");
    return;
  }
  static const auto *table = [] {
    auto *t = new StringMap<const IntrinsicRow *>();
    for (auto rows : {llvmIntrinsics(), nvidiaIntrinsics(), amdIntrinsics(), amdMatrixIntrinsics()})
      for (auto &r : rows) (*t)[r.name] = &r;
    return t;
  }();
  if (auto it = table->find(Intrinsic::getBaseName(f->getIntrinsicID())); it != table->end()) return it->second->decode(*this, c);
  unknown(c, "the intrinsic '" + f->getName().str() + "'");
}

} // namespace tessera::emulator
