// Pointers and masks for a block of a tensor in memory, as block pointers and tensor descriptors describe it.
//
// Element (i0, i1, …) of the block is at base + Σ (offset_d + i_d) · stride_d. It is inside if 0 <= offset_d + i_d <
// limit_d for each dimension that has a limit. All of this is computed in 64 bits, unless the caller knows that 32 bits
// are enough for offsets in the block and for its limits. What depends on the offsets is kept
// scalar: in a loop that advances the block, the tensors of offsets are then loop-invariant and are hoisted.
//
//   pointers = splat(base + Σ offset_d · stride_d) + Σ broadcast(range_d · stride_d)
//   inside   = & broadcast(range_d >= -offset_d  &  range_d < limit_d - offset_d)
#pragma once
#include "ir/builder.h"

namespace tessera::transforms {

struct BlockDim {
  int64_t size;      // of the block
  ir::Value offset;  // i64 scalar
  ir::Value stride;  // i64 scalar, in elements
  ir::Value limit;   // i64 scalar; null: not checked
  ir::Value indices; // instead of 0, 1, …: a tensor of `size` integers that are added to the offset; may be null
  int axis;          // of the data; -1: a dimension of size 1 that the data lacks
  /// The limit is from 0 to less than kNarrowLimit, the offset a sign-extended i32, and an offset in the block, summed
  /// over all dimensions, fits i32.
  bool isNarrow = false;
};

inline constexpr int64_t kNarrowLimit = int64_t(1) << 30;

struct BlockAccess {
  ir::Value pointers; // a tensor of pointers of the data's shape
  ir::Value inside;   // its mask, null where nothing is checked
};

/// @pre the axes are those of `data` in increasing order, and their sizes its shape
BlockAccess accessBlock(ir::Builder &, ir::Location, ir::Value base, llvm::ArrayRef<BlockDim>, ir::TensorType data);

/// An integer or index of any width as i64, sign-extended.
ir::Value toI64(ir::Builder &, ir::Location, ir::Value);

} // namespace tessera::transforms
