// How a reduction along one dimension lies in the warps of a block, and how much shared memory it takes to combine
// the partial results of several warps. The allocation of shared memory (in bytes) and the lowering (in addresses)
// both use these functions, so that they agree.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::layouts {

struct ReduceShape {
  unsigned warps = 1;                        // warps that hold different indices along the axis
  llvm::SmallVector<int64_t, 4> resultSizes; // sizes of the dimensions other than the axis
  int64_t results = 1;                       // number of results: their product

  /// Row-major flat index of a result: `index` is one of the source, whose entry for the axis is ignored.
  int64_t flatten(llvm::ArrayRef<int32_t> index, int axis) const;
  /// The same for an index that has no entry for the axis.
  int64_t flattenKey(llvm::ArrayRef<int64_t> key) const;
};

/// @pre 0 <= axis < source.numOutDims()
ReduceShape reduceShape(const LinearLayout &source, int axis);

/// Whether the block combines the partial results of its warps once and hands out the results through shared memory,
/// instead of every warp combining all of them: if a thread would combine `leastValues` or more, or if so it executes
/// `leastSaved` fewer instructions. `operands`: how many tensors are reduced together. `instructions`: of combining two
/// values. False if the blocks of a cluster share the tensor.
bool combinesOnce(const LinearLayout &source, const ReduceShape &, int axis, unsigned operands, int64_t instructions,
                  int64_t leastValues, int64_t leastSaved);

/// Bytes of one operand's partial results: results x chunks x warps elements, rounded up to 16.
int64_t reduceScratchBytes(const ReduceShape &, int64_t elementBytes, int64_t chunks = 1);
/// Bytes of one operand's combined results (combinesOnce), rounded up to 16.
int64_t combinedScratchBytes(const ReduceShape &, int64_t elementBytes);

} // namespace tessera::layouts
