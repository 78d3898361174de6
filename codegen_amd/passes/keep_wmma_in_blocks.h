// Keeps WMMA in their blocks (see keep_wmma_in_blocks.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class KeepWmmaInBlocksPass : public llvm::PassInfoMixin<KeepWmmaInBlocksPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
