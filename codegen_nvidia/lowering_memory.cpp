// Global and shared memory accesses and atomics on NVIDIA GPUs. Any access takes a predicate, so masks cost no branch,
// but LLVM cannot express a predicate: masked accesses, and those with cache hints, are inline PTX. Plain ones are LLVM
// loads and stores. Inline PTX that writes is marked as clobbering memory, so LLVM keeps the order between the two
// kinds.
//
//   mov.u32 r, other;  @p ld.global.v4.b32 {r0, r1, r2, r3}, [ptr + 2048];
//
// The value for a false predicate is an operand tied to the result, which LLVM materialises as it likes.
// Source: PTX ISA, "Data Movement and Conversion Instructions: ld, st", "Parallel Synchronization and Communication
// Instructions: atom".
#include "codegen_nvidia/inline_ptx.h"
#include "codegen_nvidia/lowering_target.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::nvidia {
using namespace llvm;
using codegen::LoadAccess;
using codegen::MemoryAccess;
using codegen::StoreAccess;

namespace {

unsigned bitsOf(Type *t) { return t->isPointerTy() ? 64 : t->getPrimitiveSizeInBits(); }

/// Registers of an access: `count` words of `bits` each.
struct Words {
  unsigned bits, count;
  Type *type;

  Words(IRBuilder<> &b, Type *element, unsigned elements) {
    unsigned total = bitsOf(element) * elements;
    bits = bitsOf(element) == 64 ? 64 : std::min(32u, total);
    count = total / bits;
    // There are no 8-bit registers: a byte travels in 16 bits.
    type = b.getIntNTy(std::max(16u, bits));
  }
  std::string suffix() const {
    return (count > 1 ? ".v" + std::to_string(count) : std::string()) + ".b" + std::to_string(bits);
  }
};

Value *asInt(IRBuilder<> &b, Value *v) {
  if (v->getType()->isPointerTy()) return b.CreatePtrToInt(v, b.getInt64Ty());
  return b.CreateBitCast(v, b.getIntNTy(bitsOf(v->getType())));
}
Value *fromInt(IRBuilder<> &b, Value *v, Type *t) {
  return t->isPointerTy() ? b.CreateIntToPtr(v, t) : b.CreateBitCast(v, t);
}

/// Elements → words.
SmallVector<Value *, 4> pack(IRBuilder<> &b, const Words &w, ArrayRef<Value *> elements) {
  SmallVector<Value *, 4> out;
  unsigned perWord = elements.size() / w.count;
  Type *element = elements[0]->getType();
  for (unsigned i = 0; i < w.count; ++i) {
    Value *word;
    if (perWord == 1) {
      word = b.CreateZExt(asInt(b, elements[i]), w.type);
    } else {
      word = PoisonValue::get(FixedVectorType::get(element, perWord));
      for (unsigned k = 0; k < perWord; ++k) word = b.CreateInsertElement(word, elements[i * perWord + k], k);
      word = b.CreateBitCast(word, b.getIntNTy(w.bits));
    }
    out.push_back(word);
  }
  return out;
}

/// Words → elements.
void unpack(IRBuilder<> &b, const Words &w, ArrayRef<Value *> words, Type *element, unsigned count,
            SmallVectorImpl<Value *> &out) {
  unsigned perWord = count / w.count;
  for (Value *word : words) {
    if (perWord == 1) {
      out.push_back(fromInt(b, b.CreateTrunc(word, b.getIntNTy(bitsOf(element))), element));
      continue;
    }
    Value *v = b.CreateBitCast(word, FixedVectorType::get(element, perWord));
    for (unsigned k = 0; k < perWord; ++k) out.push_back(b.CreateExtractElement(v, k));
  }
}

/// Constants added to a pointer become the instruction's immediate.
std::pair<Value *, int64_t> splitConstant(IRBuilder<> &b, Value *pointer) {
  APInt offset(64, 0);
  const DataLayout &dl = b.GetInsertBlock()->getModule()->getDataLayout();
  Value *base = pointer->stripAndAccumulateConstantOffsets(dl, offset, /*AllowNonInbounds=*/true);
  if (base->getType() != pointer->getType() || !offset.isSignedIntN(24)) return {pointer, 0};
  return {base, offset.getSExtValue()};
}

StringRef cacheName(ir::CacheModifier c) {
  switch (c) {
  case ir::CacheModifier::None: return "";
  case ir::CacheModifier::Ca: return ".ca";
  case ir::CacheModifier::Cg: return ".cg";
  case ir::CacheModifier::Wb: return ".wb";
  case ir::CacheModifier::Cs: return ".cs";
  case ir::CacheModifier::Wt: return ".wt";
  case ir::CacheModifier::Cv: return ".cv";
  }
  return "";
}

/// ".ca", ".L1::evict_first.L2::cache_hint", …; a policy register is an operand that the caller adds.
struct HintText {
  std::string modifiers;
  Value *policy = nullptr;

