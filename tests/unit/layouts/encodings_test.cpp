// What encodings mean, against definitions written independently of linear layouts: index arithmetic for blocked, the
// formula of the swizzle, the tables of the PTX ISA and of AMD's instruction set manuals for the matrix fragments. And
// what encodings look like as text.
#include "generated.h"
#include "layouts/layout_order.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <set>

namespace tessera::layouts::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

LinearLayout layoutOf(const Encoding *e, llvm::ArrayRef<int64_t> shape) {
  auto l = e->toLinearLayout(shape);
  EXPECT_TRUE(l.ok()) << l.status();
  return *l;
}
Basis place(const LinearLayout &l, int reg, int lane, int warp = 0) {
  return l.apply({{Dim::Register, reg}, {Dim::Lane, lane}, {Dim::Warp, warp}});
}

/// Digits of n over the sizes, fastest dimension first by `order`; what is left is returned in `rest`.
llvm::SmallVector<int64_t, 4> digits(int64_t n, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int32_t> order,
                                     int64_t &rest) {
  llvm::SmallVector<int64_t, 4> c(sizes.size());
  for (auto d : order) {
    c[d] = n % sizes[d];
    n /= sizes[d];
  }
  rest = n;
  return c;
}

TEST(Blocked, IsIndexArithmetic) {
  Generator g(20);
  EncodingPool pool;
  for (int n = 0; n < 300; ++n) {
    unsigned rank = 1 + g.below(3);
    auto shape = g.shape(rank, 10);
    auto *e = g.blocked(pool, rank, g.below(2) ? 32 : 64, g.powerOfTwo(3));
    auto l = layoutOf(e, shape);
    llvm::SmallVector<int64_t, 4> size(e->sizePerThread()), lanes(e->threadsPerWarp()), warps(e->warpsPerCta()), reps;
    for (unsigned d = 0; d < rank; ++d)
      reps.push_back(std::max<int64_t>(1, shape[d] / (size[d] * lanes[d] * warps[d])));
    int64_t numLanes = 1, numWarps = 1, numRegs = 1;
    for (unsigned d = 0; d < rank; ++d) numLanes *= lanes[d], numWarps *= warps[d], numRegs *= size[d] * reps[d];
    ASSERT_EQ(l.inDimSize(Dim::Lane), numLanes);
    ASSERT_EQ(l.inDimSize(Dim::Warp), numWarps);
    ASSERT_EQ(l.inDimSize(Dim::Register), numRegs);
    for (int w = 0; w < numWarps; ++w)
      for (int t = 0; t < numLanes; ++t)
        for (int r = 0; r < numRegs; ++r) {
          int64_t rest;
          auto in = digits(r, size, e->order(), rest), rep = digits(rest, reps, e->order(), rest),
               lane = digits(t, lanes, e->order(), rest), warp = digits(w, warps, e->order(), rest);
          auto x = place(l, r, t, w);
          for (unsigned d = 0; d < rank; ++d)
            ASSERT_EQ(x[d], (((rep[d] * warps[d] + warp[d]) * lanes[d] + lane[d]) * size[d] + in[d]) % shape[d])
                << e->str();
        }
    EXPECT_TRUE(l.isSurjective());
  }
}

TEST(Blocked, OverBlocksOfACluster) {
  EncodingPool pool;
  BlockedParams p{{1, 1}, {1, 32}, {4, 1}, {1, 0}, {}};
  p.cta.bases = {{0, 1}, {1, 0}};
  auto *e = *pool.getBlocked(p);
  EXPECT_EQ(e->str(), "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = "
                      "[1, 0], CGALayout = [[0, 1], [1, 0]]}>");
  auto l = layoutOf(e, {64, 64});
  EXPECT_EQ(l.inDimSize(Dim::Register), 8); // 32 by 32 per block, 4 by 32 per pass
  EXPECT_THAT(l.apply({{Dim::Block, 1}}), ElementsAre(0, 32));
  EXPECT_THAT(l.apply({{Dim::Block, 2}}), ElementsAre(32, 0));
  EXPECT_TRUE(l.isInvertible());
  // The older spelling of the same.
  EXPECT_EQ(CtaLayout::fromSplitParams({2, 2}, {2, 2}, {1, 0}), p.cta);
  EXPECT_THAT(CtaLayout::fromSplitParams({2, 1}, {1, 1}, {1, 0}).bases, ElementsAre(Basis{0, 0}));
  // A dot operand's blocks all hold K.
  auto *a = *pool.getDotOperand(0, e, 0);
  EXPECT_THAT(layoutOf(a, {64, 16}).apply({{Dim::Block, 1}}), ElementsAre(0, 0));
  EXPECT_THAT(layoutOf(a, {64, 16}).apply({{Dim::Block, 2}}), ElementsAre(32, 0));
}

TEST(Slice, IsTheParentWithoutADimension) {
  Generator g(21);
  EncodingPool pool;
  for (int n = 0; n < 200; ++n) {
    unsigned rank = 2 + g.below(2), dim = g.below(rank);
    auto *parent = g.blocked(pool, rank, 32, 4);
    auto *e = *pool.getSlice(dim, parent);
    auto shape = g.shape(rank - 1, 8);
    llvm::SmallVector<int64_t, 4> parentShape(shape);
    parentShape.insert(parentShape.begin() + dim, 1);
    auto l = layoutOf(e, shape), pl = layoutOf(parent, parentShape);
    for (int w = 0; w < 4; ++w)
      for (int t = 0; t < 32; ++t) {
        std::vector<Basis> want, have; // a thread's elements, in order, each once
        for (int r = 0; r < pl.inDimSize(Dim::Register); ++r) {
          auto x = place(pl, r, t, w);
          x.erase(x.begin() + dim);
          if (!llvm::is_contained(want, x)) want.push_back(x);
        }
        for (int r = 0; r < l.inDimSize(Dim::Register); ++r) have.push_back(place(l, r, t, w));
        EXPECT_EQ(have, want);
      }
  }
}

