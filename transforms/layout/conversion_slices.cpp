// Backward slices of layout conversions (see conversion_slices.h).
//
//   %q = tt.addptr %p, %o : #A               %p1 = …, %o1 = …  (in #B, from what they are made of)
//   %r = ttg.convert_layout %q : #A -> #B  → %r  = tt.addptr %p1, %o1 : #B
//
// A slice starts at the conversion's source and goes up through elementwise work, renamings of elements, small loads
// and values that loops and branches carry. At every value there is a choice: make it in the layout wanted, which
// asks the same of its operands, or convert it there. The cheaper one is taken, in weights that count elements per
// thread and how often a place is executed; so conversions leave loops, go to the narrower side of a cast, or vanish
// into ranges and splats.
//
// A load of no more elements than the block has threads is taken for arithmetic: every thread loads what it needs, and
// the lines are read once. It saves the round trip through shared memory behind the load's latency.
//
// Work that only feeds the slice (or other conversions to the layout wanted) moves and costs nothing; the rest is
// done twice and costs its weight. A carried value changes its layout in place, and is converted back for users
// outside the slice. The slice is taken if it costs less than the conversions that it replaces. Where no conversion's
// own slice is worth it, slices of several conversions to one layout are tried.
#include "transforms/layout/conversion_slices.h"
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/dot_operand.h"
#include "layouts/infer.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/pointer_root.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

void eraseDeadOperations(Module &m) {
  for (bool again = true; again;) {
    again = false;
    m.op()->walkPostOrder([&](Operation *op) {
      if (op->numRegions() == 0 && op->block() && op->parentOp() && isTriviallyDead(op)) op->erase(), again = true;
    });
  }
}

