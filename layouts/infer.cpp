// Inference of layouts (see infer.h).
#include "layouts/infer.h"
#include "layouts/tensor_dims.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace tessera::layouts {

template <class T> static const Encoding *orNull(absl::StatusOr<T> s) { return s.ok() ? *s : nullptr; }

const Encoding *linearEncodingOf(EncodingPool &pool, const LinearLayout &l) {
  if (auto e = pool.getLinear(l); e.ok()) return *e;
  return orNull(pool.getLinear(l, /*generic=*/true));
}

/// The encoding of a layout made from that of `src`.
static const Encoding *encodingLike(EncodingPool &pool, const Encoding *src, const LinearLayout &l) {
  if (src->isDistributed()) return linearEncodingOf(pool, l);
  if (auto *p = dynCast<PaddedSharedEncoding>(src)) return orNull(pool.getPaddedShared({p->params().paddings, l}));
  int64_t alignment = 16;
  if (auto *n = dynCast<NvmmaSharedEncoding>(src)) alignment = n->alignment();
  if (auto *s = dynCast<SharedLinearEncoding>(src)) alignment = s->alignment();
  return orNull(pool.getSharedLinear(l, alignment));
}

bool sameLayout(const Encoding *a, const Encoding *b, llvm::ArrayRef<int64_t> shape) {
  if (a == b) return true;
  if (!a || !b || a->rank() != b->rank()) return false;
  auto &la = a->layoutOf(shape), &lb = b->layoutOf(shape);
  return la.ok() && lb.ok() && *la == *lb;
}

// ---- transposition --------------------------------------------------------------------------------------------------

/// Dimension-wise parameters, a layout's order (fastest first) and blocks' bases, after a transposition.
namespace {
struct Transposition {
  llvm::ArrayRef<int64_t> order;
  llvm::SmallVector<int32_t, 4> perDim(llvm::ArrayRef<int32_t> v) const {
    llvm::SmallVector<int32_t, 4> out;
    for (auto d : order) out.push_back(v[d]);
    return out;
  }
  llvm::SmallVector<int32_t, 4> dims(llvm::ArrayRef<int32_t> v) const {
    llvm::SmallVector<int32_t, 4> out;
    for (auto d : v) out.push_back(llvm::find(order, d) - order.begin());
    return out;
  }
  CtaLayout cta(const CtaLayout &c) const {
    CtaLayout out;
    for (auto &b : c.bases) out.bases.push_back(perDim(b));
    return out;
  }
};
} // namespace

const Encoding *inferTrans(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> order,
                           llvm::ArrayRef<int64_t> srcShape) {
  unsigned rank = order.size();
  if (rank != src->rank() || rank != srcShape.size()) return nullptr;
  uint32_t seen = 0;
  for (auto d : order) {
    if (d < 0 || d >= int64_t(rank) || (seen >> d & 1)) return nullptr;
    seen |= 1u << d;
  }
  if (llvm::is_sorted(order)) return src;
  Transposition t{order};
  if (auto *b = dynCast<BlockedEncoding>(src))
    return orNull(pool.getBlocked({t.perDim(b->sizePerThread()), t.perDim(b->threadsPerWarp()),
                                   t.perDim(b->warpsPerCta()), t.dims(b->order()), t.cta(b->cta())}));
  if (auto *s = dynCast<SwizzledSharedEncoding>(src)) {
    auto p = s->params();
    p.order = t.dims(p.order);
    p.cta = t.cta(p.cta);
    return orNull(pool.getSwizzledShared(std::move(p)));
  }
  if (auto *n = dynCast<NvmmaSharedEncoding>(src); n && rank == 2) {
    auto p = n->params();
    p.transposed = !p.transposed;
    p.cta = t.cta(p.cta);
    return orNull(pool.getNvmmaShared(std::move(p)));
  }
  auto &l = src->layoutOf(srcShape);
  if (!l.ok()) return nullptr;
  llvm::SmallVector<Dim, 4> outs;
  for (auto d : order) outs.push_back(tensorDim(d));
  return encodingLike(pool, src, l->transposeOuts(outs).renameOuts(tensorDims(rank)));
}

// ---- reshape --------------------------------------------------------------------------------------------------------

static LinearLayout reshaped(const LinearLayout &l, llvm::ArrayRef<int64_t> srcShape,
                             llvm::ArrayRef<int64_t> dstShape) {
  // Row-major: the last dimension is the lowest of the flat index.
  llvm::SmallVector<Dim, 4> reversed;
  for (unsigned d = srcShape.size(); d-- > 0;) reversed.push_back(tensorDim(d));
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  for (unsigned d = dstShape.size(); d-- > 0;) outs.push_back({tensorDim(d), int32_t(dstShape[d])});
  return l.transposeOuts(reversed).reshapeOuts(outs).transposeOuts(tensorDims(dstShape.size()));
}

