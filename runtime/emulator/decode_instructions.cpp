// Decoding of LLVM's instructions (decode.h): addresses, accesses, vectors and aggregates, calls. Arithmetic is in
// decode_arithmetic.cpp.
#include "codegen/address_spaces.h"
#include "runtime/emulator/decode.h"
#include "runtime/emulator/lane_functions.h"
#include "runtime/emulator/matrix.h"
#include "runtime/emulator/warpgroup.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/FormatVariadic.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

// ---- handlers of LLVM's own instructions ----

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
  unsigned part = unsigned(i.immediate & 0xffff), partBytes = unsigned(i.immediate >> 16 & 0xff),
           bytes = unsigned(i.immediate >> 24);
  forLanes(w, [&](unsigned l) {
    u128 v = 0;
    for (unsigned k = 0; k < i.more.size(); ++k) v |= u128(loadRow(w, i.more[k], partBytes, l)) << (k * part);
    if (bytes == 16)
      w.row<u128>(i.to)[l] = v;
    else
      storeRow(w, i.to, bytes, l, uint64_t(v));
  });
}
void unpackBits(Warp &w, const Instruction &i) {
  unsigned part = unsigned(i.immediate & 0xffff), partBytes = unsigned(i.immediate >> 16 & 0xff),
           bytes = unsigned(i.immediate >> 24);
  forLanes(w, [&](unsigned l) {
    u128 v = bytes == 16 ? w.row<u128>(i.a)[l] : loadRow(w, i.a, bytes, l);
    u128 mask = part >= 128 ? ~u128(0) : (u128(1) << part) - 1;
    for (unsigned k = 0; k < i.more.size(); ++k)
      storeRow(w, i.more[k], partBytes, l, uint64_t((v >> (k * part)) & mask));
  });
}
/// Element `a` of `more`, bytes in the immediate.
void extractAt(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) {
    uint64_t at = w.row<uint64_t>(i.a)[l];
    storeRow(w, i.to, unsigned(i.immediate), l,
             at < i.more.size() ? loadRow(w, i.more[at], unsigned(i.immediate), l) : 0);
  });
}
/// `more`: n results; n elements already copied there; puts `b` at place `a`.
void insertAt(Warp &w, const Instruction &i) {
  forLanes(w, [&](unsigned l) {
    uint64_t at = w.row<uint64_t>(i.a)[l];
    if (at < i.more.size())
      storeRow(w, i.more[at], unsigned(i.immediate), l, loadRow(w, i.b, unsigned(i.immediate), l));
  });
}

} // namespace

// ---- instructions ---------------------------------------------------------------------------------------------------

Space Decoder::spaceOf(Type *pointer) {
  switch (pointer->getPointerAddressSpace()) {
  case codegen::kGlobalSpace: return Space::Global;
  case codegen::kSharedSpace: return Space::Shared;
  case codegen::kConstantSpace: return isAmd() ? Space::Generic : Space::Constant;
  case codegen::kPrivateSpace: return Space::Private;
  default: return Space::Generic;
  }
}

static bool isPackedVector(Type *t) {
  return t->isVectorTy() && !t->getScalarType()->isPointerTy() && t->getScalarSizeInBits() % 8;
}

Access Decoder::memoryAccess(Type *type, Value *pointer, unsigned alignment) {
  Access a;
  a.space = spaceOf(pointer->getType());
  a.address = row(pointer);
  a.addressBytes = uint8_t(bytesOf(pointer->getType()));
  a.bytes = unsigned(dl_.getTypeStoreSize(type));
  a.alignment = alignment;
  if (isPackedVector(type)) {
    if (!isPowerOf2_32(a.bytes) || a.bytes > 64 || 64 % type->getScalarSizeInBits())
      unknown(*current_, "this layout in memory: " + printed(*current_));
    return a;
  }
  unsigned sum = 0;
  for (Type *t : elements(type)) {
    unsigned store = unsigned(dl_.getTypeStoreSize(t));
    a.elements.push_back({kNoRow, uint8_t(bytesOf(t)), uint8_t(store)});
    sum += store;
  }
  if (sum != a.bytes) unknown(*current_, "this layout in memory: " + printed(*current_));
  return a;
}

