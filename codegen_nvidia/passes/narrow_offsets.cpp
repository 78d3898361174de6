// Registers of many addresses in a loop. Tiles whose rows do not begin at multiples of 16 bytes are loaded element by
// element, by 64 addresses in a thread and more.
//
// Addresses that differ by a constant become one, and offsets of the accesses. Where many are left all the same, what
// they do not share stays 32 bits wide:
//
//   loop:                                               loop:
//     %o0 = add i32 %k, %row0                             %p = getelementptr half, ptr %a, i64 (sext %k)
//     %p0 = getelementptr half, ptr %a, i64 (sext %o0)    %p0 = asm "add.s64" (sext %bytes0, %p)
//     %o1 = add i32 %k, %row1                      →      %p1 = asm "add.s64" (sext %bytes1, %p)
//     %p1 = getelementptr half, ptr %a, i64 (sext %o1)    …
//     …
//
// LLVM's strength reduction would keep %a + %row0, %a + %row1, … as they are before the loop and add %k to each: two
// registers for each address, which spill from 100 addresses on. (The sum is written as assembly to hide it from
// that.)
//
// Done where the wide sum is that of the wide parts, that is where the narrow one cannot overflow.
//
// Pointers that the loop carries are a sum in the other order, in which nothing overflows: it carries their base.
//
//   loop:                                               loop:
//     %p0 = phi ptr [%a + sext %o0], [%next0]             %p = phi ptr [%a], [%next]
//     %p1 = phi ptr [%a + sext %o1], [%next1]      →      %p0 = asm "mad.wide.s32" (%o0, 2, %p)
//     …                                                   %p1 = asm "mad.wide.s32" (%o1, 2, %p)
//     %next0 = getelementptr half, ptr %p0, i64 %step     …
//     …                                                   %next = getelementptr half, ptr %p, i64 %step
#include "codegen_nvidia/passes/narrow_offsets.h"
#include "codegen/address_spaces.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/PatternMatch.h"
#include <map>

namespace tessera::nvidia {
using namespace llvm;
using namespace PatternMatch;

namespace {

/// An address: base + size · (sext(moving) + sext(fixed) + sext(alsoFixed) + constant).
struct Address {
  GetElementPtrInst *pointer;
  Value *moving, *fixed, *alsoFixed = nullptr;
  int64_t constant = 0;
  uint64_t size;

  Value *base() const { return pointer->getPointerOperand(); }
};

/// A sum of something that changes in the loop and something that does not.
bool matchSum(Value *sum, const Loop &loop, Value *&moving, Value *&fixed) {
  if (!match(sum, m_AddLike(m_Value(moving), m_Value(fixed)))) return false;
  if (loop.isLoopInvariant(moving)) std::swap(moving, fixed);
  return !loop.isLoopInvariant(moving) && loop.isLoopInvariant(fixed) && !isa<Constant>(fixed);
}

/// The parts of an address by its form; isWideSum says whether they may be added in 64 bits.
std::optional<Address> split(GetElementPtrInst &pointer, const Loop &loop, const DataLayout &layout) {
  Value *sum;
  if (pointer.getNumIndices() != 1 || pointer.getAddressSpace() != codegen::kGlobalSpace ||
      !pointer.getType()->isPointerTy() || !loop.isLoopInvariant(pointer.getPointerOperand()))
    return std::nullopt;
  Address a{&pointer, nullptr, nullptr, nullptr, 0, layout.getTypeAllocSize(pointer.getSourceElementType())};
  if (!match(pointer.getOperand(1), m_SExtLike(m_Value(sum))) || !sum->getType()->isIntegerTy(32) ||
      !matchSum(sum, loop, a.moving, a.fixed))
    return std::nullopt;
  return a;
}

/// Whether the narrow sum does not overflow, nor the fixed parts in bytes. Takes constants out of the fixed part.
bool isWideSum(Address &a, const Loop &loop, ScalarEvolution &evolution) {
  auto rangeOf = [&](Value *v) { return evolution.getSignedRange(evolution.getSCEV(v)); };
  auto adds = [&](const ConstantRange &x, const ConstantRange &y) {
    return x.signedAddMayOverflow(y) == ConstantRange::OverflowResult::NeverOverflows;
  };
  ConstantRange fixed = rangeOf(a.fixed);
  if (!adds(rangeOf(a.moving), fixed)) return false;
  // What of the moving part does not move either: often the lane. A fixed part without it would be uniform; of uniform
  // values ptxas has few registers, and computes them again.
  Value *moving, *lane;
  if (matchSum(a.moving, loop, moving, lane) && adds(rangeOf(moving), rangeOf(lane)) && adds(fixed, rangeOf(lane))) {
    a.moving = moving;
    a.alsoFixed = lane;
    fixed = fixed.add(rangeOf(lane));
  }
  Value *from;
  const APInt *added;
  if (match(a.fixed, m_AddLike(m_Value(from), m_APInt(added))) && !isa<Constant>(from) && adds(rangeOf(from), *added)) {
    a.fixed = from;
    a.constant = added->getSExtValue();
  }
  if (a.constant) fixed = a.alsoFixed ? rangeOf(a.fixed).add(rangeOf(a.alsoFixed)) : rangeOf(a.fixed);
  ConstantRange bytes = fixed.sextOrTrunc(64).multiply(ConstantRange(APInt(64, a.size)));
  return bytes.getSignedMin().isSignedIntN(32) && bytes.getSignedMax().isSignedIntN(32);
}

/// Where the instruction's result exists.
IRBuilder<> builderAfter(Instruction *def) {
  return IRBuilder<>(def->getParent(),
                     isa<PHINode>(def) ? def->getParent()->getFirstInsertionPt() : std::next(def->getIterator()));
}

/// A pointer that the loop carries, whose start is base + size · sext(offset).
struct CarriedPointer {
  PHINode *pointer;
  GetElementPtrInst *start, *next;
  Value *offset;
  uint64_t size;

