// One multiplication for numbers at known distances (see share_multiplications.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class ShareMultiplicationsPass : public llvm::PassInfoMixin<ShareMultiplicationsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
