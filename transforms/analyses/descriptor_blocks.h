// Blocks that TMA moves through tensor descriptors with a layout (triton-nvidia-optimize-descriptor-encoding).
#pragma once
#include "ir/builder.h"
#include "ir/type.h"

namespace tessera::transforms {

/// Whether the data has the shape of the descriptor's block, which may have more leading dimensions of size 1.
bool hasShapeOfBlock(ir::TensorDescType, ir::TensorType data);

/// The buffer in shared memory for a block of the descriptor: the data's shape in the descriptor's layout. Null if
/// the descriptor has no layout, or the data does not have the shape of its block.
ir::MemDescType bufferOfBlock(ir::Value desc, ir::TensorType data, bool isMutable);

/// The attributes `cache` and `evict` of an access, where it has them.
llvm::SmallVector<ir::NamedAttribute, 2> cacheAttrsOf(const ir::Operation *);

} // namespace tessera::transforms
