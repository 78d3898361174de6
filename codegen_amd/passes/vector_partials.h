// Partial values of waves stay in vector registers (see vector_partials.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class VectorPartialsPass : public llvm::PassInfoMixin<VectorPartialsPass> {
public:
  explicit VectorPartialsPass(const ir::Tuning &tuning) : maxUsers_(tuning.vectorPartialsMaxUsers) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  unsigned maxUsers_;
};

} // namespace tessera::amd
