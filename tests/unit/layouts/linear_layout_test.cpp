// The laws of linear layouts (layouts/linear_layout.h), over all points of hundreds of generated layouts.
#include "generated.h"
#include "layouts/infer.h"
#include "gtest/gtest.h"
#include <set>

namespace tessera::layouts::test {
namespace {

using In = llvm::ArrayRef<std::pair<Dim, int32_t>>;
constexpr Dim R = Dim::Register, L = Dim::Lane, W = Dim::Warp, D0 = Dim::Dim0, D1 = Dim::Dim1, D2 = Dim::Dim2;

int64_t flat(const LinearLayout &l, In x) {
  int64_t v = 0, scale = 1;
  auto y = l.apply(x);
  for (unsigned o = 0; o < y.size(); ++o) {
    v += y[o] * scale;
    scale *= l.outs()[o].size;
  }
  return v;
}

TEST(LinearLayout, IsLinear) {
  Generator g(1);
  for (int n = 0; n < 200; ++n) {
    auto l = g.any({R, L, W}, {D0, D1});
    forEachInput(l, [&](In x) {
      auto y = llvm::SmallVector<std::pair<Dim, int32_t>, 4>(x), z = y;
      for (auto &v : y) v.second = g.below(l.inDimSize(v.first));
      for (unsigned i = 0; i < z.size(); ++i) z[i].second = x[i].second ^ y[i].second;
      EXPECT_EQ(flat(l, x) ^ flat(l, y), flat(l, z));
    });
  }
}

TEST(LinearLayout, OneDimensional) {
  for (int32_t size : {1, 2, 8, 64})
    for (int32_t stride : {1, 4}) {
      auto i = LinearLayout::identity1D(size, L, D0), s = LinearLayout::strided1D(size, stride, L, D0),
           z = LinearLayout::zeros1D(size, L, D0, 8);
      for (int32_t x = 0; x < size; ++x) {
        EXPECT_EQ(i.apply({{L, x}})[0], x);
        EXPECT_EQ(s.apply({{L, x}})[0], stride * x);
        EXPECT_EQ(z.apply({{L, x}})[0], 0);
      }
      EXPECT_EQ(z.outDimSize(D0), 8);
      EXPECT_EQ(i.inDimSize(L), size);
    }
}

TEST(LinearLayout, Product) {
  Generator g(2);
  for (int n = 0; n < 300; ++n) {
    auto a = g.any({R, L}, n % 3 ? llvm::ArrayRef<Dim>{D0, D1} : llvm::ArrayRef<Dim>{D1}, 2),
         b = g.any({L, W}, {D1, D0, D2}, 2), ab = a * b;
    forEachInput(ab, [&](In x) {
      llvm::SmallVector<std::pair<Dim, int32_t>, 4> low, high;
      for (auto &[d, v] : x) {
        low.push_back({d, v % a.inDimSize(d)});
        high.push_back({d, v / a.inDimSize(d)});
      }
      auto ya = at(a, low), yb = at(b, high);
      for (auto &[d, v] : at(ab, x)) EXPECT_EQ(v, valueOf(ya, d) + a.outDimSize(d) * valueOf(yb, d));
    });
    EXPECT_EQ(ab.totalInBits(), a.totalInBits() + b.totalInBits());
  }
}

TEST(LinearLayout, Invert) {
  Generator g(5);
  for (int n = 0; n < 300; ++n) {
    unsigned r = g.below(4), l = g.below(4), w = g.below(3), d0 = g.below(r + l + w + 1);
    auto a = g.bijective({{R, r}, {L, l}, {W, w}}, {{D0, 1 << d0}, {D1, 1 << (r + l + w - d0)}});
    ASSERT_TRUE(a.isInvertible());
    auto i = a.invert();
    forEachInput(a, [&](In x) {
      auto back = at(i, at(a, x));
      for (auto &[d, v] : x) EXPECT_EQ(valueOf(back, d), v);
    });
    EXPECT_EQ(i.invert(), a);
  }
}

TEST(LinearLayout, PseudoInvertIsRightInverseOnTheImage) {
  Generator g(6);
  for (int n = 0; n < 300; ++n) {
    auto a = g.any({R, L, W}, {D0, D1}, 3);
    if (!a.isSurjective()) continue;
    auto i = a.pseudoInvert();
    forEachInput(i, [&](In y) {
      auto again = at(a, at(i, y));
      for (auto &[d, v] : y) EXPECT_EQ(valueOf(again, d), v);
    });
  }
}

TEST(LinearLayout, InvertAndCompose) {
  Generator g(7);
  int done = 0;
  for (int n = 0; n < 2000 && done < 300; ++n) {
    auto outer = g.any({R, L, W}, {D0, D1}, 3);
    if (!outer.isSurjective()) continue;
    auto inner = g.any({R, L, W}, {D1, D0}, 3);
    if (inner.outDimSize(D0) > outer.outDimSize(D0) || inner.outDimSize(D1) > outer.outDimSize(D1)) continue;
    ++done;
    auto c = inner.invertAndCompose(outer);
    forEachInput(inner, [&](In x) {
      auto y = at(outer, at(c, x));
      for (auto &[d, v] : at(inner, x)) EXPECT_EQ(valueOf(y, d), v);
    });
  }
  EXPECT_GE(done, 100);
}

TEST(LinearLayout, InvertAndComposeLeavesInPlaceWhatItCan) {
  Generator g(8);
  for (int n = 0; n < 200; ++n) {
    auto a = g.any({R, L, W}, {D0, D1}, 3);
    auto c = a.invertAndCompose(a);
    // Lanes and warps need not move, whatever copies there are.
    for (Dim d : {L, W})
      for (unsigned b = 0; b < a.inDimBits(d); ++b)
        for (auto &o : c.outs()) EXPECT_EQ(c.basis(d, b, o.dim), o.dim == d ? 1 << b : 0);
  }
}

TEST(LinearLayout, ReshapesKeepTheFlatIndex) {
  Generator g(9);
  for (int n = 0; n < 200; ++n) {
    auto a = g.any({R, L, W}, {D0, D1}, 3);
    unsigned bits = a.totalOutBits(), k = g.below(bits + 1);
    auto r = a.reshapeOuts({{D0, 1 << k}, {D1, 1}, {D2, 1 << (bits - k)}});
    auto f = a.flattenOuts(D0);
    forEachInput(a, [&](In x) {
      EXPECT_EQ(flat(r, x), flat(a, x));
      EXPECT_EQ(f.apply(x)[0], flat(a, x));
    });
    auto i = a.reshapeIns({{Dim::Offset, 1 << a.totalInBits()}});
    int32_t point = 0;
    forEachInput(a, [&](In x) { EXPECT_EQ(flat(i, {{Dim::Offset, point++}}), flat(a, x)); });
    llvm::SmallVector<std::pair<Dim, int32_t>, 4> sizes;
    for (auto &in : a.ins()) sizes.push_back({in.dim, a.inDimSize(in.dim)});
    EXPECT_EQ(i.reshapeIns(sizes), a);
  }
}

TEST(LinearLayout, TransposesAndSublayoutsKeepNamedValues) {
  Generator g(10);
  for (int n = 0; n < 200; ++n) {
    auto a = g.any({R, L, W}, {D0, D1, D2}, 2);
    auto t = a.transposeOuts({D2, D0, D1}).transposeIns({W, R, L});
    auto s = a.sublayout({L, W}, {D1});
    forEachInput(a, [&](In x) {
      auto y = at(a, x);
      for (auto &[d, v] : at(t, x)) EXPECT_EQ(v, valueOf(y, d));
    });
    forEachInput(s, [&](In x) { EXPECT_EQ(s.apply(x)[0], valueOf(at(a, x), D1)); });
    EXPECT_EQ(a.sublayout({R}, {D0, D1, D2}).concatIns(a.sublayout({L, W}, {D0, D1, D2})), a);
    EXPECT_EQ(a.sublayout({R, L, W}, {D0}).concatOuts(a.sublayout({R, L, W}, {D1, D2})), a);
    EXPECT_EQ(t.transposeOuts({D0, D1, D2}).transposeIns({R, L, W}), a);
  }
}

TEST(LinearLayout, RankCountsTheImage) {
  Generator g(11);
  for (int n = 0; n < 300; ++n) {
    auto a = g.any({R, L, W}, {D0, D1}, 3);
    std::set<int64_t> image, ofFree;
    forEachInput(a, [&](In x) { image.insert(flat(a, x)); });
    EXPECT_EQ(int64_t(1) << a.rank(), int64_t(image.size()));
    EXPECT_EQ(a.isSurjective(), int64_t(image.size()) == int64_t(1) << a.totalOutBits());
    EXPECT_EQ(a.isInjective(), int64_t(image.size()) == int64_t(1) << a.totalInBits());
    // Inputs whose free bits are zero reach everything, each once.
    auto masks = a.freeVariableMasks();
    int64_t kept = 0;
    forEachInput(a, [&](In x) {
      for (auto &[d, v] : x)
        if (v & valueOf(masks, d)) return;
      ++kept;
      ofFree.insert(flat(a, x));
    });
    EXPECT_EQ(kept, int64_t(image.size()));
    EXPECT_EQ(ofFree, image);
  }
}

TEST(LinearLayout, Prints) {
  auto l = LinearLayout::identity1D(2, R, D1) * LinearLayout::identity1D(4, L, D1) * LinearLayout::zeros1D(1, W, D0) *
           LinearLayout::identity1D(2, L, D0);
  EXPECT_EQ(l.str(), " - register=1 -> (1, 0)\n"
                     " - lane=1 -> (2, 0)\n"
                     "   lane=2 -> (4, 0)\n"
                     "   lane=4 -> (0, 1)\n"
                     " - warp is a size 1 dimension\n"
                     "where out dims are: [dim1 (size 8), dim0 (size 2)]");
}

/// Two places hold one element by both layouts or by neither.
TEST(Laws, LayoutsThatHoldCopiesAlike) {
  Generator g(31);
  const Dim ins[] = {Dim::Register, Dim::Lane, Dim::Warp};
  auto element = [](const LinearLayout &l, int r, int lane, int warp) {
    return l.apply({{Dim::Register, r}, {Dim::Lane, lane}, {Dim::Warp, warp}});
  };
  int alike = 0;
  for (int round = 0; round < 3000; ++round) {
    LinearLayout a = g.any(ins, {Dim::Dim0}, 2), b = g.any(ins, {Dim::Dim0, Dim::Dim1}, 2);
    bool same = true;
    for (Dim d : ins) same &= a.inDimSize(d) == b.inDimSize(d);
    // The maps are linear: it is enough to compare each place with the first.
    for (int r = 0; same && r < a.inDimSize(Dim::Register); ++r)
      for (int lane = 0; lane < a.inDimSize(Dim::Lane); ++lane)
        for (int warp = 0; warp < a.inDimSize(Dim::Warp); ++warp)
          same &=
              (element(a, r, lane, warp) == element(a, 0, 0, 0)) == (element(b, r, lane, warp) == element(b, 0, 0, 0));
    EXPECT_EQ(holdCopiesAlike(a, b), same) << a.str() << b.str();
    alike += same;
  }
  EXPECT_GT(alike, 10); // both answers are met
}

} // namespace
} // namespace tessera::layouts::test
