// Divisions of numbers that differ in their low bits (see share_divisions.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::codegen {

class ShareDivisionsPass : public llvm::PassInfoMixin<ShareDivisionsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen
