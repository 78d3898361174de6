// Coalescing: each access to global memory by a tensor of pointers gets a blocked layout in which a thread holds as many
// elements that lie one after the other in memory as it can move at once, and neighbouring lanes hold neighbouring
// elements.
//
//   %v = tt.load %p : tensor<1024x!tt.ptr<f16>, #blocked>            (one element per thread and step)
//   →
//   %q = ttg.convert_layout %p : … -> tensor<1024x!tt.ptr<f16>, #blocked1>     (sizePerThread = [8])
//   %w = tt.load %q : tensor<1024x!tt.ptr<f16>, #blocked1>
//   %v = ttg.convert_layout %w : … -> tensor<1024xf16, #blocked>
//
// The fastest dimension is the one with the longest runs of consecutive addresses (AxisInfo); the run, its alignment, the
// 16 bytes of one access and the number of elements that a thread has at all bound the width. Accesses of one shape and
// order in a function take the widest of their widths together, so that values flow between them without conversions;
// this costs a narrower access nothing (it is cut into several instructions) as long as lanes stay adjacent.
#include "ir/builder.h"
#include "ir/module_attributes.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "llvm/ADT/STLExtras.h"
#include "transforms/analyses/axis_info.h"
#include "transforms/analyses/pointer_root.h"
#include "transforms/passes.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <numeric>

