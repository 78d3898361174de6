// Lowering of operations that act on each element alone: integer and floating-point arithmetic, comparisons, select,
// bit casts, pointer arithmetic, constants. An operation on a tensor runs once per register element; elements whose
// operands are the same LLVM values (copies that a broadcast made) share one result. Floats of 8 bits are bit patterns
// here: arithmetic on them does not exist in verified IR.
//
// The facts relied on: index is i32 (codegen/lowering/lowering.h); shifts by the width or more are poison, as in
// LLVM; maximumf and minimumf propagate NaN, maxnumf and minnumf prefer the number, as LLVM's intrinsics of the same
// names do.
#include "codegen/address_spaces.h"
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {
using namespace ir;

namespace {

using Value1 = llvm::Value *;

/// Runs `f` on every register element; equal operands give the same result without running it again.
template <class F> bool elementwise(Operation *op, FunctionLowering &fl, F &&f) {
  llvm::SmallVector<const Elements *, 3> operands;
  llvm::SmallVector<bool, 3> scalar;
  Type resultType = op->result().type();
  for (Value v : op->operands()) {
    operands.push_back(&fl.get(v));
    scalar.push_back(!v.type().isTensor() && resultType.isTensor());
  }
  unsigned n = fl.numElements(resultType);
  for (auto [o, s] : llvm::zip(operands, scalar))
    if (!s && o->size() != n) return fl.error(op, "has operands and results of different layouts");
  Elements out;
  out.reserve(n);
  llvm::DenseMap<std::pair<Value1, Value1>, unsigned> seen;
  llvm::SmallVector<Value1, 3> args(operands.size());
  for (unsigned r = 0; r < n; ++r) {
    for (unsigned i = 0; i < args.size(); ++i) args[i] = (*operands[i])[scalar[i] ? 0 : r];
    if (n > 1 && !args.empty() && args.size() <= 2) {
      auto [it, fresh] = seen.try_emplace({args[0], args.size() > 1 ? args[1] : nullptr}, r);
      if (!fresh) {
        out.push_back(out[it->second]);
        continue;
      }
    } else if (r && args.size() == 3) {
      // Copies come in runs or strides; looking back a little finds them.
      auto same = [&](unsigned p) {
        for (unsigned i = 0; i < 3; ++i)
          if (!scalar[i] && (*operands[i])[p] != args[i]) return false;
        return true;
      };
      if (same(0) || same(r - 1)) {
        out.push_back(out[same(0) ? 0 : r - 1]);
        continue;
      }
    }
    Value1 v = f(args);
    if (!v) return false;
    out.push_back(v);
  }
  fl.set(op->result(), std::move(out));
  return true;
}

// ---- floating-point flags ----

/// MLIR's fastmath bits, and contraction where the options allow it.
llvm::FastMathFlags flagsOf(Operation *op, bool contract) {
  llvm::FastMathFlags f;
  auto a = op->attr<IntegerAttr>("fastmath");
  uint64_t bits = a ? a.zext() : 0;
  f.setAllowReassoc(bits & 1);
  f.setNoNaNs(bits & 2);
  f.setNoInfs(bits & 4);
  f.setNoSignedZeros(bits & 8);
  f.setAllowReciprocal(bits & 16);
  f.setAllowContract(contract || bits & 32);
  f.setApproxFunc(bits & 64);
  return f;
}

// ---- constants ----

llvm::Constant *constantOf(llvm::Type *type, Type elementType, const llvm::APInt &bits) {
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::get(type, llvm::APFloat(elementType.cast<FloatType>().semantics(), bits));
  return llvm::ConstantInt::get(type, bits.sextOrTrunc(type->getIntegerBitWidth()));
}

bool lowerConstant(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  Value result = op->result();
  Type elementType = result.type().scalar();
  llvm::Type *type = fl.elementType(elementType);
  Attribute value = op->attr("value");
  if (!type || type->isPointerTy()) return fl.error(op, "has a type that has no constants");
  if (const llvm::APInt *bits = splatBits(value)) {
    fl.set(result, Elements(fl.numElements(result.type()), constantOf(type, elementType, *bits)));
    return true;
  }
  auto dense = value.dyn_cast<DenseElementsAttr>();
  if (!dense) return fl.error(op, "has a value that the lowering does not know");
  // Different elements: a table in memory, read at the row-major index.
  llvm::Type *memory = fl.memoryType(elementType);
  llvm::SmallVector<llvm::Constant *, 0> table;
  for (size_t i = 0; i < dense.size(); ++i) {
    auto bits = dense.element(i);
    table.push_back(constantOf(memory, elementType, type->isIntegerTy(1) ? bits.zext(8) : bits));
  }
  auto *array = llvm::ArrayType::get(memory, table.size());
  auto *global = new llvm::GlobalVariable(*fl.function()->getParent(), array, true, llvm::GlobalValue::PrivateLinkage,
                                          llvm::ConstantArray::get(array, table), "table", nullptr,
                                          llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
  global->setAlignment(llvm::Align(16));
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  auto shape = result.type().cast<TensorType>().shape();
  Elements out;
  for (auto &index : fl.indices(result.type())) {
    Value1 flat = fl.i32(0);
    for (unsigned d = 0; d < shape.size(); ++d) flat = b.CreateAdd(b.CreateMul(flat, fl.i32(shape[d])), index[d]);
    Value1 v = b.CreateLoad(memory, b.CreateInBoundsGEP(memory, global, flat));
    out.push_back(type->isIntegerTy(1) ? b.CreateTrunc(v, type) : v);
  }
  fl.set(result, std::move(out));
  return true;
}

// ---- integers ----

llvm::CmpInst::Predicate predicateOf(CmpIPredicate p) {
  switch (p) {
  case CmpIPredicate::Eq: return llvm::CmpInst::ICMP_EQ;
  case CmpIPredicate::Ne: return llvm::CmpInst::ICMP_NE;
  case CmpIPredicate::Slt: return llvm::CmpInst::ICMP_SLT;
  case CmpIPredicate::Sle: return llvm::CmpInst::ICMP_SLE;
  case CmpIPredicate::Sgt: return llvm::CmpInst::ICMP_SGT;
  case CmpIPredicate::Sge: return llvm::CmpInst::ICMP_SGE;
  case CmpIPredicate::Ult: return llvm::CmpInst::ICMP_ULT;
  case CmpIPredicate::Ule: return llvm::CmpInst::ICMP_ULE;
  case CmpIPredicate::Ugt: return llvm::CmpInst::ICMP_UGT;
  case CmpIPredicate::Uge: return llvm::CmpInst::ICMP_UGE;
  }
  return llvm::CmpInst::BAD_ICMP_PREDICATE;
}

llvm::CmpInst::Predicate predicateOf(CmpFPredicate p) {
  switch (p) {
  case CmpFPredicate::False: return llvm::CmpInst::FCMP_FALSE;
  case CmpFPredicate::Oeq: return llvm::CmpInst::FCMP_OEQ;
  case CmpFPredicate::Ogt: return llvm::CmpInst::FCMP_OGT;
  case CmpFPredicate::Oge: return llvm::CmpInst::FCMP_OGE;
  case CmpFPredicate::Olt: return llvm::CmpInst::FCMP_OLT;
  case CmpFPredicate::Ole: return llvm::CmpInst::FCMP_OLE;
  case CmpFPredicate::One: return llvm::CmpInst::FCMP_ONE;
  case CmpFPredicate::Ord: return llvm::CmpInst::FCMP_ORD;
  case CmpFPredicate::Ueq: return llvm::CmpInst::FCMP_UEQ;
  case CmpFPredicate::Ugt: return llvm::CmpInst::FCMP_UGT;
  case CmpFPredicate::Uge: return llvm::CmpInst::FCMP_UGE;
  case CmpFPredicate::Ult: return llvm::CmpInst::FCMP_ULT;
  case CmpFPredicate::Ule: return llvm::CmpInst::FCMP_ULE;
  case CmpFPredicate::Une: return llvm::CmpInst::FCMP_UNE;
  case CmpFPredicate::Uno: return llvm::CmpInst::FCMP_UNO;
  case CmpFPredicate::True: return llvm::CmpInst::FCMP_TRUE;
  }
  return llvm::CmpInst::BAD_FCMP_PREDICATE;
}

/// x divided by y, which is not zero, as the LLVM instruction `divide` does it; but the smallest integer by -1 is
/// itself, with no remainder, as GPUs and the interpreter have it: for LLVM it would be undefined. Narrow integers
/// are divided as wider ones, which back ends do anyway; others by their magnitudes, as back ends divide where
/// hardware has no division. Alone neither takes more instructions than the plain form; a quotient and a remainder of
/// the same numbers take some more together.
Value1 divide(llvm::IRBuilder<> &b, llvm::Instruction::BinaryOps divide, Value1 x, Value1 y) {
  using I = llvm::Instruction;
  bool remainder = divide == I::SRem;
  llvm::Type *type = x->getType();
  if (divide == I::UDiv || divide == I::URem) return b.CreateBinOp(divide, x, y);
  if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(y)) {
    if (!c->isMinusOne()) return b.CreateBinOp(divide, x, y);
    return remainder ? llvm::Constant::getNullValue(type) : b.CreateNeg(x);
  }
  if (type->getIntegerBitWidth() < 32) {
    // Frozen while narrow: what merges a quotient and a remainder would freeze the wide one, and its width would be
    // forgotten.
    x = b.CreateSExt(b.CreateFreeze(x), b.getInt32Ty());
    return b.CreateTrunc(b.CreateBinOp(divide, x, b.CreateSExt(y, b.getInt32Ty())), type);
  }
  auto magnitude = [&](Value1 v) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b.getFalse()); };
  Value1 result = b.CreateBinOp(remainder ? I::URem : I::UDiv, magnitude(x), magnitude(y));
  Value1 negative = b.CreateICmpSLT(remainder ? x : b.CreateXor(x, y), llvm::Constant::getNullValue(type));
  return b.CreateSelect(negative, b.CreateNeg(result), result);
}

