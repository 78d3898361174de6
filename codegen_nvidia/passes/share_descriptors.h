// Descriptors of wgmma that differ by a few rows (see share_descriptors.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class ShareDescriptorsPass : public llvm::PassInfoMixin<ShareDescriptorsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