TEST(DotOperand, OverBlockedHoldsAllOfK) {
  Generator g(22);
  EncodingPool pool;
  for (int n = 0; n < 100; ++n) {
    auto *parent = g.blocked(pool, 2, 32, 4);
    int64_t m = g.powerOfTwo(6), k = g.powerOfTwo(4), nn = g.powerOfTwo(6);
    auto c = layoutOf(parent, {m, nn}), a = layoutOf(*pool.getDotOperand(0, parent, 0), {m, k}),
         b = layoutOf(*pool.getDotOperand(1, parent, 0), {k, nn});
    for (int w = 0; w < 4; ++w)
      for (int t = 0; t < 32; ++t) {
        std::set<int32_t> rows, cols;
        std::set<std::pair<int32_t, int32_t>> wantA, wantB, haveA, haveB;
        for (int r = 0; r < c.inDimSize(Dim::Register); ++r)
          rows.insert(place(c, r, t, w)[0]), cols.insert(place(c, r, t, w)[1]);
        for (int32_t kk = 0; kk < k; ++kk) {
          for (auto x : rows) wantA.insert({x, kk});
          for (auto x : cols) wantB.insert({kk, x});
        }
        for (int r = 0; r < a.inDimSize(Dim::Register); ++r) haveA.insert({place(a, r, t, w)[0], place(a, r, t, w)[1]});
        for (int r = 0; r < b.inDimSize(Dim::Register); ++r) haveB.insert({place(b, r, t, w)[0], place(b, r, t, w)[1]});
        EXPECT_EQ(haveA, wantA) << parent->str();
        EXPECT_EQ(haveB, wantB) << parent->str();
      }
  }
}

TEST(SwizzledShared, IsTheFormula) {
  Generator g(23);
  EncodingPool pool;
  for (int n = 0; n < 200; ++n) {
    int32_t vec = g.powerOfTwo(3), perPhase = g.powerOfTwo(2), maxPhase = g.powerOfTwo(3);
    int64_t rows = g.powerOfTwo(6), cols = vec * maxPhase * g.powerOfTwo(2);
    bool rowMajor = g.below(2);
    auto *e =
        *pool.getSwizzledShared({vec,
                                 perPhase,
                                 maxPhase,
                                 rowMajor ? llvm::SmallVector<int32_t, 4>{1, 0} : llvm::SmallVector<int32_t, 4>{0, 1},
                                 {}});
    auto l = layoutOf(e, rowMajor ? llvm::ArrayRef<int64_t>{rows, cols} : llvm::ArrayRef<int64_t>{cols, rows});
    for (int32_t r = 0; r < rows; ++r)
      for (int32_t c = 0; c < cols; ++c) {
        int32_t offset = r * cols + ((c / vec) ^ ((r / perPhase) % maxPhase)) * vec + c % vec;
        auto x = l.apply({{Dim::Offset, offset}});
        ASSERT_EQ(x[rowMajor ? 0 : 1], r);
        ASSERT_EQ(x[rowMajor ? 1 : 0], c);
      }
  }
}

/// wgmma reads transposed views of buffers: each element is where the untransposed layout has it, also if both
/// dimensions are longer than a box (256, or the width of the swizzle).
TEST(NvmmaShared, TransposedViewsAreTheSameMemory) {
  EncodingPool pool;
  for (int32_t width : {0, 32, 64, 128})
    for (std::pair<int64_t, int64_t> shape :
         {std::pair<int64_t, int64_t>{16, 64}, {512, 64}, {512, 128}, {8, 512}, {256, 512}}) {
      auto [rows, columns] = shape;
      auto straight = layoutOf(*pool.getNvmmaShared({width, false, 16, false, {}, 2}), {rows, columns});
      auto view = layoutOf(*pool.getNvmmaShared({width, true, 16, false, {}, 2}), {columns, rows});
      for (unsigned bit = 0; bit < straight.inDimBits(Dim::Offset); ++bit) {
        auto at = straight.basis(Dim::Offset, bit), viewed = view.basis(Dim::Offset, bit);
        ASSERT_EQ(at[0], viewed[1]) << width << ", " << rows << " x " << columns << ", bit " << bit;
        ASSERT_EQ(at[1], viewed[0]) << width << ", " << rows << " x " << columns << ", bit " << bit;
      }
    }
}

