// Descriptors of wgmma that a loop does not change (see descriptors_in_loops.cpp).
#pragma once
#include "llvm/IR/PassManager.h"

namespace tessera::nvidia {

class DescriptorsInLoopsPass : public llvm::PassInfoMixin<DescriptorsInLoopsPass> {
public:
  /// `mostRegisters`: uniform registers that the wgmma which read such descriptors may take.
  explicit DescriptorsInLoopsPass(unsigned mostRegisters) : mostRegisters_(mostRegisters) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  unsigned mostRegisters_;
};

} // namespace tessera::nvidia
