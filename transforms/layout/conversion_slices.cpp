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
// reach), gain (the slice's cost with everything shared taken into account), apply. Where no conversion's own slice
// gains, slices of several conversions to one layout are tried.
#include "transforms/layout/conversion_slices.h"
#include "ir/builder.h"
#include "ir/loops.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/target.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "layouts/layout_order.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/dots.h"
#include "transforms/analyses/op_cost.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/cleanup/erase_dead_operations.h"
#include "transforms/layout/convert_values.h"
#include "transforms/layout/operand_layouts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

/// A value in a layout.
using LayoutValue = std::pair<Value, const Encoding *>;

/// Bounds of one plan, which keep compile time linear.
constexpr unsigned kMaxDepth = 200;
constexpr unsigned kMaxPlannedValues = 2000;

// ---- facts about values ---------------------------------------------------------------------------------------------

/// The loop or branch whose loop-carried value or result `v` is, or null.
Operation *carrierOf(Value v) {
  if (auto c = carriedOf(v)) return c->loop.op;
  Operation *op = v.definingOp();
  return op && op->is<scf::IfOp>() ? op : nullptr;
}

// ---- one slice ------------------------------------------------------------------------------------------------------

/// What slices of one module share.
struct SliceContext {
  const Tuning &tuning;
  LayoutCosts costs;
  int64_t threads; // of a block
  GlobalAccesses accesses;
  AxisInfoAnalysis axes; // nothing is known of values that slices made
  bool asyncCopies;      // loops copy loads for dots to shared memory asynchronously
};

