// Pass triton-reorder-broadcast: does elementwise work before its operands are splat or broadcast, on fewer elements:
//
//   %s = tt.splat %a : i32 -> tensor<64xi32>         %n = arith.negi %a
//   %n = op %s : tensor<64xi32>                 →    %s = tt.splat %n
//
//   op(tt.broadcast %x, tt.broadcast %y), one source shape   →   tt.broadcast(op %x, %y)
//   op(tt.broadcast %x, constant splat)                      →   tt.broadcast(op %x, smaller splat)
//
// Runs: TTIR.
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/rewriter.h"
#include "ir/tensor_queries.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

/// Whether the operation makes a tensor element by element, so that it can work on scalars or smaller tensors as well.
static bool takesAnyShape(Operation *op) {
  if (op->is<arith::SelectOp>()) return op->result().type().isTensor(); // its condition may be a scalar
  if (!isElementwise(op) || !isPure(op) || !op->result().type().isTensor()) return false;
  return !op->is<tt::ExternElementwiseOp>(); // the library may have no function of scalars by this name
}

static Operation *cloneOn(Operation *op, Rewriter &rw, llvm::ArrayRef<Value> operands, Type result) {
  OperationState s(op->opcode(), op->loc());
  s.operands.assign(operands.begin(), operands.end());
  s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  s.resultTypes.push_back(result);
  return rw.create(s);
}

static bool moveSplat(Operation *op, Rewriter &rw) {
  if (!takesAnyShape(op) || op->numOperands() == 0) return false;
  bool anySplat = false;
  for (auto v : op->operands()) {
    bool splat = v.definedBy<tt::SplatOp>();
    if (v.type().isTensor() && !splat && !constantBits(v)) return false;
    anySplat |= v.type().isTensor() && splat;
  }
  if (!anySplat) return false;
  llvm::SmallVector<Value, 3> scalars;
  for (auto v : op->operands()) {
    Type t = v.type().scalar();
    if (!v.type().isTensor())
      scalars.push_back(v);
    else if (auto s = v.definedBy<tt::SplatOp>())
      scalars.push_back(s.src());
    else
      scalars.push_back(rw.constant(
          op->loc(), t,
          t.isFloat() ? Attribute(FloatAttr::get(t, llvm::APFloat(t.cast<FloatType>().semantics(), *constantBits(v))))
                      : Attribute(IntegerAttr::get(t, *constantBits(v)))));
  }
  auto *inner = cloneOn(op, rw, scalars, op->result().type().scalar());
  rw.replaceOp(op, tt::SplatOp::create(rw, op->loc(), op->result().type(), inner->result()).op);
  return true;
}

static bool moveBroadcast(Operation *op, Rewriter &rw) {
  if (!takesAnyShape(op) || op->numOperands() == 0) return false;
  Type source; // the type (up to the element) that all operands were broadcast from
  auto *ctx = &rw.context();
  for (auto v : op->operands()) {
    auto b = v.definedBy<tt::BroadcastOp>();
    if (!v.type().isTensor()) continue;
    if (b) {
      Type t = b.src().type().withScalar(ctx->i1());
      if (source && source != t) return false;
      source = t;
    } else if (!constantBits(v) && !v.definedBy<tt::SplatOp>())
      return false;
  }
  if (!source) return false;
  llvm::SmallVector<Value, 3> smaller;
  for (auto v : op->operands()) {
    Type t = source.withScalar(v.type().scalar());
    if (!v.type().isTensor())
      smaller.push_back(v);
    else if (auto b = v.definedBy<tt::BroadcastOp>())
      smaller.push_back(b.src());
    else if (auto s = v.definedBy<tt::SplatOp>())
      smaller.push_back(tt::SplatOp::create(rw, op->loc(), t, s.src()).result());
    else
      smaller.push_back(rw.constant(op->loc(), t, DenseElementsAttr::get(t.cast<TensorType>(), *constantBits(v))));
  }
  auto *inner = cloneOn(op, rw, smaller, source.withScalar(op->result().type().scalar()));
  rw.replaceOp(op, tt::BroadcastOp::create(rw, op->loc(), op->result().type(), inner->result()).op);
  return true;
}

absl::StatusOr<bool> reorderBroadcast(Module &m, PassContext &) {
  static const Pattern patterns[] = {{Opcode::unregistered, moveSplat, "elementwise of splat"},
                                     {Opcode::unregistered, moveBroadcast, "elementwise of broadcast"}};
  return applyPatterns(m.op(), patterns);
}

} // namespace tessera::transforms
