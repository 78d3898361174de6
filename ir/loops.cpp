// Loop-carried values and results of branches (see loops.h).
#include "ir/loops.h"

namespace tessera::ir {

void CarriedValue::setInit(Value v) const { loop.initArgs().operand(index).set(v); }
void CarriedValue::setYielded(Value v) const { loop.body().front()->terminator()->setOperand(index, v); }

CarriedValue carried(scf::ForOp loop, unsigned i) {
  Block *body = loop.body().front();
  return {loop, i, loop.initArgs()[i], carriedArgument(*body, i), body->terminator()->operand(i), loop->result(i)};
}

std::optional<CarriedValue> carriedByArgument(Value v) {
  if (!v.isBlockArgument() || !v.ownerBlock()->parentOp()) return std::nullopt;
  auto loop = v.ownerBlock()->parentOp()->dyn<scf::ForOp>();
  if (!loop || v.index() < kFirstCarriedArgument) return std::nullopt;
  return carried(loop, v.index() - kFirstCarriedArgument);
}

std::optional<CarriedValue> carriedByResult(Value v) {
  if (v.isBlockArgument()) return std::nullopt;
  auto loop = v.definingOp()->dyn<scf::ForOp>();
  if (!loop) return std::nullopt;
  return carried(loop, v.index());
}

std::optional<CarriedValue> carriedOf(Value v) {
  return v.isBlockArgument() ? carriedByArgument(v) : carriedByResult(v);
}

std::optional<CarriedValue> carriedByInit(const OpOperand &use) {
  auto loop = use.owner->dyn<scf::ForOp>();
  if (!loop) return std::nullopt;
  constexpr unsigned kFirstInit = 3; // after lower bound, upper bound and step
  if (use.index() < kFirstInit) return std::nullopt;
  return carried(loop, use.index() - kFirstInit);
}

bool isInductionVariable(Value v) {
  Operation *parent = v.isBlockArgument() && v.index() == 0 ? v.ownerBlock()->parentOp() : nullptr;
  return parent && parent->is<scf::ForOp>();
}

bool isInLoop(const Operation *op) {
  for (const Operation *p = op->parentOp(); p; p = p->parentOp())
    if (p->is<scf::ForOp>() || p->is<scf::WhileOp>()) return true;
  return false;
}

} // namespace tessera::ir
