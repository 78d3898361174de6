// How the blocks (CTAs) of a cluster (CGA) share a tensor: the bases of the `block` dimension, one per doubling of the
// number of blocks, in units of one block's tile. A zero basis means that two blocks hold the same part.
#pragma once
#include "layouts/linear_layout.h"

namespace tessera::layouts {

struct CtaLayout {
  llvm::SmallVector<Basis, 2> bases; // each of the encoding's rank; none: one block

  bool isTrivial() const { return bases.empty(); }
  int32_t numCtas() const { return 1 << bases.size(); }
  /// block → dim0…dim(rank-1)
  LinearLayout layout(unsigned rank) const;
  /// Parts into which each dimension is cut.
  llvm::SmallVector<int32_t, 4> splits(unsigned rank) const;
  /// From the older spelling `CTAsPerCGA = [2, 1], CTASplitNum = [2, 1], CTAOrder = [1, 0]`.
  static CtaLayout fromSplitParams(llvm::ArrayRef<int32_t> ctasPerCga, llvm::ArrayRef<int32_t> splitNum,
                                   llvm::ArrayRef<int32_t> order);
  /// The blocks' part of a layout whose `block` bases count elements.
  static CtaLayout ofBlockBases(const LinearLayout &);
  /// With a dimension along which all blocks hold the same (K of a dot operand): bases along it become zero.
  CtaLayout broadcastDim(unsigned dim) const;
  /// Without a dimension (for slices); bases along it become zero.
  CtaLayout dropDim(unsigned dim) const;
  bool operator==(const CtaLayout &) const = default;
};

} // namespace tessera::layouts
