// Unrolls loops that load and write nothing (see unroll_loads.cpp).
#pragma once
#include "ir/tuning.h"
#include "llvm/IR/PassManager.h"

namespace tessera::amd {

class UnrollLoadsPass : public llvm::PassInfoMixin<UnrollLoadsPass> {
public:
  explicit UnrollLoadsPass(const ir::Tuning &tuning) : tuning_(tuning) {}
  llvm::PreservedAnalyses run(llvm::Function &, llvm::FunctionAnalysisManager &);

private:
  const ir::Tuning &tuning_;
};

} // namespace tessera::amd
