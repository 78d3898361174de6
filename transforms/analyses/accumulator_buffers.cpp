// Buffers for accumulators (see accumulator_buffers.h).
#include "transforms/analyses/accumulator_buffers.h"
#include "ir/ops.h"
#include "layouts/tensor_memory_places.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;
using layouts::TensorMemoryEncoding;

// Of an instruction's tile. PTX ISA, "Matrix Shape" of tcgen05.mma.
static constexpr int64_t kMostRows = 128, kMostColumns = 256;

const TensorMemoryEncoding *accumulatorEncoding(layouts::EncodingPool &pool, llvm::ArrayRef<int64_t> shape,
                                                unsigned elementBits) {
  if (shape.size() != 2 || shape[0] < kFewestAccumulatorRows || shape[1] < kFewestAccumulatorColumns) return nullptr;
  layouts::TensorMemoryParams p;
  p.blockM = int32_t(std::min(shape[0], kMostRows));
  p.blockN = int32_t(std::min(shape[1], kMostColumns));
  p.colStride = int32_t(layouts::kTensorMemoryColumnBits / elementBits);
  auto e = pool.getTensorMemory(p);
  return e.ok() ? *e : nullptr;
}

bool TensorMemoryBudget::extend(unsigned number, Operation *extent) {
  auto overlaps = [&](Operation *other) {
    return other == extent ? other->is<scf::ForOp>() : other->isAncestorOf(extent) || extent->isAncestorOf(other);
  };
  if (number >= buffers_.size() || llvm::any_of(buffers_[number].extents, overlaps)) return false;
  buffers_[number].extents.push_back(extent);
  return true;
}

std::optional<unsigned> TensorMemoryBudget::add(TensorType type, int64_t columns, Operation *extent) {
  for (unsigned i = 0; i < buffers_.size(); ++i) {
    bool fits = buffers_[i].element == type.element() && llvm::ArrayRef<int64_t>(buffers_[i].shape) == type.shape();
    if (fits && extend(i, extent)) return i;
  }
  if (columns_ + columns > layouts::kTensorMemoryColumns) return std::nullopt;
  columns_ += columns;
  buffers_.push_back({type.element(), llvm::to_vector<2>(type.shape()), {extent}});
  return unsigned(buffers_.size() - 1);
}

} // namespace tessera::transforms
