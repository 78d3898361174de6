// Constants of buffer offsets as immediates (see buffer_immediates.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class BufferImmediatesPass : public llvm::PassInfoMixin<BufferImmediatesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
