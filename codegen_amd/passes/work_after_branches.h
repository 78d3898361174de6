// Moves arithmetic on masked loads after their branches (see work_after_branches.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class WorkAfterBranchesPass : public llvm::PassInfoMixin<WorkAfterBranchesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
