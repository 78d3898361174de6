// The amd_wmma encoding (see amd_wmma.h).
#include "layouts/amd_wmma.h"
#include "layouts/parameter_checks.h"
#include "layouts/tensor_dims.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace tessera::layouts {

LinearLayout AmdWmmaParams::tilesOf(llvm::ArrayRef<int32_t> warps, llvm::ArrayRef<int32_t> tiles) {
  LinearLayout l;
  for (unsigned d = warps.size(); d-- > 0;)
    l *= LinearLayout::identity1D(d < tiles.size() ? tiles[d] : 1, Dim::Register, tensorDim(d)) *
         LinearLayout::identity1D(warps[d], Dim::Warp, tensorDim(d));
  return l.transposeOuts(tensorDims(warps.size()));
}

absl::Status AmdWmmaEncoding::check(const AmdWmmaParams &p) {
  if (p.version < 1 || p.version > 3) return invalid(llvm::formatv("version = {0}; 1 to 3 exist", p.version));
  if (p.consecutiveRows && p.version != 1) return invalid("consecutiveRows is for version 1 only");
  unsigned rank = p.tiles.numOutDims();
  if (rank < 2 || rank > 3) return invalid(llvm::formatv("the layout has rank {0}; 2 and 3 are possible", rank));
  for (unsigned d = 0; d < rank; ++d)
    if (p.tiles.outs()[d].dim != tensorDim(d)) return invalid("the layout's dimensions must be dim0, dim1, …");
  for (auto &i : p.tiles.ins())
    if (i.dim != Dim::Register && i.dim != Dim::Warp) return invalid("ctaLayout has bases of register and warp only");
  if (p.tiles.totalInBits() > 16) return invalid("ctaLayout describes too many tiles");
  if (!p.tiles.isSurjective()) return invalid("ctaLayout leaves tiles to no warp");
  using Shape = std::array<int32_t, 3>;
  static constexpr Shape v1[] = {{16, 16, 16}}, v2[] = {{16, 16, 16}, {16, 16, 32}},
                         v3[] = {{16, 16, 4}, {16, 16, 32}, {16, 16, 64}, {16, 16, 128}, {32, 16, 64}, {32, 16, 128}};
  llvm::ArrayRef<Shape> shapes = p.version == 1   ? llvm::ArrayRef<Shape>(v1)
                                 : p.version == 2 ? llvm::ArrayRef<Shape>(v2)
                                                  : llvm::ArrayRef<Shape>(v3);
  // The default shape is accepted for every version.
  auto is = [&](const Shape &s) { return llvm::equal(s, p.instrShape); };
  if (!llvm::any_of(shapes, is) && !is(v1[0])) {
    std::string list;
    llvm::raw_string_ostream o(list);
    printList(o, p.instrShape);
    return invalid(llvm::formatv("instrShape = {0} does not exist in version {1}", list, p.version));
  }
  return checkCta(p.cta, rank);
}

absl::StatusOr<LinearLayout> AmdWmmaEncoding::toLinearLayout(llvm::ArrayRef<int64_t> shape) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank();
  Dim dimM = tensorDim(r - 2), dimN = tensorDim(r - 1);
  Dim along = p_.isTransposed ? dimN : dimM, across = p_.isTransposed ? dimM : dimN;
  LinearLayout l;
  if (p_.alternatesRows()) {
    l = LinearLayout::identity1D(16, Dim::Lane, across) * LinearLayout::identity1D(2, Dim::Lane, along) *
        LinearLayout::identity1D(8, Dim::Register, along);
  } else {
    l = LinearLayout::identity1D(8, Dim::Register, along) * LinearLayout::identity1D(16, Dim::Lane, across) *
        LinearLayout::identity1D(2, Dim::Lane, along);
    if (p_.instrShape[0] == 32) l *= LinearLayout::identity1D(2, Dim::Register, along);
  }
  l = l.transposeIns({Dim::Register, Dim::Lane});
  // Tiles repeat over the tensor last dimension first.
  llvm::SmallVector<Dim, 4> repeat;
  for (unsigned d = r; d-- > 0;) repeat.push_back(tensorDim(d));
  if (r == 3) l *= LinearLayout::identity1D(1, Dim::Register, Dim::Dim0);
  l = l.transposeOuts(repeat) * p_.tiles.transposeOuts(repeat);
  return combineCtaWithShape(l, p_.cta, shape);
}

