// Patterns of canonicalize on tensors and memory:
//
//   expand_dims, broadcast, reshape of a splat             →  a splat of the result's shape
//   broadcast of broadcast, reshape of reshape             →  one
//   trans of trans, of splat                               →  one; a splat
//   expand_dims of broadcast                               →  broadcast of expand_dims
//   split of join                                          →  its operands
//   unsplat of splat                                       →  the scalar
//   make_range of one number                               →  a constant
//   load, store, atomic with a mask of all true            →  without mask
//   load with a mask of all false                          →  the other value
//   store, atomic with unused result, with mask all false  →  nothing
//   assert of true                                         →  nothing
//   ptr_to_int of int_to_ptr and back                      →  nothing, or a bitcast between pointers
//   int_to_ptr of ptr_to_int + constant                    →  addptr, where the constant is a number of elements
//   convert_layout of convert_layout, splat, make_range    →  one; made in the layout wanted
//
// A load with a mask of all false and no other value stays: what it gives is undefined, and says so. Volatile loads
// stay.
#include "ir/constants.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "transforms/cleanup/canonicalize_patterns.h"

namespace tessera::transforms {
using namespace ir;

std::optional<bool> constantTruth(Value v) {
  if (auto *bits = constantBits(v); bits && bits->getBitWidth() == 1) return !bits->isZero();
  if (auto s = v.definedBy<tt::SplatOp>()) return constantTruth(s.src());
  return std::nullopt;
}

static bool simplifyLoad(Operation *op, Rewriter &rw) {
  auto l = op->cast<tt::LoadOp>();
  if (!l.mask() || l.isVolatile()) return false;
  auto c = constantTruth(l.mask());
  if (!c) return false;
  if (*c)
    rw.replaceOp(op, tt::LoadOp::create(rw, op->loc(), l.ptr(), {}, {}, op->attrs()).op);
  else if (l.other())
    rw.replaceOp(op, {l.other()});
  else
    return false;
  return true;
}

static bool simplifyStore(Operation *op, Rewriter &rw) {
  auto s = op->cast<tt::StoreOp>();
  if (!s.mask()) return false;
  auto c = constantTruth(s.mask());
  if (!c) return false;
  if (*c) tt::StoreOp::create(rw, op->loc(), s.ptr(), s.value(), {}, op->attrs());
  rw.eraseOp(op);
  return true;
}

static bool simplifyAtomic(Operation *op, Rewriter &rw) {
  auto a = op->cast<tt::AtomicRmwOp>();
  auto c = a.mask() ? constantTruth(a.mask()) : std::nullopt;
  if (!c || (!*c && !op->useEmpty())) return false;
  if (*c) rw.replaceOp(op, tt::AtomicRmwOp::create(rw, op->loc(), a.ptr(), a.val(), {}, op->attrs()).op);
  // With acquire or release semantics it orders memory even if it touches none.
  else if (a.sem() == MemSemantic::Relaxed)
    rw.eraseOp(op);
  else
    return false;
  return true;
}

/// Assertions and assumptions, whose only operand is the condition.
static bool dropTrueCondition(Operation *op, Rewriter &rw) {
  auto c = constantTruth(op->operands()[0]);
  if (!c || !*c) return false;
  rw.eraseOp(op);
  return true;
}

static bool splatThrough(Operation *op, Rewriter &rw) {
  auto s = UnaryOp(op).value().definedBy<tt::SplatOp>();
  if (!s) return false;
  rw.replaceOp(op, tt::SplatOp::create(rw, op->loc(), op->result().type(), s.src()).op);
  return true;
}

/// Layouts say more than shapes here: only before there are any.
static bool plain(Operation *op) { return !op->result().type().cast<TensorType>().encoding(); }

static bool transOfTrans(Operation *op, Rewriter &rw) {
  auto outer = op->cast<tt::TransOp>();
  auto inner = outer.src().definedBy<tt::TransOp>();
  if (!inner || !plain(op)) return false;
  llvm::SmallVector<int64_t, 4> order;
  for (auto o : outer.order()) order.push_back(inner.order()[o]);
  rw.replaceOp(
      op, tt::TransOp::create(rw, op->loc(), op->result().type(), inner.src(), rw.denseI32Attr("order", order)).op);
  return true;
}

static bool broadcastOfBroadcast(Operation *op, Rewriter &rw) {
  auto inner = op->cast<tt::BroadcastOp>().src().definedBy<tt::BroadcastOp>();
  if (!inner) return false;
  rw.replaceOp(op, tt::BroadcastOp::create(rw, op->loc(), op->result().type(), inner.src()).op);
  return true;
}

static bool reshapeOfReshape(Operation *op, Rewriter &rw) {
  auto outer = op->cast<tt::ReshapeOp>(), inner = outer.src().definedBy<tt::ReshapeOp>();
  if (!inner || !plain(op) || outer.allowReorder() || inner.allowReorder()) return false;
  rw.replaceOp(op, tt::ReshapeOp::create(rw, op->loc(), op->result().type(), inner.src(), op->attrs()).op);
  return true;
}

static bool expandDimsOfBroadcast(Operation *op, Rewriter &rw) {
  auto e = op->cast<tt::ExpandDimsOp>();
  auto b = e.src().definedBy<tt::BroadcastOp>();
  if (!b) return false;
  auto from = b.src().type().cast<TensorType>();
  llvm::SmallVector<int64_t, 4> shape(from.shape());
  shape.insert(shape.begin() + e.axis(), 1);
  Value small = tt::ExpandDimsOp::create(rw, op->loc(), op->result().type().cast<TensorType>().withShape(shape),
                                         b.src(), op->attrs())
                    .result();
  rw.replaceOp(op, tt::BroadcastOp::create(rw, op->loc(), op->result().type(), small).op);
  return true;
}

static bool splitOfJoin(Operation *op, Rewriter &rw) {
  auto join = op->cast<tt::SplitOp>().src().definedBy<tt::JoinOp>();
  if (!join || join.lhs().type() != op->result(0).type()) return false;
  rw.replaceOp(op, {join.lhs(), join.rhs()});
  return true;
}

static bool unsplatOfSplat(Operation *op, Rewriter &rw) {
  auto s = op->cast<tt::UnsplatOp>().src().definedBy<tt::SplatOp>();
  if (!s) return false;
  rw.replaceOp(op, {s.src()});
  return true;
}

static bool oneNumber(Operation *op, Rewriter &rw) {
  auto r = op->cast<tt::MakeRangeOp>();
  if (r.end() - r.start() != 1) return false;
  rw.replaceOp(op, {rw.intConstant(op->loc(), op->result().type(), r.start())});
  return true;
}

static bool sameSpace(Type a, Type b) {
  return a.scalar().cast<PointerType>().addressSpace() == b.scalar().cast<PointerType>().addressSpace();
}

static bool pointerAndBack(Operation *op, Rewriter &rw) {
  UnaryOp outer(op), inner(outer.value().definingOp());
  if (!inner || !(inner->is<tt::PtrToIntOp>() || inner->is<tt::IntToPtrOp>()) || inner->opcode() == op->opcode())
    return false;
  Type from = inner.value().type(), to = op->result().type();
  if (from == to)
    rw.replaceOp(op, {inner.value()});
  else if (op->is<tt::IntToPtrOp>() && sameSpace(from, to) && outer.value().type().scalar().bitWidth() == 64)
    rw.replaceOp(op, tt::BitcastOp::create(rw, op->loc(), to, inner.value()).op);
  else
    return false;
  return true;
}

/// Bytes that are whole elements are elements.
static bool pointerPlusBytes(Operation *op, Rewriter &rw) {
  auto sum = op->cast<tt::IntToPtrOp>().src().definedBy<arith::AddiOp>();
  auto bytes = sum ? intConstantOf(sum.rhs()) : std::nullopt;
  auto p = bytes ? sum.lhs().definedBy<tt::PtrToIntOp>() : tt::PtrToIntOp();
  if (!p || sum.result().type().scalar().bitWidth() != 64 || !sameSpace(p.src().type(), op->result().type()))
    return false;
  unsigned size = pointeeOf(op->result()).bitWidth() / 8;
  if (!size || *bytes % int64_t(size)) return false;
  Value base = p.src();
  if (base.type() != op->result().type())
    base = tt::BitcastOp::create(rw, op->loc(), op->result().type(), base).result();
  Value elements = rw.intConstant(op->loc(), sum.result().type(), *bytes / int64_t(size));
  rw.replaceOp(op, tt::AddptrOp::create(rw, op->loc(), base, elements).op);
  return true;
}

static bool convertOfConvert(Operation *op, Rewriter &rw) {
  auto inner = op->cast<ttg::ConvertLayoutOp>().src().definedBy<ttg::ConvertLayoutOp>();
  if (!inner) return false;
  rw.replaceOp(op, ttg::ConvertLayoutOp::create(rw, op->loc(), op->result().type(), inner.src()).op);
  return true;
}

/// What costs nothing to make in any layout is made in the one wanted.
static bool convertOfSource(Operation *op, Rewriter &rw) {
  Operation *def = op->cast<ttg::ConvertLayoutOp>().src().definingOp();
  if (!def || !(def->is<tt::SplatOp>() || def->is<tt::MakeRangeOp>())) return false;
  OperationState s(def->opcode(), def->loc());
  for (auto v : def->operands()) s.operands.push_back(v);
  s.attrs.assign(def->attrs().begin(), def->attrs().end());
  s.resultTypes.push_back(op->result().type());
  rw.replaceOp(op, rw.create(s));
  return true;
}

llvm::ArrayRef<Pattern> tensorPatterns() {
  static const Pattern patterns[] = {
      {Opcode::tt_load, simplifyLoad, "constant mask"},
      {Opcode::tt_store, simplifyStore, "constant mask"},
      {Opcode::tt_atomic_rmw, simplifyAtomic, "constant mask"},
      {Opcode::tt_assert, dropTrueCondition, "of true"},
      {Opcode::cf_assert, dropTrueCondition, "of true"},
      {Opcode::llvm_intr_assume, dropTrueCondition, "of true"},
      {Opcode::tt_trans, transOfTrans, "of trans"},
      {Opcode::tt_trans, splatThrough, "of splat"},
      {Opcode::tt_expand_dims, splatThrough, "of splat"},
      {Opcode::tt_expand_dims, expandDimsOfBroadcast, "of broadcast"},
      {Opcode::tt_broadcast, splatThrough, "of splat"},
      {Opcode::tt_broadcast, broadcastOfBroadcast, "of broadcast"},
      {Opcode::tt_reshape, splatThrough, "of splat"},
      {Opcode::tt_reshape, reshapeOfReshape, "of reshape"},
      {Opcode::tt_split, splitOfJoin, "of join"},
      {Opcode::tt_unsplat, unsplatOfSplat, "of splat"},
      {Opcode::tt_make_range, oneNumber, "of one number"},
      {Opcode::tt_ptr_to_int, pointerAndBack, "of int_to_ptr"},
      {Opcode::tt_int_to_ptr, pointerAndBack, "of ptr_to_int"},
      {Opcode::tt_int_to_ptr, pointerPlusBytes, "of ptr_to_int and bytes"},
      {Opcode::ttg_convert_layout, convertOfConvert, "of convert"},
      {Opcode::ttg_convert_layout, convertOfSource, "of what any layout is free for"},
  };
  return patterns;
}

} // namespace tessera::transforms
