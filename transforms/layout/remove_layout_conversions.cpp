// Pass tritongpu-remove-layout-conversions: removes layout conversions, by two algorithms.
//
// First each conversion of a broadcast goes before it, where there are fewer elements. Then five moves, repeated until
// none applies. They need no cost model, since none of them computes anything expensive twice; they take
// conversions forward, through operations that the second algorithm does not reach:
//
//   fold     a conversion to the layout that the value has vanishes; two in a row are joined
//   repeat   a conversion of something cheap (ranges, splats, constants, index arithmetic) is replaced by computing it
//            a second time in the wanted layout
//   down     an operation on a converted value is done in the value's own layout, and its result is converted instead:
//              %b = ttg.convert_layout %a : #L -> #D                %y = op %a, (%z in #L) : #L
//              %y = op %b, %z : #D                             →    %r = ttg.convert_layout %y : #L -> #D
//            through elementwise operations, map_elementwise, broadcast, expand_dims, trans, reshape, split, join,
//            gather, reduce (unless warps would then exchange very many partial results), scan (if its axis stays in
//            order), loads of few elements, into buffers and into loops (downward_moves.h). So conversions travel
//            towards the stores and vanish where both ends have one layout. The other operand of an elementwise
//            operation may move as a whole: a scale of each row that is loaded, random numbers
//   carry    loop-carried values and results of branches take the layout in which they are yielded
//   stores   a store whose value arrives in a layout in which accesses are as wide as in its own is done in that
//            layout, if nothing else reads or writes that memory (threads order only their own accesses)
//
// Then conversion slices (conversion_slices.cpp), which have the last word: a cost model weighs each conversion that is
// left against computing the converted value, or part of what it is computed from, in the wanted layout. That takes
// conversions out of loops and to the narrow side of casts. What a slice changes may let moves apply again, so both run
// twice. Then stores of vectors that are computed from sums of rows take the layout of the sums, where that costs less
// (stores_beside_sums.cpp). At the end, rows and columns of indices that a loop carries, and that are still converted
// since their users agree on no layout, are carried once more in each layout; and values that loops or branches yield
// are converted after a narrowing cast rather than before.
//
// Where two layouts would do equally well (LayoutPreferences), what follows decides: all of it is done with each of
// them, and each function keeps the layouts in which it costs least (layout_cost.h). Two tensors that are loaded in
// different layouts are added in the one in which the reduction behind stays within a warp. In the same way layouts are
// tried for loop-carried tensors that are updated and reduced without access to memory (state_layouts.h).
//
// Why both: slices go backward from one conversion and stop at wide loads, reductions and dots; without the moves, the
// conversions after those would remain. The moves alone would keep every conversion that costs something to avoid.
//
// Conversions move down only from values that are expensive to compute (loads, reductions, atomics, loop-carried
// values); cheap ones are computed where they are used (Rematerializer).
//
// Runs: both pipelines.
#include "ir/builder.h"
#include "ir/collect.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/cleanup/erase_dead_operations.h"
#include "transforms/layout/carried_layouts.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/downward_moves.h"
#include "transforms/layout/layout_cost.h"
#include "transforms/layout/rematerializer.h"
#include "transforms/layout/state_layouts.h"
#include "transforms/layout/store_layout.h"
#include "transforms/layout/stores_beside_sums.h"
#include "transforms/passes.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

class ConversionMoves {
public:
  ConversionMoves(Module &m, int64_t accessBytes, const DownwardMoves::Limits &limits, const Tuning &tuning)
      : m_(m), pool_(m.context().encodings()), accessBytes_(accessBytes), tuning_(tuning), cheap_(m.context(), tuning),
        memory_(m), values_(cheap_), carried_(m, values_, memory_, tuning),
        down_(m, values_, carried_, memory_, limits, tuning) {}

