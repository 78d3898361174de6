// Pass triton-nvidia-gpu-fence-insertion: what threads wrote to shared memory must be made visible to a matrix unit
// that reads it by itself (PTX ISA, "Async proxy"): a fence by the threads that wrote, before the barrier that orders
// them and the reader.
//
//   %m = ttg.local_alloc %x                         %m = ttg.local_alloc %x
//   %d = ttng.warp_group_dot %m, …           →      ttng.fence_async_shared
//                                                   %d = ttng.warp_group_dot %m, …
//
// A fence stands after every write to a buffer that some ttng.warp_group_dot reads. Copies in the background
// (ttg.async_copy_global_to_local) need none once they are waited for, as in CUTLASS's kernels that multiply what
// cp.async brings; a copy that can only be lowered by loads and stores brings its own. Where a buffer is reached on
// ways that are not followed (carried descriptors, arguments of functions), one stands before the multiplication as
// well. Kernels that have fences already are left as they are.
#include "ir/builder.h"
#include "ir/ops.h"
#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

/// The buffer that a descriptor is a view of; null if that is not known.
Operation *bufferBehind(Value v) {
  while (Operation *def = v.definingOp()) {
    if (def->is<ttg::LocalAllocOp>()) return def;
    if (!def->numOperands() || !def->operand(0).type().isa<MemDescType>()) return nullptr;
    v = def->operand(0);
  }
  return nullptr;
}

bool insertFences(Operation *func) {
  llvm::SetVector<Operation *> read, unknown;
  bool fenced = false;
  func->walk([&](Operation *op) {
    fenced |= op->is<ttng::FenceAsyncSharedOp>();
    auto dot = op->dyn<ttng::WarpGroupDotOp>();
    if (!dot) return;
    for (Value v : {dot.a(), dot.b()}) {
      if (!v.type().isa<MemDescType>()) continue;
      if (auto *buffer = bufferBehind(v))
        read.insert(buffer);
      else
        unknown.insert(op);
    }
  });
  if (fenced || (read.empty() && unknown.empty())) return false;
  llvm::SetVector<Operation *> after;
  func->walk([&](Operation *op) {
    auto reaches = [&](Value v) {
      auto *buffer = bufferBehind(v);
      return !buffer || read.contains(buffer);
    };
    if (auto alloc = op->dyn<ttg::LocalAllocOp>()) {
      if (alloc.src() && read.contains(op)) after.insert(op);
    } else if (auto store = op->dyn<ttg::LocalStoreOp>()) {
      if (reaches(store.dst())) after.insert(op);
    }
  });
  auto fence = [](Builder b, Location loc) {
    ttng::FenceAsyncSharedOp::create(b, loc, {b.boolAttr("bCluster", false)});
  };
  for (auto *op : after)
    // One fence does for writes that follow each other.
    if (!op->next() || !after.contains(op->next())) fence(Builder::after(op), op->loc());
  for (auto *op : unknown) fence(Builder(op), op->loc());
  return true;
}

} // namespace

absl::StatusOr<bool> fenceInsertion(Module &m, PassContext &) {
  bool changed = false;
  for (auto &op : *m.body())
    if (auto f = op.dyn<tt::FuncOp>(); f && !f.body().empty()) changed |= insertFences(&op);
  return changed;
}

} // namespace tessera::transforms
