// Backward slices of layout conversions (see conversion_slices.h).
//
//   %q = tt.addptr %p, %o : #A               %p1 = …, %o1 = …  (in #B, from their own operands)
//   %r = ttg.convert_layout %q : #A -> #B  → %r  = tt.addptr %p1, %o1 : #B
//
// A slice starts at the conversion's source and goes up through elementwise operations, operations that rename elements
// (broadcast, transpose, reshape, join), small loads, scans, loop-carried values and results of branches. Every value
// on the way has two alternatives:
//   recompute   compute it in the wanted layout, which needs its operands in a layout that follows from it;
//   convert     convert it there.
// The cheaper one is taken, in costs that count elements per thread and how often a block is executed
// (analyses/op_cost.h). So conversions leave loops, move to the narrower side of a cast, or vanish into ranges and
// splats.
//
// A load of no more elements than the block has threads counts as arithmetic: every thread loads what it needs, and the
// lines are read once. That saves the round trip through shared memory after the load's latency.
//
// Operations that only feed the slice (or other conversions to the wanted layout) move and cost nothing; others are
// computed twice and cost their weight. Which these are is known once there is a plan: the first one assumes that all
// move, the second one that those remain which the first would compute twice, the third one that all remain. A
// loop-carried value changes its layout in place, and is converted back for users outside the slice. The slice is
// applied if it costs less than the conversions that it replaces.
//
// Steps for each conversion: plan (which alternative is cheapest, for each value), collect (which values the choices
// reach), gain (the slice's cost with everything shared taken into account; all in conversion_slice.cpp), apply
// (apply_conversion_slice.cpp). Where no conversion's own slice gains, slices of several conversions to one layout are
// tried.
#include "transforms/layout/conversion_slices.h"
#include "ir/module_attributes.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/cleanup/erase_dead_operations.h"
#include "transforms/layout/conversion_slice.h"
#include "llvm/ADT/MapVector.h"
#include <optional>
#include <tuple>
#include <vector>

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

static std::vector<ttg::ConvertLayoutOp> usedConversions(Module &m) {
  std::vector<ttg::ConvertLayoutOp> conversions;
  m.op()->walk([&](Operation *op) {
    if (auto c = op->dyn<ttg::ConvertLayoutOp>(); c && !op->useEmpty()) conversions.push_back(c);
  });
  return conversions;
}

/// The block, or the one around the branches that it is in.
static Block *blockAroundBranches(Block *b) {
  while (b->parentOp()->is<scf::IfOp>()) b = b->parentOp()->block();
  return b;
}

static bool nothingRemains(Value) { return false; }
static bool allRemains(Value) { return true; }

/// Conversions to one layout may share operations that are worth moving for all of them and for none alone: index
/// arithmetic from which a pointer and its mask are computed, or the pointers of both branches.
static bool recomputeTogether(Module &m, SliceContext &context) {
  using Key = std::tuple<Block *, const Encoding *, const Encoding *>;
  llvm::MapVector<Key, llvm::SmallVector<ttg::ConvertLayoutOp, 4>> groups;
  for (auto c : usedConversions(m))
    groups[{blockAroundBranches(c->block()), encodingOf(c.src()), encodingOf(c.result())}].push_back(c);
  for (auto &[key, group] : groups) {
    if (group.size() < 2) continue;
    ConversionSlice s(context, group, nothingRemains);
    if (!s.isWorthwhile()) continue;
    s.apply();
    eraseDeadOperations(m);
    return true;
  }
  return false;
}

/// Whether a slice was applied, and whether another round may find more then: not where conversions moved and nothing
/// else changed.
struct Applied {
  bool any = false, more = false;
  // Only these may be dead, once the first slice has been followed by a walk over the module.
  std::optional<llvm::SmallVector<Operation *, 16>> maybeDead;

