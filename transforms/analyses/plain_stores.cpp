// Stores that loads may be issued ahead of (see plain_stores.h).
#include "transforms/analyses/plain_stores.h"
#include "ir/op_table.h"
#include "ir/ops.h"
#include "transforms/analyses/pointer_root.h"

namespace tessera::transforms {
using namespace ir;

bool isGlobalAtomic(const Operation *op) {
  return op->is<GlobalAccessOp>() && !op->is<tt::LoadOp>() && !op->is<tt::StoreOp>();
}

bool onlyStores(Operation *op, llvm::SmallVectorImpl<Operation *> &stores) {
  constexpr uint8_t kObstacles = kWritesGlobal | kSynchronizes;
  if (!(effectsOf(op) & kObstacles)) return true;
  bool isUnusedAtomic = op->is<tt::DescriptorReduceOp>() || (op->is<tt::AtomicRmwOp>() && op->result().useEmpty());
  if (op->is<tt::StoreOp>() || op->is<tt::DescriptorStoreOp>() || isUnusedAtomic) {
    stores.push_back(op);
    return true;
  }
  if (!op->numRegions() || op->info().effects & kObstacles) return false;
  for (auto &r : op->regions())
    for (auto *b = r.front(); b; b = b->next())
      for (auto &inner : *b)
        if (!onlyStores(&inner, stores)) return false;
  return true;
}

/// The pointer or the descriptor through which a load or store accesses memory.
static Value memoryOf(Operation *op) {
  if (auto load = op->dyn<tt::LoadOp>()) return load.ptr();
  if (auto store = op->dyn<tt::StoreOp>()) return store.ptr();
  if (auto atomic = op->dyn<tt::AtomicRmwOp>()) return atomic.ptr();
  if (auto load = op->dyn<tt::DescriptorLoadOp>()) return load.desc();
  if (auto copy = op->dyn<ttng::AsyncTmaCopyGlobalToLocalOp>()) return copy.desc();
  if (auto reduction = op->dyn<tt::DescriptorReduceOp>()) return reduction.desc();
  return op->cast<tt::DescriptorStoreOp>().desc();
}

MemoryConflict conflictBetween(llvm::ArrayRef<Operation *> stores, llvm::ArrayRef<Operation *> loads) {
  for (auto *store : stores)
    for (auto *load : loads)
      if (!reachDifferentMemory(memoryOf(store), memoryOf(load))) return {store, load};
  return {};
}

} // namespace tessera::transforms
