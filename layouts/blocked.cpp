// The blocked encoding (see blocked.h).
#include "layouts/blocked.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <numeric>

namespace tessera::layouts {

absl::Status BlockedEncoding::check(const BlockedParams &p) {
  unsigned rank = p.order.size();
  if (auto s = checkPermutation("order", p.order); !s.ok()) return s;
  if (auto s = checkPowersOfTwo("sizePerThread", p.sizePerThread, rank); !s.ok()) return s;
  if (auto s = checkPowersOfTwo("threadsPerWarp", p.threadsPerWarp, rank); !s.ok()) return s;
  if (auto s = checkPowersOfTwo("warpsPerCTA", p.warpsPerCta, rank); !s.ok()) return s;
  return checkCta(p.cta, rank);
}

absl::StatusOr<LinearLayout> BlockedEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  return combineCtaWithShape(identityND(Dim::Register, p_.sizePerThread, p_.order) *
                                 identityND(Dim::Lane, p_.threadsPerWarp, p_.order) *
                                 identityND(Dim::Warp, p_.warpsPerCta, p_.order),
                             p_.cta, shape);
}

void BlockedEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.blocked<{sizePerThread = ";
  printList(o, p_.sizePerThread);
  o << ", threadsPerWarp = ";
  printList(o, p_.threadsPerWarp);
  o << ", warpsPerCTA = ";
  printList(o, p_.warpsPerCta);
  o << ", order = ";
  printList(o, p_.order);
  printCta(o, p_.cta);
  o << "}>";
}

BlockedParams blockedParamsFor(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> sizePerThread,
                               llvm::ArrayRef<int32_t> order, int numWarps, int threadsPerWarp, const CtaLayout &cta) {
  unsigned rank = shape.size();
  BlockedParams p;
  p.sizePerThread.assign(sizePerThread.begin(), sizePerThread.end());
  p.order.assign(order.begin(), order.end());
  p.threadsPerWarp.assign(rank, 1);
  p.warpsPerCta.assign(rank, 1);
  p.cta = cta;
  auto splits = cta.splits(rank);
  int64_t lanes = threadsPerWarp, warps = numWarps, threads = int64_t(numWarps) * threadsPerWarp;
  for (unsigned k = 0; k + 1 < rank; ++k) {
    int32_t d = order[k];
    int64_t work = std::max<int64_t>(1, shape[d] / splits[d] / sizePerThread[d]);
    int64_t here = std::clamp<int64_t>(threads, 1, work);
    p.threadsPerWarp[d] = std::clamp<int64_t>(here, 1, lanes);
    p.warpsPerCta[d] = std::clamp<int64_t>(here / p.threadsPerWarp[d], 1, warps);
    lanes /= p.threadsPerWarp[d];
    warps /= p.warpsPerCta[d];
    threads /= here;
  }
  p.threadsPerWarp[order[rank - 1]] = lanes;
  p.warpsPerCta[order[rank - 1]] = warps;
  return p;
}

BlockedParams defaultBlockedParams(llvm::ArrayRef<int64_t> shape, int numWarps, int threadsPerWarp, int numCtas) {
  unsigned rank = shape.size();
  llvm::SmallVector<int32_t, 4> ones(rank, 1), order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  // Blocks of a cluster are distributed like warps: fastest dimension first.
  llvm::SmallVector<int32_t, 4> ctas(rank, 1);
  int64_t left = numCtas;
  for (unsigned k = 0; k < rank && left > 1; ++k) {
    int32_t d = order[k];
    ctas[d] = k + 1 == rank ? left : std::clamp<int64_t>(left, 1, std::max<int64_t>(1, shape[d]));
    left /= ctas[d];
  }
  return blockedParamsFor(shape, ones, order, numWarps, threadsPerWarp, CtaLayout::fromSplitParams(ctas, ctas, order));
}

} // namespace tessera::layouts