/// A divisor that is not zero, and whether it was, null if it cannot have been. LLVM drops what leads to a division
/// by zero: a lane whose mask left its divisor zero, or open, would so lose its mask and load out of bounds.
std::pair<Value1, Value1> safeDivisor(llvm::IRBuilder<> &b, Value1 y) {
  if (auto *c = llvm::dyn_cast<llvm::ConstantInt>(y); c && !c->isZero()) return {y, nullptr};
  y = b.CreateFreeze(y);
  Value1 byZero = b.CreateICmpEQ(y, llvm::Constant::getNullValue(y->getType()));
  return {b.CreateSelect(byZero, llvm::ConstantInt::get(y->getType(), 1), y), byZero};
}

/// x divided by y. By zero the quotient is all ones. So is the remainder on NVIDIA, whose assembler makes it so, as
/// PyTorch's kernels show; elsewhere it is x.
Value1 division(FunctionLowering &fl, llvm::Instruction::BinaryOps op, Value1 x, Value1 y) {
  auto &b = fl.b;
  if (!llvm::isa<llvm::Constant>(y))
    if (Value1 v = fl.target.divideIntegers(b, op, x, y)) return v;
  bool remainder = op == llvm::Instruction::SRem || op == llvm::Instruction::URem;
  auto [by, byZero] = safeDivisor(b, y);
  Value1 result = divide(b, op, x, by);
  if (!byZero) return result;
  bool isDividend = remainder && fl.target.info().vendor != ir::Vendor::Nvidia;
  return b.CreateSelect(byZero, isDividend ? x : llvm::Constant::getAllOnesValue(x->getType()), result);
}

