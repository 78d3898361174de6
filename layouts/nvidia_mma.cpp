// The nvidia_mma encoding (see nvidia_mma.h). The fragment of versions 2 and 3 is that of the PTX ISA's figures for the
// accumulators of mma.m16n8k* ("Matrix Fragments for mma.m16n8k16", row groupID or groupID + 8, column 2 · threadID in
// group + {0, 1}), which wgmma repeats along N for each of its four warps.
#include "layouts/nvidia_mma.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status NvidiaMmaEncoding::check(const NvidiaMmaParams &p) {
  if (p.versionMajor < 1 || p.versionMajor > 5 || p.versionMajor == 4) return invalid(llvm::formatv("versionMajor = {0}; 1, 2, 3 and 5 exist", p.versionMajor));
  unsigned rank = p.warpsPerCta.size();
  if (rank < 2 || rank > 3) return invalid(llvm::formatv("warpsPerCTA has {0} entries; 2 or 3 are possible", rank));
  if (auto s = checkPowersOfTwo("warpsPerCTA", p.warpsPerCta, rank); !s.ok()) return s;
  if (p.instrShape.size() < 2 || p.instrShape.size() > 3) return invalid("instrShape needs 2 or 3 entries");
  for (auto x : p.instrShape)
    if (x <= 0 || x > 1024) return invalid(llvm::formatv("instrShape: {0} is out of range", x));
  return checkCta(p.cta, rank);
}

absl::StatusOr<LinearLayout> NvidiaMmaEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (p_.versionMajor != 2 && p_.versionMajor != 3) return absl::UnimplementedError(llvm::formatv("the layout of nvidia_mma version {0} is not modelled", p_.versionMajor).str());
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank();
  Dim m = tensorDim(r - 2), n = tensorDim(r - 1);
  int32_t instrN = p_.versionMajor == 3 ? p_.instrShape[1] : 8;
  LinearLayout tile = LinearLayout::identity1D(2, Dim::Register, n) * LinearLayout::identity1D(4, Dim::Lane, n) * LinearLayout::identity1D(8, Dim::Lane, m) *
                      LinearLayout::identity1D(2, Dim::Register, m);
  if (p_.versionMajor == 3) tile *= LinearLayout::identity1D(instrN / 8, Dim::Register, n);
  // Warps: M is the fast direction of version 3 (the four warps of a warp group), N that of version 2.
  llvm::SmallVector<int32_t, 4> warpOrder;
  for (unsigned d = 0; d < r; ++d) warpOrder.push_back(r - 1 - d);
  if (p_.versionMajor == 3) std::swap(warpOrder[0], warpOrder[1]);
  return combineCtaWithShape(tile * identityND(Dim::Warp, p_.warpsPerCta, warpOrder), p_.cta, shape);
}

void NvidiaMmaEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.nvidia_mma<{versionMajor = " << p_.versionMajor << ", versionMinor = " << p_.versionMinor << ", warpsPerCTA = ";
  printList(o, p_.warpsPerCta);
  printCta(o, p_.cta);
  o << ", instrShape = ";
  printList(o, p_.instrShape);
  o << "}>";
}

} // namespace tessera::layouts
