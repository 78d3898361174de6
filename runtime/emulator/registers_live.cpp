// Liveness of the executed code (see registers_live.h), counted in registers of 32 bits. A point is between two
// instructions; what is live there is what was computed before and is read later, along blocks that were executed: a
// value that only a branch not taken reads costs nothing. A result that nobody reads is live right after its
// instruction.
//
// A value is as many words of 32 bits as its type fills: f64 and pointers to global memory 2, <4 x half> 2, i8
// one of its own, {f32 × 64} 64. i1 is a predicate, counted apart (NVIDIA has registers for them, AMD takes scalar
// registers). Words, not values, live and die: taking a structure or vector apart, putting one together, truncating
// and bitcasting makes no words, it names those that are there. So do constants, addresses of variables, a constant
// offset that the access takes up, and kernel arguments on NVIDIA (instructions read the constant bank).
//
// On AMD a uniform value is in a scalar register if the scalar unit can compute it: LLVM's uniformity analysis says
// which are uniform. Floating-point arithmetic on targets without hasScalarFloat, loads that are not known to be of
// constant memory, and what is computed from those is in vector registers all the same.
//
// The sets: a word is live out of the blocks from which a use is reached without meeting its definition, found by
// walking up from each use; source: B. Boissinot et al., "Computing Liveness Sets for SSA-Form Programs", 2011,
// section 5.
#include "runtime/emulator/registers_live.h"
#include "codegen/address_spaces.h"
#include "runtime/emulator/machine.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Target/TargetMachine.h"

namespace tessera::emulator {
using namespace llvm;

namespace {

using Word = uint32_t;
constexpr Word kNothing = ~0u; // of a constant
using Words = SmallVector<Word, 2>;
enum Bank : uint8_t { Vector, Scalar, Predicate };

class Liveness {
public:
  Liveness(ArrayRef<const llvm::BasicBlock *> blocks, const ir::TargetInfo &target, const DataLayout &dl,
           const TargetTransformInfo &tti, const UniformityInfo *uniformity)
      : blocks_(blocks), target_(target), dl_(dl), tti_(tti), uniformity_(uniformity) {
    for (auto [i, b] : enumerate(blocks)) number_[b] = unsigned(i);
  }

  RegistersLive run(const Function &f) {
    for (const llvm::Argument &a : f.args())
      if (target_.hasScalarRegisters) fresh(&a); // which are loaded into them before the kernel runs
    for (auto *b : blocks_)
      for (const PHINode &phi : b->phis()) fresh(&phi);
    for (auto *b : blocks_)
      for (const llvm::Instruction &i : *b)
        if (!isa<PHINode>(i)) name(i);
    findScalars();
    findLiveOut();
    RegistersLive out;
    out.scalarsApart = target_.hasScalarRegisters;
    for (unsigned k = 0; k < blocks_.size(); ++k) scan(k, out);
    return out;
  }

private:
  // ---- words ----

  static bool isBit(Type *t) { return t->getScalarType()->isIntegerTy(1); }
  unsigned wordsOf(Type *t) const {
    if (auto *s = dyn_cast<StructType>(t)) {
      unsigned n = 0;
      for (Type *e : s->elements()) n += wordsOf(e);
      return n;
    }
    if (auto *a = dyn_cast<ArrayType>(t)) return unsigned(a->getNumElements()) * wordsOf(a->getElementType());
    if (!t->isSized() || isa<ScalableVectorType>(t)) return 0;
    auto *v = dyn_cast<FixedVectorType>(t);
    if (isBit(t)) return v ? v->getNumElements() : 1;
    uint64_t bits = dl_.getTypeSizeInBits(t->getScalarType());
    if (!v) return unsigned(divideCeil(bits, 32));
    return unsigned(bits < 32 ? divideCeil(bits * v->getNumElements(), 32)
                              : divideCeil(bits, 32) * v->getNumElements());
  }
  void banksOf(Type *t, SmallVectorImpl<Bank> &out) const {
    if (auto *s = dyn_cast<StructType>(t)) {
      for (Type *e : s->elements()) banksOf(e, out);
    } else if (auto *a = dyn_cast<ArrayType>(t)) {
      for (unsigned k = 0; k < a->getNumElements(); ++k) banksOf(a->getElementType(), out);
    } else {
      out.append(wordsOf(t), isBit(t) ? Predicate : Vector);
    }
  }
  const Words &words(const Value *v) {
    auto it = words_.find(v);
    if (it != words_.end()) return it->second;
    return words_[v] = Words(wordsOf(v->getType()), kNothing); // a constant
  }
  /// New words, defined by this value.
  void fresh(const Value *v) {
    SmallVector<Bank, 4> banks;
    banksOf(v->getType(), banks);
    Words w;
    for (Bank b : banks) {
      w.push_back(Word(banks_.size()));
      banks_.push_back(b);
      owner_.push_back(v);
    }
    words_[v] = std::move(w);
  }

