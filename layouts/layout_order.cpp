// Questions about layouts (see layout_order.h).
#include "layouts/layout_order.h"
#include "layouts/blocked.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::layouts {

static void addOrder(const LinearLayout &l, Dim in, llvm::SmallVectorImpl<int32_t> &order) {
  for (unsigned bit = 0; bit < l.inDimBits(in); ++bit) {
    auto basis = l.basis(in, bit);
    for (unsigned d = 0; d < basis.size(); ++d)
      if (basis[d]) {
        if (!llvm::is_contained(order, int32_t(d))) order.push_back(d);
        break;
      }
  }
}

static void addRest(const LinearLayout &l, llvm::SmallVectorImpl<int32_t> &order) {
  for (int32_t d = l.numOutDims(); d-- > 0;)
    if (!llvm::is_contained(order, d)) order.push_back(d);
}

llvm::SmallVector<int32_t, 4> orderOf(const LinearLayout &l, Dim in) {
  llvm::SmallVector<int32_t, 4> order;
  addOrder(l, in, order);
  addRest(l, order);
  return order;
}

llvm::SmallVector<int32_t, 4> orderOf(const LinearLayout &l) {
  llvm::SmallVector<int32_t, 4> order;
  for (Dim in : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Offset}) addOrder(l, in, order);
  addRest(l, order);
  return order;
}

llvm::SmallVector<int32_t, 4> storageOrderOf(const LinearLayout &l) {
  llvm::SmallVector<int32_t, 4> order;
  auto take = [&](unsigned d) {
    if (!llvm::is_contained(order, int32_t(d))) order.push_back(d);
  };
  // The dimension along which the bits move by one element, of those the first or all.
  auto takeFastest = [&](Dim in, bool firstOnly) {
    for (unsigned bit = 0; order.empty() && bit < l.inDimBits(in); ++bit) {
      bool moves = false;
      for (unsigned d = 0; d < l.numOutDims(); ++d) {
        moves |= l.basis(in, bit)[d] != 0;
        if (l.basis(in, bit)[d] == 1) take(d);
      }
      if (moves && firstOnly) break;
    }
  };
  // A thread's run of elements, or where it has none that of the lanes (registers that move by one may then be rows).
  takeFastest(Dim::Register, true);
  takeFastest(Dim::Lane, true);
  takeFastest(Dim::Register, false);
  takeFastest(Dim::Lane, false);
  for (Dim in : {Dim::Register, Dim::Lane})
    for (unsigned bit = 0; bit < l.inDimBits(in); ++bit)
      for (unsigned d = 0; d < l.numOutDims(); ++d)
        if (l.basis(in, bit)[d] && !order.empty()) take(d);
  for (unsigned d = l.numOutDims(); d-- > 0;) take(d);
  return order;
}

llvm::SmallVector<int32_t, 4> storageOrderOf(const Encoding *e, const LinearLayout &l) {
  if (auto *blocked = dynCast<BlockedEncoding>(e)) return llvm::SmallVector<int32_t, 4>(blocked->order());
  return storageOrderOf(l);
}

int32_t elementsPerThread(const LinearLayout &l) { return l.inDimSize(Dim::Register); }
std::optional<int64_t> elementsPerThread(const Encoding *e, llvm::ArrayRef<int64_t> shape) {
  auto &layout = e->layoutOf(shape);
  if (!layout.ok()) return std::nullopt;
  return elementsPerThread(*layout);
}

int32_t uniqueElementsPerThread(const LinearLayout &l) {
  F2Span span;
  for (auto c : l.columns(Dim::Register)) span.add(c);
  return 1 << span.dimension();
}

int64_t consecutiveElements(const LinearLayout &l, unsigned dim) {
  int64_t n = 1;
  for (unsigned bit = 0; bit < l.inDimBits(Dim::Register) && l.basis(Dim::Register, bit, tensorDim(dim)) == n; ++bit)
    n *= 2;
  return n;
}

} // namespace tessera::layouts
