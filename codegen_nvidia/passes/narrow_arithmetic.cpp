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
// denormals here, and both instructions give the NaN 0x7fff. All pairs of f16 and of bf16 (2^32 each), added,
// subtracted and multiplied both ways on an NVIDIA H200, gave the same bits (2026-11).
//
// fma(x, 1, y), fma(y, -1, x) and fma(x, y, -0) are these operations, and ptxas contracts none of them with another:
// from mul.bf16x2 and add.bf16x2 it makes one fma, although x * y was to be rounded. LLVM's own fold for single
// conversions knows nothing of pairs. Every GPU that converts in pairs has fma of pairs (sm_80).
//
// One condition that selects both halves of such values, as where torch.compile concatenates tensors, selects pairs; a
// NaN that is only selected keeps its payload.
//
// Operands that lie in different registers must be put together first. Pairs for which this takes as many instructions
// as before stay.
#include "codegen_nvidia/passes/narrow_arithmetic.h"
#include "codegen/object/run_passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

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

/// What two floats are before they are rounded to a pair, and what computing it in 16 bits takes.
class Narrowing {
public:
  explicit Narrowing(IntrinsicInst *round) : round_(round), type_(cast<FixedVectorType>(round->getType())), b_(round) {}

  bool run() {
    Pair p{round_->getArgOperand(1), round_->getArgOperand(0)}; // the first operand goes to the upper half
    if (!isRounded(p)) return false;
    if (operations_ + apart_ >= 2 * operations_ + 1 + extensions_) return false;
    Value *r = emitRounded(p);
    r->takeName(round_);
    round_->replaceAllUsesWith(r);
    RecursivelyDeleteTriviallyDeadInstructions(round_);
    return true;
  }

private:
  /// The 16-bit values whose extensions `p` is; nulls if it is none.
  Pair narrowedPair(const Pair &p) const {
    Type *half = type_->getElementType();
    return {narrowed(p.low, half), narrowed(p.high, half)};
  }

  static Pair operandsOf(const Pair &p, unsigned k) {
    return {cast<Instruction>(p.low)->getOperand(k), cast<Instruction>(p.high)->getOperand(k)};
  }

  /// Both halves are the same operation, and only needed here.
  static bool isOneOperation(const Pair &p) {
    auto *low = dyn_cast<Instruction>(p.low), *high = dyn_cast<Instruction>(p.high);
    return low && high && low->getOpcode() == high->getOpcode() && low->hasOneUse() && high->hasOneUse();
  }

  static bool isSelect(const Pair &p) {
    return isOneOperation(p) && isa<SelectInst>(p.low) &&
           cast<SelectInst>(p.low)->getCondition() == cast<SelectInst>(p.high)->getCondition();
  }

  /// `p` has the values of 16-bit ones. Counts the registers to put together, and the conversions that are saved.
  bool isNarrow(const Pair &p) {
    Pair in = narrowedPair(p);
    if (!in.low || !in.high) return false;
    apart_ += !in.whole();
    for (Value *v : {p.low, p.high}) extensions_ += isa<FPExtInst>(v) && v->hasOneUse();
    return true;
  }

  /// `p` can be computed in 16 bits so that it is what it was when rounded.
  bool isRounded(const Pair &p) {
    if (isSelect(p)) {
      ++operations_;
      return isRounded(operandsOf(p, 1)) && isRounded(operandsOf(p, 2));
    }
    if (isOneOperation(p)) {
      auto opcode = cast<Instruction>(p.low)->getOpcode();
      if (opcode == Instruction::FAdd || opcode == Instruction::FSub || opcode == Instruction::FMul) {
        ++operations_;
        return isNarrow(operandsOf(p, 0)) && isNarrow(operandsOf(p, 1));
      }
    }
    return isNarrow(p);
  }

  Value *emitRounded(const Pair &p) {
    if (isSelect(p)) {
      Value *x = emitRounded(operandsOf(p, 1));
      Value *y = emitRounded(operandsOf(p, 2));
      Type *word = b_.getInt32Ty();
      Value *r = b_.CreateSelect(cast<SelectInst>(p.low)->getCondition(), b_.CreateBitCast(x, word),
                                 b_.CreateBitCast(y, word));
      return b_.CreateBitCast(r, type_);
    }
    if (Pair in = narrowedPair(p); in.low && in.high) return in.emit(b_);
    Value *x = narrowedPair(operandsOf(p, 0)).emit(b_);
    Value *y = narrowedPair(operandsOf(p, 1)).emit(b_);
    auto constant = [&](double c) { return ConstantFP::get(type_, c); };
    auto id = type_->getElementType()->isHalfTy() ? Intrinsic::nvvm_fma_rn_f16x2 : Intrinsic::nvvm_fma_rn_bf16x2;
    switch (cast<Instruction>(p.low)->getOpcode()) {
    case Instruction::FMul: return b_.CreateIntrinsic(id, {}, {x, y, constant(-0.0)});
    case Instruction::FAdd: return b_.CreateIntrinsic(id, {}, {x, constant(1), y});
    default: return b_.CreateIntrinsic(id, {}, {y, constant(-1), x});
    }
  }

  IntrinsicInst *round_;
  FixedVectorType *type_;
  IRBuilder<> b_;
  unsigned operations_ = 0;
  unsigned apart_ = 0;
  unsigned extensions_ = 0;
};

} // namespace

PreservedAnalyses NarrowArithmeticPass::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (BasicBlock &block : f)
    for (Instruction &i : make_early_inc_range(block)) {
      auto *call = dyn_cast<IntrinsicInst>(&i);
      if (!call) continue;
      auto id = call->getIntrinsicID();
      if (id == Intrinsic::nvvm_ff2f16x2_rn || id == Intrinsic::nvvm_ff2bf16x2_rn) changed |= Narrowing(call).run();
    }
  return codegen::preservedIn(changed);
}

} // namespace tessera::nvidia
