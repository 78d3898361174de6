// The nvmma_shared encoding (see nvmma_shared.h).
#include "layouts/nvmma_shared.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tessera::layouts {

absl::Status NvmmaSharedEncoding::check(const NvmmaSharedParams &p) {
  if (p.swizzlingByteWidth != 0 && p.swizzlingByteWidth != 32 && p.swizzlingByteWidth != 64 &&
      p.swizzlingByteWidth != 128)
    return invalid(llvm::formatv("swizzlingByteWidth = {0}; 0, 32, 64 and 128 exist", p.swizzlingByteWidth));
  if (auto s = checkPowerOfTwo("elementBitWidth", p.elementBitWidth); !s.ok()) return s;
  if (p.elementBitWidth < 4 || p.elementBitWidth > 64)
    return invalid(llvm::formatv("elementBitWidth = {0} is out of range", p.elementBitWidth));
  if (p.fp4Padded && p.elementBitWidth != 8) return invalid("fp4Padded needs elementBitWidth = 8");
  if (p.rank < 1 || p.rank > int32_t(kMaxRank))
    return invalid(llvm::formatv("rank = {0}; 1 to {1} are possible", p.rank, kMaxRank));
  return checkCta(p.cta, p.rank);
}

absl::StatusOr<llvm::SmallVector<int64_t, 4>> NvmmaSharedEncoding::copyBox(llvm::ArrayRef<int64_t> shape) const {
  auto splits = p_.cta.splits(rank());
  llvm::SmallVector<int64_t, 4> box;
  for (unsigned d = 0; d < rank(); ++d) box.push_back(std::max<int64_t>(1, shape[d] / splits[d]));
  unsigned contiguous = p_.transposed ? 0 : rank() - 1;
  if (p_.fp4Padded) box[contiguous] *= 2;
  for (auto &b : box) b = std::min<int64_t>(b, 256);
  if (p_.swizzlingByteWidth) {
    int64_t width = 8 * p_.swizzlingByteWidth / p_.elementBitWidth;
    if (box[contiguous] < width)
      return invalid(llvm::formatv("dimension {0} of the block has {1} elements but a swizzle of {2} bytes needs {3}",
                                   contiguous, box[contiguous], p_.swizzlingByteWidth, width));
    box[contiguous] = width;
  }
  if (p_.fp4Padded) box[contiguous] /= 2;
  return box;
}

absl::StatusOr<LinearLayout> NvmmaSharedEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  auto box = copyBox(shape);
  if (!box.ok()) return box.status();
  unsigned r = rank();
  auto splits = p_.cta.splits(r);
  llvm::SmallVector<int64_t, 4> block;
  for (unsigned d = 0; d < r; ++d) block.push_back(std::max<int64_t>(1, shape[d] / splits[d]));
  // Dimensions from the fastest: the last to the first; transposed, 0 comes before them.
  llvm::SmallVector<unsigned, 4> order;
  if (p_.transposed) order.push_back(0);
  for (unsigned d = r; d-- > (p_.transposed ? 1 : 0);) order.push_back(d);

  if (!p_.swizzlingByteWidth) {
    LinearLayout l;
    for (auto d : order) l *= LinearLayout::identity1D((*box)[d], Dim::Offset, tensorDim(d));
    llvm::SmallVector<Dim, 4> repeat; // boxes follow each other fastest dimension first
    for (auto d : order) repeat.push_back(tensorDim(d));
    return combineCtaWithShape(l.transposeOuts(repeat), p_.cta, shape);
  }

  // One tile of kSwizzleRows rows: columns first, then rows that are moved by their phase.
  if (r < 2) return invalid("a swizzled nvmma_shared layout needs two dimensions");
  int32_t columns = 8 * p_.swizzlingByteWidth / p_.elementBitWidth;
  auto packed = [&](int32_t c) { return p_.fp4Padded ? c / 16 * 8 + c % 8 : c; };
  LinearLayout::InDim offset{Dim::Offset, {}};
  for (int32_t c = 1; c < columns; c <<= 1) offset.bases.push_back(Basis{packed(c), 0});
  for (int32_t row = 1; row < kSwizzleRows; row <<= 1)
    offset.bases.push_back(Basis{packed(vec() * ((row / perPhase()) % maxPhase())), row});
  int64_t rows = 1;
  for (unsigned k = 1; k < r; ++k) rows *= (*box)[order[k]];
  if (rows < kSwizzleRows)
    return invalid(
        llvm::formatv("a swizzled nvmma_shared layout needs {0} rows; the block has {1}", kSwizzleRows, rows));
  LinearLayout tile({offset}, {{Dim::Dim0, packed(columns)}, {Dim::Dim1, kSwizzleRows}});
  tile *= LinearLayout::identity1D(rows / kSwizzleRows, Dim::Offset, Dim::Dim1);
  // The rows are the other dimensions, fastest first.
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  for (auto d : order) outs.push_back({tensorDim(d), int32_t((*box)[d])});
  // Boxes follow each other slowest dimension first, of the untransposed tensor: a transposed view is the same memory.
  llvm::SmallVector<Dim, 4> repeat;
  for (auto d : llvm::reverse(order)) repeat.push_back(tensorDim(d));
  return combineCtaWithShape(tile.reshapeOuts(outs).transposeOuts(repeat), p_.cta, shape);
}

void NvmmaSharedEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.nvmma_shared<{swizzlingByteWidth = " << p_.swizzlingByteWidth
    << ", transposed = " << (p_.transposed ? "true" : "false") << ", elementBitWidth = " << p_.elementBitWidth;
  if (p_.fp4Padded) o << ", fp4Padded = true";
  if (p_.cta.isTrivial() && p_.rank != 2) o << ", rank = " << p_.rank;
  printCta(o, p_.cta);
  o << "}>";
}

} // namespace tessera::layouts
