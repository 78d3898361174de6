// The division of the register file (see target.h).
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

} // namespace tessera::ir
