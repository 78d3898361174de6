// Columns are compared with a label by their distance from it (see compare_differences.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class CompareDifferencesPass : public llvm::PassInfoMixin<CompareDifferencesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
