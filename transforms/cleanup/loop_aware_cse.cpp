// Pass triton-loop-aware-cse: merges equal loop-carried values: those that start from the same value and are updated in
// the same way are equal in every iteration, so that one can replace the others. (Two pointers that advance side by
// side often have a loop-carried offset each.)
//
//   scf.for … iter_args(%i = %c0, %j = %c0) {            scf.for … iter_args(%i = %c0, %j = %c0) {
//     %a = arith.addi %i, %c1                              %a = arith.addi %i, %c1
//     %b = arith.addi %j, %c1                       →      %b = arith.addi %i, %c1
//     scf.yield %a, %b                                     scf.yield %a, %b
//
// cse and canonicalize then drop %b and %j. Equality is assumed and refined, by partition:
//   Phase 1: loop-carried values with one initial value are put into one class.
//   Phase 2: a class is split as long as the values that its members yield differ, if members of one class are taken
//            to be equal. What is left is equal by induction over the iterations.
//   Phase 3: each class's first member replaces the others.
// Yielded values are compared through operations of the loop's body that have no effects and no regions. cse runs
// before, since it makes more operands identical, and after, to merge the updates.
//
// Runs: TTIR.
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// How many pairs of values are compared for one pair of yielded values: enough for index arithmetic, and it keeps the
/// comparison of expressions that share operands from growing exponentially.
constexpr unsigned kComparisons = 100;

class EqualCarriedValues {
public:
  explicit EqualCarriedValues(scf::ForOp loop) : loop_(loop), body_(loop.body().front()) {}

  bool merge() {
    assumeEqual();
    while (refine()) {
    }
    return replace();
  }

private:
  /// Phase 1. A class is named by the index of its first member.
  void assumeEqual() {
    for (unsigned i = 0; i < numCarried(loop_); ++i) {
      unsigned first = 0;
      while (loop_.initArgs()[first] != loop_.initArgs()[i]) ++first;
      classOf_.push_back(first);
    }
  }

  /// Phase 2, one step: splits classes by what their members yield. Returns whether any class was split.
  bool refine() {
    llvm::SmallVector<unsigned, 8> refined;
    for (unsigned i = 0; i < numCarried(loop_); ++i) {
      unsigned first = 0;
      while (first < i && !staysWith(first, i, refined)) ++first;
      refined.push_back(first);
    }
    bool split = refined != classOf_;
    classOf_ = std::move(refined);
    return split;
  }

  /// Whether `i` stays in a class with `first`, which must be the first member of its refined class.
  bool staysWith(unsigned first, unsigned i, llvm::ArrayRef<unsigned> refined) {
    if (classOf_[first] != classOf_[i] || refined[first] != first) return false;
    unsigned budget = kComparisons;
    return areEqual(carried(loop_, first).yielded, carried(loop_, i).yielded, budget);
  }

  /// Phase 3.
  bool replace() {
    bool changed = false;
    for (unsigned i = 0; i < numCarried(loop_); ++i) {
      if (classOf_[i] == i) continue;
      CarriedValue duplicate = carried(loop_, i);
      CarriedValue kept = carried(loop_, classOf_[i]);
      changed |= !duplicate.argument.useEmpty() || !duplicate.result.useEmpty();
      duplicate.argument.replaceAllUsesWith(kept.argument);
      duplicate.result.replaceAllUsesWith(kept.result);
    }
    return changed;
  }

  /// Whether two values are equal in an iteration at whose beginning the members of each class are.
  bool areEqual(Value a, Value b, unsigned &budget) {
    if (a == b) return true;
    if (!budget || a.type() != b.type()) return false;
    --budget;
    if (a.isBlockArgument() || b.isBlockArgument()) {
      auto carriedA = carriedHere(a), carriedB = carriedHere(b);
      return carriedA && carriedB && classOf_[*carriedA] == classOf_[*carriedB];
    }
    Operation *x = a.definingOp();
    Operation *y = b.definingOp();
    if (a.index() != b.index() || !computeTheSame(x, y)) return false;
    for (unsigned i = 0; i < x->numOperands(); ++i)
      if (!areEqual(x->operand(i), y->operand(i), budget)) return false;
    return true;
  }

  /// Which of this loop's carried values an argument is.
  std::optional<unsigned> carriedHere(Value v) {
    if (!v.isBlockArgument() || v.ownerBlock() != body_ || isInductionVariable(v)) return std::nullopt;
    return carriedByArgument(v)->index;
  }

  /// Whether two operations of the body give equal results for equal operands.
  bool computeTheSame(Operation *x, Operation *y) {
    if (x->block() != body_ || y->block() != body_) return false;
    if (x->opcode() != y->opcode() || x->opcode() == Opcode::unregistered || x->info().has(kNoCse)) return false;
    if (x->numRegions() || !isPure(x) || !isPure(y)) return false;
    bool sameShape = x->numOperands() == y->numOperands() && x->numResults() == y->numResults() &&
                     x->operandSegments() == y->operandSegments() && x->attrs().size() == y->attrs().size();
    if (!sameShape) return false;
    for (auto &attr : x->attrs())
      if (y->attr(attr.name) != attr.value) return false;
    return true;
  }

  scf::ForOp loop_;
  Block *body_;
  llvm::SmallVector<unsigned, 8> classOf_; // of each loop-carried value: its class's first member
};

} // namespace

absl::StatusOr<bool> loopAwareCse(Module &m, PassContext &c) {
  auto changed = commonSubexpressions(m, c);
  if (!changed.ok()) return changed;
  bool merged = false;
  m.op()->walkPostOrder([&](Operation *op) {
    if (auto f = op->dyn<scf::ForOp>()) merged |= EqualCarriedValues(f).merge();
  });
  if (!merged) return changed;
  if (auto again = commonSubexpressions(m, c); !again.ok()) return again;
  return true;
}

} // namespace tessera::transforms
