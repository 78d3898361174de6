// Loop-carried values and results of branches (see loops.h).
#include "ir/loops.h"
#include "ir/builder.h"

namespace tessera::ir {

std::optional<int64_t> constantIterations(scf::ForOp loop) {
  auto lower = intConstantOf(loop.lowerBound()), upper = intConstantOf(loop.upperBound());
  auto step = intConstantOf(loop.step());
  if (!lower || !upper || !step || *step <= 0 || loop.unsignedCmp()) return std::nullopt;
  if (*lower >= *upper) return 0;
  uint64_t iterations = (uint64_t(*upper) - uint64_t(*lower) - 1) / uint64_t(*step) + 1;
  return iterations <= uint64_t(INT64_MAX) ? std::optional<int64_t>(iterations) : std::nullopt;
}

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

bool isLoop(const Operation *op) { return op->is<scf::ForOp>() || op->is<scf::WhileOp>(); }
bool isLoopOrCall(const Operation *op) { return isLoop(op) || op->is<tt::CallOp>(); }

bool isInLoop(const Operation *op) {
  for (const Operation *p = op->parentOp(); p; p = p->parentOp())
    if (isLoop(p)) return true;
  return false;
}

} // namespace tessera::ir
