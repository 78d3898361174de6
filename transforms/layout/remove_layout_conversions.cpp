// Removal of layout conversions. Three moves, repeated until none applies:
//
//   down      work that uses a converted value is done in the value's own layout, and the result is converted instead:
//               %b = ttg.convert_layout %a : #L -> #D                %y = op %a, (%z in #L) : #L
//               %y = op %b, %z : #D                             →    %r = ttg.convert_layout %y : #L -> #D
//             through elementwise operations, broadcast, expand_dims, trans, reduce, scan (if its axis stays in
//             order), into buffers, and values that loops and branches carry. Conversions so travel towards the
//             stores, meet there and vanish when both ends have one layout.
//   up        a conversion of something cheap (ranges, splats, constants, index arithmetic) is replaced by computing
//             it a second time in the layout wanted
//   stores    a store whose value arrives in a layout that makes accesses as wide as its own is done in that layout, if
//             nothing else reads or writes that memory (threads see and order only what they wrote themselves)
//
// When these have come to rest, what is left is weighed against computing the converted value, or part of what it is
// made of, in the layout wanted (conversion_slices.cpp): that takes conversions out of loops and to the narrow side
// of casts; what it converts for uses outside a slice goes to the narrow side of casts last.
//
// Conversions move down only from values that are costly to make (loads, reductions, atomics, carried values): cheap
// ones are made where they are used. Which values are cheap is decided by `Cheap`, whose bound is a count of
// operations.
#include "ir/builder.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "layouts/infer.h"
#include "layouts/scan_shape.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/layout/conversion_slices.h"
#include "transforms/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <limits>

namespace tessera::transforms {
using namespace ir;
using layouts::Encoding;

namespace {

/// Layouts of matrix instructions come before others: what a product is made in costs most to leave.
bool isMatrixLayout(const Encoding *e) {
  while (auto *s = layouts::dynCast<layouts::SliceEncoding>(e)) e = s->parent();
  return e->kind() == layouts::EncodingKind::NvidiaMma || e->kind() == layouts::EncodingKind::AmdMfma ||
         e->kind() == layouts::EncodingKind::AmdWmma;
}
bool stronger(const Encoding *a, const Encoding *b) { return isMatrixLayout(a) && !isMatrixLayout(b); }

bool elementwise(Operation *op) {
  return op->info().has(kElementwise) && op->numRegions() == 0 && op->numResults() == 1 &&
         op->result().type().isTensor();
}
/// Elementwise work on which a second computation is wasted.
bool costly(Operation *op) {
  if (op->name().starts_with("math.")) return !op->is<math::AbsfOp>() && !op->is<math::FmaOp>();
  return op->is<arith::DivfOp>() || op->is<arith::DivsiOp>() || op->is<arith::DivuiOp>() || op->is<arith::RemsiOp>() ||
         op->is<arith::RemuiOp>() || op->is<tt::ExternElementwiseOp>() || op->is<tt::ElementwiseInlineAsmOp>() ||
         op->is<arith::RemfOp>();
}

/// Can the value be computed in the layout `e` from ranges, splats and constants, and from values of up to `narrow`
/// elements that are converted? Counts operations into `budget`.
class Cheap {
public:
  explicit Cheap(Context &c) : pool_(c.encodings()) {}
  bool can(Value v, const Encoding *e, int &budget, int64_t narrow = 0) {
    if (!v.type().isTensor() || encodingOf(v) == e) return true;
    if (--budget < 0) return false;
    if (tensorOf(v).numElements() <= narrow) return true;
    Operation *op = v.definingOp();
    if (!op) return false;
    switch (op->opcode()) {
    case Opcode::arith_constant: {
      auto d = op->attr<DenseElementsAttr>("value");
      return d && d.isSplat();
    }
    case Opcode::tt_splat:
    case Opcode::tt_make_range: return true;
    case Opcode::ttg_convert_layout: return can(op->operand(0), e, budget, narrow);
    case Opcode::tt_broadcast: return can(op->operand(0), e, budget, narrow);
    case Opcode::tt_expand_dims: {
      auto slice = pool_.getSlice(op->cast<tt::ExpandDimsOp>().axis(), e);
      return slice.ok() && can(op->operand(0), *slice, budget, narrow);
    }
    default: break;
    }
    if ((!elementwise(op) && !op->is<arith::SelectOp>()) || !isPure(op)) return false;
    if (costly(op) && (!isNarrowDivision(op) || (budget -= 8) < 0)) return false;
    for (auto o : op->operands())
      if (!can(o, e, budget, narrow)) return false;
    return true;
  }