absl::StatusOr<LinearLayout> AmdWmmaEncoding::operandLayout(llvm::ArrayRef<int64_t> shape, unsigned opIdx,
                                                            int32_t kWidth) const {
  if (auto s = checkShape(shape, rank()); !s.ok()) return s;
  unsigned r = rank(), ki = opIdx == 0 ? r - 1 : r - 2, oi = opIdx == 0 ? r - 2 : r - 1;
  Dim dimK = tensorDim(ki), dimOther = tensorDim(oi);
  // Transposed, the instruction computes the transpose: its M is the tensor's N.
  bool isInstructionA = (opIdx == 0) != p_.isTransposed;
  int32_t other = p_.instrShape[isInstructionA ? 0 : 1], k = p_.instrShape[2];
  LinearLayout rows = LinearLayout::identity1D(16, Dim::Lane, dimOther);
  if (isInstructionA && p_.consecutiveRows) rows = LinearLayout({{Dim::Lane, {{8}, {1}, {2}, {4}}}}, {{dimOther, 16}});
  LinearLayout l = LinearLayout::identity1D(kWidth, Dim::Register, dimK) * rows;
  l *= p_.version == 1 ? LinearLayout::zeros1D(2, Dim::Lane, dimK) : LinearLayout::identity1D(2, Dim::Lane, dimK);
  l *= LinearLayout::identity1D(std::max(1, k / (2 * kWidth)), Dim::Register, dimK);
  l *= LinearLayout::identity1D(std::max(1, other / 16), Dim::Register, dimOther);
  // The warps' tiles without K; a warp's tiles that differ along K alone are one.
  llvm::SmallVector<LinearLayout::InDim, 4> ins(p_.tiles.ins());
  for (auto &i : ins)
    for (auto &b : i.bases) b[ki] = 0;
  llvm::SmallVector<LinearLayout::OutDim, 4> outs(p_.tiles.outs());
  outs[ki].size = 1;
  LinearLayout tiles = LinearLayout(std::move(ins), std::move(outs)).removeZeroBases(Dim::Register);
  llvm::SmallVector<Dim, 4> repeat = {dimK, dimOther};
  if (r == 3) {
    repeat.push_back(Dim::Dim0);
    l *= LinearLayout::identity1D(1, Dim::Register, Dim::Dim0);
  }
  l = l.transposeOuts(repeat) * tiles.transposeOuts(repeat);
  return combineCtaWithShape(l, p_.cta.broadcastDim(ki), shape);
}

void AmdWmmaEncoding::print(llvm::raw_ostream &o, AliasPrinter) const {
  o << "#ttg.amd_wmma<{version = " << p_.version << ", isTranspose = " << (p_.isTransposed ? "true" : "false");
  // The tiles by counts, if that says it all.
  unsigned r = rank();
  llvm::SmallVector<int32_t, 4> warps, tiles;
  for (unsigned d = 0; d < r; ++d) {
    warps.push_back(p_.tiles.sublayout({Dim::Warp}, {tensorDim(d)}).removeZeroBases(Dim::Warp).inDimSize(Dim::Warp));
    tiles.push_back(
        p_.tiles.sublayout({Dim::Register}, {tensorDim(d)}).removeZeroBases(Dim::Register).inDimSize(Dim::Register));
  }
  LinearLayout byCounts = AmdWmmaParams::tilesOf(warps, tiles);
  auto same = [&](Dim in) { return byCounts.columns(in) == p_.tiles.columns(in); };
  bool counts = byCounts.outs() == p_.tiles.outs() && same(Dim::Register) && same(Dim::Warp);
  if (counts) {
    o << ", warpsPerCTA = ";
    printList(o, warps);
  } else {
    o << ", ctaLayout = {";
    if (p_.tiles.inDimBits(Dim::Register)) {
      o << "register = ";
      printBases(o, p_.tiles, Dim::Register);
      if (p_.tiles.inDimBits(Dim::Warp)) o << ", ";
    }
    if (p_.tiles.inDimBits(Dim::Warp)) {
      o << "warp = ";
      printBases(o, p_.tiles, Dim::Warp);
    }
    o << "}";
  }
  printCta(o, p_.cta);
  if (counts && !llvm::all_of(tiles, [](auto t) { return t == 1; })) {
    o << ", tilesPerWarp = ";
    printList(o, tiles);
  }
  if (!llvm::equal(p_.instrShape, std::array<int32_t, 3>{16, 16, 16})) {
    o << ", instrShape = ";
    printList(o, p_.instrShape);
  }
  if (p_.consecutiveRows) o << ", consecutiveRows = true";
  // The other parameters determine the rank, except where ctaLayout has no bases.
  if (!counts && !p_.tiles.totalInBits() && r != 2) o << ", rank = " << r;
  o << "}>";
}

} // namespace tessera::layouts