TEST(NvmmaShared, IsTheHardwaresAddressSwizzle) {
  // The PTX ISA's swizzle modes: address bits 4… are xored with bits 7…: three bits for 128 bytes, two for 64, one
  // for 32.
  EncodingPool pool;
  for (int32_t width : {32, 64, 128})
    for (int32_t bits : {8, 16, 32})
      for (bool transposed : {false, true})
        for (auto [rows, boxes] : {std::pair<int64_t, int64_t>{8, 1}, {64, 1}, {128, 4}}) {
          int64_t box = width * 8 / bits, cols = box * boxes;
          auto *e = *pool.getNvmmaShared({width, transposed, bits, false, {}, 2});
          auto l = layoutOf(e, transposed ? llvm::ArrayRef<int64_t>{cols, rows} : llvm::ArrayRef<int64_t>{rows, cols});
          for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < cols; ++c) {
              int64_t address = (c / box * rows + r) * width + c % box * bits / 8;
              address ^= (address >> 7 & (width / 16 - 1)) << 4;
              auto x = l.apply({{Dim::Offset, int32_t(address * 8 / bits)}});
              ASSERT_EQ(x[transposed ? 1 : 0], r);
              ASSERT_EQ(x[transposed ? 0 : 1], c);
            }
        }
  auto plain = layoutOf(*pool.getNvmmaShared({0, false, 16, false, {}, 2}), {16, 64});
  for (int32_t i = 0; i < 1024; ++i) EXPECT_THAT(plain.apply({{Dim::Offset, i}}), ElementsAre(i / 64, i % 64));
  auto plainTransposed = layoutOf(*pool.getNvmmaShared({0, true, 16, false, {}, 2}), {16, 64});
  for (int32_t i = 0; i < 1024; ++i)
    EXPECT_THAT(plainTransposed.apply({{Dim::Offset, i}}), ElementsAre(i % 16, i / 16));
  EXPECT_THAT((*pool.getNvmmaShared({128, false, 16, false, {}, 2}))->toLinearLayout({64, 32}).status().message(),
              HasSubstr("dimension 1 of the block has 32 elements but a swizzle of 128 bytes needs 64"));
}

TEST(PaddedShared, PadsOffsets) {
  EncodingPool pool;
  auto *e = *pool.getPaddedShared({{{256, 8}, {512, 16}}, PaddedSharedEncoding::identityLayout({1, 0}, {16, 64})});
  EXPECT_EQ(e->str(), "#ttg.padded_shared<[256:+8, 512:+16] {order = [1, 0], shape = [16, 64]}>");
  EXPECT_EQ(e->paddedOffset(255), 255);
  EXPECT_EQ(e->paddedOffset(256), 264);
  EXPECT_EQ(e->paddedOffset(512), 512 + 16 + 16);
  EXPECT_EQ(e->paddedSize(1024), 1023 + 3 * 8 + 16 + 1);
  EXPECT_THAT(layoutOf(e, {16, 64}).apply({{Dim::Offset, 65}}), ElementsAre(1, 1));
}

// ---- matrix instructions: PTX ISA, "Matrix Fragments for mma…" and wgmma's register fragments -----------------------

// "Matrix Fragments for mma.m8n8k4": each quad pair of lanes has a dot of its own, 8 by 8 by 4. Which rows and columns
// of the tensor those are is read off the operands; then every accumulator must be where the instruction leaves it.
TEST(NvidiaMma, VoltaQuadPairs) {
  EncodingPool pool;
  auto *e = *pool.getNvidiaMma({1, 0, {2, 1}, {16, 16}, {}});
  auto a = layoutOf(*pool.getDotOperand(0, e, 0), {32, 4}), b = layoutOf(*pool.getDotOperand(1, e, 0), {4, 16});
  auto c = layoutOf(e, {32, 16});
  ASSERT_EQ(a.inDimSize(Dim::Register), 4);
  ASSERT_EQ(b.inDimSize(Dim::Register), 4);
  ASSERT_EQ(c.inDimSize(Dim::Register), 8);
  for (int warp = 0; warp < 2; ++warp)
    for (int pair = 0; pair < 4; ++pair) {
      auto lane = [&](int x) { return x % 4 + 4 * pair + (x < 4 ? 0 : 16); }; // of row or column x of the quad pair
      int row[8], col[8];
      for (int x = 0; x < 8; ++x)
        for (int k = 0; k < 4; ++k) {
          row[x] = place(a, k, lane(x), warp)[0], col[x] = place(b, k, lane(x), warp)[1];
          EXPECT_EQ(place(a, k, lane(x), warp)[1], k);
          EXPECT_EQ(place(b, k, lane(x), warp)[0], k);
        }
      for (int x = 0; x < 8; ++x) { // x: place of the lane in its quad pair
        int t = lane(x);
        for (int i = 0; i < 8; ++i)
          EXPECT_THAT(place(c, i, t, warp),
                      ElementsAre(row[(t & 1) + (i & 2) + (t < 16 ? 0 : 4)], col[(i & 4) + (t & 2) + (i & 1)]));
      }
    }
  EXPECT_EQ(place(c, 0, 0, 1)[0], 16); // warps along M first
}

TEST(NvidiaMma, AccumulatorOfM16N8) {
  EncodingPool pool;
  auto *e = *pool.getNvidiaMma({2, 0, {2, 2}, {16, 8}, {}});
  auto l = layoutOf(e, {32, 32}); // two repetitions along N
  ASSERT_EQ(l.inDimSize(Dim::Register), 8);
  for (int w = 0; w < 4; ++w)
    for (int t = 0; t < 32; ++t)
      for (int i = 0; i < 8; ++i)
        EXPECT_THAT(place(l, i, t, w),
                    ElementsAre(w / 2 * 16 + t / 4 + (i / 2 % 2) * 8, i / 4 * 16 + w % 2 * 8 + t % 4 * 2 + i % 2));
}

