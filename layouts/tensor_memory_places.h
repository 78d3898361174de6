// Where a buffer's elements lie in Blackwell's tensor memory: 128 lanes of 512 columns of 32 bits.
#pragma once
#include "absl/status/statusor.h"
#include "layouts/linear_layout.h"
#include "layouts/tensor_memory.h"

namespace tessera::layouts {

inline constexpr int32_t kTensorMemoryLanes = 128;
inline constexpr int32_t kTensorMemoryColumns = 512;   // of a multiprocessor, and so the most that a block allocates
inline constexpr int32_t kTensorMemoryMinColumns = 32; // of an allocation, which is a power of two
inline constexpr int32_t kTensorMemoryColumnBits = 32;
inline constexpr int32_t kTensorMemoryLanesOfWarp = 32; // a warp accesses the lanes of its number modulo 4
inline constexpr int32_t kTensorMemoryWarps = 4;

/// The elements of a buffer of this shape: (Lane, Offset) → (Dim0, Dim1). Lanes are those of tensor memory; Offset
/// counts elements along a lane, from the buffer's first column on, so that elements of 16 bits share columns in pairs.
///
/// A block of blockM = 128 rows has a row in each lane (PTX ISA, "Tensor Memory and Register Load/Store Instructions",
/// data path layout D). One of 64 rows has 16 rows in the first half of each warp's 32 lanes (layout F); the second
/// half belongs to the next 64 rows, or, if there are none, to the next blockN columns. Further blocks follow along the
/// columns, those of the next rows first.
///
/// Error: a shape that is no whole number of blocks, or pairs of blocks of threads (twoCTAs).
absl::StatusOr<LinearLayout> tensorMemoryPlaces(const TensorMemoryEncoding &, llvm::ArrayRef<int64_t> shape);

/// Columns of 32 bits that a buffer of this shape takes.
absl::StatusOr<int64_t> tensorMemoryColumns(const TensorMemoryEncoding &, llvm::ArrayRef<int64_t> shape,
                                            unsigned elementBits);

} // namespace tessera::layouts
