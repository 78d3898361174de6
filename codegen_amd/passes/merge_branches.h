// Joins neighbouring branches under one mask (see merge_branches.cpp).
#pragma once

#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

void mergeBranches(llvm::Function &, const ir::Tuning &);

class MergeBranchesPass : public llvm::PassInfoMixin<MergeBranchesPass> {
public:
  explicit MergeBranchesPass(const ir::Tuning &tuning) : tuning_(tuning) {}
  llvm::PreservedAnalyses run(llvm::Function &f, llvm::FunctionAnalysisManager &) {
    mergeBranches(f, tuning_);
    return llvm::PreservedAnalyses::none();
  }

private:
  const ir::Tuning &tuning_;
};

} // namespace tessera::amd
