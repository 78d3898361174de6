// What a slice of layout conversions recomputes, and what that saves (see conversion_slices.cpp for the words).
//
// The plan goes from the conversions' sources up: for every value and the layout in which it is needed, the cheaper of
// computing it there, with the layouts that its operands then need, and converting it. `collect` lists what these
// choices reach. The gain counts what several values of the plan share once.
#include "transforms/layout/conversion_slice.h"
#include "ir/loops.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/load_elements.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/layout/operand_layouts.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

/// Bounds of one plan, which keep compile time linear.
constexpr unsigned kMaxDepth = 200;
constexpr unsigned kMaxPlannedValues = 2000;

// ---- the plan -------------------------------------------------------------------------------------------------------

ConversionSlice::ConversionSlice(SliceContext &context, llvm::ArrayRef<ttg::ConvertLayoutOp> conversions,
                                 llvm::function_ref<bool(Value)> remains)
    : context_(context), costs_(context.costs), conversions_(conversions),
      pool_(conversions_[0].op->context().encodings()), wanted_(encodingOf(conversions_[0].result())),
      readsWords_(llvm::all_of(conversions_, [&](ttg::ConvertLayoutOp c) {
        return isDotOperand(wanted_) &&
               isComputedFromWords(c.src(), wanted_, c->block(), context.tuning.narrowOperandFraction);
      })) {
  for (auto c : conversions_) plan(c.src(), wanted_, 0, remains);
  for (auto c : conversions_) collect(c.src(), wanted_);
}

/// True if kWidth elements of the value fill a 32-bit word, or the value's elements are at least as wide as the
/// operand's. Elements of other values would be read from shared memory one by one.
bool ConversionSlice::isWordOfOperand(Value v) const {
  auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(wanted_);
  return bitsOf(v) >= conversions_[0].result().type().scalar().bitWidth() ||
         (operand && operand->kWidth() * bitsOf(v) >= 32);
}
/// Whether the value is a load that the pipeliner makes a copy to shared memory.
bool ConversionSlice::isCopiedInLoop(Value v) {
  bool isOfLoop = v.parentBlock()->parentOp()->is<scf::ForOp>() && v.parentBlock() == conversions_[0]->block();
  return isOfLoop && (readsWords_ || isWordOfOperand(v)) && v.definingOp() && isLoad(v.definingOp()) && v.hasOneUse();
}
/// Whether the operation loads, for a dot in a loop, words that each stand for several neighbours (load-repeated-once).
static bool isRepeatedLoad(Operation *op) {
  if (!op->is<tt::LoadOp>() || bitsOf(op->result()) < 32 || !isLoopBodyWithDot(op->block())) return false;
  bool isExpanded = false, isBroadcast = false;
  while (op->result().hasOneUse()) {
    op = *op->result().users().begin();
    if (op->is<tt::ReshapeOp>()) return isExpanded && isBroadcast;
    isExpanded |= op->is<tt::ExpandDimsOp>();
    isBroadcast |= op->is<tt::BroadcastOp>();
    if (!op->is<tt::ExpandDimsOp>() && !op->is<tt::BroadcastOp>() && !op->is<ttg::ConvertLayoutOp>()) return false;
  }
  return false;
}

/// A load of few elements for each thread. Of elements that are repeated there may be more without asynchronous copies:
/// canLoadIn compares the accesses.
bool ConversionSlice::isNarrowLoad(Operation *op) const {
  int64_t mostElements = context_.threads;
  if (!context_.asyncCopies && isRepeatedLoad(op)) mostElements = std::numeric_limits<int64_t>::max();
  return transforms::isNarrowLoad(op, mostElements, context_.accesses);
}

/// Accesses of 16 bytes by which a thread would read the converted value from shared memory.
int64_t ConversionSlice::readsPerThread() const {
  Value v = conversions_[0].result();
  auto &layout = wanted_->layoutOf(tensorOf(v).shape());
  if (!layout.ok()) return 0;
  return layouts::uniqueElementsPerThread(*layout) * bitsOf(v) / (kGlobalAccessBytes * 8);
}

/// Elements of a load that a thread gets by one access in the layout.
static int64_t elementsPerAccess(const AxisInfoAnalysis &axes, tt::LoadOp load, const Encoding *e) {
  return transforms::elementsPerAccess(axes, load.ptr(), load.mask(), e);
}