TEST(NvidiaMma, OperandsOfM16N8K16HalfPrecision) {
  EncodingPool pool;
  auto *e = *pool.getNvidiaMma({2, 0, {1, 1}, {16, 8}, {}});
  auto a = layoutOf(*pool.getDotOperand(0, e, 2), {16, 16}), b = layoutOf(*pool.getDotOperand(1, e, 2), {16, 8});
  ASSERT_EQ(a.inDimSize(Dim::Register), 8);
  ASSERT_EQ(b.inDimSize(Dim::Register), 4);
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 8; ++i)
      EXPECT_THAT(place(a, i, t), ElementsAre(t / 4 + (i / 2 % 2 ? 8 : 0), t % 4 * 2 + i % 2 + (i < 4 ? 0 : 8)));
    for (int i = 0; i < 4; ++i) EXPECT_THAT(place(b, i, t), ElementsAre(t % 4 * 2 + i % 2 + (i < 2 ? 0 : 8), t / 4));
  }
}

TEST(NvidiaMma, OperandsOfOtherWidths) {
  EncodingPool pool;
  auto *e = *pool.getNvidiaMma({2, 0, {1, 1}, {16, 8}, {}});
  // m16n8k8 of tf32.
  auto a = layoutOf(*pool.getDotOperand(0, e, 1), {16, 8}), b = layoutOf(*pool.getDotOperand(1, e, 1), {8, 8});
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 4; ++i) EXPECT_THAT(place(a, i, t), ElementsAre(t / 4 + i % 2 * 8, t % 4 + i / 2 * 4));
    for (int i = 0; i < 2; ++i) EXPECT_THAT(place(b, i, t), ElementsAre(t % 4 + i * 4, t / 4));
  }
  // m16n8k32 of 8-bit integers.
  a = layoutOf(*pool.getDotOperand(0, e, 4), {16, 32}), b = layoutOf(*pool.getDotOperand(1, e, 4), {32, 8});
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 16; ++i)
      EXPECT_THAT(place(a, i, t), ElementsAre(t / 4 + (i / 4 % 2) * 8, t % 4 * 4 + i % 4 + (i < 8 ? 0 : 16)));
    for (int i = 0; i < 8; ++i) EXPECT_THAT(place(b, i, t), ElementsAre(t % 4 * 4 + i % 4 + (i < 4 ? 0 : 16), t / 4));
  }
  // m8n8k4 of f64.
  auto *d = *pool.getNvidiaMma({2, 0, {1, 1}, {8, 8}, {}});
  auto c = layoutOf(d, {8, 8});
  a = layoutOf(*pool.getDotOperand(0, d, 1), {8, 4}), b = layoutOf(*pool.getDotOperand(1, d, 1), {4, 8});
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 2; ++i) EXPECT_THAT(place(c, i, t), ElementsAre(t / 4, t % 4 * 2 + i));
    EXPECT_THAT(place(a, 0, t), ElementsAre(t / 4, t % 4));
    EXPECT_THAT(place(b, 0, t), ElementsAre(t % 4, t / 4));
  }
}

TEST(NvidiaMma, OperandsAreSharedByTheWarpsOfARowOrColumn) {
  EncodingPool pool;
  auto *e = *pool.getNvidiaMma({2, 0, {2, 4}, {16, 8}, {}});
  auto a = layoutOf(*pool.getDotOperand(0, e, 2), {64, 32}), b = layoutOf(*pool.getDotOperand(1, e, 2), {32, 64}),
       c = layoutOf(e, {64, 64});
  for (int w = 0; w < 8; ++w) {
    EXPECT_THAT(place(c, 0, 0, w), ElementsAre(w / 4 * 16, w % 4 * 8));
    EXPECT_THAT(place(a, 0, 0, w), ElementsAre(w / 4 * 16, 0));
    EXPECT_THAT(place(b, 0, 0, w), ElementsAre(0, w % 4 * 8));
  }
}

TEST(NvidiaMma, WgmmaFragments) {
  EncodingPool pool;
  auto *e = *pool.getNvidiaMma({3, 0, {4, 1}, {16, 64, 16}, {}});
  auto l = layoutOf(e, {64, 64}), a = layoutOf(*pool.getDotOperand(0, e, 2), {64, 16});
  for (int w = 0; w < 4; ++w)
    for (int t = 0; t < 32; ++t) {
      for (int i = 0; i < 32; ++i)
        EXPECT_THAT(place(l, i, t, w),
                    ElementsAre(16 * w + t / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (t % 4) + i % 2));
      for (int i = 0; i < 8; ++i)
        EXPECT_THAT(place(a, i, t, w),
                    ElementsAre(16 * w + t / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (t % 4) + i % 2));
    }
}