  /// The words of an instruction's result: those of others where it only names them, or fresh ones.
  void name(const llvm::Instruction &i) {
    if (i.getType()->isVoidTy() || i.getType()->isTokenTy()) return;
    Words w;
    if (namesOnly(i, w) && w.size() == wordsOf(i.getType())) {
      words_[&i] = std::move(w);
      return;
    }
    fresh(&i);
    if (auto *s = dyn_cast<SExtInst>(&i); s && s->getType()->isIntegerTy(64) && s->getSrcTy()->isIntegerTy(32))
      words_[&i][0] = Words(words(s->getOperand(0)))[0];
  }

  /// extractvalue, insertvalue.
  void namesMember(const llvm::Instruction &i, Words &out) {
    if (auto *e = dyn_cast<ExtractValueInst>(&i)) {
      unsigned at = offset(e->getAggregateOperand()->getType(), e->getIndices());
      Words w = words(e->getAggregateOperand());
      out.assign(w.begin() + at, w.begin() + at + wordsOf(i.getType()));
      return;
    }
    auto &insert = cast<InsertValueInst>(i);
    Words part = words(insert.getInsertedValueOperand());
    out = words(insert.getAggregateOperand());
    std::copy(part.begin(), part.end(), out.begin() + offset(insert.getType(), insert.getIndices()));
  }

  /// extractelement, insertelement: if the element is whole words at a constant index.
  bool namesElement(const llvm::Instruction &i, Words &out) {
    bool extract = i.getOpcode() == llvm::Instruction::ExtractElement;
    auto *v = dyn_cast<FixedVectorType>(i.getOperand(0)->getType());
    auto *index = dyn_cast<ConstantInt>(i.getOperand(extract ? 1 : 2));
    if (!v || !index || index->getZExtValue() >= v->getNumElements()) return false;
    Words w = words(i.getOperand(0));
    unsigned perElement = w.size() / v->getNumElements();
    unsigned at = unsigned(index->getZExtValue()) * perElement;
    bool wholeWords = perElement && perElement * v->getNumElements() == w.size();
    if (!wholeWords) return false;
    if (extract) {
      out.assign(w.begin() + at, w.begin() + at + perElement);
    } else {
      Words part = words(i.getOperand(1));
      std::copy(part.begin(), part.end(), w.begin() + at);
      out = w;
    }
    return true;
  }

  bool namesShuffle(const ShuffleVectorInst &s, Words &out) {
    auto *v = dyn_cast<FixedVectorType>(s.getOperand(0)->getType());
    if (!v) return false;
    Words w = words(s.getOperand(0));
    Words second = words(s.getOperand(1));
    unsigned n = v->getNumElements();
    unsigned perElement = w.size() / n;
    bool wholeWords = perElement && perElement * n == w.size();
    if (!wholeWords) return false;
    w.append(second.begin(), second.end());
    for (int k : s.getShuffleMask())
      for (unsigned j = 0; j < perElement; ++j) out.push_back(k < 0 ? kNothing : w[unsigned(k) * perElement + j]);
    return true;
  }

