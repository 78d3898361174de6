// Which barriers order accesses to global memory beside those to shared memory (rule 9 of insert_barriers.cpp).
#pragma once
#include "ir/ops.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::transforms {

/// Bit of ttg.barrier's addrSpace: a barrier without it orders nothing of shared memory, one with nothing else nothing
/// of global memory.
inline constexpr uint64_t kLocalAddressSpace = 1;

/// Of the barriers that were inserted into the function those that no write to global memory needs: none of these is
/// the first barrier after a write, or the last one before a write. `mayBeCalled`: by a function that may write before
/// and after the call.
llvm::SmallVector<ir::Operation *, 16> barriersOfSharedMemoryAlone(ir::tt::FuncOp, bool mayBeCalled,
                                                                   const llvm::DenseSet<ir::Operation *> &inserted);

} // namespace tessera::transforms
