// Where elements lie in tensor memory (see tensor_memory_places.h).
#include "layouts/tensor_memory_places.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::layouts {

static absl::Status checkShape(const TensorMemoryParams &p, llvm::ArrayRef<int64_t> shape) {
  if (p.twoCtas || p.ctaSplitM != 1 || p.ctaSplitN != 1 || !p.cta.isTrivial())
    return absl::UnimplementedError("buffers in the tensor memory of several blocks are not modelled");
  if (shape.size() != 2) return invalid("a buffer in tensor memory has two dimensions");
  for (int64_t d : shape)
    if (d < 1 || d > (1 << 20) || !llvm::isPowerOf2_64(uint64_t(d)))
      return invalid(llvm::formatv("a buffer in tensor memory has {0} rows or columns; powers of two exist", d));
  if (shape[0] < p.blockM)
    return invalid(llvm::formatv("{0} rows are less than the layout's blockM = {1}", shape[0], p.blockM));
  if (p.colStride > kTensorMemoryColumnBits)
    return invalid(llvm::formatv("colStride = {0} is more than the bits of a column", p.colStride));
  return absl::OkStatus();
}

absl::StatusOr<LinearLayout> tensorMemoryPlaces(const TensorMemoryEncoding &e, llvm::ArrayRef<int64_t> shape) {
  auto &p = e.params();
  if (auto s = checkShape(p, shape); !s.ok()) return s;
  int32_t rows = int32_t(shape[0]), columns = int32_t(shape[1]);
  int32_t blockN = std::min(p.blockN, columns);
  int32_t nextRow = p.blockM, nextColumn = blockN; // of the blocks that follow
  LinearLayout::InDim lane{Dim::Lane, {}}, offset{Dim::Offset, {}};
  auto add = [](LinearLayout::InDim &in, int32_t row, int32_t column) { in.bases.push_back(Basis{row, column}); };
  for (int32_t row = 1; row < 16; row *= 2) add(lane, row, 0);
  if (p.blockM == kTensorMemoryLanes) {
    for (int32_t row = 16; row < kTensorMemoryLanes; row *= 2) add(lane, row, 0);
  } else {
    bool holdsRows = rows > nextRow, holdsColumns = !holdsRows && columns > nextColumn;
    add(lane, holdsRows ? nextRow : 0, holdsColumns ? nextColumn : 0);
    if (holdsRows) nextRow *= 2;
    if (holdsColumns) nextColumn *= 2;
    add(lane, 16, 0);
    add(lane, 32, 0);
  }
  for (int32_t s = 1; s < p.colStride; s *= 2) add(offset, 0, 0);
  for (int32_t column = 1; column < blockN; column *= 2) add(offset, 0, column);
  for (; nextRow < rows; nextRow *= 2) add(offset, nextRow, 0);
  for (; nextColumn < columns; nextColumn *= 2) add(offset, 0, nextColumn);
  return LinearLayout({lane, offset}, {{Dim::Dim0, rows}, {Dim::Dim1, columns}});
}

absl::StatusOr<int64_t> tensorMemoryColumns(const TensorMemoryEncoding &e, llvm::ArrayRef<int64_t> shape,
                                            unsigned elementBits) {
  auto places = tensorMemoryPlaces(e, shape);
  if (!places.ok()) return places.status();
  return int64_t(llvm::divideCeil(uint64_t(places->inDimSize(Dim::Offset)) * elementBits, kTensorMemoryColumnBits));
}

} // namespace tessera::layouts
