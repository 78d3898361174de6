// Registers of warp groups, and where they can part (see warp_groups.h).
#include "transforms/memory/warp_groups.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/partitions.h"
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

int64_t registersBesideProducer(const TargetInfo &target, Operation *module) {
  int64_t own = numWarps(module), total = own + kWarpGroup;
  int64_t each = registersAtStart(target, total);
  if (int64_t given = moduleInt(module, kMaxRegistersAttr, 0))
    each = std::min<int64_t>(each, llvm::alignDown(uint64_t(given), kRegisterStep));
  return registersOfOwnWarps(each, target, own, total, kWarpGroup * kFewestRegisters);
}

bool mayHaveProducers(const TargetInfo &target) {
  return target.matrixUnit == MatrixUnit::Wgmma && target.reallocatesRegisters;
}

bool hasRoomForProducer(const TargetInfo &target, int64_t own) {
  return own % kWarpGroup == 0 && (own + kWarpGroup) * target.warpSize <= target.maxThreadsPerBlock;
}

bool forbidsProducer(Operation *loop) {
  auto wanted = loop->attr<IntegerAttr>(kProducerWarpAttr);
  return wanted && !wanted.sext();
}

std::string whyWarpsCannotPart(Operation *loop) {
  Operation *func = loop->parentOp();
  if (!func->is<tt::FuncOp>()) return "the loop is inside another loop or branch";
  if (func->cast<tt::FuncOp>().symVisibility() == "private") return "the loop is in a function that kernels call";
  if (!func->region(0).hasOneBlock()) return "the kernel has branches between blocks (cf)";
  return specializesWarps(func) ? "another loop of the kernel has a warp for its copies" : "";
}

bool isArgumentOfFunction(Value v) { return v.isBlockArgument() && v.ownerBlock()->parentOp()->is<tt::FuncOp>(); }

} // namespace tessera::transforms