/// Accesses by which a thread loads its elements in the layout; equal ones are loaded once.
static int64_t accessesPerThread(const AxisInfoAnalysis &axes, tt::LoadOp load, const Encoding *e) {
  auto &layout = e->layoutOf(tensorOf(load.result()).shape());
  if (!layout.ok()) return tensorOf(load.result()).numElements();
  return std::max<int64_t>(1, differentElements(axes, load, *layout) / elementsPerAccess(axes, load, e));
}

/// Whether a narrow load may be done in the layout. In a loop with dots it is issued ahead, and only one of two would
/// be: it moves if nothing else uses it, and if that takes no more accesses, or few of 16 bytes, which are fewer than
/// the shuffles of as many elements. Without asynchronous copies few of any width will do, since the conversion would
/// wait for the load before the dots, and warps for each other; but what a dot takes as it is, its scales, passes
/// shared memory ahead like its operands. Where registers are scarce (narrowLoadMaxAccesses is 0), only what is got by
/// wide accesses moves. A word that is repeated stands for several elements: of these as many accesses move as would
/// read the operand from shared memory.
bool ConversionSlice::canLoadIn(tt::LoadOp load, const Encoding *e) const {
  if (isDotOperand(e)) return false;
  if (!isLoopBodyWithDot(load->block())) return true;
  if (!load.result().hasOneUse()) return false;
  const AxisInfoAnalysis &axes = context_.axes;
  int64_t before = accessesPerThread(axes, load, encodingOf(load.result()));
  int64_t after = accessesPerThread(axes, load, e);
  bool isWide = elementsPerAccess(axes, load, e) * bitsOf(load.result()) == kGlobalAccessBytes * 8;
  if (context_.asyncCopies) return after <= before || (isWide && after <= context_.tuning.narrowLoadMaxWideAccesses);
  bool isScale = !isDotOperand(wanted_) && llvm::any_of(conversions_, [](ttg::ConvertLayoutOp c) {
    return llvm::any_of(c.result().users(), isDot);
  });
  int64_t few = context_.tuning.narrowLoadMaxAccesses;
  if (isRepeatedLoad(load.op)) few = std::max(few, readsPerThread());
  if (isScale || (!few && !isWide)) return false;
  return after <= before || after <= few;
}

double ConversionSlice::conversionAt(Value v, const Encoding *e) {
  bool isLarge =
      tensorOf(v).numElements() * context_.tuning.narrowOperandFraction > tensorOf(conversions_[0].src()).numElements();
  bool readsCopy = (isDotOperand(e) || (readsWords_ && isLarge)) && isCopiedInLoop(v); // in any layout alike
  return (readsCopy ? 1 : costs_.conversion(v, e)) * costs_.frequency(v.parentBlock());
}

/// LayoutCosts::operation, where a load costs as much as its accesses: what the layout has side by side comes at once.
double ConversionSlice::operationCost(Operation *op, const Encoding *e) {
  double cost = costs_.operation(op, e);
  auto load = op->dyn<tt::LoadOp>();
  if (!load || !load.result().type().isTensor()) return cost;
  double elements = elementsPerAccess(context_.axes, load, e);
  auto &layout = e->layoutOf(tensorOf(load.result()).shape());
  if (layout.ok() && !context_.asyncCopies)
    elements *= double(layouts::uniqueElementsPerThread(*layout)) / differentElements(context_.axes, load, *layout);
  return std::max(costOf(op, context_.tuning).time, cost / elements);
}

bool ConversionSlice::inputsFor(Value v, const Encoding *e, llvm::SmallVectorImpl<LayoutValue> &inputs) {
  // A value that a loop carries or a branch yields has one layout in all of its places; the first one stands for them.
  if (auto places = placesOf(v)) {
    if (isDotOperand(e)) return false;
    inputs.push_back({places->values[0], e});
    if (v != places->values[0]) return true;
    for (auto *source : places->sources) inputs.push_back({source->get(), e});
    for (Value other : llvm::drop_begin(places->values)) inputs.push_back({other, e});
    return true;
  }
  Operation *op = v.definingOp();
  auto addTensorOperands = [&](const Encoding *in) {
    for (auto o : op->operands())
      if (o.type().isTensor()) inputs.push_back({o, in});
  };
  if (op && isNarrowLoad(op)) {
    addTensorOperands(e);
    return canLoadIn(op->cast<tt::LoadOp>(), e);
  }
  if (!op || !isPure(op)) return false;
  if (makesAnyLayout(op)) return true;
  switch (op->opcode()) {
  case Opcode::ttg_convert_layout:
  case Opcode::tt_broadcast:
  case Opcode::tt_expand_dims:
  case Opcode::tt_trans:
  case Opcode::tt_reshape:
  case Opcode::tt_join:
  case Opcode::tt_scan: {
    auto *in = op->numResults() == 1 ? operandLayoutFor(pool_, op, e) : nullptr;
    if (in) addTensorOperands(in);
    return in != nullptr;
  }
  default: break;
  }
  // Inline assembly may have several results.
  bool isInPlace = op->info().has(kElementwise) || op->is<arith::SelectOp>();
  if (!isInPlace || op->numRegions() || !keepsPackedElements(op, e, encodingOf(v))) return false;
  addTensorOperands(e);
  return true;
}

