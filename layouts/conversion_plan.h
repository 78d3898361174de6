// How to convert a distributed layout into another: with nothing, by renaming registers, by shuffles within a warp, or
// through shared memory under a layout chosen so that both sides use wide accesses without bank conflicts.
#pragma once
#include "layouts/encoding.h"

namespace tessera::layouts {

struct MemoryModel {
  int banks = 32, bankBytes = 4, maxAccessBytes = 16;
};

struct ConversionPlan {
  enum Kind { None, RegisterPermutation, WarpShuffle, SharedMemory } kind = None;

  /// Destination (register, lane, warp, block) → where in the source its element is.
  LinearLayout sourceOf;
  /// RegisterPermutation, WarpShuffle: for every destination register the source register to read.
  llvm::SmallVector<unsigned, 16> sourceRegister;
  /// WarpShuffle: for every destination register the constant part of the source lane; the lane's own part is
  /// sourceOf's lane → lane part. A shuffle per destination register.
  llvm::SmallVector<unsigned, 16> sourceLaneConstant;

  /// SharedMemory: offset (elements) → dims.
  LinearLayout shared;
  int64_t scratchBytes = 0;
  int writeVector = 1, readVector = 1;       // elements per access
  int writeConflicts = 1, readConflicts = 1; // wavefronts per access over the least possible; 1: none
};

/// @pre both layouts cover the same shape. `elementBits`: 1 counts as 8.
absl::StatusOr<ConversionPlan> planConversion(const LinearLayout &src, const LinearLayout &dst, int elementBits,
                                              const MemoryModel &);
absl::StatusOr<ConversionPlan> planConversionOf(const Encoding *src, const Encoding *dst, llvm::ArrayRef<int64_t> shape,
                                                int elementBits, const MemoryModel &);

/// Accesses to shared memory by one warp, all lanes at once with `vectorBytes` consecutive bytes each: the number of
/// wavefronts it takes, over the least possible for that many bytes. `laneOffsets`: byte offset of each lane.
int bankConflicts(llvm::ArrayRef<int64_t> laneOffsets, int vectorBytes, const MemoryModel &);

} // namespace tessera::layouts