/// Whether the numbers of `v` do nothing but say by how many bits others are shifted. Shape operations and `muli` by
/// positive constants are followed; `limit` is the most that they may make of a magnitude of 1.
bool isShiftAmount(Value v, int64_t limit) {
  return llvm::all_of(v.users(), [&](Operation *user) {
    switch (user->opcode()) {
    case Opcode::arith_shli:
    case Opcode::arith_shrsi:
    case Opcode::arith_shrui: return user->operand(0) != v;
    case Opcode::arith_muli: {
      auto by = intConstantOf(user->operand(1));
      return by && *by > 0 && *by <= limit && isShiftAmount(user->result(), limit / *by);
    }
    case Opcode::arith_extsi:
    case Opcode::tt_splat:
    case Opcode::tt_expand_dims:
    case Opcode::tt_broadcast:
    case Opcode::tt_reshape:
    case Opcode::tt_trans:
    case Opcode::ttg_convert_layout: return isShiftAmount(user->result(), limit);
    default: return false;
    }
  });
}

/// A remainder by a power of two that serves as a shift amount alone. Where the dividend is negative, the remainder is
/// zero, or the amount is negative and what is shifted undefined: the low bits do in all cases. They are less work, and
/// constants where the dividend is a multiple of the divisor plus a constant (places of numbers in packed words).
std::optional<uint64_t> lowBitsAsShiftAmount(Operation *op) {
  auto divisor = intConstantOf(op->operand(1));
  Type type = op->result().type().scalar();
  bool isWide = type.isInteger() && type.bitWidth() >= 16;
  if (!isWide || !divisor || *divisor < 2 || !llvm::isPowerOf2_64(uint64_t(*divisor))) return std::nullopt;
  // Negative amounts stay negative: below 2^15 in magnitude, they do not wrap around.
  if (*divisor > 1024 || !isShiftAmount(op->result(), /*limit=*/(1 << 15) / *divisor)) return std::nullopt;
  return uint64_t(*divisor) - 1;
}