  /// Whether the instruction computes nothing: its result is words of its operands.
  bool namesOnly(const llvm::Instruction &i, Words &out) {
    auto same = [&](const Value *v) {
      out = words(v);
      return isBit(v->getType()) == isBit(i.getType());
    };
    switch (i.getOpcode()) {
    case llvm::Instruction::Freeze:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::PtrToAddr:
    case llvm::Instruction::IntToPtr: return same(i.getOperand(0));
    case llvm::Instruction::AddrSpaceCast:
      if (isa<Constant>(i.getOperand(0)) || constants_.contains(i.getOperand(0))) break;
      return dl_.getTypeSizeInBits(i.getType()) == dl_.getTypeSizeInBits(i.getOperand(0)->getType()) &&
             same(i.getOperand(0));
    case llvm::Instruction::Trunc: {
      if (i.getType()->isVectorTy() || isBit(i.getType())) return false;
      Words w = words(i.getOperand(0));
      out.assign(w.begin(), w.begin() + std::min<size_t>(w.size(), wordsOf(i.getType())));
      return true;
    }
    case llvm::Instruction::ZExt:
      if (!i.getType()->isIntegerTy(64) || !i.getOperand(0)->getType()->isIntegerTy(32)) return false;
      out = {words(i.getOperand(0))[0], kNothing};
      return true;
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue: namesMember(i, out); return true;
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement: return namesElement(i, out);
    case llvm::Instruction::ShuffleVector: return namesShuffle(cast<ShuffleVectorInst>(i), out);
    case llvm::Instruction::GetElementPtr:
      if (offsetIsTakenUp(cast<GetElementPtrInst>(i))) return same(i.getOperand(0));
      break;
    case llvm::Instruction::Add:
    case llvm::Instruction::Or:
      if (isTakenUpByBuffers(i)) return same(i.getOperand(0));
      break;
    case llvm::Instruction::Alloca: out.assign(wordsOf(i.getType()), kNothing); return true; // a place of the frame
    case llvm::Instruction::Call:
      if (auto *c = dyn_cast<IntrinsicInst>(&i))
        if (c->getIntrinsicID() == Intrinsic::launder_invariant_group ||
            c->getIntrinsicID() == Intrinsic::strip_invariant_group)
          return same(c->getArgOperand(0));
      return false;
    default: break;
    }
    // Of constants alone: an address that the linker or the assembler knows.
    if (!isa<CastInst, GetElementPtrInst, BinaryOperator>(i) ||
        !all_of(i.operands(), [&](const Use &o) { return isa<Constant>(o) || constants_.contains(o); }))
      return false;
    constants_.insert(&i);
    out.assign(wordsOf(i.getType()), kNothing);
    return true;
  }
  unsigned offset(Type *t, ArrayRef<unsigned> indices) const {
    unsigned at = 0;
    for (unsigned k : indices) {
      if (auto *s = dyn_cast<StructType>(t)) {
        for (unsigned j = 0; j < k; ++j) at += wordsOf(s->getElementType(j));
        t = s->getElementType(k);
      } else {
        t = cast<ArrayType>(t)->getElementType();
        at += k * wordsOf(t);
      }
    }
    return at;
  }
  bool offsetIsTakenUp(const GetElementPtrInst &g) const {
    APInt offset(dl_.getIndexTypeSizeInBits(g.getType()), 0);
    if (!g.getType()->isPointerTy() || !g.accumulateConstantOffset(dl_, offset)) return false;
    if (offset.isZero()) return true;
    return all_of(g.users(), [&](const User *u) {
      auto *i = cast<llvm::Instruction>(u);
      Type *accessed = nullptr;
      if (auto *l = dyn_cast<LoadInst>(i))
        accessed = l->getType();
      else if (auto *s = dyn_cast<StoreInst>(i); s && s->getValueOperand() != &g)
        accessed = s->getValueOperand()->getType();
      return accessed &&
             tti_.isLegalAddressingMode(accessed, nullptr, offset.getSExtValue(), true, 0, g.getPointerAddressSpace());
    });
  }
  /// A constant that is added to the offset of buffer accesses: they take 12 bits.
  bool isTakenUpByBuffers(const llvm::Instruction &i) const {
    auto *c = dyn_cast<ConstantInt>(i.getOperand(1));
    if (!target_.hasBufferOps || !c || i.use_empty()) return false;
    constexpr uint64_t kOffsets = 4096;
    bool fits = i.getType()->isIntegerTy(32) && c->getZExtValue() < kOffsets;
    if (!fits) return false;
    if (auto *o = dyn_cast<PossiblyDisjointInst>(&i); o && !o->isDisjoint()) return false;
    return all_of(i.uses(), [](const Use &u) {
      auto *call = dyn_cast<IntrinsicInst>(u.getUser());
      if (!call || !Intrinsic::getBaseName(call->getIntrinsicID()).starts_with("llvm.amdgcn.raw.ptr.buffer."))
        return false;
      return u.getOperandNo() + 3 == call->arg_size(); // offset, scalar offset, cache policy come last
    });
  }

  // ---- what is in scalar registers ----

  bool scalarUnitCan(const llvm::Instruction &i) const {
    auto isFloat = [](const Value *v) { return v->getType()->isFPOrFPVectorTy(); };
    if (auto *l = dyn_cast<LoadInst>(&i))
      return dl_.getTypeSizeInBits(l->getType()) >= 32 &&
             (l->getPointerAddressSpace() == codegen::kConstantSpace ||
              l->hasMetadata(LLVMContext::MD_invariant_load) || l->hasMetadata("amdgpu.noclobber"));
    if (auto *c = dyn_cast<CallInst>(&i))
      return !isFloat(c) && !c->mayReadOrWriteMemory() && none_of(c->args(), isFloat);
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(i)) return false;
    bool moves =
        isa<PHINode, SelectInst, ExtractValueInst, InsertValueInst, ExtractElementInst, InsertElementInst, BitCastInst>(
            i);
    return moves || target_.hasScalarFloat || (!isFloat(&i) && none_of(i.operands(), isFloat));
  }
  void findScalars() {
    if (!target_.hasScalarRegisters) return;
    // All that might be, less what is computed from what is not.
    SmallPtrSet<const Value *, 32> scalar;
    for (const Value *v : owner_) {
      auto *i = dyn_cast<llvm::Instruction>(v);
      if (!uniformity_->isDivergent(v) && (!i || scalarUnitCan(*i))) scalar.insert(v);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Value *v : owner_) {
        auto *i = dyn_cast<llvm::Instruction>(v);
        if (!i || !scalar.contains(v) || isa<CallInst, LoadInst>(i)) continue;
        bool fromVector = any_of(i->operands(), [&](const Use &o) {
          return any_of(words(o),
                        [&](Word w) { return w != kNothing && banks_[w] != Predicate && !scalar.contains(owner_[w]); });
        });
        if (fromVector) scalar.erase(v), changed = true;
      }
    }
    for (Word w = 0; w < banks_.size(); ++w)
      if (banks_[w] == Vector && scalar.contains(owner_[w])) banks_[w] = Scalar;
  }

  // ---- where they live ----

  /// The words that an instruction reads: none where it only names others, which are read where the name is used.
  void reads(const llvm::Instruction &i, SmallVectorImpl<Word> &out) {
    if (isa<PHINode>(i) || i.isLifetimeStartOrEnd()) return;
    if (auto *c = dyn_cast<IntrinsicInst>(&i); c && c->isAssumeLikeIntrinsic()) return;
    if (!i.getType()->isVoidTy() && !definesAny(i) && !i.mayHaveSideEffects() && !i.isTerminator()) return;
    for (const Use &o : i.operands())
      if (isa<llvm::Instruction, llvm::Argument>(o))
        for (Word w : words(o))
          if (w != kNothing) out.push_back(w);
  }
  bool definesAny(const llvm::Instruction &i) {
    return any_of(words(&i), [&](Word w) { return w != kNothing && owner_[w] == &i; });
  }

