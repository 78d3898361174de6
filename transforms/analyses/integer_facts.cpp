// The two walks that answer integer_facts.h's questions with the rules of integer_rules.h.
//
// integerRange follows definitions to a bounded depth. A loop's counter lies between the bounds of the loop; all other
// block arguments, and results of operations with regions, may be any number of their type.
//
// SignAnalysis::nonNegative collects goals: values that must all be non-negative. It follows definitions; a value that
// is a goal already is a loop-carried one whose proof has begun, and serves as the hypothesis of the induction. (A
// cycle of definitions passes through a block argument, so each step of it goes back by one iteration.) Which operands
// of an operation must be non-negative follows from its rule: `proveByOperands` finds the smallest sets of operands
// whose being non-negative makes the rule's result so.
#include "transforms/analyses/integer_facts.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "transforms/analyses/integer_rules.h"

namespace tessera::transforms {
using namespace ir;
using namespace integer_rules;

// ---- bounds ---------------------------------------------------------------------------------------------------------

/// Whether the operation may have a rule: rules are for operations without regions, whose results are of one type.
static bool mayHaveRule(Operation *op, Value result) {
  return !op->numRegions() && op->result(0).type() == result.type();
}

static IntegerRange boundsOf(Value v, int depth, const RangeOptions &options);

/// A counter runs from the lower bound in steps to below the upper bound; other arguments may be any number.
static IntegerRange boundsOfArgument(Value v, int depth, const RangeOptions &options) {
  IntegerRange all = allOf(widthOf(v.type(), options.indexBits));
  if (!isInductionVariable(v)) return all;
  auto loop = v.ownerBlock()->parentOp()->cast<scf::ForOp>();
  if (loop.unsignedCmp()) return all;
  IntegerRange lower = boundsOf(loop.lowerBound(), depth, options), upper = boundsOf(loop.upperBound(), depth, options),
               step = boundsOf(loop.step(), depth, options);
  if (step.low <= 0 || upper.high <= lower.low) return all;
  int64_t last = upper.high - 1;
  bool stepsKnown = lower.low == lower.high && step.low == step.high;
  // The distance between two numbers of 64 bits is below 2^64.
  if (stepsKnown) last -= int64_t((uint64_t(last) - uint64_t(lower.low)) % uint64_t(step.low));
  return {lower.low, last};
}

static IntegerRange boundsOf(Value v, int depth, const RangeOptions &options) {
  IntegerRange all = allOf(widthOf(v.type(), options.indexBits));
  if (depth == 0) return all;
  Operation *op = v.definingOp();
  if (!op) return boundsOfArgument(v, depth - 1, options);
  if (!mayHaveRule(op, v)) return all;
  auto operand = [&](unsigned i) { return boundsOf(op->operand(i), depth - 1, options); };
  return rangeOfResult(op, operand, Overflow::MayWrap, options.indexBits);
}

std::optional<IntegerRange> integerRange(Value v, const RangeOptions &options) {
  unsigned width = widthOf(v.type(), options.indexBits);
  if (width == 0 || width > 64) return {};
  return boundsOf(v, options.depth, options);
}

// ---- signs ----------------------------------------------------------------------------------------------------------

/// Values that one query may visit: alternatives inside alternatives multiply.
static constexpr unsigned kProofBudget = 400;

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

SignAnalysis::SignAnalysis(Module &m, Overflow overflow) : overflow_(overflow) {
  for (auto &f : *m.body()) {
    if (!f.is<tt::FuncOp>() || f.region(0).empty()) continue;
    // Only operations of the entry block are executed in every run.
    for (auto &op : *f.region(0).front()) {
      auto assume = op.dyn<llvm_dialect::IntrAssumeOp>();
      if (!assume) continue;
      llvm::SmallVector<Value, 4> conditions = {assume.condition()};
      while (!conditions.empty()) {
        Value c = conditions.pop_back_val();
        if (auto both = c.definedBy<arith::AndiOp>()) {
          conditions.push_back(both.lhs());
          conditions.push_back(both.rhs());
        } else if (Value v = boundedBelow(c)) {
          assumed_.insert(v);
        }
      }
    }
  }
}

bool SignAnalysis::nonNegative(Value v) const {
  if (proved_.contains(v)) return true;
  if (failed_.contains(v)) return false;
  Goals goals;
  unsigned budget = kProofBudget;
  if (!prove(v, goals, budget)) {
    failed_.insert(v);
    return false;
  }
  proved_.insert(goals.begin(), goals.end());
  return true;
}

bool SignAnalysis::proveCarried(Value v, Goals &goals, unsigned &budget) const {
  if (isInductionVariable(v)) {
    auto loop = v.ownerBlock()->parentOp()->cast<scf::ForOp>();
    auto step = intConstantOf(loop.step());
    if (!step || *step <= 0) return false;
    // A counter of unsigned comparisons may pass the greatest signed number, if the upper bound lies beyond it.
    return prove(loop.lowerBound(), goals, budget) && (!loop.unsignedCmp() || prove(loop.upperBound(), goals, budget));
  }
  if (auto loop = v.ownerBlock()->parentOp()->dyn<scf::WhileOp>()) return proveCarriedByWhile(loop, v, goals, budget);
  auto value = carriedByArgument(v);
  return value && prove(value->init, goals, budget) && prove(value->yielded, goals, budget);
}

/// An argument of the first region starts from outside and continues with what the second one yields; those of the
/// second one, and the results, are what the condition passes on.
bool SignAnalysis::proveCarriedByWhile(scf::WhileOp loop, Value v, Goals &goals, unsigned &budget) const {
  if (!loop.before().hasOneBlock() || !loop.after().hasOneBlock()) return false;
  Block *before = loop.before().front();
  if (v.isBlockArgument() && v.ownerBlock() == before)
    return prove(loop.inits()[v.index()], goals, budget) &&
           prove(loop.after().front()->terminator()->operand(v.index()), goals, budget);
  return prove(before->terminator()->cast<scf::ConditionOp>().args()[v.index()], goals, budget);
}

bool SignAnalysis::proveByOperands(Operation *op, Goals &goals, unsigned &budget) const {
  constexpr unsigned kMaxOperands = 3; // of the operations with rules
  unsigned n = op->numOperands();
  if (n > kMaxOperands) return false;
  // The mode's assumption does not hold where wrap-around is certain.
  Overflow overflow = certainlyWraps(op) ? Overflow::MayWrap : overflow_;
  // Whether the result is non-negative if the operands of a set (bit i: operand i) are. Constants are known.
  auto suffices = [&](unsigned set) {
    auto operand = [&](unsigned i) -> IntegerRange {
      Value v = op->operand(i);
      unsigned width = widthOf(v.type(), 64);
      if (auto c = v.definedBy<arith::ConstantOp>())
        return rangeOfResult(c, [](unsigned) { return IntegerRange{}; }, overflow);
      IntegerRange all = allOf(width);
      return {set >> i & 1 ? 0 : all.low, all.high};
    };
    return rangeOfResult(op, operand, overflow).low >= 0;
  };
  // The smallest sets that suffice, in the order of their sizes.
  llvm::SmallVector<unsigned, 8> sets, smallest;
  for (unsigned size = 0; size <= n; ++size)
    for (unsigned set = 0; set < 1u << n; ++set)
      if (unsigned(llvm::popcount(set)) == size) sets.push_back(set);
  if (!suffices(sets.back())) return false;
  for (unsigned set : sets) {
    bool larger = llvm::any_of(smallest, [&](unsigned s) { return (s & set) == s; });
    if (!larger && suffices(set)) smallest.push_back(set);
  }
  auto proveAll = [&](unsigned set, Goals &in) {
    for (unsigned i = 0; i < n; ++i)
      if (set >> i & 1 && !prove(op->operand(i), in, budget)) return false;
    return true;
  };
  if (smallest.size() == 1) return proveAll(smallest[0], goals);
  // Alternatives: goals of one that fails are dropped.
  for (unsigned set : smallest) {
    Goals trial = goals;
    if (!proveAll(set, trial)) continue;
    goals = std::move(trial);
    return true;
  }
  return false;
}

bool SignAnalysis::prove(Value v, Goals &goals, unsigned &budget) const {
  if (assumed_.contains(v) || proved_.contains(v)) return true;
  unsigned width = widthOf(v.type(), 64);
  if (!budget || width == 0 || width > 64) return false;
  --budget;
  if (!goals.insert(v).second) return true; // the hypothesis
  Operation *op = v.definingOp();
  if (!op) return proveCarried(v, goals, budget);
  if (op->is<scf::IfOp>()) {
    for (auto &r : op->regions())
      if (!r.hasOneBlock() || !prove(r.front()->terminator()->operand(v.index()), goals, budget)) return false;
    return true;
  }
  if (auto loop = op->dyn<scf::WhileOp>()) return proveCarriedByWhile(loop, v, goals, budget);
  if (auto value = carriedByResult(v)) return prove(value->init, goals, budget) && prove(value->yielded, goals, budget);
  if (exact_.contains(v)) return prove(UnaryOp(op).value(), goals, budget);
  return mayHaveRule(op, v) && proveByOperands(op, goals, budget);
}

bool mayBeUndefined(Operation *op) {
  switch (op->opcode()) {
  case Opcode::arith_divsi:
  case Opcode::arith_remsi:
  case Opcode::arith_ceildivsi:
  case Opcode::arith_floordivsi:
  case Opcode::arith_divui:
  case Opcode::arith_remui:
  case Opcode::arith_ceildivui: {
    auto divisor = integerRange(op->operand(kDivisorOperand));
    bool isUnsigned = op->is<arith::DivuiOp>() || op->is<arith::RemuiOp>() || op->is<arith::CeildivuiOp>();
    // Signed division by -1 overflows for the smallest dividend.
    int64_t largestSafeNegative = isUnsigned ? -1 : -2;
    bool isSafe = divisor && (divisor->low > 0 || divisor->high <= largestSafeNegative);
    return !isSafe;
  }
  default: return false;
  }
}

void divideSafelyUnless(Operation *division, Value condition) {
  Builder b(division);
  Location loc = division->loc();
  Value divisor = division->operand(kDivisorOperand);
  Type type = divisor.type().scalar();
  constexpr unsigned kIndexBits = 64;
  unsigned bits = type.isInteger() ? type.bitWidth() : kIndexBits;
  Value safe = b.intConstant(loc, divisor.type(), bits > 2 ? int64_t(1) << (bits - 2) : 1);
  division->setOperand(kDivisorOperand, arith::SelectOp::create(b, loc, condition, divisor, safe).op->result());
}

} // namespace tessera::transforms
