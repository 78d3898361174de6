// The search for a number of warps (see more_warps.h).
#include "runtime/compiler/more_warps.h"
#include "ir/module_attributes.h"
#include "ir/ops.h"
#include "ir/tensor_queries.h"
#include "runtime/compiler/kernel_function.h"
#include "transforms/analyses/register_pressure.h"
#include <algorithm>

namespace tessera::runtime {
using namespace ir;

namespace {

/// What decides, of a kernel in TTGIR.
struct Needs {
  int64_t held = 0;
  int64_t heldInLoops = 0;
  int64_t asyncDots = 0;
  bool isSpecialized = false;

  Needs(const Module &ttgir, llvm::StringRef kernel) {
    for (Operation *function : functionsOf(ttgir, kernel)) {
      held = std::max(held, transforms::heldRegisters(function));
      heldInLoops = std::max(heldInLoops, transforms::heldRegistersInLoops(function));
      function->walk([&](Operation *op) {
        asyncDots += op->is<ttng::WarpGroupDotOp>();
        isSpecialized |= op->is<ttg::WarpSpecializeOp>();
      });
    }
  }

  bool fit(const TargetInfo &target, int64_t warps) const {
    return heldInLoops <= transforms::holdableRegisters(target, warps) &&
           isWithin(held, target.tuning.straightLineHeldPercent, target, warps);
  }
  /// Whether so many warps spill enough to take more.
  bool areTooMany(const TargetInfo &target, int64_t warps) const {
    return !isWithin(heldInLoops, target.tuning.moreWarpsHeldPercent, target, warps) ||
           !isWithin(held, target.tuning.straightLineHeldPercent, target, warps);
  }

private:
  static bool isWithin(int64_t held, int64_t percent, const TargetInfo &target, int64_t warps) {
    return held * 100 <= target.registersPerThread(warps, RegisterSplit::Allocated) * percent;
  }
};

/// The later passes need memory for the warps: they may fail where fewer warps do not.
bool canBeLowered(const Module &ttgir, const TargetInfo &target) {
  return runWithoutReports(ttgir.clone(), transforms::loweringPipeline(target), target) != nullptr;
}

} // namespace

bool mayTakeMoreWarps(const Module &ttir, llvm::StringRef kernel) {
  if (hasLayouts(ttir.op())) return false;
  bool isFixed = false;
  bool holds = false; // registers are counted at dots and in loops only
  for (Operation *function : functionsOf(ttir, kernel))
    function->walk([&](Operation *op) {
      isFixed |= op->is<tt::ElementwiseInlineAsmOp>() || op->is<ttg::WarpSpecializeOp>();
      holds |= isDot(op) || op->is<scf::ForOp>() || op->is<scf::WhileOp>();
    });
  return holds && !isFixed;
}

std::unique_ptr<Module> runWithoutReports(std::unique_ptr<Module> m, const transforms::Pipeline &pipeline,
                                          const TargetInfo &target) {
  transforms::RunOptions run;
  run.target = &target;
  DiagnosticEngine nobody([](const Diagnostic &) {});
  return transforms::runPipeline(*m, pipeline, run, nobody).ok() ? std::move(m) : nullptr;
}

MoreWarps takeMoreWarps(const Module &ttir, const Module &requested, llvm::StringRef kernel, const TargetInfo &target,
                        const transforms::TtgirPipelineOptions &o) {
  Needs before(requested, kernel);
  MoreWarps result;
  result.heldBefore = before.held;
  // Partitions have registers of their own, which warp specialisation divides.
  if (before.isSpecialized || !before.areTooMany(target, o.numWarps)) return result;
  for (int times = 2; times <= kMostTimesWarps; times *= 2) {
    transforms::TtgirPipelineOptions more = o;
    more.numWarps = o.numWarps * times;
    if (more.numWarps * target.warpSize > target.maxThreadsPerBlock) break;
    std::unique_ptr<Module> m = runWithoutReports(ttir.clone(), transforms::ttgirPipeline(target, more), target);
    if (!m) continue;
    Needs after(*m, kernel);
    if (!after.fit(target, more.numWarps) || after.asyncDots < before.asyncDots || !canBeLowered(*m, target)) continue;
    result.warps = more.numWarps;
    result.held = after.held;
    result.ttgir = std::move(m);
    break;
  }
  return result;
}

} // namespace tessera::runtime
