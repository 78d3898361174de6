// Lowering of mathematical functions, division, clamp and calls of device-library functions. Each scalar operation
// takes the first of these ways that exists:
//   1. the target's own (Target::mathOp): approximate instructions where Triton uses them; first for the type as it is,
//      then for f32
//   2. instructions of LLVM, or functions that both device libraries have (ScalarMath::writerOf)
//   3. an LLVM intrinsic that every target selects in a few instructions (fabs, floor, fma, …)
//   4. the device library's function (Target::libraryFunction), linked later by the back end
// f16 and bf16 go through f32 in ways 1 and 4, and in 2 and 3 where rounding once in f32 gives the same or a better
// result (not staysNarrow). Tensors run element by element.
#include "codegen/lowering/lowering.h"
#include "codegen/lowering/target.h"
#include "ir/device_function_name.h"
#include "ir/ops.h"
#include "llvm/IR/Intrinsics.h"

namespace tessera::codegen {
using namespace ir;

namespace {

/// The ways that are the same for all targets (ir/math_functions.def): an intrinsic that each selects directly, or else
/// a function of the device libraries by libdevice's name, which both have for f32 and f64. What one of them lacks
/// (libdevice has no atanpi) is written in terms of other functions (ScalarMath::writerOf).
struct CommonWay {
  llvm::Intrinsic::ID intrinsic = llvm::Intrinsic::not_intrinsic;
  llvm::StringRef function = "";
};
CommonWay commonWayOf(Opcode op) {
  switch (op) {
#define MATH_UNARY(name, host, intrinsic, libdevice, ocml, sentence)                                                   \
  case Opcode::math_##name: return {llvm::Intrinsic::intrinsic, #libdevice};
#define MATH_BINARY(name, host, intrinsic, libdevice, ocml, sentence)                                                  \
  case Opcode::math_##name: return {llvm::Intrinsic::intrinsic, #libdevice};
#include "ir/math_functions.def"
  // Operations with rows of their own in ops.table.
  case Opcode::tt_precise_sqrt: return {llvm::Intrinsic::sqrt, ""};
  case Opcode::math_fma: return {llvm::Intrinsic::fma, ""};
  case Opcode::math_fpowi: return {llvm::Intrinsic::not_intrinsic, "powi"};
  // A library function: exact for any quotient, which LLVM's own expansion for NVPTX is not.
  case Opcode::arith_remf: return {llvm::Intrinsic::not_intrinsic, "fmod"};
  default: return {};
  }
}

/// Whether the operation is done in the narrow type itself: it touches bits only, or the target has it natively.
bool staysNarrow(Opcode op, llvm::Type *type, const TargetInfo &info) {
  if (op == Opcode::math_absf || op == Opcode::math_copysign || op == Opcode::tt_clampf) return true;
  if (type->isHalfTy())
    return op == Opcode::math_fma || op == Opcode::math_floor || op == Opcode::math_ceil || op == Opcode::math_trunc ||
           op == Opcode::math_roundeven;
  return op == Opcode::math_fma && info.hasBf16Fma;
}

struct ScalarMath {
  Operation *op;
  FunctionLowering &fl;

  llvm::Value *operator()(llvm::ArrayRef<llvm::Value *> args) {
    llvm::Type *type = args[0]->getType();
    auto &b = fl.b;
    if (llvm::Value *v = fl.target.mathOp(b, op->opcode(), type, args)) return v;
    bool narrow = type->isHalfTy() || type->isBFloatTy();
    if (!narrow || staysNarrow(op->opcode(), type, fl.target.info())) return at(type, args);
    llvm::SmallVector<llvm::Value *, 3> wide;
    for (llvm::Value *a : args) wide.push_back(a->getType() == type ? b.CreateFPExt(a, b.getFloatTy()) : a);
    llvm::Value *r = fl.target.mathOp(b, op->opcode(), b.getFloatTy(), wide);
    if (!r) r = at(b.getFloatTy(), wide);
    return r ? b.CreateFPTrunc(r, type) : nullptr;
  }

  /// The operation in this type, in a way that all targets share; null: there is none.
  llvm::Value *at(llvm::Type *type, llvm::ArrayRef<llvm::Value *> args) {
    auto &b = fl.b;
    if (Writer writer = writerOf(op->opcode())) return (this->*writer)(type, args);
    CommonWay way = commonWayOf(op->opcode());
    if (way.intrinsic != llvm::Intrinsic::not_intrinsic) return b.CreateIntrinsic(way.intrinsic, {type}, args);
    return way.function.empty() ? nullptr : call(way.function, type, args);
  }

