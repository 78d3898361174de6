// What a reduction needs to know of its source's layout, and the scratch it uses in shared memory: asked by the
// allocation (in bytes) and by the lowering (addresses), so that the two agree.
#pragma once
#include "ir/type.h"
#include "layouts/linear_layout.h"

namespace tessera::transforms {

struct ReduceShape {
  unsigned warps = 1;                        // warps that hold different indices along the axis
  llvm::SmallVector<int64_t, 4> resultSizes; // sizes of the other dimensions
  int64_t results = 1;                       // their product

  /// Row-major flat index over the dimensions other than the axis.
  int64_t flatten(llvm::ArrayRef<int32_t> index, int axis) const {
    int64_t flat = 0;
    for (unsigned d = 0, k = 0; d < index.size(); ++d)
      if (int(d) != axis) flat = flat * resultSizes[k++] + index[d];
    return flat;
  }
  int64_t flattenKey(llvm::ArrayRef<int64_t> key, int) const {
    int64_t flat = 0;
    for (unsigned k = 0; k < key.size(); ++k) flat = flat * resultSizes[k] + key[k];
    return flat;
  }
};

ReduceShape reduceShape(const layouts::LinearLayout &source, int axis);
/// Whether the values of the warps are better combined once for the block than by every warp for itself: a thread has
/// so many results, of so many warps' parts, that an exchange of the results through shared memory takes less.
bool combinesOnce(const layouts::LinearLayout &source, const ReduceShape &, int axis, unsigned operands);
/// Bytes that one operand's combined values take then, rounded up to 16.
int64_t combinedScratchBytes(const ReduceShape &, ir::Type operand);
/// Bytes of one operand's scratch: results × chunks × warps elements (i1 takes a byte), rounded up to 16.
int64_t reduceScratchBytes(const ReduceShape &, ir::Type operand, int64_t chunks = 1);

} // namespace tessera::transforms
