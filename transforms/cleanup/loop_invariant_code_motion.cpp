// Pass loop-invariant-code-motion: operations without effects whose operands are defined outside a loop are moved
// before it.
//
//   scf.for %i = … {                         %s = tt.splat %n : i32 -> tensor<64xi32>
//     %s = tt.splat %n : …             →     scf.for %i = … {
//     …                                        …
//
// Innermost loops come first, so that an operation can leave several loops. Of the branches in a loop (scf.if) only
// conversions of layouts leave. Three kinds of operations need care if the loop may run zero times:
//   - Descriptors that become tensor maps (those with a layout), whose base or strides may be misaligned. They leave
//     only loops that are known to run.
//   - Loads may fault. They leave any scf.for that writes no memory, with a mask that says whether the loop runs.
//   - Integer divisions are undefined if the divisor is zero (or -1, for signed ones). They leave any scf.for, and
//     divide by a power of two if it does not run.
//
//   scf.for %i = %lo to %hi … {                      %runs = arith.cmpi slt, %lo, %hi
//     %v = tt.load %p                         →      %v = tt.load %p, %runs
//     %q = arith.divsi %x, %n                        %d = arith.select %runs, %n, %power
//                                                    %q = arith.divsi %x, %d
//
// Operands of dots by fma that would fill a thread's registers stay in the loop, where they are read from shared memory
// element by element (isLargeFmaOperand).
//
// Limits: other registers are not counted. A value that is cheap to compute (a splat, a range) occupies registers
// during the whole loop once it is hoisted; LLVM moves such values back if registers are scarce.
//
// Runs: TTIR, NVIDIA pipeline, AMD pipeline.
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/body_slice.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/integer_facts.h"
#include "transforms/cleanup/predicated_load.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;

static bool certainlyRuns(Operation *loop) {
  auto f = loop->dyn<scf::ForOp>();
  if (!f) return false;
  auto lower = intConstantOf(f.lowerBound());
  auto upper = intConstantOf(f.upperBound());
  if (!lower || !upper) return false;
  return f.unsignedCmp() ? uint64_t(*lower) < uint64_t(*upper) : *lower < *upper;
}

/// Whether the operation makes a tensor map. There is none of a misaligned base or stride.
static bool makesTensorMap(const Operation *op) {
  return op->is<tt::MakeTensorDescriptorOp>() && op->result().type().cast<TensorDescType>().encoding();
}

/// Whether the loop runs at all.
static Value whetherRuns(Builder &b, Location loc, scf::ForOp loop) {
  auto predicate = loop.unsignedCmp() ? CmpIPredicate::Ult : CmpIPredicate::Slt;
  return compare(b, loc, predicate, loop.lowerBound(), loop.upperBound());
}

/// Masks the load, which stands before the loop, by whether the loop runs at all.
static void maskByTrip(tt::LoadOp load, scf::ForOp loop) {
  Builder b(load.op);
  Value runs = whetherRuns(b, load.loc(), loop);
  constexpr unsigned kMaskGroup = 1; // tt.load's operands are ptr, mask?, other?
  load->setOperandGroup(kMaskGroup, maskByPredicate(b, load.loc(), load.ptr(), load.mask(), runs));
}

namespace {

/// What decides whether an operation may leave a loop.
class HoistRules {
public:
  HoistRules(Operation *loop, const TargetInfo *target)
      : loop_(loop), target_(target), loopRuns_(certainlyRuns(loop)),
        // Another thread's write may become visible where threads synchronise.
        memoryMayChange_(effectsOf(loop) & (kWritesGlobal | kSynchronizes)) {}

  bool loopRuns() const { return loopRuns_; }

  /// Whether an operation of a branch is worth computing though the branch may not be taken: in every iteration that
  /// takes it, it would go through shared memory.
  bool mayLeaveBranch(Operation &op) const { return op.is<ttg::ConvertLayoutOp>() && mayMove(op); }

