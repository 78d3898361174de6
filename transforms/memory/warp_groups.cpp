// Registers of warp groups (see warp_groups.h).
#include "transforms/memory/warp_groups.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace tessera::transforms {
using namespace ir;

/// A thread's number is below 256, so that the largest is the last multiple of 8 before that.
static int64_t mostRegisters(const TargetInfo &target) {
  return llvm::alignDown(uint64_t(target.maxRegistersPerThread), kRegisterStep);
}

int64_t registersAtStart(const TargetInfo &target, int64_t warps) {
  return llvm::alignDown(uint64_t(target.registersPerThread(warps, RegisterSplit::Evenly)), kRegisterStep);
}

int64_t registersOfOwnWarps(int64_t each, const TargetInfo &target, int64_t own, int64_t total, int64_t taken) {
  int64_t left = each * total - taken;
  return left < 0 ? 0 : std::min<int64_t>(mostRegisters(target), llvm::alignDown(uint64_t(left / own), kRegisterStep));
}

int64_t registersBesideProducer(const TargetInfo &target, int64_t own) {
  int64_t total = own + kWarpGroup;
  return registersOfOwnWarps(registersAtStart(target, total), target, own, total, kWarpGroup * kFewestRegisters);
}

} // namespace tessera::transforms
