// Carries bytes from block to block as words (see carry_words.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class CarryWordsPass : public llvm::PassInfoMixin<CarryWordsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
