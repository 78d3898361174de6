// Pass triton-nvidia-gpu-fence-insertion: fences of the asynchronous proxy between writes to shared memory and a matrix
// unit that reads it (PTX ISA, "Async proxy"). The threads that wrote execute the fence, before the barrier that orders
// them and the reader.
// Runs: before lowering, on targets with wgmma.
//
//   %m = ttg.local_alloc %x                         %m = ttg.local_alloc %x
//   %d = ttng.warp_group_dot %m, …           →      ttng.fence_async_shared
//                                                   %d = ttng.warp_group_dot %m, …
//
// A fence is inserted after every write to a buffer that some ttng.warp_group_dot reads. Asynchronous copies
// (ttg.async_copy_global_to_local) need none once they are waited for, as in CUTLASS's kernels that read operands
// written by cp.async; a copy that is lowered to loads and stores brings its own. Before a dot whose buffer is not
// known (a loop-carried descriptor, an argument of a function) there is a fence as well.
//
// Kernels that contain fences already are not changed.
#include "ir/builder.h"
#include "ir/ops.h"
#include "transforms/analyses/memdesc_root.h"
#include "transforms/passes.h"
#include "llvm/ADT/SetVector.h"

namespace tessera::transforms {
using namespace ir;

namespace {

bool insertFences(Operation *func) {
  llvm::SetVector<Operation *> buffersOfDots; // allocations
  llvm::SetVector<Operation *> dotsOfUnknown; // dots with a buffer whose allocation is not known
  bool hasFences = false;
  func->walk([&](Operation *op) {
    hasFences |= op->is<ttng::FenceAsyncSharedOp>();
    auto dot = op->dyn<ttng::WarpGroupDotOp>();
    if (!dot) return;
    for (Value v : {dot.a(), dot.b()}) {
      if (!v.type().isa<MemDescType>()) continue;
      if (auto alloc = allocationOf(v))
        buffersOfDots.insert(alloc.op);
      else
        dotsOfUnknown.insert(op);
    }
  });
  if (hasFences || (buffersOfDots.empty() && dotsOfUnknown.empty())) return false;

  llvm::SetVector<Operation *> writes;
  func->walk([&](Operation *op) {
    if (auto alloc = op->dyn<ttg::LocalAllocOp>()) {
      if (alloc.src() && buffersOfDots.contains(op)) writes.insert(op);
    } else if (auto store = op->dyn<ttg::LocalStoreOp>()) {
      auto alloc = allocationOf(store.dst());
      if (!alloc || buffersOfDots.contains(alloc.op)) writes.insert(op);
    }
  });
  auto fence = [](Builder b, Location loc) {
    ttng::FenceAsyncSharedOp::create(b, loc, {b.boolAttr("bCluster", false)});
  };
  for (auto *op : writes) {
    // One fence is enough for writes that follow each other.
    bool moreWritesFollow = op->next() && writes.contains(op->next());
    if (!moreWritesFollow) fence(Builder::after(op), op->loc());
  }
  for (auto *op : dotsOfUnknown) fence(Builder(op), op->loc());
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
