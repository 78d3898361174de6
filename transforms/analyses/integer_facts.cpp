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
//
// A goal is a value and the block where it matters. What the branches and loops around that block have tested holds
// there: of comparisons with constants, least numbers; of comparisons of two values, their difference. Persistent
// kernels over groups of tiles are full of it:
//
//   scf.while (%t = %tile) … {
//     … scf.condition(%t >= %first && %t < %first + %n) %t
//   } do {
//   ^bb0(%t: i32):
//     %inside = arith.subi %t, %first         not negative: %t >= %first
//     %rest = arith.subi %n, %c1              not negative: %first <= %t < %first + %n, so %n > 0
//
// The body of scf.for runs only if its lower bound is below the upper one: in `for _ in range(tl.cdiv(n, 64))`, n > 0.
//
// A value is the same wherever it is visible, so the block stays the same while a proof follows definitions. It
// changes with the iteration: to the loop's body for what an iteration yields, and to the place of a scf.while for what
// comes in, as its first region runs in any case.
// Conditions make no goals of other values. (If they did, `x >= y` and `y >= x` would prove each other's signs.)
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

/// Definitions that `boundsAt` follows: up to 3^depth values.
static constexpr int kBoundsDepth = 4;
static constexpr int64_t kNoBound = INT64_MIN;

static Block *blockOf(Value v) { return v.isBlockArgument() ? v.ownerBlock() : v.definingOp()->block(); }

/// In the second region of a while loop: the value of the first region that the condition passed to this argument.
static Value passedBy(Value v) {
  while (v.isBlockArgument()) {
    Operation *parent = v.ownerBlock()->parentOp();
    auto loop = parent ? parent->dyn<scf::WhileOp>() : scf::WhileOp();
    if (!loop || !loop.before().hasOneBlock() || loop.after().front() != v.ownerBlock()) break;
    v = loop.before().front()->terminator()->cast<scf::ConditionOp>().args()[v.index()];
  }
  return v;
}

/// Adds what is known if the condition holds, or if it does not.
void SignAnalysis::addOrders(Value condition, bool holds, Orders &orders) {
  if (auto both = condition.definedBy<arith::AndiOp>(); both && holds) {
    addOrders(both.lhs(), holds, orders);
    addOrders(both.rhs(), holds, orders);
  } else if (auto either = condition.definedBy<arith::OriOp>(); either && !holds) {
    addOrders(either.lhs(), holds, orders);
    addOrders(either.rhs(), holds, orders);
  }
  auto cmp = condition.definedBy<arith::CmpiOp>();
  // An i1 is no index, and its constants are read as 0 and 1 or as 0 and -1.
  if (!cmp || widthOf(cmp.lhs().type(), 64) < 2) return;
  Value a = passedBy(cmp.lhs()), b = passedBy(cmp.rhs());
  switch (cmp.predicate()) {
  case CmpIPredicate::Sge: return orders.push_back(holds ? Order{a, b, false} : Order{b, a, true});
  case CmpIPredicate::Sgt: return orders.push_back(holds ? Order{a, b, true} : Order{b, a, false});
  case CmpIPredicate::Sle: return orders.push_back(holds ? Order{b, a, false} : Order{a, b, true});
  case CmpIPredicate::Slt: return orders.push_back(holds ? Order{b, a, true} : Order{a, b, false});
  case CmpIPredicate::Eq:
    if (!holds) return;
    orders.push_back({a, b, false});
    return orders.push_back({b, a, false});
  case CmpIPredicate::Ne:
    if (holds) return;
    orders.push_back({a, b, false});
    return orders.push_back({b, a, false});
  case CmpIPredicate::Ult:
  case CmpIPredicate::Ule:
  case CmpIPredicate::Ugt:
  case CmpIPredicate::Uge: return;
  }
}

/// What holds whenever the block is executed, by the branch or loop that it is the body of.
const SignAnalysis::Orders &SignAnalysis::ordersOf(Block *block) const {
  auto [known, isNew] = orders_.try_emplace(block);
  Operation *parent = block->parentOp();
  if (!isNew || !parent) return known->second;
  auto isOnlyBlockOf = [&](Region &r) { return r.hasOneBlock() && r.front() == block; };
  if (auto branch = parent->dyn<scf::IfOp>()) {
    bool isThen = isOnlyBlockOf(branch.thenRegion());
    if (isThen || isOnlyBlockOf(branch.elseRegion())) addOrders(branch.condition(), isThen, known->second);
  } else if (auto loop = parent->dyn<scf::WhileOp>()) {
    if (isOnlyBlockOf(loop.after()) && loop.before().hasOneBlock())
      addOrders(loop.before().front()->terminator()->cast<scf::ConditionOp>().condition(), true, known->second);
  } else if (auto loop = parent->dyn<scf::ForOp>()) {
    if (!loop.unsignedCmp()) known->second.push_back({loop.upperBound(), loop.lowerBound(), true});
  }
  return known->second;
}

