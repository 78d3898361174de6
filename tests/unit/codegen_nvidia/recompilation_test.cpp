// Further compilations of PTX: when one is worth trying, and when its object is better.
#include "codegen_nvidia/arch_table.h"
#include "codegen_nvidia/object.h"
#include "codegen_nvidia/recompilation.h"
#include <gtest/gtest.h>

namespace tessera::nvidia {
namespace {

using codegen::BackendOptions;
using codegen::ObjectInfo;

const ir::TargetInfo &hopper() {
  for (const codegen::ArchInfo &a : archTable())
    if (a.info.name == "sm_90a") return a.info;
  return archTable().front().info;
}

BackendOptions eightWarps() {
  BackendOptions o;
  o.numWarps = 8;
  return o;
}

bool worth(Attempt a, const OccupancyPlan &plan, const ObjectInfo &first, const ObjectInfo &best,
           const BackendOptions &o = {}) {
  return isWorthTrying(a, {plan, first, best, hopper(), o});
}

bool better(Attempt a, const ObjectInfo &made, const ObjectInfo &best) {
  return isBetter(a, made, {{}, best, best, hopper(), {}});
}

/// An object whose blocks of so many warps are as many as its registers allow.
ObjectInfo objectOf(int registers, int warps) {
  ObjectInfo o;
  o.registers = registers;
  o.occupancy = hopper().occupancy({warps, 0, registers});
  return o;
}

TEST(Recompilation, RequestsThatCostSpillsAreTakenBack) {
  OccupancyPlan plan;
  plan.minBlocks = 8;
  ObjectInfo fine, spills;
  spills.registers = 64;
  spills.spillBytes = 16;
  EXPECT_FALSE(worth(Attempt::WithoutRequest, plan, fine, fine));
  EXPECT_TRUE(worth(Attempt::WithoutRequest, plan, spills, spills));
  EXPECT_FALSE(worth(Attempt::OneBlock, plan, spills, spills)); // stated already
  plan.minBlocks = 1;                                           // all registers as it is
  EXPECT_FALSE(worth(Attempt::WithoutRequest, plan, spills, spills));
  plan.minBlocks = 0;
  EXPECT_TRUE(worth(Attempt::OneBlock, plan, spills, spills)); // ptxas gave up: 255 registers are there
  EXPECT_TRUE(worth(Attempt::LowerLevel, plan, spills, spills));
  spills.registers = 250;
  EXPECT_FALSE(worth(Attempt::OneBlock, plan, spills, spills));
  EXPECT_TRUE(better(Attempt::OneBlock, fine, spills));
  EXPECT_FALSE(better(Attempt::OneBlock, spills, spills));
}

TEST(Recompilation, SmallTilesTakeMoreBlocksThanRequestedIfTheyFit) {
  OccupancyPlan plan;
  plan.minBlocks = 8;
  ObjectInfo first;
  first.registers = 64;
  first.occupancy = 8;
  EXPECT_FALSE(worth(Attempt::WithoutRequest, plan, first, first));
  plan.loadsLittle = true;
  EXPECT_TRUE(worth(Attempt::WithoutRequest, plan, first, first));
  ObjectInfo other = first;
  EXPECT_FALSE(better(Attempt::WithoutRequest, other, first));
  other.occupancy = 16;
  EXPECT_TRUE(better(Attempt::WithoutRequest, other, first));
  other.spillBytes = 4;
  EXPECT_FALSE(better(Attempt::WithoutRequest, other, first));
}

TEST(Recompilation, BlocksThatFitWithoutSpillsGetTheirRegisters) {
  OccupancyPlan plan;
  plan.minBlocks = 4;
  ObjectInfo first;
  first.registers = 128;
  first.spillBytes = 8;
  first.occupancy = 4;
  ObjectInfo best = first; // also without the request
  EXPECT_FALSE(worth(Attempt::BlocksThatFit, plan, first, best));
  best.registers = 142;
  best.spillBytes = 0;
  best.occupancy = 3;
  EXPECT_TRUE(worth(Attempt::BlocksThatFit, plan, first, best));
  ObjectInfo made = best;
  made.registers = 168;
  EXPECT_TRUE(better(Attempt::BlocksThatFit, made, best));
  made.spillBytes = 4;
  EXPECT_FALSE(better(Attempt::BlocksThatFit, made, best));
  made.spillBytes = 0;
  made.occupancy = 2;
  EXPECT_FALSE(better(Attempt::BlocksThatFit, made, best));
  first.spillBytes = 0; // small tiles that take more blocks than requested
  best = first;
  best.registers = 64;
  best.occupancy = 8;
  EXPECT_FALSE(worth(Attempt::BlocksThatFit, plan, first, best));
}

TEST(Recompilation, WarpGroupDotsAreTriedWithOneMoreBlock) {
  OccupancyPlan plan;
  plan.hasWarpGroupDots = true;
  ObjectInfo first = objectOf(172, 4);
  EXPECT_EQ(first.occupancy, 2);
  EXPECT_TRUE(worth(Attempt::OneMoreBlock, plan, first, first));
  first.registers = 216; // 168 are less than eight tenths
  EXPECT_FALSE(worth(Attempt::OneMoreBlock, plan, first, first));
  ObjectInfo more = first;
  EXPECT_FALSE(better(Attempt::OneMoreBlock, more, first));
  more.occupancy = 3;
  EXPECT_TRUE(better(Attempt::OneMoreBlock, more, first));
  more.spillBytes = 4;
  EXPECT_FALSE(better(Attempt::OneMoreBlock, more, first));
}

TEST(Recompilation, KernelsThatLoadInBulkAreTriedWithOneMoreBlock) {
  OccupancyPlan plan;
  plan.loadsInBulk = true;
  ObjectInfo first = objectOf(34, 8); // 32 are 94 %
  EXPECT_EQ(first.occupancy, 6);
  EXPECT_TRUE(worth(Attempt::OneMoreBlock, plan, first, first, eightWarps()));
  plan.loadsInBulk = false;
  EXPECT_FALSE(worth(Attempt::OneMoreBlock, plan, first, first, eightWarps()));
}

TEST(Recompilation, KernelsThatWaitInLoopsAreTriedWithOneBlockMoreThanTheyGot) {
  OccupancyPlan plan;
  plan.waitsInLoops = true;
  plan.minBlocks = 4;
  ObjectInfo first = objectOf(72, 4);
  EXPECT_EQ(first.occupancy, 7);
  EXPECT_TRUE(worth(Attempt::OneMoreBlock, plan, first, first));
  plan.waitsInLoops = false;
  EXPECT_FALSE(worth(Attempt::OneMoreBlock, plan, first, first));
  plan.waitsInLoops = true;
  first = objectOf(120, 4); // 96 for a fifth block
  EXPECT_FALSE(worth(Attempt::OneMoreBlock, plan, first, first));
}

TEST(Recompilation, ASecondBlockMayCostAFewSpills) {
  OccupancyPlan plan;
  plan.hasWarpGroupDots = true;
  ObjectInfo first = objectOf(146, 8); // 128 are 87 %
  EXPECT_EQ(first.occupancy, 1);
  EXPECT_TRUE(worth(Attempt::OneMoreBlock, plan, first, first, eightWarps()));
  ObjectInfo two = first;
  two.registers = 128;
  two.occupancy = 2;
  two.spillBytes = 40;
  EXPECT_TRUE(better(Attempt::OneMoreBlock, two, first));
  EXPECT_FALSE(worth(Attempt::LowerLevel, plan, first, two, eightWarps())); // which would lose the block
  two.spillBytes = 48;
  EXPECT_FALSE(better(Attempt::OneMoreBlock, two, first));
  first.registers = 160; // 128 are 80 %
  EXPECT_FALSE(worth(Attempt::OneMoreBlock, plan, first, first, eightWarps()));
}

TEST(Recompilation, WhatSpillsForOneMoreBlockIsTriedWithFewerRegisters) {
  OccupancyPlan plan;
  plan.hasWarpGroupDots = true;
  ObjectInfo first = objectOf(178, 4);
  ObjectInfo best = first;
  EXPECT_TRUE(worth(Attempt::FewerRegisters, plan, first, best));
  EXPECT_EQ(fewerRegisters({plan, first, best, hopper(), {}}), 160);
  best.occupancy = 3; // one more block did not spill
  EXPECT_FALSE(worth(Attempt::FewerRegisters, plan, first, best));
  first = objectOf(71, 4); // 56 are less than 85 %
  best = first;
  EXPECT_TRUE(worth(Attempt::OneMoreBlock, plan, first, best));
  EXPECT_FALSE(worth(Attempt::FewerRegisters, plan, first, best));
}

TEST(Recompilation, BlocksDoNotMakeUpForDotsThatWaitForEachOther) {
  ObjectInfo first = objectOf(178, 4), more = objectOf(168, 4);
  ASSERT_GT(more.occupancy, first.occupancy);
  EXPECT_TRUE(better(Attempt::OneMoreBlock, more, first));
  more.dotsSerialized = "insufficient register resources for the wgmma pipeline";
  EXPECT_FALSE(better(Attempt::OneMoreBlock, more, first));
  first.dotsSerialized = more.dotsSerialized; // nothing is lost
  EXPECT_TRUE(better(Attempt::OneMoreBlock, more, first));
  ObjectInfo spills = objectOf(255, 4), fine = objectOf(255, 4);
  spills.spillBytes = 4000;
  fine.dotsSerialized = more.dotsSerialized;
  EXPECT_TRUE(better(Attempt::OneBlock, fine, spills));
}

TEST(Recompilation, TheReasonWhyDotsWaitIsReadFromTheLog) {
  EXPECT_EQ(whySerialized("ptxas info    : 0 bytes gmem\n"
                          "ptxas info    : (C7513) Potential Performance Loss: wgmma.mma_async instructions are "
                          "serialized due to non wgmma instructions defining input registers of a wgmma between start "
                          "and end of the pipeline stage in the function '_attn_bwd'\n"
                          "ptxas info    : Used 255 registers\n"),
            "non wgmma instructions defining input registers of a wgmma between start and end of the pipeline stage");
  EXPECT_EQ(whySerialized("ptxas info    : Used 255 registers, used 1 barriers\n"), "");
  EXPECT_EQ(whySerialized(""), "");
}

TEST(Recompilation, TheRegisterLimitReplacesRequestsInThePtx) {
  EXPECT_EQ(withRegisterLimit(".visible .entry k()\n.reqntid 128\n.minnctapersm 3\n{\n}\n", 160),
            ".visible .entry k()\n.reqntid 128\n.maxnreg 160\n{\n}\n");
}

} // namespace
} // namespace tessera::nvidia
