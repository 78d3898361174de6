// 16-bit floats that are added, subtracted or multiplied in f32 and rounded back: computed in pairs of 16 bits.
//
//   %x0 = fpext bfloat %a0 to float
//   %y0 = fpext bfloat %b0 to float                          %r = fma.rn.bf16x2(<%a0, %a1>, 1.0, <%b0, %b1>)
//   %s0 = fadd float %x0, %y0                           →
//   … %x1, %y1, %s1 from %a1, %b1
//   %r  = ff2bf16x2.rn(%s1, %s0)
//
// Frameworks add and multiply bf16 in f32 and round each result. The pair takes four conversions, two operations and a
// rounding where one instruction does; the operands are most often halves of one register already.
//
// The result is the same, bit by bit: f32 has 24 bits, at least 2p + 2 of bf16 (p = 8) and of f16 (p = 11), with which
// rounding twice is rounding once for these three operations (Figueroa, "When is double rounding innocuous?", 1995).
// Where the result is denormal: sums are exact then; x * y of f16 is exact in f32, and of bf16 from half the least bf16
// upward (16 bits from 2^-134 down to 2^-149); what is less becomes zero either way. f32 instructions keep
// denormals here, and both instructions give the NaN 0x7fff.
//
// fma(x, 1, y), fma(y, -1, x) and fma(x, y, -0) are these operations, and ptxas contracts none of them with another:
// from mul.bf16x2 and add.bf16x2 it makes one fma, although x * y was to be rounded. LLVM's own fold for single
// conversions knows nothing of pairs. Every GPU that converts in pairs has fma of pairs (sm_80).
//
// Operands that lie in different registers must be put together first. Pairs of which both operands do, and whose
// extensions are all needed elsewhere, stay.
#include "codegen_nvidia/passes/narrow_arithmetic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"
#include <array>

namespace tessera::nvidia {
using namespace llvm;
using namespace PatternMatch;

namespace {

/// `v`, a float, as a value of the 16-bit type `narrow`; null if it is not the extension of one.
Value *narrowed(Value *v, Type *narrow) {
  Value *x;
  if (match(v, m_FPExt(m_Value(x)))) return x->getType() == narrow ? x : nullptr;
  auto *c = dyn_cast<ConstantFP>(v);
  if (!c) return nullptr;
  APFloat value = c->getValueAPF();
  bool losesInfo = false;
  value.convert(narrow->getFltSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return losesInfo || value.isNaN() ? nullptr : ConstantFP::get(narrow, value);
}

/// An operand of both halves.
struct Pair {
  Value *low = nullptr;
  Value *high = nullptr;

  /// The register that holds both; null if there is none.
  Value *whole() const {
    Value *v;
    if (match(low, m_ExtractElt(m_Value(v), m_Zero())) && match(high, m_ExtractElt(m_Specific(v), m_One())) &&
        cast<VectorType>(v->getType())->getElementCount() == ElementCount::getFixed(2))
      return v;
    auto *a = dyn_cast<Constant>(low), *b = dyn_cast<Constant>(high);
    return a && b ? ConstantVector::get({a, b}) : nullptr;
  }
  Value *emit(IRBuilder<> &b) const {
    if (Value *v = whole()) return v;
    Value *v = PoisonValue::get(FixedVectorType::get(low->getType(), 2));
    return b.CreateInsertElement(b.CreateInsertElement(v, low, uint64_t(0)), high, uint64_t(1));
  }
};

/// Replaces `round`, which rounds two floats to a pair, by the operation on pairs.
bool narrow(IntrinsicInst *round) {
  auto *high = dyn_cast<BinaryOperator>(round->getArgOperand(0)); // the first operand goes to the upper half
  auto *low = dyn_cast<BinaryOperator>(round->getArgOperand(1));
  if (!low || !high || low == high || low->getOpcode() != high->getOpcode()) return false;
  if (!low->hasOneUse() || !high->hasOneUse()) return false;
  auto opcode = low->getOpcode();
  if (opcode != Instruction::FAdd && opcode != Instruction::FSub && opcode != Instruction::FMul) return false;

  auto *type = cast<FixedVectorType>(round->getType());
  Type *half = type->getElementType();
  std::array<Pair, 2> in;
  unsigned apart = 0; // operands to put together
  bool savesExtension = false;
  for (unsigned k = 0; k < 2; ++k) {
    in[k] = {narrowed(low->getOperand(k), half), narrowed(high->getOperand(k), half)};
    if (!in[k].low || !in[k].high) return false;
    apart += !in[k].whole();
    for (BinaryOperator *op : {low, high})
      savesExtension |= isa<FPExtInst>(op->getOperand(k)) && op->getOperand(k)->hasOneUse();
  }
  if (apart == 2 && !savesExtension) return false;

  IRBuilder<> b(round);
  Value *x = in[0].emit(b);
  Value *y = in[1].emit(b);
  auto constant = [&](double c) { return ConstantFP::get(type, c); };
  auto id = half->isHalfTy() ? Intrinsic::nvvm_fma_rn_f16x2 : Intrinsic::nvvm_fma_rn_bf16x2;
  Value *r = opcode == Instruction::FMul   ? b.CreateIntrinsic(id, {}, {x, y, constant(-0.0)})
             : opcode == Instruction::FAdd ? b.CreateIntrinsic(id, {}, {x, constant(1), y})
                                           : b.CreateIntrinsic(id, {}, {y, constant(-1), x});
  r->takeName(round);
  round->replaceAllUsesWith(r);
  RecursivelyDeleteTriviallyDeadInstructions(round);
  return true;
}

} // namespace

PreservedAnalyses NarrowArithmeticPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f)
    for (Instruction &i : make_early_inc_range(block)) {
      auto *call = dyn_cast<IntrinsicInst>(&i);
      if (!call) continue;
      auto id = call->getIntrinsicID();
      if (id == Intrinsic::nvvm_ff2f16x2_rn || id == Intrinsic::nvvm_ff2bf16x2_rn) changed |= narrow(call);
    }
  if (!changed) return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}

} // namespace tessera::nvidia