// AMD: "MI300 ISA", "Matrix Arithmetic Instructions"; "RDNA 3 ISA" and "RDNA 4 ISA", WMMA.
TEST(AmdMfma, Fragments) {
  EncodingPool pool;
  for (bool transposed : {false, true}) {
    auto at = [&](int32_t row, int32_t col) { return transposed ? ElementsAre(col, row) : ElementsAre(row, col); };
    auto l = layoutOf(*pool.getAmdMfma({3, {1, 1}, {32, 32, 8}, transposed, {}, {}, 32}), {32, 32});
    for (int t = 0; t < 64; ++t)
      for (int i = 0; i < 16; ++i) EXPECT_THAT(place(l, i, t), at(i / 4 * 8 + t / 32 * 4 + i % 4, t % 32));
    l = layoutOf(*pool.getAmdMfma({3, {1, 1}, {16, 16, 16}, transposed, {}, {}, 32}), {16, 16});
    for (int t = 0; t < 64; ++t)
      for (int i = 0; i < 4; ++i) EXPECT_THAT(place(l, i, t), at(t / 16 * 4 + i, t % 16));
    l = layoutOf(*pool.getAmdMfma({3, {1, 1}, {16, 16, 4}, transposed, {}, {}, 64}), {16, 16}); // f64: rows t/16 + 4 i
    for (int t = 0; t < 64; ++t)
      for (int i = 0; i < 4; ++i) EXPECT_THAT(place(l, i, t), at(i * 4 + t / 16, t % 16));
  }
  auto *e = *pool.getAmdMfma({3, {2, 2}, {32, 32, 8}, true, {}, {}, 32});
  auto a = layoutOf(*pool.getDotOperand(0, e, 4), {64, 16}), b = layoutOf(*pool.getDotOperand(1, e, 4), {16, 64}),
       c = layoutOf(e, {64, 64});
  for (int w = 0; w < 4; ++w)
    for (int t = 0; t < 64; ++t)
      for (int i = 0; i < 8; ++i) {
        EXPECT_THAT(place(a, i, t, w), ElementsAre(w / 2 * 32 + t % 32, i / 4 * 8 + t / 32 * 4 + i % 4));
        EXPECT_THAT(place(b, i, t, w), ElementsAre(i / 4 * 8 + t / 32 * 4 + i % 4, w % 2 * 32 + t % 32));
      }
  EXPECT_THAT(place(c, 0, 0, 3), ElementsAre(32, 32));
}

// v_mfma_…_4x4x4_16b: block t / 4 of 4 by 4 is the lanes' 4 (t / 4) to 4 (t / 4) + 3. The blocks stand side by side
// along the 64; of the side of 4, which is broadcast from a block, each block holds another part of K.
TEST(AmdMfma, FragmentsOfFourBySixtyFour) {
  EncodingPool pool;
  for (bool rows : {true, false}) { // which side has 4
    auto at = [&](int32_t narrow, int32_t wide) {
      return rows ? ElementsAre(narrow, wide) : ElementsAre(wide, narrow);
    };
    auto *e = *pool.getAmdMfma({3, {1, 1}, {rows ? 4 : 64, rows ? 64 : 4, 64}, !rows, {}, {}, 32});
    auto c = rows ? layoutOf(e, {4, 64}) : layoutOf(e, {64, 4});
    auto narrow =
        rows ? layoutOf(*pool.getDotOperand(0, e, 4), {4, 64}) : layoutOf(*pool.getDotOperand(1, e, 4), {64, 4});
    auto wide =
        rows ? layoutOf(*pool.getDotOperand(1, e, 4), {64, 64}) : layoutOf(*pool.getDotOperand(0, e, 4), {64, 64});
    EXPECT_EQ(narrow.inDimSize(Dim::Register), 4);
    EXPECT_EQ(wide.inDimSize(Dim::Register), 64);
    for (int t = 0; t < 64; ++t) {
      for (int i = 0; i < 4; ++i) {
        EXPECT_THAT(place(c, i, t), at(i, t));
        EXPECT_THAT(place(narrow, i, t), at(t % 4, t / 4 * 4 + i));
      }
      for (int k = 0; k < 64; ++k) EXPECT_THAT(place(wide, k, t), at(k, t));
    }
  }
}

TEST(AmdMfma, TilesRunAlongNFirst) {
  EncodingPool pool;
  auto l = layoutOf(*pool.getAmdMfma({3, {2, 2}, {16, 16, 16}, false, {}, {2, 2}, 32}), {128, 128});
  // Four registers of a tile, two tiles of the warp along N, then the next stretch of N, then the warp's tiles along M.
  EXPECT_THAT(place(l, 4, 0), ElementsAre(0, 16));
  EXPECT_THAT(place(l, 8, 0), ElementsAre(0, 64));
  EXPECT_THAT(place(l, 16, 0), ElementsAre(16, 0));
  EXPECT_THAT(place(l, 32, 0), ElementsAre(64, 0));
  EXPECT_THAT(place(l, 0, 0, 1), ElementsAre(0, 32));
  EXPECT_THAT(place(l, 0, 0, 2), ElementsAre(32, 0));
  EXPECT_TRUE(l.isInvertible());
}

TEST(AmdWmma, Fragments) {
  EncodingPool pool;
  for (int version : {1, 2})
    for (bool transposed : {false, true}) {
      auto at = [&](int32_t row, int32_t col) { return transposed ? ElementsAre(col, row) : ElementsAre(row, col); };
      auto *e = *pool.getAmdWmma({version, transposed, AmdWmmaParams::tilesOf({2, 2}), {}, {16, 16, 16}});
      auto l = layoutOf(e, {16, 16});
      int32_t kWidth = version == 1 ? 16 : 8;
      auto a = layoutOf(*pool.getDotOperand(0, e, kWidth), {32, 16}),
           b = layoutOf(*pool.getDotOperand(1, e, kWidth), {16, 32});
      for (int t = 0; t < 32; ++t) {
        for (int i = 0; i < 8; ++i)
          EXPECT_THAT(place(l, i, t), at(version == 1 ? 2 * i + t / 16 : t / 16 * 8 + i, t % 16));
        for (int w = 0; w < 4; ++w)
          for (int i = 0; i < kWidth; ++i) {
            int32_t k = version == 1 ? i : t / 16 * 8 + i;
            EXPECT_THAT(place(a, i, t, w), ElementsAre(w / 2 * 16 + t % 16, k));
            EXPECT_THAT(place(b, i, t, w), ElementsAre(k, w % 2 * 16 + t % 16));
          }
      }
    }
}

