// Rounds f32 to bf16 on targets without an instruction for it, and does arithmetic on bf16 in f32.
//
//   fptrunc float %x to bfloat   →   the upper half of  %x is ordered ? bits(%x) + 0x7fff + bit 16 of it : 0x7fff0000
//
// LLVM's own expansion keeps the payload of a NaN, which takes one more instruction for each element than to give the
// one NaN that conversion instructions give. NaNs of arithmetic on bf16 have bits in the upper half alone, which the
// sum leaves as they are: no choice is needed. Integers are converted to f32 first, which is exact for those that fit
// in its significand; of 8 bits (weights that are widened) the upper half is the bf16, without rounding.
#include "codegen_amd/passes/round_to_bfloat.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

namespace tessera::amd {
using namespace llvm;

static bool isFromInteger(const Value &v) { return isa<SIToFPInst, UIToFPInst>(v); }

/// Whether the value is an integer of so few bits, signed or unsigned, converted to floating point.
static bool isIntegerOfBits(const Value &v, unsigned bits, const DataLayout &layout) {
  auto *conversion = dyn_cast<CastInst>(&v);
  if (!conversion || !isFromInteger(v)) return false;
  const Value *integer = conversion->getOperand(0);
  if (isa<UIToFPInst>(v)) return computeKnownBits(integer, layout).countMaxActiveBits() <= bits;
  // -2^bits is one bit times a power of two.
  return ComputeMaxSignificantBits(integer, layout) <= bits + 1;
}

/// Whether a NaN here has no bits in its lower half: rounding then does not carry into the sign. NaNs of arithmetic are
/// those of operands, made quiet, or the default one, 0x7fc00000 ("NaN" in the instruction set architecture guides).
static bool hasNanOfBfloat(const Value &v, unsigned depth = 0) {
  constexpr unsigned kDepth = 4;
  auto operands = [&](unsigned first, unsigned n) {
    if (depth == kDepth) return false;
    return all_of(seq(first, first + n),
                  [&](unsigned i) { return hasNanOfBfloat(*cast<User>(v).getOperand(i), depth + 1); });
  };
  if (isFromInteger(v)) return true;
  if (auto *c = dyn_cast<ConstantFP>(&v)) return !c->isNaN();
  auto *i = dyn_cast<Instruction>(&v);
  if (!i) return false;
  switch (i->getOpcode()) {
  case Instruction::FPExt: return i->getOperand(0)->getType()->getScalarType()->isBFloatTy();
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul: return operands(0, 2);
  case Instruction::FNeg: return operands(0, 1);
  case Instruction::Select: return operands(1, 2);
  default: return false;
  }
}

static Value *round(IRBuilder<> &b, Value *x, bool isOfBfloats) {
  constexpr unsigned kSignificand = 8; // of bf16, with the bit that is not stored
  Value *bits = b.CreateBitCast(x, b.getInt32Ty());
  auto upperHalf = [&](Value *word) {
    return b.CreateBitCast(b.CreateTrunc(b.CreateLShr(word, 16), b.getInt16Ty()), b.getBFloatTy());
  };
  if (isIntegerOfBits(*x, kSignificand, b.GetInsertBlock()->getDataLayout())) return upperHalf(bits);
  Value *odd = b.CreateAnd(b.CreateLShr(bits, 16), 1);
  Value *r = b.CreateAdd(b.CreateAdd(bits, odd), b.getInt32(0x7fff));
  if (!isOfBfloats && !isKnownNeverNaN(x, SimplifyQuery(b.GetInsertBlock()->getModule()->getDataLayout())))
    r = b.CreateSelect(b.CreateFCmpORD(x, x), r, b.getInt32(0x7fff0000));
  return upperHalf(r);
}

PreservedAnalyses RoundToBfloatPass::run(Function &f, FunctionAnalysisManager &) {
  SmallVector<Instruction *, 32> work;
  for (Instruction &i : instructions(f)) {
    if (!i.getType()->getScalarType()->isBFloatTy()) continue;
    bool arithmetic = is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul}, i.getOpcode());
    constexpr unsigned kSignificand = 24; // of f32
    bool isExactInteger = isFromInteger(i) && isIntegerOfBits(i, kSignificand, i.getDataLayout());
    if (isExactInteger || arithmetic ||
        (isa<FPTruncInst>(i) && i.getOperand(0)->getType()->getScalarType()->isFloatTy()))
      work.push_back(&i);
  }
  for (Instruction *i : work) {
    IRBuilder<> b(i);
    Value *x = i->getOperand(0);
    Type *wide = i->getType()->getWithNewType(b.getFloatTy());
    if (auto *op = dyn_cast<BinaryOperator>(i)) {
      x = b.CreateBinOp(op->getOpcode(), b.CreateFPExt(x, wide), b.CreateFPExt(op->getOperand(1), wide));
      if (auto *made = dyn_cast<Instruction>(x)) made->copyFastMathFlags(i);
    }
    if (isFromInteger(*i)) x = b.CreateCast(cast<CastInst>(i)->getOpcode(), x, wide);
    Value *rounded;
    bool isOfBfloats = hasNanOfBfloat(*x);
    if (auto *vector = dyn_cast<FixedVectorType>(i->getType())) {
      rounded = PoisonValue::get(vector);
      for (unsigned k = 0; k < vector->getNumElements(); ++k)
        rounded = b.CreateInsertElement(rounded, round(b, b.CreateExtractElement(x, k), isOfBfloats), k);
    } else {
      rounded = round(b, x, isOfBfloats);
    }
    i->replaceAllUsesWith(rounded);
    i->eraseFromParent();
  }
  return work.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}

} // namespace tessera::amd
