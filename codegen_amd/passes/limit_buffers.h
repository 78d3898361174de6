// Masks that all lanes share limit the buffer (see limit_buffers.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class LimitBuffersPass : public llvm::PassInfoMixin<LimitBuffersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
