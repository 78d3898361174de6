// Pass triton-reorder-broadcast: does elementwise work before its operands are splat or broadcast, on fewer elements:
//
//   %s = tt.splat %a : i32 -> tensor<64xi32>         %n = arith.negi %a
//   %n = op %s : tensor<64xi32>                 →    %s = tt.splat %n
//
//   op(tt.broadcast %x, tt.broadcast %y), one source shape   →   tt.broadcast(op %x, %y)
//   op(tt.broadcast %x, constant splat)                      →   tt.broadcast(op %x, smaller splat)
//
// A comparison of 64-bit labels with the indices of a row, say, takes 32 bits:
//
//   %w = arith.extsi %y : tensor<1x512xi32>                  %t = arith.trunci %x, and -2^31 where %x does not fit
//   arith.cmpi eq, tt.broadcast %x, tt.broadcast %w     →    arith.cmpi eq, tt.broadcast %t, tt.broadcast %y
//
// if %y is known never to be that number.
//
// Runs: TTIR.
#include "ir/compare.h"
#include "ir/constants.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/rewriter.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/passes.h"
#include <limits>

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

/// A value from before it was made larger, if it was.
static Value beforeEnlarging(Value v) {
  if (auto b = v.definedBy<tt::BroadcastOp>()) return b.src();
  if (auto s = v.definedBy<tt::SplatOp>()) return s.src();
  return v;
}

/// `v` made as large as `type`, as `like` was from its source.
static Value enlargedLike(Value like, Value v, TensorType type, Rewriter &rw, Location loc) {
  if (like.definedBy<tt::BroadcastOp>()) return tt::BroadcastOp::create(rw, loc, type, v).result();
  if (like.definedBy<tt::SplatOp>()) return tt::SplatOp::create(rw, loc, type, v).result();
  return v;
}

static int64_t elementsOf(Value v) { return v.type().isTensor() ? tensorOf(v).numElements() : 1; }

static bool narrowComparison(Operation *op, Rewriter &rw) {
  auto compared = op->cast<arith::CmpiOp>();
  bool isEq = compared.predicate() == CmpIPredicate::Eq;
  if (!op->result().type().isTensor() || (!isEq && compared.predicate() != CmpIPredicate::Ne)) return false;
  auto *ctx = &rw.context();
  for (auto [wide, other] : {std::pair(compared.lhs(), compared.rhs()), std::pair(compared.rhs(), compared.lhs())}) {
    Value x = beforeEnlarging(wide);
    auto extended = beforeEnlarging(other).definedBy<arith::ExtsiOp>();
    if (x == wide || !extended || !x.type().scalar().isInteger(64)) continue;
    Value y = extended->operand(0);
    // Each x takes three operations more, each comparison one less.
    constexpr int64_t kMadeLarger = 4;
    if (!y.type().scalar().isInteger(32) || elementsOf(x) * kMadeLarger > elementsOf(op->result())) continue;
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min();
    auto range = integerRange(y);
    if (!range || range->low <= kLeast) continue;
    Location loc = op->loc();
    Type narrow = x.type().withScalar(ctx->i32());
    Value truncated = arith::TrunciOp::create(rw, loc, narrow, x)->result();
    Value back = arith::ExtsiOp::create(rw, loc, x.type(), truncated)->result();
    Value fits = compare(rw, loc, CmpIPredicate::Eq, x, back);
    Value never =
        narrow.isTensor()
            ? rw.constant(loc, narrow,
                          DenseElementsAttr::get(narrow.cast<TensorType>(), llvm::APInt(32, uint64_t(kLeast), true)))
            : rw.intConstant(loc, narrow, kLeast);
    Value label = arith::SelectOp::create(rw, loc, narrow, fits, truncated, never).result();
    auto type = tensorOf(op->result()).withScalar(ctx->i32()).cast<TensorType>();
    Value a = enlargedLike(wide, label, type, rw, loc), b = enlargedLike(other, y, type, rw, loc);
    rw.replaceOp(op, compare(rw, loc, compared.predicate(), a, b).definingOp());
    return true;
  }
  return false;
}

absl::StatusOr<bool> reorderBroadcast(Module &m, PassContext &) {
  static const Pattern patterns[] = {{Opcode::unregistered, moveSplat, "elementwise of splat"},
                                     {Opcode::unregistered, moveBroadcast, "elementwise of broadcast"},
                                     {Opcode::arith_cmpi, narrowComparison, "comparison with widened integers"}};
  return applyPatterns(m.op(), patterns);
}

} // namespace tessera::transforms
