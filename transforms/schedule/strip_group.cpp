// What strip-mine cuts (see strip_group.h). Table: an operation that strips may contain is a case of dims::isKnown, and
// of the other functions of dims if its operands and its result differ in their dimensions.
#include "transforms/schedule/strip_group.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"
#include "transforms/analyses/reduction.h"
#include "llvm/ADT/DenseSet.h"

namespace tessera::transforms::strips {
using namespace ir;

TensorType stripType(TensorType t, int dim, int64_t strips) {
  llvm::SmallVector<int64_t, 4> shape(t.shape());
  shape[dim] /= strips;
  return TensorType::get(shape, t.element(), t.encoding());
}

bool accessesMemory(Operation *op) {
  return op->is<tt::LoadOp>() || op->is<tt::StoreOp>() || op->is<tt::AtomicRmwOp>();
}

bool writesMemory(Operation *op) { return !op->is<tt::LoadOp>(); }

Value pointerOf(Operation *op) { return op->cast<GlobalAccessOp>().ptr(); }

namespace dims {

/// The dimension that a reshape divides into two, by which a part of a reduction stays in a thread
/// (optimize-thread-locality); kWhole: it does something else. Strips are cut along the first of the two.
static int dividedBy(tt::ReshapeOp r) {
  auto from = tensorOf(r.src()).shape(), to = tensorOf(r.result()).shape();
  if (r.allowReorder() || to.size() != from.size() + 1) return kWhole;
  int d = 0;
  while (d < int(from.size()) && from[d] == to[d]) ++d;
  bool divides = d < int(from.size()) && from[d] == to[d] * to[d + 1] && from.drop_front(d + 1) == to.drop_front(d + 2);
  return divides ? d : kWhole;
}

bool isKnown(Operation *op) {
  switch (op->opcode()) {
  case Opcode::tt_load:
  case Opcode::tt_store: {
    auto pointers = tensorOrNull(pointerOf(op));
    return pointers && pointers.encoding();
  }
  case Opcode::tt_atomic_rmw: return bool(tensorOrNull(pointerOf(op)));
  case Opcode::tt_splat:
  case Opcode::tt_make_range:
  case Opcode::tt_expand_dims:
  case Opcode::tt_broadcast:
  case Opcode::tt_trans:
  case Opcode::tt_join:
  case Opcode::tt_split:
  case Opcode::arith_constant:
  case Opcode::ttg_convert_layout: return true;
  case Opcode::tt_reshape: return dividedBy(tt::ReshapeOp(op)) != kWhole;
  case Opcode::tt_reduce:
  case Opcode::tt_scan:
  case Opcode::arith_select:
  case Opcode::tt_elementwise_inline_asm: return isPure(op);
  default: return op->info().has(kElementwise) && isPure(op);
  }
}

int ofOperand(Operation *op, unsigned operand, int d) {
  auto t = tensorOrNull(op->operand(operand));
  if (!t) return kWhole;
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d > int(e.axis()) ? d - 1 : d;
  if (op->is<tt::BroadcastOp>() && t.dim(d) == 1) return kWhole;
  if (auto trans = op->dyn<tt::TransOp>()) return int(trans.order()[d]);
  if (auto r = op->dyn<tt::ReshapeOp>()) return d > dividedBy(r) ? d - 1 : d;
  return d;
}

int ofResult(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d > int(r.axis()) ? d - 1 : d;
  return d;
}

int fromOperand(Operation *op, int d) {
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d >= int(e.axis()) ? d + 1 : d;
  if (auto trans = op->dyn<tt::TransOp>()) return int(llvm::find(trans.order(), d) - trans.order().begin());
  if (auto r = op->dyn<tt::ReshapeOp>()) return d > dividedBy(r) ? d + 1 : d;
  return d;
}

int fromResult(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d >= int(r.axis()) ? d + 1 : d;
  return d;
}

bool areIndependent(Operation *op, int d) {
  if (auto r = op->dyn<tt::ReduceOp>()) return d != int(r.axis());
  if (auto s = op->dyn<tt::ScanOp>()) return d != int(s.axis());
  if (op->is<tt::JoinOp>()) return d + 1 < int(tensorOrNull(op->result()).rank());
  if (auto s = op->dyn<tt::SplitOp>()) return d + 1 < int(tensorOrNull(s.src()).rank());
  if (auto e = op->dyn<tt::ExpandDimsOp>()) return d != int(e.axis()); // the operand has no such dimension
  if (auto r = op->dyn<tt::ReshapeOp>()) return d != dividedBy(r) + 1;
  if (op->is<arith::ConstantOp>()) return splatBits(op->attr("value"));
  if (op->is<tt::MakeRangeOp>()) return tensorOrNull(op->result()).element().bitWidth() == 32;
  return true;
}

} // namespace dims

bool endsGroup(Operation *op, int d) {
  auto r = op->dyn<tt::ReduceOp>();
  return r && int(r.axis()) == d;
}

bool canBeAccumulated(tt::ReduceOp r) {
  if (r->numOperands() != 1) return false;
  Operation *combine = combination(r.op);
  return combine && neutralBits(combine->opcode(), r->result().type().scalar());
}

TensorType carriedType(Operation *reduce, int d, int64_t strips) {
  auto result = tensorOrNull(reduce->result());
  return result ? result : stripType(tensorOf(reduce->operand(0)), d, strips);
}

TensorType cutFrom(Operation *op) {
  if (accessesMemory(op)) return writesMemory(op) ? tensorOrNull(pointerOf(op)) : TensorType();
  bool isToScalar = op->is<tt::ReduceOp>() && op->numOperands() == 1 && !op->result().type().isTensor();
  return isToScalar ? tensorOf(op->operand(0)) : TensorType();
}

std::optional<llvm::SmallVector<Operation *, 4>> usersOfEnds(const Group &g) {
  llvm::DenseSet<Operation *> ends;
  llvm::SmallVector<Operation *, 4> users;
  Operation *after = g.ops.back().first->next();
  for (Operation *op = g.ops.front().first; op != after; op = op->next()) {
    bool usesEnd =
        llvm::any_of(op->operands(), [&](Value v) { return v.definingOp() && ends.contains(v.definingOp()); });
    auto found = g.ops.find(op);
    bool isInGroup = found != g.ops.end();
    if (usesEnd && (isInGroup || !isPure(op) || op->numRegions())) return std::nullopt;
    if (usesEnd) users.push_back(op);
    if (usesEnd || (isInGroup && endsGroup(op, found->second))) ends.insert(op);
  }
  return users;
}

} // namespace tessera::transforms::strips
