// The Builder (see builder.h).
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"

namespace tessera::ir {

Operation *Builder::insert(Operation *op) {
  if (block_) block_->insertBefore(before_, op);
  return op;
}
Operation *Builder::create(const OperationState &s) { return insert(module_.createOperation(s)); }
Operation *Builder::clone(Operation *op, ValueMap &map) { return insert(cloneOperation(op, module_, map)); }
Operation *Builder::clone(Operation *op) {
  ValueMap map;
  return clone(op, map);
}

Value Builder::constant(Location loc, Type type, Attribute value) {
  return arith::ConstantOp::create(*this, loc, type, {named("value", value)}).result();
}

Value Builder::intConstant(Location loc, Type type, int64_t v) {
  Type scalar = type.scalar();
  if (auto t = type.dyn_cast<TensorType>())
    return constant(loc, type, DenseElementsAttr::get(t, llvm::APInt(scalar.bitWidth(), v, true, true)));
  return constant(loc, type, IntegerAttr::get(type, v));
}

Value Builder::floatConstant(Location loc, Type type, double v) {
  FloatAttr a = FloatAttr::get(type.scalar(), v);
  if (auto t = type.dyn_cast<TensorType>()) return constant(loc, type, DenseElementsAttr::get(t, a.storage()->bits));
  return constant(loc, type, a);
}

void OpView::inferInto(Builder &b, OperationState &s) {
  inferResultTypes(opInfo(s.opcode), b.context(), s.operands, s.segments, s.resultTypes);
}

Attribute constantOf(Value v) {
  if (auto c = v.definedBy<arith::ConstantOp>()) return c.value();
  return {};
}

std::optional<int64_t> intConstantOf(Value v) {
  auto a = constantOf(v);
  if (!a || !v.type().scalar().isIntOrIndex()) return std::nullopt;
  auto *bits = splatBits(a);
  if (!bits || bits->getSignificantBits() > 64) return std::nullopt;
  return bits->getSExtValue();
}

} // namespace tessera::ir
