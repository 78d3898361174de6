// Addresses in loops with wgmma (see addresses_beside_wgmma.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class AddressesBesideWgmmaPass : public llvm::PassInfoMixin<AddressesBesideWgmmaPass> {
public:
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);
};

} // namespace tessera::nvidia
