// Dots that wait for what is read from shared memory before the dots ahead of them (see dots_behind_loads.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class DotsBehindLoadsPass : public llvm::PassInfoMixin<DotsBehindLoadsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