/// The outermost block around `at` in which as much is known of the value as in `at`: equal goals are one.
Block *SignAnalysis::contextOf(Value v, Block *at) const {
  Block *defined = blockOf(v);
  for (; at->parent() != defined->parent(); at = at->parentOp()->block()) {
    bool isOutermost = !at->parentOp() || !at->parentOp()->block();
    if (isOutermost || !ordersOf(at).empty()) return at;
  }
  return defined;
}

/// What `from >= least` says of `v`, of which `from` is made in a few steps: of a loop's number of iterations,
/// (%n + 63) / 64 >= 1, that %n >= 1.
int64_t SignAnalysis::leastOfPart(Value v, Value from, int64_t least) const {
  constexpr int64_t kMost = int64_t(1) << 32; // of the numbers here, so that 64 bits suffice
  for (int step = 0; step < kBoundsDepth; ++step) {
    if (from == v) return least;
    Operation *op = from.definingOp();
    auto c = op && op->numOperands() == 2 ? intConstantOf(op->operand(1)) : std::nullopt;
    if (!c || std::abs(*c) > kMost || std::abs(least) > kMost) return kNoBound;
    if (op->is<arith::AddiOp>()) {
      bool mayWrap = overflowOf(op) == Overflow::MayWrap || widthOf(from.type(), 64) < kNarrowestIndex;
      if (mayWrap) return kNoBound;
      least -= *c;
    } else if (op->is<arith::DivsiOp>() && *c > 0 && least > 0) {
      least *= *c; // a positive quotient is rounded down
    } else {
      return kNoBound;
    }
    from = op->operand(0);
  }
  return kNoBound;
}

/// The least number that the value can be by the conditions around the block alone.
int64_t SignAnalysis::leastByConditions(Value v, Block *at) const {
  Orders orders;
  for (Block *b = at; b; b = b->parentOp() ? b->parentOp()->block() : nullptr) llvm::append_range(orders, ordersOf(b));
  if (orders.empty()) return kNoBound;

  v = passedBy(v);
  int64_t least = kNoBound;
  auto differenceIs = [&](bool strict) { least = std::max<int64_t>(least, strict ? 1 : 0); };
  Operation *op = v.definingOp();
  bool indexMayNotWrap = overflow_ == Overflow::Assumed && widthOf(v.type(), 64) >= kNarrowestIndex;
  for (const Order &o : orders) {
    if (auto c = intConstantOf(o.lesser); c && *c < INT64_MAX)
      least = std::max(least, leastOfPart(v, o.greater, *c + (o.strict ? 1 : 0)));
    if (!indexMayNotWrap) continue;
    // v = greater - lesser.
    auto difference = op ? op->dyn<arith::SubiOp>() : arith::SubiOp();
    if (difference && overflowOf(op) == Overflow::Assumed && passedBy(difference.lhs()) == o.greater &&
        passedBy(difference.rhs()) == o.lesser)
      differenceIs(o.strict);
    // first + v >= t and t >= first.
    auto sum = o.greater.definedBy<arith::AddiOp>();
    if (!sum || overflowOf(sum.op) != Overflow::Assumed) continue;
    for (bool isLeft : {true, false}) {
      Value first = passedBy(isLeft ? sum.rhs() : sum.lhs());
      if (passedBy(isLeft ? sum.lhs() : sum.rhs()) != v) continue;
      if (o.lesser == first) differenceIs(o.strict);
      for (const Order &other : orders)
        if (other.greater == o.lesser && other.lesser == first) differenceIs(o.strict || other.strict);
    }
  }
  return least;
}

/// The mode's assumption does not hold where wrap-around is certain.
Overflow SignAnalysis::overflowOf(Operation *op) const { return certainlyWraps(op) ? Overflow::MayWrap : overflow_; }

/// Bounds where the block is executed, from a few definitions. No induction.
IntegerRange SignAnalysis::boundsAt(Value v, Block *at, int depth) const {
  unsigned width = widthOf(v.type(), 64);
  IntegerRange r = allOf(width);
  Operation *op = v.definingOp();
  if (op && depth > 0 && mayHaveRule(op, v) && widthOf(op->result(0).type(), 64))
    r = rangeOfResult(op, [&](unsigned i) { return boundsAt(op->operand(i), at, depth - 1); }, overflowOf(op));
  auto assumed = assumedLeast_.find(v);
  int64_t least = leastByConditions(v, at);
  if (assumed != assumedLeast_.end()) least = std::max(least, assumed->second);
  // Conditions that contradict the definition: the block is never executed.
  if (least <= r.high) r.low = std::max(r.low, least);
  return r;
}

