// The order of a block's machine instructions by which its MFMA wait least (see block_order.cpp).
#pragma once
#include "llvm/ADT/SmallVector.h"
#include "llvm/CodeGen/ScheduleDAGInstrs.h"

namespace tessera::amd {

/// The dependence graph of a block.
class BlockGraph final : public llvm::ScheduleDAGInstrs {
public:
  BlockGraph(llvm::MachineFunction &mf, const llvm::MachineLoopInfo *loops) : ScheduleDAGInstrs(mf, loops) {}
  void schedule() override {}
  void build(llvm::MachineBasicBlock &block, llvm::MachineBasicBlock::iterator begin,
             llvm::MachineBasicBlock::iterator end, llvm::AAResults &aliases) {
    startBlock(&block);
    enterRegion(&block, begin, end, unsigned(std::distance(begin, end)));
    buildSchedGraph(&aliases);
  }
  void finish() {
    exitRegion();
    finishBlock();
  }
};

/// Numbers of the model that depend on the kernel.
struct Sharing {
  int64_t wavesOfSimd = 1;
  int64_t wavesOfBlock = 1;
};

/// Clocks from the start of an access to the use of its result.
struct Latencies {
  int64_t lds, memory;
};

/// The instructions of the graph in their new order; empty if the graph has a node that cannot be placed. `isPart`: of
/// a block that has several, an iteration each.
llvm::SmallVector<llvm::MachineInstr *, 0> orderOf(BlockGraph &, const Sharing &, Latencies, bool isPart);

} // namespace tessera::amd
