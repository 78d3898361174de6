// The places of carried values (see carried_places.h).
#include "transforms/layout/carried_places.h"
#include "ir/loops.h"

namespace tessera::transforms {
using namespace ir;

/// The condition precedes what `scf.condition` hands on.
static constexpr unsigned kFirstHandedOn = 1;
/// The bounds and the step of an `scf.for` precede the initial values.
static constexpr unsigned kFirstInit = 3;

bool CarriedPlaces::isCarried() const { return isLoop(carrier) && sources.size() == 2; }

static CarriedPlaces placesOfFor(scf::ForOp loop, unsigned i) {
  CarriedValue c = carried(loop, i);
  OpOperand *init = &loop->opOperand(kFirstInit + i);
  OpOperand *yielded = &loop.body().front()->terminator()->opOperand(i);
  return {loop.op, i, {c.argument, c.result}, {init, yielded}, {}};
}

static std::optional<CarriedPlaces> placesOfIf(scf::IfOp branch, unsigned i) {
  CarriedPlaces places{branch.op, i, {branch->result(i)}, {}, {}};
  for (auto &region : branch->regions()) {
    if (!region.hasOneBlock()) return std::nullopt;
    places.sources.push_back(&region.front()->terminator()->opOperand(i));
  }
  return places;
}

static bool haveOneBlock(scf::WhileOp loop) { return loop.before().hasOneBlock() && loop.after().hasOneBlock(); }

/// Those of the i-th argument of a loop's first region.
static std::optional<CarriedPlaces> placesOfArgument(scf::WhileOp loop, unsigned i) {
  if (!haveOneBlock(loop)) return std::nullopt;
  Block *before = loop.before().front(), *after = loop.after().front();
  Operation *condition = before->terminator();
  CarriedPlaces places{loop.op, i, {before->arg(i)}, {&loop->opOperand(i), &after->terminator()->opOperand(i)}, {}};
  for (unsigned k = 0; k < after->numArgs(); ++k) {
    OpOperand &handed = condition->opOperand(kFirstHandedOn + k);
    if (handed.get() != before->arg(i)) continue;
    places.values.push_back(after->arg(k));
    places.values.push_back(loop->result(k));
    places.handedOn.push_back(&handed);
  }
  return places;
}

/// Those of the k-th value that a loop's first region hands on.
static std::optional<CarriedPlaces> placesOfHandedOn(scf::WhileOp loop, unsigned k) {
  if (!haveOneBlock(loop)) return std::nullopt;
  Block *before = loop.before().front();
  OpOperand &handed = before->terminator()->opOperand(kFirstHandedOn + k);
  Value v = handed.get();
  if (v.isBlockArgument() && v.ownerBlock() == before) return placesOfArgument(loop, v.index());
  return CarriedPlaces{loop.op, before->numArgs() + k, {loop.after().front()->arg(k), loop->result(k)}, {&handed}, {}};
}

Operation *carrierOf(Value v) {
  Operation *op = v.isBlockArgument() ? v.ownerBlock()->parentOp() : v.definingOp();
  if (!op || isInductionVariable(v)) return nullptr;
  return isLoop(op) || (op->is<scf::IfOp>() && !v.isBlockArgument()) ? op : nullptr;
}

std::optional<CarriedPlaces> placesOf(Value v) {
  Operation *carrier = carrierOf(v);
  if (!carrier) return std::nullopt;
  if (auto branch = carrier->dyn<scf::IfOp>()) return placesOfIf(branch, v.index());
  if (carrier->is<scf::ForOp>()) {
    auto c = carriedOf(v);
    return placesOfFor(c->loop, c->index);
  }
  auto loop = carrier->cast<scf::WhileOp>();
  bool isOfFirstRegion = v.isBlockArgument() && v.ownerBlock()->parent() == &loop.before();
  return isOfFirstRegion ? placesOfArgument(loop, v.index()) : placesOfHandedOn(loop, v.index());
}

std::optional<CarriedPlaces> placesGivenBy(const OpOperand &use) {
  Operation *op = use.owner;
  unsigned i = use.index();
  if (auto c = carriedByInit(use)) return placesOfFor(c->loop, c->index);
  if (auto loop = op->dyn<scf::WhileOp>()) return placesOfArgument(loop, i);
  Operation *parent = op->parentOp();
  if (op->is<scf::ConditionOp>()) {
    auto loop = parent->cast<scf::WhileOp>();
    return i < kFirstHandedOn ? std::nullopt : placesOfHandedOn(loop, i - kFirstHandedOn);
  }
  if (!op->is<scf::YieldOp>()) return std::nullopt;
  if (auto loop = parent->dyn<scf::ForOp>()) return placesOfFor(loop, i);
  if (auto loop = parent->dyn<scf::WhileOp>()) return placesOfArgument(loop, i);
  if (auto branch = parent->dyn<scf::IfOp>()) return placesOfIf(branch, i);
  return std::nullopt;
}

unsigned numCarriedBy(Operation *loop) {
  if (auto f = loop->dyn<scf::ForOp>()) return numCarried(f);
  return loop->cast<scf::WhileOp>().inits().size();
}

std::optional<CarriedPlaces> placesCarriedBy(Operation *loop, unsigned i) {
  if (auto f = loop->dyn<scf::ForOp>()) return placesOfFor(f, i);
  return placesOfArgument(loop->cast<scf::WhileOp>(), i);
}

} // namespace tessera::transforms