  HintText(IRBuilder<> &b, const MemoryAccess &a, bool isLoad) {
    bool first = a.evict == ir::EvictionPolicy::EvictFirst, last = a.evict == ir::EvictionPolicy::EvictLast;
    if (a.isVolatile) {
      modifiers = ".volatile";
    } else if (first || last) {
      // An eviction priority and a cache operator exclude each other.
      modifiers = first ? ".L1::evict_first.L2::cache_hint" : ".L1::evict_last.L2::cache_hint";
      InlinePtx ptx(b);
      ptx.addResults(b.getInt64Ty(), 1);
      policy =
          ptx.emit(std::string("createpolicy.fractional.L2::evict_") + (first ? "first" : "last") + ".b64 $0, 1.0;",
                   InlinePtx::Effects::None);
    } else {
      StringRef c = cacheName(a.cache);
      // Operators that exist for one direction only.
      bool loads = c == ".ca" || c == ".cg" || c == ".cs" || c == ".cv";
      bool stores = c == ".wb" || c == ".cg" || c == ".cs" || c == ".wt";
      if (isLoad ? loads : stores) modifiers = c;
    }
  }
  bool plain() const { return modifiers.empty(); }
};

/// Registers of a vector, or a single one.
std::string vectorText(unsigned first, unsigned count) {
  return count > 1 ? InlinePtx::list(first, count) : "$" + std::to_string(first);
}
std::string addressText(const std::string &operand, int64_t offset) {
  std::string s = "[" + operand;
  if (offset) s += "+" + std::to_string(offset); // [%rd1+-64]: ptxas takes no other spelling of negative offsets
  return s + "]";
}
/// "@$3 " of a predicate; nothing if there is none.
std::string guardText(InlinePtx &ptx, Value *predicate) { return predicate ? "@" + ptx.operand(predicate) + " " : ""; }

SmallVector<Value *, 4> loadByLLVM(IRBuilder<> &b, const LoadAccess &a, const Words &w) {
  Type *type = w.bits < 16 ? b.getInt8Ty() : w.type;
  if (w.count > 1) type = FixedVectorType::get(type, w.count);
  Value *v = b.CreateAlignedLoad(type, a.pointer, Align(a.alignment), a.isVolatile);
  SmallVector<Value *, 4> words;
  for (unsigned i = 0; i < w.count; ++i) words.push_back(w.count > 1 ? b.CreateExtractElement(v, i) : v);
  return words;
}

SmallVector<Value *, 4> loadByPtx(IRBuilder<> &b, Type *element, const LoadAccess &a, const Words &w,
                                  const HintText &hint) {
  auto [base, offset] = splitConstant(b, a.pointer);
  InlinePtx ptx(b);
  ptx.addResults(w.type, w.count);
  std::string at = addressText(ptx.operand(base), offset);
  std::string text = guardText(ptx, a.mask) + "ld" + (a.isVolatile ? ".volatile.global" : ".global" + hint.modifiers) +
                     w.suffix() + " " + vectorText(0, w.count) + ", " + at;
  if (hint.policy) text += ", " + ptx.operand(hint.policy);
  if (a.mask) {
    SmallVector<Value *, 8> other(a.other.begin(), a.other.end());
    if (other.empty()) other.assign(a.count, Constant::getNullValue(element));
    for (auto [i, v] : enumerate(pack(b, w, other))) ptx.addTied(v, i);
  }
  CallInst *call = ptx.emit(text + ";", InlinePtx::Effects::Reads);
  recordLoad(*call, w.count * unsigned(divideCeil(w.type->getIntegerBitWidth(), 32)));
  return ptx.resultsOf(call);
}

} // namespace

