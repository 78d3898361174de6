// The scheduler of kernels with MFMA (see schedule_matrices.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class ScheduleMatricesPass : public llvm::PassInfoMixin<ScheduleMatricesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
