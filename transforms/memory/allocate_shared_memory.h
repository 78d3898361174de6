// What allocate-shared-memory offers to other passes: the shared memory that a loop or a function takes so far.
#pragma once
#include "ir/operation.h"
#include "ir/target.h"

namespace tessera::transforms {

/// Bytes of shared memory that are taken while `op` runs (a loop, or a whole function), without the buffers of
/// `without`: what a pass that adds buffers must leave room for. An estimate, made before the allocation; called
/// functions are not counted.
int64_t sharedBytesDuring(ir::Operation *op, llvm::ArrayRef<ir::Operation *> without, const ir::TargetInfo &);
/// Bytes that a buffer of so many takes, with those that its alignment may leave unused.
int64_t alignedBufferBytes(int64_t bytes);

} // namespace tessera::transforms