/// The blocked parameters that a reshape suggests: the shapes are cut into the smallest runs of dimensions with equal
/// products, and what a run of the source has per thread, warp and block is distributed over the run of the result,
/// fastest dimension first. The caller checks whether it is the reshaped layout.
static std::optional<BlockedParams> reshapedBlocked(const BlockedEncoding &b, llvm::ArrayRef<int64_t> src,
                                                    llvm::ArrayRef<int64_t> dst) {
  if (!b.cta().isTrivial()) return std::nullopt;
  struct Run {
    unsigned srcFrom, srcTo, dstFrom, dstTo;
    unsigned place = 0; // of its fastest source dimension in the order
  };
  llvm::SmallVector<Run, 4> runs;
  for (unsigned i = 0, j = 0; i < src.size() && j < dst.size();) {
    Run r{i, i + 1, j, j + 1};
    int64_t s = src[i++], d = dst[j++];
    while (s != d)
      if (s < d && i < src.size())
        s *= src[i++];
      else if (d < s && j < dst.size())
        d *= dst[j++];
      else
        return std::nullopt;
    // Dimensions of 1 that follow belong to the last run.
    if (std::all_of(src.begin() + i, src.end(), [](auto x) { return x == 1; })) i = src.size();
    if (std::all_of(dst.begin() + j, dst.end(), [](auto x) { return x == 1; })) j = dst.size();
    r.srcTo = i;
    r.dstTo = j;
    r.place = llvm::find(b.order(), int32_t(i - 1)) - b.order().begin();
    runs.push_back(r);
  }
  BlockedParams p;
  llvm::SmallVector<int64_t, 4> left(dst);
  auto distribute = [&](llvm::ArrayRef<int32_t> from, llvm::SmallVector<int32_t, 4> &to) {
    to.assign(dst.size(), 1);
    for (auto &r : runs) {
      int64_t n = 1;
      for (unsigned d = r.srcFrom; d < r.srcTo; ++d) n *= from[d];
      for (unsigned d = r.dstTo; d-- > r.dstFrom;) {
        to[d] = std::min<int64_t>(n, left[d]);
        n /= to[d];
        left[d] /= to[d];
      }
      to[r.dstFrom] *= n; // more than the shape has: copies
    }
  };
  distribute(b.sizePerThread(), p.sizePerThread);
  distribute(b.threadsPerWarp(), p.threadsPerWarp);
  distribute(b.warpsPerCta(), p.warpsPerCta);
  llvm::sort(runs, [](auto &x, auto &y) { return x.place < y.place; });
  for (auto &r : runs)
    for (unsigned d = r.dstTo; d-- > r.dstFrom;) p.order.push_back(d);
  return p;
}

static const Encoding *reshapedEncoding(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape,
                                        llvm::ArrayRef<int64_t> dstShape) {
  auto &l = src->layoutOf(srcShape);
  if (!l.ok()) return nullptr;
  LinearLayout result = reshaped(*l, srcShape, dstShape);
  if (auto *b = dynCast<BlockedEncoding>(src)) {
    int64_t warps = 1, lanes = 1;
    for (auto w : b->warpsPerCta()) warps *= w;
    for (auto t : b->threadsPerWarp()) lanes *= t;
    // The default layout of one shape is that of the other.
    if (src == pool.defaultBlocked(srcShape, warps, lanes, b->cta().numCtas()))
      return pool.defaultBlocked(dstShape, warps, lanes, b->cta().numCtas());
    if (auto p = reshapedBlocked(*b, srcShape, dstShape))
      if (auto e = pool.getBlocked(std::move(*p)); e.ok())
        if (auto &el = (*e)->layoutOf(dstShape); el.ok() && *el == result) return *e;
  }
  return encodingLike(pool, src, result);
}

const Encoding *inferReshape(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape,
                             llvm::ArrayRef<int64_t> dstShape) {
  if (srcShape == dstShape) return src;
  llvm::SmallVector<int64_t, 12> question{reinterpret_cast<intptr_t>(src), int64_t(srcShape.size())};
  llvm::append_range(question, srcShape);
  llvm::append_range(question, dstShape);
  return pool.inferOnce(question, [&] { return reshapedEncoding(pool, src, srcShape, dstShape); });
}

// ---- join, split, expand_dims, reduce -------------------------------------------------------------------------------

