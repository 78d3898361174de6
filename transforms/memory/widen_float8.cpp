// Pass widen-float8: arithmetic on 8-bit floats is done in f32, since no target has instructions for it.
// Runs: before lowering, on all targets.
//
//   %z = arith.addf %x, %y : f8E4M3FN
//
//   →  %a = tt.fp_to_fp %x : f8E4M3FN -> f32          (and %b of %y)
//      %c = arith.addf %a, %b : f32
//      %z = tt.fp_to_fp %c, rounding = rtne : f32 -> f8E4M3FN
//
// f32 has more than twice the digits of any of these types and two more, so rounding to it first changes no result of
// addf, mulf, divf or sqrt that f32 rounds correctly (Figueroa, "When is double rounding innocuous?", 1995). Where
// f32's own result is not correctly rounded (math.fma of numbers far apart, approximate divisions, functions), the
// result in 8 bits may be off by one unit.
#include "ir/builder.h"
#include "ir/ops.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool isFloat8(Type t) { return t.scalar().isFloat() && t.scalar().bitWidth() == 8; }

/// Whether the operation computes with its operands' values, other than converting or choosing them.
bool computes(Operation *op) {
  switch (op->opcode()) {
  case Opcode::arith_addf:
  case Opcode::arith_subf:
  case Opcode::arith_mulf:
  case Opcode::arith_divf:
  case Opcode::arith_remf:
  case Opcode::arith_negf:
  case Opcode::arith_cmpf:
  case Opcode::arith_maximumf:
  case Opcode::arith_minimumf:
  case Opcode::arith_maxnumf:
  case Opcode::arith_minnumf:
  case Opcode::tt_clampf:
  case Opcode::tt_precise_sqrt:
  case Opcode::tt_precise_divf: return true;
  default: return op->name().starts_with("math.");
  }
}

void widen(Operation *op) {
  Builder before(op);
  Type f32 = before.context().f32();
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (Value v = op->operand(i); isFloat8(v.type()))
      op->setOperand(i, tt::FpToFpOp::create(before, op->loc(), v.type().withScalar(f32), v).result());
  for (Value v : op->results()) {
    if (!isFloat8(v.type())) continue;
    Type narrow = v.type();
    v.setType(narrow.withScalar(f32));
    Builder after = Builder::after(op);
    auto rounded = tt::FpToFpOp::create(
        after, op->loc(), narrow, v,
        {after.named("rounding", IntegerAttr::getI32(after.context(), int64_t(RoundingMode::Rtne)))});
    v.replaceAllUsesWith(rounded.result());
    rounded.setSrc(v);
  }
}

} // namespace

absl::StatusOr<bool> widenFloat8(Module &m, PassContext &) {
  llvm::SmallVector<Operation *> found;
  m.op()->walk([&](Operation *op) {
    if (computes(op) && llvm::any_of(op->operands(), [](Value v) { return isFloat8(v.type()); })) found.push_back(op);
  });
  for (Operation *op : found) widen(op);
  return !found.empty();
}

} // namespace tessera::transforms
