// The table of our passes on machine code (see machine_passes.h). LLVM runs each after one of its own.
#include "codegen_amd/machine_passes.h"
#include "codegen_amd/passes/dpp_constants.h"
#include "codegen_amd/passes/drop_quieting.h"
#include "codegen_amd/passes/dual_issue_barriers.h"
#include "codegen_amd/passes/mark_next_block.h"
#include "codegen_amd/passes/mark_spills.h"
#include "codegen_amd/passes/opposite_constants.h"
#include "codegen_amd/passes/order_loads_by_use.h"
#include "codegen_amd/passes/order_matrices.h"
#include "codegen_amd/passes/raise_priorities.h"
#include "codegen_amd/passes/share_constants.h"
#include "codegen_amd/passes/shifts_in_additions.h"
#include "codegen_amd/passes/uses_after_loads.h"
#include "codegen_amd/passes/wait_before_joins.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Pass.h"

namespace tessera::amd {
namespace {

/// The matrix instructions that a pass is about.
enum class Matrices : uint8_t { All, Mfma, Wmma, MfmaOrWmma }; // All: and none

bool isFor(Matrices matrices, ir::MatrixUnit unit) {
  switch (matrices) {
  case Matrices::All: return true;
  case Matrices::Mfma: return unit == ir::MatrixUnit::Mfma;
  case Matrices::Wmma: return unit == ir::MatrixUnit::Wmma;
  case Matrices::MfmaOrWmma: return unit == ir::MatrixUnit::Mfma || unit == ir::MatrixUnit::Wmma;
  }
  llvm_unreachable("matrix instructions");
}

/// A pass of ours on machine code.
struct MachinePass {
  llvm::StringLiteral after; // LLVM's pass, by its argument
  int leastLevel;            // of optimisation
  Matrices matrices;         // of the targets
  /// Null: the target does not need the pass.
  llvm::Pass *(*create)(const ir::TargetInfo &, const CodegenVariant &);
};

using Info = ir::TargetInfo;

/// In order of execution (passes/README.md says what each does).
constexpr MachinePass kMachinePasses[] = {
    // In SSA form. Before gcn-dpp-combine.
    {"peephole-opt", 2, Matrices::All,
     [](const Info &info, const CodegenVariant &) -> llvm::Pass * {
       return info.hasIeeeMode ? nullptr : createDropQuieting();
     }},
    // At every level: without it the code is wrong.
    {"detect-dead-lanes", 0, Matrices::All, [](const Info &, const CodegenVariant &) { return createDppConstants(); }},
    {"detect-dead-lanes", 2, Matrices::MfmaOrWmma,
     [](const Info &info, const CodegenVariant &variant) {
       return createRecomputeAfterLoops(info.tuning, variant.recomputed, variant.mostRecomputed);
     }},
    {"detect-dead-lanes", 2, Matrices::Mfma,
     [](const Info &, const CodegenVariant &) { return createShareConstants(); }},
    {"detect-dead-lanes", 2, Matrices::All,
     [](const Info &, const CodegenVariant &) { return createShiftsInAdditions(); }},
    {"detect-dead-lanes", 2, Matrices::All,
     [](const Info &, const CodegenVariant &) { return createOppositeConstants(); }},
    // Between LLVM's scheduler and register allocation.
    {"machine-scheduler", 2, Matrices::Mfma,
     [](const Info &info, const CodegenVariant &) { return createOrderMatrices(info); }},
    {"machine-scheduler", 2, Matrices::MfmaOrWmma,
     [](const Info &info, const CodegenVariant &) { return createUsesAfterLoads(info.tuning); }},
    {"machine-scheduler", 2, Matrices::Wmma,
     [](const Info &, const CodegenVariant &) { return createOrderLoadsByUse(); }},
    {"machine-scheduler", 2, Matrices::Wmma,
     [](const Info &, const CodegenVariant &) { return createDualIssueBarriers(); }},
    // When the registers are known.
    {"prologepilog", 2, Matrices::All, [](const Info &, const CodegenVariant &) { return createMarkSpills(); }},
    {"prologepilog", 2, Matrices::Mfma,
     [](const Info &info, const CodegenVariant &) { return createMarkNextBlock(info); }},
    {"prologepilog", 2, Matrices::Mfma,
     [](const Info &info, const CodegenVariant &) { return createRaisePriorities(info); }},
    // When nothing moves any more.
    {"si-memory-legalizer", 2, Matrices::Mfma,
     [](const Info &, const CodegenVariant &) { return createWaitBeforeJoins(); }},
};

} // namespace

void addMachinePassesAfter(llvm::StringRef argument, const ir::TargetInfo &info, int optLevel,
                           const CodegenVariant &variant, llvm::legacy::PassManagerBase &passes) {
  for (const MachinePass &pass : kMachinePasses)
    if (argument == pass.after && optLevel >= pass.leastLevel && isFor(pass.matrices, info.matrixUnit))
      if (llvm::Pass *p = pass.create(info, variant)) passes.add(p);
}

} // namespace tessera::amd
