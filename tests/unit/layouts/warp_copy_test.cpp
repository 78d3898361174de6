// Layouts by which warps copy to consecutive places of shared memory (layouts/warp_copy.h), for swizzles of all kinds.
#include "layouts/encoding_pool.h"
#include "layouts/swizzled_shared.h"
#include "layouts/warp_copy.h"
#include "gtest/gtest.h"

namespace tessera::layouts {
namespace {

constexpr int kLanes = 64, kWarps = 4, kElements = 8;

LinearLayout swizzled(EncodingPool &pool, int rows, int columns, int vec, int perPhase, int maxPhase, bool byRows) {
  SwizzledSharedParams p;
  p.vec = vec;
  p.perPhase = perPhase;
  p.maxPhase = maxPhase;
  p.order = byRows ? llvm::SmallVector<int32_t, 4>{1, 0} : llvm::SmallVector<int32_t, 4>{0, 1};
  p.cta = CtaLayout();
  auto e = pool.getSwizzledShared(p);
  EXPECT_TRUE(e.ok()) << e.status();
  return *(*e)->toLinearLayout({rows, columns});
}

TEST(WarpCopy, PutsLanesOneAfterTheOther) {
  EncodingPool pool;
  for (bool byRows : {true, false})
    for (int vec : {1, 8, 16, 32})
      for (int perPhase : {1, 2, 4})
        for (int maxPhase : {1, 2, 4}) {
          auto shared = swizzled(pool, 128, 64, vec, perPhase, maxPhase, byRows);
          auto layout = warpCopyLayout(shared, kElements, kLanes, kWarps);
          ASSERT_TRUE(layout);
          EXPECT_TRUE(layout->isSurjective());
          auto map = layout->invertAndCompose(shared);
          EXPECT_TRUE(isWarpCopy(map, kElements));
          for (int r = 0; r < layout->inDimSize(Dim::Register); ++r)
            for (int lane = 0; lane < kLanes; ++lane)
              for (int warp = 0; warp < kWarps; ++warp) {
                int copy = r / kElements, element = r % kElements;
                int offset = ((copy * kWarps + warp) * kLanes + lane) * kElements + element;
                ASSERT_EQ(map.apply({{Dim::Register, r}, {Dim::Lane, lane}, {Dim::Warp, warp}})[0], offset);
              }
        }
}

TEST(WarpCopy, NeedsABufferThatAllWarpsFill) {
  EncodingPool pool;
  auto shared = swizzled(pool, 64, 64, 8, 1, 8, true); // 4,096 elements
  EXPECT_TRUE(warpCopyLayout(shared, 8, 64, 8));
  EXPECT_FALSE(warpCopyLayout(shared, 8, 64, 16));
  EXPECT_FALSE(warpCopyLayout(shared, 16, 64, 8));
}

TEST(WarpCopy, IsNoneWhereTheSwizzleMovesLanes) {
  EncodingPool pool;
  BlockedParams rows;
  rows.sizePerThread = {1, 8};
  rows.threadsPerWarp = {8, 8};
  rows.warpsPerCta = {4, 1};
  rows.order = {1, 0};
  rows.cta = CtaLayout();
  auto blocked = pool.getBlocked(rows);
  ASSERT_TRUE(blocked.ok()) << blocked.status();
  auto registers = *(*blocked)->toLinearLayout({64, 64});
  auto isCopy = [&](int vec, int maxPhase) {
    return isWarpCopy(registers.invertAndCompose(swizzled(pool, 64, 64, vec, 1, maxPhase, true)), kElements);
  };
  EXPECT_TRUE(isCopy(8, 1));
  EXPECT_FALSE(isCopy(8, 8));
  EXPECT_FALSE(isCopy(4, 2)); // a lane's 16 bytes lie apart
}

} // namespace
} // namespace tessera::layouts