namespace {

using Item = std::pair<Value, const Encoding *>; // a value in a layout

// ---- weights -------------------------------------------------------------------------------------------------------

/// How often a place is executed, with eight rounds for a loop whose count is not known.
double frequency(Block *b) {
  double f = 1;
  for (Operation *p = b->parentOp(); p; p = p->parentOp())
    if (p->is<scf::ForOp>() || p->is<scf::WhileOp>()) f *= 8;
  return f;
}
/// Weights of operations and conversions, remembering sizes of layouts.
class Weights {
public:
  double conversion(Value v, const Encoding *e);
  double operation(Operation *op, const Encoding *e);

private:
  double elementsPerThread(TensorType t, const Encoding *e) {
    auto [it, fresh] =
        sizes_.try_emplace(t.withElement(IntegerType::get(*t.element().context(), 1)).withEncoding(e).storage(), 0.0);
    if (!fresh) return it->second;
    auto l = e->toLinearLayout(t.shape());
    return it->second = l.ok() ? double(l->inDimSize(layouts::Dim::Register)) : double(t.numElements());
  }
  llvm::DenseMap<const TypeStorage *, double> sizes_;
};

/// A round trip through shared memory, with its barriers; shuffles and moves of registers are cheaper, but which it
/// will be is the lowering's choice.
double Weights::conversion(Value v, const Encoding *e) {
  if (encodingOf(v) == e) return 0;
  auto t = tensorOf(v);
  if (layouts::sameLayout(encodingOf(v), e, t.shape())) return 1; // a renaming
  double words = std::max(0.25, t.element().bitWidth() / 32.0);
  return 32 + 2 * words * (elementsPerThread(t, e) + elementsPerThread(t, encodingOf(v)));
}
/// What a scan takes in a layout: its elements, the shuffles of each run's total, and what warps tell each other of
/// those.
double scanWork(tt::ScanOp scan, const Encoding *e) {
  auto type = tensorOf(scan->operand(0));
  auto &layout = e->layoutOf(type.shape());
  if (!layout.ok()) return 1e6;
  int axis = scan.axis();
  auto shape = layouts::scanShape(*layout, axis);
  if (!shape.inOrder) return 1e6;
  unsigned lanes = 0, warps = 0;
  for (unsigned bit = 0; bit < layout->inDimBits(layouts::Dim::Lane); ++bit)
    lanes += layout->basis(layouts::Dim::Lane, bit)[axis] != 0;
  for (unsigned bit = 0; bit < layout->inDimBits(layouts::Dim::Warp); ++bit)
    warps += layout->basis(layouts::Dim::Warp, bit)[axis] != 0;
  double elements = layout->inDimSize(layouts::Dim::Register), runs = elements / shape.chunk;
  return 2 * elements + runs * 3 * lanes + (warps ? 32 + 6 * runs : 0);
}
double Weights::operation(Operation *op, const Encoding *e) {
  double each = 1;
  switch (op->opcode()) {
  case Opcode::arith_constant:
  case Opcode::tt_splat:
  case Opcode::tt_make_range:
  case Opcode::tt_broadcast:
  case Opcode::tt_expand_dims:
  case Opcode::tt_reshape:
  case Opcode::tt_trans: return 0.25;
  case Opcode::arith_divsi:
  case Opcode::arith_divui:
  case Opcode::arith_remsi:
  case Opcode::arith_remui: each = intConstantOf(op->operand(1)) ? 4 : 20; break;
  case Opcode::arith_divf:
  case Opcode::tt_precise_divf:
  case Opcode::tt_precise_sqrt:
  case Opcode::arith_remf:
  case Opcode::tt_extern_elementwise:
  case Opcode::tt_elementwise_inline_asm: each = 16; break;
  case Opcode::math_absf:
  case Opcode::math_fma: break;
  case Opcode::tt_load: each = 8; break;
  case Opcode::tt_scan: return scanWork(op->cast<tt::ScanOp>(), e);
  default:
    if (op->name().starts_with("math.")) each = 12;
  }
  return each * std::max(1.0, op->result().type().scalar().bitWidth() / 32.0) *
         elementsPerThread(op->result().type().cast<TensorType>(), e);
}

/// Whether it is the body of a loop that multiplies.
static bool multiplies(Block *b) {
  return b->parentOp()->is<scf::ForOp>() &&
         llvm::any_of(*b, [](Operation &op) { return op.is<tt::DotOp>() || op.is<ttng::WarpGroupDotOp>(); });
}

// ---- one slice -----------------------------------------------------------------------------------------------------

class Slice {
public:
  /// @pre all are to one layout
  Slice(llvm::ArrayRef<ttg::ConvertLayoutOp> conversions, Weights &weights, bool duplicatesCost, int64_t threads,
        const GlobalAccesses &accesses)
      : converts_(conversions), weights_(weights), pool_(conversions[0].op->context().encodings()),
        wanted_(encodingOf(converts_[0].result())), duplicatesCost_(duplicatesCost), threads_(threads),
        accesses_(accesses) {
    for (auto c : converts_) plan(c.src(), wanted_, 0);
    for (auto c : converts_) settle(c.src(), wanted_);
  }
  /// What the slice saves; applied if positive.
  double gain() {
    double before = 0, after = 0;
    for (auto *c : replaced())
      before += weights_.conversion(c->operand(0), encodingOf(c->result())) * frequency(c->block());
    for (auto &[v, e] : converted_) after += conversionAt(v, e);
    // Where operands are loaded is another pass's concern, but for what is computed from loads of a loop: their
    // copies go through shared memory in any case, from which the operand's layout is read as well as another.
    bool operand = wanted_->kind() == layouts::EncodingKind::DotOperand;
    // Of an fma operand each thread has whole rows, which many others have too, more than it has registers: they are
    // read where they are multiplied, and so nothing is computed between.
    if (auto *o = layouts::dynCast<layouts::DotOperandEncoding>(wanted_);
        o && layouts::dynCast<layouts::BlockedEncoding>(o->parent()) && llvm::any_of(recomputed_, [&](auto &i) {
          return !carrier(i.first) && weights_.operation(i.first.definingOp(), i.second) >
                                          weights_.operation(i.first.definingOp(), encodingOf(i.first));
        }))
      return 0;
    if (operand && !llvm::all_of(converted_, [&](auto &i) {
          return copiedInLoop(i.first) ||
                 tensorOf(i.first).numElements() * 8 <= tensorOf(converts_[0].src()).numElements();
        }))
      return 0;
    after += computed() + conversionsBack();
    return before - after;
  }
  void apply();

private:
  /// What computing `v` needs of its operands to be in layout `e`; false: it cannot be.
  bool needs(Value v, const Encoding *e, llvm::SmallVectorImpl<Item> &out);
  double plan(Value v, const Encoding *e, unsigned depth);
  void settle(Value v, const Encoding *e);
  double conversionAt(Value v, const Encoding *e) {
    return (e->kind() == layouts::EncodingKind::DotOperand && copiedInLoop(v) ? 1 : weights_.conversion(v, e)) *
           frequency(v.parentBlock());
  }
  /// Whether what an operand's layout has side by side of the value fills a word, or its elements are no narrower
  /// than the operand's: others would be read one by one.
  bool isWordOfOperand(Value v) const {
    unsigned bits = v.type().scalar().isPointer() ? 64 : v.type().scalar().bitWidth();
    auto *operand = layouts::dynCast<layouts::DotOperandEncoding>(wanted_);
    return bits >= converts_[0].result().type().scalar().bitWidth() || (operand && operand->kWidth() * bits >= 32);
  }
  /// A load that the pipeliner makes a copy to shared memory.
  bool copiedInLoop(Value v) {
    return isWordOfOperand(v) && v.definedBy<tt::LoadOp>() && v.hasOneUse() &&
           v.parentBlock()->parentOp()->is<scf::ForOp>() && v.parentBlock() == converts_[0]->block();
  }
  llvm::SmallVector<Operation *, 4> replaced();
  double computed();
  double conversionsBack();
  /// A carried value, and what carries it: arguments and results of loops, results of branches.
  static Operation *carrier(Value v) {
    if (Operation *op = v.definingOp()) return op->is<scf::ForOp>() || op->is<scf::IfOp>() ? op : nullptr;
    Operation *p = v.ownerBlock()->parentOp();
    return p && p->is<scf::ForOp>() && v.index() > 0 ? p : nullptr;
  }
  /// A load of no more elements than there are threads, from what nobody writes, which may as well be done in another
  /// layout, or a second time.
  bool narrowLoad(Operation *op) const {
    auto load = op->dyn<tt::LoadOp>();
    if (!load || load.isVolatile() || !load.ptr().type().isTensor() || (effectsOf(op) & ~kReadsGlobal)) return false;
    // In a loop that multiplies the pipeliner brings it ahead, but only one of two.
    return tensorOf(load.result()).numElements() <= threads_ && !multiplies(op->block()) &&
           !accesses_.mayBeWritten(load.ptr());
  }
  bool insideUse(OpOperand *use, const Encoding *e);
  Value make(Value v, const Encoding *e);
  void retype(Value v, const Encoding *e);