namespace tessera::transforms {
using namespace ir;

namespace {

struct Access {
  Operation *op;
  Value ptr;
  llvm::SmallVector<int32_t, 4> order;
  int64_t width = 1; // elements of one access
};

Value pointerOf(Operation *op) {
  Value p;
  if (auto l = op->dyn<tt::LoadOp>()) p = l.ptr();
  else if (auto s = op->dyn<tt::StoreOp>()) p = s.ptr();
  else if (auto a = op->dyn<tt::AtomicRmwOp>()) p = a.ptr();
  else if (auto c = op->dyn<tt::AtomicCasOp>()) p = c.ptr();
  return p && p.type().isTensor() ? p : Value();
}

/// The axis along which a loaded value is reduced first, as it is or after elementwise work; -1: none, or several.
int reducedAxis(Value v, int depth = 0) {
  int axis = -1;
  for (auto *user : v.users()) {
    int found = -1;
    if (auto r = user->dyn<tt::ReduceOp>()) found = r.axis();
    else if (depth < 8 && user->info().has(kElementwise) && user->numResults() == 1) found = reducedAxis(user->result(), depth + 1);
    if (found < 0) continue;
    if (axis >= 0 && axis != found) return -1;
    axis = found;
  }
  return axis;
}

/// Fastest dimension first: by run length, then the last dimension first. Where nothing runs along any dimension, one that
/// is reduced comes last: it stays in a thread as far as it can, which saves most of the steps between lanes. Not where the
/// memory is also written: the accesses of a pointer are in one layout, by which threads read what they wrote.
llvm::SmallVector<int32_t, 4> orderOf(Operation *op, Value ptr, const AxisInfoAnalysis &axis, const GlobalAccesses &accessed) {
  auto info = axis.get(ptr);
  llvm::SmallVector<int32_t, 4> order(info.rank());
  std::iota(order.rbegin(), order.rend(), 0);
  if (op->is<tt::LoadOp>() && llvm::all_of(info.contiguity, [](int64_t run) { return run == 1; }) && !accessed.mayBeWritten(ptr))
    if (int reduced = reducedAxis(op->result()); reduced >= 0) llvm::stable_sort(order, [&](int a, int b) { return a != reduced && b == reduced; });
  llvm::stable_sort(order, [&](int a, int b) { return info.contiguity[a] > info.contiguity[b]; });
  return order;
}

/// Whether a value is made elementwise from the result of a multiplication: it changes its layout on the way to memory anyway.
bool fromMultiplication(Value v, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = v.definingOp();
  if (!op || !v.type().isTensor() || !seen.insert(op).second) return false;
  if (op->is<tt::DotOp>()) return true;
  if (auto loop = op->dyn<scf::ForOp>()) return fromMultiplication(loop.body().front()->terminator()->operand(v.index()), seen);
  if (!op->info().has(kElementwise) && !op->is<ttg::ConvertLayoutOp>() && !op->is<arith::SelectOp>()) return false;
  return llvm::any_of(op->operands(), [&](Value o) { return fromMultiplication(o, seen); });
}

void relayout(Operation *op, const layouts::Encoding *e) {
  Builder b(op);
  for (unsigned i = 0; i < op->numOperands(); ++i)
    if (auto t = op->operand(i).type().dyn_cast<TensorType>(); t && t.encoding() != e) op->setOperand(i, ttg::ConvertLayoutOp::create(b, op->loc(), t.withEncoding(e), op->operand(i)).result());
  b.setInsertionPointAfter(op);
  for (auto r : op->results()) {
    auto t = r.type().dyn_cast<TensorType>();
    if (!t || t.encoding() == e) continue;
    r.setType(t.withEncoding(e));
    auto back = ttg::ConvertLayoutOp::create(b, op->loc(), t, r);
    r.replaceUsesIf(back.result(), [&](OpOperand &u) { return u.owner != back.op; });
  }
}

} // namespace

absl::StatusOr<bool> coalesce(Module &m, PassContext &) {
  AxisInfoAnalysis axis(m);
  GlobalAccesses accessed(m);
  int warps = numWarps(m.op()), lanes = threadsPerWarp(m.op());
  std::vector<Access> accesses;
  using Key = std::tuple<Operation *, llvm::SmallVector<int64_t, 4>, llvm::SmallVector<int32_t, 4>>;
  std::map<Key, int64_t> widest; // by function, shape and order
  auto functionOf = [](Operation *op) { return op->parentOfType<tt::FuncOp>().op; };
  m.op()->walk([&](Operation *op) {
    Value ptr = pointerOf(op);
    if (!ptr) return;
    Access a{op, ptr, orderOf(op, ptr, axis, accessed), 1};
    auto type = ptr.type().cast<TensorType>();
    int64_t bits = type.element().cast<PointerType>().pointee().bitWidth();
    int64_t bytes = std::max<int64_t>(1, bits / 8);
    int64_t perThread = std::max<int64_t>(1, type.numElements() / (int64_t(warps) * lanes));
    a.width = std::min({axis.contiguousElements(ptr, a.order[0]), std::max<int64_t>(1, 16 / bytes), perThread, type.dim(a.order[0])});
    // A mask that changes inside the vector cuts stores; loads are better narrow than masked one by one.
    accesses.push_back(a);
    auto &w = widest[{functionOf(a.op), llvm::SmallVector<int64_t, 4>(type.shape()), a.order}];
    // Atomics move one element at a time; their lanes should be adjacent.
    if (op->is<tt::LoadOp>() || op->is<tt::StoreOp>()) w = std::max(w, a.width);
  });
  for (auto &a : accesses) {
    auto type = a.ptr.type().cast<TensorType>();
    int64_t w = std::max<int64_t>(1, widest[{functionOf(a.op), llvm::SmallVector<int64_t, 4>(type.shape()), a.order}]);
    // As wide as others, so that values need no conversion; but lanes that store more than one access lie side by side leave
    // gaps in each access, which write half sectors.
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (auto store = a.op->dyn<tt::StoreOp>(); store && fromMultiplication(store.value(), seen) && !accessed.isShared(store.ptr())) w = a.width;
    llvm::SmallVector<int32_t, 4> size(type.rank(), 1);
    size[a.order[0]] = w;
    auto *e = *m.context().encodings().getBlocked(layouts::blockedParamsFor(type.shape(), size, a.order, warps, lanes, type.encoding()->cta()));
    relayout(a.op, e);
  }
  return !accesses.empty();
}

} // namespace tessera::transforms
