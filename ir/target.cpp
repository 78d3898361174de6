// How the blocks of a multiprocessor divide its registers and its shared memory (see target.h).
#include "ir/target.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::ir {

int TargetInfo::registersPerThread(int64_t warps, RegisterSplit split) const {
  if (split == RegisterSplit::Evenly)
    return int(
        std::min<int64_t>(maxRegistersPerThread, int64_t(registersPerScheduler) * schedulersPerMultiprocessor / warps));
  int64_t warpsOfFullest = int64_t(llvm::divideCeil(uint64_t(warps), uint64_t(schedulersPerMultiprocessor)));
  int64_t share = registersPerScheduler / warpsOfFullest;
  if (split == RegisterSplit::Allocated) share = share / registerAllocationUnit * registerAllocationUnit;
  return int(std::min<int64_t>(maxRegistersPerThread, share));
}

int64_t TargetInfo::blocksBySharedMemory(int64_t bytesOfBlock) const {
  int64_t taken = int64_t(llvm::alignTo(uint64_t(bytesOfBlock + sharedMemoryReservedPerBlock),
                                        uint64_t(std::max(1, sharedMemoryGranularity))));
  return sharedMemoryPerMultiprocessor / std::max<int64_t>(1, taken);
}

int TargetInfo::occupancy(const BlockResources &block) const {
  int64_t warpsOfScheduler = maxWarpsPerMultiprocessor / schedulersPerMultiprocessor;
  if (block.registers > 0) {
    int64_t allocated = int64_t(llvm::alignTo(uint64_t(block.registers), uint64_t(registerAllocationUnit)));
    warpsOfScheduler = std::min(warpsOfScheduler, registersPerScheduler / allocated);
  }
  if (scalarRegistersPerScheduler && block.scalarRegisters > 0)
    warpsOfScheduler = std::min<int64_t>(warpsOfScheduler, scalarRegistersPerScheduler / block.scalarRegisters);
  int64_t blocks = warpsOfScheduler * schedulersPerMultiprocessor / block.warps;
  if (limitsOneWarpBlocks || block.warps > 1) blocks = std::min<int64_t>(blocks, maxBlocksPerMultiprocessor);
  return int(std::min(blocks, blocksBySharedMemory(block.sharedBytes)));
}

} // namespace tessera::ir