void Decoder::track(Instruction &i, Tracking tracking) {
  i.tracked = i.run;
  i.run = runTracked;
  i.tracking = tracking;
}

void Decoder::decodeInstruction(llvm::Instruction &i) {
  using I = llvm::Instruction;
  if (auto *b = dyn_cast<BinaryOperator>(&i)) return decodeBinary(*b);
  if (auto *c = dyn_cast<CmpInst>(&i)) return decodeCompare(*c);
  if (auto *c = dyn_cast<CastInst>(&i)) return decodeCast(*c);
  switch (i.getOpcode()) {
  case I::FNeg: return decodeNegation(i);
  case I::Freeze: return define(&i, SmallVector<Row, 4>(rows(i.getOperand(0))));
  case I::Select: return decodeSelect(i);
  case I::GetElementPtr: return decodeGep(cast<GetElementPtrInst>(i));
  case I::Alloca: return decodeAlloca(cast<AllocaInst>(i));
  case I::Load: return decodeLoad(cast<LoadInst>(i));
  case I::Store: return decodeStore(cast<StoreInst>(i));
  case I::AtomicRMW:
  case I::AtomicCmpXchg: return decodeAtomic(i);
  case I::Fence: return decodeFence(cast<llvm::FenceInst>(i));
  case I::ExtractElement: return decodeExtractElement(cast<ExtractElementInst>(i));
  case I::InsertElement: return decodeInsertElement(i);
  case I::ShuffleVector: return decodeShuffle(cast<ShuffleVectorInst>(i));
  case I::ExtractValue:
  case I::InsertValue: return decodeAggregate(i);
  case I::Call: return decodeCall(cast<CallInst>(i));
  default: return unknown(i, "the instruction '" + printed(i) + "'");
  }
}

void Decoder::decodeSelect(llvm::Instruction &i) {
  SmallVector<Row, 4> condition(rows(i.getOperand(0)));
  SmallVector<Row, 4> a(rows(i.getOperand(1)));
  SmallVector<Row, 4> b(rows(i.getOperand(2)));
  SmallVector<Row, 4> out(defineFresh(&i));
  for (auto [k, t] : enumerate(elements(i.getType()))) {
    auto &x = emit(selectByBytes(bytesOf(t)), out[k], a[k], b[k], condition[condition.size() == 1 ? 0 : k]);
    if (!addresses_.contains(&i)) continue;
    track(x, Tracking::Select);
    x.immediate = bytesOf(t);
  }
}

void Decoder::decodeAlloca(AllocaInst &a) {
  auto size = a.getAllocationSize(dl_);
  if (!size || size->isScalable()) return unknown(a, "an alloca of variable size");
  program_->privateBytes = uint32_t(alignTo(std::max(program_->privateBytes, 64u), a.getAlign()));
  uint64_t at = program_->privateBytes;
  program_->privateBytes += uint32_t(*size);
  bool isOffset = a.getAddressSpace() == codegen::kPrivateSpace;
  return define(&a, {constant(isOffset ? at : kPrivateWindow + at, bytesOf(a.getType()))});
}

/// The immediate of packBits and unpackBits: bits of an element, bytes of its row, bytes of a packed word.
static uint64_t packedLayout(unsigned elementBits, unsigned elementBytes, unsigned wordBytes) {
  return elementBits | elementBytes << 16 | uint64_t(wordBytes) << 24;
}

/// Whether other blocks are outside of the scope.
static bool isWithinBlock(LLVMContext &c, SyncScope::ID scope) {
  SmallVector<StringRef, 16> names;
  c.getSyncScopeNames(names);
  return llvm::any_of(llvm::ArrayRef{"workgroup", "wavefront", "singlethread", "block"},
                      [&](const char *s) { return names[scope].starts_with(s); });
}