  bool run() {
    // Every move takes conversions towards the end of the program or removes them; the bound is a safety net.
    constexpr int kMaxRounds = 100;
    bool any = convertBeforeBroadcasts();
    for (int round = 0; round < kMaxRounds; ++round) {
      bool changed = fold();
      changed |= repeatCheapSources();
      changed |= moveAllDown();
      changed |= carried_.changeAll();
      changed |= storeInLayoutOfValue();
      if (!changed) break;
      any = true;
    }
    return any;
  }

  const LayoutPreferences &asked() const { return down_.asked(); }

  /// Removes conversions to the layout that a value has, joins two in a row, and drops those that nobody uses.
  bool fold() {
    bool any = false;
    while (foldOnce()) any = true;
    return any;
  }

  /// Conversions in loops of indices that a loop carries, which other users want in another layout: the loop carries
  /// them in both.
  bool copyCarriedIndices() {
    Rematerializer copying(m_.context(), tuning_, /*copiesCarried=*/true);
    Rematerializer::Made made;
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      const Encoding *e = encodingOf(c.result());
      bool isRenaming = layouts::sameLayout(encodingOf(c.src()), e, tensorOf(c.src()).shape());
      if (!isInLoop(c.op) || isRenaming || !copying.canMake(c.src(), e)) continue;
      c.result().replaceAllUsesWith(copying.make(c.src(), e, made));
      c->erase();
      changed = true;
    }
    if (!changed) return false;
    eraseDeadOperations(m_);
    for (auto loop : all<scf::ForOp>()) dropUnneededCarriedValues(loop); // what no user wants in the old layout
    return true;
  }

  /// A loop-carried value or result of a branch that its users only make narrower is converted after the cast.
  bool convertAfterNarrowingCasts() {
    auto narrows = [&](Operation *op) {
      return isElementwise(op) && isPure(op) && op->numOperands() == 1 &&
             bitsOf(op->result()) < bitsOf(op->operands()[0]);
    };
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      const Encoding *from = encodingOf(c.src()), *to = encodingOf(c.result());
      auto shape = tensorOf(c.src()).shape();
      Operation *def = c.src().definingOp();
      if (def && !def->numRegions()) continue;
      bool computesMore = elementsPerThreadOrMany(from, shape) > elementsPerThreadOrMany(to, shape);
      if (c.result().useEmpty() || isDotOperand(from) || computesMore) continue;
      auto casts = c.result().users();
      if (!llvm::all_of(casts, narrows)) continue;
      for (auto *op : casts) {
        op->opOperand(0).set(c.src()); // the only one
        changeLayout(op->result(), from);
      }
      c->erase();
      changed = true;
    }
    return changed;
  }

