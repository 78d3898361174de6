// Loops whose results have closed forms (see closed_form_loops.cpp).
#pragma once
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace tessera::codegen {

/// After loops have left loop-invariant operations behind (LICM).
class ClosedFormLoopsPass : public llvm::PassInfoMixin<ClosedFormLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Loop &, llvm::LoopAnalysisManager &, llvm::LoopStandardAnalysisResults &,
                              llvm::LPMUpdater &);
};

} // namespace tessera::codegen
