// Which registers an access of a warp to tensor memory moves: tcgen05.ld and tcgen05.st of shapes 32x32b and 16x32bx2
// (PTX ISA, "Data Movement Shape"). Lane l of warp w has lane 32 (w mod 4) + l of tensor memory, or its lanes 16 to 31
// have further columns of lanes 0 to 15; registers are columns.
#pragma once
#include "layouts/tensor_memory_places.h"
#include <optional>

namespace tessera::layouts {

inline constexpr unsigned kTensorMemoryLaneBit = 16; // of an address: where the lane begins; below it is the column

struct TensorMemoryPlan {
  unsigned half = 0; // columns from lane 0 to lane 16 of a warp; 0: they are lanes of tensor memory
  // What the bits of the warp's number from the third on add to an address; 0: warps that hold the same elements.
  llvm::SmallVector<int32_t, 2> warps;
  struct Word {
    int32_t address = 0;                 // from the buffer's, without what the warp adds
    llvm::SmallVector<int, 4> registers; // from the lowest bits on; -1: bits that hold nothing
  };
  llvm::SmallVector<Word, 32> words; // by address
  llvm::SmallVector<int, 32> sameAs; // by register: the first one that holds the same element
};

/// Error: no access moves these registers. `registers`: register, lane, warp, block → dim0, dim1.
absl::StatusOr<TensorMemoryPlan> planTensorMemoryAccess(const LinearLayout &registers, const TensorMemoryEncoding &,
                                                        llvm::ArrayRef<int64_t> shape, unsigned elementBits);
/// Registers of so many warps that an access moves; none if the buffer has too few columns for them.
std::optional<LinearLayout> tensorMemoryRegisters(const TensorMemoryEncoding &, llvm::ArrayRef<int64_t> shape,
                                                  unsigned elementBits, unsigned warps);

} // namespace tessera::layouts