/// Quotients that round up or down, without overflow on the way: the truncated quotient, corrected where the division
/// leaves a rest and the exact quotient lies on the other side.
Value1 roundedDivision(llvm::IRBuilder<> &b, Opcode op, Value1 x, Value1 y) {
  bool isSigned = op != Opcode::arith_ceildivui;
  auto [by, byZero] = safeDivisor(b, y);
  Value1 zero = llvm::Constant::getNullValue(x->getType()), one = llvm::ConstantInt::get(x->getType(), 1);
  Value1 q = divide(b, isSigned ? llvm::Instruction::SDiv : llvm::Instruction::UDiv, x, by),
         corrected = b.CreateICmpNE(b.CreateSub(x, b.CreateMul(q, by)), zero);
  if (isSigned) {
    Value1 negative = b.CreateICmpSLT(b.CreateXor(x, by), zero);
    corrected = b.CreateAnd(corrected, op == Opcode::arith_floordivsi ? negative : b.CreateNot(negative));
  }
  Value1 result =
      b.CreateSelect(corrected, op == Opcode::arith_floordivsi ? b.CreateSub(q, one) : b.CreateAdd(q, one), q);
  return byZero ? b.CreateSelect(byZero, llvm::Constant::getAllOnesValue(x->getType()), result) : result;
}

/// High half of the product of two integers of one width.
Value1 highProduct(llvm::IRBuilder<> &b, Value1 x, Value1 y, bool isSigned) {
  unsigned w = x->getType()->getIntegerBitWidth();
  llvm::Type *wide = b.getIntNTy(2 * w);
  Value1 p = b.CreateMul(isSigned ? b.CreateSExt(x, wide) : b.CreateZExt(x, wide),
                         isSigned ? b.CreateSExt(y, wide) : b.CreateZExt(y, wide));
  return b.CreateTrunc(b.CreateLShr(p, w), x->getType());
}

