// One mul for numbers at known distances (see share_muls.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class ShareMulsPass : public llvm::PassInfoMixin<ShareMulsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