  Value *base() const { return start->getPointerOperand(); }
  Value *step() const { return next->getOperand(1); }
};

std::optional<CarriedPointer> carriedPointer(PHINode &phi, const Loop &loop, const DataLayout &layout) {
  if (phi.getNumIncomingValues() != 2 || !phi.getType()->isPointerTy()) return std::nullopt;
  auto isPlain = [](GetElementPtrInst *p) {
    return p && p->getNumIndices() == 1 && p->getAddressSpace() == codegen::kGlobalSpace && p->getType()->isPointerTy();
  };
  auto *start = dyn_cast<GetElementPtrInst>(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
  auto *next = dyn_cast<GetElementPtrInst>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  Value *offset;
  if (!isPlain(start) || !match(start->getOperand(1), m_SExtLike(m_Value(offset))) ||
      !offset->getType()->isIntegerTy(32) || isa<Constant>(offset))
    return std::nullopt;
  bool advances = isPlain(next) && next->getPointerOperand() == &phi && next->hasOneUse() &&
                  loop.isLoopInvariant(next->getOperand(1));
  if (!advances) return std::nullopt;
  return CarriedPointer{&phi, start, next, offset, layout.getTypeAllocSize(start->getSourceElementType())};
}

/// The loop carries the base instead.
bool narrowCarried(Loop &loop, ScalarEvolution &evolution, const DataLayout &layout, const ir::Tuning &tuning) {
  BasicBlock *before = loop.getLoopPreheader(), *header = loop.getHeader(), *latch = loop.getLoopLatch();
  if (!before || !latch) return false;
  std::vector<CarriedPointer> pointers;
  for (PHINode &phi : header->phis())
    if (auto c = carriedPointer(phi, loop, layout)) pointers.push_back(*c);
  if (pointers.size() < tuning.narrowOffsetsMinDistinct) return false;

  std::map<std::tuple<Value *, Value *, Type *>, PHINode *> moved; // by base and step
  for (CarriedPointer &c : pointers) {
    Type *element = c.next->getSourceElementType();
    PHINode *&base = moved[{c.base(), c.step(), element}];
    if (!base) {
      IRBuilder<> b(header, header->begin());
      base = b.CreatePHI(c.pointer->getType(), 2);
      b.SetInsertPoint(latch->getTerminator());
      base->addIncoming(c.base(), before);
      base->addIncoming(b.CreateGEP(element, base, c.step()), latch);
    }
    IRBuilder<> b(header, header->getFirstInsertionPt());
    auto *type = FunctionType::get(c.pointer->getType(), {b.getInt32Ty(), c.pointer->getType()}, false);
    std::string text = "mad.wide.s32 $0, $1, " + std::to_string(c.size) + ", $2;";
    auto *sum = b.CreateCall(type, InlineAsm::get(type, text, "=l,r,l", false), {c.offset, base});
    sum->setDoesNotAccessMemory();
    sum->setDoesNotThrow();
    evolution.forgetValue(c.pointer);
    c.pointer->replaceAllUsesWith(sum);
    c.pointer->eraseFromParent();
    c.next->eraseFromParent();
  }
  return true;
}

bool narrow(Loop &loop, LoopInfo &loops, ScalarEvolution &evolution, const DataLayout &layout,
            const ir::Tuning &tuning) {
  BasicBlock *before = loop.getLoopPreheader();
  if (!before) return false;
  std::vector<Address> addresses;
  for (BasicBlock *block : loop.blocks()) {
    if (loops.getLoopFor(block) != &loop) continue;
    for (Instruction &i : *block)
      if (auto *pointer = dyn_cast<GetElementPtrInst>(&i))
        if (auto a = split(*pointer, loop, layout)) addresses.push_back(*a);
  }
  if (addresses.size() < tuning.narrowOffsetsMinAnalysed) return false;
  erase_if(addresses, [&](Address &a) { return !isWideSum(a, loop, evolution); });
  // One value for equal ones that are computed in several places.
  DenseMap<const SCEV *, Value *> same;
  DenseSet<std::pair<Value *, Value *>> distinct;
  for (Address &a : addresses) {
    a.fixed = same.try_emplace(evolution.getSCEV(a.fixed), a.fixed).first->second;
    distinct.insert({a.base(), a.fixed});
  }
  bool many = distinct.size() >= tuning.narrowOffsetsMinDistinct;
  if (!many && none_of(addresses, [](Address &a) { return a.constant; })) return false;

  std::map<std::tuple<Value *, Value *, Type *>, Value *> moved; // base and moving part
  std::map<std::tuple<Value *, Value *, uint64_t>, Value *> fixedBytes;
  std::map<std::tuple<Value *, Value *, Value *, BasicBlock *>, Value *> sums; // of a moved base and the fixed parts
  for (Address &a : addresses) {
    Value *&base = moved[{a.base(), a.moving, a.pointer->getSourceElementType()}];
    if (!base) {
      IRBuilder<> b = builderAfter(cast<Instruction>(a.moving));
      base = b.CreateGEP(a.pointer->getSourceElementType(), a.base(), b.CreateSExt(a.moving, b.getInt64Ty()));
    }
    Value *&bytes = fixedBytes[{a.fixed, a.alsoFixed, a.size}];
    if (!bytes) {
      IRBuilder<> b(before->getTerminator());
      bytes = b.CreateNSWMul(a.alsoFixed ? b.CreateNSWAdd(a.fixed, a.alsoFixed) : a.fixed, b.getInt32(a.size));
    }
    IRBuilder<> b(a.pointer);
    Value *&sum = sums[{base, a.fixed, a.alsoFixed, a.pointer->getParent()}];
    if (!sum && many) {
      auto *type = FunctionType::get(a.pointer->getType(), {b.getInt32Ty(), a.pointer->getType()}, false);
      auto *call = b.CreateCall(
          type,
          InlineAsm::get(type, "{.reg .b64 wide;\ncvt.s64.s32 wide, $1;\nadd.s64 $0, wide, $2;}", "=l,r,l", false),
          {bytes, base});
      call->setDoesNotAccessMemory();
      call->setDoesNotThrow();
      sum = call;
    } else if (!sum) {
      sum = b.CreatePtrAdd(base, b.CreateSExt(bytes, b.getInt64Ty()));
    }
    Value *address = a.constant ? b.CreatePtrAdd(sum, b.getInt64(a.constant * int64_t(a.size))) : sum;
    a.pointer->replaceAllUsesWith(address);
    evolution.forgetValue(a.pointer);
    a.pointer->eraseFromParent();
  }
  return true;
}

} // namespace

PreservedAnalyses NarrowOffsetsPass::run(Function &f, FunctionAnalysisManager &analyses) {
  auto &loops = analyses.getResult<LoopAnalysis>(f);
  if (loops.empty()) return PreservedAnalyses::all();
  auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(f);
  bool changed = false;
  for (Loop *loop : loops.getLoopsInPreorder()) {
    changed |= narrow(*loop, loops, evolution, f.getDataLayout(), tuning_);
    changed |= narrowCarried(*loop, evolution, f.getDataLayout(), tuning_);
  }
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