class Slice {
public:
  /// `remains`: plan as if recomputed operations for whose values it holds remained for other users, too.
  /// @pre all conversions are to one layout
  Slice(SliceContext &context, llvm::ArrayRef<ttg::ConvertLayoutOp> conversions,
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
  /// What the slice saves.
  double gain();
  bool isWorthwhile() { return gain() > context_.tuning.minimumSliceGain; }
  void apply();
  /// Recomputed values whose old computation remains: for a use outside the slice, or by something that remains itself.
  llvm::DenseSet<Value> valuesThatRemain();

private:
  /// What computing `v` in layout `e` needs of its operands; false: it cannot be computed there.
  bool inputsFor(Value v, const Encoding *e, llvm::SmallVectorImpl<LayoutValue> &inputs);
  double plan(Value v, const Encoding *e, unsigned depth, llvm::function_ref<bool(Value)> remains);
  void collect(Value v, const Encoding *e);
  bool readsWholeRowsForFma();
  bool convertsWideValue();
  double conversionAt(Value v, const Encoding *e) {
    bool isLarge = tensorOf(v).numElements() * context_.tuning.narrowOperandFraction >
                   tensorOf(conversions_[0].src()).numElements();
    bool readsCopy = (isDotOperand(e) || (readsWords_ && isLarge)) && isCopiedInLoop(v); // in any layout alike
    return (readsCopy ? 1 : costs_.conversion(v, e)) * costs_.frequency(v.parentBlock());
  }
  double operationCost(Operation *op, const Encoding *e);
  /// Computing the value where it is defined, in a layout.
  double operationAt(Value v, const Encoding *e) {
    return operationCost(v.definingOp(), e) * costs_.frequency(v.parentBlock());
  }
  bool isWordOfOperand(Value v) const;
  bool isCopiedInLoop(Value v);
  llvm::SmallVector<Operation *, 4> replacedConversions();
  double recomputationCost();
  double conversionsBackCost();
  bool isNarrowLoad(Operation *op) const;
  bool canLoadIn(tt::LoadOp, const Encoding *) const;
  bool isInsideUse(OpOperand *use, const Encoding *e);
  Value materialize(Value v, const Encoding *e);
  Value materializeCarried(Value v, const Encoding *e);
  void recompute(Value v, const Encoding *e);
  void changeCarriedLayout(Value v, const Encoding *e);

  SliceContext &context_;
  LayoutCosts &costs_;
  llvm::SmallVector<ttg::ConvertLayoutOp, 4> conversions_;
  layouts::EncodingPool &pool_;
  const Encoding *wanted_;
  bool readsWords_; // of copies to shared memory, from which operands of dots are computed through rearrangements
  struct Choice {
    double cost = 0;
    bool recompute = false;
  };
  llvm::DenseMap<LayoutValue, Choice> choices_;
  llvm::SetVector<LayoutValue> recomputed_, converted_;
  using InputsInLayout = std::pair<const Encoding *, llvm::SmallVector<LayoutValue, 4>>;
  llvm::DenseMap<Value, llvm::SmallVector<InputsInLayout, 1>> inputs_; // of recomputed values, by layout
  llvm::DenseMap<LayoutValue, Value> made_;
};

/// True if kWidth elements of the value fill a 32-bit word, or the value's elements are at least as wide as the
/// operand's. Elements of other values would be read from shared memory one by one.
bool Slice::isWordOfOperand(Value v) const {
  auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(wanted_);
  return bitsOf(v) >= conversions_[0].result().type().scalar().bitWidth() ||
         (operand && operand->kWidth() * bitsOf(v) >= 32);
}
/// Whether the value is a load that the pipeliner makes a copy to shared memory.
bool Slice::isCopiedInLoop(Value v) {
  bool isOfLoop = v.parentBlock()->parentOp()->is<scf::ForOp>() && v.parentBlock() == conversions_[0]->block();
  return isOfLoop && (readsWords_ || isWordOfOperand(v)) && v.definingOp() && isLoad(v.definingOp()) && v.hasOneUse();
}
bool Slice::isNarrowLoad(Operation *op) const {
  return transforms::isNarrowLoad(op, context_.threads, context_.accesses);
}

/// Elements of a load that a thread gets by one access in the layout.
static int64_t elementsPerAccess(const AxisInfoAnalysis &axes, tt::LoadOp load, const Encoding *e) {
  auto type = tensorOf(load.result());
  auto &layout = e->layoutOf(type.shape());
  if (!layout.ok()) return 1;
  int64_t widest = std::max<int64_t>(1, kGlobalAccessBytes * 8 / load.result().type().scalar().bitWidth()), most = 1;
  for (unsigned d = 0; d < type.rank(); ++d) {
    int64_t n = std::min(axes.contiguousElements(load.ptr(), d), int64_t(layouts::consecutiveElements(*layout, d)));
    if (load.mask()) n = std::min(n, axes.maskConstancy(load.mask(), d));
    most = std::max(most, std::min(n, widest));
  }
  return most;
}

/// Accesses by which a thread loads its elements in the layout.
static int64_t accessesPerThread(const AxisInfoAnalysis &axes, tt::LoadOp load, const Encoding *e) {
  auto &layout = e->layoutOf(tensorOf(load.result()).shape());
  if (!layout.ok()) return tensorOf(load.result()).numElements();
  return std::max<int64_t>(1, layouts::uniqueElementsPerThread(*layout) / elementsPerAccess(axes, load, e));
}

/// Whether a narrow load may be done in the layout. In a loop with dots it is issued ahead, and only one of two would
/// be: it moves if nothing else uses it, and if that takes no more accesses, or few of 16 bytes, which are fewer than
/// the shuffles of as many elements. Without asynchronous copies it stays: all that is ahead takes registers.
bool Slice::canLoadIn(tt::LoadOp load, const Encoding *e) const {
  if (isDotOperand(e)) return false;
  if (!isLoopBodyWithDot(load->block())) return true;
  if (!context_.asyncCopies || !load.result().hasOneUse()) return false;
  const AxisInfoAnalysis &axes = context_.axes;
  int64_t before = accessesPerThread(axes, load, encodingOf(load.result()));
  int64_t after = accessesPerThread(axes, load, e);
  bool isWide = elementsPerAccess(axes, load, e) * bitsOf(load.result()) == kGlobalAccessBytes * 8;
  return after <= before || (isWide && after <= context_.tuning.narrowLoadMaxWideAccesses);
}

/// LayoutCosts::operation, where a load costs as much as its accesses: what the layout has side by side comes at once.
double Slice::operationCost(Operation *op, const Encoding *e) {
  double cost = costs_.operation(op, e);
  auto load = op->dyn<tt::LoadOp>();
  if (!load || !load.result().type().isTensor()) return cost;
  return std::max(costOf(op, context_.tuning).time, cost / elementsPerAccess(context_.axes, load, e));
}

bool Slice::inputsFor(Value v, const Encoding *e, llvm::SmallVectorImpl<LayoutValue> &inputs) {
  // A loop-carried value has one layout in all of its places.
  if (auto c = carriedOf(v)) {
    if (isDotOperand(e)) return false;
    inputs.push_back({c->argument, e});
    if (v == c->argument) {
      inputs.push_back({c->init, e});
      inputs.push_back({c->yielded, e});
      inputs.push_back({c->result, e});
    }
    return true;
  }
  if (Operation *branch = carrierOf(v)) {
    if (isDotOperand(e)) return false;
    for (auto &r : branch->regions()) {
      if (!r.hasOneBlock()) return false;
      inputs.push_back({r.front()->terminator()->operand(v.index()), e});
    }
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
double Slice::plan(Value v, const Encoding *e, unsigned depth, llvm::function_ref<bool(Value)> remains) {
  if (encodingOf(v) == e) return 0;
  auto [it, isNew] = choices_.try_emplace(LayoutValue{v, e});
  if (!isNew) return it->second.cost;
  Choice best{conversionAt(v, e), false};
  llvm::SmallVector<LayoutValue, 4> inputs;
  if (depth < kMaxDepth && choices_.size() < kMaxPlannedValues && inputsFor(v, e, inputs)) {
    double cost = 0;
    for (auto &[o, in] : inputs) cost += plan(o, in, depth + 1, remains);
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
void Slice::collect(Value v, const Encoding *e) {
  if (encodingOf(v) == e || recomputed_.contains({v, e}) || converted_.contains({v, e})) return;
  llvm::SmallVector<LayoutValue, 4> inputs;
  bool recompute = choices_[{v, e}].recompute && inputsFor(v, e, inputs);
  // A loop's argument and result change both or neither.
  if (auto c = carriedOf(v); recompute && c)
    for (auto &[o, in] : inputs)
      if (carrierOf(o) == c->loop.op && !choices_[{o, in}].recompute) recompute = false;
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
bool Slice::readsWholeRowsForFma() {
  auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(wanted_);
  if (!operand || !layouts::dynCast<layouts::BlockedEncoding>(operand->parent())) return false;
  return llvm::any_of(recomputed_, [&](auto &item) {
    auto [v, e] = item;
    return !carrierOf(v) && costs_.operation(v.definingOp(), e) > costs_.operation(v.definingOp(), encodingOf(v));
  });
}
/// Whether a value would be converted that is neither much narrower than the slice's result nor loaded in a loop. Loads
/// of a loop are copied to shared memory in any case, from which one layout is read as well as another.
bool Slice::convertsWideValue() {
  int64_t elements = tensorOf(conversions_[0].src()).numElements();
  return llvm::any_of(converted_, [&](auto &item) {
    bool isNarrow = tensorOf(item.first).numElements() * context_.tuning.narrowOperandFraction <= elements;
    return !isCopiedInLoop(item.first) && !isNarrow;
  });
}

double Slice::gain() {
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
bool Slice::isInsideUse(OpOperand *use, const Encoding *e) {
  Operation *op = use->owner;
  if (auto c = op->dyn<ttg::ConvertLayoutOp>())
    return encodingOf(c.result()) == e || recomputed_.contains({c.result(), e});
  if (op->info().has(kTerminator)) {
    Operation *parent = op->parentOp();
    if (auto loop = parent->dyn<scf::ForOp>()) return recomputed_.contains({carried(loop, use->index()).argument, e});
    return parent->is<scf::IfOp>() && recomputed_.contains({parent->result(use->index()), e});
  }
  if (op->is<scf::ForOp>()) {
    auto value = carriedByInit(*use);
    return value && recomputed_.contains({value->result, e});
  }
  return llvm::any_of(op->results(), [&](Value result) {
    auto it = inputs_.find(result);
    return it != inputs_.end() && llvm::any_of(it->second, [&](auto &inputs) {
             return llvm::is_contained(inputs.second, LayoutValue{use->get(), e});
           });
  });
}

/// The conversions that go: the slice's own, and those of recomputed values to the layout they are recomputed in.
llvm::SmallVector<Operation *, 4> Slice::replacedConversions() {
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

llvm::DenseSet<Value> Slice::valuesThatRemain() {
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
double Slice::recomputationCost() {
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
double Slice::conversionsBackCost() {
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

// ---- applying a slice -----------------------------------------------------------------------------------------------

/// Gives a loop-carried value the layout in place, and its users, which expect the old one, a conversion back; users
/// that are recomputed leave it without uses.
void Slice::changeCarriedLayout(Value v, const Encoding *e) {
  Operation *back = changeLayout(v, e);
  made_[{v, e}] = v;
  if (back) made_[{back->result(), e}] = v; // what was planned for the value itself
}

Value Slice::materializeCarried(Value v, const Encoding *e) {
  if (auto c = carriedOf(v)) {
    changeCarriedLayout(c->argument, e);
    changeCarriedLayout(c->result, e);
    c->setInit(materialize(c->init, e));
    // A yielded value that is not the argument itself may have been replaced by a conversion back.
    Value yielded = c->yielded == c->argument ? c->argument : carried(c->loop, c->index).yielded;
    c->setYielded(materialize(yielded, e));
    return made_.lookup({v, e});
  }
  Operation *branch = carrierOf(v);
  unsigned i = v.index();
  changeCarriedLayout(branch->result(i), e);
  for (auto &r : branch->regions()) {
    Operation *yield = r.front()->terminator();
    yield->setOperand(i, materialize(yield->operand(i), e));
  }
  return made_.lookup({v, e});
}

/// Computes the value, and other results of its operation, in a layout. @pre it can be
void Slice::recompute(Value v, const Encoding *e) {
  Operation *op = v.definingOp();
  llvm::SmallVector<LayoutValue, 4> inputs;
  inputsFor(v, e, inputs);
  if (auto conversion = op->dyn<ttg::ConvertLayoutOp>()) {
    made_[{v, e}] = materialize(conversion.src(), e);
    return;
  }
  // Operands first: making them may replace uses of this operation's operands by conversions back.
  llvm::SmallVector<Value, 4> operands = op->operands().vec();
  unsigned next = 0;
  for (auto &o : operands)
    if (o.type().isTensor() && next < inputs.size()) o = materialize(o, inputs[next++].second);
  Builder b(op);
  if (auto scan = op->dyn<tt::ScanOp>()) {
    ValueMap map;
    map.map(scan.srcs()[0], operands[0]);
    Value result = b.clone(op, map)->result();
    result.setType(tensorOf(v).withEncoding(e));
    made_[{v, e}] = result;
    return;
  }
  OperationState s(op->opcode(), op->loc());
  s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  s.operands.assign(operands.begin(), operands.end());
  for (Value r : op->results()) s.resultTypes.push_back(tensorOf(r).withEncoding(e));
  if (op->is<arith::ConstantOp>())
    for (auto &a : s.attrs)
      if (a.name == "value") a.value = a.value.cast<DenseElementsAttr>().withType(tensorOf(v).withEncoding(e));
  Operation *made = b.create(s);
  for (auto [r, other] : llvm::zip(op->results(), made->results())) made_[{r, e}] = other;
}

/// The value in the layout, as it was planned.
Value Slice::materialize(Value v, const Encoding *e) {
  if (encodingOf(v) == e) return v;
  if (auto it = made_.find({v, e}); it != made_.end()) return it->second;
  if (!recomputed_.contains({v, e})) {
    Builder b = v.definingOp() ? Builder::after(v.definingOp()) : Builder::atStart(v.ownerBlock());
    return made_[{v, e}] = inLayout(b, v.loc(), v, e);
  }
  if (carrierOf(v)) return materializeCarried(v, e);
  recompute(v, e);
  return made_.lookup({v, e});
}

void Slice::apply() {
  for (auto c : conversions_) {
    Value v = materialize(c.src(), wanted_);
    c.result().replaceAllUsesWith(v);
  }
  // Other conversions of what was made.
  for (auto *set : {&recomputed_, &converted_})
    for (auto &[from, e] : *set) {
      auto it = made_.find({from, e});
      if (it == made_.end() || it->second == from) continue;
      for (auto *user : from.users()) {
        auto c = user->dyn<ttg::ConvertLayoutOp>();
        bool isRedundant = c && encodingOf(c.result()) == e && c.result() != it->second;
        if (isRedundant) c.result().replaceAllUsesWith(it->second);
      }
    }
}

} // namespace

// ---- all slices -----------------------------------------------------------------------------------------------------

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
    Slice s(context, group, nothingRemains);
    if (!s.isWorthwhile()) continue;
    s.apply();
    eraseDeadOperations(m);
    return true;
  }
  return false;
}

/// Applies the conversion's slice if that gains.
static bool recomputeAlone(Module &m, SliceContext &context, ttg::ConvertLayoutOp conversion) {
  if (conversion.src().type() == conversion.result().type()) {
    conversion.result().replaceAllUsesWith(conversion.src());
    return true;
  }
  auto applyIfWorthwhile = [&](Slice &s) {
    if (!s.isWorthwhile()) return false;
    s.apply();
    eraseDeadOperations(m);
    return true;
  };
  Slice moves(context, conversion, nothingRemains);
  if (applyIfWorthwhile(moves)) return true;
  // What that plan would compute twice is better converted, perhaps.
  auto twice = moves.valuesThatRemain();
  Slice movesRest(context, conversion,
                  [&](Value v) { return twice.contains(v) && !v.definedBy<ttg::ConvertLayoutOp>(); });
  if (!twice.empty() && applyIfWorthwhile(movesRest)) return true;
  Slice repeats(context, conversion, allRemains);
  return applyIfWorthwhile(repeats);
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
  Slice slice(context, conversions, nothingRemains);
  if (slice.gain() - added <= tuning.minimumSliceGain) return false;
  slice.apply();
  eraseDeadOperations(m);
  return true;
}

bool recomputeConversions(Module &m, const Tuning &tuning, bool asyncCopies) {
  // Every slice lowers the total cost; the bound is a safety net.
  constexpr int kMaxRounds = 50;
  SliceContext context = sliceContext(m, tuning, asyncCopies);
  bool any = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    // Inner conversions first: they are executed most.
    auto conversions = usedConversions(m);
    llvm::stable_sort(conversions, [&](auto a, auto b) {
      return context.costs.frequency(a->block()) > context.costs.frequency(b->block());
    });
    bool changed = false;
    for (auto c : conversions) {
      bool isGone = !c.op->block() || c.result().useEmpty(); // with another conversion's slice
      if (!isGone) changed |= recomputeAlone(m, context, c);
    }
    eraseDeadOperations(m);
    if (!changed) changed = recomputeTogether(m, context);
    if (!changed) break;
    any = true;
  }
  return any;
}

} // namespace tessera::transforms