SignAnalysis::SignAnalysis(Module &m, Overflow overflow) : overflow_(overflow) {
  for (auto &f : *m.body()) {
    if (!f.is<tt::FuncOp>() || f.region(0).empty()) continue;
    // Only operations of the entry block are executed in every run.
    Orders orders;
    for (auto &op : *f.region(0).front())
      if (auto assume = op.dyn<llvm_dialect::IntrAssumeOp>()) addOrders(assume.condition(), true, orders);
    for (const Order &o : orders) {
      auto c = intConstantOf(o.lesser);
      if (!c || *c == INT64_MAX) continue;
      auto [least, isNew] = assumedLeast_.try_emplace(o.greater, kNoBound);
      least->second = std::max(least->second, *c + (o.strict ? 1 : 0));
    }
  }
}

bool SignAnalysis::nonNegative(Value v) const {
  Goal goal{v, blockOf(v)};
  if (proved_.contains(goal)) return true;
  if (failed_.contains(goal)) return false;
  Goals goals;
  unsigned budget = kProofBudget;
  if (!prove(v, goal.second, goals, budget)) {
    failed_.insert(goal);
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
    Block *body = v.ownerBlock();
    return prove(loop.lowerBound(), body, goals, budget) &&
           (!loop.unsignedCmp() || prove(loop.upperBound(), body, goals, budget));
  }
  if (auto loop = v.ownerBlock()->parentOp()->dyn<scf::WhileOp>()) return proveCarriedByWhile(loop, v, goals, budget);
  auto value = carriedByArgument(v);
  // What comes in matters only if an iteration runs.
  Block *body = v.ownerBlock();
  return value && prove(value->init, body, goals, budget) && prove(value->yielded, body, goals, budget);
}

/// An argument of the first region starts from outside and continues with what the second one yields; those of the
/// second one, and the results, are what the condition passes on.
bool SignAnalysis::proveCarriedByWhile(scf::WhileOp loop, Value v, Goals &goals, unsigned &budget) const {
  if (!loop.before().hasOneBlock() || !loop.after().hasOneBlock()) return false;
  Block *before = loop.before().front();
  if (v.isBlockArgument() && v.ownerBlock() == before)
    return prove(loop.inits()[v.index()], loop->block(), goals, budget) &&
           prove(loop.after().front()->terminator()->operand(v.index()), loop.after().front(), goals, budget);
  return prove(before->terminator()->cast<scf::ConditionOp>().args()[v.index()], before, goals, budget);
}

bool SignAnalysis::proveByOperands(Operation *op, Block *at, Goals &goals, unsigned &budget) const {
  constexpr unsigned kMaxOperands = 3; // of the operations with rules
  unsigned n = op->numOperands();
  if (n > kMaxOperands) return false;
  Overflow overflow = overflowOf(op);
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
      if (set >> i & 1 && !prove(op->operand(i), at, in, budget)) return false;
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

bool SignAnalysis::prove(Value v, Block *at, Goals &goals, unsigned &budget) const {
  unsigned width = widthOf(v.type(), 64);
  if (!budget || width == 0 || width > 64) return false;
  --budget;
  Goal goal{v, contextOf(v, at)};
  at = goal.second;
  auto assumed = assumedLeast_.find(v);
  if ((assumed != assumedLeast_.end() && assumed->second >= 0) || proved_.contains(goal)) return true;
  if (failed_.contains(goal)) return false;    // a hypothesis proves no more: that proof had made the same one
  if (!goals.insert(goal).second) return true; // the hypothesis
  if (leastByConditions(v, at) >= 0) return true;
  Operation *op = v.definingOp();
  if (!op) {
    // The hypothesis of an induction is about every iteration, whatever a part of its body tests.
    Block *body = v.ownerBlock();
    return at == body ? proveCarried(v, goals, budget) : prove(v, body, goals, budget);
  }
  if (op->is<scf::IfOp>()) {
    for (auto &r : op->regions())
      if (!r.hasOneBlock() || !prove(r.front()->terminator()->operand(v.index()), r.front(), goals, budget))
        return false;
    return true;
  }
  if (auto loop = op->dyn<scf::WhileOp>()) return proveCarriedByWhile(loop, v, goals, budget);
  if (auto value = carriedByResult(v))
    return prove(value->init, value->loop->block(), goals, budget) &&
           prove(value->yielded, value->argument.ownerBlock(), goals, budget);
  if (exact_.contains(v)) return prove(UnaryOp(op).value(), at, goals, budget);
  if (!mayHaveRule(op, v)) return false;
  // Of `x - 1` more must be known of x than its sign.
  bool isSum = op->is<arith::AddiOp>() || op->is<arith::SubiOp>();
  return (isSum && boundsAt(v, at, kBoundsDepth).low >= 0) || proveByOperands(op, at, goals, budget);
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
