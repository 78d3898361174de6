// The nvidia_mma encoding (see nvidia_mma.h). The fragment of versions 2 and 3 is that of the PTX ISA's figures for the
// accumulators of mma.m16n8k* ("Matrix Fragments for mma.m16n8k16", row groupID or groupID + 8, column 2 · threadID in
// group + {0, 1}), which wgmma repeats along N for each of its four warps. Version 1 is Volta's ("Matrix Fragments for
// mma.m8n8k4"): see voltaTile.
#include "layouts/nvidia_mma.h"
#include "layouts/parameter_checks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::layouts {

absl::Status NvidiaMmaEncoding::check(const NvidiaMmaParams &p) {
  if (p.versionMajor < 1 || p.versionMajor > 5 || p.versionMajor == 4)
    return invalid(llvm::formatv("versionMajor = {0}; 1, 2, 3 and 5 exist", p.versionMajor));
  unsigned rank = p.warpsPerCta.size();
  if (rank < 2 || rank > 3) return invalid(llvm::formatv("warpsPerCTA has {0} entries; 2 or 3 are possible", rank));
  if (auto s = checkPowersOfTwo("warpsPerCTA", p.warpsPerCta, rank); !s.ok()) return s;
  if (p.instrShape.size() < 2 || p.instrShape.size() > 3) return invalid("instrShape needs 2 or 3 entries");
  for (auto x : p.instrShape)
    if (x <= 0 || x > 1024 || !llvm::isPowerOf2_32(x))
      return invalid(llvm::formatv("instrShape: {0} is not a power of two up to 1024", x));
  if (p.versionMajor == 1 && (p.instrShape.size() != 2 || p.instrShape[0] != 16 || p.instrShape[1] != 16))
    return invalid("instrShape: version 1 has [16, 16] alone");
  if (p.versionMajor == 2 || p.versionMajor == 3) {
    NvidiaMmaEncoding e(p);
    if (e.tileM() != 16 && !(p.versionMajor == 2 && e.tileM() == 8))
      return invalid(llvm::formatv("instrShape: M = {0} does not exist in version {1}", e.tileM(), p.versionMajor));
    if (e.tileN() < 8 || e.tileN() > (p.versionMajor == 2 ? 8 : 256))
      return invalid(llvm::formatv("instrShape: N = {0} does not exist in version {1}", e.tileN(), p.versionMajor));
  }
  return checkCta(p.cta, rank);
}

/// The fragment of a tile of `outer` by `inner` elements: kWidth consecutive ones per lane along the inner dimension,
/// four lanes along it, eight across, then registers for the second eight rows, then for the rest of the inner
/// dimension.
static LinearLayout fragment(Dim innerDim, Dim outerDim, int32_t inner, int32_t outer, int32_t kWidth) {
  return LinearLayout::identity1D(kWidth, Dim::Register, innerDim) * LinearLayout::identity1D(4, Dim::Lane, innerDim) *
         LinearLayout::identity1D(8, Dim::Lane, outerDim) *
         LinearLayout::identity1D(outer / 8, Dim::Register, outerDim) *
         LinearLayout::identity1D(inner / (kWidth * 4), Dim::Register, innerDim);
}

/// Volta's instruction is four products of 8 by 8 by 4, one for each quad pair: lanes {0–3, 16–19} and the same 4, 8
/// and 12 further on. Which rows and columns of a warp's tile of 16 by 16 a quad pair computes is the encoding's
/// choice: rows [4 p, 4 p + 4) by its lower and 8 more by its upper quad, p = bit 2 of the lane; columns [4 q, 4 q +
/// 4) and 8 more, q = bit 3. In the figure of the PTX ISA a lane's register i lies in row (lane & 1) + (i & 2) of its
/// quad and in column (i & 4) + (lane & 2) + (i & 1).
static LinearLayout voltaTile(Dim m, Dim n) {
  auto bit = [](Dim in, Dim out) { return LinearLayout::identity1D(2, in, out); };
  LinearLayout l = bit(Dim::Register, n) * bit(Dim::Lane, m) * bit(Dim::Lane, n) * bit(Dim::Register, m);
  return l * bit(Dim::Lane, m) * bit(Dim::Lane, n) * bit(Dim::Lane, m) * bit(Dim::Register, n);
}