  llvm::SmallVector<ttg::ConvertLayoutOp, 4> converts_;
  Weights &weights_;
  layouts::EncodingPool &pool_;
  const Encoding *wanted_;
  bool duplicatesCost_;
  int64_t threads_; // of a block
  const GlobalAccesses &accesses_;
  struct Choice {
    double cost = 0;
    bool recompute = false;
  };
  llvm::DenseMap<Item, Choice> choices_;
  llvm::SetVector<Item> recomputed_, converted_;
  llvm::DenseMap<Value, llvm::SmallVector<std::pair<const Encoding *, llvm::SmallVector<Item, 4>>, 1>>
      inputs_; // of recomputed values, by layout
  llvm::DenseMap<Item, Value> made_;
};

/// The operand index of a terminator or loop that carries into the value.
bool Slice::needs(Value v, const Encoding *e, llvm::SmallVectorImpl<Item> &out) {
  if (Operation *c = carrier(v)) {
    if (e->kind() == layouts::EncodingKind::DotOperand) return false;
    if (auto f = c->dyn<scf::ForOp>()) {
      unsigned i = v.definingOp() ? v.index() : v.index() - 1;
      out.push_back({f.body().front()->arg(i + 1), e});
      if (!v.definingOp())
        out.push_back({f.initArgs()[i], e}), out.push_back({f.body().front()->terminator()->operand(i), e});
      else
        out.push_back({c->result(i), e});
      // The argument and the result change together.
      if (!v.definingOp()) out.push_back({c->result(i), e});
      return true;
    }
    for (auto &r : c->regions()) {
      if (!r.hasOneBlock()) return false;
      out.push_back({r.front()->terminator()->operand(v.index()), e});
    }
    return true;
  }
  Operation *op = v.definingOp();
  if (op && narrowLoad(op)) {
    for (auto o : op->operands())
      if (o.type().isTensor()) out.push_back({o, e});
    return e->kind() != layouts::EncodingKind::DotOperand;
  }
  if (!op || !isPure(op) || op->numResults() != 1) return false;
  auto operand = [&](const Encoding *in) {
    if (in) out.push_back({op->operand(0), in});
    return in != nullptr;
  };
  switch (op->opcode()) {
  case Opcode::arith_constant: {
    auto d = op->attr<DenseElementsAttr>("value");
    return d && d.isSplat();
  }
  case Opcode::tt_splat:
  case Opcode::tt_make_range: return true;
  case Opcode::ttg_convert_layout:
  case Opcode::tt_broadcast: return operand(e);
  case Opcode::tt_expand_dims: {
    auto slice = pool_.getSlice(op->cast<tt::ExpandDimsOp>().axis(), e);
    return operand(slice.ok() ? *slice : nullptr);
  }
  case Opcode::tt_trans: {
    auto order = op->cast<tt::TransOp>().order();
    llvm::SmallVector<int64_t, 4> inverse(order.size());
    for (auto [i, o] : llvm::enumerate(order)) inverse[o] = i;
    auto *in = layouts::inferTrans(pool_, e, inverse, tensorOf(v).shape());
    return operand(in && layouts::inferTrans(pool_, in, order, tensorOf(op->operand(0)).shape()) == e ? in : nullptr);
  }
  case Opcode::tt_reshape: {
    if (op->cast<tt::ReshapeOp>().allowReorder()) return false;
    auto from = tensorOf(op->operand(0)).shape(), to = tensorOf(v).shape();
    auto *in = layouts::inferReshape(pool_, e, to, from);
    return operand(in && layouts::inferReshape(pool_, in, from, to) == e ? in : nullptr);
  }
  case Opcode::tt_elementwise_inline_asm: return false; // may pack neighbouring registers
  case Opcode::tt_scan: {
    auto &layout = e->layoutOf(tensorOf(v).shape());
    if (op->numOperands() != 1 || e->kind() == layouts::EncodingKind::DotOperand || !layout.ok() ||
        !layouts::scanShape(*layout, op->cast<tt::ScanOp>().axis()).inOrder)
      return false;
    return operand(e);
  }
  default: break;
  }
  if ((!op->info().has(kElementwise) && !op->is<arith::SelectOp>()) || op->numRegions()) return false;
  for (auto o : op->operands())
    if (o.type().isTensor()) out.push_back({o, e});
  return true;
}

/// The least cost of having the value in the layout: made there or converted. A value met again while it is being
/// planned is carried round a loop and costs nothing more.
double Slice::plan(Value v, const Encoding *e, unsigned depth) {
  if (encodingOf(v) == e) return 0;
  auto [it, fresh] = choices_.try_emplace(Item{v, e});
  if (!fresh) return it->second.cost;
  Choice best{conversionAt(v, e), false};
  llvm::SmallVector<Item, 4> inputs;
  if (depth < 200 && choices_.size() < 2000 && needs(v, e, inputs)) {
    double cost = 0;
    for (auto &[o, in] : inputs) cost += plan(o, in, depth + 1);
    // A conversion on the way goes if it served nobody else.
    if (auto inner = v.definedBy<ttg::ConvertLayoutOp>(); inner && v.hasOneUse())
      cost -= weights_.conversion(inner.src(), encodingOf(v)) * frequency(v.parentBlock());
    else if (duplicatesCost_ && v.definingOp() && !carrier(v))
      cost += weights_.operation(v.definingOp(), e) * frequency(v.parentBlock());
    // A load or scan that only moves costs what it takes more there.
    else if (v.definingOp() && (narrowLoad(v.definingOp()) || v.definingOp()->is<tt::ScanOp>()))
      cost += (weights_.operation(v.definingOp(), e) - weights_.operation(v.definingOp(), encodingOf(v))) *
              frequency(v.parentBlock());
    // On a par, conversions stay below: work in fewer layouts.
    if (cost < best.cost) best = {cost, true};
  }
  return (choices_[{v, e}] = best).cost;
}
/// Lists what the choices reach.
void Slice::settle(Value v, const Encoding *e) {
  if (encodingOf(v) == e || recomputed_.contains({v, e}) || converted_.contains({v, e})) return;
  llvm::SmallVector<Item, 4> inputs;
  bool recompute = choices_[{v, e}].recompute && needs(v, e, inputs);
  // A loop's argument and result are one thing: both change or neither.
  if (Operation *c = carrier(v); recompute && c && c->is<scf::ForOp>())
    for (auto &[o, in] : inputs)
      if (carrier(o) == c && !choices_[{o, in}].recompute) recompute = false;
  if (!recompute) {
    converted_.insert({v, e});
    return;
  }
  recomputed_.insert({v, e});
  inputs_[v].push_back({e, inputs});
  for (auto &[o, in] : inputs) settle(o, in);
}

/// Whether the user will take the value in layout e: it is recomputed so, or converts to it.
bool Slice::insideUse(OpOperand *use, const Encoding *e) {
  Operation *op = use->owner;
  if (auto c = op->dyn<ttg::ConvertLayoutOp>())
    return encodingOf(c.result()) == e || recomputed_.contains({c.result(), e});
  if (op->info().has(kTerminator)) {
    Operation *p = op->parentOp();
    if (auto f = p->dyn<scf::ForOp>()) return recomputed_.contains({f.body().front()->arg(use->index() + 1), e});
    return p->is<scf::IfOp>() && recomputed_.contains({p->result(use->index()), e});
  }
  if (op->is<scf::ForOp>()) return use->index() >= 3 && recomputed_.contains({op->result(use->index() - 3), e});
  if (op->numResults() != 1 || !op->result().type().isTensor()) return false;
  if (auto it = inputs_.find(op->result()); it != inputs_.end())
    for (auto &[layout, inputs] : it->second)
      if (llvm::is_contained(inputs, Item{use->get(), e})) return true;
  return false;
}

/// The conversions that go: the slice's own, and those of recomputed values to the layout they are recomputed in.
llvm::SmallVector<Operation *, 4> Slice::replaced() {
  llvm::SmallVector<Operation *, 4> out;
  for (auto c : converts_) out.push_back(c.op);
  for (auto *set : {&recomputed_, &converted_})
    for (auto &[v, e] : *set)
      for (auto *user : v.users())
        if (auto c = user->dyn<ttg::ConvertLayoutOp>();
            c && encodingOf(c.result()) == e && !llvm::is_contained(out, user))
          out.push_back(user);
  return out;
}

/// What the slice computes less what is no longer computed: work is done twice where a use outside, or by something
/// that stays itself, remains.
double Slice::computed() {
  llvm::DenseSet<Value> stays;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[v, e] : recomputed_) {
      if (carrier(v) || stays.contains(v)) continue;
      for (auto *use = v.firstUse(); use; use = use->nextUse) {
        Operation *user = use->owner;
        bool userStays = user->numResults() == 1 && user->result().type().isTensor() && stays.contains(user->result());
        if (insideUse(use, e) && !userStays) continue;
        changed |= stays.insert(v).second;
        break;
      }
    }
  }
  double cost = 0;
  for (auto &[v, e] : recomputed_) {
    if (carrier(v)) continue;
    if (auto inner = v.definingOp()->dyn<ttg::ConvertLayoutOp>()) { // nothing is computed, and the conversion may go
      if (!stays.contains(v)) cost -= weights_.conversion(inner.src(), encodingOf(v)) * frequency(v.parentBlock());
      continue;
    }
    cost += weights_.operation(v.definingOp(), e) * frequency(v.parentBlock());
    if (!stays.contains(v)) cost -= weights_.operation(v.definingOp(), encodingOf(v)) * frequency(v.parentBlock());
  }
  return cost;
}
/// Carried values are converted back for users outside.
double Slice::conversionsBack() {
  double cost = 0;
  for (auto &[v, e] : recomputed_) {
    if (!carrier(v)) continue;
    bool outside = false;
    for (auto *use = v.firstUse(); use && !outside; use = use->nextUse) outside = !insideUse(use, e);
    if (outside) cost += conversionAt(v, e);
  }
  return cost;
}

