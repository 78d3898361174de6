// Layouts of loop-carried values and of results of branches (see carried_layouts.h).
#include "transforms/layout/carried_layouts.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/tensor_queries.h"
#include "transforms/layout/conversion_facts.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

CarriedLayouts::CarriedLayouts(Module &m, AvailableValues &values, const GlobalAccesses &memory, const Tuning &tuning)
    : m_(m), values_(values), memory_(memory), tuning_(tuning), threads_(numWarps(m.op()) * threadsPerWarp(m.op())) {}

bool CarriedLayouts::mayChange(Operation *carrier, unsigned i, const Encoding *e) const {
  auto it = changed_.find({carrier, i});
  return it == changed_.end() || isStronger(e, it->second);
}

void CarriedLayouts::change(const CarriedPlaces &places, const Encoding *e) {
  changed_[{places.carrier, places.index}] = e;
  for (auto *source : places.sources) source->set(values_.getIn(source->get(), e, source->owner));
  for (Value v : places.values) changeLayout(v, e);
  for (auto *handed : places.handedOn) handed->set(places.values[0]);
}

// ---- what can be carried in another layout --------------------------------------------------------------------------

bool CarriedLayouts::canCarry(Value v, const Encoding *e) {
  auto places = v.isBlockArgument() ? placesOf(v) : std::nullopt;
  if (!places || !places->isCarried() || isDotOperand(e) || !v.type().isTensor()) return false;
  return mayChange(places->carrier, places->index, e) &&
         (values_.isAcceptable(places->initial(), e) || isOnlyUpdated(*places));
}

/// Whether nothing reads the carried value but elementwise operations of the loop's own body, and loads of few
/// elements for which it stands where they are masked off. These follow its layout: its first value is converted,
/// once, instead of what updates it.
bool CarriedLayouts::isOnlyUpdated(const CarriedPlaces &places) const {
  auto follows = [&](Value argument, Operation *op) {
    if (op->block() != argument.ownerBlock()) return false;
    if (op == argument.ownerBlock()->terminator()) return true;
    if (auto load = op->dyn<tt::LoadOp>()) return load.other() == argument && isNarrowLoad(op, threads_, memory_);
    if (op->is<ttg::ConvertLayoutOp>()) return true; // from another layout as well
    return (isElementwise(op) || op->is<arith::SelectOp>()) && isPure(op);
  };
  auto update = places.yielded().definingOp();
  if (!update || update->block() != places.sources[1]->owner->block()) return false;
  return llvm::all_of(places.values, [&](Value v) {
    return !v.isBlockArgument() || llvm::all_of(v.users(), [&](Operation *op) { return follows(v, op); });
  });
}

CarriedLayouts::Leaves CarriedLayouts::leavesOf(Value v, const Encoding *e) {
  Leaves leaves;
  int64_t budget = tuning_.carriedUpdateOperations;
  if (!collectLeaves(v, e, leaves, budget)) leaves.clear();
  return leaves;
}

bool CarriedLayouts::collectLeaves(Value v, const Encoding *e, Leaves &leaves, int64_t &budget) {
  if (values_.isAvailable(v, e)) return true;
  if (--budget < 0) return false;
  if (canCarry(v, e)) {
    leaves.insert(v);
    return true;
  }
  Operation *op = v.definingOp();
  return op && isElementwise(op) && isPure(op) &&
         llvm::all_of(op->operands(), [&](Value o) { return collectLeaves(o, e, leaves, budget); });
}

// ---- what is yielded converted --------------------------------------------------------------------------------------

bool CarriedLayouts::changeAll() {
  bool changed = false;
  std::vector<Operation *> ops;
  m_.op()->walkPostOrder([&](Operation *op) {
    if (isLoop(op) || op->is<scf::IfOp>()) ops.push_back(op);
  });
  for (auto *op : ops) {
    if (auto branch = op->dyn<scf::IfOp>())
      changed |= changeResultsOf(branch);
    else
      changed |= changeCarriedBy(op);
  }
  return changed;
}

/// The layout to which a value (a carried pointer or index) is converted in the loop, if all of its conversions agree;
/// else null.
static const Encoding *layoutOfConversionsOf(const CarriedPlaces &places) {
  const Encoding *e = nullptr;
  for (Value v : places.values) {
    if (!v.isBlockArgument()) continue;
    for (auto *user : v.users()) {
      if (!user->is<ttg::ConvertLayoutOp>()) continue;
      const Encoding *wanted = encodingOf(user->result());
      if (e && e != wanted) return nullptr;
      e = wanted;
    }
  }
  return e;
}

bool CarriedLayouts::changeCarriedBy(Operation *loop) {
  bool changed = false;
  for (unsigned i = 0; i < numCarriedBy(loop); ++i) {
    auto places = placesCarriedBy(loop, i);
    if (!places || !places->values[0].type().isTensor()) continue;
    auto conversion = places->yielded().definedBy<ttg::ConvertLayoutOp>();
    const Encoding *e = conversion ? encodingOf(conversion.src()) : layoutOfConversionsOf(*places);
    if (!e || e == encodingOf(places->values[0]) || isDotOperand(e)) continue;
    if (!values_.isAvailable(places->initial(), e) || !mayChange(loop, i, e)) continue;
    change(*places, e);
    changed = true;
  }
  return changed;
}

bool CarriedLayouts::changeResultsOf(scf::IfOp branch) {
  if (!branch->numResults() || !branch.thenRegion().hasOneBlock() || !branch.elseRegion().hasOneBlock()) return false;
  Operation *thenYield = branch.thenRegion().front()->terminator();
  Operation *elseYield = branch.elseRegion().front()->terminator();
  bool changed = false;
  for (unsigned i = 0; i < branch->numResults(); ++i) {
    if (!branch->result(i).type().isTensor()) continue;
    for (auto [yield, otherYield] : {std::pair(thenYield, elseYield), std::pair(elseYield, thenYield)}) {
      auto c = yield->operand(i).definedBy<ttg::ConvertLayoutOp>();
      if (!c) continue;
      const Encoding *e = encodingOf(c.src());
      if (!values_.isAvailable(otherYield->operand(i), e) || !mayChange(branch.op, i, e)) continue;
      changed_[{branch.op, i}] = e;
      yield->setOperand(i, c.src());
      values_.setOperandLayout(otherYield, i, e);
      changeLayout(branch->result(i), e);
      changed = true;
      break;
    }
  }
  return changed;
}

} // namespace tessera::transforms
