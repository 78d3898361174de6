// The amd_mfma encoding (see amd_mfma.h).
#include "layouts/amd_mfma.h"
#include "layouts/parameter_checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tessera::layouts {

static constexpr int32_t kWave = 64;

AmdMfmaEncoding::AmdMfmaEncoding(AmdMfmaParams p) : Encoding(kKind), p_(std::move(p)) {
  // Older text gives the tiles of a batched layout for M and N alone, or for M, N and K.
  unsigned r = rank();
  if (p_.tilesPerWarp.size() != r) p_.tilesPerWarp.assign(r, 1);
}

absl::Status AmdMfmaEncoding::check(const AmdMfmaParams &p) {
  if (p.version < 0 || p.version > 4) return invalid(llvm::formatv("version = {0}; 0 to 4 exist", p.version));
  unsigned rank = p.warpsPerCta.size();
  if (rank < 2 || rank > 3) return invalid(llvm::formatv("warpsPerCTA has {0} entries; 2 or 3 are possible", rank));
  if (auto s = checkPowersOfTwo("warpsPerCTA", p.warpsPerCta, rank); !s.ok()) return s;
  if (p.instrShape.size() < 2 || p.instrShape.size() > 3) return invalid("instrShape needs 2 or 3 entries");
  static constexpr std::pair<int32_t, int32_t> kShapes[] = {{32, 32}, {16, 16}, {64, 4}, {4, 64}};
  std::pair<int32_t, int32_t> mn{p.instrShape[0], p.instrShape[1]};
  if (!llvm::is_contained(kShapes, mn))
    return invalid(llvm::formatv("instrShape: there is no instruction of {0} by {1}", mn.first, mn.second));
  if (p.instrShape.size() == 3)
    if (auto s = checkPowerOfTwo("instrShape", p.instrShape[2]); !s.ok()) return s;
  if (p.elementBitWidth != 32 && p.elementBitWidth != 64)
    return invalid(llvm::formatv("elementBitWidth = {0}; 32 and 64 exist", p.elementBitWidth));
  if (!p.tilesPerWarp.empty() && !llvm::all_of(p.tilesPerWarp, [](auto t) { return t == 1; }))
    if (auto s = checkPowersOfTwo("tilesPerWarp", p.tilesPerWarp, rank); !s.ok()) return s;
  return checkCta(p.cta, rank);
}

absl::StatusOr<LinearLayout> AmdMfmaEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank(), mi = r - 2, ni = r - 1;
  Dim dimM = tensorDim(mi), dimN = tensorDim(ni);
  if (m() == 64 && n() == 4 && !p_.isTransposed)
    return invalid(
        "a 64 by 4 amd_mfma layout must be transposed: it is computed as 4 by 64 with the operands exchanged");
  // `along`: the direction of a lane's registers; `across`: that of consecutive lanes.
  Dim along = p_.isTransposed ? dimN : dimM, across = p_.isTransposed ? dimM : dimN;
  int32_t lanesAcross = p_.isTransposed ? m() : n();
  int32_t height = p_.elementBitWidth == 64 ? 1 : 4;
  LinearLayout l = LinearLayout::identity1D(height, Dim::Register, along) *
                   LinearLayout::identity1D(lanesAcross, Dim::Lane, across) *
                   LinearLayout::identity1D(kWave / lanesAcross, Dim::Lane, along) *
                   LinearLayout::identity1D(std::max(1, m() * n() / (kWave * height)), Dim::Register, along);
  l = l.transposeOuts({dimN, dimM});
  // The tiles run along N through the whole tensor before they step along M: the order in which the dot's
  // accumulators are listed.
  int32_t tilesM = tilesPerWarp(mi), tilesN = tilesPerWarp(ni), warpsM = p_.warpsPerCta[mi],
          warpsN = p_.warpsPerCta[ni];
  l *= LinearLayout::identity1D(tilesN, Dim::Register, dimN) * LinearLayout::identity1D(warpsN, Dim::Warp, dimN);
  l *=
      LinearLayout::identity1D(std::max<int64_t>(1, shape[ni] / (int64_t(n()) * warpsN * tilesN)), Dim::Register, dimN);
  l *= LinearLayout::identity1D(tilesM, Dim::Register, dimM) * LinearLayout::identity1D(warpsM, Dim::Warp, dimM);
  if (r == 3) l *= LinearLayout::identity1D(p_.warpsPerCta[0], Dim::Warp, Dim::Dim0);
  return combineCtaWithShape(l, p_.cta, shape);
}

absl::StatusOr<LinearLayout> AmdMfmaEncoding::operandLayout(llvm::ArrayRef<int64_t> shape, unsigned opIdx,
                                                            int32_t kWidth) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank(), ki = opIdx == 0 ? r - 1 : r - 2, oi = opIdx == 0 ? r - 2 : r - 1;
  Dim dimK = tensorDim(ki), dimOther = tensorDim(oi);
  int32_t other = opIdx == 0 ? m() : n(), lanesK = kWave / std::min(other, kWave);
  LinearLayout l = LinearLayout::identity1D(kWidth, Dim::Register, dimK) *
                   LinearLayout::identity1D(other, Dim::Lane, dimOther) *
                   LinearLayout::identity1D(lanesK, Dim::Lane, dimK);
  int64_t k = int64_t(lanesK) * kWidth;
  if (other == 64) { // 4 by 64: sixteen instructions share the wide operand
    l *= LinearLayout::identity1D(16, Dim::Register, dimK);
    k *= 16;
  }
  l *= LinearLayout::identity1D(std::max<int64_t>(1, shape[ki] / k), Dim::Register, dimK);
  l *= LinearLayout::identity1D(tilesPerWarp(oi), Dim::Register, dimOther);
  l = l.transposeOuts({dimK, dimOther});
  // Warps that differ along K of the operand hold the same: K is covered already, so their bases become zero.
  llvm::SmallVector<int32_t, 4> order;
  for (unsigned d = r; d-- > 0;) order.push_back(d);
  l *= identityND(Dim::Warp, p_.warpsPerCta, order);
  return combineCtaWithShape(l, p_.cta.broadcastDim(ki), shape);
}

void AmdMfmaEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.amd_mfma<{version = " << p_.version << ", warpsPerCTA = ";
  printList(o, p_.warpsPerCta);
  o << ", instrShape = ";
  printList(o, p_.instrShape);
  o << ", isTransposed = " << (p_.isTransposed ? "true" : "false");
  printCta(o, p_.cta);
  if (!llvm::all_of(p_.tilesPerWarp, [](auto t) { return t == 1; })) {
    o << ", tilesPerWarp = ";
    printList(o, p_.tilesPerWarp);
  }
  if (p_.elementBitWidth != 32) o << ", elementBitWidth = " << p_.elementBitWidth;
  o << "}>";
}

} // namespace tessera::layouts