private:
  template <class OpT> std::vector<OpT> all() { return collect<OpT>(m_.op()); }

  // ---- fold, repeat ----

  bool foldOnce() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      if (c.result().useEmpty()) {
        c->erase();
        changed = true;
        continue;
      }
      if (auto inner = c.src().definedBy<ttg::ConvertLayoutOp>()) {
        c.setSrc(inner.src());
        changed = true;
      }
      if (joinAroundExpandDims(c)) {
        changed = true;
        continue;
      }
      if (c.src().type() == c.result().type()) {
        c.result().replaceAllUsesWith(c.src());
        c->erase();
        changed = true;
      }
    }
    return changed;
  }
  /// One conversion before a new dimension and one after it: once is enough.
  bool joinAroundExpandDims(ttg::ConvertLayoutOp c) {
    auto expand = c.src().definedBy<tt::ExpandDimsOp>();
    if (!expand || !expand.src().definedBy<ttg::ConvertLayoutOp>()) return false;
    auto slice = pool_.getSlice(expand.axis(), encodingOf(c.result()));
    if (!slice.ok()) return false;
    Builder b(c.op);
    auto type = tensorOf(expand.src()).withEncoding(*slice);
    Value narrow = ttg::ConvertLayoutOp::create(b, c->loc(), type, expand.src()).result();
    Value whole = tt::ExpandDimsOp::create(b, expand->loc(), c.result().type(), narrow, expand->attrs()).result();
    c.result().replaceAllUsesWith(whole);
    c->erase();
    return true;
  }

  /// The result of a broadcast is converted before it is made larger.
  bool convertBeforeBroadcasts() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      auto broadcast = c.src().definedBy<tt::BroadcastOp>();
      if (!broadcast) continue;
      Builder b(c.op);
      auto type = tensorOf(broadcast.src()).withEncoding(encodingOf(c.result()));
      Value narrow = ttg::ConvertLayoutOp::create(b, c->loc(), type, broadcast.src()).result();
      c.result().replaceAllUsesWith(tt::BroadcastOp::create(b, broadcast->loc(), c.result().type(), narrow).result());
      c->erase();
      changed = true;
    }
    if (changed) eraseDeadOperations(m_);
    return changed;
  }

  bool repeatCheapSources() {
    bool changed = false;
    Rematerializer::Made made;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      if (!cheap_.canCompute(c.src(), encodingOf(c.result()))) continue;
      c.result().replaceAllUsesWith(cheap_.make(c.src(), encodingOf(c.result()), made));
      c->erase();
      changed = true;
    }
    if (changed) eraseDeadOperations(m_);
    return changed;
  }

  // ---- down ----

  bool moveAllDown() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      const Encoding *e = encodingOf(c.src());
      if (isDotOperand(e)) continue;
      for (auto *use : c.result().uses()) {
        bool isStillUsed = use->value == c.result().impl(); // an earlier move may have replaced the use
        if (isStillUsed) changed |= down_.move(use->owner, use->index(), e);
      }
    }
    return changed;
  }

  // ---- stores ----

  bool storeInLayoutOfValue() {
    bool changed = false;
    for (auto s : all<tt::StoreOp>()) changed |= storeInLayoutOfValue(s);
    return changed;
  }
  bool storeInLayoutOfValue(tt::StoreOp s) {
    // A column may have been converted before it became one.
    auto expand = s.value().definedBy<tt::ExpandDimsOp>();
    auto c = (expand ? expand.src() : s.value()).definedBy<ttg::ConvertLayoutOp>();
    if (!c || !s.ptr().type().isTensor() || memory_.isShared(s.ptr())) return false;
    const Encoding *e = encodingOf(c.src());
    if (expand) {
      auto *slice = layouts::dynCast<layouts::SliceEncoding>(e);
      if (!slice || slice->dim() != expand.axis()) return false;
      e = slice->parent();
    }
    auto *now = layouts::dynCast<layouts::BlockedEncoding>(encodingOf(s.ptr()));
    if (!now || isDotOperand(e) || !storesAsWell(s, now, e, accessBytes_, tuning_)) return false;
    auto isCheap = [&](Value v) { return encodingOf(v) == e || cheap_.canCompute(v, e); };
    if (!isCheap(s.ptr()) || (s.mask() && !isCheap(s.mask()))) return false;
    s.setPtr(values_.getIn(s.ptr(), e, s.op));
    Value value = c.src();
    if (expand) {
      Builder b(s.op);
      auto type = tensorOf(s.value()).withEncoding(e);
      value = tt::ExpandDimsOp::create(b, expand->loc(), type, value, expand->attrs()).result();
    }
    s.setValue(value);
    constexpr unsigned kMask = 2; // its place in the operation's row
    if (s.mask()) s->setOperand(s->operandGroupStart(kMask), values_.getIn(s.mask(), e, s.op));
    return true;
  }

  Module &m_;
  layouts::EncodingPool &pool_;
  int64_t accessBytes_; // of the widest access to global memory
  const Tuning &tuning_;
  Rematerializer cheap_;
  const GlobalAccesses memory_;
  AvailableValues values_;
  CarriedLayouts carried_;
  DownwardMoves down_;
};

} // namespace