/// Operations with two results.
bool lowerExtended(Operation *op, FunctionLowering &fl) {
  auto &b = fl.b;
  Elements low, high;
  BinaryOp extended(op);
  for (auto [x, y] : llvm::zip(fl.get(extended.lhs()), fl.get(extended.rhs()))) {
    if (op->opcode() == Opcode::arith_addui_extended) {
      Value1 sum = b.CreateAdd(x, y);
      low.push_back(sum);
      high.push_back(b.CreateICmpULT(sum, x));
    } else {
      low.push_back(b.CreateMul(x, y));
      high.push_back(highProduct(b, x, y, op->opcode() == Opcode::arith_mulsi_extended));
    }
  }
  fl.set(op->result(0), std::move(low));
  fl.set(op->result(1), std::move(high));
  return true;
}

Value1 bitcast(llvm::IRBuilder<> &b, Value1 v, llvm::Type *to) {
  if (v->getType() == to) return v;
  if (v->getType()->isPointerTy() && to->isPointerTy()) return b.CreateAddrSpaceCast(v, to);
  if (v->getType()->isPointerTy()) return b.CreatePtrToInt(v, to);
  if (to->isPointerTy()) return b.CreateIntToPtr(v, to);
  return b.CreateBitCast(v, to);
}

/// Elementwise operations, by groups. Each group's function is a table of cases; none has another group's.
class Pointwise {
public:
  Pointwise(Operation *op, FunctionLowering &fl) : op_(op), fl_(fl), b_(fl.b) {}

  bool integers();
  bool floats();
  bool comparisons();
  bool changesOfType();
  bool select();

private:
  using Args = llvm::ArrayRef<Value1>;
  template <class F> bool unary(F f) {
    return elementwise(op_, fl_, [&](Args a) -> Value1 { return f(a[0]); });
  }
  template <class F> bool binary(F f) {
    return elementwise(op_, fl_, [&](Args a) -> Value1 { return f(a[0], a[1]); });
  }
  bool binaryIntrinsic(llvm::Intrinsic::ID id) {
    return binary([&](Value1 x, Value1 y) { return b_.CreateBinaryIntrinsic(id, x, y); });
  }
  /// Minimum or maximum of floats.
  bool floatIntrinsic(llvm::Intrinsic::ID id) {
    b_.setFastMathFlags(flagsOf(op_, false));
    return binaryIntrinsic(id);
  }
  /// What the operation promises of its result.
  struct WrapFlags {
    bool noSignedWrap, noUnsignedWrap;
  };
  WrapFlags wrapFlags() {
    auto flags = op_->attr<IntegerAttr>("overflowFlags");
    uint64_t bits = flags ? flags.zext() : 0;
    return {bool(bits & 1), bool(bits & 2)};
  }
  bool isNoPointwise() { return fl_.error(op_, "is not a pointwise operation"); }

  Operation *op_;
  FunctionLowering &fl_;
  llvm::IRBuilder<> &b_;
};

