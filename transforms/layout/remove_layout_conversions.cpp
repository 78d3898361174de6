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
//            order), loads of few elements, into buffers and into loops. So conversions travel towards the stores and
//            vanish where both ends have one layout. The other operand of an elementwise operation may move as a whole:
//            a scale of each row that is loaded, random numbers
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
#include "layouts/reduce_shape.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/analyses/reduction.h"
#include "transforms/cleanup/carried_values.h"
#include "transforms/cleanup/erase_dead_operations.h"
#include "transforms/layout/carried_layouts.h"
#include "transforms/layout/conversion_facts.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/operand_layouts.h"
#include "transforms/layout/rematerializer.h"
#include "transforms/layout/store_layout.h"
#include "transforms/layout/stores_beside_sums.h"
#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;
using layouts::LinearLayout;

namespace {

class ConversionMoves {
public:
  ConversionMoves(Module &m, int64_t accessBytes, int64_t mostExchanged, const Tuning &tuning, bool hasRowShuffles)
      : m_(m), pool_(m.context().encodings()), accessBytes_(accessBytes), mostExchanged_(mostExchanged),
        tuning_(tuning), hasRowShuffles_(hasRowShuffles), cheap_(m.context(), tuning),
        threads_(numWarps(m.op()) * threadsPerWarp(m.op())), memory_(m), values_(cheap_),
        carried_(m, values_, memory_, tuning) {}

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
        if (isStillUsed) changed |= moveDown(use->owner, use->index(), e);
      }
    }
    return changed;
  }

  /// Does the operation in layout `e`, from which its operand `at` was converted. False: it stays as it is.
  bool moveDown(Operation *op, unsigned at, const Encoding *e) {
    bool hasLayoutOfOperands = op->info().has(kElementwise) || op->is<arith::SelectOp>();
    if (hasLayoutOfOperands && isPure(op) && op->numResults()) return moveDownElementwise(op, at, e);
    switch (op->opcode()) {
    case Opcode::tt_map_elementwise: {
      bool canBeDone = isPure(op) && holdsPacks(tensorOf(op->operand(at)), e, op->cast<tt::MapElementwiseOp>().pack());
      return canBeDone && moveDownElementwise(op, at, e);
    }
    case Opcode::tt_broadcast: return spreadsBroadcast(op->cast<tt::BroadcastOp>(), e) && moveTo(op, e, e);
    case Opcode::tt_expand_dims: {
      auto *slice = layouts::dynCast<layouts::SliceEncoding>(e);
      return slice && slice->dim() == op->cast<tt::ExpandDimsOp>().axis() && moveTo(op, e, slice->parent());
    }
    case Opcode::tt_trans: {
      auto x = op->cast<tt::TransOp>();
      return moveTo(op, e, layouts::inferTrans(pool_, e, x.order(), tensorOf(x.src()).shape()));
    }
    case Opcode::tt_reshape: return moveDownReshape(op->cast<tt::ReshapeOp>(), e);
    case Opcode::tt_split: return moveDownSplit(op->cast<tt::SplitOp>(), e);
    case Opcode::tt_join: return moveDownJoin(op->cast<tt::JoinOp>(), at, e);
    case Opcode::tt_gather: return moveDownGather(op->cast<tt::GatherOp>(), at, e);
    case Opcode::tt_scan: return moveDownScan(op->cast<tt::ScanOp>(), at, e);
    case Opcode::tt_reduce: return moveDownReduce(op->cast<tt::ReduceOp>(), at, e);
    case Opcode::tt_assert:       // each thread tests what it has
    case Opcode::ttg_local_alloc: // filled from any layout; through another one the value would pass memory twice
      values_.setOperandLayout(op, 0, e);
      return true;
    case Opcode::tt_load: return moveDownLoad(op->cast<tt::LoadOp>(), at, e);
    case Opcode::scf_for: return moveIntoLoop(op->cast<scf::ForOp>(), at, e);
    default: return false;
    }
  }

  /// Does an operation of one tensor operand in layout `e`, with its result in `result`. False if that is null.
  bool moveTo(Operation *op, const Encoding *e, const Encoding *result) {
    if (!result) return false;
    values_.setOperandLayout(op, 0, e);
    changeLayout(op->result(), result);
    return true;
  }

  bool moveDownElementwise(Operation *op, unsigned at, const Encoding *e) {
    for (unsigned i = 0; i < op->numOperands(); ++i) {
      Value o = op->operand(i);
      if (i == at || values_.isAvailable(o, e)) continue;
      if (carried_.canCarry(o, e)) {
        carried_.change(*carriedByArgument(o), e);
        continue;
      }
      if (auto leaves = carried_.leavesOf(o, e); !leaves.empty()) { // then this operand will come in `e`, too
        for (Value v : leaves) carried_.change(*carriedByArgument(v), e);
        return true;
      }
      if (!mayConvertOperand(op, i, at, e)) return false;
    }
    values_.setOperandLayouts(op, e);
    for (Value r : op->results()) changeLayout(r, e); // of inline assembly: several
    return true;
  }
  /// Whether operand `i` of an elementwise operation may be converted to `e`, so that operand `at` need not be
  /// converted to the operation's layout.
  bool mayConvertOperand(Operation *op, unsigned i, unsigned at, const Encoding *e) {
    Value o = op->operand(i);
    if (values_.isAcceptable(o, e)) return true;
    auto arriving = op->operand(at).definedBy<ttg::ConvertLayoutOp>();
    if (values_.isWidened(o, e) && !values_.isWidened(arriving.src(), encodingOf(op->result(0)))) return true;
    // Two expensive operands in different layouts: always the same one decides, so that the choice does not alternate.
    if (auto other = o.definedBy<ttg::ConvertLayoutOp>())
      return !isStronger(encodingOf(other.src()), e) && !decidesLayout(op, i, at);
    if (encodingOf(o) != encodingOf(op->result(0))) return true;
    // An operand that is in the operation's layout as it is: one conversion for another, but less often or of fewer
    // elements.
    auto cost = conversionCost(o), costOfArriving = conversionCost(op->operand(at));
    if (cost != costOfArriving) return cost < costOfArriving;
    return isComputedFromConverted(o) || (movesWithUse(o, e) && !movesWithUse(arriving.src(), encodingOf(o)));
  }
  /// Whether each element is computed from one of a converted value: to have it in another layout, that value is
  /// converted to another one (conversion slices), which costs nothing more.
  static bool isComputedFromConverted(Value v) {
    while (Operation *op = v.definingOp()) {
      if (op->is<ttg::ConvertLayoutOp>()) return true;
      bool isOfOneValue = op->numOperands() == 1 && op->numResults() == 1 && isPure(op) && op->result().hasOneUse();
      if (!isOfOneValue || !(isElementwise(op) || op->is<tt::ExpandDimsOp>())) return false;
      v = op->operand(0);
    }
    return false;
  }
  /// Whether all that the value is computed from, by operations on single elements, may be computed in the other layout
  /// instead (conversion slices), since nothing else uses it: loads of few elements, loop-carried values, random
  /// numbers. Then nothing is converted. A loop that adds up sums of rows with a scale each carries the layout of the
  /// sums, and outside of loops random numbers are made where the elements are that they select.
  bool movesWithUse(Value v, const Encoding *e) {
    constexpr unsigned kMost = 512; // operations; bounds the time
    llvm::SmallSetVector<Operation *, 16> moved;
    bool loads = false;
    auto add = [&](Value o) {
      if (values_.isAvailable(o, e) || carried_.canCarry(o, e)) return true;
      Operation *op = o.definingOp();
      if (!op || op->numResults() != 1 || moved.size() == kMost) return false;
      bool isLoad = isNarrowLoad(op, threads_, memory_) && !isLoopBodyWithDot(op->block());
      bool computes = (isElementwise(op) || op->is<arith::SelectOp>()) && isPure(op);
      if (!isLoad && !computes) return false;
      loads |= isLoad;
      moved.insert(op);
      return true;
    };
    if (!add(v) || moved.empty()) return false;
    for (unsigned i = 0; i < moved.size(); ++i)
      for (Value o : moved[i]->operands())
        if (!add(o)) return false;
    auto isUsedOutside = [&](Operation *op) {
      return llvm::any_of(op->result().users(), [&](Operation *user) { return !moved.contains(user); });
    };
    bool isUsedElsewhere = !v.hasOneUse() || llvm::any_of(llvm::drop_begin(moved), isUsedOutside);
    if (!loads && isInLoop(moved[0])) return false; // it is computed while a load of the iteration is waited for
    // Loads of more elements than before are few beside the elements that were added up; other work would be repeated.
    auto shape = tensorOf(v).shape();
    bool repeatsWork = elementsPerThreadOrMany(e, shape) > elementsPerThreadOrMany(encodingOf(v), shape);
    return !isUsedElsewhere && (loads || !repeatsWork);
  }
  /// What it costs to convert a value: the loops in which it is done, then how many elements there are.
  static std::pair<unsigned, int64_t> conversionCost(Value v) {
    return {loopsAroundSource(v), elementsBeforeBroadcasts(v)};
  }
  /// Whether operand `i` of an operation decides its layout, rather than operand `at`: the one that is computed in more
  /// loops, of equals the one computed from more elements, then the one with wider elements (a select's condition is
  /// cheaper to convert than what it selects), or the first.
  static bool decidesLayout(Operation *op, unsigned i, unsigned at) {
    auto weight = [&](unsigned k) { return std::pair(conversionCost(op->operand(k)), bitsOf(op->operand(k))); };
    auto a = weight(i), b = weight(at);
    return a != b ? a > b : i < at;
  }

  /// A load of few elements, from an address or under a mask that was computed in `e`, if threads load no more there.
  /// What reads it may then follow, and no round trip through shared memory delays the load.
  bool moveDownLoad(tt::LoadOp op, unsigned at, const Encoding *e) {
    auto shape = tensorOf(op.result()).shape();
    if (!isNarrowLoad(op.op, threads_, memory_) || isLoopBodyWithDot(op->block())) return false;
    if (elementsPerThreadOrMany(e, shape) > elementsPerThreadOrMany(encodingOf(op.result()), shape)) return false;
    // What stands for masked elements may be what the loop has found before.
    Value other = op.other();
    bool carriesOther =
        other && other != op->operand(at) && !values_.isAcceptable(other, e) && carried_.canCarry(other, e);
    for (unsigned i = 0; i < op->numOperands(); ++i) {
      Value o = op->operand(i);
      if (i != at && !(carriesOther && o == other) && !values_.isAcceptable(o, e)) return false;
    }
    if (carriesOther) carried_.change(*carriedByArgument(other), e);
    values_.setOperandLayouts(op.op, e);
    changeLayout(op.result(), e);
    return true;
  }

  /// The source is in any layout, since it goes to shared memory; the result is in that of the indices.
  bool moveDownGather(tt::GatherOp op, unsigned at, const Encoding *e) {
    if (op->hasAttr("efficient_layout")) return false;
    values_.setOperandLayout(op.op, at, e);
    if (at == 1) changeLayout(op.result(), e);
    return true;
  }

  bool moveDownReshape(tt::ReshapeOp op, const Encoding *e) {
    auto from = tensorOf(op.src()).shape(), to = tensorOf(op.result()).shape();
    if (!op.allowReorder()) return moveTo(op.op, e, layouts::inferReshape(pool_, e, from, to));
    if (!isOrderFree(op.result())) return false;
    // Any order will do, so that each thread may keep what it has, if the result has as much place for it.
    auto source = e->toLinearLayout(from), result = encodingOf(op.result())->toLinearLayout(to);
    if (!source.ok() || !result.ok()) return false;
    auto isBijective = [](const LinearLayout &l) { return l.isInjective() && l.isSurjective(); };
    bool sameRegisters = source->inDimSize(Dim::Register) == result->inDimSize(Dim::Register);
    if (!isBijective(*source) || !isBijective(*result) || !sameRegisters) return false;
    values_.setOperandLayout(op.op, 0, e);
    return true;
  }

  /// Splits where each thread has both halves; else, if they are joined again and elements change lanes without memory,
  /// in the nearest layout where it has.
  bool moveDownSplit(tt::SplitOp op, const Encoding *e) {
    auto shape = tensorOf(op.src()).shape();
    auto *half = layouts::inferSplit(pool_, e, shape);
    if (half) {
      values_.setOperandLayout(op.op, 0, e);
    } else {
      auto *nearest = layouts::nearestToSplit(pool_, e, shape);
      if (!hasRowShuffles_ || !nearest || layouts::sameLayout(nearest, encodingOf(op.src()), shape)) return false;
      if (!areJoinedAgain(op)) return false;
      half = layouts::inferSplit(pool_, nearest, shape);
      Builder b(op.op);
      op->setOperand(0, inLayout(b, op->loc(), values_.getIn(op.src(), e, op.op), nearest));
    }
    for (auto r : op->results()) changeLayout(r, half);
    return true;
  }
  /// Whether only joins use the halves, and what is computed from them element by element: a step of a transform, after
  /// which threads may hold other elements. Elsewhere the next layout may have other reasons, such as wide stores.
  static bool areJoinedAgain(tt::SplitOp split) {
    llvm::SmallSetVector<Operation *, 8> computed;
    computed.insert(split.op);
    for (unsigned i = 0; i < computed.size(); ++i)
      for (Value v : computed[i]->results())
        for (auto *use : v.uses()) {
          Operation *op = use->owner;
          if (op->is<tt::JoinOp>()) continue;
          if (!isElementwise(op) || !isPure(op)) return false;
          computed.insert(op);
        }
    return true;
  }
  bool moveDownJoin(tt::JoinOp op, unsigned at, const Encoding *e) {
    if (!values_.othersAreAcceptable(op.op, at, e)) return false;
    auto *joined = layouts::inferJoin(pool_, e, tensorOf(op->operand(at)).shape());
    if (!joined) return false;
    values_.setOperandLayouts(op.op, e);
    changeLayout(op.result(), joined);
    return true;
  }

  bool moveDownScan(tt::ScanOp op, unsigned at, const Encoding *e) {
    // In a layout out of order it would be converted on the way in and out again (choose-scan-layouts).
    auto &layout = e->layoutOf(tensorOf(op->operand(at)).shape());
    bool canBeLowered = !isDotOperand(e) && layout.ok() && layouts::scanShape(*layout, op.axis()).inOrder;
    if (!canBeLowered || !values_.othersAreAcceptable(op.op, at, e)) return false;
    values_.setOperandLayouts(op.op, e);
    for (auto r : op->results()) changeLayout(r, e);
    return true;
  }
  /// Bytes of shared memory for the partial results of warps if the operand had the layout.
  static int64_t exchangedByReduce(tt::ReduceOp op, unsigned at, const Encoding *e) {
    auto &layout = e->layoutOf(tensorOf(op->operand(at)).shape());
    if (!layout.ok()) return 0;
    auto shape = layouts::reduceShape(*layout, op.axis());
    if (shape.warps == 1) return 0;
    int64_t bytes = 0;
    for (Value v : op->operands()) bytes += layouts::reduceScratchBytes(shape, llvm::divideCeil(bitsOf(v), 8));
    return bytes;
  }
  bool moveDownReduce(tt::ReduceOp op, unsigned at, const Encoding *e) {
    // Where each warp has few elements along the axis, the partial results are nearly as many as the elements, and the
    // combined ones take memory beside them: a conversion before the reduction takes less.
    int64_t exchanged = exchangedByReduce(op, at, e);
    if (exchanged > mostExchanged_ && exchanged > exchangedByReduce(op, at, encodingOf(op->operand(at)))) return false;
    if (!values_.othersAreAcceptable(op.op, at, e)) return false;
    values_.setOperandLayouts(op.op, e);
    for (auto r : op->results())
      if (r.type().isTensor()) changeLayout(r, *pool_.getSlice(op.axis(), e));
    return true;
  }

  /// An initial value arrives converted: the loop carries the original layout. The yielded value is converted to it.
  bool moveIntoLoop(scf::ForOp loop, unsigned at, const Encoding *e) {
    auto value = carriedByInit(loop->opOperand(at));
    if (!value || !carried_.mayChange(loop.op, value->index, e)) return false;
    carried_.change(*value, e);
    return true;
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
  int64_t accessBytes_;   // of the widest access to global memory
  int64_t mostExchanged_; // bytes of partial results that a reduction may have where it had fewer
  const Tuning &tuning_;
  const bool hasRowShuffles_; // elements change lanes without memory
  Rematerializer cheap_;
  const int64_t threads_; // of a block
  const GlobalAccesses memory_;
  AvailableValues values_;
  CarriedLayouts carried_;
};

} // namespace

