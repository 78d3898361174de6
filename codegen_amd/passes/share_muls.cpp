// Multiplies numbers at known distances once.
//
//   %i1 = or disjoint i32 %i, 1                           %i1 = or disjoint i32 %i, 1
//   %m  = mul i32 %i, -766435501                    →     %m  = mul i32 %i, -766435501
//   %m1 = mul i32 %i1, -766435501                         %m1 = add i32 %m, -766435501
//
// A thread's elements have consecutive numbers, and a generator of random numbers multiplies each by a constant of 32
// bits, which takes as long as four additions.
//
// Limits: muls in one block. Constants of up to 24 bits, as those of addresses, stay: LLVM multiplies and adds by one
// fast instruction where the number is as narrow.
#include "codegen_amd/passes/share_muls.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

namespace tessera::amd {
using namespace llvm;
namespace {

constexpr unsigned kFastBits = 24; // operands of v_mad_u32_u24

struct Mul {
  BinaryOperator *op;
  uint32_t distance; // of what it multiplies from the number that the others multiply, too
};

bool shareIn(BasicBlock &block) {
  using namespace PatternMatch;
  DenseMap<std::pair<Value *, uint32_t>, Mul> firsts; // by number and constant
  bool changed = false;
  for (Instruction &i : make_early_inc_range(block)) {
    Value *multiplied = nullptr;
    const APInt *by = nullptr, *distance = nullptr;
    if (!i.getType()->isIntegerTy(32) || !match(&i, m_Mul(m_Value(multiplied), m_APInt(by)))) continue;
    bool isFast = by->getActiveBits() <= kFastBits || (-*by).getActiveBits() <= kFastBits;
    if (isFast) continue;
    Mul m{cast<BinaryOperator>(&i), 0};
    Value *number = multiplied;
    if (match(multiplied, m_AddLike(m_Value(number), m_APInt(distance))))
      m.distance = distance->getZExtValue();
    else
      number = multiplied;
    uint32_t constant = by->getZExtValue();
    auto [first, isNew] = firsts.try_emplace({number, constant}, m);
    if (isNew) continue;
    uint32_t more = (m.distance - first->second.distance) * constant;
    IRBuilder<> b(&i);
    i.replaceAllUsesWith(b.CreateAdd(first->second.op, b.getInt32(more)));
    i.eraseFromParent();
    // What flags say of its own number need not hold for the others. That an `or` is disjoint does: it is of bits.
    first->second.op->dropPoisonGeneratingFlags();
    auto *sum = dyn_cast<BinaryOperator>(first->second.op->getOperand(0));
    if (sum && sum->getOpcode() == Instruction::Add) sum->dropPoisonGeneratingFlags();
    changed = true;
  }
  return changed;
}

} // namespace

PreservedAnalyses ShareMulsPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f) changed |= shareIn(block);
  return codegen::preservedIn(changed);
}

} // namespace tessera::amd
