// Proof that integers are not negative (what analyses/non_negative.h promises). A query collects the values that must
// all be non-negative, following definitions; a value met again on the way is a carried one whose proof is under way,
// and may be taken as the hypothesis of the induction. Alternatives (either operand of max or and) are tried one after
// the other on a copy of the set.
#include "transforms/analyses/non_negative.h"
#include "ir/builder.h"
#include "ir/ops.h"

namespace tessera::transforms {
using namespace ir;

/// The value that a comparison bounds from below by zero or more when it holds.
static Value boundedBelow(Value condition) {
  auto cmp = condition.definedBy<arith::CmpiOp>();
  if (!cmp) return {};
  auto left = intConstantOf(cmp.lhs()), right = intConstantOf(cmp.rhs());
  switch (cmp.predicate()) {
  case CmpIPredicate::Sge: return right && *right >= 0 ? cmp.lhs() : Value();
  case CmpIPredicate::Sgt: return right && *right >= -1 ? cmp.lhs() : Value();
  case CmpIPredicate::Sle: return left && *left >= 0 ? cmp.rhs() : Value();
  case CmpIPredicate::Slt: return left && *left >= -1 ? cmp.rhs() : Value();
  default: return {};
  }
}

NonNegative::NonNegative(Module &m) {
  for (auto &f : *m.body()) {
    if (!f.is<tt::FuncOp>() || f.region(0).empty()) continue;
    // Only what stands in the entry block is executed in every run.
    for (auto &op : *f.region(0).front())
      if (auto assume = op.dyn<llvm_dialect::IntrAssumeOp>()) {
        llvm::SmallVector<Value, 4> all = {assume.condition()};
        while (!all.empty()) {
          Value c = all.pop_back_val();
          if (auto both = c.definedBy<arith::AndiOp>())
            all.push_back(both.lhs()), all.push_back(both.rhs());
          else if (Value v = boundedBelow(c))
            assumed_.insert(v);
        }
      }
  }
}

bool NonNegative::nonNegative(Value v) const {
  if (proved_.contains(v)) return true;
  if (failed_.contains(v)) return false;
  Set goals;
  unsigned budget = 400; // values looked at: alternatives inside alternatives would multiply
  if (!prove(v, goals, budget)) {
    failed_.insert(v);
    return false;
  }
  proved_.insert(goals.begin(), goals.end());
  return true;
}

/// Carried by a loop: the initial value and what the body yields.
bool NonNegative::proveCarried(Value v, Set &goals, unsigned &budget) const {
  Operation *parent = v.ownerBlock()->parentOp();
  auto loop = parent ? parent->dyn<scf::ForOp>() : scf::ForOp();
  if (!loop) return false;
  if (v.index() == 0) {
    auto step = intConstantOf(loop.step());
    return step && *step > 0 && prove(loop.lowerBound(), goals, budget);
  }
  unsigned i = v.index() - 1;
  return prove(loop.initArgs()[i], goals, budget) &&
         prove(loop.body().front()->terminator()->operand(i), goals, budget);
}

bool NonNegative::prove(Value v, Set &goals, unsigned &budget) const {
  if (assumed_.contains(v) || proved_.contains(v)) return true;
  if (!budget || !v.type().scalar().isIntOrIndex()) return false;
  --budget;
  if (!goals.insert(v).second) return true;
  Operation *op = v.definingOp();
  if (!op) return proveCarried(v, goals, budget);
  unsigned width = v.type().scalar().bitWidth();
  auto all = [&] {
    for (auto o : op->operands())
      if (!prove(o, goals, budget)) return false;
    return true;
  };
  auto either = [&] {
    for (auto o : op->operands()) {
      Set trial = goals;
      if (!prove(o, trial, budget)) continue;
      goals = std::move(trial);
      return true;
    }
    return false;
  };
  auto constant = [&](unsigned i) { return intConstantOf(op->operand(i)); };

  switch (op->opcode()) {
  case Opcode::arith_constant:
    if (auto *bits = splatBits(op->attr("value"))) return width > 1 && bits->isNonNegative();
    if (auto dense = op->attr<DenseElementsAttr>("value")) {
      for (size_t i = 0; i < dense.size(); ++i)
        if (dense.element(i).isNegative()) return false;
      return width > 1;
    }
    return false;
  case Opcode::tt_make_range: return op->cast<tt::MakeRangeOp>().start() >= 0;
  case Opcode::tt_get_program_id:
  case Opcode::tt_get_num_programs: return true;
  case Opcode::arith_extui: return width > op->operand(0).type().scalar().bitWidth();
  case Opcode::tt_splat:
  case Opcode::tt_unsplat:
  case Opcode::tt_broadcast:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape:
  case Opcode::tt_trans:
  case Opcode::tt_join:
  case Opcode::tt_split:
  case Opcode::tt_cat:
  case Opcode::ttg_convert_layout:
  case Opcode::arith_extsi:
  case Opcode::arith_minsi:
  case Opcode::arith_maxui:
  case Opcode::arith_ori:
  case Opcode::arith_xori: return all();
  case Opcode::arith_maxsi:
  case Opcode::arith_minui:
  case Opcode::arith_andi:
  case Opcode::arith_remui: return either(); // a remainder is no larger than the dividend and smaller than the divisor
  case Opcode::arith_addi:
  case Opcode::arith_muli: return width >= 32 && all();
  case Opcode::arith_shli: return width >= 32 && prove(op->operand(0), goals, budget);
  case Opcode::arith_shrsi:
  case Opcode::arith_remsi: return prove(op->operand(0), goals, budget);
  case Opcode::arith_divsi: {
    auto divisor = constant(1);
    return (!divisor || *divisor > 0) && prove(op->operand(0), goals, budget);
  }
  case Opcode::arith_divui:
  case Opcode::arith_shrui: {
    auto by = constant(1);
    if (by && *by > (op->is<arith::DivuiOp>() ? 1 : 0) &&
        uint64_t(*by) < (op->is<arith::DivuiOp>() ? UINT64_MAX : width))
      return true;
    return prove(op->operand(0), goals, budget);
  }
  case Opcode::arith_select: return prove(op->operand(1), goals, budget) && prove(op->operand(2), goals, budget);
  case Opcode::scf_if:
    for (auto &r : op->regions())
      if (!r.hasOneBlock() || !prove(r.front()->terminator()->operand(v.index()), goals, budget)) return false;
    return true;
  case Opcode::scf_for:
    return prove(op->operand(3 + v.index()), goals, budget) &&
           prove(op->region(0).front()->terminator()->operand(v.index()), goals, budget);
  default: return false;
  }
}

} // namespace tessera::transforms
