// Removes buffer accesses whose mask is false (see drop_masked_buffers.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class DropMaskedBuffersPass : public llvm::PassInfoMixin<DropMaskedBuffersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