  bool mayMove(Operation &op) const {
    if (op.info().has(kTerminator)) return false;
    // The region of a reduction only combines values; other regions may hold anything.
    if (op.numRegions() && !op.is<tt::ReduceOp>()) return false;
    if (effectsOf(&op) != 0 && !isMovableLoad(op)) return false;
    if (!loopRuns_ && makesTensorMap(&op)) return false;
    if (isUndefinedDivision(op) && !loop_->is<scf::ForOp>()) return false;
    if (target_ && op.is<ttg::LocalLoadOp>() && isLargeFmaOperand(op.result().type(), *target_)) return false;
    return isInvariant(op);
  }

  /// A load that reads the same in every iteration and can be masked if the loop may not run. There is no such mask for
  /// scf.while, whose condition is computed inside, nor for block pointers, whose loads have none.
  bool isMovableLoad(Operation &op) const {
    auto load = op.dyn<tt::LoadOp>();
    if (!load || !loop_->is<scf::ForOp>() || isBlockPointer(load.ptr().type())) return false;
    bool onlyReads = !(effectsOf(&op) & ~kReadsGlobal); // volatile loads do more
    return onlyReads && !memoryMayChange_;
  }

  /// A division that is defined only because the loop runs.
  bool isUndefinedDivision(Operation &op) const { return !loopRuns_ && mayBeUndefined(&op); }

private:
  /// Whether all operands, those inside of regions included, are defined outside of the loop (or in the operation).
  bool isInvariant(Operation &op) const {
    for (auto v : op.operands())
      if (!isDefinedOutside(v, loop_)) return false;
    bool invariant = true;
    if (op.numRegions())
      op.walk([&](Operation *inner) {
        for (auto v : inner->operands()) invariant &= isDefinedOutside(v, loop_) || !isDefinedOutside(v, &op);
      });
    return invariant;
  }

  Operation *loop_;
  const TargetInfo *target_; // null: TTIR without a target
  bool loopRuns_;            // at least one iteration, certainly
  bool memoryMayChange_;
};

} // namespace

/// Moves operations of the branches in a block, and of those nested in them, before the loop.
static bool hoistFromBranches(Block &block, Operation *loop, const HoistRules &rules) {
  bool changed = false;
  for (auto &op : block) {
    if (!op.is<scf::IfOp>()) continue;
    for (auto &region : op.regions()) {
      if (region.empty()) continue;
      changed |= hoistFromBranches(*region.front(), loop, rules);
      for (auto &inner : *region.front()) { // the iterator is past an operation that moves
        if (!rules.mayLeaveBranch(inner)) continue;
        inner.moveBefore(loop);
        changed = true;
      }
    }
  }
  return changed;
}

static bool hoist(Operation *loop, const TargetInfo *target) {
  HoistRules rules(loop, target);
  bool changed = false;
  for (auto &region : loop->regions()) {
    if (region.empty()) continue;
    // Only a region's entry block: the others need not run in an iteration.
    changed |= hoistFromBranches(*region.front(), loop, rules);
    for (auto &op : *region.front()) {
      if (!rules.mayMove(op)) continue;
      bool needsMask = rules.isMovableLoad(op) && !rules.loopRuns();
      bool needsDivisor = rules.isUndefinedDivision(op);
      op.moveBefore(loop);
      if (needsDivisor) {
        Builder b(&op);
        divideSafelyUnless(&op, whetherRuns(b, op.loc(), loop->cast<scf::ForOp>()));
      }
      if (needsMask) maskByTrip(op.cast<tt::LoadOp>(), loop->cast<scf::ForOp>());
      changed = true;
    }
  }
  return changed;
}

absl::StatusOr<bool> loopInvariantCodeMotion(Module &m, PassContext &context) {
  bool changed = false;
  m.op()->walkPostOrder([&](Operation *op) {
    if (isLoop(op)) changed |= hoist(op, context.target);
  });
  return changed;
}

} // namespace tessera::transforms
