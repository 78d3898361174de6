// Values in other layouts (see available_values.h).
#include "transforms/layout/available_values.h"
#include "ir/builder.h"
#include "ir/tensor_queries.h"
#include "transforms/layout/conversion_facts.h"
#include "transforms/layout/convert_values.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

static int64_t elementsOfNarrower(Value v) { return tensorOf(v).numElements() / 2; }

bool AvailableValues::isAvailable(Value v, const Encoding *e) {
  if (!v.type().isTensor() || encodingOf(v) == e) return true;
  if (auto c = v.definedBy<ttg::ConvertLayoutOp>(); c && encodingOf(c.src()) == e) return true;
  return cheap_.canMake(v, e);
}

bool AvailableValues::isAcceptable(Value v, const Encoding *e) {
  if (isAvailable(v, e)) return true;
  auto c = v.definedBy<ttg::ConvertLayoutOp>();
  return isStronger(e, encodingOf(c ? c.src() : v));
}

bool AvailableValues::othersAreAcceptable(Operation *op, unsigned but, const Encoding *e) {
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (i != but && !isAcceptable(op->operand(i), e)) return false;
  return true;
}

bool AvailableValues::isWidened(Value v, const Encoding *e) { return cheap_.canMake(v, e, elementsOfNarrower(v)); }

Value AvailableValues::getIn(Value v, const Encoding *e, Operation *at) {
  if (!v.type().isTensor() || encodingOf(v) == e) return v;
  if (auto c = v.definedBy<ttg::ConvertLayoutOp>(); c && encodingOf(c.src()) == e) return c.src();
  Rematerializer::Made made;
  if (cheap_.canMake(v, e)) return cheap_.make(v, e, made);
  if (isWidened(v, e)) return cheap_.make(v, e, made, elementsOfNarrower(v));
  Builder b(at);
  return inLayout(b, at->loc(), v, e);
}

void AvailableValues::setOperandLayout(Operation *op, unsigned i, const Encoding *e) {
  op->setOperand(i, getIn(op->operand(i), e, op));
}

void AvailableValues::setOperandLayouts(Operation *op, const Encoding *e) {
  for (unsigned i = 0; i < op->numOperands(); ++i) setOperandLayout(op, i, e);
}

} // namespace tessera::transforms