  /// The value in layout `e`. @pre can(v, e, …, narrow)
  Value make(Value v, const Encoding *e, llvm::DenseMap<std::pair<Value, const Encoding *>, Value> &made,
             int64_t narrow = 0) {
    if (!v.type().isTensor() || encodingOf(v) == e) return v;
    auto &slot = made[{v, e}];
    if (slot) return slot;
    Operation *op = v.definingOp();
    if (op && op->is<ttg::ConvertLayoutOp>()) return make(op->operand(0), e, made, narrow);
    if (int budget = 40; tensorOf(v).numElements() <= narrow && !can(v, e, budget)) {
      Builder b = op ? Builder::after(op) : Builder::atStart(v.ownerBlock());
      return slot = ttg::ConvertLayoutOp::create(b, v.loc(), tensorOf(v).withEncoding(e), v).result();
    }
    Builder b(op);
    OperationState s(op->opcode(), op->loc());
    s.segments.assign(op->operandSegments().begin(), op->operandSegments().end());
    s.attrs.assign(op->attrs().begin(), op->attrs().end());
    auto type = tensorOf(v).withEncoding(e);
    s.resultTypes.push_back(type);
    if (op->is<arith::ConstantOp>()) s.attrs[0].value = op->attr<DenseElementsAttr>("value").withType(type);
    const Encoding *inner = e;
    if (auto x = op->dyn<tt::ExpandDimsOp>()) inner = *pool_.getSlice(x.axis(), e);
    for (auto o : op->operands()) s.operands.push_back(op->is<tt::SplatOp>() ? o : make(o, inner, made, narrow));
    Value result = b.create(s)->result();
    return made[{v, e}] = result;
  }

private:
  /// A division by a constant of rows or columns alone, before they are made larger: one for many elements.
  static bool isNarrowDivision(Operation *op) {
    if (!op->is<arith::DivsiOp>() && !op->is<arith::DivuiOp>() && !op->is<arith::RemsiOp>() &&
        !op->is<arith::RemuiOp>())
      return false;
    auto t = tensorOf(op->result());
    bool narrow = encodingOf(op->result())->kind() == layouts::EncodingKind::Slice ||
                  (t.rank() > 1 && llvm::is_contained(t.shape(), 1));
    return narrow && op->operand(1).definedBy<arith::ConstantOp>();
  }

  layouts::EncodingPool &pool_;
};

class Removal {
public:
  explicit Removal(Module &m) : m_(m), pool_(m.context().encodings()), cheap_(m.context()) {}

  bool run() {
    bool any = narrow();
    // Every move takes conversions towards the end of the program or removes them; the bound is a safety net.
    for (int round = 0; round < 100; ++round) {
      bool changed = false;
      changed |= fold();
      changed |= up();
      changed |= down();
      changed |= carried();
      changed |= stores();
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

  /// What a loop or branch carries and its users only make narrower is converted behind the cast.
  bool narrowCasts() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      const Encoding *from = encodingOf(c.src()), *to = encodingOf(c.result());
      auto shape = tensorOf(c.src()).shape();
      auto narrows = [&](Operation *op) {
        return elementwise(op) && isPure(op) && op->numOperands() == 1 && bits(op->result()) < bits(op->operand(0));
      };
      if (auto *def = c.src().definingOp(); def && !def->numRegions()) continue;
      if (c.result().useEmpty() || from->kind() == layouts::EncodingKind::DotOperand ||
          registers(from, shape) > registers(to, shape))
        continue;
      if (!llvm::all_of(c.result().users(), narrows)) continue;
      llvm::SmallVector<Operation *, 4> casts;
      for (auto *op : c.result().users()) casts.push_back(op);
      for (auto *op : casts) {
        op->setOperand(0, c.src());
        retype(op->result(), from);
      }
      c->erase();
      changed = true;
    }
    return changed;
  }

private:
  template <class OpT> std::vector<OpT> all() {
    std::vector<OpT> v;
    m_.op()->walk([&](Operation *op) {
      if (auto o = op->dyn<OpT>()) v.push_back(o);
    });
    return v;
  }