const Encoding *inferJoin(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape) {
  unsigned rank = srcShape.size();
  if (rank != src->rank() || rank == kMaxRank) return nullptr;
  if (auto *s = dynCast<SliceEncoding>(src); s && s->dim() == rank) {
    // Undoes a split whose result was written as a slice.
    llvm::SmallVector<int64_t, 4> joined(srcShape);
    joined.push_back(2);
    if (sameLayout(inferSplit(pool, s->parent(), joined), src, srcShape)) return s->parent();
  }
  if (auto *b = dynCast<BlockedEncoding>(src)) {
    BlockedParams p = b->params();
    p.sizePerThread.push_back(2);
    p.threadsPerWarp.push_back(1);
    p.warpsPerCta.push_back(1);
    p.order.insert(p.order.begin(), rank);
    for (auto &basis : p.cta.bases) basis.push_back(0);
    return orNull(pool.getBlocked(std::move(p)));
  }
  auto &l = src->layoutOf(srcShape);
  if (!l.ok()) return nullptr;
  return linearEncodingOf(
      pool, (LinearLayout::identity1D(2, Dim::Register, tensorDim(rank)) * *l).transposeOuts(tensorDims(rank + 1)));
}

const Encoding *inferSplit(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape) {
  if (srcShape.size() < 2 || srcShape.size() != src->rank() || srcShape.back() != 2) return nullptr;
  unsigned last = srcShape.size() - 1;
  if (auto *b = dynCast<BlockedEncoding>(src)) {
    BlockedParams p = b->params();
    bool one = p.sizePerThread[last] == 2 && p.threadsPerWarp[last] == 1 && p.warpsPerCta[last] == 1;
    for (auto &basis : p.cta.bases) one &= basis[last] == 0;
    if (one) {
      p.sizePerThread.pop_back();
      p.threadsPerWarp.pop_back();
      p.warpsPerCta.pop_back();
      llvm::erase(p.order, int32_t(last));
      for (auto &basis : p.cta.bases) basis.pop_back();
      return orNull(pool.getBlocked(std::move(p)));
    }
  }
  auto &l = src->layoutOf(srcShape);
  if (!l.ok()) return nullptr;
  llvm::SmallVector<LinearLayout::InDim, 4> ins(l->ins());
  bool found = false;
  for (auto &i : ins) {
    if (i.dim == Dim::Register)
      llvm::erase_if(i.bases, [&](const Basis &b) {
        bool alone = b[last] && llvm::count_if(b, [](auto x) { return x != 0; }) == 1;
        found |= alone;
        return alone;
      });
    for (auto &b : i.bases) {
      if (b[last]) return nullptr; // other threads hold the other half
      b.pop_back();
    }
  }
  if (!found) return nullptr;
  return linearEncodingOf(
      pool, LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(l->outs().drop_back())));
}

const Encoding *nearestToSplit(EncodingPool &pool, const Encoding *src, llvm::ArrayRef<int64_t> srcShape) {
  if (srcShape.size() < 2 || srcShape.size() != src->rank() || srcShape.back() != 2) return nullptr;
  auto &l = src->layoutOf(srcShape);
  if (!l.ok()) return nullptr;
  unsigned last = srcShape.size() - 1;
  auto distance = [&](const Basis &b) {
    int64_t at = 0;
    for (unsigned d = 0; d < srcShape.size(); ++d) at = at * srcShape[d] + b[d];
    return at;
  };
  llvm::SmallVector<LinearLayout::InDim, 4> ins(l->ins());
  Basis *half = nullptr, *farthest = nullptr;
  for (auto &i : ins)
    for (Basis &b : i.bases) {
      if (b[last]) {
        bool isMovable = i.dim == Dim::Lane || i.dim == Dim::Warp;
        if (half || !isMovable || llvm::count_if(b, [](auto x) { return x != 0; }) != 1) return nullptr;
        half = &b;
      } else if (i.dim == Dim::Register && distance(b) && (!farthest || distance(b) > distance(*farthest))) {
        farthest = &b;
      }
    }
  if (!half || !farthest) return nullptr;
  std::swap(*half, *farthest);
  return linearEncodingOf(pool, LinearLayout(std::move(ins), llvm::SmallVector<LinearLayout::OutDim, 4>(l->outs())));
}

const Encoding *inferReduce(EncodingPool &pool, const Encoding *src, int64_t axis) {
  return orNull(pool.getSlice(axis, src));
}

bool holdCopiesAlike(const LinearLayout &a, const LinearLayout &b) {
  // Both maps have one kernel: each column is the same sum of columns before it, or independent of them, in both.
  F2Span ofA, ofB;
  for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp, Dim::Block}) {
    auto x = a.columns(d), y = b.columns(d);
    if (x.size() != y.size()) return false;
    for (size_t bit = 0; bit < x.size(); ++bit) {
      if (ofA.solve(x[bit]) != ofB.solve(y[bit])) return false;
      ofA.add(x[bit]);
      ofB.add(y[bit]);
    }
  }
  return true;
}

} // namespace tessera::layouts