/// The lanes of the instruction's A are in such an order that those of the accumulator have eight rows side by side.
TEST(AmdWmma, ConsecutiveRows) {
  EncodingPool pool;
  for (bool transposed : {false, true}) {
    auto at = [&](int32_t row, int32_t col) { return transposed ? ElementsAre(col, row) : ElementsAre(row, col); };
    auto *e = *pool.getAmdWmma({1, transposed, AmdWmmaParams::tilesOf({2, 2}), {}, {16, 16, 16}, true});
    auto l = layoutOf(e, {16, 16});
    auto a = layoutOf(*pool.getDotOperand(0, e, 16), {32, 16}), b = layoutOf(*pool.getDotOperand(1, e, 16), {16, 32});
    for (int t = 0; t < 32; ++t) {
      for (int i = 0; i < 8; ++i) EXPECT_THAT(place(l, i, t), at(t / 16 * 8 + i, t % 16));
      int32_t row = t % 16, ofInstructionA = row / 2 + row % 2 * 8;
      for (int w = 0; w < 4; ++w)
        for (int i = 0; i < 16; ++i) {
          EXPECT_THAT(place(a, i, t, w), ElementsAre(w / 2 * 16 + (transposed ? row : ofInstructionA), i));
          EXPECT_THAT(place(b, i, t, w), ElementsAre(i, w % 2 * 16 + (transposed ? ofInstructionA : row)));
        }
    }
  }
}

TEST(MatrixLayouts, CoverTheTensor) {
  EncodingPool pool;
  llvm::SmallVector<const Encoding *, 16> all = {
      *pool.getNvidiaMma({1, 0, {2, 2}, {16, 16}, {}}),
      *pool.getNvidiaMma({2, 0, {4, 1}, {16, 8}, {}}),
      *pool.getNvidiaMma({3, 0, {4, 2}, {16, 128, 16}, {}}),
      *pool.getAmdMfma({4, {4, 1}, {32, 32, 16}, true, {}, {}, 32}),
      *pool.getAmdMfma({2, {1, 4}, {4, 64, 4}, false, {}, {}, 32}),
      *pool.getAmdMfma({2, {1, 4}, {64, 4, 4}, true, {}, {}, 32}),
      *pool.getAmdWmma({1, true, AmdWmmaParams::tilesOf({4, 2}), {}, {16, 16, 16}}),
      *pool.getAmdWmma({1, true, AmdWmmaParams::tilesOf({4, 2}), {}, {16, 16, 16}, true}),
      *pool.getAmdWmma({3, false, AmdWmmaParams::tilesOf({2, 2}, {2, 1}), {}, {32, 16, 128}})};
  for (auto *e : all)
    for (auto shape : {llvm::SmallVector<int64_t, 2>{16, 16}, {64, 256}, {256, 64}, {32, 128}}) {
      EXPECT_TRUE(layoutOf(e, shape).isSurjective()) << e->str();
      for (int idx : {0, 1})
        for (int64_t kWidth : {1, 2, 4, 8, 16})
          if (auto d = pool.getDotOperand(idx, e, kWidth); d.ok())
            EXPECT_TRUE(layoutOf(*d, shape).isSurjective()) << (*d)->str() << shape[0];
    }
}

// ---- order and contiguity -------------------------------------------------------------------------------------------

TEST(LayoutOrder, OfBlocked) {
  EncodingPool pool;
  auto *e = *pool.getBlocked({{2, 4}, {4, 8}, {4, 1}, {1, 0}, {}});
  auto l = layoutOf(e, {128, 128});
  EXPECT_THAT(orderOf(l), ElementsAre(1, 0));
  EXPECT_EQ(elementsPerThread(l), 128);
  auto small = layoutOf(e, {1, 2});
  EXPECT_EQ(elementsPerThread(small), 8);
  EXPECT_EQ(uniqueElementsPerThread(small), 2);
  EXPECT_THAT(orderOf(layoutOf(*pool.getBlocked({{1, 1}, {32, 1}, {1, 4}, {0, 1}, {}}), {32, 4})), ElementsAre(0, 1));
}

/// Registers that move by one row do not make columns of what the lanes have side by side.
TEST(LayoutOrder, OfStorage) {
  EncodingPool pool;
  auto *rows = *pool.getBlocked({{1, 1}, {1, 32}, {1, 4}, {1, 0}, {}}); // 64 × 128: each register is the next row
  EXPECT_THAT(storageOrderOf(layoutOf(rows, {64, 128})), ElementsAre(0, 1));
  EXPECT_THAT(storageOrderOf(rows, layoutOf(rows, {64, 128})), ElementsAre(1, 0));
  // 64 × 256: the first register is half a row further.
  EXPECT_THAT(storageOrderOf(layoutOf(rows, {64, 256})), ElementsAre(1, 0));
  auto *columns = *pool.getBlocked({{4, 1}, {8, 4}, {4, 1}, {0, 1}, {}});
  EXPECT_THAT(storageOrderOf(layoutOf(columns, {128, 64})), ElementsAre(0, 1));
  EXPECT_THAT(storageOrderOf(columns, layoutOf(columns, {128, 64})), ElementsAre(0, 1));
}

// ---- the pool, text and messages ------------------------------------------------------------------------------------

