// Groups of lanes and cycles of LDS accesses, against what was measured.
#include "runtime/timing/lds_phases.h"
#include "runtime_timing/code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <set>

namespace tessera::timing {
namespace {
using namespace testing;
using ::testing::ElementsAre;

std::vector<unsigned> lanesOf(LaneGroups groups, unsigned group) {
  std::vector<unsigned> lanes;
  for (unsigned lane = 0; lane < 64; ++lane)
    if (laneGroup(groups, lane) == group) lanes.push_back(lane);
  return lanes;
}

TEST(LdsPhases, GroupsAreTheMeasuredOnes) {
  // HipKittens, phases/ds_read_b128/phase_results.txt and ds_read_b96/phase_results.txt, MI355X.
  EXPECT_THAT(lanesOf(LaneGroups::Groups16, 0),
              ElementsAre(0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27));
  EXPECT_THAT(lanesOf(LaneGroups::Groups16, 3),
              ElementsAre(36, 37, 38, 39, 40, 41, 42, 43, 48, 49, 50, 51, 60, 61, 62, 63));
  EXPECT_THAT(lanesOf(LaneGroups::Pairs8, 0), ElementsAre(0, 1, 2, 3, 20, 21, 22, 23));
  EXPECT_THAT(lanesOf(LaneGroups::Pairs8, 3), ElementsAre(12, 13, 14, 15, 24, 25, 26, 27));
  EXPECT_THAT(lanesOf(LaneGroups::Pairs8, 6), ElementsAre(40, 41, 42, 43, 60, 61, 62, 63));
}

TEST(LdsPhases, EveryGroupHasAsManyLanesAsFillItsBanks) {
  for (auto target : machineTargets()) {
    Machine m = machine(target.data());
    unsigned lanes = m.family == Family::Gfx9 ? 64 : 32;
    for (unsigned bytes : {4u, 8u, 12u, 16u})
      for (bool write : {false, true}) {
        const LdsPhases &p = m.phases(write, bytes);
        std::vector<unsigned> sizes(16);
        for (unsigned lane = 0; lane < lanes; ++lane) ++sizes[laneGroup(p.groups, lane)];
        for (unsigned size : sizes)
          if (size) EXPECT_LE(size * bytes, p.banks * 4) << target.str() << " " << bytes;
      }
  }
}

unsigned cyclesOf(const Machine &m, bool write, unsigned bytes, unsigned stride) {
  std::vector<uint32_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane) addresses.push_back(lane * stride);
  return ldsCycles(m.phases(write, bytes), addresses, ~uint64_t(0), bytes).actual;
}

TEST(LdsPhases, RowsWithoutConflictsTakeOneCycleForEachGroup) {
  Machine gfx942 = machine("gfx942"), gfx950 = machine("gfx950");
  EXPECT_EQ(cyclesOf(gfx942, false, 4, 4), 2u);
  EXPECT_EQ(cyclesOf(gfx942, false, 8, 8), 4u);
  EXPECT_EQ(cyclesOf(gfx942, true, 16, 16), 8u);
  EXPECT_EQ(cyclesOf(gfx950, false, 8, 8), 2u);
  EXPECT_EQ(cyclesOf(gfx950, true, 8, 8), 4u);
  // Consecutive rows of 16 bytes are free of conflicts in the measured groups, too: these have every 16-byte row of the
  // banks once.
  EXPECT_EQ(cyclesOf(gfx950, false, 16, 16), 4u);
  EXPECT_EQ(cyclesOf(gfx942, false, 16, 16), 8u);
}

TEST(LdsPhases, WhatSuitsNeighboursConflictsInTheMeasuredGroups) {
  // 16 lanes read one row of all 64 banks, the next 16 the row below, rotated by four lanes. Neighbours would not
  // conflict; of {0-3,12-15,20-27} lanes 12 to 15 and 24 to 27 have the same banks.
  Machine m = machine("gfx950");
  std::vector<uint32_t> addresses;
  for (unsigned lane = 0; lane < 64; ++lane)
    addresses.push_back(lane / 16 * 256 + (lane + (lane / 16 % 2 ? 4 : 0)) % 16 * 16);
  LdsPhases neighbours = m.phases(false, 16);
  neighbours.groups = LaneGroups::Neighbours16;
  EXPECT_EQ(ldsCycles(neighbours, addresses, ~uint64_t(0), 16).actual, 4u);
  EXPECT_EQ(ldsCycles(m.phases(false, 16), addresses, ~uint64_t(0), 16).actual, 8u);
}

TEST(LdsPhases, InactiveLanesDoNotCount) {
  Machine m = machine("gfx942");
  std::vector<uint32_t> addresses{0, 128, 256};
  EXPECT_EQ(ldsCycles(m.phases(false, 4), addresses, 0b111, 4).actual, 3u);
  EXPECT_EQ(ldsCycles(m.phases(false, 4), addresses, uint64_t(1) | uint64_t(3) << 40, 4).actual, 3u); // 1 and 2
  EXPECT_EQ(ldsCycles(m.phases(false, 4), {}, 0, 4).actual, 0u);
}

} // namespace
} // namespace tessera::timing
