// Creating and recognising the next index into a multi-buffer (see multi_buffer_index.h).
#include "transforms/analyses/multi_buffer_index.h"
#include "ir/compare.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

Value createNextBufferIndex(Builder &b, Location loc, Value index, int64_t buffers) {
  Context &c = b.context();
  auto integer = [&](int64_t v) { return b.intConstant(loc, c.i32(), v); };
  Value next = arith::AddiOp::create(b, loc, index, integer(1)).op->result();
  Value wraps = compare(b, loc, CmpIPredicate::Sge, next, integer(buffers));
  return arith::SelectOp::create(b, loc, wraps, integer(0), next).op->result();
}

std::optional<MultiBufferStep> multiBufferStep(Value v) {
  auto select = v.definedBy<arith::SelectOp>();
  if (!select || intConstantOf(select.trueValue()) != 0) return {};
  auto next = select.falseValue().definedBy<arith::AddiOp>();
  if (!next || intConstantOf(next.rhs()) != 1) return {};
  auto compare = select.condition().definedBy<arith::CmpiOp>();
  bool comparesNext = compare && compare.predicate() == CmpIPredicate::Sge && compare.lhs() == select.falseValue();
  if (!comparesNext) return {};
  auto buffers = intConstantOf(compare.rhs());
  return buffers ? std::optional(MultiBufferStep{next.lhs(), *buffers}) : std::nullopt;
}

} // namespace tessera::transforms
