// Sums of values that nothing else uses do not wait for a barrier (see sums_before_barriers.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class SumsBeforeBarriersPass : public llvm::PassInfoMixin<SumsBeforeBarriersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
