// Address computations of large kernels stand at what uses them (see addresses_beside_uses.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class AddressesBesideUsesPass : public llvm::PassInfoMixin<AddressesBesideUsesPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