/// The least cost of having the value in the layout: computed there or converted. A value that is reached again while
/// it is being planned is loop-carried and costs nothing more.
double ConversionSlice::plan(Value v, const Encoding *e, unsigned depth, llvm::function_ref<bool(Value)> remains) {
  if (encodingOf(v) == e) return 0;
  auto [it, isNew] = choices_.try_emplace(LayoutValue{v, e});
  if (!isNew) return it->second.cost;
  Choice best{conversionAt(v, e), false};
  llvm::SmallVector<LayoutValue, 4> inputs;
  if (depth < kMaxDepth && choices_.size() < kMaxPlannedValues && inputsFor(v, e, inputs)) {
    double cost = 0;
    for (auto *input = inputs.begin(); input != inputs.end(); ++input)
      if (!std::count(inputs.begin(), input, *input)) // of x joined with itself, x counts once
        cost += plan(input->first, input->second, depth + 1, remains);
    Operation *def = v.definingOp();
    auto inner = v.definedBy<ttg::ConvertLayoutOp>();
    bool costDependsOnLayout = def && (isNarrowLoad(def) || def->is<tt::ScanOp>());
    if (inner && v.hasOneUse()) // a conversion on the way goes if it served nobody else
      cost -= costs_.conversion(inner.src(), encodingOf(v)) * costs_.frequency(v.parentBlock());
    else if (def && !carrierOf(v) && remains(v))
      cost += operationAt(v, e);
    else if (costDependsOnLayout) // it may cost more there even if it only moves
      cost += (operationCost(def, e) - operationCost(def, encodingOf(v))) * costs_.frequency(v.parentBlock());
    // On a par, conversions stay below: fewer layouts.
    if (cost < best.cost) best = {cost, true};
  }
  return (choices_[{v, e}] = best).cost;
}

/// Lists the values that the choices reach.
void ConversionSlice::collect(Value v, const Encoding *e) {
  if (encodingOf(v) == e || recomputed_.contains({v, e}) || converted_.contains({v, e})) return;
  llvm::SmallVector<LayoutValue, 4> inputs;
  bool recompute = choices_[{v, e}].recompute && inputsFor(v, e, inputs);
  // A loop's arguments and results change all or none.
  if (auto places = recompute ? placesOf(v) : std::nullopt)
    recompute = llvm::all_of(places->values, [&](Value place) { return choices_[{place, e}].recompute; });
  if (!recompute) {
    converted_.insert({v, e});
    return;
  }
  recomputed_.insert({v, e});
  inputs_[v].push_back({e, inputs});
  for (auto &[o, in] : inputs) collect(o, in);
}

// ---- what a slice gains ---------------------------------------------------------------------------------------------

/// Whether a slice for an operand of an fma dot would compute more elements in each thread than before. In the
/// operand's layout threads hold copies of whole rows, more than they have registers for; the lowering reads them from
/// shared memory where the dot needs them, which it cannot do if they are computed on the way.
bool ConversionSlice::readsWholeRowsForFma() {
  auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(wanted_);
  if (!operand || !layouts::dynCast<layouts::BlockedEncoding>(operand->parent())) return false;
  return llvm::any_of(recomputed_, [&](auto &item) {
    auto [v, e] = item;
    return !carrierOf(v) && costs_.operation(v.definingOp(), e) > costs_.operation(v.definingOp(), encodingOf(v));
  });
}
/// Whether a value would be converted that is neither much narrower than the slice's result nor loaded in a loop. Loads
/// of a loop are copied to shared memory in any case, from which one layout is read as well as another.
bool ConversionSlice::convertsWideValue() {
  int64_t elements = tensorOf(conversions_[0].src()).numElements();
  return llvm::any_of(converted_, [&](auto &item) {
    bool isNarrow = tensorOf(item.first).numElements() * context_.tuning.narrowOperandFraction <= elements;
    return !isCopiedInLoop(item.first) && !isNarrow;
  });
}