void Decoder::decodeLoad(LoadInst &l) {
  Access a = memoryAccess(l.getType(), l.getPointerOperand(), unsigned(l.getAlign().value()));
  a.kind = Access::Kind::Load;
  a.isVolatile = l.isVolatile() || l.isAtomic();
  a.acquires = isAcquireOrStronger(l.getOrdering());
  a.isOfBlock = l.isAtomic() && isWithinBlock(l.getContext(), l.getSyncScopeID());
  SmallVector<Row, 4> out(defineFresh(&l));
  if (!isPackedVector(l.getType())) {
    for (auto [p, r] : zip(a.elements, out)) p.row = r;
    emitAccess(std::move(a));
    return;
  }
  // Elements of less than a byte lie bit by bit: words are loaded and unpacked.
  Type *scalar = l.getType()->getScalarType();
  unsigned bits = bitsOf(scalar);
  unsigned bytes = std::min(a.bytes, 8u);
  unsigned perWord = 8 * bytes / bits;
  SmallVector<Row, 4> words;
  for (unsigned at = 0; at < a.bytes; at += bytes) {
    words.push_back(fresh(bytes));
    a.elements.push_back({words.back(), uint8_t(bytes), uint8_t(bytes)});
  }
  emitAccess(std::move(a));
  for (auto [k, word] : enumerate(words)) {
    auto part = ArrayRef(out).slice(k * perWord).take_front(perWord);
    emit(unpackBits, kNoRow, word, kNoRow, kNoRow, packedLayout(bits, bytesOf(scalar), bytes)).more = list(part);
  }
}

void Decoder::decodeStore(StoreInst &s) {
  Type *t = s.getValueOperand()->getType();
  Access a = memoryAccess(t, s.getPointerOperand(), unsigned(s.getAlign().value()));
  a.kind = Access::Kind::Store;
  a.isVolatile = s.isVolatile() || s.isAtomic();
  a.releases = isReleaseOrStronger(s.getOrdering());
  a.isOfBlock = s.isAtomic() && isWithinBlock(s.getContext(), s.getSyncScopeID());
  if (!isPackedVector(t)) {
    for (auto [p, r] : zip(a.elements, rows(s.getValueOperand()))) p.row = r;
    emitAccess(std::move(a));
    return;
  }
  unsigned bits = bitsOf(t->getScalarType());
  unsigned bytes = std::min(a.bytes, 8u);
  SmallVector<Row, 8> in(rows(s.getValueOperand()));
  for (unsigned at = 0; at < a.bytes; at += bytes) {
    Row word = fresh(bytes);
    emit(packBits, word, kNoRow, kNoRow, kNoRow, packedLayout(bits, bytesOf(t->getScalarType()), bytes)).more =
        list(ArrayRef(in).slice(8 * at / bits).take_front(8 * bytes / bits));
    a.elements.push_back({word, uint8_t(bytes), uint8_t(bytes)});
  }
  emitAccess(std::move(a));
}

void Decoder::decodeExtractElement(ExtractElementInst &x) {
  SmallVector<Row, 4> in(rows(x.getVectorOperand()));
  if (auto *k = dyn_cast<ConstantInt>(x.getIndexOperand())) {
    if (k->getZExtValue() < in.size()) return define(&x, {in[k->getZExtValue()]});
    return define(&x, {constant(0, bytesOf(x.getType()))});
  }
  Row at = resized(row(x.getIndexOperand()), bytesOf(x.getIndexOperand()->getType()), 8);
  Row to = defineFresh(&x)[0];
  emit(extractAt, to, at, kNoRow, kNoRow, bytesOf(x.getType())).more = list(in);
}

void Decoder::decodeInsertElement(llvm::Instruction &i) {
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
}

void Decoder::decodeShuffle(ShuffleVectorInst &s) {
  SmallVector<Row, 8> in(rows(s.getOperand(0)));
  in.append(rows(s.getOperand(1)).begin(), rows(s.getOperand(1)).end());
  SmallVector<Row, 4> out;
  for (int k : s.getShuffleMask()) out.push_back(in[k < 0 ? 0 : k]);
  return define(&s, out);
}

/// extractvalue and insertvalue: the member is a range of the aggregate's rows.
void Decoder::decodeAggregate(llvm::Instruction &i) {
  auto *extract = dyn_cast<ExtractValueInst>(&i);
  auto indices = extract ? extract->getIndices() : cast<InsertValueInst>(i).getIndices();
  Type *t = i.getOperand(0)->getType();
  unsigned first = 0;
  for (unsigned k : indices) {
    for (unsigned j = 0; j < k; ++j)
      first += elements(t->isStructTy() ? t->getStructElementType(j) : t->getArrayElementType()).size();
    t = t->isStructTy() ? t->getStructElementType(k) : t->getArrayElementType();
  }
  SmallVector<Row, 4> whole(rows(i.getOperand(0)));
  unsigned n = elements(t).size();
  if (extract) return define(&i, SmallVector<Row, 4>(ArrayRef(whole).slice(first, n)));
  SmallVector<Row, 4> part(rows(i.getOperand(1)));
  for (unsigned k = 0; k < n; ++k) whole[first + k] = part[k];
  return define(&i, whole);
}