/// Gives a carried value the layout in place, and its users, which expect the old one, a conversion back; where they
/// are remade, it is left without uses.
void Slice::retype(Value v, const Encoding *e) {
  auto t = tensorOf(v);
  v.setType(t.withEncoding(e));
  made_[{v, e}] = v;
  if (v.useEmpty()) return;
  Builder b = v.definingOp() ? Builder::after(v.definingOp()) : Builder::atStart(v.ownerBlock());
  auto back = ttg::ConvertLayoutOp::create(b, v.loc(), t, v);
  v.replaceUsesIf(back.result(), [&](OpOperand &u) { return u.owner != back.op; });
  made_[{back.result(), e}] = v; // what was planned for the value itself
}

Value Slice::make(Value v, const Encoding *e) {
  if (encodingOf(v) == e) return v;
  if (auto it = made_.find({v, e}); it != made_.end()) return it->second;
  auto type = tensorOf(v).withEncoding(e);
  if (!recomputed_.contains({v, e})) {
    Builder b = v.definingOp() ? Builder::after(v.definingOp()) : Builder::atStart(v.ownerBlock());
    return made_[{v, e}] = ttg::ConvertLayoutOp::create(b, v.loc(), type, v).result();
  }
  if (Operation *c = carrier(v)) {
    if (auto f = c->dyn<scf::ForOp>()) {
      unsigned i = v.definingOp() ? v.index() : v.index() - 1;
      Operation *y = f.body().front()->terminator();
      Value init = f.initArgs()[i], yielded = y->operand(i);
      retype(f.body().front()->arg(i + 1), e);
      retype(c->result(i), e);
      c->setOperand(3 + i, make(init, e));
      // The value yielded may have been the argument itself.
      y->setOperand(i, make(yielded == f.body().front()->arg(i + 1) ? yielded : y->operand(i), e));
      return made_.lookup({v, e});
    }
    unsigned i = v.index();
    retype(c->result(i), e);
    for (auto &r : c->regions()) {
      Operation *y = r.front()->terminator();
      y->setOperand(i, make(y->operand(i), e));
    }
    return made_.lookup({v, e});
  }
  Operation *op = v.definingOp();
  llvm::SmallVector<Item, 4> inputs;
  needs(v, e, inputs);
  if (op->is<ttg::ConvertLayoutOp>()) return made_[{v, e}] = make(op->operand(0), e);
  // Operands first: making them may replace uses of this operation's operands by conversions back.
  llvm::SmallVector<Value, 4> operands = op->operands().vec();
  unsigned next = 0;
  for (auto &o : operands)
    if (o.type().isTensor() && next < inputs.size()) o = make(o, inputs[next++].second);
  Builder b(op);
  if (op->is<tt::ScanOp>()) {
    ValueMap map;
    map.map(op->operand(0), operands[0]);
    Value result = b.clone(op, map)->result();
    result.setType(type);
    return made_[{v, e}] = result;
  }
  OperationState s(op->opcode(), op->loc());
  s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
  s.attrs.assign(op->attrs().begin(), op->attrs().end());
  s.operands.assign(operands.begin(), operands.end());
  s.resultTypes.push_back(type);
  if (op->is<arith::ConstantOp>())
    for (auto &a : s.attrs)
      if (a.name == "value") a.value = a.value.cast<DenseElementsAttr>().withType(type);
  return made_[{v, e}] = b.create(s)->result();
}

