// Small negative constants that LLVM made large, as what they are (see signed_constants.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::codegen {

class SignedConstantsPass : public llvm::PassInfoMixin<SignedConstantsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen
