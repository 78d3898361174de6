// Values in other layouts and element types (see convert_values.h).
#include "transforms/layout/convert_values.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

Value inLayout(Builder &b, Location loc, Value v, const Encoding *e) {
  auto t = tensorOf(v);
  return t.encoding() == e ? v : ttg::ConvertLayoutOp::create(b, loc, t.withEncoding(e), v).result();
}

Value inElementType(Builder &b, Location loc, Value v, Type element) {
  auto t = tensorOf(v);
  if (t.element() == element) return v;
  auto to = t.withElement(element);
  if (t.element().bitWidth() == 8) return tt::FpToFpOp::create(b, loc, to, v).result();
  if (t.element().bitWidth() < element.bitWidth()) return arith::ExtfOp::create(b, loc, to, v)->result();
  return arith::TruncfOp::create(b, loc, to, v)->result();
}

Operation *changeLayout(Value v, const Encoding *e) {
  auto old = tensorOf(v);
  if (old.encoding() == e) return nullptr;
  v.setType(old.withEncoding(e));
  if (v.useEmpty()) return nullptr;
  Builder b = v.definingOp() ? Builder::after(v.definingOp()) : Builder::atStart(v.ownerBlock());
  auto back = ttg::ConvertLayoutOp::create(b, v.loc(), old, v);
  v.replaceUsesIf(back.result(), [&](OpOperand &u) { return u.owner != back.op; });
  return back.op;
}

void computeInLayout(Operation *op, const Encoding *e) {
  Builder b(op);
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (tensorOrNull(op->operand(i))) op->setOperand(i, inLayout(b, op->loc(), op->operand(i), e));
  for (auto r : op->results())
    if (tensorOrNull(r)) changeLayout(r, e);
}

} // namespace tessera::transforms