absl::StatusOr<bool> removeLayoutConversions(Module &m, PassContext &c) {
  const Tuning tuning = c.target ? c.target->tuning : Tuning();
  const int64_t accessBytes = c.target ? c.target->maxGlobalAccessBytes : kGlobalAccessBytes;
  const int64_t mostExchanged = c.target ? c.target->sharedMemoryPerBlock / 2 : std::numeric_limits<int64_t>::max();
  bool changed = false;
  const bool hasRowShuffles = c.target && c.target->hasRowShuffles;
  const bool asyncCopies = c.target && c.target->hasPerLaneAsyncCopy;
  // What slices compute in another layout may let more conversions move.
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    changed |= ConversionMoves(m, accessBytes, mostExchanged, tuning, hasRowShuffles).run();
    if (!recomputeConversions(m, tuning, asyncCopies)) break;
    changed = true;
  }
  if (storeBesideSums(m, tuning, accessBytes, asyncCopies)) {
    recomputeConversions(m, tuning, asyncCopies);
    changed = true;
  }
  ConversionMoves last(m, accessBytes, mostExchanged, tuning, hasRowShuffles);
  changed |= last.copyCarriedIndices();
  changed |= last.convertAfterNarrowingCasts();
  changed |= last.fold();
  return changed;
}

} // namespace tessera::transforms