void NvidiaTarget::load(IRBuilder<> &b, Type *element, MutableArrayRef<LoadAccess> accesses) const {
  for (LoadAccess &a : accesses) {
    Words w(b, element, a.count);
    HintText hint(b, a, true);
    bool isPlain = !a.mask && (hint.plain() || a.isVolatile);
    unpack(b, w, isPlain ? loadByLLVM(b, a, w) : loadByPtx(b, element, a, w, hint), element, a.count, a.result);
  }
}

void NvidiaTarget::store(IRBuilder<> &b, ArrayRef<StoreAccess> accesses) const {
  for (const StoreAccess &a : accesses) {
    Words w(b, a.values[0]->getType(), a.values.size());
    auto words = pack(b, w, a.values);
    HintText hint(b, a, false);
    if (!a.mask && hint.plain()) {
      Value *v = words[0];
      if (w.bits < 16) v = b.CreateTrunc(v, b.getInt8Ty());
      if (w.count > 1) {
        v = PoisonValue::get(FixedVectorType::get(w.type, w.count));
        for (auto [i, x] : enumerate(words)) v = b.CreateInsertElement(v, x, i);
      }
      b.CreateAlignedStore(v, a.pointer, Align(a.alignment));
      continue;
    }
    auto [base, offset] = splitConstant(b, a.pointer);
    InlinePtx ptx(b);
    ptx.operands(words);
    std::string at = addressText(ptx.operand(base), offset);
    std::string text =
        guardText(ptx, a.mask) + "st.global" + hint.modifiers + w.suffix() + " " + at + ", " + vectorText(0, w.count);
    if (hint.policy) text += ", " + ptx.operand(hint.policy);
    ptx.emit(text + ";");
  }
}

// ---- atomics -------------------------------------------------------------------------------------------------------

namespace {

StringRef semanticName(ir::MemSemantic s) {
  switch (s) {
  case ir::MemSemantic::Relaxed: return ".relaxed";
  case ir::MemSemantic::Acquire: return ".acquire";
  case ir::MemSemantic::Release: return ".release";
  case ir::MemSemantic::AcqRel: return ".acq_rel";
  }
  return "";
}
StringRef scopeName(ir::MemSyncScope s) {
  switch (s) {
  case ir::MemSyncScope::Gpu: return ".gpu";
  case ir::MemSyncScope::Cta: return ".cta";
  case ir::MemSyncScope::Sys: return ".sys";
  }
  return "";
}

/// ".add.f32" and the like where the hardware has the operation on the type, else empty.
std::string instruction(const ir::TargetInfo &info, ir::RmwOp op, Type *type, unsigned count) {
  unsigned bits = bitsOf(type);
  std::string width = std::to_string(bits);
  bool word = bits == 32 || bits == 64;
  auto vector = [](unsigned registers) { return registers > 1 ? ".v" + std::to_string(registers) : std::string(); };
  switch (op) {
  case ir::RmwOp::Fadd:
    if (type->isFloatTy()) return ".add" + vector(count) + ".f32";
    if (type->isDoubleTy()) return ".add.f64";
    if (type->isHalfTy() && info.atomicAddF16)
      return ".add.noftz" + vector(count / 2) + (count > 1 ? ".f16x2" : ".f16");
    if (type->isBFloatTy() && info.atomicAddBf16)
      return ".add.noftz" + vector(count / 2) + (count > 1 ? ".bf16x2" : ".bf16");
    return "";
  case ir::RmwOp::Add: return word && type->isIntegerTy() ? ".add.u" + width : "";
  case ir::RmwOp::And: return word ? ".and.b" + width : "";
  case ir::RmwOp::Or: return word ? ".or.b" + width : "";
  case ir::RmwOp::Xor: return word ? ".xor.b" + width : "";
  case ir::RmwOp::Exch: return word ? ".exch.b" + width : "";
  case ir::RmwOp::Max: return word && type->isIntegerTy() ? ".max.s" + width : "";
  case ir::RmwOp::Min: return word && type->isIntegerTy() ? ".min.s" + width : "";
  case ir::RmwOp::Umax: return word && type->isIntegerTy() ? ".max.u" + width : "";
  case ir::RmwOp::Umin: return word && type->isIntegerTy() ? ".min.u" + width : "";
  }
  return "";
}

/// Runs `make` where the mask holds; its value, or undefined elsewhere.
Value *branchAround(IRBuilder<> &b, Value *mask, Type *type, function_ref<Value *()> make) {
  if (!mask) return make();
  BasicBlock *from = b.GetInsertBlock();
  Function *f = from->getParent();
  auto *then = BasicBlock::Create(b.getContext(), "atomic", f, from->getNextNode());
  auto *after = BasicBlock::Create(b.getContext(), "after", f, then->getNextNode());
  b.CreateCondBr(mask, then, after);
  b.SetInsertPoint(then);
  Value *v = make();
  BasicBlock *end = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  auto *phi = b.CreatePHI(type, 2);
  phi->addIncoming(v, end);
  phi->addIncoming(PoisonValue::get(type), from);
  return phi;
}

} // namespace

