// Joins neighbouring branches under one mask. Masked accesses are lowered one operation at a time, each as a branch
// that switches lanes off; a kernel that loads, computes and stores under one mask then switches lanes three times.
// The code between two such branches has no effects, so the second can follow the first inside one:
//
//   if (m) x = load p                    if (m) {
//   y = x + 1                     →        x = load p; y = x + 1; store q, y
//   if (m) store q, y                    }
//
// Arithmetic between the branches that does not need the first one's values goes before it. What needs them is copied
// into the joined branch, and the original moves after it, where it is dead unless something later uses it; a join
// that would compute more than a few instructions twice is not made.
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
