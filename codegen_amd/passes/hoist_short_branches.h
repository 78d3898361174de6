// A few integer operations instead of a branch (see hoist_short_branches.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class HoistShortBranchesPass : public llvm::PassInfoMixin<HoistShortBranchesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
