// f32 → bf16 where no instruction does it (see round_to_bfloat.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class RoundToBfloatPass : public llvm::PassInfoMixin<RoundToBfloatPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
