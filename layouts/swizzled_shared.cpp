// The swizzled shared encoding (see swizzled_shared.h).
#include "layouts/swizzled_shared.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status SwizzledSharedEncoding::check(const SwizzledSharedParams &p) {
  if (auto s = checkPowerOfTwo("vec", p.vec); !s.ok()) return s;
  if (auto s = checkPowerOfTwo("perPhase", p.perPhase); !s.ok()) return s;
  if (auto s = checkPowerOfTwo("maxPhase", p.maxPhase); !s.ok()) return s;
  if (auto s = checkPermutation("order", p.order); !s.ok()) return s;
  return checkCta(p.cta, p.order.size());
}

absl::StatusOr<LinearLayout> SwizzledSharedEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  auto splits = p_.cta.splits(rank());
  llvm::SmallVector<int32_t, 4> block;
  for (unsigned d = 0; d < rank(); ++d) block.push_back(std::max<int64_t>(1, shape[d] / splits[d]));
  if (rank() == 1)
    return combineCtaWithShape(LinearLayout::identity1D(block[0], Dim::Offset, Dim::Dim0), p_.cta, shape);
  int32_t col = p_.order[0], row = p_.order[1], columns = block[col];
  llvm::SmallVector<LinearLayout::OutDim, 4> outs = {{tensorDim(col), columns}, {tensorDim(row), block[row]}};
  LinearLayout::InDim in{Dim::Offset, {}};
  for (int32_t c = 1; c < columns; c <<= 1) in.bases.push_back(Basis{c, 0});
  for (int32_t r = 1; r < block[row]; r <<= 1) {
    int32_t phase = (r / p_.perPhase) % p_.maxPhase;
    if (kind() == EncodingKind::AmdRotatingShared) phase ^= (r / p_.perPhase / p_.maxPhase) % p_.maxPhase;
    in.bases.push_back(Basis{(p_.vec * phase) % columns, r});
  }
  LinearLayout l({in}, outs);
  for (unsigned k = 2; k < rank(); ++k)
    l *= LinearLayout::identity1D(block[p_.order[k]], Dim::Offset, tensorDim(p_.order[k]));
  return combineCtaWithShape(l, p_.cta, shape);
}

void SwizzledSharedEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << (kind() == EncodingKind::SwizzledShared ? "#ttg.swizzled_shared<{vec = " : "#ttg.amd_rotating_shared<{vec = ")
    << p_.vec << ", perPhase = " << p_.perPhase << ", maxPhase = " << p_.maxPhase << ", order = ";
  printList(o, p_.order);
  printCta(o, p_.cta);
  o << "}>";
}

SwizzledSharedParams conflictFreeSwizzle(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> order,
                                         const CtaLayout &cta, int64_t elementBytes, const MemoryModel &m,
                                         int64_t minRowsPerPhase, int64_t minPhases, int64_t groupBytes) {
  constexpr int64_t kMaxPhases = 8; // groups of 16 bytes in a row of 32 banks; rows of a matrix of ldmatrix
  int64_t columns = shape[order[0]];
  int64_t rows = shape[order[1 % order.size()]];
  int64_t rowBytes = columns * elementBytes;
  int64_t allBanksBytes = int64_t(m.banks) * m.bankBytes;
  SwizzledSharedParams p;
  p.order.assign(order.begin(), order.end());
  p.cta = cta;
  int64_t swizzledBytes = std::min(rowBytes, allBanksBytes);
  if (swizzledBytes < minPhases * groupBytes) groupBytes /= 2;
  p.vec = std::min<int64_t>(groupBytes / elementBytes, columns);
  p.perPhase = std::max<int64_t>(minRowsPerPhase, allBanksBytes / rowBytes);
  int64_t groupsOfRow = swizzledBytes / (p.vec * elementBytes);
  p.maxPhase = std::max<int64_t>(1, std::min({kMaxPhases, groupsOfRow, rows / p.perPhase}));
  return p;
}

} // namespace tessera::layouts