  bool foldOnce() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      if (c.result().useEmpty()) {
        c->erase();
        changed = true;
        continue;
      }
      if (auto inner = c.src().definedBy<ttg::ConvertLayoutOp>()) {
        c->setOperand(0, inner.src());
        changed = true;
      }
      // One conversion before a new dimension and one behind it: once is enough.
      if (auto wider = c.src().definedBy<tt::ExpandDimsOp>(); wider && wider.src().definedBy<ttg::ConvertLayoutOp>())
        if (auto slice = pool_.getSlice(wider.axis(), encodingOf(c.result())); slice.ok()) {
          Builder b(c.op);
          Value narrow =
              ttg::ConvertLayoutOp::create(b, c->loc(), tensorOf(wider.src()).withEncoding(*slice), wider.src())
                  .result();
          Value whole = tt::ExpandDimsOp::create(b, wider->loc(), c.result().type(), narrow, wider->attrs()).result();
          c.result().replaceAllUsesWith(whole);
          c->erase();
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

  /// What a broadcast made is converted before it is made larger.
  bool narrow() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      auto broadcast = c.src().definedBy<tt::BroadcastOp>();
      if (!broadcast) continue;
      auto *e = encodingOf(c.result());
      Builder b(c.op);
      auto small =
          ttg::ConvertLayoutOp::create(b, c->loc(), tensorOf(broadcast.src()).withEncoding(e), broadcast.src());
      c.result().replaceAllUsesWith(
          tt::BroadcastOp::create(b, broadcast->loc(), c.result().type(), small.result()).result());
      c->erase();
      changed = true;
    }
    if (changed) eraseDeadOperations(m_);
    return changed;
  }

  bool isCheap(Value v, const Encoding *e) {
    int budget = 40;
    return cheap_.can(v, e, budget);
  }

  bool up() {
    bool changed = false;
    llvm::DenseMap<std::pair<Value, const Encoding *>, Value> made;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      if (!isCheap(c.src(), encodingOf(c.result()))) continue;
      c.result().replaceAllUsesWith(cheap_.make(c.src(), encodingOf(c.result()), made));
      c->erase();
      changed = true;
    }
    if (changed) eraseDeadOperations(m_);
    return changed;
  }

  /// Whether the value can be made in the layout out of narrower ones, which alone are converted.
  static int64_t narrowFor(Value v) { return tensorOf(v).numElements() / 2; }
  bool widened(Value v, const Encoding *e) {
    int budget = 40;
    return cheap_.can(v, e, budget, narrowFor(v));
  }

  /// Whether the operand can be had in layout e without a new conversion: it is in it, was converted from it, or is
  /// cheap.
  bool available(Value v, const Encoding *e) {
    if (!v.type().isTensor() || encodingOf(v) == e) return true;
    if (auto c = v.definedBy<ttg::ConvertLayoutOp>(); c && encodingOf(c.src()) == e) return true;
    return isCheap(v, e);
  }
  /// Likewise, or worth a conversion, since `e` is the layout of a matrix product and the operand's is not.
  bool acceptable(Value v, const Encoding *e) {
    if (available(v, e)) return true;
    auto c = v.definedBy<ttg::ConvertLayoutOp>();
    return stronger(e, encodingOf(c ? c.src() : v));
  }
  Value get(Value v, const Encoding *e, Operation *at) {
    if (!v.type().isTensor() || encodingOf(v) == e) return v;
    if (auto c = v.definedBy<ttg::ConvertLayoutOp>(); c && encodingOf(c.src()) == e) return c.src();
    if (isCheap(v, e)) {
      llvm::DenseMap<std::pair<Value, const Encoding *>, Value> made;
      return cheap_.make(v, e, made);
    }
    if (widened(v, e)) {
      llvm::DenseMap<std::pair<Value, const Encoding *>, Value> made;
      return cheap_.make(v, e, made, narrowFor(v));
    }
    Builder b(at);
    return ttg::ConvertLayoutOp::create(b, at->loc(), tensorOf(v).withEncoding(e), v).result();
  }