void Slice::apply() {
  for (auto c : converts_) {
    Value v = make(c.src(), wanted_);
    c.result().replaceAllUsesWith(v);
  }
  // Other conversions of what was made.
  for (auto *set : {&recomputed_, &converted_})
    for (auto &[from, e] : *set)
      if (auto it = made_.find({from, e}); it != made_.end() && it->second != from)
        for (auto *user : from.users())
          if (auto c = user->dyn<ttg::ConvertLayoutOp>(); c && encodingOf(c.result()) == e && c.result() != it->second)
            c.result().replaceAllUsesWith(it->second);
}

} // namespace

/// Conversions to one layout may have work in common that is worth moving for all of them and for none alone: index
/// arithmetic that gives a pointer and its mask.
static bool recomputeTogether(Module &m, Weights &weights, int64_t threads, const GlobalAccesses &accesses) {
  using Key = std::tuple<Block *, const Encoding *, const Encoding *>;
  llvm::MapVector<Key, llvm::SmallVector<ttg::ConvertLayoutOp, 4>> groups;
  m.op()->walk([&](Operation *op) {
    if (auto c = op->dyn<ttg::ConvertLayoutOp>(); c && !op->useEmpty())
      groups[{op->block(), encodingOf(c.src()), encodingOf(c.result())}].push_back(c);
  });
  for (auto &[key, group] : groups) {
    if (group.size() < 2) continue;
    Slice s(group, weights, false, threads, accesses);
    if (s.gain() <= 0.5) continue;
    s.apply();
    eraseDeadOperations(m);
    return true;
  }
  return false;
}

