// A few integer operations instead of a branch (see hoist_short_branches.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class HoistShortBranchesPass : public llvm::PassInfoMixin<HoistShortBranchesPass> {
public:
  explicit HoistShortBranchesPass(const ir::Tuning &tuning) : tuning_(tuning) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::Tuning &tuning_;
};

} // namespace tessera::amd
