// Stores that loads may be issued ahead of: plain ones, to memory that the loads do not read.
#pragma once
#include "ir/operation.h"

namespace tessera::transforms {

/// Whether the operation, with what is nested in it, writes global memory by plain stores alone (tt.store and
/// tt.descriptor_store), and does not synchronise. Collects the stores.
bool onlyStores(ir::Operation *, llvm::SmallVectorImpl<ir::Operation *> &stores);

/// A store and a load that may reach the same memory. Both null: there is none.
struct MemoryConflict {
  ir::Operation *store = nullptr;
  ir::Operation *load = nullptr;
};
/// @pre all are tt.load, tt.store, tt.descriptor_load or tt.descriptor_store
MemoryConflict conflictBetween(llvm::ArrayRef<ir::Operation *> stores, llvm::ArrayRef<ir::Operation *> loads);

} // namespace tessera::transforms
