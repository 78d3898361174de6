// Layouts drawn at random (with fixed seeds, so that a failure repeats) for tests that assert laws over all points.
#pragma once
#include "layouts/encoding_pool.h"
#include "layouts/linear_layout.h"
#include <random>

namespace tessera::layouts::test {

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}
  unsigned below(unsigned n) { return random_() % n; }
  int32_t powerOfTwo(unsigned maxLog) { return 1 << below(maxLog + 1); }

  /// Any bases: neither injective nor surjective.
  LinearLayout any(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs, unsigned maxBits = 3) {
    llvm::SmallVector<LinearLayout::OutDim, 4> o;
    for (auto d : outs) o.push_back({d, powerOfTwo(maxBits)});
    llvm::SmallVector<LinearLayout::InDim, 4> i;
    for (auto d : ins) {
      LinearLayout::InDim in{d, {}};
      for (unsigned n = below(maxBits + 1); n-- > 0;) {
        Basis b;
        for (auto &x : o) b.push_back(below(x.size));
        in.bases.push_back(b);
      }
      i.push_back(in);
    }
    return LinearLayout(i, o);
  }

  /// A bijection between these input bits and outputs of the given sizes.
  LinearLayout bijective(llvm::ArrayRef<std::pair<Dim, unsigned>> inBits, llvm::ArrayRef<LinearLayout::OutDim> outs) {
    unsigned total = 0;
    for (auto &i : inBits) total += i.second;
    llvm::SmallVector<uint64_t, 24> columns;
    for (F2Span span; columns.size() < total;) {
      uint64_t v = (uint64_t(random_()) << 32 | random_()) & ((uint64_t(1) << total) - 1);
      if (span.add(v)) columns.push_back(v);
    }
    llvm::SmallVector<std::pair<Dim, int32_t>, 4> dims;
    for (auto &i : inBits) dims.push_back({i.first, 1 << i.second});
    return LinearLayout::fromColumns(Dim::Offset, columns, outs).reshapeIns(dims);
  }

  llvm::SmallVector<int64_t, 4> shape(unsigned rank, unsigned maxLogTotal) {
    llvm::SmallVector<int64_t, 4> s(rank, 1);
    for (unsigned n = below(maxLogTotal + 1); n-- > 0;) s[below(rank)] *= 2;
    return s;
  }

  /// A blocked encoding with this many lanes and warps.
  const BlockedEncoding *blocked(EncodingPool &pool, unsigned rank, int lanes, int warps) {
    BlockedParams p;
    p.sizePerThread.assign(rank, 1);
    p.threadsPerWarp.assign(rank, 1);
    p.warpsPerCta.assign(rank, 1);
    for (unsigned d = 0; d < rank; ++d) p.order.push_back(d);
    for (unsigned d = rank; d-- > 1;) std::swap(p.order[d], p.order[below(d + 1)]);
    for (unsigned n = below(5); n-- > 0;) p.sizePerThread[below(rank)] *= 2;
    for (; lanes > 1; lanes /= 2) p.threadsPerWarp[below(rank)] *= 2;
    for (; warps > 1; warps /= 2) p.warpsPerCta[below(rank)] *= 2;
    return *pool.getBlocked(p);
  }

private:
  std::mt19937 random_;
};

/// Calls f with every point of the input space.
template <class F> void forEachInput(const LinearLayout &l, F f) {
  for (int64_t n = 0; n < int64_t(1) << l.totalInBits(); ++n) {
    llvm::SmallVector<std::pair<Dim, int32_t>, 4> x;
    int64_t rest = n;
    for (auto &i : l.ins()) {
      int32_t size = l.inDimSize(i.dim);
      x.push_back({i.dim, int32_t(rest % size)});
      rest /= size;
    }
    f(llvm::ArrayRef<std::pair<Dim, int32_t>>(x));
  }
}

inline int32_t valueOf(llvm::ArrayRef<std::pair<Dim, int32_t>> x, Dim d) {
  for (auto &[dim, v] : x)
    if (dim == d) return v;
  return 0;
}

/// The image of a point as named values.
inline llvm::SmallVector<std::pair<Dim, int32_t>, 4> at(const LinearLayout &l,
                                                        llvm::ArrayRef<std::pair<Dim, int32_t>> x) {
  llvm::SmallVector<std::pair<Dim, int32_t>, 4> out;
  auto y = l.apply(x);
  for (unsigned o = 0; o < y.size(); ++o) out.push_back({l.outs()[o].dim, y[o]});
  return out;
}

} // namespace tessera::layouts::test
