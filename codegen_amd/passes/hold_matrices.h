// Holds WMMA in their blocks (see hold_matrices.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class HoldMatricesPass : public llvm::PassInfoMixin<HoldMatricesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
