// Blocks that TMA moves through tensor descriptors with a layout (triton-nvidia-optimize-descriptor-encoding).
#pragma once
#include "ir/builder.h"
#include "ir/type.h"

namespace tessera::transforms {

/// Whether the data has the shape of the descriptor's block, which may have more leading dimensions of size 1.
bool hasShapeOfBlock(ir::TensorDescType, ir::TensorType data);

/// The buffer in shared memory for a block of the descriptor: the data's shape in the descriptor's layout. The data may
/// be the block reshaped to fewer dimensions (8 x 16 x 64 to 128 x 64), if that layout of the data's shape has each
/// element where the block's has it. Null if it does not, or the descriptor has no layout.
ir::MemDescType bufferOfBlock(ir::Value desc, ir::TensorType data, bool isMutable);

/// A coordinate that is outside of every tensor of 32-bit sizes that a block of it can reach: a copy that begins there
/// stores nothing.
inline constexpr int64_t kOutsideTensor = 1 << 30;

/// The attributes `cache` and `evict` of an access, where it has them.
llvm::SmallVector<ir::NamedAttribute, 2> cacheAttrsOf(const ir::Operation *);

} // namespace tessera::transforms