bool Pointwise::integers() {
  switch (op_->opcode()) {
  case Opcode::arith_addi:
    return binary(
        [&, o = wrapFlags()](Value1 x, Value1 y) { return b_.CreateAdd(x, y, "", o.noUnsignedWrap, o.noSignedWrap); });
  case Opcode::arith_subi:
    return binary(
        [&, o = wrapFlags()](Value1 x, Value1 y) { return b_.CreateSub(x, y, "", o.noUnsignedWrap, o.noSignedWrap); });
  case Opcode::arith_muli:
    return binary(
        [&, o = wrapFlags()](Value1 x, Value1 y) { return b_.CreateMul(x, y, "", o.noUnsignedWrap, o.noSignedWrap); });
  case Opcode::arith_shli:
    return binary(
        [&, o = wrapFlags()](Value1 x, Value1 y) { return b_.CreateShl(x, y, "", o.noUnsignedWrap, o.noSignedWrap); });
  case Opcode::arith_divsi:
    return binary([&](Value1 x, Value1 y) { return division(fl_, llvm::Instruction::SDiv, x, y); });
  case Opcode::arith_divui:
    return binary([&](Value1 x, Value1 y) { return division(fl_, llvm::Instruction::UDiv, x, y); });
  case Opcode::arith_remsi:
    if (auto mask = lowBitsAsShiftAmount(op_))
      return binary([&](Value1 x, Value1) { return b_.CreateAnd(x, llvm::ConstantInt::get(x->getType(), *mask)); });
    return binary([&](Value1 x, Value1 y) { return division(fl_, llvm::Instruction::SRem, x, y); });
  case Opcode::arith_remui:
    return binary([&](Value1 x, Value1 y) { return division(fl_, llvm::Instruction::URem, x, y); });
  case Opcode::arith_shrsi: return binary([&](Value1 x, Value1 y) { return b_.CreateAShr(x, y); });
  case Opcode::arith_shrui: return binary([&](Value1 x, Value1 y) { return b_.CreateLShr(x, y); });
  case Opcode::arith_andi: return binary([&](Value1 x, Value1 y) { return b_.CreateAnd(x, y); });
  case Opcode::arith_ori: return binary([&](Value1 x, Value1 y) { return b_.CreateOr(x, y); });
  case Opcode::arith_xori: return binary([&](Value1 x, Value1 y) { return b_.CreateXor(x, y); });
  case Opcode::arith_ceildivsi:
  case Opcode::arith_ceildivui:
  case Opcode::arith_floordivsi:
    return binary([&](Value1 x, Value1 y) { return roundedDivision(b_, op_->opcode(), x, y); });
  case Opcode::arith_maxsi: return binaryIntrinsic(llvm::Intrinsic::smax);
  case Opcode::arith_maxui: return binaryIntrinsic(llvm::Intrinsic::umax);
  case Opcode::arith_minsi: return binaryIntrinsic(llvm::Intrinsic::smin);
  case Opcode::arith_minui: return binaryIntrinsic(llvm::Intrinsic::umin);
  case Opcode::arith_addui_extended:
  case Opcode::arith_mulsi_extended:
  case Opcode::arith_mului_extended: return lowerExtended(op_, fl_);
  case Opcode::tt_mulhiui: return binary([&](Value1 x, Value1 y) { return highProduct(b_, x, y, false); });
  case Opcode::math_absi:
    return unary([&](Value1 x) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse()); });
  case Opcode::math_ctlz:
    return unary([&](Value1 x) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b_.getFalse()); });
  case Opcode::math_cttz:
    return unary([&](Value1 x) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, b_.getFalse()); });
  case Opcode::math_ctpop: return unary([&](Value1 x) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x); });
  default: return isNoPointwise();
  }
}

bool Pointwise::floats() {
  switch (op_->opcode()) {
  case Opcode::arith_addf:
  case Opcode::arith_subf:
  case Opcode::arith_mulf:
    b_.setFastMathFlags(flagsOf(op_, fl_.options.fpFusion));
    return binary([&](Value1 x, Value1 y) {
      if (op_->opcode() == Opcode::arith_addf) return b_.CreateFAdd(x, y);
      return op_->opcode() == Opcode::arith_subf ? b_.CreateFSub(x, y) : b_.CreateFMul(x, y);
    });
  case Opcode::arith_maximumf: return floatIntrinsic(llvm::Intrinsic::maximum);
  case Opcode::arith_minimumf: return floatIntrinsic(llvm::Intrinsic::minimum);
  case Opcode::arith_maxnumf: return floatIntrinsic(llvm::Intrinsic::maxnum);
  case Opcode::arith_minnumf: return floatIntrinsic(llvm::Intrinsic::minnum);
  case Opcode::arith_negf: return unary([&](Value1 x) { return b_.CreateFNeg(x); });
  default: return isNoPointwise();
  }
}

