// Layout conversions move down (see downward_moves.h).
#include "transforms/layout/downward_moves.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/reduce_shape.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/broadcasts.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/reduction.h"
#include "transforms/layout/conversion_facts.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/operand_layouts.h"
#include "transforms/layout/store_layout.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"
#include <utility>

namespace tessera::transforms {
using namespace ir;
using layouts::Dim;
using layouts::Encoding;
using layouts::LinearLayout;

namespace {

/// Whether each element is computed from one of a converted value: to have it in another layout, that value is
/// converted to another one (conversion slices), which costs nothing more.
bool isComputedFromConverted(Value v) {
  while (Operation *op = v.definingOp()) {
    if (op->is<ttg::ConvertLayoutOp>()) return true;
    bool isOfOneValue = op->numOperands() == 1 && op->numResults() == 1 && isPure(op) && op->result().hasOneUse();
    if (!isOfOneValue || !(isElementwise(op) || op->is<tt::ExpandDimsOp>())) return false;
    v = op->operand(0);
  }
  return false;
}

/// What it costs to convert a value: the loops in which it is done, then how many elements there are.
std::pair<unsigned, int64_t> conversionCost(Value v) { return {loopsAroundSource(v), elementsBeforeBroadcasts(v)}; }

/// Whether only joins use the halves, and what is computed from them element by element: a step of a transform, after
/// which threads may hold other elements. Elsewhere the next layout may have other reasons, such as wide stores.
bool areJoinedAgain(tt::SplitOp split) {
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

/// Bytes of shared memory for the partial results of warps if the operand had the layout.
int64_t exchangedByReduce(tt::ReduceOp op, unsigned at, const Encoding *e) {
  auto &layout = e->layoutOf(tensorOf(op->operand(at)).shape());
  if (!layout.ok()) return 0;
  auto shape = layouts::reduceShape(*layout, op.axis());
  if (shape.warps == 1) return 0;
  int64_t bytes = 0;
  for (Value v : op->operands()) bytes += layouts::reduceScratchBytes(shape, llvm::divideCeil(bitsOf(v), 8));
  return bytes;
}

} // namespace

DownwardMoves::DownwardMoves(Module &m, AvailableValues &values, CarriedLayouts &carried, const GlobalAccesses &memory,
                             const Limits &limits, const Tuning &tuning)
    : pool_(m.context().encodings()), values_(values), carried_(carried), memory_(memory), limits_(limits),
      costs_(tuning), threads_(numWarps(m.op()) * threadsPerWarp(m.op())) {}

bool DownwardMoves::move(Operation *op, unsigned at, const Encoding *e) {
  bool hasLayoutOfOperands = op->info().has(kElementwise) || op->is<arith::SelectOp>();
  if (hasLayoutOfOperands && isPure(op) && op->numResults()) return moveElementwise(op, at, e);
  switch (op->opcode()) {
  case Opcode::tt_map_elementwise: {
    bool canBeDone = isPure(op) && holdsPacks(tensorOf(op->operand(at)), e, op->cast<tt::MapElementwiseOp>().pack());
    return canBeDone && moveElementwise(op, at, e);
  }
  case Opcode::tt_broadcast: return spreads(op->cast<tt::BroadcastOp>(), e) && moveTo(op, e, e);
  case Opcode::tt_expand_dims: {
    auto *slice = layouts::dynCast<layouts::SliceEncoding>(e);
    return slice && slice->dim() == op->cast<tt::ExpandDimsOp>().axis() && moveTo(op, e, slice->parent());
  }
  case Opcode::tt_trans: {
    auto x = op->cast<tt::TransOp>();
    return moveTo(op, e, layouts::inferTrans(pool_, e, x.order(), tensorOf(x.src()).shape()));
  }
  case Opcode::tt_reshape: return moveReshape(op->cast<tt::ReshapeOp>(), e);
  case Opcode::tt_split: return moveSplit(op->cast<tt::SplitOp>(), e);
  case Opcode::tt_join: return moveJoin(op->cast<tt::JoinOp>(), at, e);
  case Opcode::tt_gather: return moveGather(op->cast<tt::GatherOp>(), at, e);
  case Opcode::tt_scan: return moveScan(op->cast<tt::ScanOp>(), at, e);
  case Opcode::tt_reduce: return moveReduce(op->cast<tt::ReduceOp>(), at, e);
  case Opcode::tt_assert:       // each thread tests what it has
  case Opcode::ttg_local_alloc: // filled from any layout; through another one the value would pass memory twice
    values_.setOperandLayout(op, 0, e);
    return true;
  case Opcode::tt_load: return moveLoad(op->cast<tt::LoadOp>(), at, e);
  case Opcode::scf_for:
  case Opcode::scf_while: return moveIntoLoop(op, at, e);
  default: return false;
  }
}

/// Whether operand `i` of an operation decides its layout, rather than operand `at`: the one that is computed in more
/// loops, of equals the one computed from more elements, then the one with wider elements (a select's condition is
/// cheaper to convert than what it selects), or the first (LayoutPreferences::laterOperand: the later one).
bool DownwardMoves::decidesLayout(Operation *op, unsigned i, unsigned at) {
  auto weight = [&](unsigned k) { return std::pair(conversionCost(op->operand(k)), bitsOf(op->operand(k))); };
  auto a = weight(i), b = weight(at);
  if (a != b) return a > b;
  asked_.laterOperand = true;
  return limits_.preferences.laterOperand ? i > at : i < at;
}

/// Whether a broadcast takes the layout of what it makes larger: if that spreads it over threads as well as its own.
bool DownwardMoves::spreads(tt::BroadcastOp op, const Encoding *e) {
  if (!spreadsBroadcast(op, e)) return false;
  unsigned loops = loopsAroundSource(op.src());
  bool isWidenedInLoop = llvm::any_of(op.result().users(), [&](Operation *user) {
    unsigned around = 0;
    for (Operation *p = user->parentOp(); p; p = p->parentOp()) around += isLoop(p);
    return around > loops;
  });
  asked_.wideOfLoop |= isWidenedInLoop;
  return !(isWidenedInLoop && limits_.preferences.wideOfLoop);
}

/// Does an operation of one tensor operand in layout `e`, with its result in `result`. False if that is null.
bool DownwardMoves::moveTo(Operation *op, const Encoding *e, const Encoding *result) {
  if (!result) return false;
  values_.setOperandLayout(op, 0, e);
  changeLayout(op->result(), result);
  return true;
}

bool DownwardMoves::moveElementwise(Operation *op, unsigned at, const Encoding *e) {
  for (unsigned i = 0; i < op->numOperands(); ++i) {
    Value o = op->operand(i);
    if (i == at || values_.isAvailable(o, e)) continue;
    if (carried_.canCarry(o, e)) {
      carried_.change(*placesOf(o), e);
      continue;
    }
    if (auto leaves = carried_.leavesOf(o, e); !leaves.empty()) { // then this operand will come in `e`, too
      for (Value v : leaves) carried_.change(*placesOf(v), e);
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
bool DownwardMoves::mayConvertOperand(Operation *op, unsigned i, unsigned at, const Encoding *e) {
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
  if (bitsOf(o) < bitsOf(op->operand(at))) {
    asked_.widerOperand = true;
    if (limits_.preferences.widerOperand) return true;
  }
  return isComputedFromConverted(o) || (movesWithUse(o, e) && !movesWithUse(arriving.src(), encodingOf(o)));
}

/// Whether all that the value is computed from, by operations on single elements, may be computed in the other layout
/// instead (conversion slices), since nothing else uses it: loads of few elements, loop-carried values, random
/// numbers. Then nothing is converted. A loop that adds up sums of rows with a scale each carries the layout of the
/// sums, and outside of loops random numbers are made where the elements are that they select.
bool DownwardMoves::movesWithUse(Value v, const Encoding *e) {
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

/// A load of few elements, from an address or under a mask that was computed in `e`, if threads load no more there.
/// What reads it may then follow, and no round trip through shared memory delays the load.
bool DownwardMoves::moveLoad(tt::LoadOp op, unsigned at, const Encoding *e) {
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
  if (carriesOther) carried_.change(*placesOf(other), e);
  values_.setOperandLayouts(op.op, e);
  changeLayout(op.result(), e);
  return true;
}

/// The source is in any layout, since it goes to shared memory; the result is in that of the indices.
bool DownwardMoves::moveGather(tt::GatherOp op, unsigned at, const Encoding *e) {
  if (op->hasAttr("efficient_layout")) return false;
  values_.setOperandLayout(op.op, at, e);
  if (at == 1) changeLayout(op.result(), e);
  return true;
}

bool DownwardMoves::moveReshape(tt::ReshapeOp op, const Encoding *e) {
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
bool DownwardMoves::moveSplit(tt::SplitOp op, const Encoding *e) {
  auto shape = tensorOf(op.src()).shape();
  auto *half = layouts::inferSplit(pool_, e, shape);
  if (half) {
    values_.setOperandLayout(op.op, 0, e);
  } else {
    auto *nearest = layouts::nearestToSplit(pool_, e, shape);
    if (!limits_.hasRowShuffles || !nearest || layouts::sameLayout(nearest, encodingOf(op.src()), shape)) return false;
    if (!areJoinedAgain(op)) return false;
    half = layouts::inferSplit(pool_, nearest, shape);
    Builder b(op.op);
    op->setOperand(0, inLayout(b, op->loc(), values_.getIn(op.src(), e, op.op), nearest));
  }
  for (auto r : op->results()) changeLayout(r, half);
  return true;
}

bool DownwardMoves::moveJoin(tt::JoinOp op, unsigned at, const Encoding *e) {
  if (!values_.othersAreAcceptable(op.op, at, e)) return false;
  auto *joined = layouts::inferJoin(pool_, e, tensorOf(op->operand(at)).shape());
  if (!joined) return false;
  values_.setOperandLayouts(op.op, e);
  changeLayout(op.result(), joined);
  return true;
}

bool DownwardMoves::moveScan(tt::ScanOp op, unsigned at, const Encoding *e) {
  // In a layout out of order it would be converted on the way in and out again (choose-scan-layouts).
  auto &layout = e->layoutOf(tensorOf(op->operand(at)).shape());
  bool canBeLowered = !isDotOperand(e) && layout.ok() && layouts::scanShape(*layout, op.axis()).inOrder;
  if (!canBeLowered || !values_.othersAreAcceptable(op.op, at, e)) return false;
  // Where threads have several chunks of the axis, and warps exchange a total of each, that may take longer than the
  // conversions. What was broadcast is converted before.
  Value source = op->operand(at);
  double converted = isMadeOfBroadcasts(source) ? 0 : costs_.conversion(source, e);
  for (auto r : op->results()) converted += costs_.conversion(r, e);
  if (costs_.operation(op.op, e) > costs_.operation(op.op, encodingOf(source)) + converted) return false;
  values_.setOperandLayouts(op.op, e);
  for (auto r : op->results()) changeLayout(r, e);
  return true;
}

bool DownwardMoves::moveReduce(tt::ReduceOp op, unsigned at, const Encoding *e) {
  // Where each warp has few elements along the axis, the partial results are nearly as many as the elements, and the
  // combined ones take memory beside them: a conversion before the reduction takes less.
  int64_t exchanged = exchangedByReduce(op, at, e);
  if (exchanged > limits_.mostExchanged && exchanged > exchangedByReduce(op, at, encodingOf(op->operand(at))))
    return false;
  if (!values_.othersAreAcceptable(op.op, at, e)) return false;
  values_.setOperandLayouts(op.op, e);
  for (auto r : op->results())
    if (r.type().isTensor()) changeLayout(r, *pool_.getSlice(op.axis(), e));
  return true;
}

/// An initial value arrives converted: the loop carries the original layout. The yielded value is converted to it.
bool DownwardMoves::moveIntoLoop(Operation *loop, unsigned at, const Encoding *e) {
  auto places = placesGivenBy(loop->opOperand(at));
  if (!places || !carried_.mayChange(loop, places->index, e)) return false;
  carried_.change(*places, e);
  return true;
}

} // namespace tessera::transforms