  /// A value carried by a loop that has not been given another layout yet, and that can start in layout e: once its
  /// update is computed in e, the loop carries it in e (see carried).
  bool canCarry(Value v, const Encoding *e) {
    if (!v.isBlockArgument() || v.index() == 0 || e->kind() == layouts::EncodingKind::DotOperand) return false;
    Operation *loop = v.ownerBlock()->parentOp();
    auto f = loop->dyn<scf::ForOp>();
    return f && v.type().isTensor() && mayRetype(loop, v.index() - 1, e) && acceptable(f.initArgs()[v.index() - 1], e);
  }

  /// Carried values out of which, with constants and other cheap values alone, `v` is computed, and which can all be
  /// carried in the layout `e` (a count of elements beside their sum, say). Empty: there are none, or others are
  /// needed too.
  using Carried = llvm::SmallSetVector<Value, 4>;
  Carried carriedLeaves(Value v, const Encoding *e) {
    Carried leaves;
    int budget = 12;
    if (!collectLeaves(v, e, leaves, budget)) leaves.clear();
    return leaves;
  }
  bool collectLeaves(Value v, const Encoding *e, Carried &leaves, int &budget) {
    if (available(v, e)) return true;
    if (--budget < 0) return false;
    if (canCarry(v, e)) return leaves.insert(v), true;
    Operation *op = v.definingOp();
    return op && elementwise(op) && isPure(op) &&
           llvm::all_of(op->operands(), [&](Value o) { return collectLeaves(o, e, leaves, budget); });
  }

  /// A carried value gets another layout once, so that two layouts do not take turns; that of a matrix product may
  /// still replace the first.
  bool mayRetype(Operation *op, unsigned i, const Encoding *e) const {
    auto it = retyped_.find({op, i});
    return it == retyped_.end() || stronger(e, it->second);
  }

  /// Gives the result the layout e, with a conversion back for its users.
  void retype(Value r, const Encoding *e) {
    auto t = tensorOf(r);
    if (t.encoding() == e) return;
    r.setType(t.withEncoding(e));
    if (r.useEmpty()) return;
    Builder b = r.definingOp() ? Builder::after(r.definingOp()) : Builder::atStart(r.ownerBlock());
    auto back = ttg::ConvertLayoutOp::create(b, r.loc(), t, r);
    r.replaceUsesIf(back.result(), [&](OpOperand &u) { return u.owner != back.op; });
  }

  bool down() {
    bool changed = false;
    for (auto c : all<ttg::ConvertLayoutOp>()) {
      const Encoding *e = encodingOf(c.src());
      if (e->kind() == layouts::EncodingKind::DotOperand) continue;
      for (auto *use : c.result().uses()) {
        if (use->value != c.result().impl()) continue;
        Operation *op = use->owner;
        if (moveDown(op, use->index(), e)) changed = true;
      }
    }
    return changed;
  }

  /// How many elements were there before the value was made larger by broadcasts: so many must be converted to have
  /// it in another layout.
  static int64_t elementsMade(Value v, int depth = 0) {
    if (!v.type().isTensor()) return 1;
    int64_t all = tensorOf(v).numElements();
    Operation *op = v.definingOp();
    if (!op || depth > 8) return all;
    if (op->is<tt::SplatOp>() || op->is<arith::ConstantOp>() || op->is<tt::MakeRangeOp>()) return 1;
    if (op->is<ttg::ConvertLayoutOp>() || op->is<tt::BroadcastOp>() || op->is<tt::ExpandDimsOp>())
      return elementsMade(op->operand(0), depth + 1);
    if (!elementwise(op) || !isPure(op)) return all;
    int64_t most = 1;
    for (auto o : op->operands()) most = std::max(most, elementsMade(o, depth + 1));
    return most;
  }
  /// Whether operand i of an operation decides its layout, rather than operand `at`: the one made of more elements,
  /// of equals the one with wider elements (a select's condition is cheaper to convert than what it chooses), or the
  /// first.
  static bool decides(Operation *op, unsigned i, unsigned at) {
    auto rank = [&](unsigned k) { return std::pair(elementsMade(op->operand(k)), bits(op->operand(k))); };
    auto a = rank(i), b = rank(at);
    return a != b ? a > b : i < at;
  }
  /// Elements per thread.
  static int64_t registers(const Encoding *e, llvm::ArrayRef<int64_t> shape) {
    auto &l = e->layoutOf(shape);
    return l.ok() ? l->inDimSize(layouts::Dim::Register) : INT64_MAX;
  }
  static unsigned bits(Value v) {
    Type t = v.type().scalar();
    return t.isPointer() ? 64 : t.bitWidth();
  }

