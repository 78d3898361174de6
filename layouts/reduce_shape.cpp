// Reductions across warps (see reduce_shape.h).
#include "layouts/reduce_shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::layouts {

namespace {

constexpr int64_t kScratchAlignment = 16; // the widest access of shared memory

bool movesAlongOtherThan(llvm::ArrayRef<int32_t> basis, int axis) {
  for (unsigned d = 0; d < basis.size(); ++d)
    if (int(d) != axis && basis[d]) return true;
  return false;
}

} // namespace

int64_t ReduceShape::flatten(llvm::ArrayRef<int32_t> index, int axis) const {
  int64_t flat = 0;
  for (unsigned d = 0, k = 0; d < index.size(); ++d)
    if (int(d) != axis) flat = flat * resultSizes[k++] + index[d];
  return flat;
}

int64_t ReduceShape::flattenKey(llvm::ArrayRef<int64_t> key) const {
  int64_t flat = 0;
  for (unsigned k = 0; k < key.size(); ++k) flat = flat * resultSizes[k] + key[k];
  return flat;
}

ReduceShape reduceShape(const LinearLayout &source, int axis) {
  ReduceShape shape;
  for (unsigned bit = 0, n = source.inDimBits(Dim::Warp); bit < n; ++bit)
    if (source.basis(Dim::Warp, bit)[axis]) shape.warps *= 2;
  for (unsigned d = 0; d < source.numOutDims(); ++d) {
    if (int(d) == axis) continue;
    shape.resultSizes.push_back(source.outs()[d].size);
    shape.results *= source.outs()[d].size;
  }
  return shape;
}

bool combinesOnce(const LinearLayout &source, const ReduceShape &shape, int axis, unsigned operands,
                  int64_t instructions, int64_t leastValues, int64_t leastSaved) {
  if (shape.warps == 1) return false;
  // A block that has only some of the results cannot combine all of them.
  for (unsigned bit = 0; bit < source.inDimBits(Dim::Block); ++bit)
    if (llvm::any_of(source.basis(Dim::Block, bit), [](int32_t x) { return x != 0; })) return false;
  int64_t resultsOfThread = 1;
  for (unsigned bit = 0; bit < source.inDimBits(Dim::Register); ++bit)
    if (movesAlongOtherThan(source.basis(Dim::Register, bit), axis)) resultsOfThread *= 2;
  if (resultsOfThread * shape.warps * operands >= leastValues) return true;
  int64_t threads = int64_t(source.inDimSize(Dim::Lane)) * source.inDimSize(Dim::Warp);
  int64_t saved = resultsOfThread - llvm::divideCeil(shape.results, threads);
  return saved * (shape.warps - 1) * instructions >= leastSaved;
}

int64_t reduceScratchBytes(const ReduceShape &shape, int64_t elementBytes, int64_t chunks) {
  return llvm::alignTo(shape.results * shape.warps * chunks * elementBytes, kScratchAlignment);
}

int64_t combinedScratchBytes(const ReduceShape &shape, int64_t elementBytes) {
  return llvm::alignTo(shape.results * elementBytes, kScratchAlignment);
}

} // namespace tessera::layouts
