// One pointer for those that advance together (see share_pointers.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class SharePointersPass : public llvm::PassInfoMixin<SharePointersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
