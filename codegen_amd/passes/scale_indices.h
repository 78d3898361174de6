// Indices that are bytes from the beginning (see scale_indices.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class ScaleIndicesPass : public llvm::PassInfoMixin<ScaleIndicesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