/// A bitcast between vectors of different element counts: groups of elements become larger ones, or the reverse.
void Decoder::decodeRegrouping(CastInst &c) {
  auto from = elements(c.getOperand(0)->getType());
  auto to = elements(c.getType());
  unsigned fromBits = bitsOf(from[0]);
  unsigned toBits = bitsOf(to[0]);
  SmallVector<Row, 4> in(rows(c.getOperand(0)));
  SmallVector<Row, 4> out(defineFresh(&c));
  bool wideOnBothSides = fromBits > 64 && toBits > 64;
  bool divisible = std::max(fromBits, toBits) % std::min(fromBits, toBits) == 0;
  if (wideOnBothSides || !divisible) return unknownConversion(c);
  if (toBits > fromBits) {
    unsigned n = toBits / fromBits;
    for (unsigned k = 0; k < out.size(); ++k)
      emit(packBits, out[k], kNoRow, kNoRow, kNoRow, packedLayout(fromBits, bytesOf(from[0]), bytesOf(to[0]))).more =
          list(ArrayRef(in).slice(k * n, n));
    return;
  }
  unsigned n = fromBits / toBits;
  for (unsigned k = 0; k < in.size(); ++k)
    emit(unpackBits, kNoRow, in[k], kNoRow, kNoRow, packedLayout(toBits, bytesOf(to[0]), bytesOf(from[0]))).more =
        list(ArrayRef(out).slice(k * n, n));
}

void Decoder::decodeCast(CastInst &c) {
  using I = llvm::Instruction;
  Value *v = c.getOperand(0);
  auto from = elements(v->getType());
  auto to = elements(c.getType());
  if (c.getOpcode() == I::BitCast && from.size() != to.size()) return decodeRegrouping(c);
  SmallVector<Row, 4> in(rows(v));
  if (c.getOpcode() == I::BitCast) return define(&c, in);
  SmallVector<Row, 4> out(defineFresh(&c));
  for (unsigned k = 0; k < out.size(); ++k)
    if (!castElement(c, out[k], to[k], in[k], from[k])) return unknownConversion(c);
}

void Decoder::unknownConversion(CastInst &c) { unknown(c, "the conversion '" + printed(c) + "'"); }

bool Decoder::castAddressSpace(Row to, Type *t, Row from, Type *f, bool tracked) {
  unsigned space = t->getPointerAddressSpace();
  bool isBufferPointer = space == AMDGPUAS::BUFFER_FAT_POINTER || space == AMDGPUAS::BUFFER_RESOURCE;
  if (isBufferPointer) return false;
  auto window = [](Space s) { return s == Space::Shared ? kSharedWindow : s == Space::Private ? kPrivateWindow : 0; };
  uint64_t shift = window(spaceOf(f)) - window(spaceOf(t));
  Row wide = resized(from, bytesOf(f), 8);
  if (bytesOf(t) == 8) {
    auto &x = emit(addImmediate<uint64_t>, to, wide, kNoRow, kNoRow, shift);
    if (tracked) track(x, Tracking::Wide);
    return true;
  }
  Row shifted = fresh(8);
  emit(addImmediate<uint64_t>, shifted, wide, kNoRow, kNoRow, shift);
  emit(zeroExtendHandler(bytesOf(t), 8), to, shifted);
  return true;
}