bool recomputeConversions(Module &m) {
  bool any = false;
  Weights weights;
  int64_t threads = numWarps(m.op()) * threadsPerWarp(m.op());
  GlobalAccesses accesses(m);
  // Every slice lowers the total cost; the bound is a safety net.
  for (int round = 0; round < 50; ++round) {
    bool changed = false;
    std::vector<ttg::ConvertLayoutOp> all;
    m.op()->walk([&](Operation *op) {
      if (auto c = op->dyn<ttg::ConvertLayoutOp>(); c && !op->useEmpty()) all.push_back(c);
    });
    // Inner conversions first: they are executed most.
    llvm::stable_sort(all, [](auto a, auto b) { return frequency(a.op->block()) > frequency(b.op->block()); });
    for (auto c : all) {
      if (!c.op->block() || c.result().useEmpty()) continue; // went with another
      if (c.src().type() == c.result().type()) {
        c.result().replaceAllUsesWith(c.src());
        changed = true;
        continue;
      }
      for (bool duplicatesCost : {false, true}) {
        Slice s(c, weights, duplicatesCost, threads, accesses);
        if (s.gain() <= 0.5) continue;
        s.apply();
        eraseDeadOperations(m);
        changed = true;
        break;
      }
    }
    eraseDeadOperations(m);
    if (!changed) changed = recomputeTogether(m, weights, threads, accesses);
    if (!changed) break;
    any = true;
  }
  return any;
}

} // namespace tessera::transforms
