// The warps that have something to do (see fewer_warps.h).
#include "runtime/compiler/fewer_warps.h"
#include "ir/attribute_names.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "runtime/compiler/kernel_function.h"
#include <algorithm>

namespace tessera::runtime {
using namespace ir;

namespace {

/// Whether the operation may be written for a number of warps, or does something once for each thread.
bool dependsOnWarps(const Operation *op) {
  return isDot(op) || op->is<tt::ElementwiseInlineAsmOp>() || op->is<tt::PrintOp>() ||
         op->is<ttg::WarpSpecializeOp>() || op->attr(kWarpSpecializeAttr);
}

} // namespace

FewerWarps takeFewerWarps(const Module &ttir, llvm::StringRef kernel, const TargetInfo &target, int requestedWarps) {
  FewerWarps result{requestedWarps, 1};
  bool isFixed = hasLayouts(ttir.op());
  auto count = [&](Value v) {
    if (!v.type().isTensor()) return;
    auto type = v.type().cast<TensorType>();
    isFixed |= type.encoding() != nullptr; // in a module that does not say for how many warps
    result.mostElements = std::max(result.mostElements, type.numElements());
  };
  for (Operation *function : functionsOf(ttir, kernel))
    function->walk([&](Operation *op) {
      isFixed |= dependsOnWarps(op);
      for (Value v : op->results()) count(v);
      for (Region &region : op->regions())
        for (Block *block : region.blocks())
          for (unsigned i = 0; i < block->numArgs(); ++i) count(block->arg(i));
    });
  int64_t leastThreads = result.mostElements * target.tuning.fewerWarpsLeastThreads;
  if (isFixed || leastThreads > int64_t(requestedWarps) * target.warpSize) return result;
  while (result.warps > 1 && result.mostElements <= int64_t(result.warps / 2) * target.warpSize) result.warps /= 2;
  return result;
}

} // namespace tessera::runtime
