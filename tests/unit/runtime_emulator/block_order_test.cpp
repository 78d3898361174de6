// The order between blocks that releases and acquires give: through the same word, through a chain of words, and not
// through another word.
#include "runtime/emulator/block_order.h"
#include <gtest/gtest.h>

namespace tessera::emulator {
namespace {

TEST(BlockOrder, ThroughTheSameWordOnly) {
  BlockOrder order;
  Acquired none, before, same, other;
  order.acquire(before, 100, 5);
  order.release(1, 100, none.known, 10);
  order.acquire(same, 100, 11);
  order.acquire(other, 101, 12);
  EXPECT_TRUE(order.isKnown(same.known, 1, 9));
  EXPECT_FALSE(order.isKnown(same.known, 1, 10)); // what came with the release, or after it
  EXPECT_FALSE(order.isKnown(same.known, 2, 9));
  for (const Acquired *a : {&none, &before, &other}) EXPECT_FALSE(order.isKnown(a->known, 1, 9));
}

TEST(BlockOrder, ThroughAChainOfBlocks) {
  BlockOrder order;
  constexpr uint32_t kBlocks = 20;
  std::vector<Acquired> blocks(kBlocks);
  uint64_t now = 0;
  for (uint32_t b = 0; b < kBlocks; ++b) {
    ++now; // the block's work
    if (b) order.acquire(blocks[b], b - 1, ++now);
    order.release(b, b, blocks[b].known, ++now);
  }
  for (uint32_t a = 0; a < kBlocks; ++a)
    for (uint32_t b = 0; b < kBlocks; ++b)
      EXPECT_EQ(order.isKnown(blocks[b].known, a, 3 * uint64_t(a)), a < b) << a << " " << b;
}

TEST(BlockOrder, ReleasesAndAcquiresOfSeveralWords) {
  BlockOrder order;
  Acquired none, single, all;
  order.release(1, BlockOrder::kAllWords, none.known, 10);
  order.release(2, 200, none.known, 11);
  order.acquire(single, 300, 12);
  order.acquire(all, BlockOrder::kAllWords, 13);
  order.release(3, 400, all.known, 14);
  order.release(4, 300, none.known, 15);
  EXPECT_TRUE(order.isKnown(single.known, 1, 9));
  EXPECT_FALSE(order.isKnown(single.known, 2, 9));
  EXPECT_TRUE(order.isKnown(all.known, 1, 9) && order.isKnown(all.known, 2, 9));
  EXPECT_FALSE(order.isKnown(all.known, 4, 9));
  Acquired third;
  order.acquire(third, 400, 16);
  EXPECT_TRUE(order.isKnown(third.known, 2, 9)); // by what block 3 had acquired
  EXPECT_TRUE(order.isKnown(third.known, 3, 9));
  EXPECT_FALSE(order.isKnown(third.known, 4, 9));
}

TEST(BlockOrder, LongChainsStayOrdered) {
  BlockOrder order;
  constexpr uint32_t kBlocks = 500;
  for (uint32_t b = 0; b < kBlocks; ++b) {
    Acquired known;
    if (b) order.acquire(known, b - 1, 3 * uint64_t(b) + 1);
    for (uint32_t a = 0; a < b; ++a) EXPECT_TRUE(order.isKnown(known.known, a, 3 * uint64_t(a) + 1)) << a << " " << b;
    EXPECT_FALSE(order.isKnown(known.known, b + 1, 0));
    EXPECT_LE(known.known.toWord.size(), KnownReleases::kMostWords);
    order.release(b, b, known.known, 3 * uint64_t(b) + 2);
  }
}

TEST(BlockOrder, LaterReleasesToAWordCoverEarlierWork) {
  BlockOrder order;
  Acquired none, first, last;
  order.release(1, 7, none.known, 10);
  order.acquire(first, 7, 11);
  order.release(1, 8, none.known, 20);
  order.release(1, 7, none.known, 30);
  order.acquire(last, 7, 31);
  EXPECT_FALSE(order.isKnown(first.known, 1, 15));
  EXPECT_TRUE(order.isKnown(last.known, 1, 15));
  EXPECT_TRUE(order.isKnown(last.known, 1, 25));
  EXPECT_FALSE(order.isKnown(last.known, 1, 30));
}

} // namespace
} // namespace tessera::emulator