/// Removes conversions with some preferences, and says which of them made a difference.
static bool removeConversions(Module &m, const TargetInfo *target, const LayoutPreferences &preferences,
                              LayoutPreferences &asked) {
  const Tuning tuning = target ? target->tuning : Tuning();
  const int64_t accessBytes = target ? target->maxGlobalAccessBytes : kGlobalAccessBytes;
  bool changed = false;
  DownwardMoves::Limits limits;
  if (target) {
    limits.mostExchanged = target->sharedMemoryPerBlock / 2;
    limits.hasRowShuffles = target->hasRowShuffles;
  }
  limits.preferences = preferences;
  const bool asyncCopies = target && target->hasPerLaneAsyncCopy;
  // What slices compute in another layout may let more conversions move.
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    ConversionMoves moves(m, accessBytes, limits, tuning);
    changed |= moves.run();
    asked.laterOperand |= moves.asked().laterOperand;
    asked.wideOfLoop |= moves.asked().wideOfLoop;
    asked.widerOperand |= moves.asked().widerOperand;
    if (!recomputeConversions(m, tuning, asyncCopies)) break;
    changed = true;
  }
  if (storeBesideSums(m, tuning, accessBytes, asyncCopies)) {
    recomputeConversions(m, tuning, asyncCopies);
    changed = true;
  }
  ConversionMoves last(m, accessBytes, limits, tuning);
  changed |= last.copyCarriedIndices();
  changed |= last.convertAfterNarrowingCasts();
  changed |= last.fold();
  return changed;
}

namespace {

/// The functions of a module with the layouts in which they cost least so far.
class CheapestFunctions {
public:
  CheapestFunctions(Module &m, const Tuning &tuning) : m_(m), tuning_(tuning), costs_(costsInLayouts(m, tuning)) {
    for (double cost : costs_) most_.push_back(cost * tuning.otherLayoutsPercent / 100);
  }

  /// Takes the functions that cost less in another copy of the module, whose layouts have been chosen otherwise.
  bool takeFrom(Module &other) {
    std::vector<double> costs = costsInLayouts(other, tuning_);
    llvm::SmallVector<Operation *, 4> functions, others;
    for (Operation &op : *m_.body()) functions.push_back(&op);
    for (Operation &op : *other.body()) others.push_back(&op);
    assert(functions.size() == others.size());
    bool changed = false;
    for (unsigned i = 0; i < functions.size(); ++i) {
      if (costs[i] >= costs_[i] || costs[i] > most_[i]) continue;
      costs_[i] = costs[i];
      ValueMap map;
      Builder(functions[i]).clone(others[i], map);
      functions[i]->erase();
      changed = true;
    }
    return changed;
  }

private:
  Module &m_;
  const Tuning &tuning_;
  std::vector<double> costs_;
  std::vector<double> most_; // that other layouts may cost
};

} // namespace

absl::StatusOr<bool> removeLayoutConversions(Module &m, PassContext &c) {
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  std::unique_ptr<Module> before = m.clone();
  LayoutPreferences asked;
  bool changed = removeConversions(m, c.target, {}, asked);
  std::vector<LayoutPreferences> others;
  if (asked.laterOperand) others.push_back({.laterOperand = true});
  if (asked.wideOfLoop) others.push_back({.wideOfLoop = true});
  if (asked.widerOperand) others.push_back({.widerOperand = true});
  std::vector<const Encoding *> states = otherStateLayouts(*before);
  if (others.empty() && states.empty()) return changed;
  Tuning costs = tuning;
  if (!states.empty() && numWarps(m.op()) > 1)
    costs.conversionRoundTripCost = costs.scanWarpsCost = tuning.recurrenceRoundTripCost;
  CheapestFunctions cheapest(m, costs);
  for (const LayoutPreferences &preferences : others) {
    std::unique_ptr<Module> other = before->clone();
    removeConversions(*other, c.target, preferences, asked);
    changed |= cheapest.takeFrom(*other);
  }
  for (const Encoding *layout : states) {
    std::unique_ptr<Module> other = before->clone();
    giveStateLayout(*other, layout);
    removeConversions(*other, c.target, {}, asked);
    changed |= cheapest.takeFrom(*other);
  }
  return changed;
}

} // namespace tessera::transforms
