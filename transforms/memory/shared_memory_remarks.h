// What allocate-shared-memory reports: remarks about the buffers that it placed, and the error if they do not fit.
#pragma once
#include "ir/ops.h"
#include "transforms/memory/shared_buffers.h"
#include "transforms/pass.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace tessera::transforms {

/// SharedMemoryBuffer for each buffer (bytes, offset, lifetime, purpose), LayoutConversion for each conversion (bank
/// conflicts), SharedMemory for the function (bytes in all).
void remarkSharedMemory(ir::tt::FuncOp, llvm::ArrayRef<SharedBuffer>, const BufferLifetimes &, int64_t size,
                        const PassContext &);

/// The error that the function needs more than a block has, with the largest buffers and their lines.
void reportTooMuchSharedMemory(ir::tt::FuncOp, llvm::ArrayRef<SharedBuffer>, int64_t size, PassContext &);

} // namespace tessera::transforms
