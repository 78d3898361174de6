// Writes that loads may be issued ahead of, to memory that the loads do not read: plain stores, and atomics whose
// result nobody uses. Such an atomic acquires nothing that a thread could know of, as it does not learn which value it
// has replaced. Loads that come before it in the program stay before it, as a release requires.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Whether the operation, with what is nested in it, writes global memory by plain stores (tt.store and
/// tt.descriptor_store) and by atomics without users (tt.atomic_rmw and tt.descriptor_reduce) alone, and does not
/// synchronise. Collects them.
bool onlyStores(ir::Operation *, llvm::SmallVectorImpl<ir::Operation *> &stores);

/// Whether the operation is an atomic on global memory through pointers.
bool isGlobalAtomic(const ir::Operation *);

/// A store and a load that may reach the same memory. Both null: there is none.
struct MemoryConflict {
  ir::Operation *store = nullptr;
  ir::Operation *load = nullptr;
};
/// @pre `stores` are of onlyStores, `loads` are tt.load, tt.descriptor_load or
/// ttng.async_tma_copy_global_to_local
MemoryConflict conflictBetween(llvm::ArrayRef<ir::Operation *> stores, llvm::ArrayRef<ir::Operation *> loads);

} // namespace tessera::transforms
