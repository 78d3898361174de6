// Decoding: types and their rows, constants, and the small instructions that the decoders of everything else use
// (decode.h).
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

template <class T> void copyRow(Warp &w, const Instruction &i) {
  unary<T, T, [](T a) { return a; }>(w, i);
}
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
void floatToHalfRow(Warp &w, const Instruction &i) {
  unary<uint16_t, float, [](float f) { return floatToHalf(f); }>(w, i);
}
void floatToBfloatRow(Warp &w, const Instruction &i) {
  unary<uint16_t, float, [](float f) { return floatToBfloat(f); }>(w, i);
}
template <class D, class A> void zeroExtend(Warp &w, const Instruction &i) {
  unary<D, A, [](A a) { return D(a); }>(w, i);
}
template <class D, class A> void signExtendTo(Warp &w, const Instruction &i) {
  unary<D, A, [](A a) { return D(Signed<D>(Signed<A>(a))); }>(w, i);
}

} // namespace

#define TESSERA_BY_TWO(NAME, FUNCTION)                                                                                 \
  template <class D> Handler NAME##From(unsigned from) {                                                               \
    switch (from) {                                                                                                    \
    case 1: return FUNCTION<D, uint8_t>;                                                                               \
    case 2: return FUNCTION<D, uint16_t>;                                                                              \
    case 4: return FUNCTION<D, uint32_t>;                                                                              \
    case 8: return FUNCTION<D, uint64_t>;                                                                              \
    default: return FUNCTION<D, u128>;                                                                                 \
    }                                                                                                                  \
  }                                                                                                                    \
  Handler NAME(unsigned to, unsigned from) {                                                                           \
    switch (to) {                                                                                                      \
    case 1: return NAME##From<uint8_t>(from);                                                                          \
    case 2: return NAME##From<uint16_t>(from);                                                                         \
    case 4: return NAME##From<uint32_t>(from);                                                                         \
    case 8: return NAME##From<uint64_t>(from);                                                                         \
    default: return NAME##From<u128>(from);                                                                            \
    }                                                                                                                  \
  }
TESSERA_BY_TWO(zeroExtendHandler, zeroExtend)
TESSERA_BY_TWO(signExtendHandler, signExtendTo)
#undef TESSERA_BY_TWO

std::string printed(const Value &v) {
  std::string s;
  raw_string_ostream out(s);
  v.print(out);
  return StringRef(s).trim().str();
}

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

unsigned Decoder::bitsOf(Type *t) {
  return t->isPointerTy() ? unsigned(dl_.getPointerTypeSizeInBits(t)) : unsigned(t->getPrimitiveSizeInBits());
}
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
  // An unknown value has been reported; decoding continues to its end with the right number of rows.
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
    out.push_back(constant(v.extractBitsAsZExtValue(std::min(64u, v.getBitWidth()), 0), bytesOf(t),
                           v.getBitWidth() > 64 ? v.extractBitsAsZExtValue(v.getBitWidth() - 64, 64) : 0));
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
      out.push_back(
          constant(0xa5a5a5a5a5a5a5a5ull & (bits < 64 ? (uint64_t(1) << bits) - 1 : ~uint64_t(0)), bytesOf(e)));
    }
    return;
  }
  if (c->isNullValue()) {
    for (Type *e : elements(t)) out.push_back(constant(0, bytesOf(e)));
    return;
  }
  unsigned n = 0;
  if (auto *v = dyn_cast<FixedVectorType>(t))
    n = v->getNumElements();
  else if (auto *a = dyn_cast<ArrayType>(t))
    n = unsigned(a->getNumElements());
  else if (auto *s = dyn_cast<StructType>(t))
    n = s->getNumElements();
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
  i.run = h;
  i.to = to;
  i.a = a;
  i.b = b;
  i.c = c;
  i.immediate = immediate;
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
  if (kept.space != Space::Shared &&
      (kept.kind == Access::Kind::Atomic || kept.isVolatile || kept.acquires || kept.releases))
    program_->blocksInteract = true;
  return kept;
}
void Decoder::copy(Row to, Row from, unsigned bytes) { emit(copyByBytes(bytes), to, from); }

Row Decoder::signExtended(Row r, unsigned bits, unsigned bytes) {
  if (bits == 8 * bytes) return r;
  Row out = fresh(bytes);
  Handler h = bytes == 1   ? Handler(signExtend<uint8_t>)
              : bytes == 2 ? signExtend<uint16_t>
              : bytes == 4 ? signExtend<uint32_t>
              : bytes == 8 ? signExtend<uint64_t>
                           : signExtend<u128>;
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
  Handler h = bytes == 1   ? Handler(andImmediate<uint8_t>)
              : bytes == 2 ? andImmediate<uint16_t>
              : bytes == 4 ? andImmediate<uint32_t>
              : bytes == 8 ? andImmediate<uint64_t>
                           : andImmediate<u128>;
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
void Decoder::fromFloat(Row to, Row from, Type *t) {
  emit(t->isHalfTy() ? floatToHalfRow : floatToBfloatRow, to, from);
}

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
} // namespace tessera::emulator
