// One addition an iteration for each offset of a buffer access (see advance_offsets.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class AdvanceOffsetsPass : public llvm::PassInfoMixin<AdvanceOffsetsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