  /// A call of the device library's function, by libdevice's name; null: it has none for the type.
  llvm::Value *call(llvm::StringRef function, llvm::Type *type, llvm::ArrayRef<llvm::Value *> args) {
    if (!type->isFloatTy() && !type->isDoubleTy()) return nullptr;
    std::string name = fl.target.libraryFunction(function, type);
    if (name.empty()) return nullptr;
    llvm::SmallVector<llvm::Type *, 3> types;
    for (llvm::Value *a : args) types.push_back(a->getType());
    return fl.b.CreateCall(fl.declare(name, llvm::FunctionType::get(type, types, false), true), args);
  }

  /// Writes an operation out, in this type: as instructions of LLVM, or as calls of functions that both libraries have.
  using Writer = llvm::Value *(ScalarMath::*)(llvm::Type *, llvm::ArrayRef<llvm::Value *>);
  /// Null: the operation has an intrinsic or a library function.
  static Writer writerOf(Opcode op) {
    switch (op) {
    case Opcode::arith_divf:
    case Opcode::tt_approx_divf:
    case Opcode::tt_precise_divf: return &ScalarMath::divide;
    case Opcode::tt_clampf: return &ScalarMath::clamp;
    default: return nullptr;
    }
  }

  llvm::Value *divide(llvm::Type *, llvm::ArrayRef<llvm::Value *> args) { return fl.b.CreateFDiv(args[0], args[1]); }

  llvm::Value *clamp(llvm::Type *, llvm::ArrayRef<llvm::Value *> args) {
    auto &b = fl.b;
    bool nan = op->cast<tt::ClampfOp>().propagateNan() == PropagateNan::All;
    llvm::Value *low =
        b.CreateBinaryIntrinsic(nan ? llvm::Intrinsic::maximum : llvm::Intrinsic::maxnum, args[0], args[1]);
    return b.CreateBinaryIntrinsic(nan ? llvm::Intrinsic::minimum : llvm::Intrinsic::minnum, low, args[2]);
  }
};

bool lowerExtern(tt::ExternElementwiseOp op, FunctionLowering &fl) {
  auto &b = fl.b;
  Type resultType = op.result().type();
  llvm::Type *type = fl.elementType(resultType);
  llvm::SmallVector<llvm::Type *, 3> types;
  for (Value v : op.srcs()) types.push_back(fl.elementType(v.type()));
  if (!type || llvm::is_contained(types, nullptr)) return fl.error(op, "has operands that no library function takes");
  auto callee = fl.declare(deviceFunctionName(op), llvm::FunctionType::get(type, types, false), op.pure());
  Elements out;
  for (unsigned r = 0, n = fl.numElements(resultType); r < n; ++r) {
    llvm::SmallVector<llvm::Value *, 3> args;
    for (Value v : op.srcs()) args.push_back(fl.get(v)[v.type().isTensor() ? r : 0]);
    out.push_back(b.CreateCall(callee, args));
  }
  fl.set(op.result(), std::move(out));
  return true;
}

} // namespace

bool hasScalarMath(Opcode op) {
  CommonWay way = commonWayOf(op);
  return ScalarMath::writerOf(op) || way.intrinsic != llvm::Intrinsic::not_intrinsic || !way.function.empty();
}

bool lowerMath(Operation *op, FunctionLowering &fl) {
  if (auto e = op->dyn<tt::ExternElementwiseOp>()) return lowerExtern(e, fl);
  ScalarMath scalar{op, fl};
  llvm::IRBuilder<>::FastMathFlagGuard guard(fl.b);
  Elements out;
  unsigned n = fl.numElements(op->result().type());
  llvm::DenseMap<llvm::Value *, llvm::Value *> seen; // unary operations on copies
  for (unsigned r = 0; r < n; ++r) {
    llvm::SmallVector<llvm::Value *, 3> args;
    for (Value v : op->operands()) args.push_back(fl.get(v)[r]);
    llvm::Value *&copy = seen[args.size() == 1 ? args[0] : nullptr];
    llvm::Value *v = args.size() == 1 && copy ? copy : scalar(args);
    if (!v)
      return fl.error(op,
                      "on " + op->operands()[0].type().scalar().str() + " does not exist on " + fl.target.info().name);
    copy = v;
    out.push_back(v);
  }
  fl.set(op->result(), std::move(out));
  return true;
}

} // namespace tessera::codegen