void Decoder::decodeGep(GetElementPtrInst &g) {
  if (g.getType()->isVectorTy()) return unknown(g, "vectors of pointers");
  unsigned bytes = bytesOf(g.getType());
  if (bytes == 16) return unknown(g, "arithmetic on the pointer of '" + printed(g) + "'");
  SmallMapVector<Value *, APInt, 4> variable;
  APInt offset(8 * bytes, 0);
  if (!cast<GEPOperator>(g).collectOffset(dl_, 8 * bytes, variable, offset))
    return unknown(g, "the address '" + printed(g) + "'");
  bool tracked = addresses_.contains(&g);
  Row at = row(g.getPointerOperand());
  auto trackStep = [&](Instruction &i) {
    if (tracked) track(i, Tracking::Wide);
  };
  for (auto &[v, scale] : variable) {
    unsigned ib = bytesOf(v->getType());
    Row index = signExtended(row(v), bitsOf(v->getType()), ib);
    Row next = fresh(bytes);
    Handler h;
    if (bytes == 8)
      h = ib == 1   ? Handler(gepStep<uint64_t, uint8_t>)
          : ib == 2 ? gepStep<uint64_t, uint16_t>
          : ib == 4 ? gepStep<uint64_t, uint32_t>
                    : gepStep<uint64_t, uint64_t>;
    else
      h = ib == 1   ? Handler(gepStep<uint32_t, uint8_t>)
          : ib == 2 ? gepStep<uint32_t, uint16_t>
          : ib == 4 ? gepStep<uint32_t, uint32_t>
                    : gepStep<uint32_t, uint64_t>;
    auto &i = emit(h, next, at, index, kNoRow, scale.getSExtValue());
    i.c = ib; // for tracking
    trackStep(i);
    at = next;
  }
  if (!offset.isZero()) {
    Row next = fresh(bytes);
    auto &i = emit(bytes == 8 ? addImmediate<uint64_t> : addImmediate<uint32_t>, next, at, kNoRow, kNoRow,
                   offset.getSExtValue());
    i.c = 0;
    trackStep(i);
    at = next;
  }
  define(&g, {at});
}

/// Between blocks a fence orders with the atomics before and after it. (Within a block, barriers order by the fences
/// around them: amd.cpp.)
void Decoder::decodeFence(llvm::FenceInst &f) {
  if (isWithinBlock(f.getContext(), f.getSyncScopeID())) return;
  FenceForm form{isReleaseOrStronger(f.getOrdering()), isAcquireOrStronger(f.getOrdering())};
  emitImmediate(fenceBlocks, form.packed());
}

void Decoder::decodeAtomic(llvm::Instruction &i) {
  if (auto *x = dyn_cast<AtomicCmpXchgInst>(&i)) {
    Access a = memoryAccess(x->getNewValOperand()->getType(), x->getPointerOperand(), unsigned(x->getAlign().value()));
    a.kind = Access::Kind::Atomic;
    a.atomic = AtomicKind::Cas;
    a.elements[0].row = row(x->getNewValOperand());
    a.compare = row(x->getCompareOperand());
    auto out = defineFresh(x);
    a.old = {out[0]};
    a.success = out[1];
    a.acquires = isAcquireOrStronger(x->getSuccessOrdering());
    a.releases = isReleaseOrStronger(x->getSuccessOrdering());
    a.isOfBlock = isWithinBlock(x->getContext(), x->getSyncScopeID());
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
  a.format = t->isHalfTy()     ? FloatFormat::F16
             : t->isBFloatTy() ? FloatFormat::BF16
             : t->isFloatTy()  ? FloatFormat::F32
             : t->isDoubleTy() ? FloatFormat::F64
                               : FloatFormat::None;
  for (auto [p, v] : zip(a.elements, rows(r.getValOperand()))) p.row = v;
  a.old.assign(defineFresh(&i));
  a.acquires = isAcquireOrStronger(r.getOrdering());
  a.releases = isReleaseOrStronger(r.getOrdering());
  a.isOfBlock = isWithinBlock(r.getContext(), r.getSyncScopeID());
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
    for (auto rows :
         {llvmIntrinsics(), nvidiaIntrinsics(), amdIntrinsics(), amdLaneIntrinsics(), amdMatrixIntrinsics()})
      for (auto &r : rows) (*t)[r.name] = &r;
    return t;
  }();
  if (auto it = table->find(Intrinsic::getBaseName(f->getIntrinsicID())); it != table->end())
    return it->second->decode(*this, c);
  unknown(c, "the intrinsic '" + f->getName().str() + "'");
}

} // namespace tessera::emulator
