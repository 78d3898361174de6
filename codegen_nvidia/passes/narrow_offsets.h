// Offsets of many accesses in a loop stay 32 bits wide (see narrow_offsets.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class NarrowOffsetsPass : public llvm::PassInfoMixin<NarrowOffsetsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