  /// Whether the layout of a narrow value deals the elements that a broadcast makes of it out to the threads as well
  /// as the result's own layout does. The layout of a column, say, gives every thread whole rows of the result.
  static bool spreads(Operation *broadcast, const Encoding *e) {
    auto narrow = tensorOf(broadcast->operand(0)), wide = tensorOf(broadcast->result());
    auto &own = wide.encoding()->layoutOf(wide.shape()), &other = e->layoutOf(wide.shape());
    if (!own.ok() || !other.ok() || other->inDimSize(layouts::Dim::Register) > own->inDimSize(layouts::Dim::Register))
      return false;
    auto threadsAlong = [](const layouts::LinearLayout &l, unsigned d) {
      for (auto dim : {layouts::Dim::Lane, layouts::Dim::Warp})
        for (unsigned b = 0; b < l.inDimBits(dim); ++b)
          if (l.basis(dim, b, layouts::tensorDim(d))) return true;
      return false;
    };
    for (unsigned d = 0; d < wide.rank(); ++d)
      if (narrow.dim(d) < wide.dim(d) && threadsAlong(*own, d) && !threadsAlong(*other, d)) return false;
    return true;
  }

  bool moveDown(Operation *op, unsigned at, const Encoding *e) {
    if ((elementwise(op) || op->is<arith::SelectOp>()) && isPure(op) &&
        op->numResults() == 1) { // a scalar condition has no layout
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (i != at && !available(op->operand(i), e)) {
          if (canCarry(op->operand(i), e)) {
            retyped_[{op->operand(i).ownerBlock()->parentOp(), op->operand(i).index() - 1}] = e;
            carry(op->operand(i).ownerBlock()->parentOp(), op->operand(i).index() - 1, e);
            continue;
          }
          if (auto leaves = carriedLeaves(op->operand(i), e); !leaves.empty()) { // then this operand comes in e, too
            for (Value v : leaves) {
              Operation *loop = v.ownerBlock()->parentOp();
              retyped_[{loop, v.index() - 1}] = e;
              carry(loop, v.index() - 1, e);
            }
            return true;
          }
          // Two costly operands in different layouts: always the same one decides, so that the choice does not swing.
          auto other = op->operand(i).definedBy<ttg::ConvertLayoutOp>();
          if (acceptable(op->operand(i), e)) continue;
          if (widened(op->operand(i), e) &&
              !widened(op->operand(at).definedBy<ttg::ConvertLayoutOp>().src(), encodingOf(op->result())))
            continue;
          if (other && (stronger(encodingOf(other.src()), e) || decides(op, i, at))) return false;
          if (other || encodingOf(op->operand(i)) != encodingOf(op->result())) continue;
          // An operand that is in the operation's layout as it is: one conversion for another, but of fewer elements.
          if (elementsMade(op->operand(i)) >= elementsMade(op->operand(at))) return false;
        }
      for (unsigned i = 0; i < op->numOperands(); ++i) op->setOperand(i, get(op->operand(i), e, op));
      retype(op->result(), e);
      return true;
    }
    switch (op->opcode()) {
    case Opcode::tt_broadcast:
      if (!spreads(op, e)) return false;
      op->setOperand(0, get(op->operand(0), e, op));
      retype(op->result(), e);
      return true;
    case Opcode::tt_expand_dims: {
      auto *slice = layouts::dynCast<layouts::SliceEncoding>(e);
      if (!slice || slice->dim() != op->cast<tt::ExpandDimsOp>().axis()) return false;
      op->setOperand(0, get(op->operand(0), e, op));
      retype(op->result(), slice->parent());
      return true;
    }
    case Opcode::tt_trans: {
      auto *to = layouts::inferTrans(pool_, e, op->cast<tt::TransOp>().order(), tensorOf(op->operand(0)).shape());
      if (!to) return false;
      op->setOperand(0, get(op->operand(0), e, op));
      retype(op->result(), to);
      return true;
    }
    case Opcode::tt_reshape: {
      if (op->cast<tt::ReshapeOp>().allowReorder()) {
        // Any order will do, so that each thread may keep what it has, if the result has as much place for it.
        auto from = e->toLinearLayout(tensorOf(op->operand(0)).shape()),
             to = encodingOf(op->result())->toLinearLayout(tensorOf(op->result()).shape());
        if (!from.ok() || !to.ok()) return false;
        auto whole = [](const layouts::LinearLayout &l) { return l.isInjective() && l.isSurjective(); };
        if (!whole(*from) || !whole(*to) ||
            from->inDimSize(layouts::Dim::Register) != to->inDimSize(layouts::Dim::Register))
          return false;
        op->setOperand(0, get(op->operand(0), e, op));
        return true;
      }
      auto *to = layouts::inferReshape(pool_, e, tensorOf(op->operand(0)).shape(), tensorOf(op->result()).shape());
      if (!to) return false;
      op->setOperand(0, get(op->operand(0), e, op));
      retype(op->result(), to);
      return true;
    }
    case Opcode::tt_scan: {
      // In a layout out of order it would be converted on the way in and out again (choose-scan-layouts).
      auto &layout = e->layoutOf(tensorOf(op->operand(at)).shape());
      if (e->kind() == layouts::EncodingKind::DotOperand || !layout.ok() ||
          !layouts::scanShape(*layout, op->cast<tt::ScanOp>().axis()).inOrder)
        return false;
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (i != at && !acceptable(op->operand(i), e)) return false;
      for (unsigned i = 0; i < op->numOperands(); ++i) op->setOperand(i, get(op->operand(i), e, op));
      for (auto r : op->results()) retype(r, e);
      return true;
    }
    case Opcode::tt_reduce: {
      for (unsigned i = 0; i < op->numOperands(); ++i)
        if (i != at && !acceptable(op->operand(i), e)) return false;
      for (unsigned i = 0; i < op->numOperands(); ++i) op->setOperand(i, get(op->operand(i), e, op));
      auto axis = op->cast<tt::ReduceOp>().axis();
      for (auto r : op->results())
        if (r.type().isTensor()) retype(r, *pool_.getSlice(axis, e));
      return true;
    }
    case Opcode::tt_assert: // each thread tests what it has
    case Opcode::
        ttg_local_alloc: // a buffer is filled from any layout; through another one the value would pass memory twice
      op->setOperand(0, get(op->operand(0), e, op));
      return true;
    case Opcode::scf_for: return moveIntoFor(op, at, e);
    default: return false;
    }
  }