  void findLiveOut() {
    liveOut_.resize(blocks_.size());
    std::vector<SmallVector<unsigned, 2>> usedIn(banks_.size()), usedAtEndOf(banks_.size()); // blocks
    auto note = [](SmallVectorImpl<unsigned> &list, unsigned block) {
      if (list.empty() || list.back() != block) list.push_back(block);
    };
    SmallVector<Word, 16> read;
    for (unsigned k = 0; k < blocks_.size(); ++k) {
      for (const llvm::Instruction &i : *blocks_[k]) {
        read.clear();
        reads(i, read);
        for (Word w : read) note(usedIn[w], k);
      }
      for (const PHINode &phi : blocks_[k]->phis())
        for (unsigned n = 0; n < phi.getNumIncomingValues(); ++n) {
          auto from = number_.find(phi.getIncomingBlock(n));
          if (from == number_.end() || !isa<llvm::Instruction, llvm::Argument>(phi.getIncomingValue(n))) continue;
          for (Word w : words(phi.getIncomingValue(n)))
            if (w != kNothing) note(usedAtEndOf[w], from->second);
        }
    }
    std::vector<Word> liveIn(blocks_.size(), kNothing), out(blocks_.size(), kNothing); // the last word seen there
    SmallVector<unsigned, 16> up;
    for (Word w = 0; w < banks_.size(); ++w) {
      auto *d = dyn_cast<llvm::Instruction>(owner_[w]);
      unsigned home = d ? number_.lookup(d->getParent()) : 0;
      auto enter = [&](unsigned block) { // live before its first instruction
        if (block == home || liveIn[block] == w) return;
        liveIn[block] = w;
        up.push_back(block);
      };
      auto leave = [&](unsigned block) {
        if (out[block] == w) return;
        out[block] = w;
        liveOut_[block].push_back(w);
        enter(block);
      };
      for (unsigned b : usedIn[w]) enter(b);
      for (unsigned b : usedAtEndOf[w]) leave(b);
      while (!up.empty())
        for (const llvm::BasicBlock *p : predecessors(blocks_[up.pop_back_val()]))
          if (auto it = number_.find(p); it != number_.end()) leave(it->second);
    }
  }

  void scan(unsigned block, RegistersLive &out) {
    const llvm::BasicBlock &b = *blocks_[block];
    std::vector<bool> &live = live_;
    live.assign(banks_.size(), false);
    unsigned count[3] = {0, 0, 0};
    auto add = [&](Word w) {
      if (w == kNothing || live[w]) return;
      live[w] = true;
      ++count[banks_[w]];
    };
    auto remove = [&](Word w) {
      live[w] = false;
      --count[banks_[w]];
    };
    bool seen[3] = {false, false, false}; // the peak is in this block: the first point of those that have it counts
    auto point = [&](const llvm::Instruction &i) {
      LivePeak *peaks[] = {&out.vector, &out.scalar, &out.predicates};
      for (unsigned k = 0; k < 3; ++k)
        if (count[k] > peaks[k]->count || (seen[k] && count[k] == peaks[k]->count)) {
          seen[k] = true;
          peaks[k]->count = count[k];
          auto *c = dyn_cast<CallInst>(&i);
          peaks[k]->operation = c && c->getCalledFunction() ? c->getCalledFunction()->getName().str()
                                : c                         ? "inline assembly"
                                                            : i.getOpcodeName();
          peaks[k]->where = describe(&i);
        }
    };
    for (Word w : liveOut_[block]) add(w);
    SmallVector<Word, 16> list;
    for (const llvm::Instruction &i : reverse(b)) {
      if (isa<PHINode>(i)) break;
      list.clear();
      if (!i.getType()->isVoidTy())
        for (Word w : words(&i))
          if (w != kNothing && owner_[w] == &i) list.push_back(w);
      for (Word w : list) add(w);
      if (!i.isTerminator()) point(i);
      for (Word w : list) remove(w);
      list.clear();
      reads(i, list);
      for (Word w : list) add(w);
    }
    // Before the first instruction the phis have their values.
    for (const PHINode &phi : b.phis())
      for (Word w : words(&phi)) add(w);
    point(*b.getFirstNonPHIIt());
  }

  ArrayRef<const llvm::BasicBlock *> blocks_;
  const ir::TargetInfo &target_;
  const DataLayout &dl_;
  const TargetTransformInfo &tti_;
  const UniformityInfo *uniformity_;
  DenseMap<const llvm::BasicBlock *, unsigned> number_;
  DenseMap<const Value *, Words> words_;
  SmallPtrSet<const Value *, 16> constants_; // instructions that compute from constants alone
  std::vector<Bank> banks_;                  // of words
  std::vector<const Value *> owner_;         // what defines them
  std::vector<std::vector<Word>> liveOut_;
  std::vector<bool> live_;
};

} // namespace

RegistersLive registersLive(Function &f, ArrayRef<const llvm::BasicBlock *> executed, const ir::TargetInfo &target,
                            TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  return Liveness(executed, target, f.getDataLayout(), functions.getResult<TargetIRAnalysis>(f),
                  target.hasScalarRegisters ? &functions.getResult<UniformityInfoAnalysis>(f) : nullptr)
      .run(f);
}

} // namespace tessera::emulator
