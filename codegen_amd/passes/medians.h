// Clamps between constants as medians (see medians.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class MediansPass : public llvm::PassInfoMixin<MediansPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
