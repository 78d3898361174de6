// Reads of shared memory that transpose among 16 lanes (see the end of conversion_plan.h).
#include "layouts/conversion_plan.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::layouts {

/// The bits of the first registers that are no copies, at most `count`; fewer if there are none.
static llvm::SmallVector<unsigned, 3> firstRegisters(const LinearLayout &l, unsigned count) {
  llvm::SmallVector<unsigned, 3> bits;
  for (unsigned bit = 0; bit < l.inDimBits(Dim::Register) && bits.size() < count; ++bit)
    if (llvm::any_of(l.basis(Dim::Register, bit), [](int32_t x) { return x != 0; })) bits.push_back(bit);
  return bits;
}

static constexpr unsigned kTransposingLaneBits = 4; // 16 lanes

std::optional<unsigned> transposedReadBits(int elementBits) {
  if (elementBits == 16) return 2;
  if (elementBits == 8) return 3;
  return std::nullopt;
}

bool canReadTransposed(const LinearLayout &map, int elementBits) {
  auto count = transposedReadBits(elementBits);
  if (!count || map.inDimBits(Dim::Lane) < kTransposingLaneBits || firstRegisters(map, *count).size() < *count)
    return false;
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp})
    for (unsigned bit = 0; bit < map.inDimBits(d); ++bit) {
      auto basis = map.basis(d, bit);
      if (basis.size() > 1 && basis[1]) return false; // in another block
      if (d == Dim::Lane && bit < *count ? basis[0] != 1 << bit : basis[0] % (1 << *count) != 0) return false;
    }
  return true;
}

std::optional<LinearLayout> transposedReadAddresses(const LinearLayout &layout, int elementBits) {
  auto count = transposedReadBits(elementBits);
  if (!count) return std::nullopt;
  auto bits = firstRegisters(layout, *count);
  if (layout.inDimBits(Dim::Lane) < kTransposingLaneBits || bits.size() < *count) return std::nullopt;
  llvm::SmallVector<LinearLayout::InDim, 4> ins(layout.ins());
  auto *registers = llvm::find_if(ins, [](auto &i) { return i.dim == Dim::Register; });
  auto *lanes = llvm::find_if(ins, [](auto &i) { return i.dim == Dim::Lane; });
  llvm::SmallVector<Basis, 4> ofLanes(lanes->bases.begin(), lanes->bases.begin() + kTransposingLaneBits);
  for (unsigned k = 0; k < kTransposingLaneBits - *count; ++k) lanes->bases[k] = ofLanes[*count + k];
  for (unsigned k = 0; k < *count; ++k) {
    lanes->bases[kTransposingLaneBits - *count + k] = registers->bases[bits[k]];
    registers->bases[bits[k]] = ofLanes[k];
  }
  return LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(layout.outs()));
}

} // namespace tessera::layouts
