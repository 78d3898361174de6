// Computing cheap values a second time in another layout (see rematerializer.h). Cheap are ranges, splats and
// constants, and what is computed from them by a few operations that cost little (transforms/analyses/op_cost.h).
#include "transforms/layout/rematerializer.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/store_layout.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

/// A division by a constant of rows or columns alone, before they are made larger: one for many elements.
static bool isNarrowDivision(Operation *op) {
  bool isDivision =
      op->is<arith::DivsiOp>() || op->is<arith::DivuiOp>() || op->is<arith::RemsiOp>() || op->is<arith::RemuiOp>();
  if (!isDivision) return false;
  auto t = tensorOf(op->result());
  bool isSlice = t.encoding()->kind() == layouts::EncodingKind::Slice;
  bool isRowOrColumn = t.rank() > 1 && llvm::is_contained(t.shape(), 1);
  return (isSlice || isRowOrColumn) && BinaryOp(op).rhs().definedBy<arith::ConstantOp>();
}

/// Whether a copy of an integer tensor takes few registers of a thread: a row or a column does, a tile does not.
static bool isFewRegisters(TensorType type, const Encoding *e, const Tuning &tuning) {
  return type.element().isInteger() && elementsPerThreadOrMany(e, type.shape()) <= tuning.carriedCopyElements;
}

/// A carried value is copied if its update can be computed from the copy.
bool Rematerializer::canCarryCopy(Value v, const Encoding *e, int64_t &budget, int64_t convertible) {
  auto c = carriedByArgument(v);
  if (!copiesCarried_ || !c || !isFewRegisters(tensorOf(v), e, tuning_)) return false;
  return !copied_.insert({v, e}).second || canMake(c->yielded, e, budget, convertible);
}

Value Rematerializer::carryCopy(Value v, const Encoding *e, Made &made, int64_t convertible) {
  CarriedValue c = *carriedByArgument(v);
  Builder b(c.loop.op);
  Value init = canMake(c.init, e) ? make(c.init, e, made) : inLayout(b, c.init.loc(), c.init, e);
  Value copy = made[{v, e}] = carryMore(c.loop, init).argument;
  Value yielded = make(c.yielded, e, made, convertible);
  carriedByArgument(copy)->setYielded(yielded); // another copy may have replaced the loop
  return copy;
}

bool Rematerializer::canMake(Value v, const Encoding *e, int64_t convertible) {
  copied_.clear();
  int64_t budget = tuning_.rematerializedOperations;
  return canMake(v, e, budget, convertible);
}

/// Whether the two layouts place all elements alike, so that a conversion moves none.
static bool isRenaming(Value v, const Encoding *e) {
  return layouts::sameLayout(encodingOf(v), e, tensorOf(v).shape());
}

bool Rematerializer::canMake(Value v, const Encoding *e, int64_t &budget, int64_t convertible) {
  if (!v.type().isTensor() || encodingOf(v) == e) return true;
  return canCompute(v, e, budget, convertible) || isRenaming(v, e);
}

bool Rematerializer::canCompute(Value v, const Encoding *e) {
  copied_.clear();
  int64_t budget = tuning_.rematerializedOperations;
  return canCompute(v, e, budget, /*convertible=*/0);
}

bool Rematerializer::canCompute(Value v, const Encoding *e, int64_t &budget, int64_t convertible) {
  if (--budget < 0) return false;
  if (tensorOf(v).numElements() <= convertible) return true;
  Operation *op = v.definingOp();
  if (!op) return canCarryCopy(v, e, budget, convertible);
  if (makesAnyLayout(op)) return true;
  switch (op->opcode()) {
  case Opcode::ttg_convert_layout:
  case Opcode::tt_broadcast: return canMake(UnaryOp(op).value(), e, budget, convertible);
  case Opcode::tt_expand_dims: {
    auto expand = op->cast<tt::ExpandDimsOp>();
    auto slice = pool_.getSlice(expand.axis(), e);
    return slice.ok() && canMake(expand.src(), *slice, budget, convertible);
  }
  default: break;
  }
  if ((!isElementwise(op) && !op->is<arith::SelectOp>()) || !isPure(op)) return false;
  if (!costOf(op, tuning_).isRepeated) {
    if (!isNarrowDivision(op)) return false;
    budget -= tuning_.narrowDivisionOperations;
    if (budget < 0) return false;
  }
  return llvm::all_of(op->operands(), [&](Value o) { return canMake(o, e, budget, convertible); });
}

Value Rematerializer::make(Value v, const Encoding *e, Made &made, int64_t convertible) {
  if (!v.type().isTensor() || encodingOf(v) == e) return v;
  if (Value known = made.lookup({v, e})) return known;
  Operation *op = v.definingOp();
  if (auto c = v.definedBy<ttg::ConvertLayoutOp>(); c && canMake(c.src(), e, convertible))
    return make(c.src(), e, made, convertible);
  bool isConverted = tensorOf(v).numElements() <= convertible || isRenaming(v, e);
  if (isConverted && !canCompute(v, e)) {
    Builder b = op ? Builder::after(op) : Builder::atStart(v.ownerBlock());
    return made[{v, e}] = inLayout(b, v.loc(), v, e);
  }
  if (!op) return carryCopy(v, e, made, convertible);
  Builder b(op);
  OperationState s(op->opcode(), op->loc());
  s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  auto type = tensorOf(v).withEncoding(e);
  s.resultTypes.push_back(type);
  if (op->is<arith::ConstantOp>()) s.attrs[0].value = op->attr<DenseElementsAttr>("value").withType(type);
  const Encoding *inner = e;
  if (auto x = op->dyn<tt::ExpandDimsOp>()) inner = *pool_.getSlice(x.axis(), e);
  for (auto o : op->operands()) s.operands.push_back(op->is<tt::SplatOp>() ? o : make(o, inner, made, convertible));
  Value result = b.create(s)->result();
  return made[{v, e}] = result;
}

} // namespace tessera::transforms