TEST(EncodingPool, EqualParametersAreOneObject) {
  EncodingPool pool;
  BlockedParams p{{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}};
  auto *a = *pool.getBlocked(p), *b = *pool.getBlocked(p);
  EXPECT_EQ(a, b);
  p.order = {0, 1};
  EXPECT_NE(a, *pool.getBlocked(p));
  EXPECT_EQ(*pool.getSlice(0, a), *pool.getSlice(0, b));
  EXPECT_NE(*pool.getSlice(0, a), *pool.getSlice(1, a));
  EXPECT_EQ(*pool.getAmdWmma({2, true, AmdWmmaParams::tilesOf({2, 2}), {}, {16, 16, 16}}),
            *pool.getAmdWmma({2, true, AmdWmmaParams::tilesOf({2, 2}, {1, 1}), {}, {16, 16, 16}}));
}

TEST(EncodingPool, DynCastIsByKind) {
  EncodingPool pool;
  const Encoding *shared = *pool.getNvmmaShared({128, false, 16, false, {}, 2});
  EXPECT_EQ(dynCast<NvmmaSharedEncoding>(shared), shared);
  EXPECT_EQ(dynCast<BlockedEncoding>(shared), nullptr);
  EXPECT_EQ(dynCast<NvmmaSharedEncoding>(static_cast<const Encoding *>(nullptr)), nullptr);
}

