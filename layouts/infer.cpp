// Inference of layouts (see infer.h).
#include "layouts/infer.h"

namespace tessera::layouts {

template <class T> static const Encoding *orNull(absl::StatusOr<T> s) { return s.ok() ? *s : nullptr; }

const Encoding *inferTrans(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> order,
                           llvm::ArrayRef<int64_t> srcShape) {
  unsigned rank = order.size();
  llvm::SmallVector<int32_t, 4> inverse(rank);
  for (unsigned i = 0; i < rank; ++i) inverse[order[i]] = i;
  if (auto *b = dynCast<BlockedEncoding>(src)) {
    BlockedParams p;
    for (unsigned i = 0; i < rank; ++i) {
      p.sizePerThread.push_back(b->sizePerThread()[order[i]]);
      p.threadsPerWarp.push_back(b->threadsPerWarp()[order[i]]);
      p.warpsPerCta.push_back(b->warpsPerCta()[order[i]]);
    }
    for (auto d : b->order()) p.order.push_back(inverse[d]);
    for (auto &basis : b->cta().bases) {
      Basis n;
      for (unsigned i = 0; i < rank; ++i) n.push_back(basis[order[i]]);
      p.cta.bases.push_back(n);
    }
    return orNull(pool.getBlocked(std::move(p)));
  }
  auto l = src->toLinearLayout(srcShape);
  if (!l.ok()) return nullptr;
  llvm::SmallVector<Dim, 4> outs, names;
  for (unsigned i = 0; i < rank; ++i) {
    outs.push_back(tensorDim(order[i]));
    names.push_back(tensorDim(i));
  }
  return orNull(pool.getLinear(l->transposeOuts(outs).renameOuts(names)));
}

const Encoding *inferReshape(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape,
                             llvm::ArrayRef<int64_t> dstShape) {
  auto l = src->toLinearLayout(srcShape);
  if (!l.ok()) return nullptr;
  // Row-major: the last dimension is the lowest of the flat index.
  llvm::SmallVector<Dim, 4> reversed;
  for (unsigned d = srcShape.size(); d-- > 0;) reversed.push_back(tensorDim(d));
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  llvm::SmallVector<Dim, 4> standard;
  for (unsigned d = dstShape.size(); d-- > 0;) outs.push_back({tensorDim(d), int32_t(dstShape[d])});
  for (unsigned d = 0; d < dstShape.size(); ++d) standard.push_back(tensorDim(d));
  return orNull(pool.getLinear(l->transposeOuts(reversed).reshapeOuts(outs).transposeOuts(standard)));
}

const Encoding *inferJoin(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape) {
  unsigned rank = srcShape.size();
  if (auto *b = dynCast<BlockedEncoding>(src)) {
    BlockedParams p = b->params();
    p.sizePerThread.push_back(2);
    p.threadsPerWarp.push_back(1);
    p.warpsPerCta.push_back(1);
    p.order.insert(p.order.begin(), rank);
    for (auto &basis : p.cta.bases) basis.push_back(0);
    return orNull(pool.getBlocked(std::move(p)));
  }
  auto l = src->toLinearLayout(srcShape);
  if (!l.ok()) return nullptr;
  llvm::SmallVector<Dim, 4> standard;
  for (unsigned d = 0; d <= rank; ++d) standard.push_back(tensorDim(d));
  return orNull(
      pool.getLinear((LinearLayout::identity1D(2, Dim::Register, tensorDim(rank)) * *l).transposeOuts(standard)));
}

const Encoding *inferSplit(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape) {
  unsigned last = srcShape.size() - 1;
  if (auto *b = dynCast<BlockedEncoding>(src)) {
    BlockedParams p = b->params();
    if (p.sizePerThread[last] != 2 || p.threadsPerWarp[last] != 1 || p.warpsPerCta[last] != 1) return nullptr;
    p.sizePerThread.pop_back();
    p.threadsPerWarp.pop_back();
    p.warpsPerCta.pop_back();
    llvm::erase(p.order, int32_t(last));
    for (auto &basis : p.cta.bases) basis.pop_back();
    return orNull(pool.getBlocked(std::move(p)));
  }
  return nullptr;
}

} // namespace tessera::layouts