  /// An initial value arrives converted: the loop carries the original layout. The yielded value is converted to it.
  bool moveIntoFor(Operation *op, unsigned at, const Encoding *e) {
    if (at < 3) return false;
    unsigned i = at - 3;
    if (!mayRetype(op, i, e)) return false;
    retyped_[{op, i}] = e;
    carry(op, i, e);
    return true;
  }
  void carry(Operation *op, unsigned i, const Encoding *e) {
    auto f = op->cast<scf::ForOp>();
    Operation *y = f.body().front()->terminator();
    op->setOperand(3 + i, get(f.initArgs()[i], e, op));
    y->setOperand(i, get(y->operand(i), e, y));
    retype(f.body().front()->arg(i + 1), e);
    retype(op->result(i), e);
  }

  /// Values that loops and branches carry: what arrives converted at a yield is carried in its own layout.
  bool carried() {
    bool changed = false;
    std::vector<Operation *> ops;
    m_.op()->walkPostOrder([&](Operation *op) {
      if (op->is<scf::ForOp>() || op->is<scf::IfOp>() || op->is<scf::WhileOp>()) ops.push_back(op);
    });
    for (auto *op : ops) {
      if (auto f = op->dyn<scf::ForOp>()) {
        Operation *y = f.body().front()->terminator();
        for (unsigned i = 0; i < op->numResults(); ++i) {
          if (!op->result(i).type().isTensor()) continue;
          const Encoding *e = nullptr;
          if (auto c = y->operand(i).definedBy<ttg::ConvertLayoutOp>())
            e = encodingOf(c.src());
          else {
            // A carried pointer or index: its users in the body agree on another layout.
            Value arg = f.body().front()->arg(i + 1);
            for (auto *user : arg.users())
              if (Operation *c = user; c->is<ttg::ConvertLayoutOp>()) {
                const Encoding *w = encodingOf(c->result());
                if (e && e != w) {
                  e = nullptr;
                  break;
                }
                e = w;
              }
          }
          if (!e || e == encodingOf(op->result(i)) || e->kind() == layouts::EncodingKind::DotOperand ||
              !available(f.initArgs()[i], e))
            continue;
          if (!mayRetype(op, i, e)) continue;
          retyped_[{op, i}] = e;
          carry(op, i, e);
          changed = true;
        }
      } else if (auto s = op->dyn<scf::IfOp>();
                 s && op->numResults() && s.thenRegion().hasOneBlock() && s.elseRegion().hasOneBlock()) {
        Operation *a = s.thenRegion().front()->terminator(), *b = s.elseRegion().front()->terminator();
        for (unsigned i = 0; i < op->numResults(); ++i) {
          if (!op->result(i).type().isTensor()) continue;
          for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
            auto c = x->operand(i).definedBy<ttg::ConvertLayoutOp>();
            if (!c || !available(y->operand(i), encodingOf(c.src())) || !mayRetype(op, i, encodingOf(c.src())))
              continue;
            const Encoding *e = encodingOf(c.src());
            retyped_[{op, i}] = e;
            x->setOperand(i, c.src());
            y->setOperand(i, get(y->operand(i), e, y));
            retype(op->result(i), e);
            changed = true;
            break;
          }
        }
      }
    }
    return changed;
  }

  /// Elements of the fastest dimension that one thread holds one after the other, and whether lanes follow on.
  static int64_t run(const Encoding *e, llvm::ArrayRef<int64_t> shape, unsigned dim) {
    auto &l = e->layoutOf(shape);
    if (!l.ok()) return 0;
    int64_t n = 1;
    for (unsigned b = 0; b < l->inDimBits(layouts::Dim::Register); ++b) {
      if (l->basis(layouts::Dim::Register, b, layouts::tensorDim(dim)) != n) break;
      n *= 2;
    }
    // The next lane should go on where the thread ends; a thread that holds whole rows makes each access of the warp
    // touch as many rows as it has lanes.
    if (n >= shape[dim] && shape.size() > 1) return 0;
    if (n < shape[dim] && l->inDimBits(layouts::Dim::Lane) &&
        l->basis(layouts::Dim::Lane, 0, layouts::tensorDim(dim)) != n)
      return 0;
    return n;
  }

  /// Bytes of a lane's consecutive elements in the result of an AMD matrix instruction. Its lanes stand along the
  /// other dimension, so an access touches as many rows as there are lanes, a few times 8 to 32 bytes of each; that
  /// is less than the round trip through shared memory, with its barriers, that whole rows would cost.
  static int64_t rowOfResult(const Encoding *e, llvm::ArrayRef<int64_t> shape, unsigned dim, int64_t bytes) {
    if (e->kind() != layouts::EncodingKind::AmdMfma && e->kind() != layouts::EncodingKind::AmdWmma) return 0;
    auto l = e->toLinearLayout(shape);
    int64_t n = 1;
    for (unsigned b = 0; l.ok() && b < l->inDimBits(layouts::Dim::Register) &&
                         l->basis(layouts::Dim::Register, b, layouts::tensorDim(dim)) == n;
         ++b)
      n *= 2;
    return n * bytes;
  }

  /// Accesses of a thread, each to `width` elements.
  static int64_t accesses(const Encoding *e, llvm::ArrayRef<int64_t> shape, int64_t width) {
    auto &l = e->layoutOf(shape);
    if (!l.ok()) return INT64_MAX;
    int64_t distinct = 1;
    for (unsigned b = 0; b < l->inDimBits(layouts::Dim::Register); ++b)
      if (llvm::any_of(l->basis(layouts::Dim::Register, b), [](int32_t x) { return x != 0; })) distinct *= 2;
    return std::max<int64_t>(1, distinct / std::max<int64_t>(1, width));
  }
  static constexpr int64_t kMoreStores = 3; // cheaper than a conversion

  bool stores() {
    bool changed = false;
    GlobalAccesses memory(m_);
    std::vector<Operation *> ops;
    m_.op()->walk([&](Operation *op) {
      if (op->is<tt::StoreOp>()) ops.push_back(op);
    });
    for (auto *op : ops) {
      auto s = op->cast<tt::StoreOp>();
      // A column may have been converted before it became one.
      auto widened = s.value().definedBy<tt::ExpandDimsOp>();
      auto c = (widened ? widened.src() : s.value()).definedBy<ttg::ConvertLayoutOp>();
      if (!c || !s.ptr().type().isTensor() || memory.isShared(s.ptr())) continue;
      const Encoding *own = encodingOf(s.ptr()), *e = encodingOf(c.src());
      if (widened) {
        auto *slice = layouts::dynCast<layouts::SliceEncoding>(e);
        if (!slice || slice->dim() != widened.axis()) continue;
        e = slice->parent();
      }
      auto *blocked = layouts::dynCast<layouts::BlockedEncoding>(own);
      if (!blocked || e->kind() == layouts::EncodingKind::DotOperand) continue;
      unsigned fast = blocked->order()[0];
      auto shape = tensorOf(s.ptr()).shape();
      int64_t bytes = std::max<int64_t>(1, tensorOf(s.value()).element().bitWidth() / 8);
      int64_t want = std::min<int64_t>(run(own, shape, fast), std::max<int64_t>(1, 16 / bytes)),
              has = run(e, shape, fast);
      // Where threads hold copies of each other's elements, few of them store, one element after the other.
      if (registers(e, shape) > std::max<int64_t>(registers(own, shape), 4)) continue;
      bool direct = want * bytes >= 8 && rowOfResult(e, shape, fast, bytes) >= 8;
      // What does not fill the threads takes one access of some lanes in any layout.
      bool few =
          tensorOf(s.ptr()).numElements() < (int64_t(1) << (own->layoutOf(shape)->inDimBits(layouts::Dim::Lane) +
                                                            own->layoutOf(shape)->inDimBits(layouts::Dim::Warp)));
      if (has < want && !direct && !few && !(has > 0 && shape.size() == 1 && has * bytes >= 8)) continue;
      // A layout that has many elements in one lane and copies in the others needs one access for each.
      if (!direct && accesses(e, shape, std::min(has, want)) > accesses(own, shape, want) + kMoreStores) continue;
      if (!isCheap(s.ptr(), e) || (s.mask() && !isCheap(s.mask(), e))) continue;
      op->setOperand(op->operandGroupStart(0), get(s.ptr(), e, op));
      Value value = c.src();
      if (widened) {
        Builder b(op);
        value =
            tt::ExpandDimsOp::create(b, widened->loc(), tensorOf(s.value()).withEncoding(e), value, widened->attrs())
                .result();
      }
      op->setOperand(op->operandGroupStart(1), value);
      if (s.mask()) op->setOperand(op->operandGroupStart(2), get(s.mask(), e, op));
      changed = true;
    }
    return changed;
  }

  Module &m_;
  layouts::EncodingPool &pool_;
  Cheap cheap_;
  llvm::DenseMap<std::pair<Operation *, unsigned>, const Encoding *> retyped_;
};

} // namespace

absl::StatusOr<bool> removeLayoutConversions(Module &m, PassContext &) {
  // What has been computed in another layout may let more conversions move.
  bool changed = false;
  for (int round = 0; round < 2; ++round) {
    changed |= Removal(m).run();
    if (!recomputeConversions(m)) break;
    changed = true;
  }
  Removal last(m);
  changed |= last.narrowCasts();
  return changed | last.fold();
}

} // namespace tessera::transforms
