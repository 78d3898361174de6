// Numbers that a loop carries at a constant distance from each other (see share_carried_offsets.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::codegen {

class ShareCarriedOffsetsPass : public llvm::PassInfoMixin<ShareCarriedOffsetsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::codegen