double ConversionSlice::gain() {
  if (readsWholeRowsForFma()) return 0;
  // Where a dot's operand passes shared memory is optimize-dot-operands' choice.
  if (isDotOperand(wanted_) && convertsWideValue()) return 0;
  double before = 0;
  for (auto *op : replacedConversions()) {
    auto c = op->cast<ttg::ConvertLayoutOp>();
    before += costs_.conversion(c.src(), encodingOf(c.result())) * costs_.frequency(op->block());
  }
  double after = 0;
  for (auto &[v, e] : converted_) after += conversionAt(v, e);
  after += recomputationCost() + conversionsBackCost();
  return before - after;
}

/// Whether the user will take the value in layout `e`: it is recomputed so, or converts to it.
bool ConversionSlice::isInsideUse(OpOperand *use, const Encoding *e) {
  Operation *op = use->owner;
  if (auto c = op->dyn<ttg::ConvertLayoutOp>())
    return encodingOf(c.result()) == e || recomputed_.contains({c.result(), e});
  if (op->info().has(kTerminator) || isLoop(op)) {
    auto places = placesGivenBy(*use);
    return places && recomputed_.contains({places->values[0], e});
  }
  return llvm::any_of(op->results(), [&](Value result) {
    auto it = inputs_.find(result);
    return it != inputs_.end() && llvm::any_of(it->second, [&](auto &inputs) {
             return llvm::is_contained(inputs.second, LayoutValue{use->get(), e});
           });
  });
}

/// The conversions that go: the slice's own, and those of recomputed values to the layout they are recomputed in.
llvm::SmallVector<Operation *, 4> ConversionSlice::replacedConversions() {
  llvm::SmallVector<Operation *, 4> replaced;
  for (auto c : conversions_) replaced.push_back(c.op);
  for (auto *set : {&recomputed_, &converted_})
    for (auto &[v, e] : *set)
      for (auto *user : v.users()) {
        auto c = user->dyn<ttg::ConvertLayoutOp>();
        if (c && encodingOf(c.result()) == e && !llvm::is_contained(replaced, user)) replaced.push_back(user);
      }
  return replaced;
}

llvm::DenseSet<Value> ConversionSlice::valuesThatRemain() {
  llvm::DenseSet<Value> remaining;
  auto isUsedInOldLayout = [&](Value v, const Encoding *e) {
    return llvm::any_of(v.uses(), [&](OpOperand *use) {
      Operation *user = use->owner;
      bool userRemains = llvm::any_of(user->results(), [&](Value r) { return remaining.contains(r); });
      return userRemains || !isInsideUse(use, e);
    });
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto &[v, e] : recomputed_)
      if (!carrierOf(v) && !remaining.contains(v) && isUsedInOldLayout(v, e)) changed |= remaining.insert(v).second;
  }
  return remaining;
}

/// What the slice computes less what is no longer computed.
double ConversionSlice::recomputationCost() {
  auto remaining = valuesThatRemain();
  double cost = 0;
  for (auto &[v, e] : recomputed_) {
    if (carrierOf(v)) continue;
    bool remains = remaining.contains(v);
    if (auto inner = v.definedBy<ttg::ConvertLayoutOp>()) { // nothing is computed, and the conversion may go
      if (!remains) cost -= costs_.conversion(inner.src(), encodingOf(v)) * costs_.frequency(v.parentBlock());
      continue;
    }
    cost += operationAt(v, e);
    if (!remains) cost -= operationAt(v, encodingOf(v));
  }
  return cost;
}

/// Loop-carried values are converted back for users outside.
double ConversionSlice::conversionsBackCost() {
  double cost = 0;
  for (auto &item : recomputed_) {
    auto [v, e] = item;
    if (!carrierOf(v)) continue;
    const Encoding *layout = e;
    bool isUsedOutside = llvm::any_of(v.uses(), [&](OpOperand *use) { return !isInsideUse(use, layout); });
    if (isUsedOutside) cost += conversionAt(v, e);
  }
  return cost;
}

} // namespace tessera::transforms
