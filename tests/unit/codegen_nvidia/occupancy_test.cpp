// The plan of a kernel's occupancy: blocks that it requests from ptxas, and the facts of it that it is made from.
#include "codegen_nvidia/arch_table.h"
#include "codegen_nvidia/occupancy.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

namespace tessera::nvidia {
namespace {

using codegen::BackendOptions;

const ir::TargetInfo &hopper() {
  for (const codegen::ArchInfo &a : archTable())
    if (a.info.name == "sm_90a") return a.info;
  return archTable().front().info;
}

KernelFacts facts(unsigned widestTensor, unsigned loadedRegisters, bool dots = false) {
  KernelFacts f;
  f.widestTensor = widestTensor;
  f.loadedRegisters = loadedRegisters;
  f.hasMatrixInstructions = dots;
  return f;
}

int blocks(const KernelFacts &f, const BackendOptions &o = {}) { return planOccupancy(f, hopper(), o).minBlocks; }

BackendOptions warps(int n) {
  BackendOptions o;
  o.numWarps = n;
  return o;
}

// 64 warps fit on a multiprocessor, 16 blocks of four.
TEST(Occupancy, RowsKeptOverABarrierRequestNone) {
  KernelFacts row = facts(16, 100);
  row.keptRegisters = 34;
  EXPECT_EQ(blocks(row), 0);
  row.keptRegisters = 33;
  EXPECT_EQ(blocks(row), 8);
  row.keptRegisters = 100;
  row.hasLoops = true;
  row.leastLoopRegisters = row.mostLoopRegisters = 4;
  EXPECT_EQ(blocks(row), 8);
}

TEST(Occupancy, SmallTensorsRequestHalfAndMediumOnesAQuarter) {
  EXPECT_EQ(blocks(facts(16, 100)), 8);
  EXPECT_EQ(blocks(facts(17, 100)), 4);
  EXPECT_EQ(blocks(facts(64, 100)), 4);
  EXPECT_EQ(blocks(facts(65, 100)), 0);
  EXPECT_EQ(blocks(facts(16, 100), warps(1)), 32); // the most blocks there can be
  EXPECT_EQ(blocks(facts(64, 100), warps(16)), 0); // one block is no request
}

TEST(Occupancy, TensorsOfUpTo32ElementsRequestThreeEighthsIfTheyAreAllThatIsLoaded) {
  EXPECT_EQ(blocks(facts(17, 32)), 6);
  EXPECT_EQ(blocks(facts(32, 32)), 6);
  EXPECT_EQ(blocks(facts(33, 32)), 4);
  EXPECT_EQ(blocks(facts(32, 33)), 4);
  EXPECT_EQ(blocks(facts(32, 32, /*dots=*/true)), 0);
}

TEST(Occupancy, FewLoadsRequestMoreWarps) {
  EXPECT_EQ(blocks(facts(16, 9)), 8);
  EXPECT_EQ(blocks(facts(16, 8)), 12);
  EXPECT_EQ(blocks(facts(16, 5)), 12);
  EXPECT_EQ(blocks(facts(16, 4)), 0);
}

TEST(Occupancy, LoopsThatLoadMuchForABlockRequestNone) {
  KernelFacts rows = facts(16, 100);
  rows.hasLoops = true;
  rows.mostLoopRegisters = 16;
  rows.leastLoopRegisters = 4; // 16 bytes for each of 512 threads: 8 KiB
  EXPECT_EQ(blocks(rows, warps(16)), 0);
  EXPECT_EQ(blocks(rows, warps(8)), 4);
  rows.leastLoopRegisters = 3;
  EXPECT_EQ(blocks(rows, warps(16)), 2);
  rows.leastLoopRegisters = 16;
  EXPECT_EQ(blocks(rows), 0);
  rows.widestTensor = 17; // not small
  EXPECT_EQ(blocks(rows), 4);
}

TEST(Occupancy, LoopsThatLoadNothingRequestNone) {
  KernelFacts rows = facts(16, 100);
  EXPECT_EQ(blocks(rows), 8);
  rows.hasLoops = true;
  EXPECT_EQ(blocks(rows), 0);
  rows.leastLoopRegisters = rows.mostLoopRegisters = 1;
  EXPECT_EQ(blocks(rows), 8);
}

TEST(Occupancy, KernelsWithDotsRequestHalfOrNothing) {
  EXPECT_EQ(blocks(facts(16, 0, /*dots=*/true)), 8);
  EXPECT_EQ(blocks(facts(64, 100, /*dots=*/true)), 0);
}

TEST(Occupancy, SmallTilesLoadLittle) {
  KernelFacts small = facts(16, 16, /*dots=*/true);
  small.loadedBetweenBarriers = 5; // of the 16 registers of several iterations
  EXPECT_FALSE(planOccupancy(small, hopper(), {}).loadsLittle);
  small.loadedBetweenBarriers = 4;
  OccupancyPlan plan = planOccupancy(small, hopper(), {});
  EXPECT_TRUE(plan.loadsLittle);
  EXPECT_EQ(plan.minBlocks, 8);
}

TEST(Occupancy, BoundsOfTheUserCountAlone) {
  BackendOptions bounded;
  bounded.maxRegisters = 128;
  EXPECT_EQ(blocks(facts(16, 100), bounded), 0);
  BackendOptions clusters;
  clusters.numCtas = 2;
  EXPECT_EQ(blocks(facts(16, 100), clusters), 0);
  EXPECT_EQ(blocks(KernelFacts()), 0); // a module that was not lowered here
}

TEST(Occupancy, SharedMemoryThatAdmitsFewBlocksLeavesThemAllRegisters) {
  BackendOptions o;
  o.dynamicSharedBytes = 160 << 10;
  EXPECT_EQ(blocks(facts(128, 100), o), 1);
  o.dynamicSharedBytes = 20 << 10; // ten blocks: 48 registers each
  EXPECT_EQ(blocks(facts(128, 100), o), 0);
}

TEST(Occupancy, RequestsLeaveALoopItsRegisters) {
  KernelFacts sums = facts(64, 100);
  sums.hasLoops = true;
  sums.mostLoopRegisters = 128;
  EXPECT_EQ(blocks(sums), 4); // 128 registers each
  sums.mostLoopRegisters = 129;
  EXPECT_EQ(blocks(sums), 3);
  sums.mostLoopRegisters = 183;
  EXPECT_EQ(blocks(sums), 2);
  sums.mostLoopRegisters = 1000;
  EXPECT_EQ(blocks(sums), 1);
}

TEST(Occupancy, KernelsThatLoadInBulkLoadLittleElse) {
  KernelFacts rows = facts(16, 0);
  EXPECT_FALSE(planOccupancy(rows, hopper(), {}).loadsInBulk);
  rows.hasBulkLoads = true;
  OccupancyPlan plan = planOccupancy(rows, hopper(), {});
  EXPECT_TRUE(plan.loadsInBulk);
  EXPECT_EQ(plan.minBlocks, 0);
  rows.hasMatrixInstructions = true;
  EXPECT_FALSE(planOccupancy(rows, hopper(), {}).loadsInBulk);
  rows.hasMatrixInstructions = false;
  rows.loadedRegisters = hopper().tuning.noRequestMaxLoaded + 1; // other loads take registers
  EXPECT_FALSE(planOccupancy(rows, hopper(), {}).loadsInBulk);
}

TEST(Occupancy, LoopsWaitWhereBarriersSeparateTheLoadsOfIterations) {
  KernelFacts sums = facts(64, 100);
  sums.loadedBetweenBarriers = 100;
  EXPECT_FALSE(planOccupancy(sums, hopper(), {}).waitsInLoops);
  sums.loadedBetweenBarriers = 50;
  OccupancyPlan plan = planOccupancy(sums, hopper(), {});
  EXPECT_TRUE(plan.waitsInLoops);
  EXPECT_EQ(plan.minBlocks, 4);
}

TEST(Occupancy, FactsAreOfTheAttributesAndLoads) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr addrspace(1) %p, i32 %n) {
entry:
  %a = load <4 x i32>, ptr addrspace(1) %p
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %b = load i32, ptr addrspace(1) %p
  %c = call i32 asm sideeffect "ld.global.b32 $0, [$1];", "=r,l"(ptr addrspace(1) %p)
  call void asm sideeffect "mma.sync;", ""()
  %v = xor <4 x i32> %a, %a
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %exit
exit:
  ret void
}
)",
                                          error, context);
  ASSERT_TRUE(module);
  llvm::Function &f = *module->getFunction("k");
  EXPECT_FALSE(collectFacts(f, hopper().tuning).widestTensor);
  recordWidestTensor(f, 32);
  for (llvm::Instruction &i : llvm::instructions(f)) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!call) continue;
    if (call->getType()->isVoidTy())
      recordMatrixInstruction(*call, /*ofWarpGroup=*/true);
    else
      recordLoad(*call, 1);
  }
  KernelFacts facts = collectFacts(f, hopper().tuning);
  EXPECT_EQ(facts.widestTensor, 32u);
  EXPECT_EQ(facts.loadedRegisters, 4 + 4 * (1 + 1)); // of a loop, four iterations
  EXPECT_TRUE(facts.hasMatrixInstructions);
  EXPECT_TRUE(facts.hasWarpGroupDots);
  EXPECT_TRUE(facts.hasLoops);
  EXPECT_EQ(facts.leastLoopRegisters, 2u);          // of one
  EXPECT_EQ(facts.mostLoopRegisters, 2u + 1u + 4u); // loaded, carried, from outside
  EXPECT_EQ(facts.keptRegisters, 0u);
}

TEST(Occupancy, KeptRegistersAreUsedAfterTheFirstBarrierOfTheirBlock) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(R"(
define ptx_kernel void @k(ptr addrspace(1) %x, ptr addrspace(3) %s) {
  %a = load <4 x float>, ptr addrspace(1) %x, align 16
  %y = getelementptr i8, ptr addrspace(1) %x, i64 16
  %b = load <2 x half>, ptr addrspace(1) %y
  %c = extractelement <4 x float> %a, i32 0
  store float %c, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %d = load float, ptr addrspace(3) %s
  store <4 x float> %a, ptr addrspace(1) %x
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store float %d, ptr addrspace(1) %y
  ret void
}
)",
                                          error, context);
  ASSERT_TRUE(module);
  KernelFacts facts = collectFacts(*module->getFunction("k"), hopper().tuning);
  EXPECT_EQ(facts.loadedRegisters, 4u + 1);
  EXPECT_EQ(facts.keptRegisters, 4u); // %a; not the address %y
  EXPECT_FALSE(facts.hasLoops);
}

} // namespace
} // namespace tessera::nvidia