  void eraseDead(Module &m, llvm::ArrayRef<Operation *> left) {
    if (!maybeDead) {
      eraseDeadOperations(m);
    } else {
      llvm::append_range(*maybeDead, left);
      eraseDeadOperations(*maybeDead);
    }
    maybeDead.emplace();
  }
};

/// Applies the conversion's slice if that gains.
static void recomputeAlone(Module &m, SliceContext &context, ttg::ConvertLayoutOp conversion, Applied &applied) {
  if (conversion.src().type() == conversion.result().type()) {
    conversion.result().replaceAllUsesWith(conversion.src());
    if (applied.maybeDead) applied.maybeDead->push_back(conversion.op);
    applied.any = applied.more = true;
    return;
  }
  auto applyIfWorthwhile = [&](ConversionSlice &s) {
    if (!s.isWorthwhile()) return false;
    applied.eraseDead(m, s.apply());
    applied.any = true;
    applied.more |= s.recomputes();
    return true;
  };
  ConversionSlice moves(context, conversion, nothingRemains);
  if (applyIfWorthwhile(moves)) return;
  // What that plan would compute twice is better converted, perhaps.
  auto twice = moves.valuesThatRemain();
  ConversionSlice movesRest(context, conversion,
                            [&](Value v) { return twice.contains(v) && !v.definedBy<ttg::ConvertLayoutOp>(); });
  if (!twice.empty() && applyIfWorthwhile(movesRest)) return;
  ConversionSlice repeats(context, conversion, allRemains);
  applyIfWorthwhile(repeats);
}

bool isNarrowLoad(Operation *op, int64_t threads, const GlobalAccesses &accesses) {
  auto load = op->dyn<tt::LoadOp>();
  bool onlyReads = !(effectsOf(op) & ~kReadsGlobal);
  if (!load || load.isVolatile() || !load.ptr().type().isTensor() || !onlyReads) return false;
  return tensorOf(load.result()).numElements() <= threads && !accesses.mayBeWritten(load.ptr());
}

static SliceContext sliceContext(Module &m, const Tuning &tuning, bool asyncCopies) {
  return {tuning,
          LayoutCosts(tuning),
          numWarps(m.op()) * threadsPerWarp(m.op()),
          GlobalAccesses(m),
          AxisInfoAnalysis(m),
          asyncCopies};
}

bool recomputeForNewUse(Module &m, llvm::ArrayRef<ttg::ConvertLayoutOp> conversions, const Tuning &tuning,
                        bool asyncCopies) {
  SliceContext context = sliceContext(m, tuning, asyncCopies);
  double added = 0; // conversions that there were not before, with which the slice's gain counts
  for (auto c : conversions)
    added += context.costs.conversion(c.src(), encodingOf(c.result())) * context.costs.frequency(c->block());
  ConversionSlice slice(context, conversions, nothingRemains);
  if (slice.gain() - added <= tuning.minimumSliceGain) return false;
  slice.apply();
  eraseDeadOperations(m);
  return true;
}

bool recomputeConversions(Module &m, const Tuning &tuning, bool asyncCopies) {
  // Every slice lowers the total cost; the bound is a safety net.
  constexpr int kMaxRounds = 50;
  std::optional<SliceContext> context;
  bool any = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    // Loads that have just moved may move again, to where an operand is computed now.
    if (!context || !asyncCopies) context.emplace(sliceContext(m, tuning, asyncCopies));
    // Inner conversions first: they are executed most.
    auto conversions = usedConversions(m);
    llvm::stable_sort(conversions, [&](auto a, auto b) {
      return context->costs.frequency(a->block()) > context->costs.frequency(b->block());
    });
    Applied applied;
    for (auto c : conversions) {
      bool isGone = !c.op->block() || c.result().useEmpty(); // with another conversion's slice
      if (!isGone) recomputeAlone(m, *context, c, applied);
    }
    eraseDeadOperations(m);
    if (!applied.more && recomputeTogether(m, *context)) applied.any = applied.more = true;
    any |= applied.any;
    if (!applied.more) break;
  }
  return any;
}

} // namespace tessera::transforms
