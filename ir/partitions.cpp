// Who runs an operation (see partitions.h).
#include "ir/partitions.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/tensor_queries.h"

namespace tessera::ir {

Partition partitionOf(Operation *op) {
  for (; op && op->parentOp(); op = op->parentOp()) {
    Operation *parent = op->parentOp();
    Region *region = op->parentRegion();
    if (parent->is<ttg::WarpSpecializePartitionsOp>())
      if (Operation *outer = parent->parentOp(); outer && outer->is<ttg::WarpSpecializeOp>())
        return {outer->cast<ttg::WarpSpecializeOp>(), region, int(region - &parent->region(0))};
    if (auto w = parent->dyn<ttg::WarpSpecializeOp>(); w && region == &parent->region(0)) return {w, region, -1};
  }
  return {};
}

static Operation *holderOf(ttg::WarpSpecializeOp op) {
  Block *b = op.partitionOpHolder().front();
  Operation *holder = b ? b->front() : nullptr;
  return holder && holder->is<ttg::WarpSpecializePartitionsOp>() ? holder : nullptr;
}

llvm::MutableArrayRef<Region> partitionRegions(ttg::WarpSpecializeOp op) {
  Operation *holder = holderOf(op);
  return holder ? holder->regions() : llvm::MutableArrayRef<Region>();
}

OperandRange capturesOf(ttg::WarpSpecializeOp op) {
  Operation *holder = holderOf(op);
  return op->numOperands() || !holder ? op->operands() : holder->operands();
}

Value captureOf(Value v) {
  if (!v.isBlockArgument()) return {};
  Operation *holder = v.ownerBlock()->parentOp();
  if (!holder || !holder->is<ttg::WarpSpecializePartitionsOp>() || v.ownerBlock() != v.ownerBlock()->parent()->front())
    return {};
  Operation *outer = holder->parentOp();
  if (!outer || !outer->is<ttg::WarpSpecializeOp>()) return {};
  auto captures = capturesOf(outer->cast<ttg::WarpSpecializeOp>());
  return v.index() < captures.size() ? captures[v.index()] : Value();
}

/// Whether it is computed by each thread alone.
static bool neverSynchronizes(Operation *op) {
  if (op->is<ttng::WarpGroupDotOp>()) return true;
  if (!isPure(op) || op->numRegions()) return false;
  bool isShape =
      op->is<tt::SplatOp>() || op->is<tt::ExpandDimsOp>() || op->is<tt::BroadcastOp>() || op->info().has(kConstantLike);
  auto isTensor = [](Value v) { return v.type().isTensor(); };
  return isShape || isElementwise(op) ||
         (llvm::none_of(op->operands(), isTensor) && llvm::none_of(op->results(), isTensor));
}

DotTurn dotTurnOf(Operation *loop) {
  if (!loop->is<scf::ForOp>() || !loop->hasAttr(kTakesDotTurnsAttr)) return {};
  DotTurn turn;
  for (auto &op : *loop->cast<scf::ForOp>().body().front()) {
    if (op.hasAttr(kBeginsDotTurnAttr)) turn.first = &op;
    if (!turn.first) continue;
    if (!neverSynchronizes(&op)) return {};
    if (!op.hasAttr(kEndsDotTurnAttr)) continue;
    turn.last = &op;
    return turn;
  }
  return {};
}

int64_t numWarpsAt(Operation *op) {
  if (Partition p = partitionOf(op)) {
    auto warps = p.op.partitionNumWarps();
    if (p.index >= 0 && unsigned(p.index) < warps.size()) return warps[p.index];
  }
  auto func = op->is<tt::FuncOp>() ? op : op->parentOfType<tt::FuncOp>().op;
  return moduleInt(func, kNumWarpsAttr, numWarps(op->module().op()));
}

bool specializesWarps(Operation *func) {
  bool any = false;
  func->walk([&](Operation *op) { any |= op->is<ttg::WarpSpecializeOp>(); });
  return any;
}

bool specializesWarpsOnce(Operation *func) {
  int count = 0, outermost = 0;
  func->walk([&](Operation *op) {
    if (!op->is<ttg::WarpSpecializeOp>()) return;
    ++count;
    outermost += op->parentOp() == func;
  });
  return count == 1 && outermost == 1 && func->region(0).hasOneBlock();
}

} // namespace tessera::ir
