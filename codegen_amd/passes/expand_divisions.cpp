// Divisions of 32-bit integers, which no instruction does, as arithmetic that is defined for all divisors.
//
//   %r = call i32 @tessera.urem.i32(%x, %y)   →   %z = an estimate of 2^32 / y
//                                                 %q = mulhi(x, z)
//                                                 %r0 = x - q * y
//                                                 %r1 = umin(r0, r0 - y)
//                                                 %r = umin(r1, r1 - y)
//
// LLVM's udiv and urem are undefined for a divisor of zero, and what is undefined takes the masks with it that keep
// lanes from using it. With a divisor that is never zero the comparison, two selections and what hides their cause from
// LLVM take 4 to 6 instructions a division, of about 20; kernels divide to find their tile, in every wave. Here a
// remainder by zero is x with no instruction more, since q * 0 is 0 whatever q is; a quotient takes a selection.
//
// z: with f the nearest f32 to y and r the hardware's reciprocal of it, off by a unit in the last place, r * (2^32 -
// 1024) truncated is at most 2^32 / y and less by 2^-21 of it at most. One step of Newton's method,
// z + mulhi(z, -z * y), leaves less than 1 + 2^-10. So q is the quotient, or less by one or two, and r0 below 3 * y.
// Subtracting y where r0 is not below it is the smaller of both, as unsigned numbers: r0 - y is beyond r0 otherwise.
// (tests/unit/codegen_amd/integer_division_test.cpp tries it with reciprocals off in both directions.)
//
// Signed numbers are divided by their magnitudes, and the result gets the sign that it should have. What is known not
// to be negative (numbers of programs, remainders of them) has none.
//
// LLVM's instructions remain where they are better: divisors that became constants or powers of two, and numbers of at
// most 24 bits, which it divides as f32. A signed remainder by a constant to which something is added is x + -q * c:
// v_add3_u32 adds it all, and the negated quotient takes no instruction more, since the sign that LLVM adds to the
// quotient is subtracted from.
#include "codegen_amd/passes/expand_divisions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/DivisionByConstantInfo.h"

namespace tessera::amd {
using namespace llvm;

static StringRef nameOf(Instruction::BinaryOps op) {
  switch (op) {
  case Instruction::SDiv: return "tessera.sdiv.i32";
  case Instruction::UDiv: return "tessera.udiv.i32";
  case Instruction::SRem: return "tessera.srem.i32";
  default: return "tessera.urem.i32";
  }
}

/// The division that a call stands for; none for other calls.
static std::optional<Instruction::BinaryOps> divisionOf(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  const Function *f = call ? call->getCalledFunction() : nullptr;
  if (!f || !f->isDeclaration()) return std::nullopt;
  for (auto op : {Instruction::SDiv, Instruction::UDiv, Instruction::SRem, Instruction::URem})
    if (f->getName() == nameOf(op)) return op;
  return std::nullopt;
}

Value *createDivision(IRBuilder<> &b, Instruction::BinaryOps op, Value *x, Value *y) {
  LLVMContext &c = b.getContext();
  AttributeList attributes;
  for (auto a : {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoSync, Attribute::NoFree,
                 Attribute::NoCallback, Attribute::Speculatable})
    attributes = attributes.addFnAttribute(c, a);
  attributes = attributes.addFnAttribute(c, Attribute::getWithMemoryEffects(c, MemoryEffects::none()));
  Type *i32 = b.getInt32Ty();
  return b.CreateCall(b.GetInsertBlock()->getModule()->getOrInsertFunction(nameOf(op), attributes, i32, i32, i32),
                      {x, y});
}

namespace {

class Expansion {
public:
  explicit Expansion(const DataLayout &layout) : layout_(layout) {}

  Value *expand(CallInst &call, Instruction::BinaryOps op) {
    // Undefined operands must stay one number each: they are used more than once.
    IRBuilder<> b(&call);
    auto frozen = [&](Value *v) { return isa<Constant>(v) ? v : b.CreateFreeze(v); };
    Value *x = frozen(call.getArgOperand(0)), *y = frozen(call.getArgOperand(1));
    bool isSigned = op == Instruction::SDiv || op == Instruction::SRem;
    bool isRemainder = op == Instruction::SRem || op == Instruction::URem;
    if (auto *c = dyn_cast<ConstantInt>(call.getArgOperand(1)); c && !c->isZero() && !c->isMinusOne())
      return b.CreateBinOp(op, x, c);
    bool xSigned = isSigned && !isNonNegative(call.getArgOperand(0)),
         ySigned = isSigned && !isNonNegative(call.getArgOperand(1));
    Value *sign = nullptr; // all ones where the result is negative
    Value *source = xSigned ? signSource(call.getArgOperand(0), x) : nullptr;
    Value *signOfX = xSigned ? b.CreateAShr(source, 31) : nullptr;
    if (isRemainder)
      sign = signOfX;
    else if (xSigned || ySigned)
      sign = b.CreateAShr(xSigned && ySigned ? b.CreateXor(x, y) : xSigned ? x : y, 31);
    Value *u = xSigned ? magnitude(b, x, source == x, signOfX) : x;
    Value *v = ySigned ? b.CreateBinaryIntrinsic(Intrinsic::abs, y, b.getFalse()) : y;
    Value *result = unsignedDivision(b, isRemainder, u, v, call);
    if (sign) result = b.CreateSub(b.CreateXor(result, sign), sign);
    if (!isRemainder && !isKnownNonZero(call.getArgOperand(1), SimplifyQuery(layout_)))
      result = b.CreateSelect(b.CreateICmpEQ(y, b.getInt32(0)), b.getInt32(~0u), result);
    if (isRemainder && !xSigned) nonNegative_.insert(result);
    return result;
  }

