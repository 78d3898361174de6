// Layouts by which warps copy to consecutive places of shared memory (see warp_copy.h).
#include "layouts/warp_copy.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::layouts {

std::optional<LinearLayout> warpCopyLayout(const LinearLayout &shared, int64_t elements, int64_t lanes, int64_t warps) {
  if (shared.inDimSize(Dim::Block) > 1 || shared.inDimSize(Dim::Offset) < elements * lanes * warps) return std::nullopt;
  unsigned ofCopy = llvm::Log2_64(elements), ofWarp = ofCopy + llvm::Log2_64(lanes);
  unsigned ofBlock = ofWarp + llvm::Log2_64(warps);
  LinearLayout::InDim registers{Dim::Register, {}}, lane{Dim::Lane, {}}, warp{Dim::Warp, {}};
  for (unsigned bit = 0, n = shared.inDimBits(Dim::Offset); bit < n; ++bit) {
    auto &in = bit < ofCopy ? registers : bit < ofWarp ? lane : bit < ofBlock ? warp : registers;
    auto basis = shared.basis(Dim::Offset, bit);
    in.bases.emplace_back(basis.begin(), basis.end());
  }
  llvm::SmallVector<LinearLayout::OutDim, 4> outs(shared.outs().begin(), shared.outs().end());
  LinearLayout::InDim block{Dim::Block, {}};
  return LinearLayout({registers, lane, warp, block}, outs);
}

bool isWarpCopy(const LinearLayout &map, int64_t elements) {
  if (map.inDimSize(Dim::Block) > 1) return false;
  unsigned ofCopy = llvm::Log2_64(elements);
  auto offset = [&](Dim d, unsigned bit) { return int64_t(map.basis(d, bit)[0]); };
  if (map.inDimBits(Dim::Register) < ofCopy) return false;
  for (unsigned bit = 0; bit < ofCopy; ++bit)
    if (offset(Dim::Register, bit) != int64_t(1) << bit) return false;
  for (unsigned bit = 0; bit < map.inDimBits(Dim::Lane); ++bit)
    if (offset(Dim::Lane, bit) != elements << bit) return false;
  // What registers and warps add is beyond the warp's copy.
  int64_t inside = elements * map.inDimSize(Dim::Lane) - 1;
  for (unsigned bit = ofCopy; bit < map.inDimBits(Dim::Register); ++bit)
    if (offset(Dim::Register, bit) & inside) return false;
  for (unsigned bit = 0; bit < map.inDimBits(Dim::Warp); ++bit)
    if (offset(Dim::Warp, bit) & inside) return false;
  return true;
}

} // namespace tessera::layouts
