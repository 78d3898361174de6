// Layouts of loop-carried values and of results of branches (see carried_layouts.h).
#include "transforms/layout/carried_layouts.h"
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

void CarriedLayouts::change(const CarriedValue &c, const Encoding *e) {
  changed_[{c.loop.op, c.index}] = e;
  Operation *yield = c.loop.body().front()->terminator();
  c.setInit(values_.getIn(c.init, e, c.loop.op));
  values_.setOperandLayout(yield, c.index, e);
  changeLayout(c.argument, e);
  changeLayout(c.result, e);
}

// ---- what can be carried in another layout --------------------------------------------------------------------------

bool CarriedLayouts::canCarry(Value v, const Encoding *e) {
  auto c = carriedByArgument(v);
  if (!c || isDotOperand(e) || !v.type().isTensor()) return false;
  return mayChange(c->loop.op, c->index, e) && (values_.isAcceptable(c->init, e) || isOnlyUpdated(*c));
}

/// Whether nothing reads the carried value but elementwise operations of the loop's own body, and loads of few
/// elements for which it stands where they are masked off. These follow its layout: its first value is converted,
/// once, instead of what updates it.
bool CarriedLayouts::isOnlyUpdated(const CarriedValue &c) const {
  Block *body = c.argument.ownerBlock();
  auto follows = [&](Operation *op) {
    if (op->block() != body) return false;
    if (op == body->terminator()) return true;
    if (auto load = op->dyn<tt::LoadOp>()) return load.other() == c.argument && isNarrowLoad(op, threads_, memory_);
    return (isElementwise(op) || op->is<arith::SelectOp>()) && isPure(op);
  };
  auto update = c.yielded.definingOp();
  return update && update->block() == body && llvm::all_of(c.argument.users(), follows);
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
    if (op->is<scf::ForOp>() || op->is<scf::WhileOp>() || op->is<scf::IfOp>()) ops.push_back(op);
  });
  for (auto *op : ops) {
    if (auto loop = op->dyn<scf::ForOp>()) changed |= changeCarriedBy(loop);
    if (auto loop = op->dyn<scf::WhileOp>()) changed |= changeCarriedBy(loop);
    if (auto branch = op->dyn<scf::IfOp>()) changed |= changeResultsOf(branch);
  }
  return changed;
}

/// The layout to which a value (a carried pointer or index) is converted, if all of its conversions agree; else null.
static const Encoding *layoutOfConversionsOf(Value v) {
  const Encoding *e = nullptr;
  for (auto *user : v.users()) {
    if (!user->is<ttg::ConvertLayoutOp>()) continue;
    const Encoding *wanted = encodingOf(user->result());
    if (e && e != wanted) return nullptr;
    e = wanted;
  }
  return e;
}

bool CarriedLayouts::changeCarriedBy(scf::ForOp loop) {
  bool changed = false;
  for (unsigned i = 0; i < numCarried(loop); ++i) {
    auto c = carried(loop, i);
    if (!c.result.type().isTensor()) continue;
    auto conversion = c.yielded.definedBy<ttg::ConvertLayoutOp>();
    const Encoding *e = conversion ? encodingOf(conversion.src()) : layoutOfConversionsOf(c.argument);
    if (!e || e == encodingOf(c.result) || isDotOperand(e) || !values_.isAvailable(c.init, e)) continue;
    if (!mayChange(loop.op, i, e)) continue;
    change(c, e);
    changed = true;
  }
  return changed;
}

/// Only to layouts of matrix instructions: accumulators of dots.
bool CarriedLayouts::changeCarriedBy(scf::WhileOp loop) {
  if (!loop.before().hasOneBlock() || !loop.after().hasOneBlock()) return false;
  Block *before = loop.before().front(), *after = loop.after().front();
  Operation *condition = before->terminator(), *yield = after->terminator();
  bool changed = false;
  for (unsigned i = 0; i < before->numArgs(); ++i) {
    Value argument = before->arg(i), init = loop.inits()[i];
    auto conversion = yield->operand(i).definedBy<ttg::ConvertLayoutOp>();
    // The first region only hands it on.
    auto handsOn = [&](Operation *user) { return user == condition; };
    if (!conversion || !llvm::all_of(argument.users(), handsOn)) continue;
    const Encoding *e = encodingOf(conversion.src());
    if (!isStronger(e, encodingOf(argument)) || isDotOperand(e) || !values_.isAvailable(init, e) ||
        !mayChange(loop.op, i, e))
      continue;
    changed_[{loop.op, i}] = e;
    loop->setOperand(i, values_.getIn(init, e, loop.op));
    values_.setOperandLayout(yield, i, e);
    argument.setType(tensorOf(argument).withEncoding(e));
    for (unsigned k = 0; k < loop->numResults(); ++k) {
      if (condition->operand(k + 1) != argument) continue; // the first operand is the condition
      changeLayout(after->arg(k), e);
      changeLayout(loop->result(k), e);
    }
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
