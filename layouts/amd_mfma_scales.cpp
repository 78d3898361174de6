// The layout of scales (see amd_mfma_scales.h).
#include "layouts/amd_mfma_scales.h"
#include "layouts/parameter_checks.h"
#include <algorithm>

namespace tessera::layouts {

absl::StatusOr<LinearLayout> scaleLayout(const AmdMfmaEncoding &e, llvm::ArrayRef<int64_t> shape, unsigned opIdx,
                                         int32_t groups) {
  unsigned r = e.rank();
  if (auto s = checkShape(shape, r); !s.ok()) return s;
  if (e.m() != e.n() || !e.cta().isTrivial())
    return absl::UnimplementedError("scales are for square instructions and single blocks");
  constexpr int32_t kWave = 64;
  auto &warps = e.params().warpsPerCta;
  Dim dimOther = tensorDim(r - 2), dimK = tensorDim(r - 1);
  int32_t lanesK = kWave / e.m();
  LinearLayout l = LinearLayout::identity1D(groups, Dim::Register, dimK) *
                   LinearLayout::identity1D(e.m(), Dim::Lane, dimOther) *
                   LinearLayout::identity1D(lanesK, Dim::Lane, dimK);
  l *= LinearLayout::identity1D(std::max<int64_t>(1, shape[r - 1] / (int64_t(lanesK) * groups)), Dim::Register, dimK);
  l *= LinearLayout::identity1D(e.tilesPerWarp(opIdx == 0 ? r - 2 : r - 1), Dim::Register, dimOther);
  l = l.transposeOuts({dimK, dimOther});
  // Warps along the result's other dimension hold the same: K is covered already, so their bases become zero.
  l *= LinearLayout::identity1D(warps[r - 1], Dim::Warp, opIdx == 0 ? dimK : dimOther);
  l *= LinearLayout::identity1D(warps[r - 2], Dim::Warp, opIdx == 0 ? dimOther : dimK);
  if (r == 3) l *= LinearLayout::identity1D(warps[0], Dim::Warp, Dim::Dim0);
  return combineCtaWithShape(l, e.cta(), shape);
}

} // namespace tessera::layouts
