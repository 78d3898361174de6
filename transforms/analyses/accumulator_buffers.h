// Buffers in tensor memory for the accumulators of dots: their layout, and how many have room.
#pragma once
#include "ir/operation.h"
#include "layouts/encoding_pool.h"
#include <optional>

namespace tessera::transforms {

/// Of an accumulator. PTX ISA, "Matrix Shape" of tcgen05.mma.
inline constexpr int64_t kFewestAccumulatorRows = 64, kFewestAccumulatorColumns = 16;

/// The layout in tensor memory of an accumulator of so many rows and columns; null if no instruction has such a tile.
const layouts::TensorMemoryEncoding *accumulatorEncoding(layouts::EncodingPool &, llvm::ArrayRef<int64_t> shape,
                                                         unsigned elementBits);

/// Accumulators that live at the same time have columns of their own; others of one type can share them.
class TensorMemoryBudget {
public:
  /// The number of the buffer for an accumulator of that type that lives while `extent` (a loop, or its dot) runs; none
  /// if a block has too few columns for it beside the others.
  std::optional<unsigned> add(ir::TensorType, int64_t columns, ir::Operation *extent);
  /// Whether buffer `number` is free while `extent` runs, and then given to it, too.
  bool extend(unsigned number, ir::Operation *extent);

private:
  struct Buffer {
    ir::Type element;
    llvm::SmallVector<int64_t, 2> shape;
    llvm::SmallVector<ir::Operation *, 4> extents;
  };
  llvm::SmallVector<Buffer, 4> buffers_;
  int64_t columns_ = 0;
};

} // namespace tessera::transforms
