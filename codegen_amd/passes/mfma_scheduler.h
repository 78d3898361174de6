// The scheduler of kernels with MFMA (see mfma_scheduler.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class MfmaSchedulerPass : public llvm::PassInfoMixin<MfmaSchedulerPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
