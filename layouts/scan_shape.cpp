// Layouts of scans (see scan_shape.h).
#include "layouts/scan_shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::layouts {

ScanShape scanShape(const LinearLayout &source, int axis) {
  ScanShape shape;
  // For each bit of the index along the axis the input bit that it comes from; {Block, 0} if none was found yet.
  llvm::SmallVector<std::pair<Dim, unsigned>, 16> owner(llvm::Log2_32(source.outs()[axis].size), {Dim::Block, 0});
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block})
    for (unsigned bit = 0; bit < source.inDimBits(d); ++bit) {
      auto basis = source.basis(d, bit);
      if (!basis[axis]) continue;
      bool alongAxisAlone = llvm::count_if(basis, [](auto x) { return x != 0; }) == 1;
      if (!alongAxisAlone || !llvm::isPowerOf2_32(basis[axis]) || d == Dim::Block) return shape;
      auto &o = owner[llvm::Log2_32(basis[axis])];
      if (o.first != Dim::Block) return shape; // two input bits move by the same distance: copies of elements
      o = {d, bit};
    }

  // The numbers of consecutive bits that registers, lanes, warps and registers own, from the lowest bit up.
  unsigned k = 0;
  unsigned lastBit = 0;
  auto takeBitsOf = [&](Dim d) {
    unsigned from = k;
    for (; k < owner.size() && owner[k].first == d; ++k) {
      bool descendingLanes = d == Dim::Lane && k > from && owner[k].second < lastBit;
      if (descendingLanes) return -1;
      lastBit = owner[k].second;
    }
    return int(k - from);
  };
  int low = takeBitsOf(Dim::Register);
  int lanes = takeBitsOf(Dim::Lane);
  int warps = takeBitsOf(Dim::Warp);
  int high = takeBitsOf(Dim::Register);
  bool allTaken = lanes >= 0 && k == owner.size();
  if (!allTaken) return shape;
  if (!lanes && !warps) { // all in registers: one chunk
    low += high;
    high = 0;
  }
  shape.inOrder = true;
  shape.chunk = 1 << low;
  shape.chunks = 1 << high;
  return shape;
}

LinearLayout scanLayout(const LinearLayout &source, int axis) {
  llvm::SmallVector<LinearLayout::InDim, 4> ins(source.ins());
  unsigned rank = source.numOutDims();
  auto isZero = [](const Basis &b) { return llvm::all_of(b, [](auto x) { return x == 0; }); };
  auto firstMoved = [](const Basis &b) { return llvm::find_if(b, [](auto x) { return x != 0; }) - b.begin(); };

  // 1. Bases that are unit vectors (a power of two along one dimension) stay, the first of each unit; the others are
  //    replaced.
  llvm::SmallVector<llvm::SmallVector<bool, 16>, 4> taken; // by dimension and bit
  for (auto &o : source.outs()) taken.emplace_back(llvm::Log2_32(o.size), false);
  llvm::SmallVector<Basis *, 16> replaced;
  for (auto &in : ins)
    for (auto &b : in.bases) {
      if (isZero(b)) continue;
      unsigned d = firstMoved(b);
      bool unit = llvm::count_if(b, [](auto x) { return x != 0; }) == 1 && llvm::isPowerOf2_32(b[d]);
      if (in.dim == Dim::Block || (unit && !taken[d][llvm::Log2_32(b[d])])) {
        if (unit) taken[d][llvm::Log2_32(b[d])] = true;
      } else {
        replaced.push_back(&b);
      }
    }

  // 2. The replaced ones become the units that are missing, and copies (zero) after that.
  auto *next = replaced.begin();
  for (unsigned d = 0; d < rank; ++d)
    for (unsigned bit = 0; bit < taken[d].size(); ++bit) {
      if (taken[d][bit] || next == replaced.end()) continue;
      Basis b(rank, 0);
      b[d] = 1 << bit;
      **next++ = b;
    }
  for (; next != replaced.end(); ++next) **next = Basis(rank, 0);

  // 3. Units along the axis are renumbered in the order of scans: registers, lanes, warps.
  llvm::SmallVector<Basis *, 16> along;
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp})
    for (auto &in : ins)
      if (in.dim == dim)
        for (auto &b : in.bases)
          if (b[axis]) along.push_back(&b);
  for (auto [bit, b] : llvm::enumerate(along)) (*b)[axis] = 1 << bit;
  return LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(source.outs()));
}

} // namespace tessera::layouts
