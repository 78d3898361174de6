// One scalar offset for the buffer accesses of a loop (see scalar_offsets.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class ScalarOffsetsPass : public llvm::PassInfoMixin<ScalarOffsetsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
