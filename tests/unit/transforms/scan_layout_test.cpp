// The layouts that choose-scan-layouts picks, over random ones: the axis is in order, every element is held, threads
// and registers are as many, and what the source has of the other dimensions stays where it is.
#include "layouts/scan_shape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>
#include <random>

namespace tessera {
namespace {

using layouts::Basis;
using layouts::Dim;
using layouts::LinearLayout;

/// Units distributed over registers, lanes and warps at random, with copies; `mixed`: some bases are sums.
LinearLayout random(std::mt19937 &rng, bool mixed) {
  auto below = [&](unsigned n) { return unsigned(rng() % n); };
  unsigned rank = 1 + below(3), lanes = below(2) ? 5 : 6, warps = below(4);
  llvm::SmallVector<LinearLayout::OutDim, 4> outs;
  std::vector<Basis> units;
  for (unsigned d = 0; d < rank; ++d) {
    unsigned bits = below(d ? 5 : 7) + (d ? 0 : 1);
    outs.push_back({layouts::tensorDim(d), 1 << bits});
    for (unsigned b = 0; b < bits; ++b) {
      Basis x(rank, 0);
      x[d] = 1 << b;
      units.push_back(x);
    }
  }
  std::shuffle(units.begin(), units.end(), rng);
  unsigned registers = below(3) + (units.size() > lanes + warps ? units.size() - lanes - warps : 0);
  std::vector<Basis> places(registers + lanes + warps, Basis(rank, 0));
  std::vector<unsigned> order(places.size());
  for (unsigned k = 0; k < order.size(); ++k) order[k] = k;
  std::shuffle(order.begin(), order.end(), rng);
  for (unsigned k = 0; k < units.size(); ++k) places[order[k]] = units[k];
  if (mixed)
    for (unsigned k = 1; k < units.size(); ++k) // triangular: as independent as before
      if (below(3) == 0)
        for (unsigned d = 0; d < rank; ++d) places[order[k]][d] ^= places[order[k - 1]][d];
  if (mixed && units.size() < places.size()) places[order[units.size()]] = units[0]; // two have the same
  LinearLayout::InDim in[3] = {{Dim::Register, {}}, {Dim::Lane, {}}, {Dim::Warp, {}}};
  for (unsigned k = 0; k < places.size(); ++k)
    in[k < registers ? 0 : k < registers + lanes ? 1 : 2].bases.push_back(places[k]);
  return LinearLayout({in[0], in[1], in[2]}, outs);
}

TEST(ScanLayout, Laws) {
  std::mt19937 rng(7);
  unsigned outOfOrder = 0;
  for (int n = 0; n < 4000; ++n) {
    bool mixed = n & 1;
    LinearLayout from = random(rng, mixed);
    int axis = int(rng() % from.numOutDims());
    LinearLayout to = layouts::scanLayout(from, axis);
    outOfOrder += !layouts::scanShape(from, axis).inOrder;
    ASSERT_TRUE(from.isSurjective());
    EXPECT_TRUE(layouts::scanShape(to, axis).inOrder);
    EXPECT_TRUE(to.isSurjective());
    EXPECT_TRUE(to.outs() == from.outs());
    for (Dim d : {Dim::Register, Dim::Lane, Dim::Warp}) {
      ASSERT_EQ(to.inDimBits(d), from.inDimBits(d));
      for (unsigned bit = 0; bit < from.inDimBits(d) && !mixed; ++bit)
        for (unsigned k = 0; k < from.numOutDims(); ++k) {
          if (int(k) != axis)
            EXPECT_EQ(to.basis(d, bit)[k], from.basis(d, bit)[k]);
          else
            EXPECT_EQ(to.basis(d, bit)[k] != 0, from.basis(d, bit)[k] != 0);
        }
    }
  }
  EXPECT_GT(outOfOrder, 1000u); // the source was not in order anyway
}

} // namespace
} // namespace tessera