/// An operand of Volta's instruction: a lane holds the four elements along K of one row of A or column of B, lane & 3
/// within its quad; the other operand's quad pairs have the same ones.
static LinearLayout voltaOperand(Dim k, Dim other, unsigned opIdx) {
  LinearLayout l = LinearLayout::identity1D(4, Dim::Register, k) * LinearLayout::identity1D(4, Dim::Lane, other);
  LinearLayout quadPair = LinearLayout::identity1D(2, Dim::Lane, other),
               shared = LinearLayout::zeros1D(2, Dim::Lane, other);
  l *= opIdx == 0 ? quadPair * shared : shared * quadPair;
  return l * LinearLayout::identity1D(2, Dim::Lane, other);
}

absl::Status NvidiaMmaEncoding::checkModelled() const {
  if (p_.versionMajor == 5)
    return absl::UnimplementedError(
        "nvidia_mma version 5 has no layout in registers: its accumulator is in tensor memory");
  return absl::OkStatus();
}

/// Warps run along N first in version 2, along M first in version 3 (the four warps of a warp group) and in version 1.
static llvm::SmallVector<int32_t, 4> warpOrder(unsigned rank, bool mFirst) {
  llvm::SmallVector<int32_t, 4> order;
  for (unsigned d = rank; d-- > 0;) order.push_back(d);
  if (mFirst) std::swap(order[0], order[1]);
  return order;
}

absl::StatusOr<LinearLayout> NvidiaMmaEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkModelled(); !s.ok()) return s;
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank();
  LinearLayout tile = p_.versionMajor == 1 ? voltaTile(tensorDim(r - 2), tensorDim(r - 1))
                                           : fragment(tensorDim(r - 1), tensorDim(r - 2), tileN(), tileM(), 2);
  return combineCtaWithShape(tile * identityND(Dim::Warp, p_.warpsPerCta, warpOrder(r, p_.versionMajor != 2)), p_.cta,
                             shape);
}

absl::StatusOr<LinearLayout> NvidiaMmaEncoding::operandLayout(llvm::ArrayRef<int64_t> shape, unsigned opIdx,
                                                              int32_t kWidth) const {
  if (auto s = checkModelled(); !s.ok()) return s;
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank(), k = opIdx == 0 ? r - 1 : r - 2, other = opIdx == 0 ? r - 2 : r - 1;
  // K of an instruction is twice the four lanes' share; the 8 by 8 by 4 instruction of f64 has no second half.
  int32_t tileK = kWidth * (tileM() == 8 ? 4 : 8);
  LinearLayout tile = p_.versionMajor == 1
                          ? voltaOperand(tensorDim(k), tensorDim(other), opIdx)
                          : fragment(tensorDim(k), tensorDim(other), tileK, opIdx == 0 ? tileM() : 8, kWidth);
  for (auto d : warpOrder(r, p_.versionMajor != 2)) {
    int32_t warps = p_.warpsPerCta[d];
    tile *= d == int32_t(k) ? LinearLayout::zeros1D(warps, Dim::Warp, tensorDim(d))
                            : LinearLayout::identity1D(warps, Dim::Warp, tensorDim(d));
  }
  return combineCtaWithShape(tile, p_.cta.broadcastDim(k), shape);
}

void NvidiaMmaEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.nvidia_mma<{versionMajor = " << p_.versionMajor << ", versionMinor = " << p_.versionMinor
    << ", warpsPerCTA = ";
  printList(o, p_.warpsPerCta);
  printCta(o, p_.cta);
  o << ", instrShape = ";
  printList(o, p_.instrShape);
  o << "}>";
}

} // namespace tessera::layouts