  /// The remainder by a constant of a number that may be negative, for a sum; null: LLVM's is as good.
  Value *remainderForSum(BinaryOperator &rem) const {
    auto *c = dyn_cast<ConstantInt>(rem.getOperand(1));
    bool isForSum = rem.hasOneUse() && rem.user_back()->getOpcode() == Instruction::Add;
    if (rem.getOpcode() != Instruction::SRem || !rem.getType()->isIntegerTy(32) || !c || !isForSum) return nullptr;
    APInt divisor = c->getValue().abs();
    if (divisor.isNegative() || divisor.ule(1) || divisor.isPowerOf2() || isNonNegative(rem.getOperand(0)))
      return nullptr;
    IRBuilder<> b(&rem);
    Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
    Value *x = b.CreateFreeze(rem.getOperand(0));
    auto magic = SignedDivisionByConstantInfo::get(divisor);
    Value *wide = b.CreateMul(b.CreateSExt(x, i64), b.getInt64(uint64_t(magic.Magic.getSExtValue())));
    Value *q = b.CreateTrunc(b.CreateLShr(wide, 32), i32); // rounded down
    if (magic.Magic.isNegative()) q = b.CreateAdd(q, x);
    if (magic.ShiftAmount) q = b.CreateAShr(q, magic.ShiftAmount);
    Value *negated = b.CreateSub(b.CreateAShr(x, 31), q);
    return b.CreateAdd(x, b.CreateMul(negated, ConstantInt::get(i32, divisor)));
  }

private:
  bool isNonNegative(Value *v) const {
    return nonNegative_.contains(v) || isKnownNonNegative(v, SimplifyQuery(layout_));
  }

  /// What the number's sign is the sign of: the uniform part of a sum of it and a lane's.
  Value *signSource(Value *v, Value *otherwise) const {
    using namespace PatternMatch;
    Value *a = nullptr, *b = nullptr;
    if (!match(v, m_Or(m_Value(a), m_Value(b)))) return otherwise;
    if (isNonNegative(b)) return a;
    return isNonNegative(a) ? b : otherwise;
  }

  /// |x|. With a sign that is another number's, mostly a uniform one's, two instructions; else one, or two.
  static Value *magnitude(IRBuilder<> &b, Value *x, bool isOwnSign, Value *sign) {
    if (isOwnSign) return b.CreateBinaryIntrinsic(Intrinsic::abs, x, b.getFalse());
    return b.CreateXor(b.CreateAdd(x, sign), sign);
  }

  bool fits(Value *v, unsigned bits) const {
    return computeKnownBits(v, SimplifyQuery(layout_)).countMaxActiveBits() <= bits;
  }

  Value *unsignedDivision(IRBuilder<> &b, bool isRemainder, Value *x, Value *y, CallInst &call) {
    constexpr unsigned kSignificand = 24; // of f32
    Value *divisor = call.getArgOperand(1);
    bool isSmall = fits(call.getArgOperand(0), kSignificand) && fits(divisor, kSignificand);
    if (isSmall || isKnownToBeAPowerOfTwo(divisor, layout_, /*OrZero=*/true)) {
      Value *byZero = b.CreateICmpEQ(y, b.getInt32(0));
      Value *safe = b.CreateBinaryIntrinsic(Intrinsic::umax, y, b.getInt32(1));
      if (!isRemainder) return b.CreateUDiv(x, safe); // by zero: chosen by the caller
      return b.CreateSelect(byZero, x, b.CreateURem(x, safe));
    }
    auto high = [&](Value *p, Value *q) {
      Type *i64 = b.getInt64Ty();
      return b.CreateTrunc(b.CreateLShr(b.CreateMul(b.CreateZExt(p, i64), b.CreateZExt(q, i64)), 32), b.getInt32Ty());
    };
    Type *f32 = b.getFloatTy();
    Value *reciprocal = b.CreateIntrinsic(Intrinsic::amdgcn_rcp, {f32}, {b.CreateUIToFP(y, f32)});
    Value *scaled = b.CreateFMul(reciprocal, ConstantFP::get(f32, 4294966272.0)); // 2^32 - 1024
    Value *z = b.CreateFreeze(b.CreateFPToUI(scaled, b.getInt32Ty()));            // of zero: anything
    z = b.CreateAdd(z, high(z, b.CreateMul(z, b.CreateNeg(y))));
    Value *q = high(x, z), *r = b.CreateSub(x, b.CreateMul(q, y));
    for (int step = 0; step < 2; ++step) {
      if (!isRemainder) q = b.CreateSelect(b.CreateICmpUGE(r, y), b.CreateAdd(q, b.getInt32(1)), q);
      r = b.CreateBinaryIntrinsic(Intrinsic::umin, r, b.CreateSub(r, y));
    }
    return isRemainder ? r : q;
  }

  const DataLayout &layout_;
  DenseSet<Value *> nonNegative_; // remainders of numbers that are not negative
};

} // namespace

PreservedAnalyses ExpandDivisionsPass::run(Function &f, FunctionAnalysisManager &) {
  Expansion expansion(f.getDataLayout());
  SmallVector<std::pair<CallInst *, Instruction::BinaryOps>, 8> calls;
  for (Instruction &i : instructions(f))
    if (auto op = divisionOf(i)) calls.push_back({cast<CallInst>(&i), *op});
  for (auto [call, op] : calls) {
    Value *result = expansion.expand(*call, op);
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
  bool changed = !calls.empty();
  for (Instruction &i : make_early_inc_range(instructions(f)))
    if (auto *rem = dyn_cast<BinaryOperator>(&i))
      if (Value *result = expansion.remainderForSum(*rem)) {
        rem->replaceAllUsesWith(result);
        rem->eraseFromParent();
        changed = true;
      }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tessera::amd
