// Recognising the step from one slot of a ring to the next.
#include "transforms/analyses/ring_step.h"
#include "ir/builder.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

std::optional<RingStep> ringStep(Value v) {
  auto select = v.definedBy<arith::SelectOp>();
  if (!select) return {};
  auto next = select.falseValue().definedBy<arith::AddiOp>();
  if (!next || intConstantOf(next.rhs()) != 1 || intConstantOf(select.trueValue()) != 0) return {};
  auto compare = select.condition().definedBy<arith::CmpiOp>();
  if (!compare || compare.predicate() != CmpIPredicate::Sge || compare.lhs() != select.falseValue()) return {};
  auto slots = intConstantOf(compare.rhs());
  return slots ? std::optional(RingStep{next.lhs(), *slots}) : std::nullopt;
}

} // namespace tessera::transforms
