// Running a list of LLVM passes on a module. Which passes is the vendors' choice (codegen_*/llvm_passes.cpp); here is
// only what every run needs: the analysis managers, the target's own registrations, the first passes, error capture.
#pragma once
#include "absl/status/status.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Analysis.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class Module;
class PassBuilder;
class TargetMachine;
} // namespace llvm
namespace tessera::codegen {

/// Runs the passes that `addPasses` adds. @pre tm is not in use elsewhere.
absl::Status runPasses(llvm::Module &, llvm::TargetMachine &tm,
                       llvm::function_ref<void(llvm::PassBuilder &, llvm::ModulePassManager &)> addPasses);

/// What every pipeline begins with: the target's own passes; functions that are marked alwaysinline inlined and, from
/// level 2 on, those that are cheap, bottom up, each simplified before; from level 1 on the lowering's scalars, indices
/// and branches cleaned up. True if there is something to inline: a function that is not a kernel has a body.
bool addCleaning(const llvm::Module &, llvm::PassBuilder &, llvm::ModulePassManager &, int optLevel);

/// What a function pass returns that keeps blocks and branches as they are.
inline llvm::PreservedAnalyses preservedIn(bool changed) {
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tessera::codegen
