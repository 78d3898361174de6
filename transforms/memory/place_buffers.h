// Offsets of buffers in shared memory: the second step of allocate-shared-memory.
//
// Placement is first fit, largest first: each buffer at the lowest offset at which it overlaps no buffer with an
// overlapping lifetime. If the result is more than a block has, other orders are tried, and the best one is taken.
#pragma once
#include "transforms/memory/shared_buffers.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tessera::transforms {

/// Sets the buffers' offsets. The bytes of all, which may be more than are available.
int64_t placeBuffers(llvm::MutableArrayRef<SharedBuffer>, int64_t available);

} // namespace tessera::transforms
