// Columns are compared with a label by their distance from it (see compare_differences.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class CompareDifferencesPass : public llvm::PassInfoMixin<CompareDifferencesPass> {
public:
  /// `leastComparisons`: from which on a group of them is rewritten.
  explicit CompareDifferencesPass(unsigned leastComparisons) : leastComparisons_(leastComparisons) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  unsigned leastComparisons_;
};

} // namespace tessera::nvidia