bool Pointwise::comparisons() {
  if (auto compare = op_->dyn<arith::CmpiOp>()) {
    auto predicate = predicateOf(compare.predicate());
    return binary([&](Value1 x, Value1 y) { return b_.CreateICmp(predicate, x, y); });
  }
  auto predicate = predicateOf(op_->cast<arith::CmpfOp>().predicate());
  b_.setFastMathFlags(flagsOf(op_, false));
  return binary([&](Value1 x, Value1 y) { return b_.CreateFCmp(predicate, x, y); });
}

bool Pointwise::select() {
  auto select = op_->cast<arith::SelectOp>();
  if (op_->result().type().isTensor())
    return elementwise(op_, fl_, [&](Args a) -> Value1 { return b_.CreateSelect(a[0], a[1], a[2]); });
  // A scalar condition chooses between whole values, of any kind.
  Elements out;
  for (auto [x, y] : llvm::zip(fl_.get(select.trueValue()), fl_.get(select.falseValue())))
    out.push_back(b_.CreateSelect(fl_.scalar(select.condition()), x, y));
  fl_.set(op_->result(), std::move(out));
  return true;
}

bool Pointwise::changesOfType() {
  switch (op_->opcode()) {
  case Opcode::arith_extsi:
  case Opcode::arith_trunci:
  case Opcode::arith_index_cast:
    return unary([&, t = fl_.elementType(op_->result().type())](Value1 x) { return b_.CreateSExtOrTrunc(x, t); });
  case Opcode::arith_extui:
  case Opcode::arith_index_castui:
    return unary([&, t = fl_.elementType(op_->result().type())](Value1 x) { return b_.CreateZExtOrTrunc(x, t); });
  case Opcode::arith_bitcast:
  case Opcode::tt_bitcast:
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int:
    return unary([&, t = fl_.elementType(op_->result().type())](Value1 x) { return bitcast(b_, x, t); });
  case Opcode::tt_addptr: {
    llvm::Type *pointee = fl_.memoryType(pointeeOf(op_->result()));
    if (!pointee) return fl_.error(op_, "moves a pointer to something that has no size");
    return binary([&](Value1 p, Value1 offset) { return b_.CreateGEP(pointee, p, offset); });
  }
  default: return isNoPointwise();
  }
}

/// Zeros: a program that uses an undefined value does the same in every run.
bool lowerPoison(Operation *op, FunctionLowering &fl) {
  Elements out;
  for (llvm::Type *t : fl.elementTypes(op->result().type())) out.push_back(llvm::Constant::getNullValue(t));
  fl.set(op->result(), std::move(out));
  return true;
}

} // namespace

bool lowerPointwise(Operation *op, FunctionLowering &fl) {
  llvm::IRBuilder<>::FastMathFlagGuard guard(fl.b);
  Pointwise pointwise(op, fl);
  switch (op->opcode()) {
  case Opcode::arith_constant: return lowerConstant(op, fl);
  case Opcode::ub_poison: return lowerPoison(op, fl);
  case Opcode::arith_select: return pointwise.select();
  case Opcode::arith_cmpi:
  case Opcode::arith_cmpf: return pointwise.comparisons();
  case Opcode::arith_addf:
  case Opcode::arith_subf:
  case Opcode::arith_mulf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf:
  case Opcode::arith_negf: return pointwise.floats();
  case Opcode::arith_extsi:
  case Opcode::arith_trunci:
  case Opcode::arith_index_cast:
  case Opcode::arith_extui:
  case Opcode::arith_index_castui:
  case Opcode::arith_bitcast:
  case Opcode::tt_bitcast:
  case Opcode::tt_int_to_ptr:
  case Opcode::tt_ptr_to_int:
  case Opcode::tt_addptr: return pointwise.changesOfType();
  default: return pointwise.integers();
  }
}

} // namespace tessera::codegen