SyncScope::ID NvidiaTarget::syncScope(LLVMContext &c, ir::MemSyncScope s) const {
  if (s == ir::MemSyncScope::Sys) return SyncScope::System;
  return c.getOrInsertSyncScopeID(s == ir::MemSyncScope::Gpu ? "device" : "block");
}

/// %globaltimer.
Value *NvidiaTarget::nanoseconds(IRBuilder<> &b) const {
  return b.CreateIntrinsic(b.getInt64Ty(), Intrinsic::readsteadycounter, ArrayRef<Value *>());
}

SmallVector<Value *, 4> NvidiaTarget::atomicRmw(IRBuilder<> &b, ir::RmwOp op, const MemoryAccess &a,
                                                ArrayRef<Value *> values, ir::MemSemantic sem, ir::MemSyncScope scope,
                                                bool resultUsed) const {
  Type *type = values[0]->getType();
  std::string name = instruction(info_, op, type, values.size());
  if (name.empty()) {
    SmallVector<Value *, 4> out;
    for (auto [i, v] : enumerate(values)) {
      Value *p = i ? b.CreateConstGEP1_32(type, a.pointer, i) : a.pointer;
      out.push_back(branchAround(b, a.mask, type, [&] {
        return b.CreateAtomicRMW(codegen::rmwOperation(op, type), p, v, Align(std::max(1u, bitsOf(type) / 8)),
                                 codegen::orderingOf(sem), syncScope(b.getContext(), scope));
      }));
    }
    return out;
  }
  // A pair of halves is one register, a float one each.
  bool pairs = bitsOf(type) == 16 && values.size() > 1;
  Words words(b, type, values.size());
  SmallVector<Value *, 4> operands;
  if (pairs)
    operands = pack(b, words, values);
  else
    for (Value *v : values) operands.push_back(asInt(b, v));
  // PTX puts .f32 operands of vector forms into .f32 registers.
  if (values.size() > 1 && !pairs) operands.assign(values.begin(), values.end());
  unsigned n = operands.size();
  auto [base, offset] = splitConstant(b, a.pointer);
  InlinePtx ptx(b);
  ptx.addResults(operands[0]->getType(), n);
  std::string at = addressText(ptx.operand(base), offset);
  unsigned first = n + 1; // after the results and the address
  ptx.operands(operands);
  std::string text = guardText(ptx, a.mask) + ("atom" + semanticName(sem) + scopeName(scope) + ".global").str() + name +
                     " " + vectorText(0, n) + ", " + at + ", " + vectorText(first, n) + ";";
  auto olds = ptx.resultsOf(ptx.emit(text));
  SmallVector<Value *, 4> out;
  if (pairs)
    unpack(b, words, olds, type, values.size(), out);
  else
    for (Value *v : olds) out.push_back(v->getType() == type ? v : fromInt(b, v, type));
  return out;
}