TEST(Encodings, PrintAsTriton36) {
  EncodingPool pool;
  auto *blocked = *pool.getBlocked({{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}});
  EXPECT_EQ(blocked->str(),
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>");
  auto *mma = *pool.getNvidiaMma({3, 0, {4, 1}, {16, 64, 16}, {}});
  EXPECT_EQ(mma->str(),
            "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>");
  EXPECT_EQ((*pool.getAmdMfma({3, {2, 2}, {32, 32, 8}, true, {}, {}, 32}))->str(),
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>");
  EXPECT_EQ((*pool.getAmdMfma({3, {2, 2}, {16, 16, 4}, false, {}, {2, 1}, 64}))->str(),
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 4], isTransposed = false, "
            "tilesPerWarp = [2, 1], elementBitWidth = 64}>");
  EXPECT_EQ((*pool.getAmdWmma({2, true, AmdWmmaParams::tilesOf({4, 2}), {}, {16, 16, 16}}))->str(),
            "#ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [4, 2]}>");
  EXPECT_EQ((*pool.getAmdWmma({1, true, AmdWmmaParams::tilesOf({4, 2}), {}, {16, 16, 16}, true}))->str(),
            "#ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [4, 2], consecutiveRows = true}>");
  EXPECT_EQ((*pool.getAmdWmma({3, true, AmdWmmaParams::tilesOf({4, 2}, {2, 2}), {}, {16, 16, 32}}))->str(),
            "#ttg.amd_wmma<{version = 3, isTranspose = true, warpsPerCTA = [4, 2], tilesPerWarp = [2, 2], instrShape = "
            "[16, 16, 32]}>");
  // Tiles that counts can't say: both warps' bits exchanged.
  auto exchanged = LinearLayout({{Dim::Register, {}}, {Dim::Warp, {{1, 0}, {0, 1}}}}, {{Dim::Dim0, 2}, {Dim::Dim1, 2}});
  EXPECT_EQ((*pool.getAmdWmma({2, false, exchanged, {}, {16, 16, 16}}))->str(),
            "#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[1, 0], [0, 1]]}}>");
  EXPECT_EQ((*pool.getSwizzledShared({8, 2, 4, {1, 0}, {}}))->str(),
            "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>");
  EXPECT_EQ((*pool.getSwizzledShared({4, 1, 16, {0, 1}, {}}, true))->str(),
            "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [0, 1]}>");
  EXPECT_EQ((*pool.getNvmmaShared({128, true, 32, false, {}, 2}))->str(),
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>");
  EXPECT_EQ((*pool.getNvmmaShared({128, false, 8, true, {}, 3}))->str(),
            "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true, "
            "rank = 3}>");
  EXPECT_EQ((*pool.getTensorMemory({128, 64, 1, 1, 1, {}, true}))->str(),
            "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, twoCTAs = true>");
  EXPECT_EQ((*pool.getTensorMemoryScales({}))->str(), "#ttng.tensor_memory_scales_encoding<>");
  auto offset = LinearLayout({{Dim::Offset, {{0, 1}, {1, 1}}}, {Dim::Block, {}}}, {{Dim::Dim0, 2}, {Dim::Dim1, 2}});
  auto *shared = *pool.getSharedLinear(offset);
  EXPECT_EQ(shared->str(), "#ttg.shared_linear<{offset = [[0, 1], [1, 1]]}, alignment = 16>");
  EXPECT_EQ((*pool.getPartitionedShared(2, 4, 0, shared))->str(),
            "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = " +
                shared->str() + "}>");
  auto linear = layoutOf(*pool.getBlocked({{1, 1}, {1, 2}, {2, 1}, {1, 0}, {}}), {2, 2});
  EXPECT_EQ((*pool.getLinear(linear))->str(),
            "#ttg.linear<{register = [], lane = [[0, 1]], warp = [[1, 0]], block = []}>");
  // Parents stay inline or become aliases.
  auto *dot = *pool.getDotOperand(0, mma, 2);
  EXPECT_EQ(dot->str(), "#ttg.dot_op<{opIdx = 0, parent = " + mma->str() + ", kWidth = 2}>");
  std::string s;
  llvm::raw_string_ostream o(s);
  (*pool.getSlice(1, dot))->print(o, [&](const Encoding *e, llvm::raw_ostream &out) {
    if (e->aliasStem().empty()) return false;
    out << "#" << e->aliasStem();
    return true;
  });
  EXPECT_EQ(s, "#ttg.slice<{dim = 1, parent = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>}>");
}

TEST(Encodings, SayWhatIsWrong) {
  EncodingPool pool;
  auto message = [](auto s) { return s.ok() ? std::string() : std::string(s.status().message()); };
  auto *blocked = *pool.getBlocked({{1, 8}, {4, 8}, {4, 1}, {1, 0}, {}});
  auto *oneDim = *pool.getBlocked({{1}, {32}, {4}, {0}, {}});
  auto *mma2 = *pool.getNvidiaMma({2, 0, {4, 1}, {16, 8}, {}});
  auto *mma3 = *pool.getNvidiaMma({3, 0, {4, 1}, {16, 64, 16}, {}});
  EXPECT_EQ(message(pool.getBlocked({{1, 3}, {4, 8}, {4, 1}, {1, 0}, {}})),
            "sizePerThread = [1, 3]: every entry must be a power of two");
  EXPECT_EQ(message(pool.getBlocked({{1, 1}, {4}, {4, 1}, {1, 0}, {}})),
            "threadsPerWarp has 1 entries but the layout's rank is 2");
  EXPECT_EQ(message(pool.getBlocked({{1, 1}, {4, 8}, {4, 1}, {1, 1}, {}})),
            "order = [1, 1] is not a permutation of 0 to 1");
  EXPECT_EQ(message(pool.getBlocked({{}, {}, {}, {}, {}})), "order has 0 entries; 1 to 32 are possible");
  EXPECT_EQ(message(pool.getSlice(2, blocked)), "dim = 2 is not a dimension of the parent, whose rank is 2");
  EXPECT_EQ(message(pool.getSlice(0, oneDim)), "the parent of a slice must have at least two dimensions");
  EXPECT_EQ(message(pool.getDotOperand(2, blocked, 0)), "opIdx must be 0 or 1, not 2");
  EXPECT_EQ(message(pool.getDotOperand(0, blocked, 2)), "a dot_op over a blocked layout has no kWidth");
  EXPECT_EQ(message(pool.getDotOperand(0, mma2, 0)), "a dot_op over nvidia_mma version 2 needs a kWidth");
  EXPECT_EQ(message(pool.getDotOperand(0, mma2, 3)), "kWidth = 3 must be a power of two");
  EXPECT_THAT(message(pool.getDotOperand(1, mma3, 2)), HasSubstr("is read from shared memory"));
  EXPECT_EQ(message(pool.getDotOperand(0, oneDim, 0)), "the parent of a dot_op must have at least two dimensions");
  EXPECT_EQ(message(pool.getAmdMfma({3, {2, 2}, {32, 16, 8}, true, {}, {}, 32})),
            "instrShape: there is no instruction of 32 by 16");
  EXPECT_EQ(message(pool.getAmdWmma({1, true, AmdWmmaParams::tilesOf({4, 2}), {}, {16, 16, 32}})),
            "instrShape = [16, 16, 32] does not exist in version 1");
  EXPECT_EQ(message(pool.getAmdWmma({2, true, AmdWmmaParams::tilesOf({4, 2}), {}, {16, 16, 16}, true})),
            "consecutiveRows is for version 1 only");
  EXPECT_EQ(message(pool.getNvmmaShared({48, false, 16, false, {}, 2})),
            "swizzlingByteWidth = 48; 0, 32, 64 and 128 exist");
  EXPECT_EQ(message(pool.getSwizzledShared({3, 1, 1, {0}, {}})), "vec = 3 must be a power of two");
  auto notOnto =
      LinearLayout({{Dim::Register, {{2}}}, {Dim::Lane, {}}, {Dim::Warp, {}}, {Dim::Block, {}}}, {{Dim::Dim0, 4}});
  EXPECT_EQ(message(pool.getLinear(notOnto)), "the layout is not surjective: some elements are held by no thread");
  EXPECT_EQ(message(blocked->toLinearLayout({8})), "the tensor has rank 1 but its layout has rank 2");
  EXPECT_EQ(message(blocked->toLinearLayout({8, 12})), "dimension 12 of a tensor with a layout must be a power of two");
  EXPECT_EQ(message(pool.getNvidiaMma({1, 0, {4, 1}, {16, 8}, {}})), "instrShape: version 1 has [16, 16] alone");
  EXPECT_THAT((*pool.getNvidiaMma({5, 0, {4, 1}, {16, 16}, {}}))->toLinearLayout({16, 16}).status().message(),
              HasSubstr("tensor memory"));
}

// The defaults of the conversion from TTIR: the table in Triton's documentation of getDefaultBlockedEncoding.
TEST(Blocked, Defaults) {
  EncodingPool pool;
  auto text = [&](llvm::ArrayRef<int64_t> shape) { return pool.defaultBlocked(shape, 4, 32)->str(); };
  EXPECT_EQ(text({64, 2, 32}), "#ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = "
                               "[2, 2, 1], order = [2, 1, 0]}>");
  EXPECT_EQ(text({32, 64, 2}), "#ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 16, 2], warpsPerCTA = "
                               "[1, 4, 1], order = [2, 1, 0]}>");
  EXPECT_EQ(text({64, 2, 64, 2}), "#ttg.blocked<{sizePerThread = [1, 1, 1, 1], threadsPerWarp = [1, 1, 16, 2], "
                                  "warpsPerCTA = [1, 1, 4, 1], order = [3, 2, 1, 0]}>");
  EXPECT_EQ(text({128, 32}),
            "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>");
  EXPECT_EQ(text({256}), "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>");
  EXPECT_EQ(text({128, 1}),
            "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>");
}

} // namespace
} // namespace tessera::layouts::test
