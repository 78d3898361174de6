// Keeps loop-carried pointers whole (see keep_carried_pointers.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class KeepCarriedPointersPass : public llvm::PassInfoMixin<KeepCarriedPointersPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::amd