Value *NvidiaTarget::atomicCas(IRBuilder<> &b, const MemoryAccess &a, Value *cmp, Value *value, ir::MemSemantic sem,
                               ir::MemSyncScope scope) const {
  Type *type = value->getType();
  unsigned bits = bitsOf(type);
  if (bits < 16) {
    return branchAround(b, a.mask, type, [&] {
      AtomicOrdering success = codegen::orderingOf(sem);
      auto *pair = b.CreateAtomicCmpXchg(a.pointer, cmp, value, Align(bits / 8), success,
                                         AtomicCmpXchgInst::getStrongestFailureOrdering(success),
                                         syncScope(b.getContext(), scope));
      return b.CreateExtractValue(pair, 0);
    });
  }
  auto [base, offset] = splitConstant(b, a.pointer);
  InlinePtx ptx(b);
  ptx.addResults(b.getIntNTy(bits), 1);
  std::string at = addressText(ptx.operand(base), offset);
  std::string compared = ptx.operand(asInt(b, cmp)), written = ptx.operand(asInt(b, value));
  std::string text = guardText(ptx, a.mask) + ("atom" + semanticName(sem) + scopeName(scope) + ".global.cas.b").str() +
                     std::to_string(bits) + " $0, " + at + ", " + compared + ", " + written + ";";
  return fromInt(b, ptx.emit(text), type);
}

// ---- shared memory -------------------------------------------------------------------------------------------------

Value *NvidiaTarget::loadShared(IRBuilder<> &b, Value *ptr, Type *type, unsigned alignment, Value *mask) const {
  if (!mask) return b.CreateAlignedLoad(type, ptr, Align(alignment));
  // Where the mask is false any address of the block's memory does: the result is not used.
  Value *safe = b.CreateSelect(mask, ptr, sharedMemory(*b.GetInsertBlock()->getModule()));
  return b.CreateAlignedLoad(type, safe, Align(alignment));
}

void NvidiaTarget::storeShared(IRBuilder<> &b, Value *ptr, Value *value, unsigned alignment, Value *mask) const {
  if (!mask) {
    b.CreateAlignedStore(value, ptr, Align(alignment));
    return;
  }
  // Registers have 64 bits at most.
  if (unsigned bits = value->getType()->getScalarSizeInBits(); bits > 64)
    value =
        b.CreateBitCast(value, FixedVectorType::get(b.getInt64Ty(), value->getType()->getPrimitiveSizeInBits() / 64));
  SmallVector<Value *, 16> elements;
  if (auto *v = dyn_cast<FixedVectorType>(value->getType()))
    for (unsigned i = 0; i < v->getNumElements(); ++i) elements.push_back(b.CreateExtractElement(value, i));
  else
    elements.push_back(value);
  Words w(b, elements[0]->getType(), elements.size());
  InlinePtx ptx(b);
  ptx.operands(pack(b, w, elements));
  std::string at = addressText(ptx.operand(ptr), 0);
  ptx.emit(guardText(ptx, mask) + "st.shared" + w.suffix() + " " + at + ", " + vectorText(0, w.count) + ";");
}

// ---- asynchronous copies (PTX ISA, "cp.async") ---------------------------------------------------------------------

bool NvidiaTarget::copyToShared(IRBuilder<> &b, const MemoryAccess &a, Value *shared, unsigned bytes,
                                Value *acts) const {
  if (!(info_.asyncCopyBytes & bytes)) return false;
  auto [base, offset] = splitConstant(b, a.pointer);
  auto [to, toOffset] = splitConstant(b, shared);
  InlinePtx ptx(b);
  std::string target = addressText(ptx.operand(to), toOffset), source = addressText(ptx.operand(base), offset);
  // 16 bytes may bypass L1, which has nothing to gain from data that go to shared memory.
  std::string text = guardText(ptx, acts) + "cp.async." + (bytes == 16 ? "cg" : "ca") + ".shared.global " + target +
                     ", " + source + ", " + std::to_string(bytes);
  // The bytes beyond the source size are zeros.
  if (a.mask) text += ", " + ptx.operand(b.CreateSelect(a.mask, b.getInt32(bytes), b.getInt32(0)));
  CallInst &copy = *ptx.emit(text + ";");
  recordLoad(copy, info_.tuning.asyncCopyRegisters);
  return true;
}

void NvidiaTarget::commitCopies(IRBuilder<> &b) const {
  recordLoad(*InlinePtx(b).emit("cp.async.commit_group;"), info_.tuning.asyncCopyRegisters);
}

void NvidiaTarget::waitForCopies(IRBuilder<> &b, unsigned pending) const {
  InlinePtx(b).emit("cp.async.wait_group " + std::to_string(pending) + ";");
}

} // namespace tessera::nvidia
